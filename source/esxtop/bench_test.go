package esxtop

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The benchmarks read a file of 50,000 columns with 110 VMs from the page cache. Compare
// them with the roofline of the same run: machines differ, and so does the same machine
// from minute to minute.

const (
	benchRows     = 2400
	benchDistinct = 150 // rows, then the same again with other stamps
)

// benchFile writes the file and returns its name and size.
func benchFile(b *testing.B) (name string, size int64) {
	b.Helper()
	c := newCapture(50_000, 110)
	name = filepath.Join(b.TempDir(), "batch.csv")
	f, err := os.Create(name)
	if err != nil {
		b.Fatal(err)
	}
	write := func(p []byte) {
		if _, err := f.Write(p); err != nil {
			b.Fatal(err)
		}
		size += int64(len(p))
	}
	write(c.header(nil))
	rows := make([][]byte, benchDistinct)
	for i := range benchRows {
		row := &rows[i%benchDistinct]
		if *row == nil {
			*row = c.row(nil)
		}
		stamp := time.Date(2026, 11, 21, 0, 0, 5*i, 0, time.UTC)
		copy((*row)[1:], stamp.Format("01/02/2006 15:04:05"))
		write(*row)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	return name, size
}

// BenchmarkRoofline is what the same file allows at most: reading it in blocks of the size
// that a Reader uses, and one look at each byte of them.
func BenchmarkRoofline(b *testing.B) {
	name, size := benchFile(b)
	for _, bb := range []struct {
		name string
		look func([]byte) int
	}{
		{"read", func([]byte) int { return 0 }},
		{"read+IndexByte", func(p []byte) int { return bytes.IndexByte(p, 0) }},
		{"read+Count", func(p []byte) int { return bytes.Count(p, []byte{'"'}) }},
		{"read+tally", func(p []byte) int { q, _, _ := tally(p); return q }},
	} {
		b.Run(bb.name, func(b *testing.B) {
			f, err := os.Open(name)
			if err != nil {
				b.Fatal(err)
			}
			defer f.Close()
			b.SetBytes(size)
			buf := make([]byte, blockSize)
			for b.Loop() {
				for at := int64(0); at < size; at += blockSize {
					n, err := f.ReadAt(buf, at)
					if err != nil && err != io.EOF {
						b.Fatal(err)
					}
					bb.look(buf[:n])
				}
			}
		})
	}
}

// numaAndReady picks what NUMA did to the groups and how they waited.
func numaAndReady(c *Column) bool {
	return c.Object == "Group Memory" && strings.HasPrefix(c.Counter, "Numa ") || c.Object == "Group Cpu" && (c.Counter == "% Ready" || c.Counter == "% CoStop")
}

func BenchmarkReader(b *testing.B) {
	name, size := benchFile(b)
	for _, bb := range []struct {
		name string
		want func(*Column) bool
	}{
		{"numa", numaAndReady},
		{"all", nil},
	} {
		for _, workers := range []int{0, 1, 2} {
			b.Run(fmt.Sprintf("%s/workers=%d", bb.name, workers), func(b *testing.B) {
				f, err := os.Open(name)
				if err != nil {
					b.Fatal(err)
				}
				defer f.Close()
				b.SetBytes(size)
				b.ReportAllocs()
				for b.Loop() {
					if _, err := f.Seek(0, io.SeekStart); err != nil {
						b.Fatal(err)
					}
					r, err := NewReader(name, f, Options{Want: bb.want, Workers: workers})
					if err != nil {
						b.Fatal(err)
					}
					rows := 0
					for r.Scan() {
						rows++
					}
					if rows != benchRows || r.Err() != nil || len(r.Warnings()) > 0 {
						b.Fatal(rows, r.Err(), r.Warnings())
					}
				}
			})
		}
	}
}

func BenchmarkTicks(b *testing.B) {
	name, size := benchFile(b)
	for _, workers := range []int{0, 1, 2} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			f, err := os.Open(name)
			if err != nil {
				b.Fatal(err)
			}
			defer f.Close()
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := f.Seek(0, io.SeekStart); err != nil {
					b.Fatal(err)
				}
				t, err := NewTicks(name, f, Options{Workers: workers})
				if err != nil {
					b.Fatal(err)
				}
				ticks := 0
				for t.Scan() {
					ticks++
				}
				if ticks != benchRows || t.Err() != nil {
					b.Fatal(ticks, t.Err(), t.Warnings())
				}
			}
		})
	}
}
