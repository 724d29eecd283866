package vsphere

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/vmware/govmomi/vim25"
	"github.com/vmware/govmomi/vim25/types"

	"example.org/homenode/numa"
)

func ref(kind, id string) types.ManagedObjectReference {
	return types.ManagedObjectReference{Type: kind, Value: id}
}

func newInventory() *inventory {
	c := &vim25.Client{ServiceContent: types.ServiceContent{RootFolder: ref("Folder", "group-d1")}}
	return &inventory{reader: &reader{host: "vc01", client: c}, cluster: make(map[types.ManagedObjectReference]bool)}
}

func TestNodes(t *testing.T) {
	const gib = int64(numa.GiB)
	node := func(id byte, size, length int64, pcpus ...int16) types.HostNumaNode {
		return types.HostNumaNode{TypeId: id, MemorySize: size, MemoryRangeLength: length, CpuID: pcpus}
	}
	read := func(gb int64) numa.Fact[numa.Bytes] {
		return numa.ReadAt(numa.Bytes(gb*gib), "hardware.numaInfo.numaNode.memorySize")
	}
	ranged := func(gb int64) numa.Fact[numa.Bytes] {
		return numa.ReadAt(numa.Bytes(gb*gib), "hardware.numaInfo.numaNode.memoryRangeLength")
	}
	share := numa.AssumedFor(64*numa.GiB, "equal share of hardware.memorySize, which memoryRangeLength of the nodes does not add up to")
	for _, tt := range []struct {
		name   string
		memory int64 // GB of the host
		nodes  []types.HostNumaNode
		want   []numa.Node
		kind   numa.OriginKind
		notes  int
	}{
		{"8.0, nodes in any order", 128, []types.HostNumaNode{node(1, 64*gib, 64*gib, 5, 4, 7, 6), node(0, 64*gib, 64*gib, 1, 0, 3, 2)},
			[]numa.Node{{ID: 0, Package: 0, Cores: 2, Threads: 4, Memory: read(64)}, {ID: 1, Package: 1, Cores: 2, Threads: 4, Memory: read(64)}}, numa.Read, 0},
		{"memory without cores", 192, []types.HostNumaNode{node(0, 64*gib, 64*gib, 0, 1, 2, 3), node(1, 64*gib, 64*gib, 4, 5, 6, 7), node(2, 64*gib, 64*gib)},
			[]numa.Node{{ID: 0, Package: 0, Cores: 2, Threads: 4, Memory: read(64)}, {ID: 1, Package: 1, Cores: 2, Threads: 4, Memory: read(64)},
				{ID: 2, Package: -1, Memory: read(64)}}, numa.Read, 0},
		{"7.0, one range a node", 128, []types.HostNumaNode{node(0, 0, 63*gib, 0, 1, 2, 3), node(1, 0, 64*gib, 4, 5, 6, 7)},
			[]numa.Node{{ID: 0, Package: 0, Cores: 2, Threads: 4, Memory: ranged(63)}, {ID: 1, Package: 1, Cores: 2, Threads: 4, Memory: ranged(64)}}, numa.Read, 0},
		{"7.0, node 0 has a second range", 128, []types.HostNumaNode{node(0, 0, 2*gib, 0, 1, 2, 3), node(1, 0, 64*gib, 4, 5, 6, 7)},
			[]numa.Node{{ID: 0, Package: 0, Cores: 2, Threads: 4, Memory: share}, {ID: 1, Package: 1, Cores: 2, Threads: 4, Memory: share}}, numa.Read, 1},
		{"8.0, sizes do not add up", 256, []types.HostNumaNode{node(0, 64*gib, 64*gib, 0, 1, 2, 3), node(1, 64*gib, 64*gib, 4, 5, 6, 7)},
			[]numa.Node{{ID: 0, Package: 0, Cores: 2, Threads: 4, Memory: read(64)}, {ID: 1, Package: 1, Cores: 2, Threads: 4, Memory: read(64)}}, numa.Read, 1},
		{"8.0, no size of one node", 256, []types.HostNumaNode{node(0, 64*gib, 64*gib, 0, 1, 2, 3), node(1, 0, 0, 4, 5, 6, 7)},
			[]numa.Node{{ID: 0, Package: 0, Cores: 2, Threads: 4, Memory: read(64)}, {ID: 1, Package: 1, Cores: 2, Threads: 4}}, numa.Read, 1},
		{"no sizes at all", 128, []types.HostNumaNode{node(0, 0, 0, 0, 1, 2, 3), node(1, 0, 0, 4, 5, 6, 7)},
			[]numa.Node{{ID: 0, Package: 0, Cores: 2, Threads: 4}, {ID: 1, Package: 1, Cores: 2, Threads: 4}}, numa.Read, 1},
		{"7.0, a second range and a node without size", 256, []types.HostNumaNode{node(0, 0, 2*gib, 0, 1, 2, 3), node(1, 0, 0, 4, 5, 6, 7)},
			[]numa.Node{{ID: 0, Package: 0, Cores: 2, Threads: 4, Memory: ranged(2)}, {ID: 1, Package: 1, Cores: 2, Threads: 4}}, numa.Read, 1},
		{"a node without DIMMs", 128, []types.HostNumaNode{node(0, 127*gib, 127*gib, 0, 1, 2, 3), node(1, 0, 0, 4, 5, 6, 7)},
			[]numa.Node{{ID: 0, Package: 0, Cores: 2, Threads: 4, Memory: read(127)}, {ID: 1, Package: 1, Cores: 2, Threads: 4, Memory: ranged(0)}}, numa.Read, 0},
		{"sizes without that of the host", 0, []types.HostNumaNode{node(0, 64*gib, 64*gib, 0, 1, 2, 3), node(1, 0, 0, 4, 5, 6, 7)},
			[]numa.Node{{ID: 0, Package: 0, Cores: 2, Threads: 4, Memory: read(64)}, {ID: 1, Package: 1, Cores: 2, Threads: 4}}, numa.Read, 1},
		{"node across packages", 128, []types.HostNumaNode{node(0, 128*gib, 128*gib, 0, 1, 2, 3, 4, 5, 6, 7)},
			[]numa.Node{{ID: 0, Package: -1, Cores: 4, Threads: 8, Memory: read(128)}}, numa.Read, 0},
		{"no NUMA", 128, nil, []numa.Node{{ID: 0, Package: -1, Cores: 4, Threads: 8, Memory: numa.DerivedFrom(128*numa.GiB, "hardware.memorySize")}}, numa.Derived, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inv := newInventory()
			h := inv.convertHost(&object{ref: ref("HostSystem", "host-1"), props: map[string]any{
				"hardware.cpuInfo":    types.HostCpuInfo{NumCpuPackages: 2, NumCpuCores: 4, NumCpuThreads: 8},
				"hardware.memorySize": tt.memory * gib,
				"hardware.numaInfo":   types.HostNumaInfo{NumNodes: int32(len(tt.nodes)), NumaNode: tt.nodes},
				"hardware.cpuPkg": types.ArrayOfHostCpuPackage{HostCpuPackage: []types.HostCpuPackage{
					{Index: 0, ThreadId: []int16{0, 1, 2, 3}}, {Index: 1, ThreadId: []int16{4, 5, 6, 7}},
				}},
			}})
			if !reflect.DeepEqual(h.Nodes.Value, tt.want) || h.Nodes.Origin.Kind != tt.kind || len(inv.notes) != tt.notes {
				t.Errorf("nodes %v with the notes %v\nwant %v, %v and %d notes", h.Nodes, inv.notes, tt.want, tt.kind, tt.notes)
			}
		})
	}
}

