package guest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"
	"unsafe"

	"example.org/homenode/internal/stat"
	"example.org/homenode/measure/guest/chase"
	"example.org/homenode/measure/guest/cpu"
	"example.org/homenode/measure/guest/pages"
	"example.org/homenode/source/machine"
	"example.org/homenode/source/measured"
)

// Working sets of the rungs.
const (
	leastLargest = 256 << 20 // minimum of the largest set, if the memory limit allows it
	mostLargest  = 1 << 30
	cachesOver   = 4 // times the last-level cache, so that RAM has a plateau
	rungSamples  = 20
	asSlow       = .85 // relative to single pages of memory: a plateau at least as slow is RAM
)

// memoryTasks returns the tasks for caches and RAM: latency and bandwidth.
func memoryTasks(p *Plan) (out []Task) {
	if len(p.CPUs) == 0 {
		return nil
	}
	kinds := []measured.Pages{measured.Huge, measured.Small}
	switch p.Options.Paging {
	case PagingHuge:
		kinds = kinds[:1]
	case PagingNone:
		kinds = kinds[1:]
	}
	d := 5 * time.Second
	if p.Options.quick() {
		d = 1700 * time.Millisecond
	}
	for i, kind := range kinds {
		if p.Options.quick() && i > 0 {
			p.leave(Memory, fmt.Sprintf("latency by working set, %s pages", kind))
			continue
		}
		sizes := p.workingSets()
		out = append(out, Task{Part: Memory, Name: fmt.Sprintf("latency by working set, %s pages", kind), CPUs: 1, Bytes: int64(sizes[len(sizes)-1]), For: d,
			run: func(ctx context.Context, r *run, d time.Duration) error {
				err := r.rungs(ctx, kind, sizes, d)
				if e := (*noHugeError)(nil); errors.As(err, &e) && p.Options.quick() && p.Options.Paging != PagingHuge {
					return r.insteadOfHuge(err, r.rungs(ctx, measured.Small, sizes, d))
				}
				return err
			}})
	}
	out = append(out, latencyTasks(p)...)
	return append(out, bandwidthTasks(p)...)
}

// leave records that the quick profile skips a task.
func (p *Plan) leave(part Part, name string) {
	if p.Options.asks(part) {
		p.miss(name, "the quick profile leaves it out", "measure without --quick")
	}
}

// workingSets returns the sizes of the rungs, from 4 KiB on. In a quick run the sizes within the caches grow by factors of 2.
func (p *Plan) workingSets() []int {
	last := lastCache(p.Machine, p.CPUs[0])
	most := min(max(leastLargest, 2*cachesOver*last), mostLargest, max(int(p.Memory.Bytes), tinyMemory))
	if p.Options.quick() {
		most = min(most, max(leastLargest/2, cachesOver*last))
	}
	sizes := chase.Sizes(most)
	if p.Options.quick() {
		sizes = slices.DeleteFunc(sizes, func(n int) bool { return n < last/2 && n&(n-1) != 0 })
	}
	return sizes
}

// rungs measures the latency of each working set on the first processor, and identifies caches and RAM.
func (r *run) rungs(ctx context.Context, kind measured.Pages, sizes []int, d time.Duration) error {
	on := r.plan.CPUs[0]
	ask := pages.Ask{Bytes: sizes[len(sizes)-1], Node: pages.Anywhere, Huge: kind == measured.Huge, Step: r.step}
	if len(r.plan.Machine.Topology.Nodes) > 1 {
		// Its own node's memory, if there is any.
		if node := nodeOf(r.plan.Machine, on); slices.Contains(r.plan.Nodes, node) {
			ask.Node, ask.Processors = node, []int{on}
		}
	}
	var rungs []chase.Rung
	err := cpu.On(on, func() (err error) {
		m, err := pages.Take(ctx, ask)
		if err != nil {
			// An error that already has a remedy means that the memory limit was reached.
			if e := (*remedied)(nil); kind == measured.Huge && ctx.Err() == nil && !errors.As(err, &e) {
				err = &noHugeError{remedied{err, hugeRemedy()}}
			}
			return err
		}
		defer func() { err = errors.Join(err, m.Close()) }()
		var b breather
		each := min(max(d/3/time.Duration(len(sizes)*rungSamples), 100*time.Microsecond), 5*time.Millisecond)
		rungs, err = chase.Ladder(ctx, m, cpu.LineBytes(), sizes, rungSamples, each, func(int) error { return b.breathe(ctx) })
		if err == nil && kind == measured.Huge {
			r.byPages, r.byChase = pagesBeside(ctx, m), rungs[len(rungs)-1].NS
		}
		return err
	})
	if len(rungs) == 0 {
		return err
	}
	r.levels(kind, on, rungs)
	return err
}

