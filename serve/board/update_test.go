package board

import (
	"slices"
	"testing"
	"time"

	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/source/scenario/given"
)

// TestUpdate moves and switches off VMs, two of which have one name: the last tick of a host shows only what it still has,
// the next one has the right VM, and the inventory says where it is.
func TestUpdate(t *testing.T) {
	f := given.Fleet(t, "test", []byte(`release 7.0U3
cluster c
cluster d
host esx[1-2] cluster=c packages=2 nodes=2 cores=4 memory=128GB
host esx3 cluster=d packages=2 nodes=2 cores=4 memory=128GB
vm one host=esx1 vcpus=4 memory=16GB
vm two host=esx2 vcpus=4 memory=16GB
vm other host=esx1 vcpus=4 memory=16GB
`))
	f.VMs[0].Name, f.VMs[1].Name = "db", "db"
	b := New(rules.Options{}, time.Hour)
	b.Update("vc", []numa.Update{{ID: "one", VM: true, Host: "esx3"}}) // before there is an inventory
	b.Fleet("vc", f)
	now := time.Now().UTC()
	tick := func(host string, names ...string) {
		now = now.Add(time.Second)
		x := numa.Tick{Host: host, Time: now}
		for _, n := range names {
			x.VMs = append(x.VMs, numa.VMTick{Name: n, GID: 7, VCPUs: 4, Has: numa.HasMemory, Local: numa.GiB})
		}
		b.Tick("vc", host, &x)
	}
	shows := func(want map[string]string) { // by ID of a VM, the host whose tick has it
		t.Helper()
		got := map[string]string{}
		b.Each(func(h *Host) {
			if len(h.VMs) != len(h.Tick.VMs) {
				t.Fatalf("%d VMs, %d in the tick", len(h.VMs), len(h.Tick.VMs))
			}
			for i := range h.VMs {
				got[h.VMs[i].ID] += h.Name
			}
		})
		if len(got) != len(want) {
			t.Errorf("got %v, want %v", got, want)
		}
		for id, host := range want {
			if got[id] != host {
				t.Errorf("%q is on %q, want %q", id, got[id], host)
			}
		}
	}
	tick("esx1", "db", "other")
	tick("esx2", "db")
	shows(map[string]string{"one": "esx1", "other": "esx1", "two": "esx2"})

	b.Update("vc", []numa.Update{
		{ID: "one", VM: true, Host: "esx3", Power: numa.ReadAt(numa.PoweredOn, "x")}, {ID: "new", VM: true, Host: "esx3"},
		{ID: "esx2", Connection: numa.ReadAt("disconnected", "x")}, {ID: "esx2", Maintenance: numa.ReadAt(true, "x")}, {ID: "esx9", Connection: numa.ReadAt("connected", "x")},
	})
	shows(map[string]string{"other": "esx1", "two": "esx2"})
	tick("esx3", "db")
	tick("esx1", "other")
	shows(map[string]string{"one": "esx3", "other": "esx1", "two": "esx2"})
	got, _ := b.Inventory("vc")
	vm := got.VMs[0]
	if vm.Host != "esx3" || vm.Cluster != got.Hosts[2].Cluster || len(vm.Observed) != 1 || vm.Observed[0].Host != "esx3" || got.VMs[1].Host != "esx2" {
		t.Errorf("one %+v; two on %s", vm, got.VMs[1].Host)
	}
	if h := got.Hosts[1]; h.Connection.Value != "disconnected" || !h.Maintenance.Value || len(got.Hosts) != 3 {
		t.Errorf("esx2 %v, %v", h.Connection, h.Maintenance)
	}
	if f.VMs[0].Host != "esx1" || f.Hosts[1].Maintenance.Value {
		t.Error("the inventory that was given has changed")
	}

	b.Update("vc", []numa.Update{{ID: "other", VM: true, Power: numa.ReadAt(numa.PoweredOff, "x")}})
	shows(map[string]string{"one": "esx3", "two": "esx2"})
	if got, _ = b.Inventory("vc"); got.VMs[2].Power.Value != numa.PoweredOff || len(got.VMs[2].Observed) != 0 {
		t.Errorf("other %+v", got.VMs[2])
	}
	b.Fleet("vc", f) // the next inventory says it anew
	if got, _ = b.Inventory("vc"); got.VMs[2].Power.Value == numa.PoweredOff {
		t.Error("off by an update before the inventory")
	}

	// No update says that it moved, and the host that it left was seen last before: the newer tick counts.
	tick("esx3", "other")
	tick("esx1", "other")
	if got, _ = b.Inventory("vc"); got.VMs[2].Host != "esx1" {
		t.Errorf("other on %s", got.VMs[2].Host)
	}
}