// TestTiers checks that the memory of a host and its nodes is its DRAM.
func TestTiers(t *testing.T) {
	const gib = int64(numa.GiB)
	tier := func(kind string, gb int64) types.HostMemoryTierInfo {
		return types.HostMemoryTierInfo{Type: kind, Size: gb * gib}
	}
	for _, tt := range []struct {
		name, kind string
		node       int64 // GB that a node states
		tiers      []types.HostMemoryTierInfo
		want       string // memory, tiers, a node
		notes      int
	}{
		{"before 7.0 U3", "", 128, nil, "256 GB read, 0 B unknown, 128 GB read", 0},
		{"off", "noTiering", 128, []types.HostMemoryTierInfo{tier("DRAM", 256)}, "256 GB read, 0 B read, 128 GB read", 0},
		{"NVMe, nodes state it", "softwareTiering", 128, []types.HostMemoryTierInfo{tier("DRAM", 128), tier("NVMe", 128)}, "128 GB read, 128 GB read, 64 GB assumed", 0},
		{"NVMe, nodes state DRAM", "softwareTiering", 64, []types.HostMemoryTierInfo{tier("DRAM", 128), tier("NVMe", 128)}, "128 GB read, 128 GB read, 64 GB read", 0},
		{"tiers not stated", "softwareTiering", 128, nil, "0 B unknown, 0 B unknown, 0 B unknown", 1},
		{"DRAM is the cache of PMem", "hardwareTiering", 128, []types.HostMemoryTierInfo{tier("DRAM", 32), tier("PMem", 256)}, "256 GB read, 0 B read, 128 GB read", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inv := newInventory()
			props := map[string]any{
				"hardware.cpuInfo":        types.HostCpuInfo{NumCpuPackages: 2, NumCpuCores: 4, NumCpuThreads: 8},
				"hardware.memorySize":     256 * gib,
				"hardware.memoryTierInfo": types.ArrayOfHostMemoryTierInfo{HostMemoryTierInfo: tt.tiers},
				"hardware.numaInfo": types.HostNumaInfo{NumNodes: 2, NumaNode: []types.HostNumaNode{
					{TypeId: 0, MemorySize: tt.node * gib, CpuID: []int16{0, 1, 2, 3}}, {TypeId: 1, MemorySize: tt.node * gib, CpuID: []int16{4, 5, 6, 7}}}},
			}
			if tt.kind != "" {
				props["hardware.memoryTieringType"] = tt.kind
			}
			h := inv.convertHost(&object{ref: ref("HostSystem", "host-1"), props: props})
			node := h.Nodes.Value[1].Memory
			got := fmt.Sprintf("%v %v, %v %v, %v %v", h.Memory.Value, h.Memory.Origin.Kind, h.TierMemory.Value, h.TierMemory.Origin.Kind, node.Value, node.Origin.Kind)
			if got != tt.want || len(inv.notes) != tt.notes {
				t.Errorf("memory, tiers and a node: %s with the notes %v, want %s and %d notes", got, inv.notes, tt.want, tt.notes)
			}
		})
	}
}

