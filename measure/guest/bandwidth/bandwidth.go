// Package bandwidth measures memory throughput of one or many threads, and the latency of single loads under that throughput.
package bandwidth

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"example.org/homenode/measure/guest/chase"
	"example.org/homenode/measure/guest/cpu"
)

// A Thread reads or writes its own memory on one processor.
type Thread struct {
	CPU    int
	Memory []byte // outside Go's heap, at least Smallest, larger than the caches; overwritten except by Read
}

// Smallest is the minimum memory of a thread.
const Smallest = 2 * chunk

// Longest limits a measurement by Move or Loaded, so that other tasks get the processors.
const Longest = 200 * time.Millisecond

// Threads returns the numbers of threads of a ramp: 1, 2, 4 … and all.
func Threads(all int) []int {
	var out []int
	for n := 1; n < all; n *= 2 {
		out = append(out, n)
	}
	if all > 0 {
		out = append(out, all)
	}
	return out
}

// Move runs all threads at the same time for d, and returns their total bytes a second. line is the size of a cache line. The context can end it.
func Move(ctx context.Context, k Kind, threads []Thread, line int, d time.Duration) (rate float64, err error) {
	if len(threads) == 0 {
		return 0, errors.New("no thread")
	}
	g, err := start(ctx, k, threads, line, 0, 0)
	if err != nil {
		return 0, err
	}
	g.run(ctx, min(d, Longest))
	return g.end(ctx)
}

// Loaded returns the latency of a load of a pinned chase, in nanoseconds, while threads read with a pause between two lines, and the bytes a second
// of these threads. Without threads the chase runs alone. The cycle's memory must not be that of a thread. coreHz is the clock of the core, needed
// for the pause; pauseNS 0 means no pause. The pause is computation between two loads; the processor may start the next load early.
func Loaded(ctx context.Context, c *chase.Cycle, on int, threads []Thread, line int, pauseNS, coreHz float64, d time.Duration) (ns []float64, rate float64, err error) {
	g, err := start(ctx, Read, threads, line, cpu.DelaySteps(pauseNS, coreHz), 1)
	if err != nil {
		return nil, 0, err
	}
	d = min(d, Longest)
	const each = 2 * time.Millisecond
	first := cpu.On(on, func() (err error) {
		g.meet()
		ns, err = c.Sample(ctx, make([]float64, 0, 1+d/each), int(max(1, d/each)), each)
		return err
	})
	g.stop.Store(true)
	rate, err = g.end(ctx)
	return ns, rate, errors.Join(first, err)
}

// warmFor is the warm-up of a thread: an idle core starts slowly, and lines that were just written must be written back.
const warmFor = 3 * time.Millisecond

// A group is the threads of one measurement.
type group struct {
	here  atomic.Int32  // threads in place
	ready chan struct{} // closed when all are in place, or one has failed
	once  sync.Once
	all   int32
	stop  atomic.Bool
	wait  sync.WaitGroup
	rates []float64
	errs  []error
}

// start pins the threads to their processors, where they wait for all, and for so many others.
func start(ctx context.Context, k Kind, threads []Thread, line, pause, others int) (*group, error) {
	if line != 64 && line != 128 {
		return nil, fmt.Errorf("cache lines of %d bytes", line)
	}
	for _, t := range threads {
		if len(t.Memory) < Smallest {
			return nil, fmt.Errorf("memory of %d bytes for processor %d, at least %d are needed", len(t.Memory), t.CPU, Smallest)
		}
	}
	cpu.Room(len(threads) + others)
	g := &group{all: int32(len(threads) + others), ready: make(chan struct{}), rates: make([]float64, len(threads)), errs: make([]error, len(threads))}
	for i, t := range threads {
		m := newMover(k, t.Memory, line)
		g.wait.Go(func() {
			g.errs[i] = cpu.On(t.CPU, func() error {
				g.meet()
				g.rates[i] = g.move(m, pause)
				return nil
			})
			if g.errs[i] != nil {
				g.stop.Store(true)
				g.once.Do(func() { close(g.ready) })
			}
		})
	}
	return g, nil
}

// meet waits for the others.
func (g *group) meet() {
	if g.here.Add(1) == g.all {
		g.once.Do(func() { close(g.ready) })
	}
	for g.here.Load() < g.all && !g.stop.Load() {
	}
}

// move runs until it is stopped, and returns bytes a second.
func (g *group) move(m *mover, pause int) float64 {
	step := m.step
	if pause > 0 {
		step = func() int { return m.slowly(pause) }
	}
	for begin := cpu.Start(); cpu.Start()-begin < cpu.Ticks(warmFor) && !g.stop.Load(); {
		step()
	}
	for bytes, begin := 0, cpu.Start(); ; {
		if bytes += step(); g.stop.Load() {
			return float64(bytes) * 1e9 / max(cpu.NS(cpu.End()-begin), 1)
		}
	}
}

// run lets the threads work for d after all are in place.
func (g *group) run(ctx context.Context, d time.Duration) {
	<-g.ready
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	g.stop.Store(true)
}

// end waits for the threads.
func (g *group) end(ctx context.Context) (rate float64, err error) {
	g.wait.Wait()
	for _, r := range g.rates {
		rate += r
	}
	return rate, errors.Join(append(g.errs, ctx.Err())...)
}
