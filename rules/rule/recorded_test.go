package rule

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/homenode/capture"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
)

var night = time.Date(2026, 11, 2, 23, 50, 20, 0, time.UTC)

// TestParts: the local and the remote share add up to 100 %, and local memory is truncated as esxtop does.
func TestParts(t *testing.T) {
	for n := range 10001 {
		share := float64(n) / 10000
		var local, remote int
		if _, err := fmt.Sscanf(NL(share)+" "+NLRest(share), "%d %% %d %%", &local, &remote); err != nil || local+remote != 100 || local != n/100 {
			t.Fatalf("%v: %s local, %s remote", share, NL(share), NLRest(share))
		}
	}
}

func TestSpan(t *testing.T) {
	for _, tt := range []struct {
		length time.Duration
		want   string
	}{
		{5 * time.Minute, "2026-11-02 23:50:20 to 23:55:20"},
		{10 * time.Minute, "2026-11-02 23:50:20 to 2026-11-03 00:00:20"},
		{time.Hour, "2026-11-02 23:50:20 to 2026-11-03 00:50:20 (the end of the recording)"},
	} {
		s := capture.Spell{From: night, To: night.Add(tt.length)}
		if got := (&Watch{Host: &capture.Recording{Last: night.Add(time.Hour)}}).Span(&s); got != tt.want {
			t.Errorf("Span of %s: %q, want %q", tt.length, got, tt.want)
		}
	}
}

// TestNL: truncated as esxtop does, but not by what floating point loses.
func TestNL(t *testing.T) {
	for share, want := range map[float64]string{0.7999: "79 %", 0.8: "80 %", 0.29: "29 %", 0.57: "57 %", 1: "100 %", 0.999: "99 %", 0: "0 %"} {
		if got := NL(share); got != want {
			t.Errorf("NL(%v) = %q, want %q", share, got, want)
		}
	}
}

func TestNodes(t *testing.T) {
	for set, want := range map[numa.NodeSet]string{0: "no node", numa.SetOf(1): "node 1", numa.SetOf(0, 2): "nodes 0,2"} {
		if got := Nodes(set); got != want {
			t.Errorf("Nodes(%d) = %q, want %q", set, got, want)
		}
	}
}

func TestHomes(t *testing.T) {
	v := capture.VM{Homes: []capture.HomeTime{{Homes: numa.SetOf(0), Time: 3}, {Homes: numa.SetOf(1), Time: 5}, {Homes: numa.SetOf(0, 1), Time: 2}}}
	if set, share, ok := Homes(&v); set != numa.SetOf(1) || share != 0.5 || !ok {
		t.Errorf("Homes() = %s, %v, %v; want 1, 0.5, true", set, share, ok)
	}
	if set, share, ok := Homes(&capture.VM{}); set != 0 || share != 0 || ok {
		t.Errorf("Homes() of an unknown VM = %s, %v, %v", set, share, ok)
	}
}

// TestBuckets: a time finds its own bucket, and none beside the timeline.
func TestBuckets(t *testing.T) {
	const width = 64 * time.Second
	start := night.UnixNano() / int64(width)
	begin := time.Unix(0, start*int64(width))
	v := capture.VM{Timeline: capture.NewTimeline(width, start, []capture.VMBucket{
		{Ticks: 3, Homes: numa.SetOf(0)}, {}, {Ticks: 2, Homes: numa.SetOf(0, 1)},
	})}
	w := Watch{VM: &v, Host: &capture.Recording{Nodes: []capture.Node{{}, {ID: 1, Timeline: capture.NewTimeline(width, start,
		[]capture.NodeBucket{{Ticks: 3, Frees: 3, Least: 2 << 20}, {Ticks: 1}},
	)}}}}
	for _, tt := range []struct {
		after        time.Duration
		homes        numa.NodeSet
		free, before numa.Bytes
	}{
		{-1, 0, -1, -1},
		{0, numa.SetOf(0), 2 * numa.GiB, -1},
		{width - 1, numa.SetOf(0), 2 * numa.GiB, -1},
		{width, 0, -1, 2 * numa.GiB},
		{2 * width, numa.SetOf(0, 1), -1, 2 * numa.GiB},
		{3 * width, 0, -1, -1},
	} {
		at := begin.Add(tt.after)
		homes, ok := HomesAt(&v, at)
		if homes != tt.homes || ok != (tt.homes != 0) {
			t.Errorf("HomesAt(%s) = %s, %v; want %s", tt.after, homes, ok, tt.homes)
		}
		for before, want := range map[bool]numa.Bytes{false: tt.free, true: tt.before} {
			free, ok := w.FreeAt(1, at, before)
			if !ok {
				free = -1
			}
			if free != want {
				t.Errorf("FreeAt(%s, before %v) = %s, want %s", tt.after, before, free, want)
			}
		}
		if _, ok := w.FreeAt(0, at, false); ok {
			t.Errorf("FreeAt(%s) of a node without a timeline is known", tt.after)
		}
	}
}

