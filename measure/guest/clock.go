package guest

import (
	"context"
	"runtime"
	"slices"
	"time"

	"example.org/homenode/measure/guest/cpu"
	"example.org/homenode/source/machine"
	"example.org/homenode/source/measured"
)

// clock measures the clock of a core, in Hz, and records minimum and maximum. It is 0 if it cannot be measured.
func (r *run) clock(on int) (hz float64) {
	if r.out.Clock == nil {
		r.out.Clock = &measured.Clock{Counter: counterName(), CounterHz: cpu.Hz()}
	}
	_ = cpu.On(on, func() error {
		hz, _ = cpu.CoreHz()
		return nil
	})
	if c := r.out.Clock; hz > 0 {
		if c.CoreHzLow == 0 || hz < c.CoreHzLow {
			c.CoreHzLow = hz
		}
		c.CoreHzHigh = max(c.CoreHzHigh, hz)
	}
	return hz
}

func counterName() string {
	switch {
	case !cpu.Precise:
		return "clock of the operating system"
	case runtime.GOARCH == "arm64":
		return "CNTVCT"
	}
	return "TSC"
}

// A breather pauses measurements periodically, so that others get the logical processors.
type breather struct{ since time.Time }

// Run time of measuring threads without a pause, and length of the pause.
const (
	stretch = 200 * time.Millisecond
	rest    = 50 * time.Millisecond
)

// breathe pauses at the end of a stretch, and returns the error of the context.
func (b *breather) breathe(ctx context.Context) error {
	switch now := time.Now(); {
	case b.since.IsZero():
		b.since = now
	case now.Sub(b.since) >= stretch:
		if err := sleep(ctx, rest); err != nil {
			return err
		}
		b.since = time.Now()
	}
	return ctx.Err()
}

// sleep waits for d, or until the context ends.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// nodeOf returns the node of a logical processor, -1 if it is unknown.
func nodeOf(m *machine.Machine, number int) int {
	for _, p := range m.Topology.Processors {
		if p.Number == number {
			return p.Node
		}
	}
	return -1
}

// onNode returns the measured logical processors on a node.
func (p *Plan) onNode(node int) (cpus []int) {
	for _, c := range p.CPUs {
		if nodeOf(p.Machine, c) == node {
			cpus = append(cpus, c)
		}
	}
	return cpus
}

// spare returns the processors that may be busy at once: of four or more, one is left to others.
func (p *Plan) spare(cpus []int) []int {
	if len(p.CPUs) >= 4 && len(cpus) == len(p.CPUs) {
		return cpus[:len(cpus)-1]
	}
	return cpus
}

// told returns the reported sizes of the data caches of a logical processor, L1 first, in bytes.
func told(m *machine.Machine, number int) (sizes []int) {
	for level := 1; ; level++ {
		size := 0
		for _, c := range m.Topology.Caches {
			if c.Level == level && c.Type != "instruction" && c.Type != "trace" {
				for _, n := range c.CPUs {
					if n == number {
						size = max(size, int(c.Size))
					}
				}
			}
		}
		if size == 0 {
			return sizes
		}
		sizes = append(sizes, size)
	}
}

// lastCaches returns the total size of the last-level caches of some logical processors, counting each cache once.
func lastCaches(m *machine.Machine, cpus []int) (sum int) {
	counted := map[int]bool{} // processors whose cache is counted
	for _, number := range cpus {
		if counted[number] {
			continue
		}
		size := lastCache(m, number)
		sum += size
		for _, c := range m.Topology.Caches {
			if int(c.Size) == size && slices.Contains(c.CPUs, number) {
				for _, n := range c.CPUs {
					counted[n] = true
				}
			}
		}
	}
	return sum
}

// lastCache returns the size of the last-level cache of a logical processor, 32 MiB if none is reported.
func lastCache(m *machine.Machine, number int) int {
	if sizes := told(m, number); len(sizes) > 0 {
		return sizes[len(sizes)-1]
	}
	return 32 << 20
}
