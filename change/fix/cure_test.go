package fix_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.org/homenode/change/fix"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
	"example.org/homenode/source/scenario"
)

// said writes a plan in a few lines: "v: cpuHotAdd=false cures N001 brings N009", "v N005 stays: …".
func said(p *fix.Plan) string {
	var b strings.Builder
	for _, c := range p.Changes {
		fmt.Fprintf(&b, "%s:", c.Target().Name)
		for _, e := range c.Edits {
			fmt.Fprintf(&b, " %s=%s", e.Name(), e.To)
		}
		fmt.Fprintf(&b, " cures %s", strings.Join(c.Findings, " "))
		for _, text := range c.Eases {
			fmt.Fprintf(&b, "eases %s", text)
		}
		for _, text := range c.Brings {
			fmt.Fprintf(&b, " brings %s", text[:4])
		}
		b.WriteString("\n")
	}
	for _, l := range p.Left {
		if l.Severity != "info" {
			fmt.Fprintf(&b, "%s%s %s stays: %s\n", l.VM, l.Host, l.Rule, l.Why)
		}
	}
	return b.String()
}

// TestCures plans cures that bring something less severe along, and those that may not.
func TestCures(t *testing.T) {
	for _, tt := range []struct {
		name, fleet string
		o           fix.Options
		want        []string
		not         string
	}{
		{"the optional edit is taken along, since the VM is off for the other", `release 8.0U3
host h nodes=2 cores=24 memory=1024GB
vm v host=h vcpus=32 coresPerSocket=1 memory=128GB hw=20 hotAdd=on`,
			fix.Options{}, []string{"v: coresPerSocket=0 cpuHotAdd=false cures N001 N022\n"}, "stays"},
		{"the optional edit changes a value that is unknown, so no script could make and revert it", `release 8.0U3
host h nodes=2 cores=24 memory=1024GB
vm v host=h vcpus=32 coresPerSocket=? memory=128GB hw=20 hotAdd=on`,
			fix.Options{}, []string{"v: cpuHotAdd=false cures N001"}, "coresPerSocket"},
		{"the optional edit needs the VM off, the other a power cycle", `release 7.0U3
host h nodes=2 cores=18 memory=512GB
vm v host=h vcpus=32 coresPerSocket=1 memory=128GB hw=19 numa.vcpu.maxPerVirtualNode=32`,
			fix.Options{}, []string{"v: numa.vcpu.maxPerVirtualNode=absent cures N017"}, "coresPerSocket"},
		{"a smaller change would bring a finding as severe on another host", `cluster c
release 6.0
host h1 nodes=2 cores=10 memory=256GB
release 7.0U3
host h2 nodes=2 cores=20 memory=256GB
vm a host=h2 vcpus=16 memory=20GB hw=11 coresPerSocket=4 stored=4
vm b host=h2 vcpus=16 memory=20GB hw=11 coresPerSocket=4`,
			fix.Options{}, []string{"a: numa.vcpu.maxPerVirtualNode=8 cures N008 N010\n"}, "a N"},
		{"memory on another node is better than memory that is ballooned or swapped", `release 8.0U3
host h nodes=2 cores=16 memory=512GB
vm v host=h vcpus=4 memory=300GB hw=20 coresPerSocket=auto numa.nodeAffinity=0`,
			fix.Options{}, []string{"v: coresPerSocket=2 coresPerNUMANode=2 numa.nodeAffinity=absent numa.vcpu.min=4 cures N025\n"}, "stays"},
		{"a VM that its own host needs divided is no matter of other hosts", `release 8.0U3
host h nodes=1 packages=1 cores=96 memory=1536GB vendor=AMD
vm v host=h vcpus=72 memory=512GB hw=21 coresPerSocket=auto firmware=efi product="SQL Server 2022 CU14 Enterprise"`,
			fix.Options{}, []string{"v: coresPerSocket=36 coresPerNUMANode=36 cures N033\n"}, "stays"},
		{"affinity is cleared and nothing is divided for hosts that the VM may move to", `release 7.0U3
cluster c
host esx01 nodes=2 cores=12 threads=24 memory=384GB
host esx02 nodes=2 cores=6 threads=12 memory=384GB
vm aff host=esx01 vcpus=8 memory=64GB hw=19 cpuAffinity=0-7`,
			fix.Options{}, []string{"aff: cpuAffinity= cures N023"}, "coresPerSocket"},
		{"a finding about hosts that costs the changed VM alone", `release 7.0U3
host h nodes=4 packages=2 cores=24 memory=1024GB
vm v host=h vcpus=40 memory=128GB hw=19 hotAdd=on numa.vcpu.maxPerMachineNode=12`,
			fix.Options{}, []string{"cpuHotAdd=false numa.vcpu.maxPerMachineNode=absent cures N001 N018 brings H003"}, "v N0"},
		{"a fault that stops the host is harm to others", `release 6.5
cluster c
host h0 nodes=1 cores=16 memory=128GB packages=1 Numa.PreferHT=1
host h1 nodes=4 cores=20 memory=384GB packages=4
vm v0 host=h0 vcpus=16 memory=100GB hw=11 product="SQL Server 2025 Standard"`,
			fix.Options{}, []string{"v0 N033 stays: it would bring H005 (medium)"}, "v0: "},
		{"an option of a host that makes VMs worse stays out, and does not stand in the way of the VMs", `release 6.5
host h0 nodes=4 cores=24 memory=1024GB
vm v host=h0 vcpus=24 memory=32GB hw=11 coresPerSocket=8
vm w host=h0 vcpus=56 memory=64GB hw=11 coresPerSocket=14 hotAdd=on`,
			fix.Options{Host: true}, []string{"w: cpuHotAdd=false cures N001\n", "h0 H005 stays: it would bring N008 (medium)"}, "FollowCores"},
		{"virtual hardware that allows too few vCPUs", `release 6.0
host h nodes=2 cores=20 memory=1024GB
vm v host=h vcpus=40 memory=64GB hw=8`,
			fix.Options{Upgrade: true}, []string{"v: hardware=11 coresPerSocket=20 cures N032\n"}, "stays"},
		{"the newest that all hosts run", `cluster c
host a nodes=2 cores=6 memory=512GB release=8.0U3
host b nodes=2 cores=6 memory=512GB release=6.7
vm v host=a vcpus=8 memory=16GB hw=7`,
			fix.Options{Upgrade: true}, []string{"v: hardware=14 coresPerSocket=4 numa.vcpu.min=8 cures N011\n"}, "stays"},
		{"960 vCPUs", `release 9.0
host h nodes=8 cores=128 memory=8192GB
vm v host=h vcpus=960 memory=640GB hw=21 firmware=efi iommu=on`,
			fix.Options{Upgrade: true}, []string{"v: hardware=22 cures N032\n"}, "stays"},
		{"sockets that the guest uses and that do not cut its nodes", `release 8.0U3
host h nodes=8 packages=2 cores=8 memory=1024GB vendor=AMD llcCores=8 cpu="AMD EPYC 9124 16-Core Processor"
vm v host=h vcpus=24 memory=96GB hw=20 coresPerSocket=auto product="Windows 11 Pro"`,
			fix.Options{}, []string{"v: coresPerSocket=24 cures N033 brings N009\n"}, "N033 stays"},
		{"a low finding on a host that the VM does not fit, although a medium one is planned with it", `release 8.0U3
cluster c
host h1 nodes=2 cores=16 memory=512GB
host h2 nodes=4 packages=2 cores=8 memory=512GB
host h3 nodes=2 cores=32 memory=1TB
vm v host=h3 vcpus=64 memory=800GB coresPerSocket=32 hw=21`,
			fix.Options{}, []string{"v N014 stays: decide this by hand: keep the VM off h2"}, "v: "},
		{"the same, allowed", `release 8.0U3
cluster c
host h2 nodes=4 packages=2 cores=8 memory=512GB
host h3 nodes=2 cores=32 memory=1TB
vm v host=h3 vcpus=64 memory=400GB coresPerSocket=32 hw=21`,
			fix.Options{Better: true}, []string{"v N014 stays"}, "v: "},
		{"a host that takes no VMs and a VM that is healthy elsewhere", `release 8.0U3
cluster c
host h[1-3] nodes=2 cores=16 memory=512GB
host h5 nodes=2 cores=8 memory=1TB connection=disconnected
vm v host=h2 vcpus=24 memory=200GB coresPerSocket=12 hw=21 hotAdd=on`,
			fix.Options{}, []string{"v: cpuHotAdd=false cures N001 N022\n"}, "stays"},
		{"a VM is not divided further where it runs, with harm there or without", `release 8.0U3
cluster m
host a1 nodes=2 cores=16 memory=512GB
host b1 nodes=4 cores=8 memory=512GB
vm hot host=a1 vcpus=24 memory=128GB hotAdd=on
vm cold host=a1 vcpus=24 memory=128GB`,
			fix.Options{}, []string{"hot: cpuHotAdd=false cures N001 N022 brings N014\n", "cold N014 stays: it divides the VM further where it runs"}, "coresPerSocket"},
		{"a stored size is not removed where a vMotion would then hide the nodes of the other host", `release 7.0U3
cluster prod
host big nodes=2 cores=32 memory=1TB
host small nodes=2 cores=20 memory=768GB
vm sql host=big vcpus=24 memory=128GB hw=19 coresPerSocket=1 stored=8`,
			fix.Options{}, []string{"sql: numa.vcpu.maxPerVirtualNode=12 cures N010 N014\n"}, "stays"},
		{"a size by hand is not removed where a vMotion would then span virtual nodes", `release 6.5U2
cluster c
host h1 nodes=4 cores=12 memory=2048GB packages=2
host h2 nodes=2 cores=18 memory=512GB packages=2
vm v host=h1 vcpus=32 memory=153GB hw=13 coresPerSocket=1 numa.vcpu.maxPerVirtualNode=20`,
			fix.Options{}, []string{"v: coresPerSocket=8 numa.vcpu.maxPerVirtualNode=absent cures N007 N017\n"}, "brings"},
		{"the necessary part of a plan cures each finding that is medium or high", `release 7.0U3
cluster c
host h1 nodes=3 cores=28 memory=768GB
host h2 nodes=3 cores=8 memory=192GB
vm v host=h1 vcpus=14 memory=460GB hw=8 coresPerSocket=1`,
			fix.Options{}, []string{"v: coresPerSocket=7 numa.consolidate=FALSE cures N014"}, "N014 stays"},
		{"nine vCPUs with the memory of two nodes", `release 7.0U3
host h nodes=2 cores=16 memory=512GB
vm v host=h vcpus=9 memory=384GB hw=19`,
			fix.Options{}, []string{"v: numa.consolidate=FALSE cures N005\n"}, "N005 stays"},
		{"seven vCPUs with the memory of two nodes", `release 7.0U3
host h nodes=2 cores=16 memory=512GB
vm v host=h vcpus=7 memory=384GB hw=19`,
			fix.Options{}, []string{"v: numa.consolidate=FALSE numa.vcpu.min=7 cures N005\n"}, "N005 stays"},
		{"nine vCPUs with the memory of two nodes, where NUMA Nodes could be set", `release 8.0U3
host h nodes=2 cores=16 memory=512GB
vm v host=h vcpus=9 memory=384GB hw=20 coresPerSocket=auto`,
			fix.Options{}, []string{"v: numa.consolidate=FALSE cures N005\n"}, "N005 stays"},
		{"of two cures the one that suits both hosts, where it divides the VM no further than now", `release 7.0U3
cluster c
host h1 nodes=2 cores=24 memory=512GB
host h2 nodes=2 cores=18 memory=384GB
vm v host=h1 vcpus=24 memory=25GB hw=17 coresPerSocket=12 numa.consolidate=FALSE stored=24`,
			fix.Options{}, []string{"v: numa.autosize.cookie=absent numa.autosize.vcpu.maxPerVirtualNode=absent cures N010\n"}, "brings"},
		{"a larger host has room for the VM as it is", `release 8.0U3
cluster c
host s1 nodes=2 cores=8 memory=256GB
host b1 nodes=2 cores=24 memory=1TB
vm v host=s1 vcpus=8 memory=200GB coresPerSocket=8 hw=21`,
			fix.Options{}, []string{"v N005 stays: it divides the VM on b1 too (2 clients instead of 1), which has room for it as it is: move it there, or --allow split"}, "v: "},
		{"it is to be divided all the same", `release 8.0U3
cluster c
host s1 nodes=2 cores=8 memory=256GB
host b1 nodes=2 cores=24 memory=1TB
vm v host=s1 vcpus=8 memory=200GB coresPerSocket=8 hw=21`,
			fix.Options{Split: true}, []string{"cures N005"}, "stays"},
		{"affinity goes although what it hid is a finding then: less memory is far", `release 8.0U3
host h nodes=2 cores=16 memory=1024GB
vm v host=h vcpus=8 memory=600GB hw=20 coresPerSocket=auto cpuAffinity=0-31`,
			fix.Options{}, []string{"v: coresPerSocket=4 coresPerNUMANode=4 cpuAffinity= numa.vcpu.min=8 cures N023\n"}, "stays"},
		{"a server of two sockets", `release 8.0U3
host h nodes=2 cores=20 memory=1024GB
vm v host=h vcpus=8 coresPerSocket=1 memory=32GB hw=19 product="Windows Server 2019 Essentials"`,
			fix.Options{}, []string{"v: coresPerSocket=8 cures N033\n"}, "N033 stays"},
		{"unknown cores per socket are no reason to plan any", `release 7.0U3
host h nodes=2 cores=32 memory=1024GB
vm v host=h vcpus=16 coresPerSocket=? memory=256GB hw=19 product="SQL Server 2019 Standard"`,
			fix.Options{}, nil, "v: "},
		{"a finding that becomes less severe", `release 7.0U3
host h nodes=2 cores=20 memory=1024GB
vm v host=h vcpus=32 coresPerSocket=1 memory=256GB hw=19 product="SQL Server 2019 Standard"`,
			fix.Options{}, []string{"v: coresPerSocket=16 cures eases N033 high → medium\n", "v N033 stays: with the change it is medium"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, err := scenario.Read("cures", []byte(tt.fleet))
			if err != nil {
				t.Fatal(err)
			}
			tt.o.Now = now
			p, err := fix.Make(t.Context(), f, tt.o)
			if err != nil {
				t.Fatal(err)
			}
			got := said(p)
			for _, want := range tt.want {
				if !strings.Contains(got, want) {
					t.Errorf("got\n%swant %q", got, want)
				}
			}
			if tt.not != "" && strings.Contains(got, tt.not) {
				t.Errorf("got\n%sdo not want %q", got, tt.not)
			}
			for _, l := range p.Left {
				if l.Rule == "" {
					t.Errorf("%s%s stays without a rule: %s", l.VM, l.Host, l.Why)
				}
			}
		})
	}
}

