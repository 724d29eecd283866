package chase

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"
	"unsafe"

	"example.org/homenode/internal/golden"
	"example.org/homenode/measure/guest/cpu"
	"example.org/homenode/measure/guest/pages"
)

func prober(t *testing.T, unit, lines int) *Prober {
	t.Helper()
	p, err := NewProber(unit, lines, 3)
	if err != nil {
		t.Skip(err)
	}
	return p
}

// Each line of a probe is in another part of the page, all places in a part and all orders come about as often, and the
// line that is touched for the TLB is none of them.
func TestSlots(t *testing.T) {
	for _, tt := range []struct{ unit, lines int }{{PageBytes, PageLines}, {2 << 20, 16}} {
		p := prober(t, tt.unit, tt.lines)
		part := uintptr(tt.unit / tt.lines)
		const probes = 40_000
		places := map[uintptr]int{}
		positions := make([][]int, tt.lines)
		for i := range positions {
			positions[i] = make([]int, tt.lines)
		}
		for range probes {
			p.choose()
			seen := make([]bool, tt.lines)
			for at, offset := range p.offsets[:tt.lines] {
				i := offset / part
				if int(i) >= tt.lines || seen[i] || offset%slotBytes != 0 || offset/slotBytes == p.touch/slotBytes {
					t.Fatalf("lines %v, touched %d", p.offsets[:tt.lines], p.touch)
				}
				seen[i] = true
				places[offset]++
				positions[i][at]++
			}
			if p.touch >= uintptr(tt.unit) {
				t.Fatalf("touched %d", p.touch)
			}
		}
		if tt.unit == PageBytes && len(places) != tt.unit/slotBytes {
			t.Errorf("%d of %d places are used", len(places), tt.unit/slotBytes)
		}
		want := float64(probes) / float64(tt.lines)
		for i, counts := range positions {
			for at, n := range counts {
				if math.Abs(float64(n)-want) > 6*math.Sqrt(want) {
					t.Errorf("part %d is load number %d in %d of %d probes, %.0f expected", i, at, n, probes, want)
				}
			}
		}
	}
}

func TestUnits(t *testing.T) {
	for _, tt := range []struct{ unit, lines int }{{4096, 1}, {4096, 3}, {4096, 32}, {4096, 16384}, {1000, 8}, {0, 8}, {1 << 30, 128}} {
		if _, err := NewProber(tt.unit, tt.lines, 1); err == nil {
			t.Errorf("%d lines of %d bytes", tt.lines, tt.unit)
		}
	}
}

// The samples of a unit are together, each comes from its own pass, and memory stays as it was.
func TestSweep(t *testing.T) {
	p := prober(t, PageBytes, PageLines)
	m := take(t, 64<<10)
	before := string(m.Bytes)
	var order []uintptr
	p.Detour = func(page uintptr) int {
		order = append(order, (page-uintptr(unsafe.Pointer(&m.Bytes[0])))/PageBytes)
		return 0
	}
	out := make([]float64, 3*2)
	if err := p.Sweep(context.Background(), m, []int{5, 0, 15}, 2, out); err != nil {
		t.Fatal(err)
	}
	for i, ns := range out {
		if ns < 0 || math.IsInf(ns, 0) || math.IsNaN(ns) {
			t.Errorf("sample %d is %v", i, ns)
		}
	}
	if want := []uintptr{5, 0, 15, 5, 0, 15}; len(order) != 6 || [6]uintptr(order) != [6]uintptr(want) {
		t.Errorf("order %v", order)
	}
	if string(m.Bytes) != before {
		t.Error("the memory was changed")
	}
	if err := p.Sweep(context.Background(), m, []int{16}, 1, out); err == nil {
		t.Error("a unit behind the end")
	}
	if err := p.Sweep(context.Background(), m, []int{1, 2, 3, 4}, 2, out); err == nil {
		t.Error("8 samples in room for 6")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := p.Sweep(ctx, m, []int{1}, 1, out); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestSweepAllocatesNothing(t *testing.T) {
	p := prober(t, PageBytes, PageLines)
	m := take(t, 64<<10)
	out, units := make([]float64, 16), []int{0, 1, 2, 3}
	if n := testing.AllocsPerRun(10, func() {
		if err := p.Sweep(context.Background(), m, units, 4, out); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// A file may be cut short while it is mapped: that is an error, not the end of the program.
func TestFileIsCutShort(t *testing.T) {
	p := prober(t, PageBytes, PageLines)
	path := filepath.Join(t.TempDir(), "file")
	golden.Write(t, path, make([]byte, 64*os.Getpagesize()))
	m, err := pages.Map(path)
	if err != nil {
		t.Skip(err)
	}
	defer m.Close()
	last := len(m.Bytes)/PageBytes - 1
	out := make([]float64, 1)
	if err := p.Sweep(context.Background(), m, []int{last}, 1, out); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 1); err != nil {
		t.Fatal(err)
	}
	if err := p.Sweep(context.Background(), m, []int{last}, 1, out); err == nil {
		t.Error("no error of a page that is gone")
	}
}

// The detour is behind each line of the pages that it is asked of: it runs so many loads more.
func TestDetour(t *testing.T) {
	p := prober(t, PageBytes, PageLines)
	m := take(t, 64<<10)
	asked := 0
	p.Detour = func(uintptr) int { asked++; return 50 }
	out := make([]float64, 16)
	if err := p.Sweep(context.Background(), m, []int{1, 3}, 8, out); err != nil {
		t.Fatal(err)
	}
	if asked != 16 {
		t.Errorf("asked %d times", asked)
	}
	if p.Overhead(unsafe.Pointer(&m.Bytes[0])); asked != 16 {
		t.Error("the overhead is measured with detours")
	}
}

func BenchmarkPage(b *testing.B) {
	p, err := NewProber(PageBytes, PageLines, 3)
	if err != nil {
		b.Skip(err)
	}
	m, err := pages.Take(context.Background(), pages.Ask{Bytes: 256 << 20, Node: pages.Anywhere})
	if err != nil {
		b.Skip(err)
	}
	defer m.Close()
	err = cpu.On(0, func() error {
		b.ResetTimer()
		for i := range b.N {
			p.Page(unsafe.Pointer(&m.Bytes[i*211%(len(m.Bytes)/PageBytes)*PageBytes]))
		}
		return nil
	})
	if err != nil {
		b.Skip(err)
	}
}
