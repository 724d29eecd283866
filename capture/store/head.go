package store

import (
	"math"
	"slices"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
)

// mostInChunk is how many samples a chunk has: few enough that one moment is found soon, many enough that the first
// sample, which is written out, does not count.
const mostInChunk = 240

// A chunk are samples of one series in the order of time, packed as Prometheus does.
type chunk struct {
	from, to int64 // ms of the first and the last
	data     []byte
}

// samples returns how many a chunk has.
func (c *chunk) samples() int64 { return int64(c.data[0])<<8 | int64(c.data[1]) } // as chunkenc writes it

// A memory has the samples of one series that are in no block.
type memory struct {
	labels labels.Labels
	next   *memory // of the same hash
	full   []chunk
	open   *chunkenc.XORChunk // nil without one
	add    chunkenc.Appender
	from   int64 // of open
	to     int64
	last   int64 // of all, also of one that is being written
	file   int   // the journal that names it
	number uint64
	gone   bool // it has no samples any more and is not in the head
}

// append adds a sample that is younger than the last one. No chunk reaches over the boundary of a block.
func (m *memory) append(at int64, number float64, span int64) {
	if m.open != nil && (m.open.NumSamples() >= mostInChunk || at/span != m.from/span) {
		m.seal()
	}
	if m.open == nil {
		m.open, m.from = chunkenc.NewXORChunk(), at
		m.add, _ = m.open.Appender() // of an empty chunk it does not fail
	}
	m.add.Append(0, at, number)
	m.to, m.last = at, at
}

// seal ends the open chunk.
func (m *memory) seal() {
	m.full = append(m.full, chunk{m.from, m.to, slices.Clone(m.open.Bytes())})
	m.open, m.add = nil, nil
}

// chunks returns those that have samples in a stretch of time. It does not change when samples are appended.
func (m *memory) chunks(from, to int64) (out []chunk) {
	for _, c := range m.full {
		if c.to >= from && c.from <= to {
			out = append(out, c)
		}
	}
	if m.open != nil && m.open.NumSamples() > 0 && m.to >= from && m.from <= to {
		out = append(out, chunk{m.from, m.to, slices.Clone(m.open.Bytes())})
	}
	return out
}

// drop forgets what is older than a boundary of blocks, and reports whether nothing is left.
func (m *memory) drop(before int64) bool {
	m.full = slices.DeleteFunc(m.full, func(c chunk) bool { return c.to < before })
	if m.open != nil && m.to < before {
		m.open, m.add = nil, nil
	}
	return len(m.full) == 0 && m.open == nil
}

// A head are the samples that are in no block.
type head struct {
	series map[uint64]*memory // by hash of labels
	count  int
	floor  int64 // what is older belongs to blocks
	newest int64 // of all samples; -1 without any
	begin  int64 // no sample is older
	taken  []appended
}

// appended is a sample on its way.
type appended struct {
	*memory
	number float64
}

func newHead() head {
	return head{series: map[uint64]*memory{}, newest: -1, floor: math.MinInt64, begin: math.MaxInt64}
}

// of returns the memory of a series.
func (h *head) of(x *Series) *memory {
	if x.in == nil || x.in.gone {
		x.in = h.find(x.labels)
	}
	return x.in
}

// find returns the memory of labels, which is made when there is none.
func (h *head) find(l labels.Labels) *memory {
	hash := l.Hash()
	for m := h.series[hash]; m != nil; m = m.next {
		if labels.Equal(m.labels, l) {
			return m
		}
	}
	m := &memory{labels: l, next: h.series[hash], last: math.MinInt64}
	h.series[hash] = m
	h.count++
	return m
}

// each calls f with every series.
func (h *head) each(f func(*memory)) {
	for _, m := range h.series {
		for ; m != nil; m = m.next {
			f(m)
		}
	}
}

// took notes that there is a sample of a time.
func (h *head) took(ms int64) { h.newest, h.begin = max(h.newest, ms), min(h.begin, ms) }

// drop forgets what is older than a boundary of blocks.
func (h *head) drop(before int64) {
	h.begin = before
	for hash, first := range h.series {
		var left *memory
		for m := first; m != nil; {
			next := m.next
			if m.drop(before) {
				m.gone, m.next = true, nil
				h.count--
			} else {
				m.next, left = left, m
			}
			m = next
		}
		if left == nil {
			delete(h.series, hash)
		} else {
			h.series[hash] = left
		}
	}
}