func TestReserve(t *testing.T) {
	machine := func(r numa.Release) *numa.Host {
		return &numa.Host{Name: "esx01", Release: numa.ReadAt(r, "release"), Memory: numa.ReadAt(264000*numa.MiB, "memory")}
	}
	const name, minFree = "memory that ESXi keeps free on a node", "minfree (Kernel MinFree MBytes) (C-15, C-23)"
	inferred := []string{"below that amount a node allocates memory elsewhere: inferred from a few hosts with two nodes (C-15)"}
	unknown := append(slices.Clone(inferred), "the release of the host is unknown: 6.0 or later is assumed, which keeps 4 × minFree (C-23)")
	seen := func(bytes numa.Bytes, origin string, assumes []string) Kept {
		return Kept{true, bytes, finding.Evidence{Name: name, Value: bytes.String(), Origin: "derived: " + origin, At: "2026-11-02 23:50:20"}, assumes}
	}
	for _, tt := range []struct {
		name    string
		minFree numa.Bytes
		machine *numa.Host
		nodes   int
		want    Kept
	}{
		{"nothing is known", 0, nil, 0, Kept{}},
		{"minFree alone", numa.GiB, nil, 0, seen(4*numa.GiB, "4 × "+minFree, unknown)},
		{"four nodes", numa.GiB, nil, 4, seen(2*numa.GiB, "4 × "+minFree, unknown)},
		{"5.5", numa.GiB, machine(numa.ESXi55), 0, seen(numa.GiB, "1 × "+minFree, inferred)},
		// The host of the experiment: 13,009 MB.
		{"from its memory", 0, machine(numa.ESXi60), 0, Kept{true, 13009 * numa.MiB, finding.Evidence{Name: name, Value: "12.7 GB", Origin: "derived: memory of the host, release (C-15, C-23)"}, inferred}},
	} {
		w := Watch{Host: &capture.Recording{MinFree: tt.minFree, Last: night, Nodes: make([]capture.Node, tt.nodes)}, Machine: tt.machine}
		if got := w.Reserve(); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

func TestAffinity(t *testing.T) {
	host := func(r numa.Release, option string) *numa.Host {
		h := &numa.Host{Release: numa.ReadAt(r, "release")}
		if option != "?" {
			h.Options = numa.ReadAt(numa.Settings{{Key: "Mem.X", Value: "1"}}, "options")
		}
		if option != "" && option != "?" {
			h.Options.Value = append(h.Options.Value, numa.Setting{Key: ActionAffinity, Value: option})
		}
		return h
	}
	for _, tt := range []struct {
		name    string
		machine *numa.Host
		known   bool
		on      bool
		assumes bool
	}{
		{"unknown host", nil, false, false, false},
		{"4.1 has none", host(numa.ESX41, ""), true, false, false},
		{"8.0", host(numa.ESXi80, ""), true, true, false},
		{"8.0, switched off", host(numa.ESXi80, "0"), true, false, false},
		{"9.1", host(esxi91, ""), true, false, false},
		{"9.1, switched on", host(esxi91, "130"), true, true, false},
		{"options unknown", host(numa.ESXi70, "?"), true, true, true},
	} {
		w := Watch{Machine: tt.machine}
		if a := w.Affinity(); a.Known != tt.known || a.On != tt.on || (a.Assumes != "") != tt.assumes {
			t.Errorf("%s: %+v, want known %v, on %v, assumption %v", tt.name, a, tt.known, tt.on, tt.assumes)
		}
	}
}

// TestWhy: the nearest cause is told, and none that lies elsewhere.
func TestWhy(t *testing.T) {
	spell := capture.Spell{From: night, To: night.Add(time.Hour)}
	rec := &capture.Recording{First: night.Add(-time.Hour), Last: night.Add(2 * time.Hour), Ticks: 541, Covered: 3 * time.Hour} // a tick every 20 s
	for _, tt := range []struct {
		name string
		vm   capture.VM
		want string
	}{
		{"nothing", capture.VM{First: rec.First}, ""},
		{"a move", capture.VM{Changes: []capture.Change{{Time: night, From: 1, To: 2}}}, "it began when its home moved from node 0 to node 1 and the memory stayed behind"},
		{"two ticks before", capture.VM{Changes: []capture.Change{{Time: night.Add(-40 * time.Second), From: 1, To: 2}}}, "it began when its home moved from node 0 to node 1 and the memory stayed behind"},
		{"a move long before", capture.VM{Changes: []capture.Change{{Time: night.Add(-time.Minute), From: 1, To: 2}}}, ""},
		{"a move after", capture.VM{Changes: []capture.Change{{Time: night.Add(time.Second), From: 1, To: 2}}}, ""},
		{"a spill", capture.VM{Spill: spilled(-time.Minute, 0), Spilled: capture.Spill{Time: night, Node: 1, Free: 13 * numa.GiB}}, "it began when new memory went to other nodes although node 1 had 13 GB free (M008)"},
		{"a spill, but most of another", capture.VM{Spill: spilled(-time.Minute, 0), Spilled: capture.Spill{Time: night.Add(time.Hour), Node: 1, Free: 13 * numa.GiB}}, ""},
		{"a spill long before", capture.VM{Spill: spilled(-10*time.Minute, -time.Minute)}, ""},
		{"a spill after", capture.VM{Spill: spilled(time.Minute, 2*time.Minute)}, ""},
		{"a power-on", capture.VM{First: night, Appeared: true}, "it began when the VM appeared, powered on here or migrated from another host"},
		{"a vMotion from esx2", capture.VM{First: night, Appeared: true}, "it began when the VM appeared, by vMotion from esx2"},
		{"a spill after a vMotion", capture.VM{First: night.Add(-40 * time.Second), Appeared: true, Spill: spilled(-time.Minute, 0), Spilled: capture.Spill{Time: night, Node: 1, Free: 13 * numa.GiB}},
			"it began when the VM appeared, powered on here or migrated from another host; new memory went to other nodes although node 1 had 13 GB free (M008)"},
	} {
		w := Watch{Host: rec, VM: &tt.vm}
		_, w.From, _ = strings.Cut(tt.name, " from ")
		var f finding.Finding
		if w.addWhy(&f, &spell); strings.TrimPrefix(f.Message, "; ") != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, f.Message, tt.want)
		}
	}
	early := capture.Spell{From: rec.First, To: night}
	var f finding.Finding
	if (&Watch{Host: rec, VM: &capture.VM{}}).addWhy(&f, &early); f.Message != "; the problem existed when the recording began" {
		t.Errorf("a spell from the beginning: %q", f.Message)
	}
}

