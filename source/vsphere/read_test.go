package vsphere_test

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25/types"

	"example.org/homenode/numa"
	"example.org/homenode/source/vsphere"
	"example.org/homenode/source/vsphere/lab"
)

// TestRead holds one VM and one host with the origins of their facts.
func TestRead(t *testing.T) {
	vc := startLab(t, newFleet(2))
	var progress []string
	f, err := vsphere.Read(t.Context(), vc.URL, vsphere.Options{PageSize: 6, Progress: func(stage string, done, total int) {
		progress = append(progress, fmt.Sprintf("%s %d/%d", stage, done, total))
	}})
	if err != nil {
		t.Fatal(err)
	}
	wantProgress := []string{"folders 0/6", "folders 6/6", "clusters 0/1", "clusters 1/1", "cluster usage 0/1", "cluster usage 1/1",
		"hosts 0/4", "hosts 4/4", "VMs 0/2", "VMs 2/2"}
	if !slices.Equal(progress, wantProgress) {
		t.Errorf("progress %q, want %q", progress, wantProgress)
	}
	if want := "http://" + vc.URL.Host + "/sdk"; f.Source != want {
		t.Errorf("Source = %q, want %q", f.Source, want)
	}
	h, v := f.Hosts[1], f.VMs[1]
	for _, tt := range []struct{ name, got, want string }{
		{"host", h.At, vc.URL.Host + " host-1"},
		{"release", fact(h.Release), "8.0 U3 (read: config.product.version)"},
		{"cores", fact(h.Cores), "32 (read: hardware.cpuInfo.numCpuCores)"},
		{"memory", fact(h.Memory), "512 GB (read: hardware.memorySize)"},
		{"nodes", h.Nodes.Origin.String(), "read: hardware.numaInfo.numaNode"},
		{"node memory", fact(h.Nodes.Value[1].Memory), "256 GB (read: hardware.numaInfo.numaNode.memorySize)"},
		{"options", h.Options.Origin.String(), "unknown"},
		{"VM", v.At, vc.URL.Host + " vm-1"},
		{"folder", v.Folder, "/DC0/vm/prod"},
		{"vCPUs", fact(v.VCPUs), "24 (read: config.hardware.numCPU)"},
		{"cores per socket", fact(v.CoresPerSocket), "12 (read: config.hardware.numCoresPerSocket)"},
		{"hardware", fact(v.Hardware), "20 (read: config.version)"},
		{"CPU affinity", fact(v.CPUAffinity), "[] (read: config.cpuAffinity)"},
		{"settings", fact(v.Settings), "[{numa.autosize.cookie 240122} {sched.cpu.latencySensitivity normal}] (read: config.extraConfig)"},
		{"latency sensitivity", fact(v.LatencySensitivity), " (unknown)"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s = %s, want %s", tt.name, tt.got, tt.want)
		}
	}
}

func fact[T any](f numa.Fact[T]) string { return fmt.Sprintf("%v (%v)", f.Value, f.Origin) }

// hostSystem returns a host of the lab, to be changed before the read.
func hostSystem(vc *lab.VCenter, id string) *simulator.HostSystem {
	return vc.Model.Map().Get(types.ManagedObjectReference{Type: "HostSystem", Value: id}).(*simulator.HostSystem)
}

func virtualMachine(vc *lab.VCenter, id string) *simulator.VirtualMachine {
	return vc.Model.Map().Get(types.ManagedObjectReference{Type: "VirtualMachine", Value: id}).(*simulator.VirtualMachine)
}

