package vmxlog

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"example.org/homenode/internal/golden"
	"example.org/homenode/numa"
)

func read(t *testing.T, name, in string) *Log {
	t.Helper()
	l, err := Read(name, strings.NewReader(in))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func warnings(l *Log) []string {
	var out []string
	for _, w := range l.File().Warnings {
		out = append(out, numa.Place("", w.Line, w.Col)+" "+w.Text)
	}
	return out
}

// summary prints an observation in one line.
func summary(o *numa.Observation) string {
	return fmt.Sprintf("%s %s %s host=%s start=%s vcpus=%d memory=%v VPDs=%v PPDs=%v counts=%d/%d/%d slices=%v", o.By, o.At, o.Time, o.Host, o.Start,
		o.Config.VCPUs.Value, o.Config.Memory.Value, o.VPDs.Value, o.PPDs.Value, o.VPDCount.Value, o.PPDCount.Value, o.SocketCount.Value, o.Slices.Value)
}

func summaries(l *Log) []string {
	var out []string
	for _, o := range l.Observations() {
		out = append(out, summary(&o))
	}
	return out
}

func equal(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\ngot\n\t%s\nwant\n\t%s", what, strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// TestLife reads a log of two power-ons on two hosts, one of each envelope.
func TestLife(t *testing.T) {
	b := golden.Read(t, "testdata/life.log")
	l := read(t, "life.log", string(b))
	equal(t, "observations", summaries(l), []string{
		"vmware.log life.log:1 2017-03-01T08:00:00.100Z host=esx01.example.com start=first power-on vcpus=12 memory=24 GB VPDs=[0 1] PPDs=[0 1] counts=1/1/0 slices=[]",
		"vmware.log life.log:25 2019-06-01T08:00:00.100+02:00 host=esx02.example.com start=checkpoint vcpus=2 memory=4 GB VPDs=[0 1] PPDs=[0 1] counts=2/2/0 slices=[2 GB 1 GB]",
	})
	equal(t, "warnings", warnings(l), []string{
		":23:38 not understood: \"numa: a message of a later release\"",
		":24:38 not understood: \"numaHost: VCPU zero VPD 0 PPD 0\"",
		":21 the VCPU lines name 2 VPDs, the summary (line 19) counts 1",
		":21 the VCPU lines name 2 PPDs, the summary (line 19) counts 1",
		":19 the summary says 2 vCPUs, numvcpus is 12",
		":30:77 numa.autosize.cookie is of 12 vCPUs, numvcpus is 2: the stored size is void",
		":39 the memory slices are 3 GB, memSize is 4 GB",
	})
	vms := l.VMs()
	if len(vms) != 1 {
		t.Fatalf("%d VMs", len(vms))
	}
	v := vms[0]
	if v.ID != "502a0000-0000-0000-0000-000000000001" || v.UUID != v.ID || v.Name != "sql01-new" || v.At != "life.log" || len(v.Observed) != 2 {
		t.Errorf("VM %s %s %s %s, observed %d times", v.ID, v.UUID, v.Name, v.At, len(v.Observed))
	}
	if v.VCPUs != numa.ReadAt(2, "line 28") {
		t.Errorf("vCPUs %v", v.VCPUs)
	}
	// The section of defaults does not replace the VM's own numvcpus, and adds preferHT.
	first := v.Observed[0].Config
	want := numa.Config{
		Hardware: numa.ReadAt(13, "line 7"), VCPUs: numa.ReadAt(12, "line 8"), Memory: numa.ReadAt(24*numa.GiB, "line 9"),
		CoresPerSocket: numa.AssumedFor(1, "cpuid.coresPerSocket is not there: 1 by default"),
		CPUHotAdd:      numa.AssumedFor(false, "vcpu.hotadd is not there: off by default"),
		MemoryHotAdd:   numa.AssumedFor(false, "mem.hotadd is not there: off by default"),
		CPUReservation: numa.AssumedFor(0, "sched.cpu.min is not there: 0 by default"), MemoryReservation: numa.AssumedFor(numa.Bytes(0), "sched.mem.min is not there: 0 by default"),
		MemoryReservationLocked: numa.AssumedFor(false, "sched.mem.pin is not there: off by default"),
		Settings:                numa.ReadAt(numa.Settings{{Key: "numa.vcpu.preferHT", Value: "TRUE"}}, "lines from 14 on"),
	}
	if !reflect.DeepEqual(first, want) {
		t.Errorf("config\n%+v\nwant\n%+v", first, want)
	}
	if got := l.Paths(); !reflect.DeepEqual(got, []string{"/vmfs/volumes/5a1f-77/sql01/sql01.vmx"}) {
		t.Errorf("paths %q", got)
	}
	hosts := []numa.Host{
		{ID: "esx01.example.com", Name: "esx01.example.com", At: "life.log:1", Release: numa.ReadAt(numa.ESXi65+2, "line 1"), Build: numa.ReadAt(8294253, "line 1"),
			CPUModel: numa.ReadAt("Intel(R) Xeon(R) CPU E5-2630 v4 @ 2.20GHz", "line 3"),
			Packages: numa.ReadAt(2, "line 4"), Cores: numa.ReadAt(20, "line 4"), Threads: numa.ReadAt(40, "line 4")},
		{ID: "esx02.example.com", Name: "esx02.example.com", At: "life.log:25", Release: numa.ReadAt(numa.ESXi80+1, "line 25"), Build: numa.ReadAt(21495797, "line 25")},
	}
	if !reflect.DeepEqual(l.Hosts, hosts) {
		t.Errorf("hosts\n%+v\nwant\n%+v", l.Hosts, hosts)
	}
}

func TestFacts(t *testing.T) {
	l := read(t, "a.log", `2017-03-01T08:00:00.100Z| vmx| I125: DICT numvcpus = "2"
2017-03-01T08:00:00.100Z| vmx| W110: NUMA and VCPU hot add are incompatible.  Forcing UMA
2017-03-01T08:00:00.100Z| vmx| I125: numa: Setting.vcpu.maxPerVirtualNode=2 to match cpuid.coresPerSocket
2017-03-01T08:00:00.100Z| vmx| W110: NUMA: automatic VM sizing request ignored
2017-03-01T08:00:00.100Z| vmx| I125: numa: VCPU 0: VPD 0 (PPD 0)
2017-03-01T08:00:00.100Z| vmx| I125: numaHost: VCPU 1 VPD 0 PPD 1 NodeMask 3
2017-03-01T08:00:00.100Z| vmx| I125: numaHost: memSlice 0 PPD 0 - 0 BPN [ 0x0 - 0x100 )
2017-03-01T08:00:00.100Z| vmx| I125: DICT displayName = "x"
2017-03-01T08:00:00.100Z| vmx| I125: numa: Not autosizing due to either numa.vcpu.maxPerVirtualNode manual setting or manual Cores per Node user override.
`)
	var got []string
	for _, f := range l.File().Facts {
		got = append(got, fmt.Sprintf("%d:%d %s: %s = %v %s", f.Line, f.Col, f.Subject, f.Name, f.Value, f.Unit))
	}
	equal(t, "facts", got, []string{
		"1:54 VM: vCPUs = 2 ",
		"2:38 VM: forcing UMA = NUMA and VCPU hot add are incompatible.  Forcing UMA ",
		"3:38 VM: vCPUs per VPD to match cores per socket = 2 ",
		"4:38 VM: message = NUMA: automatic VM sizing request ignored ",
		"5:38 VM VCPU 0: VPD = 0 ", "5:38 VM VCPU 0: PPD = 0 ",
		"6:38 VM VCPU 1: VPD = 0 ", "6:38 VM VCPU 1: PPD = 1 ", "6:38 VM VCPU 1: NodeMask = 0x3 ",
		"7:38 VM memSlice 0: PPD = 0 ", "7:38 VM memSlice 0: memory = 1024 KiB",
		"8:57 VM x: name = x ",
		"9:38 VM x: not autosized = Not autosizing due to either numa.vcpu.maxPerVirtualNode manual setting or manual Cores per Node user override. ",
	})
}

// TestOneLiner reads the output of the vmdumper one-liner: no time stamps, VMs
// between empty lines, one of them without NUMA lines and one twice in a row.
func TestOneLiner(t *testing.T) {
	in := `[root@esx01:~] vmdumper -l | cut -d \/ -f 2-5 | while read path; do ...
DICT                  numvcpus = "2"
DICT                   memSize = "1024"
DICT               displayName = "a"
numa: VCPU 0: VPD 0 (PPD 0)
numa: VCPU 1: VPD 0 (PPD 0)
numaHost: 1 virtual nodes, 2 virtual sockets, 1 physical domains

DICT     ethernet0.displayname = "Ethernet"
DICT                  numvcpus = "1"
DICT                   memSize = "512"
DICT               displayName = "b"


   DICT               displayName = "c"
   DICT                  numvcpus = "1"
   numaHost: 1 VCPUs 1 VPDs 1 PPDs
   numaHost: VCPU 0 VPD 0 PPD 0
   DICT               displayName = "c2"
   DICT                  numvcpus = "1"
   numaHost: 1 VCPUs 1 VPDs 1 PPDs
   numaHost: VCPU 0 VPD 0 PPD 0
numaHost: VCPU 0 VPD 0 PPD 0
`
	for _, form := range []struct {
		name string
		in   string
	}{
		{"LF", in}, {"CRLF", strings.ReplaceAll(in, "\n", "\r\n")}, {"CR", strings.ReplaceAll(in, "\n", "\r")}, {"UTF-16", utf16(in)},
	} {
		t.Run(form.name, func(t *testing.T) {
			l := read(t, "x.txt", form.in)
			equal(t, "observations", summaries(l), []string{
				"vmware.log x.txt:2  host= start=power-on vcpus=2 memory=1 GB VPDs=[0 0] PPDs=[0 0] counts=1/1/2 slices=[]",
				"vmware.log x.txt:9  host= start= vcpus=1 memory=512 MB VPDs=[] PPDs=[] counts=0/0/0 slices=[]",
				"vmware.log x.txt:15  host= start=power-on vcpus=1 memory=0 B VPDs=[0] PPDs=[0] counts=1/1/0 slices=[]",
				"vmware.log x.txt:19  host= start=power-on vcpus=1 memory=0 B VPDs=[0] PPDs=[0] counts=1/1/0 slices=[]",
			})
			equal(t, "warnings", warnings(l), nil)
			var names []string
			for _, v := range l.VMs() {
				names = append(names, v.ID+" "+v.Name)
			}
			equal(t, "VMs", names, []string{"a a", "b b", "c c", "c2 c2"})
		})
	}
}

func utf16(s string) string {
	out := []byte{0xFF, 0xFE}
	for i := range len(s) {
		out = append(out, s[i], 0)
	}
	return string(out)
}

func TestEnvelopes(t *testing.T) {
	const m = "numa: Invalid NUMA cookie."
	for _, tt := range []struct{ in, stamp, message string }{
		{"2017-04-14T07:33:29.270Z| vmx| I125: " + m, "2017-04-14T07:33:29.270Z", m},
		{"2014-08-17T15:14:38.716+01:00| vcpu-0| W110: " + m, "2014-08-17T15:14:38.716+01:00", m},
		{"2014-08-17T15:14:38.716+01:00| vmx| I120+ " + m, "2014-08-17T15:14:38.716+01:00", m},
		{"2014-08-17T15:14:38.716Z| vmx| " + m, "2014-08-17T15:14:38.716Z", m},
		{"2024-01-29T15:56:03.930Z In(05) vmx " + m, "2024-01-29T15:56:03.930Z", m},
		{"2024-01-29T15:56:03.930Z In(05) vmx - " + m, "2024-01-29T15:56:03.930Z", m},
		{"2024-01-29T15:56:03.930123Z No(00)+ vcpu-12 - " + m, "2024-01-29T15:56:03.930123Z", m},
		{"Aug 20 20:09:04.597: vmx| " + m, "", m},
		{"Jan 24 00:37:47: vmx| " + m, "", m},
		{m, "", m},
		{"2024-01-29 15:56:03 something else altogether", "", "2024-01-29 15:56:03 something else altogether"},
		{"2024-01-29T15:56:03.930Z", "", "2024-01-29T15:56:03.930Z"},
		{"2024-01-29T15:56:03.930Z In(05)", "", "2024-01-29T15:56:03.930Z In(05)"},
		{"2024-01-29T15:56:03.930Z| vmx", "", "2024-01-29T15:56:03.930Z| vmx"},
		{"", "", ""},
	} {
		_, stamp, message := open([]byte(tt.in))
		if string(stamp) != tt.stamp || string(message) != tt.message {
			t.Errorf("%s: %q, %q; want %q, %q", tt.in, stamp, message, tt.stamp, tt.message)
		}
	}
}

func TestTwice(t *testing.T) {
	block := "numaHost: NUMA config: consolidation= 1 preferHT= 0\nnumaHost: 1 VCPUs 1 VPDs 1 PPDs\nnumaHost: VCPU 0 VPD 0 PPD 0\n"
	other := "numaHost: NUMA config: consolidation= 1 preferHT= 0\nnumaHost: 1 VCPUs 1 VPDs 1 PPDs\nnumaHost: VCPU 0 VPD 0 PPD 1\n"
	for _, tt := range []struct {
		name, in string
		want     int
	}{
		{"the same", "DICT numvcpus = \"1\"\n" + block + block, 1},
		{"another topology", "DICT numvcpus = \"1\"\n" + block + other, 2},
		{"the same after a checkpoint", "DICT numvcpus = \"1\"\n" + block + strings.Replace(block, "numaHost: 1", "numa: Resuming from checkpoint using VPD = 1\nnumaHost: 1", 1), 2},
		{"with its settings", "DICT numvcpus = \"1\"\n" + block + "DICT numvcpus = \"1\"\n" + block, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := read(t, "a.log", tt.in).Observations()
			if len(o) != tt.want {
				t.Fatalf("%d observations, want %d", len(o), tt.want)
			}
			for _, one := range o {
				if one.Config.VCPUs.Value != 1 {
					t.Errorf("an observation without the settings: %+v", one)
				}
			}
		})
	}
}

// TestHotAdd reads the topology that a hot add prints, without settings of its own.
// TestStarts tells a power-on from a VM that went on with the topology it had.
func TestStarts(t *testing.T) {
	const head = "2026-01-01T08:00:00.000Z In(05) vmx - "
	begin := head + "Log for VMware ESX pid=1 version=8.0.1 build=build-21495797 option=Release\n"
	settings := func(more string) string {
		return begin + head + "DICT numvcpus = \"24\"\n" + head + "DICT memSize = \"4096\"\n" + more + head + "PowerOn\n"
	}
	for _, tt := range []struct{ name, in, want string }{
		{"restores a suspended VM", settings(head + "CPT: Restoring checkpoint /vmfs/volumes/a/db-1.vmss\n"), "checkpoint"},
		{"reverts to a snapshot with memory", settings(head + "CPT: Restoring checkpoint db-Snapshot1.vmsn\n"), "checkpoint"},
		{"names the file of a suspended VM", settings(head + "DICT checkpoint.vmState = \"db-1.vmss\"\n" + head + "NumVCPUs 24\n" + head + "numa: Hot add is enabled and vNUMA hot add is disabled, forcing UMA.\n"), "checkpoint"},
		{"names no file", settings(head + "DICT checkpoint.vmState = \"\"\n"), "power-on"},
		{"arrives by vMotion", settings(head + "Migrate_Open: Restoring from <10.0.0.2> with migration id 1446046703473901\n"), "checkpoint"},
		{"is suspended later", settings(head + "ConfigDB: Setting checkpoint.vmState = \"db-1.vmss\"\n"), "power-on"},
		{"restores after its first power-on", settings(head + "ConfigDB: Setting numa.autosize.cookie = \"240012\"\n" + head + "CPT: Restoring checkpoint db-1.vmss\n"), "checkpoint"},
	} {
		list := read(t, "vmware.log", tt.in).Observations()
		if len(list) != 1 || string(list[0].Start) != tt.want {
			t.Errorf("a log that %s: %+v, want one %s", tt.name, list, tt.want)
		}
	}
}

// TestStoredSize derives the virtual nodes from a size that is in force.
func TestStoredSize(t *testing.T) {
	const dict = "DICT numvcpus = \"24\"\nDICT memSize = \"4096\"\n"
	for _, tt := range []struct{ name, in, want string }{
		{"reused", dict + "numa: Reusing virtual NUMA topology numa.autosize.vcpu.maxPerVirtualNode=12 vcpus per node.\n", "2 line 3: 12 vCPUs per VPD"},
		{"restored", dict + "numa: Resuming from checkpoint using VPD = 8\n", "3 line 3: 8 vCPUs per VPD"},
		{"stored now", dict + "ConfigDB: Setting numa.autosize.cookie = \"240012\"\nConfigDB: Setting numa.autosize.vcpu.maxPerVirtualNode = \"10\"\n", "3 line 4: 10 vCPUs per VPD"},
		{"of cores per socket", dict + "numa: Setting.vcpu.maxPerVirtualNode=2 to match cpuid.coresPerSocket\n", "12 line 3: 2 vCPUs per VPD"},
		{"in the settings only", dict + "DICT numa.autosize.vcpu.maxPerVirtualNode = \"10\"\nnuma: Invalid NUMA cookie.\n", "0 "},
		{"beside the VCPU lines", "DICT numvcpus = \"2\"\nDICT memSize = \"4096\"\nnuma: Resuming from checkpoint using VPD = 1\nnumaHost: 2 VCPUs 1 VPDs 1 PPDs\n", "1 line 4"},
		{"beside hot add", dict + "numa: Resuming from checkpoint using VPD = 12\nnuma: Hot add is enabled and vNUMA hot add is disabled, forcing UMA.\n", "1 line 4: forcing UMA"},
		{"of vCPUs that only a line counts", "DICT memSize = \"4096\"\nDICT numa.autosize.cookie = \"240012\"\nNumVCPUs 24\nnuma: Resuming from checkpoint using VPD = 12\n", "2 line 4: 12 vCPUs per VPD"},
	} {
		l := read(t, "vmware.log", tt.in)
		o := l.Observations()[0]
		if got := fmt.Sprint(o.VPDCount.Value, " ", o.VPDCount.Origin.Where); got != tt.want {
			t.Errorf("a size that is %s: %q, want %q", tt.name, got, tt.want)
		}
		equal(t, tt.name, warnings(l), nil)
	}
}

// TestStatedVCPUs takes the count of vCPUs from a line where the settings have none.
func TestStatedVCPUs(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"DICT displayName = \"db\"\nDICT numa.vcpu.min = \"4\"\nNumVCPUs 16\n", "16 line 3: NumVCPUs"},
		{"DICT memSize = \"4096\"\nNumVCPUs 1\n", "1 line 2: NumVCPUs"},
		{"numaHost: 4 VCPUs 1 VPDs 1 PPDs\n", "4 line 1: the summary"},
		{"numa: VCPU 0: VPD 0 (PPD 0)\nnuma: VCPU 1: VPD 0 (PPD 0)\n", "2 lines 1 to 2"},
		{"DICT numvcpus = \"8\"\nNumVCPUs 16\n", "8 line 1"},
	} {
		l := read(t, "vmware.log", tt.in)
		n := l.VMs()[0].VCPUs
		if got := fmt.Sprint(n.Value, " ", n.Origin.Where); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.in, got, tt.want)
		}
	}
}

