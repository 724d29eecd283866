package hostcmd

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"example.org/homenode/internal/golden"
	"example.org/homenode/numa"
	"example.org/homenode/source/guest"
)

// samples are public outputs that may lie beside the checkout; they are not part
// of the project.
var samples = filepath.Join("..", "..", "..", "shared", "samples")

func needSamples(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(samples); err != nil {
		t.Skip("no samples beside the checkout")
	}
}

func TestSamples(t *testing.T) {
	needSamples(t)
	kb := func(n int64) numa.Bytes { return numa.Bytes(n) * numa.KiB }
	mb := func(n float64) numa.Bytes { return numa.Bytes(n*float64(numa.MiB) + 0.5) }
	dump := func(p string, size int) stated {
		file := "dump file /vmfs/volumes/" + p + ".dumpfile: "
		return stated{file + "active true", file + "configured true", file + fmt.Sprintf("size %d B", size)}
	}
	esx4 := func(line int, name string, home int, remote, local float64, share int, guest0, over0, guest1 float64) ScreenVM {
		return ScreenVM{line, -1, name, []int{home}, 0, mb(local), mb(remote), share, []numa.MemoryOnNode{{Node: 0, Guest: mb(guest0), Overhead: mb(over0)}, {Node: 1, Guest: mb(guest1), Overhead: -1}}}
	}
	for _, tt := range []struct {
		folder, file string
		want         printed
	}{
		{"sched-stats", "numa-clients_esxi65.txt", printed{NUMAClients, 2, "esxi03", Clients{
			{3, "vm.81204", 72144, 0, 1, 3, 8, 8, kb(14848284), 0, 100, 100}}}},
		{"sched-stats", "numa-clients_esxi7_a.txt", printed{NUMAClients, 2, "w4-hs4-i1509", Clients{
			{3, "vm.2106132", 50539, 0, 0, 3, 1, 1, kb(131072), 0, 100, 100},
			{4, "vm.3578019", 12322082, 0, 0, 3, 4, 4, kb(19919352), kb(3592), 99, 99},
			{5, "vm.3834893", 14474659, 0, 0, 3, 4, 4, kb(8912148), kb(13036), 99, 99},
			{6, "vm.3850537", 14605619, 0, 0, 3, 16, 16, kb(26624), 0, 100, 100},
			{7, "vm.3850537", 14605619, 1, 1, 3, 14, 14, 0, 0, 0, 0}}}},
		{"sched-stats", "numa-clients_esxi8_cropped_1client.txt", printed{NUMAClients, 2, "w4-hs4-i1509", Clients{
			{3, "vm.2117528", 155758, 0, 0, 3, 1, 1, kb(131072), 0, -1, -1},
			{4, "vm.8823431", 59619001, 0, 0, 3, 12, 12, kb(237082912), kb(163191036), -1, -1}}}},
		{"sched-stats", "numa-cnode_esxi65_1client.txt", printed{NUMACNode, 2, "esxi03", ClientMemory{
			{3, "vm.120846", 203207, 0, 0, 567, 100, kb(65072984), 66},
			{4, "vm.120846", 203207, 0, 1, 0, 0, kb(32200872), 33}}}},
		{"sched-stats", "numa-pnode_esxi65_12vcpu.txt", printed{NUMAPNode, 2, "esxi03", NodeLoads{
			{0, 31, 19968, 17, 0, 0, 6, kb(50596640), kb(66993668)},
			{1, 25, 19974, 17, 0, 0, 6, kb(60624968), kb(67108864)}}}},
		{"sched-stats", "numa-pnode_esxi65_idle.txt", printed{NUMAPNode, 2, "esxi03", NodeLoads{
			{0, 75, 19925, 0, 0, 0, 0, kb(65330008), kb(66993668)},
			{1, 13, 19987, 0, 0, 0, 0, kb(65853828), kb(67108864)}}}},
		{"sched-stats", "numa-pnode_esxi70u3.txt", printed{NUMAPNode, 2, "esxi70u3k-nn10", NodeLoads{
			{0, 20, 19980, 0, 0, 0, 0, kb(28826116), kb(33547656)},
			{1, 5, 19994, 0, 0, 0, 0, kb(29269384), kb(33554432)}}}},
		{"esxtop-screen", "memory_esxi60_10vcpu.txt", printed{EsxtopMemory, 1, "", &Screen{
			Time: "2:06:59pm", Free: mb(118780), MinFree: mb(1920), State: "high", Nodes: []ScreenNode{{mb(65423), mb(54748)}, {mb(65536), mb(63647)}},
			VMs: []ScreenVM{{11, 1899386, "VM11", []int{0}, 0, mb(8906.15), 0, 100, []numa.MemoryOnNode{{Node: 0, Guest: mb(8906.15), Overhead: mb(103.97)}}}}}}},
		{"esxtop-screen", "memory_esxi60_12vcpu_wide.txt", printed{EsxtopMemory, 1, "", &Screen{
			Time: "11:14:26am", Free: mb(120432), MinFree: mb(1920), State: "high", Nodes: []ScreenNode{{mb(65423), mb(59527)}, {mb(65536), mb(60520)}},
			VMs: []ScreenVM{{11, 2404272, "VM11", []int{0, 1}, 0, mb(7242.59), 0, 100, nil}}}}},
		{"esxtop-screen", "memory_esx4_numa_2nodes.txt", printed{EsxtopMemory, 1, "", &Screen{
			Free: -1, MinFree: -1, Nodes: []ScreenNode{{mb(32566), mb(13988)}, {mb(31772), mb(372)}},
			VMs: []ScreenVM{
				esx4(9, "2A", 0, 15.39, 4080.61, 99, 4080.61, 71.29, 15.39),
				esx4(10, "2A", 0, 0, 6006, 100, 6006, 100.46, 0),
				esx4(11, "1", 1, 5.94, 1018.01, 99, 5.94, 72.32, 1018.01),
				esx4(12, "5", 1, 5.30, 4090.53, 99, 5.30, 24.62, 4090.53),
				esx4(13, "2", 0, 63.79, 960.21, 93, 960.21, 141.07, 63.79),
				esx4(14, "1A", 0, 0, 4096, 100, 4096, 56.96, 0),
				esx4(15, "1", 1, 32.80, 2063.20, 98, 32.80, 52.05, 2063.20),
				esx4(16, "01A", 1, 0, 1021.47, 100, 0, 32.64, 1021.47),
			},
			Others: []ScreenVM{kernelRow(6, "vobd.4269"), kernelRow(7, "vmkiscsid.4277"), kernelRow(8, "vmware-vmkauthd")}}}},
		{"memstats", "vm-stats_esxi65.txt", printed{Memstats, 3, "esxi03", &MemoryStats{"VIRTUAL MACHINE", "Fri Apr 14 05:45:52 2017", numa.MiB,
			[]string{"memSize", "allocTgt", "consumed", "mapped", "touched"},
			[]MemoryRow{{"vm.78864", []int64{32768, 14502, 13184, 13186, 12779}}}, []int64{32768, 14502, 13184, 13186, 12779}}}},
		{"vsish", "hardware_cpuTopology_numa_nodes_esxi70u3.txt", printed{Vsish, 2, "esxi70u3k-nn10", nil}},
		{"vsish", "hardware_cpu_cpuInfo_esxi70u3.txt", printed{Vsish, 2, "esxi70u3k-nn10", nil}},
		{"vsish", "memory_memInfo.txt", printed{Vsish, 1, "", nil}},
		{"esxcli", "hardware_cpu_global_get.txt", printed{CPUGlobal, 1, "", nil}},
		{"esxcli", "hardware_cpu_global_get_2x32.txt", printed{CPUGlobal, 1, "", nil}},
		{"esxcli", "hardware_memory_get_1node.txt", printed{HardwareMem, 1, "", nil}},
		{"esxcli", "hardware_memory_get_2nodes.txt", printed{HardwareMem, 1, "", nil}},
		{"esxcli", "hardware_pci_list_gpu_numa.txt", printed{PCIList, 1, "", stated{
			"PCI 0000:af:00.0: Vendor Name NVIDIA Corporation", "PCI 0000:af:00.0: Device Name GA100GL [A30 PCIe]", "PCI 0000:af:00.0: Current Owner VM Passthru",
			"PCI 0000:af:00.0: Device Class Name 3D controller", "PCI 0000:af:00.0: Module Name pciPassthru", "PCI 0000:af:00.0: NUMA node 1"}}},
		{"esxcli", "system_coredump_file_list_dp-esx02_esxi803_256GB_blog_reflowed.txt", printed{CoredumpFiles, 2, "dp-esx02",
			dump("66d993b7-e9cd83a8-b129-0025b5ea0e15/vmkdump/00000000-00E0-0000-0000-000000000008", 3882876928)}},
		{"esxcli", "system_coredump_file_list_esx21_esxi803_128GB_original_columns.txt", printed{CoredumpFiles, 2, "esx21",
			dump("6727594d-c447be9c-5a0e-90b11c13fc14/vmkdump/4C4C4544-0054-5810-8033-B3C04F48354A", 2441084928)}},
		{"esxcli", "system_coredump_file_list_prg0301-esx36_esxi703_1536GB_blog_reflowed.txt", printed{CoredumpFiles, 2, "prg0301-esx36",
			dump("5dec0956-3d83cd8b-de10-0025b52ae000/vmkdump/00000000-0021-0000-0000-000000000024", 16106127360)}},
		{"esxcli", "system_coredump_file_list_prg03t0-esx05_esxi703_512GB_blog_reflowed.txt", printed{CoredumpFiles, 2, "prg03t0-esx05",
			dump("6233a3c2-58e4bf62-94e7-0025b5ea0e13/vmkdump/00000000-00E0-0000-0000-000000000006-8162115584", 8162115584)}},
	} {
		t.Run(tt.file, func(t *testing.T) {
			outputs := readFile(t, samples, tt.folder, tt.file)
			checkOutputs(t, outputs, []printed{tt.want})
			if tt.file == "memory_esx4_numa_2nodes.txt" {
				checkWarnings(t, outputs, tt.file+":5:77: the right edge is cut: column OVD_ is left out")
			} else {
				checkWarnings(t, outputs)
			}
		})
	}
}