// spilled returns a spell of spill from and to so long after the night.
func spilled(from, to time.Duration) capture.Spells {
	return capture.Spells{Count: 1, Longest: capture.Spell{From: night.Add(from), To: night.Add(to)}}
}

// Evidence names the counters as the files of the recording do.
func TestFieldNames(t *testing.T) {
	for _, tt := range []struct {
		formats []string
		want    string
	}{
		{nil, FieldBoth},
		{[]string{"esxtop batch CSV"}, FieldBoth},
		{[]string{"invented"}, FieldBoth},
		{[]string{"esxtop FetchStats"}, "LocalMemoryInKB, RemoteMemoryInKB"},
		{[]string{"esxtop CounterInfo", "esxtop FetchStats"}, "LocalMemoryInKB, RemoteMemoryInKB"},
		{[]string{"output of host commands"}, "localMem, remoteMem (numa-clients) or NLMEM, NRMEM (screen)"},
		{[]string{"esxtop batch CSV", "output of host commands"}, "local and remote memory"},
	} {
		w := &Watch{Rule: &Rule{ID: "M001"}, Host: &capture.Recording{}}
		for _, f := range tt.formats {
			w.Host.Files = append(w.Host.Files, capture.File{Format: f})
		}
		w.Report(finding.Finding{Evidence: []finding.Evidence{Saw("least N%L", "38 %", FieldBoth, time.Time{})}})
		if got := w.Findings[0].Evidence[0].Origin; got != "read: "+tt.want {
			t.Errorf("%v: origin %q, want %q", tt.formats, got, "read: "+tt.want)
		}
	}
}
