package bandwidth

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"
	"time"
	"unsafe"

	"example.org/homenode/measure/guest/chase"
	"example.org/homenode/measure/guest/cpu"
	"example.org/homenode/measure/guest/pages"
)

func take(t *testing.T, size int) []byte {
	t.Helper()
	m, err := pages.Take(context.Background(), pages.Ask{Bytes: size, Node: pages.Anywhere})
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return m.Bytes
}

// Each kind reads and writes what its name says: seen in the sums of what is read, and in what is written.
func TestKinds(t *testing.T) {
	const size = 4*chunk + 5000
	for _, line := range []int{64, 128} {
		for _, k := range Kinds {
			b := make([]byte, size)
			words := unsafe.Slice((*uint64)(unsafe.Pointer(&b[0])), size/8)
			for i := range words {
				words[i] = 1 << 40 // and 1 where a line begins
				if i*8%line == 0 {
					words[i] = 1
				}
			}
			before := bytes.Clone(b)
			m := newMover(k, b, line)
			moved, steps := 0, m.size/chunk
			for range steps {
				moved += m.step()
			}
			if m.at != 0 {
				t.Errorf("%v: at %d after all", k, m.at)
			}
			lines := uint64(4 * chunk / line)
			changed := uint64(0)
			for i := range words {
				if words[i] != *(*uint64)(unsafe.Pointer(&before[i*8])) {
					changed++
				}
			}
			wantRead, wantChanged, wantMoved := lines, uint64(0), 4*chunk
			switch k {
			case Copy:
				wantRead = 0
			case Read2:
				wantRead, wantChanged, wantMoved = lines/2, lines/2, 6*chunk
			case Read3:
				wantRead, wantChanged, wantMoved = lines/3*2, lines/3, 4*chunk/3*4
			}
			if m.sink != wantRead || changed != wantChanged || moved != wantMoved {
				t.Errorf("%v, lines of %d: read %d, changed %d, moved %d; want %d, %d, %d", k, line, m.sink, changed, moved, wantRead, wantChanged, wantMoved)
			}
		}
	}
	b := make([]byte, 4*chunk)
	for i := range 2 * chunk {
		b[i] = byte(i * 31)
	}
	m := newMover(Copy, b, 64)
	for range 2 {
		if n := m.step(); n != 2*chunk {
			t.Errorf("moved %d bytes", n)
		}
	}
	if !bytes.Equal(b[:2*chunk], b[2*chunk:]) {
		t.Error("not copied")
	}
}

func TestSlowly(t *testing.T) {
	b := make([]byte, Smallest)
	for i := 0; i < len(b); i += 64 {
		b[i] = 1
	}
	m := newMover(Read, b, 64)
	bytes := 0
	for bytes < len(b) {
		bytes += m.slowly(5000)
	}
	if bytes != len(b) || m.sink != uint64(len(b)/64) || m.at != 0 {
		t.Errorf("%d bytes, %d lines, at %d", bytes, m.sink, m.at)
	}
}

// all returns the processors that this process may use, at most four.
func all(t *testing.T) (out []int) {
	t.Helper()
	for n := range 64 {
		if len(out) < 4 && cpu.On(n, func() error { return nil }) == nil {
			out = append(out, n)
		}
	}
	if len(out) == 0 {
		t.Skip("no processor takes a thread here")
	}
	return out
}

func TestMove(t *testing.T) {
	var threads []Thread
	for _, n := range all(t) {
		threads = append(threads, Thread{n, take(t, 1<<20)})
		for _, k := range Kinds {
			if rate, err := Move(context.Background(), k, threads, 64, time.Millisecond); err != nil || rate <= 0 {
				t.Errorf("%v with %d threads: %v, %v", k, len(threads), rate, err)
			}
		}
	}
}

func TestMoveEnds(t *testing.T) {
	threads := []Thread{{all(t)[0], take(t, 1<<20)}}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Move(ctx, Read, threads, 64, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := Move(context.Background(), Read, append(threads, Thread{4095, threads[0].Memory}), 64, time.Millisecond); err == nil {
		t.Error("a thread without a processor")
	}
	for _, bad := range [][]Thread{nil, {{0, make([]byte, chunk)}}} {
		if _, err := Move(context.Background(), Read, bad, 64, time.Millisecond); err == nil {
			t.Errorf("%d threads", len(bad))
		}
	}
	if _, err := Move(context.Background(), Read, threads, 60, time.Millisecond); err == nil {
		t.Error("lines of 60 bytes")
	}
}

func TestLoaded(t *testing.T) {
	cpus := all(t)
	if len(cpus) < 2 {
		t.Skip("needs two processors")
	}
	cycle, err := chase.Link(context.Background(), take(t, 1<<20), 64, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	load := []Thread{{cpus[1], take(t, 1<<20)}}
	for _, pause := range []float64{0, 50, 20_000} {
		ns, rate, err := Loaded(context.Background(), cycle, cpus[0], load, 64, pause, 3e9, 10*time.Millisecond)
		if err != nil || len(ns) != 5 || slices.Min(ns) <= 0 || rate <= 0 {
			t.Errorf("pause %v ns: %v, %v, %v", pause, ns, rate, err)
		}
	}
	if ns, rate, err := Loaded(context.Background(), cycle, cpus[0], nil, 64, 0, 3e9, time.Millisecond); err != nil || len(ns) != 1 || rate != 0 {
		t.Errorf("alone: %v, %v, %v", ns, rate, err)
	}
	if _, _, err := Loaded(context.Background(), cycle, 4095, load, 64, 0, 3e9, time.Hour); err == nil {
		t.Error("a chase without a processor")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := Loaded(ctx, cycle, cpus[0], load, 64, 0, 3e9, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestThreads(t *testing.T) {
	for all, want := range map[int][]int{0: nil, 1: {1}, 2: {1, 2}, 6: {1, 2, 4, 6}, 8: {1, 2, 4, 8}} {
		if got := Threads(all); !slices.Equal(got, want) {
			t.Errorf("of %d: %v, want %v", all, got, want)
		}
	}
}
