package esxtop

import (
	"fmt"
	"io"
	"runtime"
	"testing"
)

// endless is rows that repeat, so that a long file takes no room.
type endless struct {
	header, rows []byte
	times        int
}

func (e *endless) ReadAt(p []byte, off int64) (n int, err error) {
	for n < len(p) {
		at := off + int64(n)
		switch {
		case at < int64(len(e.header)):
			n += copy(p[n:], e.header[at:])
		case at < int64(len(e.header)+e.times*len(e.rows)):
			n += copy(p[n:], e.rows[int(at-int64(len(e.header)))%len(e.rows):])
		default:
			return n, io.EOF
		}
	}
	return n, nil
}

// TestFlat checks that a capture ten times as long takes no more memory.
func TestFlat(t *testing.T) {
	c := newCapture(5000, 5)
	e := &endless{header: c.header(nil)}
	for range 20 {
		e.rows = c.row(e.rows)
	}
	for _, form := range []string{"places", "stream"} {
		for _, workers := range []int{0, 2} {
			t.Run(fmt.Sprintf("%s/workers=%d", form, workers), func(t *testing.T) {
				var most [2]uint64
				for i, times := range []int{40, 400} { // 28 and 280 MB
					e.times = times
					size := int64(len(e.header) + times*len(e.rows))
					r := io.Reader(io.NewSectionReader(e, 0, size))
					if form == "stream" {
						r = io.MultiReader(r)
					}
					most[i] = highest(t, r, workers, 20*times)
				}
				if most[1] > most[0]+most[0]/2 {
					t.Errorf("%d bytes in use, %d for a tenth of the rows", most[1], most[0])
				}
			})
		}
	}
}

// highest returns how many bytes are in use at most while r is read, without garbage.
func highest(t *testing.T, r io.Reader, workers, wantRows int) (most uint64) {
	t.Helper()
	rd, err := NewReader("b.csv", r, Options{Want: numaAndReady, Workers: workers})
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for ; rd.Scan(); rows++ {
		if rows%(wantRows/8) == 1 {
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapAlloc)
		}
	}
	if rows != wantRows || rd.Err() != nil || len(rd.Warnings()) > 1 {
		t.Fatal(rows, wantRows, rd.Err(), rd.Warnings())
	}
	return most
}
