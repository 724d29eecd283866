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
// is left of BenchmarkReader without the kernel. Of lively rows all numbers are others than
// in the row before; bare rows are without quotes, as relog writes them.
func BenchmarkParse(b *testing.B) {
	for _, bb := range []struct {
		name         string
		want         func(*Column) bool
		lively, bare bool
	}{
		{"numa", numaAndReady, false, false},
		{"numa/lively", numaAndReady, true, false},
		{"numa/bare", numaAndReady, false, true},
		{"all", nil, false, false},
		{"all/lively", nil, true, false},
		{"all/bare", nil, false, true},
	} {
		b.Run(bb.name, func(b *testing.B) {
			c := newCapture(50_000, 110)
			c.lively = bb.lively
			header, data := c.header(nil), []byte(nil)
			for range 60 { // 20 MB, more than the caches of a core
				data = c.row(data)
			}
			if bb.bare {
				header, data = bared(header), bared(data)
			}
			benchParse(b, bytes.TrimSuffix(header, []byte("\n")), data, bb.want)
		})
	}
}

// bared returns lines without quotes, nor a comma at their end, nor home nodes in a list.
func bared(b []byte) []byte {
	b = bytes.ReplaceAll(b, []byte(`"0,1"`), []byte("0"))
	return bytes.ReplaceAll(bytes.ReplaceAll(b, []byte(`"`), nil), []byte(",\n"), []byte("\n"))
}

func benchParse(b *testing.B, header, data []byte, want func(*Column) bool) {
	b.Helper()
	data = append(data, make([]byte, padding)...)[:len(data)]
	h, msg := parseHeader(header, 1, new(warnings), func(*Header) func(*Column) bool { return want })
	if msg != "" {
		b.Fatal(msg)
	}
	p, out := newParser(h, '\n'), new(batch)
	b.SetBytes(int64(len(data)))
	defer perCore(b, int64(len(data)))()
	var batches [][]byte
	for rest := data; len(rest) > 0; {
		n := bytes.LastIndexByte(rest[:min(len(rest), blockSize)], '\n') + 1
		batches, rest = append(batches, rest[:n]), rest[n:]
	}
	for b.Loop() {
		rows := 0
		for _, batch := range batches {
			out.reset()
			out.data = batch
			p.batch(out)
			rows += len(out.rows)
		}
		if rows != 60 || out.warns != (warnings{}) {
			b.Fatal(rows, out.warns)
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