// TestLateAnswer takes answers that are older than what vCenter says, two VMs of one name in a tick, and a host that was renamed.
func TestLateAnswer(t *testing.T) {
	f := given.Fleet(t, "test", []byte("release 7.0U3\ncluster c\ncluster d\nhost esx1 cluster=c packages=2 nodes=2 cores=4 memory=128GB\n"+
		"host esx2 cluster=d packages=2 nodes=2 cores=4 memory=128GB\nvm db host=esx1 vcpus=4 memory=16GB\n"))
	b := New(rules.Options{}, time.Hour)
	now := time.Now()
	tick := func(host string, vms ...string) {
		now = now.Add(time.Second)
		x := numa.Tick{Host: host, Time: now}
		for i, name := range vms {
			x.VMs = append(x.VMs, numa.VMTick{Name: name, GID: int64(i), Homes: 1, Has: numa.HasHomes})
		}
		b.Tick("vc", host, &x)
	}
	ids := func(want string) {
		t.Helper()
		got := ""
		b.Each(func(h *Host) {
			for _, v := range h.VMs {
				got += h.ID + " " + v.ID + ";"
			}
		})
		if got != want {
			t.Errorf("got %s want %s", got, want)
		}
	}
	is := func(host, cluster string) {
		t.Helper()
		if f, _ := b.Inventory("vc"); f.VMs[0].Host != host || f.VMs[0].Cluster != cluster {
			t.Errorf("on %s of %s, want %s of %s", f.VMs[0].Host, f.VMs[0].Cluster, host, cluster)
		}
	}
	c, d := f.Hosts[0].Cluster, f.Hosts[1].Cluster
	b.Fleet("vc", f)
	tick("esx1", "db", "db")
	ids("esx1 ;esx1 ;")
	tick("esx1")
	tick("esx2", "db") // moved, and no update says so
	is("esx2", d)

	b.Fleet("vc", f) // it has gone back
	is("esx1", c)

	b.Update("vc", []numa.Update{{ID: "db", VM: true, Host: "esx2"}})
	tick("esx1", "db") // asked before
	ids("esx1 ;esx2 db;")
	is("esx2", d)

	named := *f
	named.Hosts = slices.Clone(f.Hosts)
	named.Hosts[1].Name = "esx2.example.com"
	b.Fleet("vc", &named)
	if f, _ := b.Inventory("vc"); len(f.VMs[0].Observed) != 1 || f.VMs[0].Observed[0].Host != "esx2.example.com" {
		t.Errorf("observed %+v", f.VMs[0].Observed)
	}
}

// TestStoredSize checks that the size which the last power-on of a VM stored is assumed where its settings are unknown, as all commands do, and that the VM keeps it
// when it is seen on another host.
func TestStoredSize(t *testing.T) {
	f := given.Fleet(t, "test", []byte(`release 7.0U3
cluster c
host esx1 nodes=2 cores=32 memory=1TB
host esx2 nodes=4 cores=12 memory=1TB
vm v host=esx1 vcpus=24 memory=16GB settings=?
`))
	b := New(rules.Options{}, time.Hour)
	b.Fleet("vc", f)
	b.Update("vc", []numa.Update{{ID: "v", VM: true, Host: "esx2"}})
	now, _ := b.Inventory("vc")
	v := &now.VMs[0]
	if size, _ := v.Settings.Value.Lookup(numa.StoredKey); v.Host != "esx2" || !v.SizeAssumed || size != "24" {
		t.Errorf("on %s, size assumed: %v, settings %v", v.Host, v.SizeAssumed, v.Settings)
	}
}
