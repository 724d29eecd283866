package guest

import (
	"context"
	"errors"
	"time"

	"example.org/homenode/internal/stat"
	"example.org/homenode/measure/guest/bandwidth"
	"example.org/homenode/measure/guest/chase"
	"example.org/homenode/measure/guest/cpu"
	"example.org/homenode/measure/guest/pages"
	"example.org/homenode/source/measured"
)

// Rounds of bandwidth measurement for each number of threads, and the least growth that counts as more.
const (
	rampRounds = 3
	kneeMore   = 1.05
)

// loadPlaces returns the nodes whose processors load memory, or a single place anywhere.
func (p *Plan) loadPlaces() grid {
	g := p.grid()
	if len(g.from) == 0 {
		g.from, g.cpus = []int{pages.Anywhere}, [][]int{p.CPUs}
	}
	return g
}

func threadTasks(p *Plan) []Task {
	g := p.loadPlaces()
	moves := 0
	for _, cpus := range g.cpus {
		moves += len(bandwidth.Threads(len(p.spare(cpus)))) * len(bandwidth.Kinds) * rampRounds
	}
	d := time.Duration(moves)*cellMove*3/2 + time.Duration(len(g.from))*time.Second
	return []Task{{Part: Memory, Name: "bandwidth by threads", CPUs: len(p.spare(p.CPUs)), Bytes: int64(g.bytes), For: d, run: g.ramp}}
}

// ramp measures each mix of reads and writes with 1, 2, 4 … threads of each node in its own memory.
func (g grid) ramp(ctx context.Context, r *run, d time.Duration) error {
	huge := r.plan.Options.Paging != PagingNone
	for i, node := range g.from {
		if err := g.rampOf(ctx, r, node, r.plan.spare(g.cpus[i]), d/time.Duration(len(g.from)), &huge); err != nil {
			return err
		}
	}
	return nil
}

func (g *grid) rampOf(ctx context.Context, r *run, node int, cpus []int, d time.Duration, huge *bool) (err error) {
	m, err := r.onNode(ctx, node, g.bytes, huge)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	ramp := bandwidth.Threads(len(cpus))
	kinds := bandwidth.Kinds
	rates := make([][][]float64, len(kinds))
	for k := range rates {
		rates[k] = make([][]float64, len(ramp))
	}
	var b breather
	start := time.Now()
	for round := range rampRounds {
		if round > 0 && time.Since(start) > d {
			break
		}
		for k, kind := range kinds {
			for n, threads := range ramp {
				if err := b.breathe(ctx); err != nil {
					return err
				}
				// A thread's part of the memory does not depend on the number of threads: otherwise caches would hold less of it with few
				// threads.
				all := threadsOn(cpus, m.Bytes)
				rate, err := bandwidth.Move(ctx, kind, all[:min(threads, len(all))], cpu.LineBytes(), cellMove)
				if err != nil {
					return err
				}
				rates[k][n] = append(rates[k][n], rate/1e6)
			}
		}
	}
	for k, kind := range kinds {
		knee := false
		for n, threads := range ramp {
			rate := measured.Rate{Node: node, Threads: threads, Mix: kind.String(), MBps: stat.MedianOf(rates[k][n])}
			if !knee && n+1 < len(ramp) && stat.MedianOf(rates[k][n+1]) < kneeMore*rate.MBps {
				knee, rate.Knee = true, true
			}
			r.out.Threads = append(r.out.Threads, rate)
		}
	}
	return nil
}

// pauses of the loading threads, in ns, from the lightest load to the heaviest.
var pauses = []float64{20000, 5000, 1000, 500, 200, 100, 50, 0}

const (
	loadedRounds = 3
	loadedEach   = 200 * time.Millisecond
)

func loadedTasks(p *Plan) []Task {
	const name = "latency under load"
	switch {
	case !p.Options.asks(Memory):
		return nil
	case !p.Options.Loaded:
		p.miss(name, "it was not asked for, since it slows other VMs of the host", "--loaded")
		return nil
	case len(p.CPUs) < 2:
		p.miss(name, "it needs two logical processors", "")
		return nil
	}
	g := p.loadPlaces()
	d := time.Duration(len(pauses)*loadedRounds)*(loadedEach+rest)*5/4 + 4*time.Second
	return []Task{{Part: Memory, Name: name, CPUs: len(p.spare(g.cpus[0])), Bytes: p.Memory.Bytes, For: d, run: g.loaded}}
}

// loaded chases on one processor of the first node while its other processors read.
func (g grid) loaded(ctx context.Context, r *run, _ time.Duration) (err error) {
	huge := r.plan.Options.Paging != PagingNone
	cpus := r.plan.spare(g.cpus[0])
	if len(cpus) < 2 {
		return errors.New("the first node has one logical processor that is measured")
	}
	m, err := r.onNode(ctx, g.from[0], int(r.plan.Memory.Bytes), &huge)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	half := len(m.Bytes) / 2 &^ 4095
	var b breather
	cycle, err := chase.Link(ctx, m.Bytes[:half], cpu.LineBytes(), 1, func() error { return b.breathe(ctx) })
	if err != nil {
		return err
	}
	threads := threadsOn(cpus[1:], m.Bytes[half:])
	hz := r.clock(cpus[0])
	latency, rates := make([][]float64, len(pauses)), make([][]float64, len(pauses))
	for range loadedRounds {
		for i, pause := range pauses {
			ns, rate, err := bandwidth.Loaded(ctx, cycle, cpus[0], threads, cpu.LineBytes(), pause, hz, loadedEach)
			if err != nil {
				return err
			}
			latency[i], rates[i] = append(latency[i], ns...), append(rates[i], rate/1e6)
			if err := sleep(ctx, rest); err != nil {
				return err
			}
		}
	}
	for i, pause := range pauses {
		if s, ok := r.stats(latency[i]); ok {
			r.out.Loaded = append(r.out.Loaded, measured.LoadPoint{DelayNs: pause, MBps: stat.MedianOf(rates[i]), Latency: s})
		}
	}
	return nil
}
