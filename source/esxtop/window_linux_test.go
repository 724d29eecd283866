package esxtop

import (
	"bytes"
	"example.org/homenode/internal/golden"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// unmapped hides of a file that it is one.
type unmapped struct {
	io.Reader
	io.ReaderAt
	io.Seeker
}

// written writes data to a file and opens it.
func written(t *testing.T, data []byte) *os.File {
	t.Helper()
	name := filepath.Join(t.TempDir(), "batch.csv")
	golden.Write(t, name, data)
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// rowsFor returns a capture of at least n bytes, with damage here and there and another
// header in the middle.
func rowsFor(n int) []byte {
	c := newCapture(20_000, 20)
	data := c.header(nil)
	for i := 0; len(data) < n; i++ {
		from := len(data)
		data = c.row(data)
		switch {
		case i%20 == 7:
			data = append(data[:from+len(data[from:])/2], '\n')
		case i%20 == 11:
			copy(data[from+bytes.Index(data[from:], []byte(`"0,1"`)):], `"0,x"`)
		case i == 100:
			data = c.header(data)
		}
	}
	return data
}

// TestWindows checks that a file that is mapped reads as one that is not.
func TestWindows(t *testing.T) {
	f := written(t, rowsFor(2*windowSize+windowSize/2))
	want, wantProblems := read(t, unmapped{f, f, f}, Options{Want: numaAndReady})
	if len(want) < 100 || len(wantProblems) != 2 {
		t.Fatalf("%d rows, %q", len(want), wantProblems)
	}
	for _, workers := range []int{0, 1, 2} {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		if got, problems := read(t, f, Options{Want: numaAndReady, Workers: workers}); !slices.Equal(got, want) || !slices.Equal(problems, wantProblems) {
			t.Errorf("%d workers: %d rows, %q; want %d, %q", workers, len(got), problems, len(want), wantProblems)
		}
	}
}

// TestWindowCut cuts a file off behind the back of a parser that has it mapped: what is
// read is what is left, up to its last whole row.
func TestWindowCut(t *testing.T) {
	c := newCapture(10_000, 20)
	data := c.header(nil)
	first := len(data)
	ends := []int{} // of rows, from first on
	for len(data) < first+3*mappedBlock/2 {
		data = c.row(data)
		ends = append(ends, len(data)-first)
	}
	last := slices.IndexFunc(ends, func(end int) bool { return end > mappedBlock }) - 1 // row of a batch
	page, batch := os.Getpagesize(), ends[last]
	for _, tt := range []struct {
		name string
		left int // bytes after the header
		cut  bool
	}{
		{"nothing", 0, false},
		{"within a row", ends[0] + 1000, true},
		{"after a row", ends[1], false},
		{"at the end of a page", (first+2*page)/page*page - first, true},
		{"within the last row of the batch", ends[last-1] + 5, true},
		{"in the last cell, which is not wanted", batch - 4, false},
		{"the line end of the last row", batch - 1, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := written(t, data)
			r, err := NewReader("b.csv", f, Options{Want: numaAndReady})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			r.feed.row = batch // more than half a block: as much is taken
			r.feed.next(r.batch)
			if r.batch.part == nil || r.batch.size != batch {
				t.Fatalf("a batch of %d bytes, want %d, mapped: %v", r.batch.size, batch, r.batch.part != nil)
			}
			if err := f.Truncate(int64(first + tt.left)); err != nil {
				t.Fatal(err)
			}
			r.parse.read(r.feed, r.batch)
			var rows, problems []string
			for r.Scan() {
				rows = append(rows, format(r.Row()))
			}
			for _, w := range r.Warnings() {
				problems = append(problems, w.Error())
			}
			want, wantProblems := read(t, bytes.NewReader(data[:first+tt.left]), Options{Want: numaAndReady})
			if !slices.Equal(rows, want) {
				t.Errorf("%d rows, want %d", len(rows), len(want))
			}
			if (len(wantProblems) == 1) != tt.cut || len(problems) != len(wantProblems)+1 || !slices.Contains(problems, shrunk(len(want), tt.cut)) {
				t.Errorf("%q, want %q and %q", problems, wantProblems, shrunk(len(want), tt.cut))
			}
		})
	}
}

// shrunk is the warning of a file that has become shorter, after so many rows.
func shrunk(rows int, cut bool) string {
	line := rows + 2
	if cut {
		line++
	}
	return "b.csv:" + strconv.Itoa(line) + ":1: found the end of the file where it went on before: it has become shorter while it was read"
}

// TestWindowCutWhile cuts a file off while workers read it. How far they are is not known:
// what they give is the beginning of the file, and they say that it did not end there.
func TestWindowCutWhile(t *testing.T) {
	data := rowsFor(3 * windowSize)
	want, _ := read(t, bytes.NewReader(data), Options{Want: numaAndReady})
	for _, left := range []int{windowSize / 3, windowSize, 2*windowSize + 12345} {
		f := written(t, data)
		r, err := NewReader("b.csv", f, Options{Want: numaAndReady, Workers: 2})
		if err != nil {
			t.Fatal(err)
		}
		var rows []string
		for r.Scan() {
			if rows = append(rows, format(r.Row())); len(rows) == 1 {
				if err := f.Truncate(int64(left)); err != nil {
					t.Fatal(err)
				}
			}
		}
		if len(rows) == len(want) || !slices.Equal(rows, want[:len(rows)]) || r.Err() != nil {
			t.Errorf("%d rows of %d, error %v", len(rows), len(want), r.Err())
		}
		if all := ""; !slices.ContainsFunc(r.Warnings(), func(w error) bool {
			all += w.Error() + "\n"
			return strings.Contains(all, "found the end of the file")
		}) {
			t.Errorf("cut to %d bytes: %s", left, all)
		}
	}
}

// TestWindowGrows reads a file to which rows are added while it is read.
func TestWindowGrows(t *testing.T) {
	data := rowsFor(windowSize + windowSize/2)
	f := written(t, data[:len(data)-200_000])
	r, err := NewReader("b.csv", f, Options{Want: numaAndReady})
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for r.Scan() {
		if rows = append(rows, format(r.Row())); len(rows) == 1 {
			if _, err := f.WriteAt(data[len(data)-200_000:], int64(len(data)-200_000)); err != nil {
				t.Fatal(err)
			}
		}
	}
	want, _ := read(t, bytes.NewReader(data), Options{Want: numaAndReady})
	if !slices.Equal(rows, want) {
		t.Errorf("%d rows, want %d", len(rows), len(want))
	}
}
