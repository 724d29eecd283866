package upgrade

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"example.org/homenode/change/diff"
	"example.org/homenode/change/fix"
	"example.org/homenode/change/whatif"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
	"example.org/homenode/source/scenario/given"
	"example.org/homenode/source/scenario/random"
)

func fleet(t *testing.T, text string) *numa.Fleet {
	t.Helper()
	return given.Fleet(t, "fleet", []byte(text))
}

// TestDecoupled upgrades over 6.5, where cores per socket stop sizing virtual nodes (B-11, B-12).
func TestDecoupled(t *testing.T) {
	f := fleet(t, "release 6.0\ncluster prod\nhost esx[1-2] nodes=2 cores=12 memory=256GB\nvm db host=esx1 vcpus=16 memory=64GB coresPerSocket=4 hw=11\nvm web host=esx2 vcpus=2 memory=8GB hw=11\ncluster lab\nhost esx9 nodes=2 cores=12 memory=256GB\nvm old host=esx9 vcpus=16 memory=64GB coresPerSocket=4 hw=11\n")
	r, err := Study(t.Context(), nil, f, Ask{Cluster: "prod", Release: numa.ESXi70}, rules.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.VMs) != 1 || r.VMs[0].Name != "db" || r.VMs[0].On[0].Before.VPDs.Len() != 4 || r.VMs[0].On[0].After.VPDs.Len() != 2 {
		t.Errorf("changed: %+v, want db of 4 virtual nodes with 2", r.VMs)
	}
	i := slices.IndexFunc(r.Meanings, func(c Concern) bool { return c.Setting == "coresPerSocket" })
	if i < 0 || !slices.Equal(r.Meanings[i].VMs, []string{"db"}) {
		t.Errorf("meanings: %+v, want coresPerSocket of db alone", r.Meanings)
	}
	if f.Hosts[0].Release.Value != numa.ESXi60 {
		t.Error("the fleet that was read is changed")
	}
}

