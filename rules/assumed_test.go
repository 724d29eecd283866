package rules_test

import (
	"slices"
	"strings"
	"testing"

	"example.org/homenode/change/whatif"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
	"example.org/homenode/rules/verdict/fleet"
	"example.org/homenode/source/scenario/given"
)

// assumed reads a scenario as a command does.
func assumed(t *testing.T, in string) *numa.Fleet {
	t.Helper()
	f := given.Fleet(t, "in", []byte(in))
	vnuma.AssumeStored(f, vnuma.Choices{})
	return f
}

// found returns the findings of a rule as "severity VM".
func found(r *rules.Result, id string) (out []string) {
	for _, f := range r.Findings {
		if f.Rule == id {
			out = append(out, f.Severity.String()+" "+f.VM)
		}
	}
	return out
}

// TestUnknownStoredSize checks that a VM that runs with unknown settings is judged after each change like its twin with the size that the power-on on
// their host stored: ESXi keeps that size (rule book B-8).
func TestUnknownStoredSize(t *testing.T) {
	const hosts = "cluster m\nhost p1 nodes=2 cores=32 memory=1TB\nhost q1 nodes=4 cores=12 memory=1TB\n"
	for _, tt := range []struct{ name, release, vm, stored, change, bad string }{
		{"another host", "7.0U3", "host=p1 vcpus=24 memory=200GB", "24", "vm=unknown,known host=q1", "N010"},
		{"a lost host", "7.0U3", "host=p1 vcpus=24 memory=100GB", "24", "lose-host=p1", "N010"},
		{"divided packages", "8.0U3", "host=p1 vcpus=20 memory=100GB", "20", "host=p1 nodesPerSocket=2", "N010"},
		{"larger nodes", "7.0U3", "host=q1 vcpus=24 memory=100GB", "12", "host=q1 cores=24", "N010"},
		{"preferHT", "7.0U3", "host=q1 vcpus=24 memory=100GB", "12", "vm=unknown,known numa.vcpu.preferHT=TRUE", "N020"},
		{"another release", "6.0", "host=p1 vcpus=16 memory=100GB coresPerSocket=4", "4", "release=7.0U3", "N010"},
		{"spread afterwards", "7.0U3", "host=p1 vcpus=16 memory=600GB", "16", "vm=unknown,known numa.consolidate=FALSE", "N010"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := assumed(t, "release "+tt.release+"\n"+strings.ReplaceAll(hosts, "2 cores", "2 packages=2 cores")+"vm unknown "+tt.vm+" settings=?\nvm known "+tt.vm+" stored="+tt.stored)
			c, err := whatif.ParseAt("change", 1, tt.change)
			if err != nil {
				t.Fatal(err)
			}
			after, _, err := whatif.Apply(t.Context(), f, []whatif.Change{c}, vnuma.Choices{})
			if err != nil {
				t.Fatal(err)
			}
			r := rules.Run(after, rules.Options{})
			got := map[string][]string{}
			for _, f := range r.Findings {
				if f.VM != "" {
					got[f.VM] = append(got[f.VM], f.Rule+" "+f.Severity.String())
				}
			}
			if !slices.Equal(got["unknown"], got["known"]) {
				t.Errorf("unknown %q, known %q", got["unknown"], got["known"])
			}
			if !slices.ContainsFunc(got["unknown"], func(s string) bool { return strings.HasPrefix(s, tt.bad) }) {
				t.Errorf("found %q, want %s", got["unknown"], tt.bad)
			}
		})
	}
}