// TestAssignedAtPowerOn checks which sizes mean nothing while a VM is off, and
// what an unset number of cores per socket stands for.
func TestAssignedAtPowerOn(t *testing.T) {
	n := func(v int32) *int32 { return &v }
	const cps, cpn = "config.hardware.numCoresPerSocket", "config.numaInfo.coresPerNumaNode"
	for _, tt := range []struct {
		name             string
		power            types.VirtualMachinePowerState
		cps              any  // nil means unset
		auto             any  // nil means unset
		withheld         bool // numCoresPerSocket, by permission
		cpn              *int32
		wantCPS, wantCPN numa.Fact[int]
	}{
		{"on, automatic", types.VirtualMachinePowerStatePoweredOn, int32(8), true, false, n(8), numa.ReadAt(8, cps), numa.ReadAt(8, cpn)},
		{"off, automatic", types.VirtualMachinePowerStatePoweredOff, int32(8), true, false, n(8), numa.Fact[int]{}, numa.Fact[int]{}},
		{"off, chosen", types.VirtualMachinePowerStatePoweredOff, int32(8), false, false, n(8), numa.ReadAt(8, cps), numa.ReadAt(8, cpn)},
		{"suspended, automatic", types.VirtualMachinePowerStateSuspended, int32(8), true, false, n(8), numa.ReadAt(8, cps), numa.ReadAt(8, cpn)},
		{"before 7.0 U3", types.VirtualMachinePowerStatePoweredOn, nil, nil, false, nil, numa.DerivedFrom(1, cps+" is unset"), numa.Fact[int]{}},
		{"withheld", types.VirtualMachinePowerStatePoweredOn, nil, nil, true, nil, numa.Fact[int]{}, numa.Fact[int]{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := &object{ref: ref("VirtualMachine", "vm-1"), props: map[string]any{
				"name": "db01", "config.version": "vmx-20", "runtime.powerState": tt.power, "config.hardware.numCPU": int32(16),
			}, withheld: map[string]bool{cps: tt.withheld}}
			if tt.cps != nil {
				o.props[cps] = tt.cps
			}
			if tt.auto != nil {
				o.props["config.hardware.autoCoresPerSocket"] = tt.auto
				auto := tt.auto.(bool)
				o.props["config.numaInfo"] = types.VirtualMachineVirtualNumaInfo{CoresPerNumaNode: tt.cpn, AutoCoresPerNumaNode: &auto}
			}
			v := newInventory().convertVM(o)
			if v.CoresPerSocket != tt.wantCPS || v.CoresPerNUMANode != tt.wantCPN {
				t.Errorf("cores per socket %v, per NUMA node %v; want %v, %v", v.CoresPerSocket, v.CoresPerNUMANode, tt.wantCPS, tt.wantCPN)
			}
		})
	}
}

func TestProduct(t *testing.T) {
	for _, tt := range []struct {
		version, build string
		want           string
		notes          []string
	}{
		{"8.0.3", "24022510", "8.0 U3 24022510", nil},
		{"6.7.0", "14320388", "6.7 U3 14320388", nil}, // the version does not name the update
		{"", "", "unknown release 0", nil},
		{"next", "x", "unknown release 0", []string{
			`vc01 host-1: host esx01: found the build "x", want a number`,
			`vc01 host-1: host esx01: config.product.version: found "next", want a release such as 7.0 U3`,
		}},
	} {
		o := &object{ref: ref("HostSystem", "host-1"), props: map[string]any{"name": "esx01"}}
		if tt.version != "" {
			o.props["config.product.version"], o.props["config.product.build"] = tt.version, tt.build
		}
		inv := newInventory()
		h := inv.convertHost(o)
		var notes []string
		for _, n := range inv.notes {
			notes = append(notes, n.String())
		}
		if got := fmt.Sprint(h.Release.Value, " ", h.Build.Value); got != tt.want || !slices.Equal(notes, tt.notes) {
			t.Errorf("product %s %s = %s with the notes %q; want %s, %q", tt.version, tt.build, got, notes, tt.want, tt.notes)
		}
	}
}