// TestFirst upgrades to a release that does not power a VM on, and says what to set first.
func TestFirst(t *testing.T) {
	f := fleet(t, "release 8.0U3\nhost esx1 nodes=2 cores=16 memory=256GB\nvm db host=esx1 vcpus=30 memory=64GB coresPerSocket=10 hw=19 numa.vcpu.coresPerNode=15\n")
	r, err := Study(t.Context(), nil, f, Ask{Hardware: 21}, rules.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Worse != 1 || len(r.First) != 1 || len(r.First[0].Edits) == 0 {
		t.Errorf("worse %d, first %+v, want a change of db; left %+v", r.Worse, r.First, r.Left)
	}
}

// TestDropped names the hosts whose processors the release no longer supports, of those that get it.
func TestDropped(t *testing.T) {
	f := fleet(t, `release 7.0U1
cluster prod
host old nodes=2 cores=12 memory=256GB cpu="Intel(R) Xeon(R) CPU E5-2680 v3 @ 2.50GHz"
host new nodes=2 cores=16 memory=256GB cpu="Intel(R) Xeon(R) Gold 6346 CPU @ 3.10GHz"
vm a host=old vcpus=2 memory=4GB hw=19
cluster lab
host aside nodes=2 cores=12 memory=256GB cpu="Intel(R) Xeon(R) CPU E5-2680 v3 @ 2.50GHz"
vm b host=aside vcpus=2 memory=4GB hw=19
`)
	for release, want := range map[numa.Release]string{numa.ESXi80: "[prod/old]", numa.ESXi70 + 3: "[]"} {
		r, err := Study(t.Context(), nil, f, Ask{Cluster: "prod", Release: release}, rules.Options{})
		if err != nil {
			t.Fatal(err)
		}
		names := []string{}
		for _, d := range r.Dropped {
			names = append(names, d.Cluster+"/"+d.Host)
		}
		if got := fmt.Sprint(names); got != want {
			t.Errorf("%s: found %s, want %s", release, got, want)
		}
	}
}

// TestHeld leaves dropped hosts at their release: they do not run the virtual hardware of the new one.
func TestHeld(t *testing.T) {
	f := fleet(t, `release 7.0U3
host old nodes=2 cores=14 memory=512GB cpu="Intel(R) Xeon(R) CPU E5-2680 v4 @ 2.40GHz"
host new nodes=2 cores=16 memory=512GB cpu="Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz"
vm a host=old vcpus=16 memory=128GB hw=13
vm b host=new vcpus=16 memory=128GB hw=13
`)
	r, err := Study(t.Context(), nil, f, Ask{Release: numa.ESXi90, Hardware: 22}, rules.Options{})
	if err != nil || !slices.Equal(r.Held, []string{"a"}) || r.Worse != 1 || len(r.Left) == 0 || strings.Contains(r.Left[0].Why, hostsFirst) {
		t.Errorf("%v, held %v, worse %d, left %+v; want that a does not power on where it runs", err, r.Held, r.Worse, r.Left)
	}
}

// TestThrough names the hosts that the release is no direct upgrade for.
func TestThrough(t *testing.T) {
	for from, want := range map[string]string{"6.0": "8.0: 6.7, 7.0: 6.7", "6.5": "8.0: 7.0", "6.7": "", "7.0U3": ""} {
		f := fleet(t, "release "+from+"\nhost old nodes=2 cores=16 memory=256GB\nvm a host=old vcpus=2 memory=4GB hw=11\nrelease 6.7\nhost mid nodes=2 cores=16 memory=256GB\nvm b host=mid vcpus=2 memory=4GB hw=11\n")
		var got []string
		for _, to := range []numa.Release{numa.ESXi80 + 3, numa.ESXi70, numa.ESXi67} {
			r, err := Study(t.Context(), nil, f, Ask{Release: to}, rules.Options{})
			if err != nil {
				continue // nothing to upgrade
			}
			for _, step := range r.Through {
				got = append(got, to.Base().String()+": "+step.Release)
				if !slices.Equal(step.Hosts, []string{"old"}) {
					t.Errorf("from %s to %s: hosts %v", from, to, step.Hosts)
				}
			}
		}
		if text := strings.Join(got, ", "); text != want {
			t.Errorf("from %s: found %q, want %q", from, text, want)
		}
	}
}

// TestUntidy: a VM that gets nothing but a finding for which nothing has to change is not worse off.
func TestUntidy(t *testing.T) {
	f := fleet(t, "release 7.0U3\ncluster c\nhost h1 nodes=2 cores=20 memory=768GB\nhost h2 nodes=2 cores=14 threads=14 ht=off memory=768GB\nvm v host=h1 vcpus=32 memory=128GB hw=13\n")
	r, err := Study(t.Context(), nil, f, Ask{Release: numa.ESXi80 + 3, Hardware: 21}, rules.Options{})
	if err != nil || r.Worse != 0 || len(r.Left) != 0 || len(r.First) != 0 {
		t.Errorf("%v, worse %d, first %+v, left %+v, changed %+v; want none worse", err, r.Worse, r.First, r.Left, r.VMs)
	}
}

// TestNothingAsked refuses an upgrade to nothing.
func TestNothingAsked(t *testing.T) {
	if _, err := Study(t.Context(), nil, fleet(t, "release 7.0\nhost esx1 nodes=2 cores=12 memory=256GB\nvm a host=esx1 vcpus=2 memory=4GB\n"), Ask{}, rules.Options{}); err == nil {
		t.Error("no error")
	}
}

// TestMixed upgrades the older hosts alone: no host and no VM is taken back.
func TestMixed(t *testing.T) {
	f := fleet(t, "cluster prod\nhost esx1 nodes=2 cores=16 memory=256GB release=7.0U3\nhost esx2 nodes=2 cores=16 memory=256GB release=9.0\nvm new host=esx2 vcpus=16 memory=64GB hw=22\nvm old host=esx1 vcpus=8 memory=32GB hw=19\ncluster lab\nhost esx9 nodes=2 cores=16 memory=256GB release=9.0\nvm labvm host=esx9 vcpus=4 memory=16GB hw=22\n")
	r, err := Study(t.Context(), nil, f, Ask{Release: numa.ESXi80}, rules.Options{})
	if err != nil || r.Worse != 0 || len(r.VMs) != 0 {
		t.Errorf("%v, worse %d, changed %+v; want none", err, r.Worse, r.VMs)
	}
	if _, err := Study(t.Context(), nil, f, Ask{Cluster: "lab", Release: numa.ESXi80}, rules.Options{}); err == nil || !strings.Contains(err.Error(), "every host has that release") {
		t.Errorf("a cluster that is newer: %v", err)
	}
	r, err = Study(t.Context(), nil, f, Ask{Hardware: 21}, rules.Options{})
	if err != nil || r.Worse != 1 || r.Newer != 2 || len(r.Left) == 0 || !strings.Contains(r.Left[0].Why, "does not power on on esx1") {
		t.Errorf("%v, worse %d, newer %d, left %+v; want that old is bound to esx2", err, r.Worse, r.Newer, r.Left)
	}
}

// TestTooNew refuses hardware that no host runs afterwards.
func TestTooNew(t *testing.T) {
	f := fleet(t, "release 7.0U3\nhost esx1 nodes=2 cores=16 memory=256GB\nvm old host=esx1 vcpus=8 memory=32GB hw=17\n")
	if _, err := Study(t.Context(), nil, f, Ask{Hardware: 21}, rules.Options{}); err == nil || !strings.Contains(err.Error(), "runs 19 at most") {
		t.Errorf("error %v", err)
	}
	if _, err := Study(t.Context(), nil, f, Ask{Hardware: 11}, rules.Options{}); err == nil || !strings.Contains(err.Error(), "every VM has that version") {
		t.Errorf("error %v", err)
	}
}

// TestHosts shows findings of hosts that the upgrade brings.
func TestHosts(t *testing.T) {
	f := fleet(t, "release 6.0\ncluster prod\nhost esx[1-3] nodes=2 cores=12 memory=256GB\nvm db host=esx1 vcpus=16 memory=64GB coresPerSocket=4 hw=11\n")
	r, err := Study(t.Context(), nil, f, Ask{Release: numa.ESXi65}, rules.Options{})
	if err != nil || !slices.ContainsFunc(r.Hosts, func(h HostFinding) bool { return h.Rule == "H005" }) {
		t.Errorf("%v, %+v; want H005", err, r.Hosts)
	}
}

// TestFirstHelps sets before the upgrade's power cycle what the answer says to set first, of the demo and of random fleets: no VM is worse off by it, and
// the answer tells each finding of medium or higher severity that such a VM has then and not today.
func TestFirstHelps(t *testing.T) {
	f := given.Demo(t)
	if firstHelps(t, "the demo", f, Ask{Release: numa.ESXi90, Hardware: 22}) == 0 {
		t.Error("the demo needs nothing first")
	}
	first := 0
	for seed := range uint64(100) {
		text := random.Fleet(rand.New(rand.NewPCG(seed, 41)))
		if f := fleet(t, text); len(f.VMs) > 0 {
			a := Ask{Release: numa.ESXi90, Hardware: 22}
			if seed%2 == 0 {
				a = Ask{Release: numa.ESXi90}
			}
			first += firstHelps(t, fmt.Sprintf("seed %d\n%s", seed, text), f, a)
		}
	}
	if first < 10 {
		t.Errorf("%d VMs of random fleets need something first: the fleets are broken", first)
	}
	t.Logf("%d VMs of 100 random fleets need something first", first)
}

// firstHelps returns how many VMs need something first.
func firstHelps(t *testing.T, name string, f *numa.Fleet, a Ask) int {
	t.Helper()
	r, err := Study(t.Context(), nil, f, a, rules.Options{})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	changes, err := a.changes()
	if err != nil {
		t.Fatal(err)
	}
	after, _, err := whatif.Apply(t.Context(), f, changes, rules.Options{}.Choices)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range r.First {
		for i := range after.VMs {
			if v := &after.VMs[i]; v.ID == one.ID {
				for _, e := range one.Edits {
					if err := e.Configure(&v.Config, "first"); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	}
	then := rules.Run(after, rules.Options{})
	of := func(id string) *First {
		if i := slices.IndexFunc(r.First, func(one First) bool { return one.ID == id }); i >= 0 {
			return &r.First[i]
		}
		return nil
	}
	helps, err := diff.Compare(t.Context(), r.Drift.B, then, diff.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range helps.VMs {
		if v := &helps.VMs[i]; v.Verdict == diff.Worse {
			t.Errorf("%s\n%s is worse than without what to set first: %v", name, v.Name, v.Why)
		}
	}
	d, err := diff.Compare(t.Context(), r.Drift.A, then, diff.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range d.Findings {
		n := &d.Findings[i]
		if !n.Worsens(finding.Medium) || of(n.B.VMID) == nil {
			continue
		}
		one := of(n.B.VMID)
		told := slices.ContainsFunc(one.Brings, func(text string) bool { return strings.HasPrefix(text, n.B.Rule+" (") }) ||
			slices.ContainsFunc(r.Left, func(l fix.Left) bool { return l.ID == one.ID && l.Rule == n.B.Rule })
		if !told {
			t.Errorf("%s\n%s: %s %s: the answer does not tell that it comes or stays", name, n.B.VM, n.B.Rule, n.B.Message)
		}
	}
	return len(r.First)
}

// TestClusterAlone counts the VMs of the requested cluster, not those of the others.
func TestClusterAlone(t *testing.T) {
	f := fleet(t, "release 8.0U3\ncluster a\nhost esx1 nodes=2 cores=18 memory=512GB\nvm a1 host=esx1 vcpus=4 memory=8GB hw=21\ncluster b\nhost esx2 nodes=2 cores=18 memory=512GB\nvm b1 host=esx2 vcpus=4 memory=8GB hw=19\n")
	for cluster, want := range map[string]int{"": 1, "a*": 1, "b": 0} {
		ask := Ask{Cluster: cluster, Hardware: 21, Release: numa.ESXi90}
		r, err := Study(t.Context(), nil, f, ask, rules.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(slices.Collect(r.About())); r.Newer != want || n != r.Judged {
			t.Errorf("cluster %q: %d VMs have the hardware, want %d; %d VMs are counted, %d judged", cluster, r.Newer, want, n, r.Judged)
		}
	}
}