// TestSampleHosts checks what the outputs state of their hosts.
func TestSampleHosts(t *testing.T) {
	needSamples(t)
	for _, tt := range []struct {
		folder, file            string
		packages, cores, thread int
		ht                      numa.Fact[bool]
		memory                  numa.Bytes
		nodes                   int
	}{
		{"esxcli", "hardware_cpu_global_get.txt", 2, 20, 40, numa.ReadAt(true, "line 4:27"), 0, 0},
		{"esxcli", "hardware_cpu_global_get_2x32.txt", 2, 64, 128, numa.ReadAt(true, "line 4:27"), 0, 0},
		{"esxcli", "hardware_memory_get_1node.txt", 0, 0, 0, numa.Fact[bool]{}, 17081536512, 1},
		{"esxcli", "hardware_memory_get_2nodes.txt", 0, 0, 0, numa.Fact[bool]{}, 240470433792, 2},
		{"vsish", "hardware_cpu_cpuInfo_esxi70u3.txt", 2, 20, 20, numa.ReadAt(false, "line 3:26"), 0, 0},
		{"vsish", "hardware_cpuTopology_numa_nodes_esxi70u3.txt", 0, 0, 0, numa.Fact[bool]{}, 0, 2},
		{"vsish", "memory_memInfo.txt", 0, 0, 0, numa.Fact[bool]{}, 0, 2},
		{"sched-stats", "numa-pnode_esxi70u3.txt", 0, 0, 0, numa.Fact[bool]{}, 0, 2},
		{"esxtop-screen", "memory_esxi60_10vcpu.txt", 0, 0, 0, numa.Fact[bool]{}, 130961 * numa.MiB, 2},
	} {
		o := readFile(t, samples, tt.folder, tt.file)[0]
		h := &o.Host
		if h.Packages.Value != tt.packages || h.Cores.Value != tt.cores || h.Threads.Value != tt.thread || h.HyperThreading != tt.ht ||
			h.Memory.Value != tt.memory || o.nodeNum.Value != tt.nodes {
			t.Errorf("%s: %+v, %d nodes", tt.file, h, o.nodeNum.Value)
		}
	}
	// Three outputs of one host make its nodes.
	var all []*Output
	for _, path := range [][2]string{{"vsish", "hardware_cpuTopology_numa_nodes_esxi70u3.txt"}, {"vsish", "hardware_cpu_cpuInfo_esxi70u3.txt"}, {"sched-stats", "numa-pnode_esxi70u3.txt"}} {
		all = append(all, readFile(t, samples, path[0], path[1])...)
	}
	hosts := Hosts(all)
	if len(hosts) != 1 || len(hosts[0].Nodes.Value) != 2 {
		t.Fatalf("%+v", hosts)
	}
	if n := hosts[0].Nodes.Value[0]; n.Cores != 10 || n.Threads != 10 || n.Package != 0 || n.Memory.Value != 33547656*numa.KiB || n.Memory.Origin.Kind != numa.Read {
		t.Errorf("%+v", n)
	}
}

