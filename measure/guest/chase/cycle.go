// Package chase measures memory latency with dependent loads: the address of each load comes from the previous one. Cycle measures a working set,
// Prober single pages. Both return raw samples and allocate nothing during timing.
package chase

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
	"unsafe"

	"example.org/homenode/measure/guest/cpu"
)

// A Cycle is one random cycle through all cache lines of a piece of memory: each line has the address of the next. It must be dropped before the
// memory is freed.
type Cycle struct {
	at    unsafe.Pointer // the current line
	lines int
	rate  float64 // accesses a second, last measured
}

// unrolled is the number of loads between two tests of the loop's end.
const unrolled = 16

// fewest is the minimum number of loads in a sample: counters of arm64 may step every 40 ns.
const fewest = 64

// Link links the lines of b, each of line bytes, into one cycle by Sattolo's in-place shuffle: every order of the lines is equally likely. b is
// memory outside Go's heap, at least two lines. Its content is overwritten. pause, if not nil, is called every 262,144 lines, some 50 ms; its error
// ends Link.
func Link(ctx context.Context, b []byte, line int, seed uint64, pause func() error) (*Cycle, error) {
	if pause == nil {
		pause = ctx.Err
	}
	if line < int(unsafe.Sizeof(uintptr(0))) || len(b) < 2*line || line%int(unsafe.Sizeof(uintptr(0))) != 0 {
		return nil, errors.New("a cycle needs two lines of whole words")
	}
	base, n := unsafe.Pointer(&b[0]), len(b)/line
	next := func(i int) *uintptr { return (*uintptr)(unsafe.Add(base, i*line)) }
	const look = 1 << 18
	for i := range n {
		if i%look == 0 {
			if err := pause(); err != nil {
				return nil, err
			}
		}
		*next(i) = uintptr(unsafe.Add(base, i*line))
	}
	random := rand.New(rand.NewPCG(seed, uint64(n)))
	for i := n - 1; i > 0; i-- {
		if i%look == 0 {
			if err := pause(); err != nil {
				return nil, err
			}
		}
		a, b := next(i), next(random.IntN(i))
		*a, *b = *b, *a
	}
	return &Cycle{at: base, lines: n}, nil
}

// Lines returns the number of lines in the cycle.
func (c *Cycle) Lines() int { return c.lines }

// Walk follows the cycle from its current line for at least so many loads, and returns the nanoseconds per load. A context cannot interrupt it: ask
// for some milliseconds at most.
func (c *Cycle) Walk(loads int) float64 {
	rounds := max(1, (loads+unrolled-1)/unrolled)
	start := cpu.Start()
	c.at = follow(c.at, rounds)
	ticks := max(cpu.End()-start, 1) // a coarse counter may not have advanced
	ns := cpu.NS(ticks) / float64(rounds*unrolled)
	c.rate = 1e9 / ns
	return ns
}

// follow does rounds × 16 loads from p.
func follow(p unsafe.Pointer, rounds int) unsafe.Pointer {
	for range rounds {
		p = *(*unsafe.Pointer)(p)
		p = *(*unsafe.Pointer)(p)
		p = *(*unsafe.Pointer)(p)
		p = *(*unsafe.Pointer)(p)
		p = *(*unsafe.Pointer)(p)
		p = *(*unsafe.Pointer)(p)
		p = *(*unsafe.Pointer)(p)
		p = *(*unsafe.Pointer)(p)
		p = *(*unsafe.Pointer)(p)
		p = *(*unsafe.Pointer)(p)
		p = *(*unsafe.Pointer)(p)
		p = *(*unsafe.Pointer)(p)
		p = *(*unsafe.Pointer)(p)
		p = *(*unsafe.Pointer)(p)
		p = *(*unsafe.Pointer)(p)
		p = *(*unsafe.Pointer)(p)
	}
	return p
}

// Warm follows the cycle once, or for 262,144 loads if it is longer, to fill the caches.
func (c *Cycle) Warm(ctx context.Context) error {
	const part = 1 << 14
	for done := 0; done < min(c.lines, 1<<18); done += part {
		if err := ctx.Err(); err != nil {
			return err
		}
		c.Walk(min(part, c.lines))
	}
	return nil
}

// Sample appends n samples to out, each the nanoseconds per load over about the duration each (at most 50 ms). The calling thread must be pinned:
// cpu.On.
func (c *Cycle) Sample(ctx context.Context, out []float64, n int, each time.Duration) ([]float64, error) {
	if c.rate == 0 {
		c.Walk(1 << 10)
	}
	each = min(each, 50*time.Millisecond)
	for range n {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		// A preempted walk underestimates the rate, so the next one is shorter. A counter that did not advance overestimates it, hence the cap.
		out = append(out, c.Walk(int(min(max(each.Seconds()*c.rate, fewest), 5e7))))
	}
	return out, nil
}