// levels adds rungs to the result, and the caches and memory identified from their plateaus.
func (r *run) levels(kind measured.Pages, on int, rungs []chase.Rung) {
	hz := r.clock(on)
	var bytes []int
	var ns []float64
	first := len(r.out.Rungs)
	for _, rung := range rungs {
		s, ok := r.stats(rung.NS)
		if !ok {
			continue
		}
		bytes, ns = append(bytes, rung.Bytes), append(ns, s.Median)
		r.out.Rungs = append(r.out.Rungs, measured.Rung{Pages: kind, Bytes: int64(rung.Bytes), Latency: s})
	}
	sizesTold := told(r.plan.Machine, on)
	for _, p := range chase.Plateaus(bytes, ns, sizesTold) {
		if r.byPages > 0 && p.NS >= asSlow*r.byPages {
			p.Name = "RAM" // the guest's part of a cache may be so small that its plateau is missing
			if n := len(r.out.Levels); n > 0 && r.out.Levels[n-1].Name == p.Name && r.out.Levels[n-1].Pages == kind {
				last := &r.out.Levels[n-1]
				last.To, last.Latency, last.Cycles = int64(p.To), p.NS, p.NS*hz/1e9
				continue
			}
		}
		l := measured.Level{Name: p.Name, Pages: kind, Latency: p.NS, Cycles: p.NS * hz / 1e9, From: int64(p.From), To: int64(p.To)}
		for i, size := range sizesTold {
			if l.Name == fmt.Sprintf("L%d", i+1) {
				l.Told = int64(size)
			}
		}
		r.out.Levels = append(r.out.Levels, l)
		for i := first; i < len(r.out.Rungs); i++ {
			if g := &r.out.Rungs[i]; g.Bytes >= l.From && g.Bytes <= l.To {
				g.Level = l.Name
			}
		}
	}
}

// A noHugeError means that the system provides no huge pages.
type noHugeError struct{ remedied }

// hugeRemedy describes how to get huge pages.
func hugeRemedy() string {
	if runtime.GOOS == "windows" {
		return `the right "Lock pages in memory" for this account (secpol.msc, User Rights Assignment), and a new login`
	}
	return "transparent huge pages: /sys/kernel/mm/transparent_hugepage/enabled set to madvise or always; /sys and /proc mounted"
}

// Unwrap returns the error with the remedy.
func (e *noHugeError) Unwrap() error { return &e.remedied }

// insteadOfHuge records that small pages were measured although the quick profile skips them, because there are no huge ones.
func (r *run) insteadOfHuge(noHuge, small error) error {
	if small != nil {
		return errors.Join(noHuge, small)
	}
	name := fmt.Sprintf("latency by working set, %s pages", measured.Small)
	r.out.Missing = slices.DeleteFunc(r.out.Missing, func(m machine.Missing) bool { return m.Part == name })
	return noHuge
}

// pagesBeside returns the latency of single pages of the memory of the preceding chase, in ns, or 0 if pages cannot be probed.
//
// Lines of a huge page are probed far from each other: lines within 4 KiB are in one row of the memory chip, which a chase seldom hits
// twice.
func pagesBeside(ctx context.Context, m *pages.Memory) float64 {
	const repeats = 8
	unit, lines := chase.PageBytes, chase.PageLines
	if m.HugeBytes > 0 {
		unit, lines = blockBytes, 2*chase.PageLines
	}
	prober, err := chase.NewProber(unit, lines, 1)
	if err != nil || len(m.Bytes) < unit {
		return 0
	}
	units := make([]int, min(256, len(m.Bytes)/unit))
	for i := range units {
		units[i] = i * (len(m.Bytes) / unit) / len(units)
	}
	ns := make([]float64, len(units)*repeats)
	if prober.Sweep(ctx, m, units, repeats, ns) != nil {
		return 0
	}
	return stat.MedianOf(ns) - prober.Overhead(unsafe.Pointer(&m.Bytes[0]))
}

// stats summarises samples, and records whether they were disturbed.
func (r *run) stats(samples []float64) (measured.Stats, bool) {
	s, ok := statsOf(samples)
	r.disturbed = r.disturbed || s.Disturbed != ""
	return s, ok
}
