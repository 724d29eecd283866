package rules_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.org/homenode/rules/finding"
)

// TestRefusedToo: what is wrong with the settings of a VM is found as well where its host does not power it on, whatever the reason, and
// the reason is found beside it, which alone is of high severity: the rest costs nothing until the VM powers on. Sizes of clients and nodes are not judged where they are the reason.
func TestRefusedToo(t *testing.T) {
	const host = "release 8.0U3\nhost h nodes=2 cores=16 memory=512GB mhz=2600\n"
	found := func(words string) (out []string, off bool) {
		r := runText(t, host+"vm v host=h "+words+"\n")
		for v := range r.EachVM() {
			off = v.Off()
		}
		for _, f := range r.Findings {
			if f.VM == "v" && f.Severity > finding.Info {
				out = append(out, fmt.Sprintf("%s %s [%s]", f.Rule, f.Severity, f.Topic))
			}
		}
		return out, off
	}
	for _, refused := range []string{"latency=high", "cpuReservation=200000", "pci=3b:00.0 memoryReservation=0", "hw=22", "reserveAll=on hw=22", "sched.mem.lpage.enable1GPage=TRUE"} {
		for rule, wrong := range map[string]string{
			"N001": "vcpus=24 memory=64GB hotAdd=on",
			"N005": "vcpus=8 memory=400GB",
			"N010": "vcpus=24 coresPerSocket=24 memory=64GB stored=24",
			"N012": "vcpus=24 memory=400GB numa.vcpu.preferHT=TRUE",
			"N013": "vcpus=40 memory=64GB",
			"N018": "vcpus=16 memory=64GB numa.vcpu.maxPerMachineNode=4",
			"N021": "vcpus=24 coresPerSocket=3 memory=64GB",
			"N023": "vcpus=24 memory=64GB cpuAffinity=0-24",
			"N025": "vcpus=8 memory=64GB numa.nodeAffinity=3",
			"N032": "vcpus=24 memory=64GB cpuAffinity=0-9",
			"N033": `vcpus=24 coresPerSocket=1 memory=64GB product="SQL Server 2019 Standard"`,
		} {
			plain, off := found(wrong + " hw=21")
			both, refuses := found(wrong + " " + refused)
			if off || !refuses {
				t.Errorf("%s: the VM powers on: %v; with %s %v", wrong, !off, refused, !refuses)
			}
			if !slices.ContainsFunc(plain, func(f string) bool { return f[:4] == rule }) {
				t.Errorf("%s: %v, want %s", wrong, plain, rule)
			}
			if rule == "N013" && refused == "latency=high" { // too many vCPUs are the reason
				continue
			}
			for _, f := range plain {
				if !strings.HasPrefix(f, "N032") {
					f = strings.Replace(f, " high ", " medium ", 1)
				}
				if !slices.Contains(both, f) {
					t.Errorf("%s with %s: %v, and without %s", wrong, refused, both, f)
				}
			}
			if n := len(both); n <= len(plain) {
				t.Errorf("%s with %s: %v is not more than %v", wrong, refused, both, plain)
			}
		}
	}
	for _, size := range []string{"vcpus=80 hotAdd=on", "vcpus=24 coresPerSocket=7 hotAdd=on", "vcpus=24 hw=8 coresPerSocket=1 hotAdd=on", "vcpus=24 hw=21 coresPerSocket=8 numa.vcpu.coresPerNode=5 hotAdd=on"} {
		both, off := found(size + " memory=64GB")
		ids := []string{}
		for _, f := range both {
			ids = append(ids, f[:4])
		}
		if off && (!slices.Contains(ids, "N001") || slices.Contains(ids, "N008") || slices.Contains(ids, "N013") || slices.Contains(ids, "N007")) {
			t.Errorf("%s: %v", size, both)
		}
	}
}

// TestOneLimit: a VM with more vCPUs than its virtual hardware allows is advised one number of them, with which it powers on.
func TestOneLimit(t *testing.T) {
	r := runText(t, "release 4.1\nhost h nodes=2 cores=16 memory=512GB\nvm v host=h vcpus=24 memory=128GB hw=7\n")
	var advice []string
	for _, f := range r.Findings {
		if f.VM == "v" && strings.Contains(f.Advice, "vCPUs") {
			advice = append(advice, f.Rule+": "+f.Advice)
		}
	}
	if want := []string{"N032: Use at most 8 vCPUs"}; !slices.Equal(advice, want) {
		t.Errorf("advised %q, want %q", advice, want)
	}
}

// TestOnceItPowersOn: what is wrong with a VM that does not power on is told as of then, unless its source says that it runs, and its cure
// costs no downtime.
func TestOnceItPowersOn(t *testing.T) {
	for power, stopped := range map[string]bool{"": true, "power=off": true, "power=on": false} {
		r := runText(t, "release 8.0U3\nhost h nodes=2 cores=16 memory=512GB\nvm v host=h vcpus=24 memory=64GB coresPerSocket=12 hw=22 hotAdd=on "+power+"\n")
		i := slices.IndexFunc(r.Findings, func(f finding.Finding) bool { return f.Rule == "N001" })
		_, plans := r.Proposals()
		if i < 0 || len(plans) != 1 {
			t.Fatalf("%q: no N001, or %d plans", power, len(plans))
		}
		f := &r.Findings[i]
		if then := strings.HasPrefix(f.Message, "once it powers on: CPU hot add"); then != stopped || strings.HasPrefix(plans[0].Downtime, "none") != stopped || strings.Contains(f.Advice, " before it is powered on") != stopped {
			t.Errorf("%q: %s: %s; downtime %s; want it off: %v", power, f.Message, f.Advice, plans[0].Downtime, stopped)
		}
	}
}
