package chase

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"unsafe"

	"homenode/measure/guest/cpu"
	"homenode/measure/guest/pages"
)

// PageBytes and PageLines are a Prober's unit and lines for one small page. More lines wake the prefetchers, which fetch the
// page; with fewer the counter and the TLB are most of what is measured.
const (
	PageBytes = 4096
	PageLines = 8
)

// slotBytes is a pair of lines: processors fetch the neighbour of a line with it.
const slotBytes = 128

// most is how many lines a probe may have.
const most = 64

// A Prober measures the latency of single pages, or of other units of memory. A probe flushes some lines of the page from all
// caches and loads each once: one in each part of equal size, at a random place in the part, in random order, new in
// each probe. It only reads, so pages of a file do too. Each load's address needs the value of the one before, of which no bit is taken.
type Prober struct {
	// Detour, for tests, slows pages down: it returns how many loads of a line in L1 follow each load of the page
	// at this address. Nil in measurements.
	Detour func(page uintptr) int

	unit, lines int
	random      *rand.PCG
	offsets     [most]uintptr
	touch       uintptr // a line of the page that is not among them
	none        uintptr // 0, which the compiler does not know
	sink        uintptr
}

// NewProber returns a Prober for units of so many bytes, of which it loads so many lines: PageBytes and PageLines for
// a page, 2 MiB and 16 for a huge one. It is not for several threads.
func NewProber(unit, lines int, seed uint64) (*Prober, error) {
	if !cpu.Precise || !cpu.CanFlush() {
		return nil, errors.New("this processor or system lets programs flush no cache lines")
	}
	if lines < 2 || lines > most || unit%lines != 0 || unit/lines%slotBytes != 0 || unit/lines < 2*slotBytes {
		return nil, fmt.Errorf("no %d lines of %d bytes can be probed", lines, unit)
	}
	return &Prober{unit: unit, lines: lines, random: rand.NewPCG(seed, seed)}, nil
}

// choose draws the lines of the next probe.
func (p *Prober) choose() {
	part := uintptr(p.unit / p.lines)
	slots := uint64(part / slotBytes)
	for i := range p.lines {
		// The remainder's preference for low numbers is below 1 in 10⁹.
		p.offsets[i] = uintptr(i)*part + uintptr(p.random.Uint64()%slots)*slotBytes
	}
	p.touch = (p.offsets[0] + slotBytes) % part // another slot of the first part
	for i := p.lines - 1; i > 0; i-- {
		j := p.random.Uint64() % uint64(i+1)
		p.offsets[i], p.offsets[j] = p.offsets[j], p.offsets[i]
	}
}

// Page probes the unit at p once and returns the nanoseconds of one load, with what the counter and the fences take: Overhead.
func (p *Prober) Page(page unsafe.Pointer) float64 {
	p.choose()
	p.sink += *(*uintptr)(unsafe.Add(page, p.touch)) // the walk through the page tables, before the counter
	for _, offset := range p.offsets[:p.lines] {
		cpu.Flush(unsafe.Add(page, offset))
	}
	cpu.Fence()
	return p.walk(page)
}

// walk loads the lines that were chosen.
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

// walkSlowly is walk with so many more loads of a line in L1 behind each.
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

// Overhead returns what a probe of lines in L1 takes, in nanoseconds of one load: the mean of the middle half of 200 probes of
// the unit at page that flush nothing. A median would be in the steps of the counter.
func (p *Prober) Overhead(page unsafe.Pointer) float64 {
	detour := p.Detour
	p.Detour = nil
	defer func() { p.Detour = detour }()
	var ns [200]float64
	for i := range ns {
		p.choose()
		p.walk(page) // brings them to L1
		ns[i] = p.walk(page)
	}
	slices.Sort(ns[:])
	sum := 0.0
	for _, v := range ns[50:150] {
		sum += v
	}
	return sum / 100
}

// Sweep probes units of memory, by their numbers in it, so often each: first all once, then all again. out has the
// samples of a unit together, repeats of each. The thread that calls must be pinned: cpu.On. A page of a
// file that was cut short meanwhile is an error.
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

// Visit probes each of some units once, in this order of their indices, and puts what each took into out, by index. The thread that
// calls must be pinned: cpu.On. A page of a file that was cut short meanwhile is an error.
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

// guarded turns the fault of a page that is no longer there into an error.
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
