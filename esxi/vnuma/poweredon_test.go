package vnuma_test

import (
	"testing"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
	"example.org/homenode/source/scenario"
	"example.org/homenode/source/scenario/given"
)

// TestAssumeStored checks the stored sizes that are assumed of VMs whose advanced settings are unknown. A power-on writes them (rule book B-8).
func TestAssumeStored(t *testing.T) {
	const hosts = "release 7.0U3\ncluster m\nhost p1 nodes=2 cores=32 memory=1TB\nhost q1 nodes=2 cores=12 memory=1TB\n"
	for _, tt := range []struct{ name, vm, size, cookie string }{
		{"the size that its host chooses", "vm v host=q1 vcpus=20 memory=99GB settings=?", "10", "200012"},
		{"one node", "vm v host=p1 vcpus=20 memory=99GB settings=?", "20", "200012"},
		{"suspended, it was powered on too", "vm v host=q1 vcpus=20 memory=99GB settings=? power=suspended", "10", "200012"},
		{"known settings stay", "vm v host=q1 vcpus=20 memory=99GB", "", ""},
		{"a stated size stays", "vm v host=q1 vcpus=20 memory=99GB stored=20", "20", "200012"},
		{"off: an earlier power-on is not known", "vm v host=q1 vcpus=20 memory=99GB settings=? power=off", "", ""},
		{"a template does not run", "vm v host=q1 vcpus=20 memory=99GB settings=? template=yes", "", ""},
		{"CPU hot add stores nothing", "vm v host=q1 vcpus=20 memory=99GB settings=? hotAdd=on", "", ""},
		{"the log of the power-on on another host",
			"vm v host=q1 vcpus=20 memory=99GB settings=?\nseen v by=vmware.log host=p1 nodes=20 clients=20\nseen v by=lscpu nodes=20", "20", "200012"},
		{"the newest of two logs",
			"vm v host=q1 vcpus=20 memory=99GB settings=?\nseen v by=vmware.log host=p1 nodes=20 time=2026-01-01T00:00:00Z\nseen v by=vmware.log host=q1 nodes=2x10 time=2026-01-02T00:00:00Z", "10", "200012"},
		{"a log of another number of vCPUs",
			"vm v host=q1 vcpus=20 memory=99GB settings=?\nseen v by=vmware.log host=p1 nodes=16 clients=16", "10", "200012"},
		{"nodes in the guest", "vm v host=p1 vcpus=20 memory=99GB settings=?\nseen v by=lscpu nodes=2x10", "10", "200012"},
		{"one node in the guest has other causes", "vm v host=q1 vcpus=20 memory=99GB settings=?\nseen v by=lscpu nodes=20", "10", "200012"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := given.Fleet(t, "in", []byte(hosts+tt.vm))
			for range 2 { // the second call finds the assumption of the first
				vnuma.AssumeStored(f, vnuma.Choices{})
			}
			size, _ := f.VMs[0].Settings.Value.Lookup(numa.StoredKey)
			cookie, _ := f.VMs[0].Settings.Value.Lookup(numa.CookieKey)
			if size != tt.size || cookie != tt.cookie {
				t.Errorf("stored size %q, cookie %q; want %q, %q", size, cookie, tt.size, tt.cookie)
			}
		})
	}
}

// TestAssumedSizeDecidesElsewhere checks that an assumed size changes nothing on the host that chose it, not even the reason, and keeps the nodes
// on another one, where the assumption is told.
func TestAssumedSizeDecidesElsewhere(t *testing.T) {
	f, err := scenario.Read("in", []byte("release 7.0U3\nhost p1 nodes=2 cores=32 memory=1TB\nhost q1 nodes=2 cores=12 memory=1TB\nvm v host=p1 vcpus=20 memory=99GB settings=?"))
	if err != nil {
		t.Fatal(err)
	}
	vnuma.AssumeStored(f, vnuma.Choices{})
	g, _, err := vnuma.NewGuest(&f.VMs[0])
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		why   vnuma.Reason
		nodes int
	}{{vnuma.ByFit, 1}, {vnuma.ByStored, 1}} {
		m, err := vnuma.NewMachine(&f.Hosts[i])
		if err != nil {
			t.Fatal(err)
		}
		l := vnuma.Predict(&g, &m, &vnuma.Case{})
		if l.Why != want.why || l.VPDs.Len() != want.nodes || l.Assumes&vnuma.AssumedPowerOn == 0 || l.Assumes&vnuma.AssumedSettings != 0 {
			t.Errorf("on %s: why %v, %d nodes, assumes %q", f.Hosts[i].Name, l.Why, l.VPDs.Len(), l.Assumes.Texts())
		}
	}
}

// TestAssumedThreads checks that a VM with more vCPUs than cores is said to need hyper-threading where its state is unknown.
func TestAssumedThreads(t *testing.T) {
	for _, tt := range []struct {
		words string
		want  bool
	}{{"ht=? \nvm v host=a vcpus=40 memory=64GB", true}, {"ht=?\nvm v host=a vcpus=32 memory=64GB", false}, {"ht=on\nvm v host=a vcpus=40 memory=64GB", false}} {
		f, err := scenario.Read("in", []byte("release 7.0U3\nhost a nodes=2 cores=16 memory=512GB "+tt.words))
		if err != nil {
			t.Fatal(err)
		}
		g, _, _ := vnuma.NewGuest(&f.VMs[0])
		m, err := vnuma.NewMachine(&f.Hosts[0])
		if err != nil {
			t.Fatal(err)
		}
		if l := vnuma.Predict(&g, &m, &vnuma.Case{}); l.Assumes&vnuma.AssumedThreads != 0 != tt.want {
			t.Errorf("%q: assumes %q", tt.words, l.Assumes.Texts())
		}
	}
}