func TestSettings(t *testing.T) {
	got := settings([]numa.Setting{
		{Key: "numa.vcpu.preferHT", Value: "FALSE"},
		{Key: "NUMA.vcpu.preferHT", Value: "TRUE"},
		{Key: "cpuid.coresPerSocket.cookie", Value: "4"},
	})
	want := numa.Settings{{Key: "NUMA.vcpu.preferHT", Value: "TRUE"}, {Key: "cpuid.coresPerSocket.cookie", Value: "4"}}
	if !slices.Equal(got, want) {
		t.Errorf("settings() = %v, want %v", got, want)
	}
	for key, want := range map[string]bool{
		"svga.present": false, "numa.vcpu.preferHT": true, "vcpu.hotadd": false, "VCPU.hotAdd": false, "vcpu.hotremove": true,
		"cpuid.coresPerSocket": false, "cpuid.coresPerSocket.cookie": true,
	} {
		if got := keepSetting(key); got != want {
			t.Errorf("keepSetting(%s) = %v, want %v", key, got, want)
		}
	}
}

func TestPath(t *testing.T) {
	inv := newInventory()
	inv.folders = map[types.ManagedObjectReference]folder{}
	for _, f := range []folder{
		{ref("Datacenter", "datacenter-2"), "DC0", ref("Folder", "group-d1")},
		{ref("Folder", "group-v3"), "vm", ref("Datacenter", "datacenter-2")},
		{ref("Folder", "group-v4"), "a%2fb", ref("Folder", "group-v3")},
		{ref("VirtualApp", "resgroup-v9"), "shop", ref("Folder", "group-v4")},
		{ref("Folder", "group-v5"), "orphan", ref("Folder", "group-v99")}, // its parent is not visible
		{ref("Folder", "group-v6"), "chicken", ref("Folder", "group-v7")},
		{ref("Folder", "group-v7"), "egg", ref("Folder", "group-v6")},
	} {
		inv.folders[f.ref] = f
	}
	for i := range 10_000 { // without a root
		inv.folders[ref("Folder", fmt.Sprint(i))] = folder{ref("Folder", fmt.Sprint(i)), strings.Repeat("x", 500), ref("Folder", fmt.Sprint((i+1)%10_000))}
	}
	for _, tt := range []struct {
		of   types.ManagedObjectReference
		want string
	}{
		{ref("Folder", "group-v4"), "/DC0/vm/a%2fb"},
		{ref("VirtualApp", "resgroup-v9"), "/DC0/vm/a%2fb/shop"},
		{ref("Folder", "group-v5"), ".../orphan"},
		{ref("Folder", "group-v88"), "..."},
	} {
		if got := inv.path(tt.of); got != tt.want {
			t.Errorf("path(%s) = %s, want %s", tt.of.Value, got, tt.want)
		}
	}
	if got, want := inv.path(ref("Folder", "group-v6")), "..."; got[:3] != want {
		t.Errorf("path of a cycle = %s, want one that starts with %s", got, want)
	}
	if got := inv.path(ref("Folder", "0")); len(got) > 2*mostPath {
		t.Errorf("path of 10,000 folders has %d bytes", len(got))
	}
}

func TestHostKey(t *testing.T) {
	for host, want := range map[string]string{
		"VC01.example.com": "vc01.example.com:443", "vc01:8443": "vc01:8443",
		"[::1]": "[::1]:443", "[::1]:8443": "[::1]:8443", "::1": "[::1]:443",
	} {
		if got := hostKey(host); got != want {
			t.Errorf("hostKey(%s) = %s, want %s", host, got, want)
		}
	}
}

func TestOlderVersion(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"8.0.3.0", "9.1.0.0", true}, {"9.1.0.0", "9.1.0.0", false}, {"10.0.0.0", "9.1.0.0", false},
		{"6.5", "9.1.0.0", true}, {"9.1", "9.1.0.0", true}, {"dev", "9.1.0.0", false}, {"", "9.1.0.0", false},
	} {
		if got := olderVersion(tt.a, tt.b); got != tt.want {
			t.Errorf("olderVersion(%q, %q) = %v, want %v", tt.a, tt.b, got, tt.want)
		}
	}
}
