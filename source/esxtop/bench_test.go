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

// perCore reports the bytes a second of processor time, which others on the machine disturb
// less than the time on the wall. Call the result at the end.
func perCore(b *testing.B, size int64) func() {
	start := cpuTime()
	return func() {
		if used := cpuTime() - start; used > 0 {
			b.ReportMetric(float64(size)*float64(b.N)/float64(used.Nanoseconds()), "GB/cpu-s")
		}
	}
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
			defer perCore(b, size)()
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
				defer perCore(b, size)()
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

// BenchmarkParse reads rows that are in memory already, without copying them first: what
// is left of BenchmarkReader without the kernel.
func BenchmarkParse(b *testing.B) {
	c := newCapture(50_000, 110)
	header := bytes.TrimSuffix(c.header(nil), []byte("\n"))
	data := []byte(nil)
	for range 60 { // 20 MB, more than the caches of a core
		data = c.row(data)
	}
	data = append(data, make([]byte, padding)...)[:len(data)]
	h, msg := parseHeader(header, 1, new(warnings), func(*Header) func(*Column) bool { return numaAndReady })
	if msg != "" {
		b.Fatal(msg)
	}
	p, out := newParser(h, false, '\n'), new(batch)
	b.SetBytes(int64(len(data)))
	defer perCore(b, int64(len(data)))()
	for b.Loop() {
		out.reset()
		out.data = data
		p.batch(out)
		if len(out.rows) != 60 {
			b.Fatal(len(out.rows))
		}
		out.data = nil
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
			defer perCore(b, size)()
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
