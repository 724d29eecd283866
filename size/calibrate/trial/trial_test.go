package trial

import (
	"fmt"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"

	"example.org/homenode/numa/unit"
	"example.org/homenode/size/calibrate"
	"example.org/homenode/size/iocost"
	"example.org/homenode/source/benchmark"
	"example.org/homenode/source/benchmark/hostload"
)

// hciBlock is one block of HCIBench's text.
func hciBlock(test, iops, throughput string) string {
	return fmt.Sprintf("Test Case Name: %s\nDatastore: CUST\n====\nJOB_NAME: job0\nNumber of VMs: 18\nI/O per Second: %s IO/S\nThroughput: %s MB/s\nRead Latency: 2.03 ms\n\n", test, iops, throughput)
}

func read(t *testing.T, name, text string) *benchmark.Results {
	t.Helper()
	res, err := benchmark.Read(name, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func rows(t *testing.T, text string) []hostload.Row {
	t.Helper()
	out, err := hostload.Read("cpu.csv", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

var network = calibrate.Options{
	Transmit: unit.Exactly[unit.CyclesPerBit](0.163, unit.Published, "b-network", ""),
	Receive:  unit.Exactly[unit.CyclesPerBit](0.373, unit.Published, "b-network", ""),
}

// vsan are the six tests of b-vsan and what b-vsan-bits makes of them, recomputed: thousands
// of cycles for each I/O, and of storage alone.
var vsan = []struct {
	test, iops, throughput, load string
	kilo, storage, half          float64
}{
	{"32k-100rdpct-100randompct", "721,317.28", "22,540.00", "78,1,27.2,27.2", 640.5, 519.2, 0.05},
	{"32k-0rdpct-100randompct", "285,892.55", "8,934.00", "88,1,35.5,40", 1825.9, 1391.3, 0.05},
	{"32k-70rdpct-100randompct", "602,702.73", "18,834.00", "95,1,36,37.6", 935.8, 737.7, 0.05},
	{"1024k-100rdpct-0randompct", "22,575.50", "22,574.00", "60,1,27.2,25.6", 15681, 11965, 0.5},
	{"1024k-0rdpct-0randompct", "15,174.08", "15,171.00", "60,1,31.2,31.2", 23329, 16717, 0.5},
	{"1024k-70rdpct-0randompct", "19,740.90", "19,738.00", "62,1,34.4,33.2", 18540, 13072, 0.5},
}

func TestHCIBench(t *testing.T) {
	var text, table strings.Builder
	table.WriteString("test,cpu GHz,idle GHz,tx Gb/s,rx Gb/s\n")
	for i, r := range vsan {
		text.WriteString(hciBlock(fmt.Sprintf("fio-8vmdk-90ws-%s-2500lt-17328858%02d", r.test, i), r.iops, r.throughput))
		table.WriteString(r.test + "," + r.load + "\n")
	}
	o := &Options{Path: iocost.VSANESA, Hosts: 6, Host: 115.2 * unit.GHz, Limit: 5000, Loads: [][]hostload.Row{rows(t, table.String())}}
	trials, notes, err := Gather([]*benchmark.Results{read(t, "some/folder/cluster.txt.gz", text.String())}, o)
	if err != nil || len(notes) > 0 {
		t.Fatal(err, notes)
	}
	r := calibrate.Costs(trials, network)
	if len(r.Costs) != len(vsan) || len(r.Left) > 0 {
		t.Fatalf("%d costs, left out %+v", len(r.Costs), r.Left)
	}
	for i, row := range vsan {
		tr := trials[i]
		if tr.Source != "cluster.txt" || tr.Place != fmt.Sprintf("some/folder/cluster.txt.gz:%d", 4+9*i) || tr.Started != fmt.Sprintf("2024-11-29 13:10:%02d", i) {
			t.Errorf("%s: from %s, %s, begun %s", tr.Test, tr.Source, tr.Place, tr.Started)
		}
		for _, c := range r.Costs {
			if c.Kind != tr.Kind {
				continue
			}
			if got := float64(c.PerIO.Value) / 1000; math.Abs(got-row.kilo) > row.half {
				t.Errorf("%s: %.2f k, want %.1f", row.test, got, row.kilo)
			}
			if got := float64(c.Storage.Value) / 1000; math.Abs(got-row.storage) > row.half {
				t.Errorf("%s: %.2f k of storage, want %.1f", row.test, got, row.storage)
			}
		}
	}
	// Both reads are at the limit: 18 × 8 × 5,000, of 32 KiB each.
	want := []string{
		"some/folder/cluster.txt.gz:4: 721,317 IOPS are the configured limit (720,000 IOPS), not what the cluster can do; their cost holds",
		"some/folder/cluster.txt.gz:31: 22,576 IOPS are the configured limit (22,500 IOPS), not what the cluster can do; their cost holds",
	}
	if !reflect.DeepEqual(r.Doubts, want) {
		t.Errorf("doubts %q, want %q", r.Doubts, want)
	}
}

const iometerHead = `'Test Type,Test Description
0,
'Version
1.1.0
'Time Stamp
2024-12-17 10:00:00:123
'Access specifications
'Access specification name,default assignment
512 B read,2
'size,% of size,% reads,% random,delay,burst,align,reply
512,100,100,100,0,1,512,0
'Access specification name,default assignment
512 B write,2
'size,% of size,% reads,% random,delay,burst,align,reply
512,100,0,100,0,1,512,0
'Access specification name,default assignment
mix,2
'size,% of size,% reads,% random,delay,burst,align,reply
512,50,100,100,0,1,512,0
4096,50,100,100,0,1,4096,0
'End access specifications
'Results
'Target Type,Target Name,Access Specification Name,# Managers,# Workers,# Disks,IOps,Read IOps,Write IOps,MBps (Decimal),% CPU Utilization
`

// TestIometer holds rows of b-nvme: 15.49 % of 4 GHz at 4,040 IOPS are 153.4 kHz for each
// I/O, 19.45 % at 4,874 are 159.6.
func TestIometer(t *testing.T) {
	text := iometerHead + `ALL,All,512 B read,1,1,1,4040.000000,4040.000000,0,2.068480,15.490000
ALL,All,512 B write,1,1,1,4874.000000,0,4874.000000,2.495488,19.450000
ALL,All,mix,1,1,1,4874.000000,4874.000000,0,2.495488,19.450000
ALL,All,512 B read,1,1,1,4040.000000,4040.000000,0,2.068480,115.490000
ALL,All,512 B read,1,1,1,0.000000,0,0,0.000000,5.000000
ALL,All,512 B read,1,1,1,4040.000000,4040.000000,0,2.068480,
`
	trials, _, err := Gather([]*benchmark.Results{read(t, "results.csv", text)}, &Options{Path: iocost.NVMe, Guest: 4 * unit.GHz, VCPU: 2 * unit.GHz})
	if err != nil {
		t.Fatal(err)
	}
	r := calibrate.Costs(trials, network)
	if len(r.Costs) != 2 {
		t.Fatalf("%+v", r)
	}
	for i, want := range []float64{153.4, 159.6} {
		c := r.Costs[i]
		if got := float64(c.PerIO.Value) / 1000; math.Abs(got-want) > 0.05 || c.Scope != calibrate.Guest || c.PerIO.Source != "results.csv" || c.Runs != 1 {
			t.Errorf("%s: %.2f k of the %s in %d runs; want %.1f of the guest in one", c.Kind, got, c.Scope, c.Runs, want)
		}
	}
	if got, want := fmt.Sprint(r.Costs[0].Started), "[2024-12-17 10:00:00:123]"; got != want {
		t.Errorf("begun %s, want %s", got, want)
	}
	wantLeft(t, r, "results.csv:26: it mixes I/Os of several sizes: no cost of one kind follows",
		"results.csv:27: found a CPU use of 115.49 %, want at most 100 %", "results.csv:28: 0 I/Os a second: no I/O has no cost",
		"results.csv:29: its CPU use is not known")
	trials, _, _ = Gather([]*benchmark.Results{read(t, "results.csv", text)}, &Options{Path: iocost.NVMe})
	if got, want := trials[0].Unusable, "its CPU use is 15.49 % of what is not known: --guest-cpu"; got != want {
		t.Errorf("without --guest-cpu: %s, want %s", got, want)
	}
}

func wantLeft(t *testing.T, r *calibrate.Result, want ...string) {
	t.Helper()
	var got []string
	for _, l := range r.Left {
		got = append(got, l.Place+": "+l.Reason)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("left out:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestFio(t *testing.T) {
	document := func(options, read, write, more string) string {
		return `{"fio version":"fio-3.36","timestamp":1700000100,"jobs":[{"jobname":"j","elapsed":100,"eta":0,"job options":{` + options + `},
"read":{"total_ios":` + read + `e1,"iops":` + read + `,"bw_bytes":` + read + `e4},"write":{"total_ios":` + write + `e1,"iops":` + write + `,"bw_bytes":` + write + `e4}` + more + "}]}\n"
	}
	cpu := `,"usr_cpu":10.5,"sys_cpu":20.25`
	o := &Options{Path: iocost.NVMe, Guest: 8 * unit.GHz, VCPU: 2 * unit.GHz}
	for _, tt := range []struct {
		name, text string
		kind       iocost.Kind
		iops       unit.IORate
		cpu        unit.Hz
		unusable   string
	}{
		{"read", document(`"rw":"randread","bs":"4k"`, "1000", "0", cpu), iocost.Kind{Path: iocost.NVMe, Block: 4096, Read: 1, Random: 1}, 1000, 615e6, ""},
		{"clones", document(`"rw":"write","bs":"1M","numjobs":"4"`, "0", "1000", cpu), iocost.Kind{Path: iocost.NVMe, Block: 1 << 20, Random: 0}, 1000, 2460e6, ""},
		{"mix", document(`"rw":"randrw","rwmixread":"70","bs":"8192B"`, "700", "300", cpu), iocost.Kind{Path: iocost.NVMe, Block: 8192, Read: 0.7, Random: 1}, 1000, 615e6, ""},
		{"mix without its share", document(`"rw":"rw","bs":"8k"`, "500", "500", cpu), iocost.Kind{Path: iocost.NVMe, Block: 8192, Read: 0.5, Random: 0}, 1000, 615e6, ""},
		{"write of two sizes", document(`"rw":"randwrite","bs":"4k,16k"`, "0", "10", cpu), iocost.Kind{Path: iocost.NVMe, Block: 16384, Random: 1}, 10, 615e6, ""},
		{"two sizes", document(`"rw":"randrw","bs":"4k,16k"`, "10", "10", cpu), iocost.Kind{Path: iocost.NVMe}, 20, 0, "it mixes I/Os of several sizes: no cost of one kind follows"},
		{"range", document(`"rw":"randread","bsrange":"4k-16k"`, "10", "0", cpu), iocost.Kind{Path: iocost.NVMe}, 10, 0, "it mixes I/Os of several sizes: no cost of one kind follows"},
		{"no size", document(`"rw":"randread"`, "10", "0", cpu), iocost.Kind{Path: iocost.NVMe}, 10, 0, "it states no block size"},
		{"no direction", document(`"bs":"4k"`, "10", "0", cpu), iocost.Kind{Path: iocost.NVMe}, 10, 0, "it states no block size"},
		{"other reads", document(`"rw":"randrw","bs":"8k"`, "700", "300", cpu), iocost.Kind{Path: iocost.NVMe}, 1000, 0, "it was to make 50 % reads, but made 70 %"},
		{"no CPU", document(`"rw":"randread","bs":"4k"`, "10", "0", ""), iocost.Kind{Path: iocost.NVMe, Block: 4096, Read: 1, Random: 1}, 10, 0, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			trials, _, err := Gather([]*benchmark.Results{read(t, "fio.json", tt.text)}, o)
			if err != nil || len(trials) != 1 {
				t.Fatal(trials, err)
			}
			tr := trials[0]
			if tr.Kind != tt.kind || tr.IOPS.Value != tt.iops || tr.Unusable != tt.unusable || tr.Started != "2023-11-14 22:13:20" {
				t.Errorf("%+v, %v, %q, begun %s; want %+v, %v, %q", tr.Kind, tr.IOPS.Value, tr.Unusable, tr.Started, tt.kind, tt.iops, tt.unusable)
			}
			switch {
			case (tr.Load == nil) != (tt.cpu == 0):
				t.Errorf("load %+v", tr.Load)
			case tr.Load != nil && (math.Abs(float64(tr.Load.CPU.Value-tt.cpu)) > 1 || tr.Load.Scope != calibrate.Process):
				t.Errorf("%v of the %s, want %v of the process", tr.Load.CPU.Value, tr.Load.Scope, tt.cpu)
			}
		})
	}
}

// TestCutOff checks that nothing of a text that ends too early is used, wherever it ends.
func TestCutOff(t *testing.T) {
	whole := hciBlock("fio-8vmdk-90ws-32k-100rdpct-100randompct-2500lt-1732885897", "721,317.28", "22,540.00")
	o := &Options{Path: iocost.VSANESA, Hosts: 6, Loads: [][]hostload.Row{rows(t, "test,cpu GHz\n32k-100rdpct,78\n")}}
	used := 0
	end := strings.Index(whole, " MB/s") + len(" MB/s")
	for n := range whole {
		res, err := benchmark.Read("cut.txt", strings.NewReader(whole[:n]))
		if err != nil {
			continue // too short to tell what it is
		}
		trials, _, err := Gather([]*benchmark.Results{res}, o)
		if err != nil {
			t.Fatal(err)
		}
		r := calibrate.Costs(trials, network)
		if len(r.Costs) > 0 {
			used++
			if n < end || r.Costs[0].Each[0] != 77.0/77*unit.Cycles(78e9*6/721317.28) || len(r.Doubts) > 0 {
				t.Fatalf("%q is used: %+v", whole[:n], r)
			}
			continue
		}
		if len(r.Left)+len(res.AllWarnings()) == 0 {
			t.Errorf("%q is left out, and nothing says so", whole[:n])
		}
	}
	if used != len(whole)-end {
		t.Errorf("%d ends are used, want the %d after the throughput", used, len(whole)-end)
	}
	trials, _, err := Gather([]*benchmark.Results{read(t, "cut.txt", whole[:end-12])}, o)
	if err != nil {
		t.Fatal(err)
	}
	wantLeft(t, calibrate.Costs(trials, network), "cut.txt:4: it states no throughput: it is not whole")
}

const resText = `Datastore     = store
=============================
JOB_NAME	= job0
VMs		= 16
IOPS		= 26833.38 IO/S
THROUGHPUT	= 104.82 MB/s
=============================
`

// TestOwnCPU checks what an older -res.txt states: the CPU of the hosts, in percent.
func TestOwnCPU(t *testing.T) {
	const name = "fio-4vmdk-100ws-4k-0rdpct-100randompct-4th-1700000001-res.txt"
	usage := "Resource Usage:\nCPU USAGE	= 45.5%\n"
	idle := calibrate.Reading[unit.Hz]{Value: unit.GHz}
	o := &Options{Path: iocost.VSANESA, Hosts: 4, Host: 100 * unit.GHz, Idle: &idle}
	for _, tt := range []struct {
		name, text string
		o          *Options
		cpu        float64
		reason     string
	}{
		{"stated", resText + usage, o, 45.5e9, ""},
		{"of what", resText + usage, &Options{Path: iocost.VSANESA, Hosts: 4}, 0, "its CPU use is 45.5 % of what is not known: --host-cores and --core"},
		{"impossible", resText + "CPU USAGE = 145.5%\n", o, 0, "found a CPU use of 145.5 %, want at most 100 %"},
		{"two jobs", resText + strings.ReplaceAll(resText, "job0", "job1") + usage, o, 0, "the CPU use in the file is that of all 2 jobs together"},
		{"a table counts more", resText + usage, &Options{Path: iocost.VSANESA, Hosts: 4, Host: 100 * unit.GHz, Loads: [][]hostload.Row{nil, rows(t, "test,cpu %\n4k-0rdpct,50\n")}}, 50e9, ""},
		{"the first table counts most", resText + usage, &Options{Path: iocost.VSANESA, Hosts: 4, Host: 100 * unit.GHz, Loads: [][]hostload.Row{rows(t, "test,cpu GHz\n4k-0rdpct,60\n"), rows(t, "test,cpu %\n4k-0rdpct,50\n")}}, 60e9, ""},
		{"percent of what", resText + usage, &Options{Path: iocost.VSANESA, Hosts: 4, Loads: [][]hostload.Row{rows(t, "test,cpu %\n4k-0rdpct,50\n")}}, 0, "cpu.csv:2: its CPU use is in percent of what is not known: --host-cores and --core"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			trials, notes, err := Gather([]*benchmark.Results{read(t, name, tt.text)}, tt.o)
			if err != nil || len(notes) > 0 {
				t.Fatal(err, notes)
			}
			tr := trials[len(trials)-1]
			switch {
			case tr.Unusable != tt.reason:
				t.Errorf("%q, want %q", tr.Unusable, tt.reason)
			case tt.reason == "" && (tr.Load == nil || math.Abs(float64(tr.Load.CPU.Value)-tt.cpu) > 1 || tr.Load.Hosts != 4 || tr.Load.Scope != calibrate.Host):
				t.Errorf("%+v, want %v of 4 hosts", tr.Load, tt.cpu)
			}
		})
	}
}

func TestMatch(t *testing.T) {
	text := hciBlock("fio-8vmdk-90ws-4k-100rdpct-100randompct-1700000001", "1,000.00", "3.91") +
		hciBlock("fio-8vmdk-90ws-4k-100rdpct-100randompct-1700000002", "1,000.00", "3.91") +
		hciBlock("fio-8vmdk-90ws-64k-100rdpct-100randompct-1700000003", "1,000.00", "62.50") +
		hciBlock("fio-8vmdk-90ws-64k-0rdpct-100randompct-1700000004", "1,000.00", "62.50")
	for _, tt := range []struct{ table, want, err, note string }{
		{"4k,1", "1 1 0 0", "", ""},
		{"4K-100RDPCT,1", "1 1 0 0", "", ""},
		{"1700000002,2\n1700000001,1", "1 2 0 0", "", ""},
		{"fio-8vmdk-90ws-4k-100rdpct-100randompct-1700000001,3\n4k,1", "3 1 0 0", "", ""},
		{"fio-8vmdk-90ws-4k-100rdpct-100randompct,3", "3 3 0 0", "", ""},
		{"k-100rdpct,1", "0 0 0 0", "", `cpu.csv:2: no test is called "k-100rdpct", nor has it as a part of its name`},
		{"64k,1", "", `cpu.csv:2: "64k" fits tests of several kinds (64 KiB read random; 64 KiB write random): write more of the name`, ""},
		{"100rdpct,1", "", `cpu.csv:2: "100rdpct" fits tests of several kinds (4 KiB read random; 64 KiB read random): write more of the name`, ""},
		{"a.txt,1", "", `cpu.csv:2: "a.txt" fits tests of several kinds (4 KiB read random; 64 KiB read random): write more of the name`, ""},
		{"4k,1\n4k-100rdpct,2", "", `cpu.csv:3: "4k-100rdpct" is the test of cpu.csv:2, too (fio-8vmdk-90ws-4k-100rdpct-100randompct-1700000001): one row must say which`, ""},
	} {
		trials, notes, err := Gather([]*benchmark.Results{read(t, "x/a.txt", text)}, &Options{Path: iocost.VSANESA, Hosts: 1, Loads: [][]hostload.Row{rows(t, "test,cpu GHz\n"+tt.table+"\n")}})
		if err != nil || tt.err != "" {
			if err == nil || err.Error() != tt.err {
				t.Errorf("%q: error %v, want %s", tt.table, err, tt.err)
			}
			continue
		}
		var got []string
		for _, tr := range trials {
			cpu := 0.0
			if tr.Load != nil {
				cpu = float64(tr.Load.CPU.Value / unit.GHz)
			}
			got = append(got, fmt.Sprint(cpu))
		}
		if strings.Join(got, " ") != tt.want || strings.Join(notes, "\n") != tt.note {
			t.Errorf("%q: %v, notes %q; want %s, %q", tt.table, got, notes, tt.want, tt.note)
		}
	}
}

// TestSample reads the published text whole, if it is at hand.
func TestSample(t *testing.T) {
	const sample = "../../../../shared/samples/hcibench/hcibench283_res_from_seed.txt"
	text, err := os.ReadFile(sample)
	if err != nil {
		t.Skip("no sample of HCIBench's text beside the checkout")
	}
	trials, _, err := Gather([]*benchmark.Results{read(t, sample, string(text))}, &Options{Path: iocost.VSANESA})
	if err != nil || len(trials) != 6 {
		t.Fatalf("%d trials, %v; want 6", len(trials), err)
	}
	if got, want := trials[5].Unusable, "it has no test case name, which says what its I/Os were: add its line"; got != want { // its block has no name
		t.Errorf("the last: %q, want %q", got, want)
	}
}

// TestLimit checks what a limit of each disk allows all of them: vSAN counts an I/O of more
// than 32 KiB as several.
func TestLimit(t *testing.T) {
	for _, tt := range []struct {
		test  string
		path  iocost.Path
		limit unit.IORate
		want  unit.IORate
	}{
		{"fio-8vmdk-90ws-4k-100rdpct-100randompct", iocost.VSANESA, 5000, 720000},
		{"fio-8vmdk-90ws-48k-100rdpct-100randompct", iocost.VSANESA, 5000, 360000},
		{"fio-8vmdk-90ws-1024k-100rdpct-0randompct", iocost.VSANESA, 5000, 22500},
		{"fio-8vmdk-90ws-1024k-100rdpct-0randompct", iocost.NVMe, 5000, 720000},
		{"fio-8vmdk-90ws-4k-100rdpct-100randompct", iocost.VSANESA, 0, 0},
		{"fio-8vmdk-90ws-4k-100rdpct-100randompct-1000iops", iocost.NVMe, 0, 144000},
		{"fio-8vmdk-90ws-4k-100rdpct-100randompct-40000iops", iocost.NVMe, 0, 720000}, // of a VM: it was reached
	} {
		trials, _, err := Gather([]*benchmark.Results{read(t, "a.txt", hciBlock(tt.test, "720,100.00", "1.00"))}, &Options{Path: tt.path, Limit: tt.limit})
		if err != nil {
			t.Fatal(err)
		}
		if got := trials[0].Limit; got != tt.want {
			t.Errorf("%s on %s at %v each: %v, want %v", tt.test, tt.path, tt.limit, got, tt.want)
		}
	}
}
