package rules_test

import (
	"slices"
	"strings"
	"testing"

	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
	"example.org/homenode/source/scenario/given"
)

// TestCuredHostFirst: where a finding advises other nodes for a host, advice for its VMs that the host with these nodes has no use for, or
// that harms there, says that the host comes first. Every other advice serves on both.
func TestCuredHostFirst(t *testing.T) {
	vms := ""
	for i, words := range []string{"vcpus=8 memory=32GB hotAdd=on", "vcpus=24 memory=64GB hotAdd=on", "vcpus=24 coresPerSocket=3 memory=64GB hw=19", "vcpus=12 memory=300GB", "vcpus=96 memory=300GB hotAdd=on",
		"vcpus=24 memory=200GB numa.vcpu.maxPerVirtualNode=12", "vcpus=24 memory=64GB cpuAffinity=0-23", "vcpus=16 memory=64GB stored=8", "vcpus=40 memory=500GB hotAdd=on", "vcpus=48 coresPerSocket=48 memory=64GB hw=19"} {
		vms += "vm v" + string(rune('0'+i)) + " host=h " + words + "\n"
	}
	first, plain := 0, 0
	for _, hosts := range [][3]string{
		{`nodes=8 packages=2 cores=8 cpu="AMD EPYC 7763 64-Core Processor" llcCores=8`, `nodes=2 packages=2 cores=32 cpu="AMD EPYC 7763 64-Core Processor" llcCores=8`, "H003"},
		{`nodes=4 packages=2 cores=16 cpu="Intel(R) Xeon(R) Gold 6338 CPU @ 2.00GHz"`, `nodes=2 packages=2 cores=32 cpu="Intel(R) Xeon(R) Gold 6338 CPU @ 2.00GHz"`, "H003"},
		{`nodes=1 packages=2 cores=64 cpu="Intel(R) Xeon(R) Gold 6338 CPU @ 2.00GHz"`, `nodes=2 packages=2 cores=32 cpu="Intel(R) Xeon(R) Gold 6338 CPU @ 2.00GHz"`, "H001"},
		{`nodes=2 packages=2 cores=32 cpu="Intel(R) Xeon(R) Gold 6338 CPU @ 2.00GHz"`, `nodes=2 packages=2 cores=32 cpu="Intel(R) Xeon(R) Gold 6338 CPU @ 2.00GHz"`, ""},
	} {
		fleet := func(host string) *numa.Fleet {
			f := given.Fleet(t, "order", []byte("release 8.0U3\nhost h memory=1024GB mhz=2600 "+host+"\n"+vms))
			return f
		}
		of := func(f *numa.Fleet, vm string) (out []finding.Finding) {
			for _, one := range rules.Run(f, rules.Options{}).Findings {
				if one.VM == vm {
					out = append(out, one)
				}
			}
			return out
		}
		for _, one := range rules.Run(fleet(hosts[0]), rules.Options{}).Findings {
			if one.VM == "" || one.Severity == finding.Info || one.Advice == "" {
				continue
			}
			left := func(all []finding.Finding) bool {
				return slices.ContainsFunc(all, func(a finding.Finding) bool {
					return a.Rule == one.Rule && a.Topic == one.Topic && a.Severity > finding.Info
				})
			}
			now := of(fleet(hosts[1]), one.VM)
			want := hosts[2] != "" && !left(now)
			for _, w := range one.Ways {
				if w.Edits == nil || hosts[2] == "" {
					continue
				}
				then := fleet(hosts[1])
				for i := range then.VMs {
					for _, e := range w.Edits {
						if then.VMs[i].Name == one.VM {
							if err := e.Configure(&then.VMs[i].Config, "test"); err != nil {
								t.Fatal(err)
							}
						}
					}
				}
				after := of(then, one.VM)
				want = want || left(after) || rule.WeightOf(after).Compare(rule.WeightOf(now)) > 0
			}
			if got := strings.Contains(one.Advice, "First decide on ") && strings.Contains(one.Advice, "("+hosts[2]+")"); got != want {
				t.Errorf("%s: %s %s of %s: the host comes first: %v, want %v: %s", hosts[0], one.Rule, one.Severity, one.VM, got, want, one.Advice)
			}
			if want {
				first++
			} else {
				plain++
			}
		}
	}
	if first < 5 || plain < 8 {
		t.Errorf("%d times the host comes first, %d times not: the VMs are too alike", first, plain)
	}
}
