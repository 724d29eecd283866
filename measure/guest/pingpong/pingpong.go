// Package pingpong measures how long a cache line takes from one processor to another.
package pingpong

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
	"unsafe"

	"example.org/homenode/measure/guest/cpu"
)

// Method names the method of Swap. Other methods give other results: about twice as much with a word for each direction, stored and
// loaded.
const Method = "compare and swap of one word"

// A Form defines the amount of measurement of a pair.
type Form struct {
	Samples int
	Trips   int // round trips of a sample
}

// Full and Quick are the two forms: some milliseconds, and less than one, for a pair with 50 ns.
var (
	Full  = Form{Samples: 30, Trips: 1000}
	Quick = Form{Samples: 10, Trips: 300}
)

// ErrSlow means that the pair exceeded the time limit: its processors do not run at the same time.
var ErrSlow = errors.New("the two processors do not run at the same time, or others use them")

// patience is the number of failed swaps before the thread checks whether to stop.
const patience = 1 << 12

// A Table is the memory shared by the two threads. The word is alone in 128 bytes, because processors fetch pairs of lines.
type Table struct {
	_    [128]byte
	word uint32 // 0: the turn of the first thread, 1: of the second
	_    [124]byte
	stop atomic.Bool
	_    [127]byte
	here atomic.Int32 // threads in place
}

// WordOffset is the offset of the word in a Table, in bytes.
const WordOffset = unsafe.Offsetof(Table{}.word)

// Swap makes the processors a and b change one word in turn: a from 0 to 1, b from 1 to 0. It appends the samples to out, each the
// nanoseconds of one way: the mean of a form's round trips ÷ 2. An interrupted sample is up to 10,000 times too long, so use
// medians. Swap ends after limit with ErrSlow, or with ctx; in both cases it returns the samples so far.
func Swap(ctx context.Context, a, b int, f Form, limit time.Duration, out []float64) ([]float64, error) {
	return new(Table).Swap(ctx, a, b, f, limit, out)
}

// Swap is the function Swap with this table, which must be zero and is used once: the location of its word changes the result by
// some percent.
func (t *Table) Swap(ctx context.Context, a, b int, f Form, limit time.Duration, out []float64) ([]float64, error) {
	if a == b {
		return out, fmt.Errorf("processor %d cannot swap with itself", a)
	}
	if f.Samples < 1 || f.Trips < 1 {
		return out, fmt.Errorf("%d samples of %d trips", f.Samples, f.Trips)
	}
	cpu.Room(2)
	timed, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	defer context.AfterFunc(timed, func() { t.stop.Store(true) })()
	second := make(chan error, 1)
	go func() {
		second <- cpu.On(b, func() error {
			t.meet()
			t.swap((f.Samples+1)*f.Trips, 1, 0)
			return nil
		})
		t.stop.Store(true) // if pinning failed, the first must not wait
	}()
	samples := make([]float64, 0, f.Samples)
	first := cpu.On(a, func() error {
		t.meet()
		t.swap(f.Trips, 0, 1) // warm-up
		for range f.Samples {
			start := cpu.Start()
			if !t.swap(f.Trips, 0, 1) {
				break
			}
			samples = append(samples, cpu.NS(cpu.End()-start)/float64(2*f.Trips))
		}
		return nil
	})
	if len(samples) < f.Samples {
		t.stop.Store(true)
	}
	out = append(out, samples...)
	switch err := errors.Join(first, <-second); {
	case err != nil:
		return out, err
	case len(samples) == f.Samples:
		return out, nil
	case ctx.Err() != nil:
		return out, ctx.Err()
	}
	return out, ErrSlow
}

// meet waits for the other thread.
func (t *Table) meet() {
	for t.here.Add(1); t.here.Load() < 2 && !t.stop.Load(); {
	}
}

// swap changes the word so many times, and reports whether it completed.
func (t *Table) swap(times int, from, to uint32) bool {
	for times > 0 && !t.stop.Load() {
		times = cpu.Swaps(&t.word, from, to, times, patience)
	}
	return times == 0
}