// TestFaultTolerance: nothing is planned for a VM that Fault Tolerance protects, which says why, and its advice begins with what has to come
// first; without it the same VM is planned.
func TestFaultTolerance(t *testing.T) {
	for ft, want := range map[string]int{"off": 1, "primary": 0, "secondary": 0} {
		f, p := planOf(t, "release 7.0U3\nhost esx01 nodes=2 cores=4 memory=128GB\nvm sql01 host=esx01 vcpus=8 coresPerSocket=4 memory=100GB hotAdd=on ft="+ft+"\n", fix.Options{Now: now})
		if len(p.Changes) != want {
			t.Errorf("%s: %d changes, want %d", ft, len(p.Changes), want)
		}
		said := slices.ContainsFunc(p.Left, func(l fix.Left) bool { return strings.HasPrefix(l.Why, "Fault Tolerance is on") })
		advised := slices.ContainsFunc(rules.Run(f, rules.Options{}).Findings, func(x finding.Finding) bool {
			return strings.HasPrefix(x.Advice, "Turn Fault Tolerance off first") || ft == "secondary" && strings.HasPrefix(x.Advice, "Change the primary VM")
		})
		if on := ft != "off"; said != (ft == "primary") || advised != on {
			t.Errorf("%s: the plan says why %v, the advice begins with it %v, want %v", ft, said, advised, on)
		}
	}
}

