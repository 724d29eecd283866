package chase

import (
	"context"
	"fmt"
	"time"

	"example.org/homenode/measure/guest/pages"
)

// Smallest is the first size of a ladder, in bytes.
const Smallest = 4 << 10

// Sizes returns the working sets of a ladder, 2^k and 1.5 × 2^k bytes, from 4 KiB to at most most.
func Sizes(most int) []int {
	var sizes []int
	for size := Smallest; size <= most && size > 0; size *= 2 {
		sizes = append(sizes, size)
		if half := size + size/2; half <= most {
			sizes = append(sizes, half)
		}
	}
	return sizes
}

// A Rung is the measurement of one working set.
type Rung struct {
	Bytes int
	NS    []float64 // per load, raw samples
}

// Ladder measures working sets in the memory m, from its start: so many samples of each, each over about the duration each. The
// calling thread must be pinned. line is the size of a cache line. before, if not nil, is called before each size and while its
// lines are linked; it can pause, and its error ends Ladder. After an error the measured rungs are returned too.
func Ladder(ctx context.Context, m *pages.Memory, line int, sizes []int, samples int, each time.Duration, before func(bytes int) error) ([]Rung, error) {
	var rungs []Rung
	for _, size := range sizes {
		if size > len(m.Bytes) {
			return rungs, fmt.Errorf("a working set of %d bytes in memory of %d", size, len(m.Bytes))
		}
		pause := ctx.Err
		if before != nil {
			pause = func() error { return before(size) }
		}
		cycle, err := Link(ctx, m.Bytes[:size], line, uint64(size), pause)
		if err != nil {
			return rungs, err
		}
		if err := cycle.Warm(ctx); err != nil {
			return rungs, err
		}
		ns, err := cycle.Sample(ctx, make([]float64, 0, samples), samples, each)
		if err != nil {
			return rungs, err
		}
		rungs = append(rungs, Rung{size, ns})
	}
	return rungs, nil
}
