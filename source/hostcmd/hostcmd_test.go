package hostcmd

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.org/homenode/internal/golden"
	"example.org/homenode/numa"
	"example.org/homenode/source/fact"
)

func readFile(t *testing.T, path ...string) []*Output {
	t.Helper()
	name := filepath.Join(path...)
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	outputs, err := Read(filepath.Base(name), bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return outputs
}

func readText(t *testing.T, in string) []*Output {
	t.Helper()
	outputs, err := Read("x", strings.NewReader(in))
	if err != nil {
		t.Fatal(err)
	}
	return outputs
}

// an output as it is compared; the host is checked apart.
type printed struct {
	format string
	line   int
	host   string
	result any
}

// stated are the facts of an output that has no typed result.
type stated []string

// pciFacts are those that tell where a device is and whose.
var pciFacts = regexp.MustCompile(`^(?:(?:Vendor|Device|Device Class|Module) ?Name|Current Owner|NUMA node)$`)

func statedBy(o *Output) (out stated) {
	for _, f := range o.File().Facts {
		if f.Subject == "host" || strings.HasPrefix(f.Subject, "PCI ") && !pciFacts.MatchString(f.Name) {
			continue
		}
		out = append(out, strings.TrimSpace(fmt.Sprint(f.Subject, ": ", f.Name, " ", f.Value, " ", f.Unit)))
	}
	return out
}

func checkOutputs(t *testing.T, outputs []*Output, want []printed) {
	t.Helper()
	if len(outputs) != len(want) {
		t.Errorf("%d outputs, want %d", len(outputs), len(want))
	}
	for i := range min(len(outputs), len(want)) {
		o := outputs[i]
		got := printed{o.Format, o.Line, o.Host.Name, o.Result}
		if _, ok := want[i].result.(stated); ok && o.Result == nil {
			got.result = statedBy(o)
		}
		if !reflect.DeepEqual(got, want[i]) {
			t.Errorf("output %d:\n got %+v\nwant %+v", i, got, want[i])
		}
	}
}

func checkWarnings(t *testing.T, outputs []*Output, want ...string) {
	t.Helper()
	var got []string
	for _, o := range outputs {
		for _, w := range o.File().Warnings {
			got = append(got, o.File().At(w.Line, w.Col)+": "+w.Text)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("warnings\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestSession(t *testing.T) {
	outputs := readFile(t, "testdata", "session.txt")
	checkOutputs(t, outputs, []printed{
		{VMwareVersion, 4, "esx11", nil},
		{Uname, 7, "esx11.lab.example", nil},
		{CPUGlobal, 9, "esx11", nil},
		{HardwareMem, 18, "esx11", nil},
		{NUMAPNode, 22, "esx11", NodeLoads{
			{0, 2810, 25190, 120, -40, 11, 14, 86 * numa.GiB, 192 * numa.GiB},
			{1, 1400, 26600, 100, 0, 5, 8, 100 * numa.GiB, 192 * numa.GiB}}},
		{NUMAClients, 25, "esx11", Clients{
			{26, "vm.70001", 9001, 0, 0, 3, 12, 10, 40 * numa.GiB, 0, 100, 98},
			{27, "vm.70001", 9001, 1, 1, 1, 10, 10, 30 * numa.GiB, 10 * numa.GiB, 75, 75},
			{28, "vm.70440", 9950, 0, -1, 3, 4, 4, 4 * numa.GiB, 42367 * numa.KiB, 98, 98}}},
		{NUMACNode, 30, "esx11", ClientMemory{
			{31, "vm.70001", 9001, 0, 0, 372, 96, 13000000 * numa.KiB, 96},
			{32, "vm.70001", 9001, 0, 1, 12, 3, 500000 * numa.KiB, 3},
			{33, "vm.70001", 9001, 1, 1, 384, 100, 7000000 * numa.KiB, 100}}},
		{NCPUs, 35, "esx11", nil},
		{NUMAMigration, 41, "esx11", nil},
		{Vsish, 46, "esx11", nil},
		{Vsish, 54, "esx11", nil},
		{Vsish, 59, "esx11", nil},
		{Vsish, 63, "esx11", nil},
		{KernelList, 65, "esx11", stated{
			"setting VMkernel.Boot.useSLIT: value FALSE", "setting VMkernel.Boot.useSLIT: default FALSE",
			"setting VMkernel.Boot.hyperthreadingMitigation: value TRUE", "setting VMkernel.Boot.hyperthreadingMitigation: runtime value FALSE",
			"setting VMkernel.Boot.hyperthreadingMitigation: default FALSE",
			"setting VMkernel.Boot.logPort: value", "setting VMkernel.Boot.logPort: runtime value com1", "setting VMkernel.Boot.logPort: default none"}},
		{AdvancedList, 71, "esx11", stated{
			"setting Numa.RebalanceCoresTotal: value 4", "setting Numa.RebalanceCoresTotal: default 4",
			"setting Numa.LocalityWeightActionAffinity: value 0", "setting Numa.LocalityWeightActionAffinity: default 130",
			"setting Misc.HostName: value esx11", "setting Misc.HostName: default localhost"}},
		{CoredumpFiles, 94, "esx11", stated{
			"dump file /vmfs/volumes/ab/vmkdump/one.dumpfile: active true",
			"dump file /vmfs/volumes/ab/vmkdump/one.dumpfile: configured true", "dump file /vmfs/volumes/ab/vmkdump/one.dumpfile: size 2147483648 B",
			"dump file /vmfs/volumes/ab/vmkdump/two.dumpfile: active false",
			"dump file /vmfs/volumes/ab/vmkdump/two.dumpfile: configured false", "dump file /vmfs/volumes/ab/vmkdump/two.dumpfile: size 1073741824 B"}},
		{Memstats, 100, "esx11", &MemoryStats{"VIRTUAL MACHINE", "Mon Mar  3 10:11:12 2025", numa.KiB, []string{"memSize", "touched"},
			[]MemoryRow{{"vm.70001", []int64{83886080, 1048576}}}, []int64{83886080, 1048576}}},
	})
	checkWarnings(t, outputs,
		`session.txt:44:1: not understood: "?"`)

	read := func(where string) numa.Origin { return numa.Origin{Kind: numa.Read, Where: "session.txt " + where} }
	want := []numa.Host{{
		ID: "esx11.lab.example", Name: "esx11.lab.example", At: "session.txt",
		Release:        numa.Fact[numa.Release]{Value: numa.ESXi67 + 3, Origin: read("line 4:13")},
		Build:          numa.Fact[int]{Value: 14320388, Origin: read("line 4:25")},
		Packages:       numa.Fact[int]{Value: 2, Origin: read("line 9:18")},
		Cores:          numa.Fact[int]{Value: 28, Origin: read("line 10:15")},
		Threads:        numa.Fact[int]{Value: 56, Origin: read("line 11:17")},
		HyperThreading: numa.Fact[bool]{Value: true, Origin: read("line 12:27")},
		Memory:         numa.Fact[numa.Bytes]{Value: 384 * numa.GiB, Origin: read("line 18:21")},
		Nodes: numa.DerivedFrom([]numa.Node{
			{ID: 0, Package: 0, Cores: 14, Threads: 28, Memory: numa.Fact[numa.Bytes]{Value: 192 * numa.GiB, Origin: read("line 23:100")}},
			// Three PCPUs listed are fewer than its cores, which an equal share gives.
			{ID: 1, Package: 1, Cores: 14, Threads: 14, Memory: numa.Fact[numa.Bytes]{Value: 192 * numa.GiB, Origin: read("line 24:100")}},
		}, "28 cores in equal parts on 2 nodes (session.txt line 20:21)"),
		Options: numa.Fact[numa.Settings]{Value: numa.Settings{
			{Key: "Numa.LocalityWeightActionAffinity", Value: "0"},
			{Key: "Numa.RebalanceCoresTotal", Value: "4"},
			{Key: "VMkernel.Boot.hyperthreadingMitigation", Value: "FALSE"},
			{Key: "VMkernel.Boot.useSLIT", Value: "FALSE"},
		}, Origin: read("line 65")},
	}}
	if got := Hosts(outputs); !reflect.DeepEqual(got, want) {
		t.Errorf("hosts\n got %+v\nwant %+v", got, want)
	}
	for _, f := range []fact.Fact{
		{Subject: "/sched/groups/9001/stats/numaStats/stats", Name: "nested, depth", Value: "0x2", Line: 50, Col: 13},
		{Subject: "/sched/groups/9001/numaClients/0/home", Name: "value", Value: int64(0), Line: 63, Col: 1},
		{Subject: "vm.70001", Name: "loadSwap", Value: int64(1), Line: 42, Col: 24},
		{Subject: "host", Name: "LLCs", Value: int64(2), Line: 37, Col: 5},
	} {
		if !slices.ContainsFunc(outputs, func(o *Output) bool { return slices.Contains(o.File().Facts, f) }) {
			t.Errorf("no fact %+v", f)
		}
	}
}

// TestVolumes reads which VMs run, what is mounted, and where the host dumps its core.
func TestVolumes(t *testing.T) {
	const in = "[root@esx11:~] vmdumper -l\n" +
		"wid=2106141\tpid=-1\tcfgFile=\"/vmfs/volumes/5a1f/sql 01/sql01.vmx\"\tuuid=\"56 4d 00\"\tdisplayName=\"sql 01\"\tvmxCartelID=2106132\n" +
		"wid=2106200\tpid=-1\tcfgFile=\"/vmfs/volumes/5a1f/web/web.vmx\"\tuuid=\"\"\tdisplayName=\"web\"\tvmxCartelID=2106199\n" +
		"[root@esx11:~] df -h\n" +
		"Filesystem   Size   Used Available Use% Mounted on\n" +
		"VMFSOS     119.8G   4.5G    115.2G   4% /vmfs/volumes/OSDATA-65a1\n" +
		"vfat         4.0G 267.4M      3.7G   6% /vmfs/volumes/BOOTBANK 1\n" +
		"NFS           odd      0         -   0% /vmfs/volumes/nfs\n" +
		"[root@esx11:~] esxcli system coredump file get\n" +
		"   Active: /vmfs/volumes/65a1/vmkdump/4C4C.dumpfile\n   Configured: \n"
	outputs := readText(t, in)
	var got []string
	for _, o := range outputs {
		for _, f := range o.File().Facts {
			if f.Name != "name" || !strings.HasPrefix(f.Subject, "host") {
				got = append(got, strings.TrimSpace(fmt.Sprint(o.Format, ", ", f.Subject, ": ", f.Name, " ", f.Value, " ", f.Unit)))
			}
		}
	}
	want := []string{
		"vmdumper -l, VM sql 01: world 2106141", "vmdumper -l, VM sql 01: configuration file /vmfs/volumes/5a1f/sql 01/sql01.vmx", "vmdumper -l, VM sql 01: UUID 56 4d 00",
		"vmdumper -l, VM sql 01: name sql 01", "vmdumper -l, VM sql 01: cartel 2106132",
		"vmdumper -l, VM web: world 2106200", "vmdumper -l, VM web: configuration file /vmfs/volumes/5a1f/web/web.vmx", "vmdumper -l, VM web: UUID", "vmdumper -l, VM web: name web", "vmdumper -l, VM web: cartel 2106199",
		"df -h, volume /vmfs/volumes/OSDATA-65a1: file system VMFSOS", "df -h, volume /vmfs/volumes/OSDATA-65a1: size 119.8 GiB", "df -h, volume /vmfs/volumes/OSDATA-65a1: used 4.5 GiB", "df -h, volume /vmfs/volumes/OSDATA-65a1: available 115.2 GiB",
		"df -h, volume /vmfs/volumes/BOOTBANK 1: file system vfat", "df -h, volume /vmfs/volumes/BOOTBANK 1: size 4 GiB", "df -h, volume /vmfs/volumes/BOOTBANK 1: used 267.4 MiB", "df -h, volume /vmfs/volumes/BOOTBANK 1: available 3.7 GiB",
		"df -h, volume /vmfs/volumes/nfs: file system NFS", "df -h, volume /vmfs/volumes/nfs: used 0 B",
		"esxcli system coredump file get, host: active dump file /vmfs/volumes/65a1/vmkdump/4C4C.dumpfile",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	checkWarnings(t, outputs, `x:8:15: size of volume /vmfs/volumes/nfs: found "odd", want a size such as 119.8G`, `x:8:34: available of volume /vmfs/volumes/nfs: found "-", want a size such as 119.8G`)
	for _, part := range []string{"wid=1\tpid=-1\tcfgFile=\"/vmfs/volumes/a/b.vmx\"\n", "   Active: \n   Configured: /vmfs/volumes/a/b.dumpfile\n"} {
		if _, ok := Detect([]byte(part)); !ok {
			t.Errorf("%q is not detected", part)
		}
	}
}

func TestGroups(t *testing.T) {
	outputs := readFile(t, "testdata", "session.txt")
	observe := func(at string, clients []numa.ClientSeen, where string) numa.Observation {
		o := numa.Observation{By: numa.BySchedStats, At: "session.txt:" + at, Host: "esx11"}
		if clients != nil {
			o.Clients = numa.ReadAt(clients, where)
			o.PPDCount = numa.ReadAt(len(clients), where)
			var local, remote numa.Bytes
			for _, c := range clients {
				local, remote = local+c.Local, remote+c.Remote
			}
			o.Local, o.Remote = numa.ReadAt(local, ""), numa.ReadAt(remote, "")
			o.Homes = numa.ReadAt([]int{}, where)
			if clients[0].Home >= 0 {
				o.Homes.Value = []int{0, 1}
			}
		}
		return o
	}
	want := []Group{
		{Name: "vm.70001", ID: 9001, Host: "esx11", Homes: []int{0, 1}, Local: 70 * numa.GiB, Remote: 10 * numa.GiB,
			Observation: observe("26", []numa.ClientSeen{
				{ID: 0, Home: 0, VCPUs: 10, Local: 40 * numa.GiB},
				{ID: 1, Home: 1, VCPUs: 10, Local: 30 * numa.GiB, Remote: 10 * numa.GiB}}, "line 26")},
		{Name: "vm.70440", ID: 9950, Host: "esx11", Local: 4 * numa.GiB, Remote: 42367 * numa.KiB,
			Observation: observe("28", []numa.ClientSeen{{ID: 0, Home: -1, VCPUs: 4, Local: 4 * numa.GiB, Remote: 42367 * numa.KiB}}, "line 28")},
	}
	if got := outputs[5].Groups(); !reflect.DeepEqual(got, want) {
		t.Errorf("groups of numa-clients\n got %+v\nwant %+v", got, want)
	}
	cnode := observe("31", nil, "")
	cnode.PPDCount = numa.ReadAt(2, "line 30")
	want = []Group{{Name: "vm.70001", ID: 9001, Host: "esx11", Local: -1, Remote: -1, Observation: cnode,
		OnNode: []numa.MemoryOnNode{{Node: 0, Guest: 13000000 * numa.KiB, Overhead: -1}, {Node: 1, Guest: 7500000 * numa.KiB, Overhead: -1}}}}
	if got := outputs[6].Groups(); !reflect.DeepEqual(got, want) {
		t.Errorf("groups of numa-cnode\n got %+v\nwant %+v", got, want)
	}
	if got := outputs[0].Groups(); got != nil {
		t.Errorf("groups of vmware -v: %+v", got)
	}
}

func TestScreen(t *testing.T) {
	mb := func(n float64) numa.Bytes { return numa.Bytes(n * float64(numa.MiB)) }
	outputs := readFile(t, "testdata", "screen.txt")
	checkOutputs(t, outputs, []printed{
		{EsxtopMemory, 1, "", &Screen{
			Time: "9:15:01am",
			Free: mb(167998), MinFree: mb(2900), State: "high",
			Nodes: []ScreenNode{{mb(131026), mb(91234)}, {mb(131072), mb(764)}},
			VMs: []ScreenVM{
				{8, 41001, "SQL server 01", []int{0, 1}, 3, mb(31744), mb(1024), 96, []numa.MemoryOnNode{{Node: 0, Guest: mb(16384), Overhead: mb(100.25)}, {Node: 1, Guest: mb(16384), Overhead: mb(101.5)}}},
				{9, 41002, "web 02", []int{1}, 0, mb(4096), 0, 100, []numa.MemoryOnNode{{Node: 0, Guest: 0, Overhead: mb(10)}, {Node: 1, Guest: mb(4096), Overhead: mb(20)}}},
				{10, 41003, "file 3", []int{0}, 0, mb(4096), mb(4096), 40, []numa.MemoryOnNode{{Node: 0, Guest: mb(4096), Overhead: mb(10)}, {Node: 1, Guest: mb(4096), Overhead: mb(20)}}},
			},
			Others: []ScreenVM{{11, 955, "hostd.2101245", nil, -1, -1, -1, -1, nil}}}},
		{EsxtopMemory, 13, "", &Screen{Time: "9:15:06am", Free: -1, MinFree: -1, VMs: []ScreenVM{
			{15, 41001, "SQL server 01", []int{0, 1}, 0, -1, mb(1024), -1, nil},
			{16, 41002, "web 02", []int{1}, 0, -1, -1, -1, nil}}}},
	})
	checkWarnings(t, outputs,
		"screen.txt:10: VM file 3: N%L is shown as 40 but 4096.00 and 4096.00 MB give 50",
		"screen.txt:16: found 2 values after the name, want 3: the right edge is cut")
	groups := outputs[0].Groups()
	if g := groups[0]; g.VM != "SQL server 01" || g.ID != 41001 || !slices.Equal(g.Homes, []int{0, 1}) || g.Local != mb(31744) || g.Remote != mb(1024) || g.Observation.At != "screen.txt:8" {
		t.Errorf("%+v", g)
	}
	if got := Hosts(outputs); len(got) != 1 || got[0].Memory != numa.DerivedFrom(mb(262098), "screen.txt line 2:12, in whole MB") {
		t.Errorf("%+v", got)
	}
}

func TestJSON(t *testing.T) {
	outputs := readFile(t, "testdata", "esxcli-json.txt")
	checkOutputs(t, outputs, []printed{
		{CPUGlobal, 2, "esx12", nil},
		{HardwareMem, 4, "esx12", nil},
		{PCIList, 10, "esx12", stated{
			"PCI 0000:3b:00.0: VendorName Mellanox", "PCI 0000:3b:00.0: DeviceName ConnectX-5", "PCI 0000:3b:00.0: NUMA node 1", "PCI 0000:3b:00.0: ModuleName nmlx5_core",
			"PCI 0000:00:1f.0: VendorName Intel", "PCI 0000:00:1f.0: DeviceName LPC", "PCI 0000:00:1f.0: NUMA node 4294967295"}},
		{KernelList, 15, "esx12", stated{
			"setting VMkernel.Boot.hyperthreadingMitigation: value TRUE", "setting VMkernel.Boot.hyperthreadingMitigation: default FALSE"}},
		{CoredumpFiles, 17, "esx12", stated{
			"dump file /vmfs/a.dumpfile: active true", "dump file /vmfs/a.dumpfile: configured false", "dump file /vmfs/a.dumpfile: size 1024 B"}},
		{VersionGet, 19, "esx12", nil},
		{Platform, 25, "esx12", nil},
		{PCIList, 30, "esx12", stated{
			"PCI 0000:00:00.0: Vendor Name Intel Corporation", "PCI 0000:00:00.0: Device Name Sky Lake-E DMI3 Registers", "PCI 0000:00:00.0: Current Owner VMkernel", "PCI 0000:00:00.0: NUMA node 0",
			"PCI 0000:d8:00.0: Vendor Name NVIDIA Corporation", "PCI 0000:d8:00.0: Current Owner VM Passthru", "PCI 0000:d8:00.0: NUMA node -1"}},
	})
	checkWarnings(t, outputs)
	h := Hosts(outputs)[0]
	if h.Release.Value != numa.ESXi80+3 || h.Build.Value != 24022510 || h.Vendor.Value != "Dell Inc." || h.Model.Value != "PowerEdge R640" ||
		h.Packages.Value != 2 || h.Cores.Value != 20 || h.Threads.Value != 20 || h.HyperThreading.Value || len(h.Nodes.Value) != 2 || h.Memory.Value != 256*numa.GiB {
		t.Errorf("%+v", h)
	}
	if err := h.Check(); err != nil {
		t.Error(err)
	}
}

// TestHostsApart reads the outputs of two hosts, of which one is named in two ways.
func TestHostsApart(t *testing.T) {
	outputs := readText(t, `[root@esx01:~] sched-stats -t ncpus
  8 PCPUs
  8 cores
  1 NUMA nodes
[root@esx02:~] sched-stats -t ncpus
  16 PCPUs
  8 cores
  3 NUMA nodes
VMkernel ESX01.example.com 8.0.2 #1 SMP Release build-22380479 Sep  4 2023
Linux db01 5.14
`)
	checkWarnings(t, outputs, `x:10:1: not understood: "Linux db01 5.14"`)
	got := Hosts(outputs)
	if len(got) != 2 || got[0].Name != "ESX01.example.com" || got[0].Release.Value != numa.ESXi80+2 || len(got[0].Nodes.Value) != 1 || got[0].HyperThreading.Value {
		t.Fatalf("%+v", got)
	}
	if got[1].Name != "esx02" || got[1].Nodes.Known() || !got[1].HyperThreading.Value {
		t.Errorf("%+v", got[1])
	}
}

// TestHostsByAddress takes no part of an address for a name.
func TestHostsByAddress(t *testing.T) {
	outputs := readText(t, "[root@10.0.0.1:~] sched-stats -t ncpus\n  8 cores\n[root@10.0.0.2:~] sched-stats -t ncpus\n  16 cores\n")
	var got []string
	for _, h := range Hosts(outputs) {
		got = append(got, fmt.Sprintf("%s %d", h.Name, h.Cores.Value))
	}
	if want := []string{"10.0.0.1 8", "10.0.0.2 16"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestReadErrors(t *testing.T) {
	const want = "want the output of sched-stats, esxtop, memstats, vsish, esxcli, vmware -v or uname"
	for _, tt := range []struct{ name, in, want string }{
		{"empty", "", "x:1: found no text, " + want},
		{"prompt only", "[root@esx01:~] sched-stats -t ncpus\n", "x:1: found no text, " + want},
		{"another", "\n\n   Bonjour\n", `x:3:4: found "Bonjour", ` + want},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Read("x", strings.NewReader(tt.in))
			var syntax *numa.SyntaxError
			if !errors.As(err, &syntax) || err.Error() != tt.want {
				t.Errorf("error %v, want %s", err, tt.want)
			}
		})
	}
}

func TestWarnings(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		want     []string
	}{
		{"clients", "groupName groupID clientID homeNode affinity nWorlds vmmWorlds localMem remoteMem currLocal cummLocal\n" +
			"vm.1 5 0 -2 zz 4 4 100 300 30 x\nvm.1 5 1 0 3 4\nvm.1 5 - 0 3 4 4 0 0 0 0\na b c d e f g h i j k l\n", []string{
			`x:2:10: home node of client vm.1/0: found "-2", want a number from -1 to 2147483647`,
			`x:2:31: N%L over its life of client vm.1/0: found "x", want a number from 0 to 2147483647`,
			`x:2:13: node affinity of client vm.1/0: found "zz", want a hexadecimal mask`,
			"x:2: client vm.1/0: N%L is stated as 30 but 100 and 300 KiB give 25",
			"x:3:1: found 6 values, want 11: the right edge is cut",
			"x:4: found no groupName and clientID",
			`x:5:1: not understood: "a b c d e f g h i j k l"`}},
		{"pnode", "nodeID used idle\n64 1 2\n", []string{"x:2: found no node number below 64"}},
		{"cnode", "groupName groupID clientID nodeID time timePct memory memoryPct\nvm.1 5 0 0 1 100 1000 50\nvm.1 5 0 99 1 100 1000 50\n", []string{
			"x:2: client vm.1/0 on node 0: its share is stated as 50% but the rows give 100%",
			"x:3: found no groupName, clientID and nodeID below 64"}},
		{"no header", "[root@a:~] sched-stats -t numa-pnode\nonly this\n", []string{
			`x:2:1: not understood: "only this"`,
			"x:2: found no header with the column nodeid"}},
		{"ncpus", "0 PCPUs\n3 packages\nseven dwarfs\n9\n", []string{
			`x:1:1: PCPUs of host: found "0", want a number from 1 to 262144`,
			`x:3:1: not understood: "seven dwarfs"`,
			`x:4:1: not understood: "9"`}},
		{"screen", "NUMA  /MB: none\nfoo\nGID NAME NHN NMIG OVD_N\n7 a b 9x 0\n8 c - -\n9 d 0 1 2\n10 e f 99 0 1\nx\n", []string{
			`x:1:12: not understood: "none"`,
			`x:2:1: not understood: "foo"`,
			"x:3:19: the right edge is cut: column OVD_N is left out",
			`x:4:1: not understood: "7 a b 9x 0"`,
			`x:7:8: home node of VM e f: found "99", want a number from 0 to 63`,
			`x:8:1: not understood: "x"`}},
		{"memstats", "VIRTUAL MACHINE STATS: Mon Mar  3 10:11:12 2025\n   Unit : furlong\nname a b\nvm.1 1 2\nvm.2 1\nvm.3 1 x\n", []string{
			`x:2:11: unit: found "furlong", want KB, MB, GB or pages`,
			"x:5:1: found 2 values, want 3",
			`x:6:8: b of vm.3: found "x", want a number from -9007199254740992 to 9007199254740992`}},
		{"vsish", "CPU global information {\n   Number of cores:many\n   ?\n", []string{
			"x:1: the struct CPU global information does not end",
			`x:2:20: cores of host: found "many", want a number from 1 to 262144`,
			`x:3:4: not understood: "?"`}},
		{"esxcli", "CPU Packages: 2\nCPU Cores: lots\nno key here\n", []string{
			`x:2:12: cores of host: found "lots", want a number from 1 to 262144`,
			`x:3:1: not understood: "no key here"`}},
		{"PCI", "0000:00:00.0\n  Address: 0000:00:00.0\n  NUMA Node: x\n  words\n", []string{
			`x:3:14: NUMA node of PCI 0000:00:00.0: found "x", want a number from -1 to 4294967295`,
			`x:4:3: not understood: "words"`}},
		{"dump files", "Path  Active  Configured  Size\n/a yes true 5\n/a true\n", []string{
			`x:2:4: active of dump file /a: found "yes", want true or false`,
			`x:3:1: not understood: "/a true"`}},
		{"kernel", "Name  Type  Configured  Runtime  Default  Description\nvga  Bool  TRUE\n", []string{
			`x:2:1: not understood: "vga  Bool  TRUE"`}},
		{"JSON", "[root@a:~] esxcli --formatter=json hardware memory get\n{\"NUMANodeCount\": 2, \"PhysicalMemory\": oops}\n", []string{
			"x:2:40: not JSON as esxcli writes it: invalid character 'o' looking for beginning of value"}},
		{"other JSON", "{\"a\": 1}\n", []string{"x:1: found JSON of no command that is known"}},
		{"version", "VMware ESXi 7.0.3 build-99999999999\nwhat\n", []string{
			`x:1:25: build: found "99999999999", want a number`,
			`x:2:1: not understood: "what"`}},
	} {
		t.Run(tt.name, func(t *testing.T) { checkWarnings(t, readText(t, tt.in), tt.want...) })
	}
}

func FuzzRead(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.txt"))
	if err != nil || len(files) == 0 {
		f.Fatal("no seeds", err)
	}
	for _, file := range files {
		data := golden.Read(f, file)
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		outputs, err := Read("x", bytes.NewReader(data))
		if err != nil {
			return
		}
		if len(outputs) == 0 {
			t.Fatal("neither outputs nor an error")
		}
		for _, o := range outputs {
			for _, g := range o.Groups() {
				if g.Observation.PPDCount.Value != len(g.Observation.Clients.Value) && g.Observation.Clients.Known() {
					t.Fatalf("%+v", g)
				}
			}
		}
		for _, h := range Hosts(outputs) {
			if err := h.Check(); err != nil {
				t.Fatal(err)
			}
		}
		Detect(data)
	})
}