// TestDetectSamples shows every sample of every format to both packages: what is
// not in the table is nobody's here.
func TestDetectSamples(t *testing.T) {
	needSamples(t)
	type answer struct{ guest, host string }
	want := map[string]answer{
		"lscpu/lscpu_J_xeon6430_2nodes.json":                 {guest: guest.LscpuJSON},
		"lscpu/lscpu_e_xeon6430_2nodes.txt":                  {guest: guest.LscpuColumns},
		"lscpu/lscpu_epyc7451_8nodes_text_and_parsable.txt":  {guest: guest.Lscpu},
		"lscpu/lscpu_xeon6430_hierarchical_2.37.txt":         {guest: guest.Lscpu},
		"numactl/numactl_H_2nodes_xeon6430.txt":              {guest: guest.Numactl},
		"numactl/numactl_H_4nodes_e5-4669v4.txt":             {guest: guest.Numactl},
		"coreinfo/coreinfo_24lp_4nodes_with_cost.txt":        {guest: guest.Coreinfo},
		"coreinfo/coreinfo_n_multigroup_2x36.txt":            {guest: guest.Coreinfo},
		"coreinfo/coreinfo_vm_10vcpu_1node.txt":              {guest: guest.Coreinfo},
		"coreinfo/coreinfo_vm_12vcpu_2nodes.txt":             {guest: guest.Coreinfo},
		"sched-stats/numa-clients_esxi65.txt":                {host: NUMAClients},
		"sched-stats/numa-clients_esxi7_a.txt":               {host: NUMAClients},
		"sched-stats/numa-clients_esxi8_cropped_1client.txt": {host: NUMAClients},
		"sched-stats/numa-cnode_esxi65_1client.txt":          {host: NUMACNode},
		"sched-stats/numa-pnode_esxi65_12vcpu.txt":           {host: NUMAPNode},
		"sched-stats/numa-pnode_esxi65_idle.txt":             {host: NUMAPNode},
		"sched-stats/numa-pnode_esxi70u3.txt":                {host: NUMAPNode},
		"esxtop-screen/memory_esx4_numa_2nodes.txt":          {host: EsxtopMemory},
		"esxtop-screen/memory_esxi60_10vcpu.txt":             {host: EsxtopMemory},
		"esxtop-screen/memory_esxi60_12vcpu_wide.txt":        {host: EsxtopMemory},
		"memstats/vm-stats_esxi65.txt":                       {host: Memstats},
		"vsish/hardware_cpuTopology_numa_nodes_esxi70u3.txt": {host: Vsish},
		"vsish/hardware_cpu_cpuInfo_esxi70u3.txt":            {host: Vsish},
		"vsish/memory_memInfo.txt":                           {host: Vsish},
		"esxcli/hardware_cpu_global_get.txt":                 {host: CPUGlobal},
		"esxcli/hardware_cpu_global_get_2x32.txt":            {host: CPUGlobal},
		"esxcli/hardware_memory_get_1node.txt":               {host: HardwareMem},
		"esxcli/hardware_memory_get_2nodes.txt":              {host: HardwareMem},
		"esxcli/hardware_pci_list_gpu_numa.txt":              {host: PCIList},
	}
	dumps, err := filepath.Glob(filepath.Join(samples, "esxcli", "system_coredump_file_list_*.txt"))
	if err != nil || len(dumps) != 4 {
		t.Fatal(dumps, err)
	}
	for _, d := range dumps {
		want["esxcli/"+filepath.Base(d)] = answer{host: CoredumpFiles}
	}
	files, err := filepath.Glob(filepath.Join(samples, "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, file := range files {
		if folder := filepath.Base(filepath.Dir(file)); folder == "kvm" || folder == "second" {
			continue // other hypervisors, and files of several kinds
		}
		head := golden.Read(t, file)
		head = head[:min(len(head), 64<<10)]
		name := filepath.ToSlash(filepath.Join(filepath.Base(filepath.Dir(file)), filepath.Base(file)))
		var got answer
		got.guest, _ = guest.Detect(head)
		got.host, _ = Detect(head)
		if got != want[name] {
			t.Errorf("%s: %+v, want %+v", name, got, want[name])
		}
		if _, ok := want[name]; ok {
			seen++
		}
	}
	if seen != len(want) {
		t.Errorf("%d of %d samples were there", seen, len(want))
	}
}

// TestDetect shows both packages the inputs of this one and of the guest's.
func TestDetect(t *testing.T) {
	for _, tt := range []struct{ file, guest, host string }{
		{"testdata/session.txt", "", VMwareVersion},
		{"testdata/screen.txt", "", EsxtopMemory},
		{"testdata/esxcli-json.txt", "", CPUGlobal},
		{"../guest/testdata/pasted.txt", guest.Lscpu, ""},
		{"../guest/testdata/lscpu-J.txt", guest.LscpuJSON, ""},
		{"../guest/testdata/coreinfo.txt", guest.Coreinfo, ""},
	} {
		head := golden.Read(t, filepath.FromSlash(tt.file))
		g, gok := guest.Detect(head)
		h, hok := Detect(head)
		if g != tt.guest || h != tt.host || gok != (tt.guest != "") || hok != (tt.host != "") {
			t.Errorf("%s: %q, %q; want %q, %q", tt.file, g, h, tt.guest, tt.host)
		}
	}
	for _, tt := range []struct{ in, want string }{
		{"", ""},
		{"{\"jobs\": []}", ""},
		{"[{\"Path\": \"/Numa/X\", \"DefaultIntValue\": 1}]", AdvancedList},
		{"VMkernel esx01 8.0.3 #1 SMP Release build-24022510", Uname},
		{"[root@db01 ~]# uname -a\nLinux db01 5.14", ""},
		{"[root@esx01:~] localcli hardware pci list\n", PCIList},
		{"[root@esx01:~] esxcli storage core device list\n", ""},
	} {
		if got, ok := Detect([]byte(tt.in)); got != tt.want || ok != (tt.want != "") {
			t.Errorf("Detect(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

// kernelRow is a row of the memory screen that no VM has.
func kernelRow(line int, name string) ScreenVM {
	return ScreenVM{Line: line, GID: -1, Name: name, Migrations: -1, Local: -1, Remote: -1, PercentLocal: -1}
}
