package lab_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/vmware/govmomi"
	"github.com/vmware/govmomi/object"
	"github.com/vmware/govmomi/vim25/types"

	"example.org/homenode/numa"
	"example.org/homenode/source/vsphere"
	"example.org/homenode/source/vsphere/lab"
)

// TestRoundTrip serves a fleet and reads it back: the same facts must arrive.
func TestRoundTrip(t *testing.T) {
	want := sampleFleet()
	vc, err := lab.Start(want)
	if err != nil {
		t.Fatal(err)
	}
	defer vc.Close()
	got, err := vsphere.Read(t.Context(), vc.URL, vsphere.Options{PageSize: 3})
	if err != nil {
		t.Fatal(err)
	}
	wantNote := vc.URL.Host + " vm-5: VM appliance has no configuration (inaccessible): it cannot be judged"
	if len(got.Notes) != 1 || got.Notes[0].String() != wantNote {
		t.Errorf("Read() noted %v; want %s", got.Notes, wantNote)
	}
	got.Notes, got.VCenter = nil, ""
	for i := range want.VMs { // what the API states where nothing is set
		if v := &want.VMs[i]; v.VCPUs.Known() {
			v.Encrypted, v.FaultTolerance = numa.ReadAt(false, "config.keyId"), numa.ReadAt("off", "runtime.faultToleranceState")
		}
	}
	g, w := plain(t, got), plain(t, want)
	for i := range max(len(g), len(w)) {
		if i >= len(g) || i >= len(w) || g[i] != w[i] {
			t.Fatalf("line %d:\n got %s\nwant %s", i+1, line(g, i), line(w, i))
		}
	}
}

func line(lines []string, i int) string {
	if i >= len(lines) {
		return "nothing"
	}
	return lines[i]
}

// plain returns the facts of a fleet as lines of JSON, without origins and
// positions, which a simulator cannot have in common with the fleet it serves.
func plain(t *testing.T, f *numa.Fleet) []string {
	t.Helper()
	b, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	var tree map[string]any
	if err := json.Unmarshal(b, &tree); err != nil {
		t.Fatal(err)
	}
	delete(tree, "source")
	delete(tree, "collected")
	strip(tree)
	b, err = json.MarshalIndent(tree, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(b), "\n")
}

func strip(v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range []string{"at", "read", "derived", "assumed"} {
			delete(v, k)
		}
		for _, e := range v {
			strip(e)
		}
	case []any:
		for _, e := range v {
			strip(e)
		}
	}
}

func read[T any](v T) numa.Fact[T] { return numa.ReadAt(v, "test") }

// sampleFleet has what the NUMA model turns on: sub-NUMA clusters, four nodes
// per socket, uneven memory, and VMs of several releases.
func sampleFleet() *numa.Fleet {
	return &numa.Fleet{
		Clusters: []numa.Cluster{{ID: "domain-c1", Name: "prod-a"}, {ID: "domain-c2", Name: "prod/b"}},
		Hosts: []numa.Host{
			newHost("host-1", "esx01.example.com", "domain-c1", 2, []int{0, 0, 1, 1}, 14, 192, 192, 192, 192),
			newHost("host-2", "esx02.example.com", "domain-c1", 2, []int{0, 0, 1, 1}, 14, 192, 192, 192, 192),
			newHost("host-3", "esx03.example.com", "domain-c2", 1, []int{0, 0, 0, 0}, 16, 128, 128, 128, 128),
			newHost("host-4", "esx04.example.com", "domain-c2", 2, []int{0, 1}, 12, 256, 128),
			newHost("host-5", "esx05.example.com", "", 1, []int{0}, 8, 64),
		},
		VMs: []numa.VM{
			{ID: "vm-5", Name: "appliance", Host: "host-5", Folder: "/DC0/vm", Config: numa.Config{Power: read(numa.Suspended)}},
			wideVM(),
			{
				ID: "vm-2", Name: "old%01", Cluster: "domain-c2", Host: "host-4", Folder: "/DC0/vm", UUID: "u-2",
				Config: numa.Config{Template: read(false), Power: read(numa.PoweredOff), GuestOS: read("rhel6_64Guest"), Hardware: read(8),
					VCPUs: read(4), CoresPerSocket: read(1), Memory: read(16 * numa.GiB),
					CPUAffinity: read([]int{}), MemoryAffinity: read([]int{}), Settings: read(numa.Settings{})},
			},
			{
				ID: "vm-3", Name: "template", Cluster: "domain-c2", Host: "host-3", Folder: "/DC0/vm/prod/templates", UUID: "u-3",
				Config: numa.Config{Template: read(true), Power: read(numa.PoweredOff), GuestOS: read("Ubuntu Linux (64-bit)"), Hardware: read(21),
					VCPUs: read(2), AutoCoresPerSocket: read(true), Memory: read(8 * numa.GiB),
					AutoCoresPerNUMANode: read(true), VNUMAHotAdd: read(false),
					CPUAffinity: read([]int{}), MemoryAffinity: read([]int{}), Settings: read(numa.Settings{})},
			},
		},
	}
}