// TestCuresForgetAssumedSize checks that a cure that divides a VM otherwise removes the size that its last power-on stored, also where the source
// does not state it, and that it cures then.
func TestCuresForgetAssumedSize(t *testing.T) {
	f := assumed(t, `release 7.0U3
host esx1 nodes=2 cores=16 memory=512GB
vm large host=esx1 vcpus=8 memory=300GB settings=?
vm uneven host=esx1 vcpus=20 memory=128GB coresPerSocket=4 settings=?`)
	r := rules.Run(f, rules.Options{})
	if got := append(found(r, "N005"), found(r, "N008")...); !slices.Equal(got, []string{"high large", "medium uneven"}) {
		t.Fatalf("found %q", got)
	}
	vms, plans := r.Proposals()
	if len(plans) != 2 {
		t.Fatalf("%d plans, want 2", len(plans))
	}
	for i, plan := range plans {
		for _, key := range []string{numa.StoredKey, numa.CookieKey} {
			if !slices.ContainsFunc(plan.Edits, func(e numa.Edit) bool { return e.Key == key && !e.To.Set }) {
				t.Errorf("the plan of %s does not remove %s: %q", vms[i].Name, key, plan.Needed)
			}
		}
		for _, e := range plan.Edits {
			for j := range f.VMs {
				if f.VMs[j].ID == vms[i].ID {
					if err := e.Configure(&f.VMs[j].Config, "plan"); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	}
	after := rules.Run(f, rules.Options{})
	for _, id := range []string{"N005", "N008", "N010"} {
		if left := found(after, id); left != nil {
			t.Errorf("after the plans %s is found for %q", id, left)
		}
	}
}

// TestPowerOnSeen checks that predictions and advice follow the nodes that the newest power-on showed.
func TestPowerOnSeen(t *testing.T) {
	const hosts = "cluster m\nhost p1 nodes=2 cores=32 memory=1TB\nhost q1 nodes=2 cores=12 memory=1TB\n"
	f := assumed(t, "release 7.0U3\n"+hosts+`vm app host=p1 vcpus=20 memory=100GB settings=?
vm big host=q1 vcpus=20 memory=100GB settings=?
vm known host=p1 vcpus=20 memory=100GB
seen app by=vmware.log host=q1 nodes=2x10 clients=2x10
seen app by=lscpu nodes=2x10
seen big by=vmware.log host=p1 nodes=20 clients=20
seen big by=lscpu nodes=20
seen known by=vmware.log host=q1 nodes=2x10 clients=2x10`)
	r := rules.Run(f, rules.Options{})
	for id, want := range map[string][]string{
		"N010": {"high big", "info app"}, // big is carried by two clients now, and after the next power cycle
		"N014": nil,                      // app and known have two nodes and keep them
		"N031": nil,                      // the guests agree with the logs
	} {
		if got := found(r, id); !slices.Equal(got, want) {
			t.Errorf("%s: found %q, want %q", id, got, want)
		}
	}
}

// TestClientsUntilPowerCycle checks that a VM is reported that runs as several clients without nodes in its guest, by settings that were changed
// since: it does so until its next power cycle.
func TestClientsUntilPowerCycle(t *testing.T) {
	for _, tt := range []struct {
		vm, seen string
		want     []string
	}{
		{"", "numa.consolidate=FALSE", []string{"high v"}},
		{"numa.consolidate=FALSE stored=8", "numa.consolidate=FALSE", nil}, // the same settings: N010 or N015 report it
		{"power=off", "numa.consolidate=FALSE", []string{"low v"}},
	} {
		r := rules.Run(assumed(t, "release 7.0U3\nhost a nodes=2 cores=16 memory=512GB\nvm v host=a vcpus=8 memory=64GB "+tt.vm+
			"\nseen v by=vmware.log host=a nodes=8 clients=2x4 vcpus=8 memory=64GB stored=8 "+tt.seen), rules.Options{})
		if got := found(r, "N030"); !slices.Equal(got, tt.want) {
			t.Errorf("%q: found %q, want %q", tt.vm, got, tt.want)
		}
	}
}

// TestUnknownNodeMemory checks that nothing is said to be in order without a word of the memory of the nodes where that is unknown.
func TestUnknownNodeMemory(t *testing.T) {
	r := rules.Run(assumed(t, "release 7.0U3\nhost a nodes=2 cores=16\nvm v host=a vcpus=8 memory=400GB"), rules.Options{})
	text := strings.Join(fleet.Verdict(r), " ")
	if !strings.Contains(text, "as far as is known") || !strings.Contains(text, "the memory of the nodes") {
		t.Errorf("verdict: %s", text)
	}
	if c := fleet.Clusters(r); c[0].Sizeless != 1 || c[0].TooBig != 0 {
		t.Errorf("%d too big, %d unknown; want 0 and 1", c[0].TooBig, c[0].Sizeless)
	}
}

// TestRebootIsNoPowerOff checks that vmx.reboot.PowerCycle shortens only changes that vSphere writes to a running VM.
func TestRebootIsNoPowerOff(t *testing.T) {
	r := rules.Run(assumed(t, `release 7.0U3
host a nodes=2 cores=16 memory=512GB
vm hotadd host=a vcpus=24 memory=100GB hotAdd=on vmx.reboot.PowerCycle=TRUE
vm kept host=a vcpus=24 memory=100GB stored=24 vmx.reboot.PowerCycle=TRUE`), rules.Options{})
	vms, plans := r.Proposals()
	for i, want := range map[string]bool{"hotadd": false, "kept": true} {
		at := slices.IndexFunc(vms, func(v *rule.VM) bool { return v.Name == i })
		if at < 0 {
			t.Fatalf("no plan of %s", i)
		}
		if got := strings.HasPrefix(plans[at].Downtime, "a reboot of the guest"); got != want {
			t.Errorf("%s: downtime %q", i, plans[at].Downtime)
		}
		for _, f := range r.Findings {
			if f.VM == i && f.Severity == finding.High && strings.Contains(f.Advice, "then reboot the guest") != want {
				t.Errorf("%s: %s", i, f.Advice)
			}
		}
	}
}

// TestStarvedBesideLatency checks that a normal VM is reported where VMs of latency sensitivity High leave it less than a quarter of a core for each
// vCPU.
func TestStarvedBesideLatency(t *testing.T) {
	for _, tt := range []struct {
		vcpus string
		want  []string
	}{{"16", []string{"medium normal", "low first", "low second"}}, {"4", []string{"low first", "low second"}}} {
		r := rules.Run(assumed(t, `release 8.0U3
host a nodes=2 cores=16 memory=512GB mhz=2500
vm first host=a vcpus=15 memory=64GB latency=high reserveAll=on cpuReservation=37500
vm second host=a vcpus=15 memory=64GB latency=high reserveAll=on cpuReservation=37500
vm normal host=a memory=64GB vcpus=`+tt.vcpus), rules.Options{})
		if got := found(r, "N026"); !slices.Equal(got, tt.want) {
			t.Errorf("%s vCPUs: found %q, want %q", tt.vcpus, got, tt.want)
		}
	}
}

// TestPlanNamesItsPrice checks that a plan is offered only where the VM gains by it, as fix demands, and that one whose cure of a finding makes a less severe
// one says so, unless edits near it do not. All findings that it cures on some host give the same advice.
func TestPlanNamesItsPrice(t *testing.T) {
	hosts := "release 7.0U3\ncluster c\nhost esx1 packages=2 nodes=4 cores=8 memory=512GB\nhost esx2 packages=2 nodes=2 cores=16 memory=512GB\n" +
		"cluster d\nhost big1 packages=2 nodes=4 cores=16 memory=1TB\nhost big2 packages=2 nodes=2 cores=32 memory=1TB\n"
	const fresh = "remove numa.autosize.vcpu.maxPerVirtualNode and numa.autosize.cookie"
	for _, tt := range []struct{ name, vm, needed, price string }{
		{"one medium finding for another", "vm v host=esx1 vcpus=24 memory=128GB", "", ""},
		{"a high one for nothing", "vm v host=esx2 vcpus=24 memory=128GB hotAdd=on", "switch CPU hot add off, set cores per socket to 6 (4 sockets), set numa.vcpu.maxPerVirtualNode = 6", ""},
		{"12 cores per socket harm big2", "vm v host=big1 vcpus=36 coresPerSocket=2 memory=256GB stored=18", "set cores per socket to 9 (4 sockets), " + fresh, ""},
		{"1 core per socket divides unevenly", "cluster e\nhost snc packages=2 nodes=4 cores=14 memory=512GB\nvm v host=snc vcpus=32 memory=128GB coresPerSocket=32 numa.vcpu.followcorespersocket=1", "set cores per socket to 8 (4 sockets)", ""}, // 3 nodes would be unequal
		{"the advice for both clusters of hosts", "vm v host=big2 vcpus=40 memory=700GB coresPerSocket=8 hotAdd=on", "switch CPU hot add off, set cores per socket to 10 (4 sockets), set numa.vcpu.maxPerVirtualNode = 10", ""},
	} {
		r := rules.Run(assumed(t, hosts+tt.vm), rules.Options{})
		_, plans := r.Proposals()
		for _, f := range r.Findings {
			if f.VM == "v" && f.Severity >= finding.Medium && len(plans) > 0 && strings.HasPrefix(f.Advice, "Keep the VM off") {
				t.Errorf("%s: %s: %s", tt.name, f.Rule, f.Advice)
			}
		}
		needed, notice := "", ""
		if len(plans) > 0 {
			needed, notice = strings.Join(plans[0].Needed, ", "), plans[0].Notice
			if plans[0].Wider != nil {
				needed = strings.Join(plans[0].Wider, ", ")
			}
		}
		if needed != tt.needed || !strings.Contains(notice, tt.price) || tt.price == "" && strings.Contains(notice, "another finding") {
			t.Errorf("%s: plan %q, notice %q", tt.name, needed, notice)
		}
	}
}

// TestPlansOfAlikeVMs checks that a plan is checked for each VM: what all rules accept for one guest may idle cores of the software in another one with
// the same configuration.
func TestPlansOfAlikeVMs(t *testing.T) {
	r := rules.Run(assumed(t, `release 7.0U3
cluster c
host esx1 nodes=8 cores=8 memory=1TB
host esx2 nodes=8 cores=8 memory=1TB
vm linux host=esx1 vcpus=64 memory=256GB coresPerSocket=16 guest=ubuntu64Guest
vm windows host=esx1 vcpus=64 memory=256GB coresPerSocket=16 guest=windows2019srv_64Guest`), rules.Options{})
	vms, plans := r.Proposals()
	got := map[string]string{}
	for i, v := range vms {
		got[v.Name] = strings.Join(append(plans[i].Needed, plans[i].Better...), ", ")
	}
	if got["linux"] == "" || got["linux"] == got["windows"] {
		t.Errorf("plans %q", got)
	}
}

// TestThreadsWithoutUse checks that threads are reported that give the VM nothing: preferHT of a VM that is divided all the same while nodes idle, and
// virtual hyper-threading of hardware without it.
func TestThreadsWithoutUse(t *testing.T) {
	r := rules.Run(assumed(t, `release 8.0U3
host a nodes=4 cores=16 memory=2TB
vm divided host=a vcpus=64 memory=100GB numa.vcpu.preferHT=TRUE
vm one host=a vcpus=32 memory=100GB numa.vcpu.preferHT=TRUE
vm all host=a vcpus=128 memory=100GB numa.vcpu.preferHT=TRUE
vm old host=a vcpus=20 memory=64GB hw=19 virtualThreads=2
vm new host=a vcpus=20 memory=64GB hw=20 virtualThreads=2`), rules.Options{})
	if got := found(r, "N012"); !slices.Equal(got, []string{"low divided"}) {
		t.Errorf("N012: found %q", got)
	}
	if got := found(r, "N019"); !slices.Equal(got, []string{"low old"}) {
		t.Errorf("N019: found %q", got)
	}
}

// TestMovedAsSeen checks that the trace of a vMotion gives the layout that the rules judge: the guest keeps the nodes that its log shows.
func TestMovedAsSeen(t *testing.T) {
	f := assumed(t, "release 7.0U3\ncluster m\nhost p1 nodes=2 cores=32 memory=1TB\nhost q1 nodes=2 cores=12 memory=1TB\nvm v host=p1 vcpus=20 memory=100GB\nseen v by=vmware.log host=q1 nodes=2x10 clients=2x10\n")
	v := rules.Run(f, rules.Options{}).ByID()[f.VMs[0].ID]
	q := v.OnHost(f.Hosts[1].ID)
	want := v.Moved(q.Kind, vnuma.Choices{})
	got, _, _, err := vnuma.Explain(v.VM, &f.Hosts[1], &vnuma.Case{Event: vnuma.VMotionIn, From: &v.Home.Machine})
	if err != nil || got.Compare(&want) != 0 || got.VPDs.Len() != 2 {
		t.Errorf("the trace has %s, the rules %s, %v", got.VPDs, want.VPDs, err)
	}
}

// TestDividedPackagesCost checks that a divided package costs the VMs of its hosts, not those of other hosts of the cluster that would be wide there too.
func TestDividedPackagesCost(t *testing.T) {
	r := rules.Run(assumed(t, `release 7.0U3
cluster c
host a nodes=4 packages=2 cores=16 memory=1TB
host b nodes=2 packages=2 cores=32 memory=1TB
vm here host=a vcpus=20 memory=64GB
vm there host=b vcpus=20 memory=64GB`), rules.Options{})
	i := slices.IndexFunc(r.Findings, func(f finding.Finding) bool { return f.Rule == "H003" })
	if i < 0 || len(r.Findings[i].Costs) != 1 || r.ByID()[r.Findings[i].Costs[0]].Name != "here" {
		t.Errorf("findings %+v", r.Findings)
	}
}

// TestHighForHigh checks that a plan that cures one finding of high severity and makes another is advice if much less memory is far with it, and that the finding
// says why there is none otherwise.
func TestHighForHigh(t *testing.T) {
	for memory, want := range map[string]string{
		"128GB,256GB": "Switch CPU hot add off, then power off and on",
		"32GB,300GB":  "To switch CPU hot add off would not do: ",
	} {
		r := rules.Run(assumed(t, "release 8.0U3\nhost h nodes=2 cores=18 nodeMemory="+memory+"\nvm v host=h vcpus=20 coresPerSocket=10 memory=300GB hotAdd=on"), rules.Options{})
		i := slices.IndexFunc(r.Findings, func(f finding.Finding) bool { return f.Rule == "N001" })
		if i < 0 || !strings.HasPrefix(r.Findings[i].Advice, want) {
			t.Errorf("%s: want the advice %q of N001: %v", memory, want, r.Findings)
		}
	}
}

// TestFewestForAllHosts checks that cores per socket are no more than a low finding where fewer virtual nodes would suit the host of the VM, and not the others.
func TestFewestForAllHosts(t *testing.T) {
	r := rules.Run(assumed(t, `release 9.0
cluster c
host h0 nodes=2 cores=64 memory=3TB
host h1 nodes=4 packages=2 cores=8 memory=3TB
vm v host=h0 vcpus=20 coresPerSocket=5 memory=300GB hw=21 numa.vcpu.followcorespersocket=1`), rules.Options{})
	if got := found(r, "N008"); !slices.Equal(got, []string{"low v"}) {
		t.Errorf("found %q", got)
	}
}

// TestEachHostThatIsLeft checks that a way names all hosts on which it leaves its finding, or makes one as severe.
func TestEachHostThatIsLeft(t *testing.T) {
	r := rules.Run(assumed(t, `release 6.7
cluster c
host wide  nodes=2 cores=18 memory=256GB
host small nodes=1 packages=1 cores=8 memory=768GB
host home  nodes=2 cores=8 memory=256GB
vm v host=home vcpus=25 coresPerSocket=1 memory=150GB hotAdd=on hw=14`), rules.Options{})
	i := slices.IndexFunc(r.Findings, func(f finding.Finding) bool { return f.Rule == "N013" })
	if i < 0 || r.Findings[i].Advice != "Use at most 16 vCPUs (not on small and wide)" {
		t.Errorf("found %v", r.Findings)
	}
}
