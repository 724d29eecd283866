package chase

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"unsafe"

	"example.org/homenode/measure/guest/cpu"
	"example.org/homenode/measure/guest/pages"
)

// PageBytes and PageLines are a Prober's unit and number of lines for one small page. More lines trigger the prefetchers, which fetch
// the page; with fewer lines the counter and the TLB dominate.
const (
	PageBytes = 4096
	PageLines = 8
)

// slotBytes is a pair of lines: processors prefetch the neighbour of a line.
const slotBytes = 128

// most is the maximum number of lines in a probe.
const most = 64

// A Prober measures the latency of single pages, or of other units of memory. A probe flushes some lines of the page from all caches and
// loads each once. There is one line in each part of equal size, at a random position, in random order, new in each probe. A probe only
// reads, so it works with pages of a file. The address of each load depends on the previous value, of which no bit is used.
type Prober struct {
	// Detour, for tests, slows pages down: it returns the number of L1 loads after each load of the page at this address. It is nil in
	// measurements.
	Detour func(page uintptr) int

	unit, lines int
	random      *rand.PCG
	offsets     [most]uintptr
	touch       uintptr // a line of the page that is not among them
	none        uintptr // 0, unknown to the compiler
	sink        uintptr
}

// NewProber returns a Prober for units of so many bytes, of which it loads so many lines: PageBytes and PageLines for a page, 2 MiB and
// 16 for a huge page. It is not safe for concurrent use.
func NewProber(unit, lines int, seed uint64) (*Prober, error) {
	if !cpu.Precise || !cpu.CanFlush() {
		return nil, errors.New("this processor or system lets programs flush no cache lines")
	}
	if lines < 2 || lines > most || unit%lines != 0 || unit/lines%slotBytes != 0 || unit/lines < 2*slotBytes {
		return nil, fmt.Errorf("no %d lines of %d bytes can be probed", lines, unit)
	}
	return &Prober{unit: unit, lines: lines, random: rand.NewPCG(seed, seed)}, nil
}

// choose selects random lines for the next probe.
func (p *Prober) choose() {
	part := uintptr(p.unit / p.lines)
	slots := uint64(part / slotBytes)
	for i := range p.lines {
		// The bias of the remainder towards low numbers is below 1 in 10⁹.
		p.offsets[i] = uintptr(i)*part + uintptr(p.random.Uint64()%slots)*slotBytes
	}
	p.touch = (p.offsets[0] + slotBytes) % part // another slot of the first part
	for i := p.lines - 1; i > 0; i-- {
		j := p.random.Uint64() % uint64(i+1)
		p.offsets[i], p.offsets[j] = p.offsets[j], p.offsets[i]
	}
}

// Page probes the unit at p once and returns the nanoseconds per load, including the counter and the fences: see Overhead.
func (p *Prober) Page(page unsafe.Pointer) float64 {
	p.choose()
	p.sink += *(*uintptr)(unsafe.Add(page, p.touch)) // the page table walk, before timing
	for _, offset := range p.offsets[:p.lines] {
		cpu.Flush(unsafe.Add(page, offset))
	}
	cpu.Fence()
	return p.walk(page)
}

// walk loads the chosen lines.
func (p *Prober) walk(page unsafe.Pointer) float64 {
	if p.Detour != nil {
		if loads := p.Detour(uintptr(page)); loads > 0 {
			return p.walkSlowly(page, loads)
		}
	}
	offsets, none, v := p.offsets[:p.lines], p.none, uintptr(0)
	start := cpu.Start()
	for _, offset := range offsets {
		v = *(*uintptr)(unsafe.Add(page, offset+v&none))
	}
	ticks := cpu.End() - start
	p.sink += v
	return cpu.NS(ticks) / float64(len(offsets))
}

// walkSlowly is walk with additional L1 loads after each load.
func (p *Prober) walkSlowly(page unsafe.Pointer, loads int) float64 {
	offsets, none, v := p.offsets[:p.lines], p.none, uintptr(0)
	line := unsafe.Pointer(&p.offsets)
	start := cpu.Start()
	for _, offset := range offsets {
		v = *(*uintptr)(unsafe.Add(page, offset+v&none))
		for range loads {
			v = *(*uintptr)(unsafe.Add(line, v&none))
		}
	}
	ticks := cpu.End() - start
	p.sink += v
	return cpu.NS(ticks) / float64(len(offsets))
}

// Overhead returns the duration of a probe with lines in L1, in nanoseconds per load: the mean of the middle half of 200 probes of the
// unit at page that flush nothing. A median would only have the resolution of the counter.
func (p *Prober) Overhead(page unsafe.Pointer) float64 {
	detour := p.Detour
	p.Detour = nil
	defer func() { p.Detour = detour }()
	var ns [200]float64
	for i := range ns {
		p.choose()
		p.walk(page) // loads them into L1
		ns[i] = p.walk(page)
	}
	slices.Sort(ns[:])
	sum := 0.0
	for _, v := range ns[50:150] {
		sum += v
	}
	return sum / 100
}

// Sweep probes units of memory, by their numbers in it, repeats times each: all once, then all again. out gets the samples grouped by
// unit. The calling thread must be pinned: cpu.On. A page beyond the end of a truncated file is an error.
func (p *Prober) Sweep(ctx context.Context, m *pages.Memory, units []int, repeats int, out []float64) error {
	if len(out) < len(units)*repeats {
		return fmt.Errorf("no room for %d samples of %d units in %d", repeats, len(units), len(out))
	}
	for _, unit := range units {
		if unit < 0 || unit >= len(m.Bytes)/p.unit {
			return fmt.Errorf("unit %d of %d", unit, len(m.Bytes)/p.unit)
		}
	}
	return guarded(func() error {
		for r := range repeats {
			for i, unit := range units {
				if i%64 == 0 && ctx.Err() != nil {
					return ctx.Err()
				}
				out[i*repeats+r] = p.Page(unsafe.Pointer(&m.Bytes[unit*p.unit]))
			}
		}
		return nil
	})
}

// Visit probes some units once, in the given order of their indices, and stores the durations in out, by index. The calling thread must
// be pinned: cpu.On. A page beyond the end of a truncated file is an error.
func (p *Prober) Visit(ctx context.Context, at []unsafe.Pointer, order []int, out []float64) error {
	return guarded(func() error {
		for k, i := range order {
			if k%64 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			out[i] = p.Page(at[i])
		}
		return nil
	})
}

// guarded converts the fault of a missing page into an error.
func guarded(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			if fault, ok := r.(error); ok {
				err = fmt.Errorf("the memory went away while it was measured: %w", fault)
				return
			}
			panic(r)
		}
	}()
	return f()
}
