package chase

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"
	"unsafe"

	"example.org/homenode/measure/guest/pages"
)

// take returns memory that the test gives back.
func take(t *testing.T, size int) *pages.Memory {
	t.Helper()
	m, err := pages.Take(context.Background(), pages.Ask{Bytes: size, Node: pages.Anywhere})
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return m
}

func TestCycleVisitsEveryLineOnce(t *testing.T) {
	m := take(t, 1<<20)
	for _, tt := range []struct{ size, line int }{{128, 64}, {192, 64}, {4096, 64}, {3 << 10, 128}, {1 << 20, 64}, {1<<20 - 24, 64}} {
		c, err := Link(context.Background(), m.Bytes[:tt.size], tt.line, 7, nil)
		if err != nil {
			t.Fatal(err)
		}
		if want := tt.size / tt.line; c.Lines() != want {
			t.Fatalf("%d lines, want %d", c.Lines(), want)
		}
		seen := make([]bool, c.Lines())
		at := c.at
		for range c.Lines() {
			offset := uintptr(at) - uintptr(unsafe.Pointer(&m.Bytes[0]))
			if offset%uintptr(tt.line) != 0 || seen[offset/uintptr(tt.line)] {
				t.Fatalf("%d bytes of lines of %d: offset %d comes again, or is no line", tt.size, tt.line, offset)
			}
			seen[offset/uintptr(tt.line)] = true
			at = *(*unsafe.Pointer)(at)
		}
		if at != c.at {
			t.Errorf("%d bytes of lines of %d: not back after all lines", tt.size, tt.line)
		}
		if got := follow(c.at, c.Lines()); got != c.at { // 16 times around
			t.Errorf("%d bytes of lines of %d: the walk ended elsewhere", tt.size, tt.line)
		}
	}
}

func TestCyclesAreRandom(t *testing.T) {
	m := take(t, 1<<16)
	order := func(seed uint64) (out []uintptr) {
		c, err := Link(context.Background(), m.Bytes, 64, seed, nil)
		if err != nil {
			t.Fatal(err)
		}
		for at := c.at; len(out) < c.Lines(); at = *(*unsafe.Pointer)(at) {
			out = append(out, uintptr(at))
		}
		return out
	}
	first := order(1)
	if !slices.Equal(first, order(1)) {
		t.Error("a seed gives two cycles")
	}
	if slices.Equal(first, order(2)) {
		t.Error("two seeds give one cycle")
	}
	near := 0
	for i := 1; i < len(first); i++ {
		if first[i]-first[i-1] == 64 {
			near++
		}
	}
	if near > 10 { // of 1,023; one is expected
		t.Errorf("%d steps go to the next line", near)
	}
}

func TestNoCycle(t *testing.T) {
	m := take(t, 4096)
	for _, tt := range []struct{ size, line int }{{64, 64}, {4096, 6}, {4096, 14}, {0, 64}} {
		if _, err := Link(context.Background(), m.Bytes[:tt.size], tt.line, 1, nil); err == nil {
			t.Errorf("a cycle of %d bytes in lines of %d", tt.size, tt.line)
		}
	}
}

func TestLadder(t *testing.T) {
	m := take(t, 96<<10)
	var before []int
	rungs, err := Ladder(context.Background(), m, 64, Sizes(96<<10), 5, time.Microsecond, func(size int) error {
		before = append(before, size)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var sizes []int
	for _, r := range rungs {
		sizes = append(sizes, r.Bytes)
		if len(r.NS) != 5 || slices.Min(r.NS) <= 0 {
			t.Errorf("%d bytes: samples %v", r.Bytes, r.NS)
		}
	}
	want := []int{4 << 10, 6 << 10, 8 << 10, 12 << 10, 16 << 10, 24 << 10, 32 << 10, 48 << 10, 64 << 10, 96 << 10}
	if !slices.Equal(sizes, want) || !slices.Equal(before, want) {
		t.Errorf("sizes %v, called before %v", sizes, before)
	}
	if _, err := Ladder(context.Background(), m, 64, []int{1 << 20}, 5, time.Microsecond, nil); err == nil {
		t.Error("a working set larger than the memory")
	}
}

func TestLadderEnds(t *testing.T) {
	m := take(t, 64<<10)
	ctx, cancel := context.WithCancel(context.Background())
	rungs, err := Ladder(ctx, m, 64, Sizes(64<<10), 5, time.Microsecond, func(size int) error {
		if size == 16<<10 {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || len(rungs) != 4 {
		t.Errorf("%d sizes, %v", len(rungs), err)
	}
	busy := errors.New("busy")
	rungs, err = Ladder(context.Background(), m, 64, Sizes(64<<10), 5, time.Microsecond, func(size int) error {
		if size > 4<<10 {
			return busy
		}
		return nil
	})
	if err != busy || len(rungs) != 1 {
		t.Errorf("%d sizes, %v", len(rungs), err)
	}
}

func TestWalkAllocatesNothing(t *testing.T) {
	m := take(t, 64<<10)
	c, err := Link(context.Background(), m.Bytes, 64, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]float64, 0, 100)
	if n := testing.AllocsPerRun(10, func() {
		if out, err = c.Sample(context.Background(), out[:0], 50, time.Microsecond); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