// TestRestrictedView takes objects out of the view but not out of the counts
// that the server keeps, as the view of a restricted account does.
func TestRestrictedView(t *testing.T) {
	t.Run("hosts and VMs of a cluster", func(t *testing.T) {
		vc := startLab(t, newFleet(8))
		cluster := vc.Model.Map().Any("ClusterComputeResource").(*simulator.ClusterComputeResource)
		cluster.Host = cluster.Host[:1] // esx00; the others have vm-1, 2, 3, 5, 6 and 7
		hide(vc, "vm-1")
		got, f := notes(t, vc.URL)
		want := []string{
			"HOST domain-c1: cluster prod-a: the account sees 1 of its 4 hosts",
			"HOST domain-c1: cluster prod-a: the account sees 7 of its 8 VMs",
			"HOST: VMs on hosts that the account does not see: 5",
		}
		if !slices.Equal(got, want) {
			t.Errorf("notes %q\nwant %q", got, want)
		}
		// A VM on a hidden host still belongs to its cluster, by its resource pool.
		if v := f.FindVMs("db0002"); len(v) != 1 || v[0].Host != "" || v[0].Cluster != "domain-c1" {
			t.Errorf("db0002 = %+v, want it on no host of cluster domain-c1", v)
		}
	})
	t.Run("VMs of a host without counts", func(t *testing.T) {
		vc := startLab(t, newFleet(8))
		cluster := vc.Model.Map().Any("ClusterComputeResource").(*simulator.ClusterComputeResource)
		cluster.Summary.(*types.ClusterComputeResourceSummary).UsageSummary = nil // before 7.0
		u := startProxy(t, vc, rewrite("<pathSet>hardware.numaInfo</pathSet>", `>vm-1</ManagedObjectReference>`,
			`>vm-1</ManagedObjectReference><ManagedObjectReference type="VirtualMachine">vm-99</ManagedObjectReference>`))
		got, _ := notes(t, u)
		want := []string{"HOST host-1: host esx01: the account sees 2 of its 3 VMs"}
		if !slices.Equal(got, want) {
			t.Errorf("notes %q\nwant %q", got, want)
		}
	})
	t.Run("properties", func(t *testing.T) {
		vc := startLab(t, newFleet(3))
		u := startProxy(t, vc, rewrite("<pathSet>config.extraConfig</pathSet>",
			`(?s)<propSet><name>config.extraConfig</name>.*?</propSet>`, missingExtraConfig))
		got, f := notes(t, u)
		want := []string{"HOST: the account may not read config.extraConfig of 3 of 3 VMs, such as vm-0"}
		if !slices.Equal(got, want) || f.VMs[0].Settings.Known() {
			t.Errorf("notes %q and settings %v\nwant %q and unknown settings", got, f.VMs[0].Settings, want)
		}
	})
}

// hide takes a VM out of its folder, its pool and off its host.
func hide(vc *lab.VCenter, id string) {
	vm := virtualMachine(vc, id)
	remove := func(list *[]types.ManagedObjectReference) {
		*list = slices.DeleteFunc(*list, func(r types.ManagedObjectReference) bool { return r == vm.Self })
	}
	remove(&vc.Model.Map().Get(*vm.Parent).(*simulator.Folder).ChildEntity)
	remove(&vc.Model.Map().Get(*vm.ResourcePool).(*simulator.ResourcePool).Vm)
	remove(&vc.Model.Map().Get(*vm.Runtime.Host).(*simulator.HostSystem).Vm)
}