// TestSmallLines reads lines that state a fact and no topology.
func TestSmallLines(t *testing.T) {
	l := read(t, "vmware.log", "DICT numvcpus = \"8\"\nHost: WIN32 NUMA node 1, CPU mask 0x00000000000000f0\nhostCPUID   name: Intel(R) Core(TM)2\n"+
		"llc: maximum vcpus per LLC: 8\nllc: vLLC size: 4\nllc: another message\nnumaHost: 1 mem slices\nnumaHost: memSlice 0 PPD 0 - 1 BPN [ 0x4000000000 - 0x4000000200 )\n")
	var got []string
	for _, f := range l.File().Facts {
		got = append(got, fmt.Sprintf("%d %s: %s %v", f.Line, f.Subject, f.Name, f.Value))
	}
	equal(t, "facts", got, []string{"1 VM: vCPUs 8", "2 node 1: PCPUs 4", "3 host: processor Intel(R) Core(TM)2",
		"4 VM: most vCPUs of a last-level cache 8", "5 VM: vCPUs of a virtual last-level cache 4", "7 VM: memory slices 1", "8 VM memSlice 0: PPDs 0-1", "8 VM memSlice 0: memory 2048"})
}

func TestHotAdd(t *testing.T) {
	o := read(t, "a.log", "Log for VMware ESX pid=1 version=6.5.0 build=build-4564106 option=Release\nHostname=esx01\nDICT numvcpus = \"1\"\nnumaHost: VCPU 0 VPD 0 PPD 0\n"+
		"numaHost: VCPU 0 VPD 0 PPD 0\nnumaHost: VCPU 1 VPD 0 PPD 1\n").Observations()
	if len(o) != 2 || o[0].Config.VCPUs.Value != 1 || o[1].Config.VCPUs.Value != 2 || !slices.Equal(o[1].PPDs.Value, []int{0, 1}) || o[1].Host != "esx01" || o[1].Release.Value != numa.ESXi65 {
		t.Errorf("%+v", o)
	}
}