// TestRemains: a finding that stays has the severity that it has after the plan, if that is more.
func TestRemains(t *testing.T) {
	_, p := planOf(t, `release 9.0
cluster c
host h nodes=4 cores=24 memory=2048GB packages=4
vm v host=h vcpus=2 memory=1280GB hw=8 coresPerSocket=1
`, fix.Options{Now: now, Upgrade: true})
	if i := slices.IndexFunc(p.Left, func(l fix.Left) bool { return l.Rule == "N005" }); len(p.Changes) != 1 || i < 0 || p.Left[i].Severity != "high" {
		t.Errorf("%s, left %+v; want N005 of high severity", said(p), p.Left)
	}
}

// TestUndecided: no downtime for a layout that is not the last one: its size is decided first.
func TestUndecided(t *testing.T) {
	const host = "release 7.0U3\ncluster c\nhost h nodes=2 cores=32 memory=1TB mhz=2600\n"
	for vm, want := range map[string]string{
		`vm v host=h vcpus=40 coresPerSocket=8 memory=700GB hw=19 hotAdd=on product="SAP HANA"`: "SAP HANA is supported on whole sockets and on half a one: decide its size first (N033)",
		`vm v host=h vcpus=64 coresPerSocket=8 memory=700GB hw=19 hotAdd=on product="SAP HANA"`: "",
		"vm v host=h vcpus=40 coresPerSocket=8 memory=700GB hw=19 hotAdd=on":                    "",
	} {
		_, p := planOf(t, host+vm+"\n", fix.Options{Now: now})
		why := ""
		for _, l := range p.Left {
			why += l.Why + "\n"
		}
		if (len(p.Changes) == 0) != (want != "") || !strings.Contains(why, want) {
			t.Errorf("%s: %d changes; left: %s", vm, len(p.Changes), why)
		}
	}
}

// TestOptionalLeft: of a changed VM whose further plan has only optional edits, which are not free, nothing further is taken.
func TestOptionalLeft(t *testing.T) {
	_, p := planOf(t, `release 9.1
cluster c
host h0 nodes=4 cores=28 memory=1536GB mhz=2600 Numa.PreferHT=1
vm v0 host=h0 vcpus=8 coresPerSocket=4 memory=4GB hw=10 numa.consolidate=FALSE product="SQL Server 2022 CU14 Enterprise" memoryHotAdd=on numa.autosize.once=FALSE
vm v1 host=h0 vcpus=16 coresPerSocket=8 memory=900GB hw=20
vm v2 host=h0 vcpus=40 coresPerSocket=1 memory=100GB hw=21 numa.vcpu.followcorespersocket=1
`, fix.Options{Now: now})
	if len(p.Changes) == 0 {
		t.Error(said(p))
	}
}