// notes reads the fleet and returns its notes in order.
func notes(t *testing.T, u *url.URL) ([]string, *numa.Fleet) {
	t.Helper()
	f, err := vsphere.Read(t.Context(), u, vsphere.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := noteTexts(f, u)
	slices.Sort(got)
	return got, f
}

// missingExtraConfig is the answer for a property that the account may not read.
const missingExtraConfig = `<missingSet><path>config.extraConfig</path><fault><fault xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" ` +
	`xsi:type="NoPermission"><privilegeId>System.Read</privilegeId></fault><localizedMessage></localizedMessage></fault></missingSet>`

// rewrite returns an intercept that changes the answer to requests for
// properties that contain marker.
func rewrite(marker, old, text string) func(http.ResponseWriter, request) bool {
	pattern := regexp.MustCompile(old)
	return func(w http.ResponseWriter, r request) bool {
		if r.method != "RetrievePropertiesEx" || !strings.Contains(r.body, marker) {
			return false
		}
		res, err := http.DefaultTransport.RoundTrip(r.onward())
		if err != nil {
			return false
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil {
			return false
		}
		_, err = w.Write(pattern.ReplaceAll(body, []byte(text)))
		return err == nil
	}
}

// TestNoConfiguration has a VM whose datastore is gone and a host that vCenter
// has lost: both stay in the fleet, with a note.
func TestNoConfiguration(t *testing.T) {
	vc := startLab(t, newFleet(4))
	vm := virtualMachine(vc, "vm-2")
	vm.Config, vm.Runtime.ConnectionState = nil, types.VirtualMachineConnectionStateOrphaned
	hostSystem(vc, "host-3").Runtime.ConnectionState = types.HostSystemConnectionStateNotResponding
	got, f := notes(t, vc.URL)
	want := []string{
		"HOST host-3: host esx03 is notResponding: what is shown is what the server last knew of it",
		"HOST vm-2: VM db0002 has no configuration (orphaned): it cannot be judged",
	}
	if !slices.Equal(got, want) {
		t.Errorf("notes %q\nwant %q", got, want)
	}
	if v := f.VMs[2]; v.Name != "db0002" || v.Host != "host-2" || v.VCPUs.Known() || v.Settings.Known() || v.Power.Value != numa.PoweredOn {
		t.Errorf("VM = %+v; want db0002 on host-2, on, and nothing else", v)
	}
	if h := f.Hosts[3]; h.Connection.Value != "notResponding" || len(h.Nodes.Value) != 2 {
		t.Errorf("host = %+v; want notResponding with 2 nodes", h)
	}
}

// TestOddObjects: what cannot be is unknown and named; all the rest is read.
func TestOddObjects(t *testing.T) {
	vc := startLab(t, newFleet(4))
	vm := virtualMachine(vc, "vm-2").Config
	vm.Hardware.NumCPU, vm.Hardware.MemoryMB = 1<<20, 1<<30
	cps := int32(1 << 20)
	virtualMachine(vc, "vm-3").Config.Hardware.NumCoresPerSocket = &cps
	nodes := hostSystem(vc, "host-1").Hardware.NumaInfo.NumaNode
	nodes[1].TypeId = nodes[0].TypeId
	hostSystem(vc, "host-2").Hardware.MemorySize = 1 << 60
	hostSystem(vc, "host-3").Hardware.CpuInfo.NumCpuThreads = 16
	got, f := notes(t, vc.URL)
	want := []string{
		"HOST host-1: host esx01: NUMA node 0 does not come after node 0: its NUMA nodes are unknown",
		"HOST host-2: host esx02 has 1048576 TB of memory but its NUMA nodes 512 GB together",
		"HOST host-2: host esx02: memory of 1152921504606846976 bytes: its memory is unknown",
		"HOST host-3: host esx03: NUMA node 0 with 64 cores and 32 threads: its NUMA nodes are unknown",
		"HOST vm-2: VM db0002: 1048576 vCPUs: its vCPU count is unknown",
		"HOST vm-2: VM db0002: memory of 1125899906842624 bytes: its memory is unknown",
		"HOST vm-3: VM db0003: 1048576 cores per socket: its number of cores per socket is unknown",
	}
	if !slices.Equal(got, want) {
		t.Errorf("notes %q\nwant %q", got, want)
	}
	if v := f.VMs[2]; v.VCPUs.Known() || v.Memory.Known() || v.CoresPerSocket.Value != 12 || !v.Settings.Known() {
		t.Errorf("VM = %+v; want all but the vCPUs and the memory", v)
	}
	if v := f.VMs[3]; v.VCPUs.Value != 24 || v.CoresPerSocket.Known() {
		t.Errorf("VM = %+v; want all but the cores per socket", v)
	}
	if h := f.Hosts[1]; h.Nodes.Known() || h.Cores.Value != 32 || h.Memory.Value != 512*numa.GiB {
		t.Errorf("host = %+v; want all but the nodes", h)
	}
	if h := f.Hosts[2]; h.Memory.Known() || len(h.Nodes.Value) != 2 || h.Cores.Value != 32 {
		t.Errorf("host = %+v; want all but the memory", h)
	}
	if h := f.Hosts[3]; h.Nodes.Known() || h.Threads.Value != 16 || h.Cores.Value != 32 {
		t.Errorf("host = %+v; want all but the nodes", h)
	}
	if len(f.Hosts[0].Nodes.Value) != 2 || f.VMs[0].VCPUs.Value != 24 {
		t.Errorf("the others: %+v, %+v; want them whole", f.Hosts[0], f.VMs[0])
	}
}

// TestStandaloneESXi reads from the simulator's ESXi host, which has one NUMA
// node: no clusters, and the names of an ESXi inventory.
func TestStandaloneESXi(t *testing.T) {
	m := simulator.ESX()
	m.Machine = 1
	if err := m.Create(); err != nil {
		t.Fatal(err)
	}
	defer m.Remove()
	s := m.Service.NewServer()
	defer s.Close()
	got, f := notes(t, s.URL)
	// Its node has several memory ranges and states the length of one.
	want := []string{"HOST ha-host: host localhost.localdomain has 4.0 GB of memory but its NUMA nodes 1 GB together"}
	if !slices.Equal(got, want) || len(f.Clusters) != 0 || len(f.Hosts) != 1 || len(f.VMs) != 1 {
		t.Fatalf("Read() = %d clusters, %d hosts, %d VMs and the notes %q; want 0, 1, 1 and %q",
			len(f.Clusters), len(f.Hosts), len(f.VMs), got, want)
	}
	h, v := f.Hosts[0], f.VMs[0]
	if h.ID != "ha-host" || h.Cluster != "" || len(h.Nodes.Value) != 1 || v.Host != "ha-host" || v.Folder != "/ha-datacenter/vm" {
		t.Errorf("host %+v\nVM %+v\nwant ha-host with one node and the VM on it in /ha-datacenter/vm", h, v)
	}
}

func BenchmarkRead(b *testing.B) {
	for _, vms := range []int{1000} {
		b.Run(fmt.Sprintf("vms=%d", vms), func(b *testing.B) {
			vc := startLab(b, newFleet(vms))
			b.ReportAllocs()
			for b.Loop() {
				f, err := vsphere.Read(b.Context(), vc.URL, vsphere.Options{})
				if err != nil {
					b.Fatal(err)
				}
				if len(f.VMs) != vms || len(f.Notes) != 0 {
					b.Fatalf("Read() = %d VMs and the notes %v; want %d and none", len(f.VMs), f.Notes, vms)
				}
			}
		})
	}
}