func TestIncomplete(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"numaHost: VCPU 0 VPD 0 PPD 0\nnumaHost: VCPU 2 VPD 0 PPD 0", ":2 the line of VCPU 1 is missing: the VPDs and PPDs stay unknown"},
		{"numaHost: 3 VCPUs 1 VPDs 1 PPDs\nnumaHost: VCPU 0 VPD 0 PPD 0\nnumaHost: VCPU 1 VPD 0 PPD 0", ":3 found 2 of 3 VCPU lines: the VPDs and PPDs stay unknown"},
		{"DICT numvcpus = \"2\"\nnumaHost: VCPU 0 VPD 0 PPD 0", ":2 found 1 of 2 VCPU lines: the VPDs and PPDs stay unknown"},
		{"DICT numvcpus = \"1\"\nnumaHost: VCPU 0 VPD 0 PPD 0\nnumaHost: VCPU 1 VPD 0 PPD 0", ":3 found 2 VCPU lines, numvcpus is 1"},
		{"numaHost: VCPU 4096 VPD 0 PPD 0", `:1:1 not understood: "numaHost: VCPU 4096 VPD 0 PPD 0"`},
		{"numaHost: VCPU 99999999999 VPD 0 PPD 0", `:1:1 not understood: "numaHost: VCPU 99999999999 VPD 0 PPD 0"`},
		{"numaHost: memSlice 1 PPD 0 - 0 BPN [ 0x0 - 0x1 )", ":1 memSlice 0 is missing: the slices stay unknown"},
		{"numaHost: memSlice 0 PPD 0 - 0 BPN [ 0x1 - 0x0 )", `:1:1 not understood: "numaHost: memSlice 0 PPD 0 - 0 BPN [ 0x1 - 0x0 )"`},
		{"numaHost: 2 mem slices\nnumaHost: memSlice 0 PPD 0 - 0 BPN [ 0x0 - 0x1 )", ":1 found 1 of 2 mem slices: they stay unknown"},
		{"numaHost: 2 mem slices", ":1 2 mem slices are announced, none is listed"},
		{"numaHost: memSlice 0 PPD 0 - 0 BPN [ 0x0 - 0x1 )\nnumaHost: memSlice 0 PPD 0 - 0 BPN [ 0x0 - 0x2 )", ":2:1 memSlice 0 is another than in line 1"},
		{"DICT numvcpus = \"1\"\nDICT numa.autosize.cookie = \"soup\"", `:2:29 numa.autosize.cookie: found "soup", want a cookie such as 120062`},
		{"DICT numvcpus = \"lots\"", `:1:17 DICT numvcpus: found "lots", want a number from 1 to 4096`},
		{"DICT nothing here", `:1:6 DICT: found "nothing here", want key = "value"`},
		{"Log for VMware ESX", `:1:16 Log for VMware: found "ESX", want a product and pid=`},
		{"Log for VMware ESX pid=1 version=next build=build-x", `:1 version: found "next", want a release such as 7.0 U3`},
		{"numa: x\nHOSTINFO: This machine has lots", `:1:1 not understood: "numa: x"`},
		{"2024-01-29T15:56:03.930Z In(05) vmx PowerOn", " no DICT and no numa line: they are written at power-on, look into the older logs of the VM"},
	} {
		got := warnings(read(t, "a.log", tt.in))
		if len(got) == 0 || got[0] != tt.want {
			t.Errorf("%s\ngot  %q\nwant %q", tt.in, got, tt.want)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, in := range []string{"", "hello\nworld\n", "\x00\x01"} {
		l, err := Read("a.log", strings.NewReader(in))
		var syntax *numa.SyntaxError
		if l != nil || !errors.As(err, &syntax) || err.Error() != "a.log:1: found no line of a vmware.log" {
			t.Errorf("%q: %v, %v", in, l, err)
		}
	}
	// What came before a fault stays.
	broken := errors.New("unexpected EOF")
	l, err := Read("a.log", &faulty{strings.NewReader("DICT numvcpus = \"2\"\nnumaHost: VCPU 0 VPD 0 PPD 0\nnuma"), broken})
	if !errors.Is(err, broken) || err.Error() != "a.log: line 3: unexpected EOF" || len(l.Observations()) != 1 {
		t.Errorf("%v, %v", l, err)
	}
	if _, err := Read("a.log", iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Error(err)
	}
}

type faulty struct {
	r   *strings.Reader
	err error
}

func (f *faulty) Read(b []byte) (int, error) {
	if f.r.Len() == 0 {
		return 0, f.err
	}
	return f.r.Read(b)
}

// TestBounds checks that a log made to use up memory does not.
func TestBounds(t *testing.T) {
	var b strings.Builder
	for i := range 1200 {
		fmt.Fprintf(&b, "numa: strange %d\n", i)
	}
	if n := len(read(t, "a.log", b.String()).File().Warnings); n != maxWarnings+1 {
		t.Errorf("%d warnings", n)
	}
}

func FuzzRead(f *testing.F) {
	b := golden.Read(f, "testdata/life.log")
	f.Add(b)
	f.Add([]byte("numa: VCPU 0: VPD 0 (PPD 0)\n\nDICT a = \"b\""))
	f.Add([]byte("Aug 20 20:09:04.597: vmx| NUMA node 0: 1MB, cpus 0x1 0x2"))
	f.Fuzz(func(t *testing.T, in []byte) {
		Detect(in)
		l, err := Read("f.log", strings.NewReader(string(in)))
		if err != nil {
			return
		}
		fleet := numa.Fleet{VMs: l.VMs()}
		if err := fleet.Check(); err != nil {
			t.Fatalf("the VMs do not pass the check: %v", err)
		}
		for _, o := range l.Observations() {
			if len(o.VPDs.Value) != len(o.PPDs.Value) || o.At == "" {
				t.Fatalf("observation %+v", o)
			}
		}
		for _, one := range l.File().Facts {
			if one.Line <= 0 || one.Subject == "" || one.Name == "" {
				t.Fatalf("fact %+v", one)
			}
		}
	})
}

// Observations returns the power-ons of all VMs of the log.
func (l *Log) Observations() []numa.Observation {
	var out []numa.Observation
	for i := range l.vms {
		out = append(out, l.vms[i].observed...)
	}
	return out
}
