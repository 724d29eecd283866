package measured

import (
	"bytes"
	"encoding/binary"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"example.org/homenode/numa"
	"example.org/homenode/source/machine"
)

// full is a result with every part, of a guest with two nodes.
func full() *Result {
	stats := func(ns float64) Stats {
		return Stats{N: 100, Median: ns, Low: .99 * ns, High: 1.01 * ns, Min: .9 * ns, P25: .98 * ns, P75: 1.02 * ns, P99: 1.5 * ns, Drift: .02}
	}
	cell := func(v float64) Cell { s := stats(v); return Cell{Stats: &s} }
	m := &machine.Machine{Identity: machine.Identity{OS: "Debian", Architecture: "amd64", Hypervisor: numa.ReadAt("VMware", "CPUID 0x40000000")},
		Topology: machine.Topology{From: "/sys/devices/system", Sockets: 2, Cores: 4, ThreadsPerCore: 1},
		Limits:   machine.Limits{CPUs: []int{0, 1, 2, 3}}, Missing: []machine.Missing{{Part: "SRAT", Reason: "only root may read it"}}}
	for i := range 4 {
		m.Topology.Processors = append(m.Topology.Processors, machine.Processor{Number: i, Online: true, Allowed: true, Node: i / 2, Socket: i / 2, Core: i})
	}
	for i := range 2 {
		m.Topology.Nodes = append(m.Topology.Nodes, machine.Node{ID: i, CPUs: []int{2 * i, 2*i + 1}, Size: numa.ReadAt(numa.Bytes(8<<30), "/sys"), Distance: []int{10, 20}})
	}
	return &Result{
		Format: Format, Version: Version, Name: "sql01", Homenode: "1.0", Profile: Default, Started: time.Date(2026, 11, 24, 1, 2, 3, 0, time.UTC), Seconds: 41.5,
		Machine: m, Clock: &Clock{Counter: "TSC", CounterHz: 2.6e9, CoreHzLow: 3.6e9, CoreHzHigh: 3.7e9},
		Levels:    []Level{{Name: "L1", Pages: Small, Latency: 1.1, Cycles: 4, From: 4096, To: 32768, Told: 49152}, {Name: "RAM", Pages: Huge, Latency: 98, From: 128 << 20, To: 512 << 20}},
		Rungs:     []Rung{{Pages: Small, Bytes: 4096, Latency: stats(1.1), Level: "L1"}, {Pages: Small, Bytes: 3 << 20, Latency: stats(9)}},
		Latency:   &Matrix{Unit: "ns", From: []int{0, 1}, To: []int{0, 1}, Cells: [][]Cell{{cell(98), cell(151)}, {cell(149), {}}}, Pages: Huge, Bytes: 256 << 20, Placed: true},
		Bandwidth: &Matrix{Unit: "MB/s", From: []int{0}, To: []int{0, 1}, Cells: [][]Cell{{cell(18000), cell(9000)}}, Pages: Huge, Bytes: 256 << 20},
		Threads:   []Rate{{Node: 0, Threads: 1, Mix: "read", MBps: 18000}, {Node: 0, Threads: 2, Mix: "read", MBps: 18500, Knee: true}},
		Loaded:    []LoadPoint{{DelayNs: 50, MBps: 12000, Latency: stats(180)}},
		Cores: &Cores{Method: "compare-and-swap", CPUs: []int{0, 1, 2, 3}, Pairs: []Pair{
			{A: 0, B: 1, Latency: PairStats{N: 30, Median: 26, Min: 25, P25: 25.5, P75: 27}, States: []State{{26, .9}, {105, .1}}, Changes: 13}, {A: 0, B: 2, Latency: PairStats{Median: 110}, Guessed: true}},
			Levels: []GroupLevel{{Name: "L3", Groups: [][]int{{0, 1}, {2, 3}}, Ratio: 4}}},
		Hidden: &Hidden{Answer: SeveralNodes, Says: "s", Method: "fingerprint", Probability: .99, Groups: [][]int{{0, 1}, {2, 3}}, Pages: 256, Blocks: 64, Delta: 52,
			Shares: []Share{{Of: "all", From: []int{0, 1}, Pages: 256, Remote: .5, Low: .44, High: .56}}, Checks: []Check{{Name: "S1 ÷ S2", Found: "4.1", Want: "2 or more", OK: true}},
			Modes: &Modes{Near: 98, Far: 150, Spread: 6, Share: .5}, Histogram: []HistoCount{{95, 120}, {150, 118}}},
		Lost:     &Lost{Seconds: 2, ByHost: .004, ByGuest: .01, Longest: .003, Gaps: 12},
		Steps:    []Step{{Name: "syscall", Latency: stats(170), About: "getppid"}, {Name: "tcp", Where: "one vCPU", Latency: stats(17000)}},
		Compared: []Compared{{Name: "virtual sockets", Predicted: "2 × 2", Measured: "2 × 2", Verdict: Agrees}},
		Trust:    Trust{OK: true, Checks: []Check{{Name: "diagonal", Found: "98 ns", Want: "within 10 % of RAM, 98 ns", OK: true}}},
		Missing:  []machine.Missing{{Part: "fsync", Reason: "no folder was named", Remedy: "--fsync DIR"}},
	}
}