// newHost returns a host with nodes on the given packages, each with as many
// cores, and the given GB of memory per node.
func newHost(id, name, cluster string, packages int, nodePackages []int, cores int, gb ...numa.Bytes) numa.Host {
	h := numa.Host{
		ID: id, Name: name, Cluster: cluster,
		Vendor: read("Dell Inc."), Model: read("PowerEdge R750"), CPUModel: read("Intel(R) Xeon(R) Gold 6330 CPU @ 2.00GHz"), CoreMHz: read(1995),
		Release: read(numa.ESXi80 + 3), Build: read(24022510),
		Packages: read(packages), Cores: read(cores * len(gb)), Threads: read(2 * cores * len(gb)),
		HyperThreading: read(true), PowerPolicy: read("High Performance"), EVC: read("intel-skylake"), Connection: read("connected"), Maintenance: read(false),
		Options: read(numa.Settings{{Key: "LPage.LPageAlwaysTryForNPT", Value: "1"}, {Key: "Numa.PreferHT", Value: "0"}}),
	}
	var nodes []numa.Node
	for i, g := range gb {
		nodes = append(nodes, numa.Node{ID: i, Package: nodePackages[i], Cores: cores, Threads: 2 * cores, Memory: read(g * numa.GiB)})
		h.Memory = read(h.Memory.Value + g*numa.GiB)
	}
	h.Nodes = read(nodes)
	return h
}

// wideVM returns a VM of 8.0 with every setting that a vCenter reports.
func wideVM() numa.VM {
	return numa.VM{
		ID: "vm-1", Name: "db/01", Cluster: "domain-c1", Host: "host-1", Folder: "/DC0/vm/prod", UUID: "u-1",
		Config: numa.Config{Template: read(false), Power: read(numa.PoweredOn), GuestOS: read("Microsoft Windows Server 2022 (64-bit)"), Hardware: read(20),
			VCPUs: read(40), CoresPerSocket: read(10), AutoCoresPerSocket: read(true), Memory: read(512 * numa.GiB),
			CPUHotAdd: read(true), MemoryHotAdd: read(false), VNUMAHotAdd: read(true),
			CoresPerNUMANode: read(10), AutoCoresPerNUMANode: read(true),
			CPUAffinity: read([]int{0, 1, 2, 3}), MemoryAffinity: read([]int{0, 1}), LatencySensitivity: read("high"), VirtualThreads: read(2), Firmware: read("efi"), IOMMU: read(true),
			CPUReservation: read(80000), CPULimit: read(-1), MemoryReservation: read(512 * numa.GiB), MemoryLimit: read(512 * numa.GiB), MemoryReservationLocked: read(true),
			Settings: read(numa.Settings{
				{Key: "cpuid.coresPerSocket.cookie", Value: "10"},
				{Key: "numa.autosize.cookie", Value: "400102"},
				{Key: "numa.vcpu.preferHT", Value: "TRUE"},
			})},
	}
}

// TestReconfigure changes a VM over the API and sees the change when it reads.
func TestReconfigure(t *testing.T) {
	vc, err := lab.Start(sampleFleet())
	if err != nil {
		t.Fatal(err)
	}
	defer vc.Close()
	c, err := govmomi.NewClient(t.Context(), vc.URL, false)
	if err != nil {
		t.Fatal(err)
	}
	vm := object.NewVirtualMachine(c.Client, types.ManagedObjectReference{Type: "VirtualMachine", Value: "vm-2"})
	task, err := vm.Reconfigure(t.Context(), types.VirtualMachineConfigSpec{
		NumCPUs:           8,
		NumCoresPerSocket: types.NewInt32(4),
		ExtraConfig:       []types.BaseOptionValue{&types.OptionValue{Key: "numa.vcpu.preferHT", Value: "TRUE"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := task.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	f, err := vsphere.Read(t.Context(), vc.URL, vsphere.Options{})
	if err != nil {
		t.Fatal(err)
	}
	v := f.FindVMs("vm-2")[0]
	preferHT, _ := v.Settings.Value.Lookup("numa.vcpu.preferHT")
	if v.VCPUs.Value != 8 || v.CoresPerSocket.Value != 4 || preferHT != "TRUE" {
		t.Errorf("after the change: %d vCPUs, %d cores per socket, preferHT %q; want 8, 4, TRUE", v.VCPUs.Value, v.CoresPerSocket.Value, preferHT)
	}
}

// TestStartManyVMs checks the size that the demo has: 24 hosts, 300 VMs.
func TestStartManyVMs(t *testing.T) {
	f := &numa.Fleet{Clusters: []numa.Cluster{{ID: "domain-c1", Name: "prod"}}}
	for i := range 24 {
		f.Hosts = append(f.Hosts, newHost(fmt.Sprintf("host-%d", i), fmt.Sprintf("esx%02d", i), "domain-c1", 2, []int{0, 1}, 16, 256, 256))
	}
	for i := range 300 {
		v := wideVM()
		v.ID, v.Name, v.Host = fmt.Sprintf("vm-%d", i), fmt.Sprintf("vm%03d", i), fmt.Sprintf("host-%d", i%24)
		f.VMs = append(f.VMs, v)
	}
	vc, err := lab.Start(f)
	if err != nil {
		t.Fatal(err)
	}
	defer vc.Close()
	got, err := vsphere.Read(t.Context(), vc.URL, vsphere.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Hosts) != 24 || len(got.VMs) != 300 || len(got.Notes) != 0 {
		t.Errorf("Read() = %d hosts, %d VMs and the notes %v; want 24, 300 and none", len(got.Hosts), len(got.VMs), got.Notes)
	}
}
