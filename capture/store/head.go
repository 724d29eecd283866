package store

import (
	"math"
	"slices"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
)

// mostInChunk is the number of samples of a full chunk. Fewer make it fast to find one moment; more make the size
// of the first sample, which is uncompressed, negligible.
const mostInChunk = 240

// A chunk is a run of samples of one series in time order, packed as in Prometheus.
type chunk struct {
	from, to int64 // ms of the first and the last sample
	data     []byte
}

// samples returns the number of samples of a chunk.
func (c *chunk) samples() int64 { return int64(c.data[0])<<8 | int64(c.data[1]) } // as chunkenc writes it

// A memory has the samples of one series that are in no block.
type memory struct {
	labels labels.Labels
	next   *memory // next series with the same hash
	full   []chunk
	open   *chunkenc.XORChunk // nil without an open chunk
	add    chunkenc.Appender
	from   int64 // ms, of open
	to     int64
	last   int64 // ms of the newest sample, including one that is being written
	file   int   // the journal that has its labels
	number uint64
	gone   bool // it has no samples left and was removed from the head
}

// append adds a sample that is newer than the last one. A chunk never crosses a block boundary.
func (m *memory) append(at int64, number float64, span int64) {
	if m.open != nil && (m.open.NumSamples() >= mostInChunk || at/span != m.from/span) {
		m.seal()
	}
	if m.open == nil {
		m.open, m.from = chunkenc.NewXORChunk(), at
		m.add, _ = m.open.Appender() // it cannot fail for an empty chunk
	}
	m.add.Append(0, at, number)
	m.to, m.last = at, at
}

// seal ends the open chunk.
func (m *memory) seal() {
	m.full = append(m.full, chunk{m.from, m.to, slices.Clone(m.open.Bytes())})
	m.open, m.add = nil, nil
}

// chunks returns the chunks that have samples in a time range. Later appends do not change the result.
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

// drop removes chunks that end before a block boundary, and reports whether nothing is left.
func (m *memory) drop(before int64) bool {
	m.full = slices.DeleteFunc(m.full, func(c chunk) bool { return c.to < before })
	if m.open != nil && m.to < before {
		m.open, m.add = nil, nil
	}
	return len(m.full) == 0 && m.open == nil
}

// indexed are the labels by which the head finds series without a look at all of them, the most selective one first.
var indexed = []string{"vm_id", "host"}

// A head has the samples that are in no block.
type head struct {
	series map[uint64]*memory         // by hash of labels
	index  map[labels.Label][]*memory // by indexed labels
	count  int
	floor  int64 // older samples belong to blocks
	newest int64 // ms of the newest sample; -1 without any
	begin  int64 // no sample is older
	taken  []appended
}

// appended is a sample that is being appended.
type appended struct {
	*memory
	number float64
}

func newHead() head {
	return head{series: map[uint64]*memory{}, index: map[labels.Label][]*memory{}, newest: -1, floor: math.MinInt64, begin: math.MaxInt64}
}

// of returns the memory of a series.
func (h *head) of(x *Series) *memory {
	if x.in == nil || x.in.gone {
		x.in = h.find(x.labels)
	}
	return x.in
}

// find returns the memory of labels, and creates it if necessary.
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
	for _, name := range indexed {
		if value := l.Get(name); value != "" {
			key := labels.Label{Name: name, Value: value}
			h.index[key] = append(h.index[key], m)
		}
	}
	return m
}

// each calls f with every series that matches all matchers.
func (h *head) each(which []*labels.Matcher, f func(*memory)) {
	for _, name := range indexed {
		for _, m := range which {
			if m.Type == labels.MatchEqual && m.Name == name && m.Value != "" {
				for _, one := range h.index[labels.Label{Name: name, Value: m.Value}] {
					if matches(one.labels, which) {
						f(one)
					}
				}
				return
			}
		}
	}
	for _, m := range h.series {
		for ; m != nil; m = m.next {
			if matches(m.labels, which) {
				f(m)
			}
		}
	}
}

// took records the time of a new sample.
func (h *head) took(ms int64) { h.newest, h.begin = max(h.newest, ms), min(h.begin, ms) }

// drop removes chunks that end before a block boundary.
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
	for key, list := range h.index {
		if list = slices.DeleteFunc(list, func(m *memory) bool { return m.gone }); len(list) == 0 {
			delete(h.index, key)
		} else {
			h.index[key] = list
		}
	}
}
