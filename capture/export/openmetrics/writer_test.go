package openmetrics

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/homenode/internal/golden"
	"example.org/homenode/numa"
)

var start = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// write writes the ticks and returns the file and the warnings.
func write(t *testing.T, path string, most int, ticks func(yield func(*numa.Tick))) (string, []string) {
	t.Helper()
	w, err := New(path)
	if err != nil {
		t.Fatal(err)
	}
	if most > 0 {
		w.spool.most = most
	}
	ticks(func(tick *numa.Tick) {
		if err := w.Add(tick); err != nil {
			t.Fatal(err)
		}
	})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	b := golden.Read(t, path)
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		t.Fatalf("beside the file: %v, %v; want nothing", entries, err)
	}
	return string(b), w.Warnings()
}

// three is three ticks with every kind of value and name.
func three(yield func(*numa.Tick)) {
	all := ^numa.Counters(0)
	yield(&numa.Tick{Host: `esx"01\`, Time: start, Has: numa.HasFree | numa.HasState, Free: 9 * numa.GiB, State: numa.Soft,
		Nodes: []numa.NodeTick{{ID: 0, Has: numa.HasTotal | numa.HasFree, Total: 64 * numa.GiB, Free: 1}, {ID: 1, Has: numa.HasCore, Core: 1.25}},
		VMs: []numa.VMTick{
			{GID: 7, Name: "a\nb", Has: numa.HasHomes | numa.HasMemory | numa.HasMoves, Homes: numa.SetOf(0), Local: numa.GiB, Remote: 0, Moves: numa.Moves{All: 2}},
			{GID: -1, Name: "x\xff", Has: numa.HasReady, Ready: 0.1},
			{GID: -1, Name: "same", Has: numa.HasReady, Ready: 0.2},
		}})
	yield(&numa.Tick{Host: "other", Time: start, VMs: []numa.VMTick{{GID: 7, Name: "a\nb", Has: all, Local: 1 << 52, Ready: math.NaN(), CoStop: math.Inf(1),
		OnNode: []numa.MemoryOnNode{{Node: 1, Guest: 5, Overhead: -1}}}}})
	yield(&numa.Tick{Host: `esx"01\`, Time: start.Add(5250 * time.Millisecond), Since: 5250 * time.Millisecond,
		Nodes: []numa.NodeTick{{ID: 0}, {ID: 1}},
		VMs: []numa.VMTick{
			{GID: 7, Name: "a\nb", Has: numa.HasHomes | numa.HasMemory | numa.HasMoves, Homes: numa.SetOf(1), Local: 0, Remote: numa.GiB, Moves: numa.Moves{All: 3}},
			{GID: -1, Name: "same", Has: numa.HasReady, Ready: 0.3},
			{GID: -1, Name: "same", Has: numa.HasReady, Ready: 0.4},
		}})
	// A host that states no nodes: they are those that were home nodes.
	for i, homes := range []numa.NodeSet{numa.SetOf(2), numa.SetOf(3), 0} {
		yield(&numa.Tick{Host: "other", Time: start.Add(time.Duration(i+1) * time.Second), VMs: []numa.VMTick{{GID: 8, Has: numa.HasHomes, Homes: homes}}})
	}
	yield(&numa.Tick{Host: `esx"01\`, Time: start.Add(5250*time.Millisecond + 999*time.Microsecond), Has: numa.HasFree})
}

func TestExposition(t *testing.T) {
	got, warnings := write(t, filepath.Join(t.TempDir(), "out"), 0, three)
	golden.Equal(t, []byte(got), "testdata/three.om")
	want := []string{`host esx"01\: OpenMetrics lacks ticks that are not later than the one before: 1`,
		`host esx"01\: OpenMetrics lacks VM same at ticks that show several of this name and one or no scheduler group: 1`}
	if !slices.Equal(warnings, want) {
		t.Errorf("warnings %q, want %q", warnings, want)
	}
}

// TestSpool checks that the file does not depend on how much fits in memory.
func TestSpool(t *testing.T) {
	many := func(yield func(*numa.Tick)) {
		for i := range 200 { // more than three chunks
			tick := &numa.Tick{Host: "h", Time: start.Add(time.Duration(i) * time.Second), Has: numa.HasFree, Free: numa.Bytes(i)}
			if i%2 == 0 {
				tick.VMs = []numa.VMTick{{GID: 1, Name: "v", Has: numa.HasMoves, Moves: numa.Moves{All: 1}}}
			}
			yield(tick)
		}
	}
	want := "# TYPE homenode_host_memory_free_bytes gauge\n# UNIT homenode_host_memory_free_bytes bytes\n# HELP homenode_host_memory_free_bytes Free memory of the host.\n"
	for i := range 200 {
		want += fmt.Sprintf("homenode_host_memory_free_bytes{host=\"h\"} %d %d\n", i, start.Unix()+int64(i))
	}
	want += "# TYPE homenode_vm_numa_migrations counter\n# HELP homenode_vm_numa_migrations NUMA migrations, since the capture began.\n"
	for i := range 100 {
		want += fmt.Sprintf("homenode_vm_numa_migrations_total{host=\"h\",vm=\"v\",gid=\"1\"} %d %d\n", i+1, start.Unix()+int64(2*i))
	}
	want += "# EOF\n"
	for _, most := range []int{0, 16, 100 * 16, 163 * 16} {
		if got, _ := write(t, filepath.Join(t.TempDir(), "out"), most, many); got != want {
			t.Errorf("with %d bytes in memory:\n%s\nwant\n%s", most, got, want)
		}
	}
}

func FuzzLabel(f *testing.F) {
	f.Add("a\\n\n\"b")
	f.Fuzz(func(t *testing.T, value string) {
		value = text(value)
		got := string(AppendLabel([]byte("a"), "b", value))
		body, ok := strings.CutPrefix(got, `a,b="`)
		if ok {
			body, ok = strings.CutSuffix(body, `"`)
		}
		var back strings.Builder
		for i := 0; ok && i < len(body); i++ {
			c := body[i]
			ok = c != '"' && c != '\n'
			if c == '\\' && i+1 < len(body) {
				i++
				switch c = body[i]; c {
				case 'n':
					c = '\n'
				case '"', '\\':
				default:
					ok = false
				}
			}
			back.WriteByte(c)
		}
		if !ok || back.String() != value {
			t.Fatalf("label %q is written as %s", value, got)
		}
	})
}

// BenchmarkWriter writes an hour of 200 VMs, 5 seconds apart, 5 values each.
func BenchmarkWriter(b *testing.B) {
	tick := &numa.Tick{Host: "esx01.example.com"}
	for i := range 200 {
		tick.VMs = append(tick.VMs, numa.VMTick{GID: int64(i), Name: fmt.Sprintf("app%04d", i), VCPUs: 4,
			Has: numa.HasMemory | numa.HasReady | numa.HasMoves, Local: 7 * numa.GiB, Ready: 0.0123})
	}
	path := filepath.Join(b.TempDir(), "out.om")
	b.ReportAllocs()
	for b.Loop() {
		w, err := New(path)
		if err != nil {
			b.Fatal(err)
		}
		for i := range 720 {
			tick.Time = start.Add(time.Duration(i) * 5 * time.Second)
			if err := w.Add(tick); err != nil {
				b.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
	}
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(info.Size())
	b.ReportMetric(float64(b.N)*720*200*5/b.Elapsed().Seconds(), "points/s")
}

func TestAllOrNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	golden.Write(t, path, []byte("before"))
	unchanged := func(what string) {
		t.Helper()
		b, err := os.ReadFile(path)
		entries, dirErr := os.ReadDir(dir)
		if err != nil || dirErr != nil || string(b) != "before" || len(entries) != 1 {
			t.Errorf("after %s: %q, %v, %v, %v; want the file of before alone", what, b, entries, err, dirErr)
		}
	}
	w, err := New(path)
	if err != nil {
		t.Fatal(err)
	}
	w.Abort()
	unchanged("Abort")
	for what, err := range map[string]error{"Close": w.Close(), "Add": w.Add(&numa.Tick{Time: start})} {
		if !errors.Is(err, os.ErrClosed) {
			t.Errorf("%s after Abort: %v, want %v", what, err, os.ErrClosed)
		}
	}
	for _, tt := range []struct {
		tick numa.Tick
		want string
	}{
		{numa.Tick{Host: "a", Time: time.Unix(-1, 0)}, "tick of host a at 1969-12-31T23:59:59Z: found a time before 1970"},
		{numa.Tick{Host: "a", Time: start, Nodes: []numa.NodeTick{{ID: 3, Has: numa.HasFree}, {ID: 3, Has: numa.HasFree}}},
			`tick of host a at 2026-11-20T12:00:00Z: found {host="a",node="3"} twice`},
	} {
		w, err := New(path)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := w.Add(&tt.tick); err == nil || err.Error() != tt.want {
				t.Errorf("Add: %v, want %s", err, tt.want)
			}
		}
		if err := w.Close(); err == nil || err.Error() != tt.want {
			t.Errorf("Close: %v, want %s", err, tt.want)
		}
		unchanged(tt.want)
	}
	if _, err := New(filepath.Join(dir, "none", "out")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("New in no folder: %v, want %v", err, os.ErrNotExist)
	}
}