func written(t testing.TB, r *Result) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestRoundTrip(t *testing.T) {
	one := written(t, full())
	wide := []byte{0xff, 0xfe} // as PowerShell redirects
	for _, c := range utf16.Encode([]rune(string(one))) {
		wide = binary.LittleEndian.AppendUint16(wide, c)
	}
	for name, file := range map[string][]byte{"one": one, "UTF-16": wide, "two": append(bytes.Clone(one), one...), "CRLF": bytes.ReplaceAll(one, []byte("\n"), []byte("\r\n"))} {
		all, err := Read("a.json", bytes.NewReader(file))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, r := range all {
			if !reflect.DeepEqual(r.Result, full()) {
				t.Errorf("%s: found %+v", name, r)
			}
		}
		if want := map[string]int{"two": 2}[name]; len(all) != max(want, 1) {
			t.Errorf("%s: found %d results", name, len(all))
		}
	}
	if !Detect(one) || Detect([]byte(`{"format": "homenode-snapshot"`)) {
		t.Error("the beginning is not known, or that of another file is")
	}
}

func TestRefused(t *testing.T) {
	file := string(written(t, full()))
	for _, tt := range []struct{ name, old, new, want string }{
		{"another format", `"homenode-measure"`, `"homenode"`, `a.json:1:1: format: found "homenode", want "homenode-measure"`},
		{"another version", `"version": 1`, `"version": 2`, "a.json:1:1: version: found 2, want 1: a newer homenode reads it"},
		{"unknown field", `"name": "sql01"`, `"nickname": "sql01"`, `found "nickname", which no result of homenode measure has here`},
		{"text for a number", `"seconds": 41.5`, `"seconds": "41.5"`, "seconds: found string, want a number that fits"},
		{"negative latency", `"median": 98,`, `"median": -98,`, "latencyMatrix.cells[0][0]: found -98, want a number that is not negative"},
		{"row too many", "\"from\": [\n      0,\n      1\n    ]", `"from": [0]`, "latencyMatrix.cells: found 2 rows, want 1 as in from"},
		{"more than all", `"remote": 0.5`, `"remote": 1.5`, "hidden.shares[0].remote: found 1.5, want 0 to 1"},
		{"broken", `"profile":`, `"profile"`, "a.json:6:13: profile: invalid character"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			changed := strings.Replace(file, tt.old, tt.new, 1)
			if changed == file {
				t.Fatalf("the file has no %s", tt.old)
			}
			if _, err := Read("a.json", strings.NewReader(changed)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("found %v, want %s", err, tt.want)
			}
		})
	}
	if _, err := Read("a.json", strings.NewReader(`{"format": "homenode-measure", "version": 1}`)); err == nil || err.Error() != "a.json:1:1: machine: found none" {
		t.Errorf("without a machine: found %v", err)
	}
	for _, cut := range []int{0, 1, 200, len(file) - 3} {
		if _, err := Read("a.json", strings.NewReader(file[:cut])); err == nil || !strings.Contains(err.Error(), "cut short") {
			t.Errorf("%d bytes: found %v", cut, err)
		}
	}
}

func TestMetrics(t *testing.T) {
	seen := map[string]float64{}
	for _, m := range full().Metrics() {
		if _, twice := seen[m.Name]; twice || m.Unit == "" {
			t.Errorf("%s: unit %q, or found twice", m.Name, m.Unit)
		}
		seen[m.Name] = m.Value
	}
	for name, want := range map[string]float64{"latency L1, small pages": 1.1, "idle latency node 0 → node 1": 151, "core 0 ↔ 1": 26, "hidden remote share, all, seen from vCPU 0": 50, "latency of far pages, found from inside": 150, "tcp, one vCPU": 17000} {
		if seen[name] != want {
			t.Errorf("%s: found %v, want %v", name, seen[name], want)
		}
	}
	if _, ok := seen["core 0 ↔ 2"]; ok {
		t.Error("a guessed pair became a metric")
	}
}

// TestCutShort checks that the results before one that is cut short are read.
func TestCutShort(t *testing.T) {
	file := string(written(t, full()))
	all, err := Read("a.json", strings.NewReader(file+file[:len(file)/2]))
	if len(all) != 1 || err == nil || !strings.HasPrefix(err.Error(), "a.json:") {
		t.Errorf("got %d results, %v, want 1 and an error with its place", len(all), err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(written(f, full()))
	f.Add([]byte(`{"format": "homenode-measure", "version": 1, "rungs": [{}], "machine": null}`))
	f.Fuzz(func(t *testing.T, file []byte) {
		all, err := Read("a.json", bytes.NewReader(file))
		if err != nil {
			return
		}
		for _, r := range all {
			if again, err := Read("b.json", bytes.NewReader(written(t, r.Result))); err != nil || len(again) != 1 {
				t.Errorf("what was read cannot be written and read: %v", err)
			}
			r.File()
			r.Observation("a.json:1")
		}
	})
}
