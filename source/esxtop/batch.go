package esxtop

import "example.org/homenode/numa"

// A batch is some lines of a file and the rows in them. It is reused.
type batch struct {
	off   int64   // of data in the file
	size  int     // of data that is still to be loaded
	data  []byte  // whole lines; the last one of a file may lack its end
	part  *window // of the file, that contains the data so that no copy is needed; nil without
	last  bool    // of the file
	short bool    // the file has shrunk since its size was read
	err   error   // the error that ended the file after data

	rows   []rowRef
	values []float64 // by row, then wanted column
	homes  []numa.NodeSet
	known  uint64s // by row, which homes are stated; each row has its own words
	lines  int
	length int // of the last parsed row, in bytes
	header int // offset of another header in data, where parsing stopped; -1 without
	warns  warnings
	ready  chan struct{}
}

// A rowRef is a row of a batch.
type rowRef struct {
	stamp int64 // milliseconds since 1970 in the zone of the file
	line  int   // of the batch, from 1
	lo    int   // of the line in data
	form  stampForm
}

func (b *batch) reset() {
	b.off, b.size, b.data, b.last, b.short, b.err = 0, 0, b.data[:0], false, false, nil
	b.clear()
}

// clear removes the parsed rows.
func (b *batch) clear() {
	b.rows, b.values, b.homes, b.known = b.rows[:0], b.values[:0], b.homes[:0], b.known[:0]
	b.lines, b.length, b.header = 0, 0, -1
	b.warns = warnings{}
}

// row points row at row i of b.
func (b *batch) row(row *Row, h *Header, i, base int) {
	ref := &b.rows[i]
	n, words := len(h.Wanted), h.words()
	row.Header, row.Line = h, base+ref.line
	row.Values = b.values[i*n : (i+1)*n]
	row.homes = b.homes[i*h.homes : (i+1)*h.homes]
	row.known = b.known[i*words : (i+1)*words]
}

// shrunk warns, after the rows, that the file ends earlier than before.
func (b *batch) shrunk() {
	b.warns.add(kindShrunk, b.lines+1, 1, func() string {
		return "found the end of the file where it went on before: it has become shorter while it was read"
	})
}

// words returns the number of words for one bit per column of home nodes.
func (h *Header) words() int { return (h.homes + 63) / 64 }

// extend adds n elements with arbitrary values to s.
func extend[T any](s []T, n int) []T {
	if len(s)+n <= cap(s) {
		return s[:len(s)+n]
	}
	return append(s, make([]T, n)...)
}
