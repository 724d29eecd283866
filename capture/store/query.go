package store

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/util/annotations"
)

// Queryable returns read access to the stored samples.
func (s *Store) Queryable() storage.Queryable {
	return storage.QueryableFunc(func(from, to int64) (storage.Querier, error) { return s.reader(from, to), nil })
}

// Both reads two stores as one; they have no series in common.
func Both(a, b *Store) storage.Queryable {
	return storage.QueryableFunc(func(from, to int64) (storage.Querier, error) {
		return storage.NewMergeQuerier([]storage.Querier{a.reader(from, to), b.reader(from, to)}, nil, storage.ChainedSeriesMerge), nil
	})
}

// A reader reads the samples of a time range. Blocks in which it found series are not removed until it is closed.
type reader struct {
	store    *Store
	from, to int64
	mu       sync.Mutex
	held     []*block
}

func (s *Store) reader(from, to int64) *reader { return &reader{store: s, from: from, to: to} }

// hold returns the blocks of the time range, pins them, and calls f with every matching series of the head. Blocks and head are read
// under one lock, so that no sample is missed while it moves from the head to a block.
func (r *reader) hold(which []*labels.Matcher, f func(*memory)) []*block {
	s := r.store
	s.mu.RLock()
	defer s.mu.RUnlock()
	var blocks []*block
	for _, b := range s.blocks {
		if b.least <= r.to && b.most >= r.from {
			b.readers.Add(1)
			blocks = append(blocks, b)
		}
	}
	if s.head.newest >= r.from && s.head.begin <= r.to {
		s.head.each(which, f)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held = append(r.held, blocks...)
	return blocks
}

// Close unpins the blocks.
func (r *reader) Close() (err error) {
	r.store.mu.Lock()
	defer r.store.mu.Unlock()
	for _, b := range r.held {
		switch last := b.readers.Add(-1) == 0; {
		case last && b.gone:
			err = errors.Join(err, r.store.retire(b))
		case last && b.orphan:
			err = errors.Join(err, b.file.Close())
		}
	}
	r.held = nil
	return err
}

// A found is one series that a reader found.
type found struct {
	reader *reader
	labels labels.Labels
	parts  []part
}

// A part has chunks of a series, from the head or from a block; those of a block are read when they are needed.
type part struct {
	block *block
	entry
}

// Labels returns the labels.
func (f *found) Labels() labels.Labels { return f.labels }

// Iterator returns an iterator over the samples.
func (f *found) Iterator(chunkenc.Iterator) chunkenc.Iterator { return f.samples() }

func (f *found) samples() *iterator {
	return &iterator{from: f.reader.from, to: f.reader.to, store: f.reader.store, parts: f.parts}
}

// find returns the series that match all matchers and have chunks in the time range, in the order of labels.
func (r *reader) find(ctx context.Context, which []*labels.Matcher) ([]*found, error) {
	all := map[uint64][]*found{}
	of := func(l labels.Labels) *found {
		hash := l.Hash()
		for _, f := range all[hash] {
			if labels.Equal(f.labels, l) {
				return f
			}
		}
		f := &found{reader: r, labels: l}
		all[hash] = append(all[hash], f)
		return f
	}
	var young []*found
	blocks := r.hold(which, func(m *memory) {
		if chunks := m.chunks(r.from, r.to); len(chunks) > 0 {
			young = append(young, &found{labels: m.labels, parts: []part{{entry: entry{chunks: chunks}}}})
		}
	})
	for _, b := range blocks {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for _, page := range b.pagesOf(which) {
			entries, _, err := readPage(b.file, b.pages[page], b.size, r.store.zip)
			if err != nil {
				r.store.damage(b)
				continue
			}
			for i := range entries {
				e := &entries[i]
				if matches(e.labels, which) && slices.ContainsFunc(e.chunks, func(c chunk) bool { return c.to >= r.from && c.from <= r.to }) {
					f := of(e.labels)
					f.parts = append(f.parts, part{b, *e})
				}
			}
		}
	}
	for _, y := range young {
		f := of(y.labels)
		f.parts = append(f.parts, y.parts...)
	}
	return slices.SortedFunc(func(yield func(*found) bool) {
		for _, list := range all {
			for _, f := range list {
				if !yield(f) {
					return
				}
			}
		}
	}, func(a, b *found) int { return labels.Compare(a.labels, b.labels) }), nil
}

// damage records that part of a block could not be read. The block is set aside when it is merged, or when the store is
// opened again.
func (s *Store) damage(b *block) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.damaged++
	if !b.told {
		b.told = true
		s.lose(Loss{File: b.path, From: time.UnixMilli(b.least).UTC(), To: time.UnixMilli(b.most).UTC(), Samples: -1})
	}
}

// matches reports whether labels match.
func matches(l labels.Labels, which []*labels.Matcher) bool {
	return !slices.ContainsFunc(which, func(m *labels.Matcher) bool { return !m.Matches(l.Get(m.Name)) })
}

// pagesOf returns the pages that may have series that match all matchers.
func (b *block) pagesOf(which []*labels.Matcher) []uint32 {
	var pages []uint32
	narrowed := false
	for _, m := range which {
		if m.Matches("") {
			continue // a series without the label matches too
		}
		var some []uint32
		all := b.values[m.Name]
		wanted := m.SetMatches()
		if m.Type == labels.MatchEqual {
			wanted = []string{m.Value}
		}
		switch {
		case len(wanted) > 0:
			for _, value := range wanted {
				if i, ok := slices.BinarySearchFunc(all, value, func(x listed, v string) int { return strings.Compare(x.value, v) }); ok {
					some = append(some, all[i].pages...)
				}
			}
		case m.Type == labels.MatchNotEqual && m.Value == "":
			continue // nearly every series
		default:
			for i := range all {
				if m.Matches(all[i].value) {
					some = append(some, all[i].pages...)
				}
			}
		}
		slices.Sort(some)
		some = slices.Compact(some)
		if narrowed {
			some = slices.DeleteFunc(some, func(p uint32) bool { _, ok := slices.BinarySearch(pages, p); return !ok })
		}
		pages, narrowed = some, true
	}
	if !narrowed {
		pages = make([]uint32, len(b.pages))
		for i := range pages {
			pages[i] = uint32(i)
		}
	}
	return pages
}

// An iterator iterates over the samples of a series.
type iterator struct {
	chunkenc.Iterator // of the current chunk
	from, to          int64
	store             *Store
	parts             []part
	chunks            []chunk
	err               error
}

// advance goes to the next chunk.
func (it *iterator) advance() bool {
	for len(it.chunks) == 0 {
		if len(it.parts) == 0 {
			return false
		}
		p := &it.parts[0]
		it.parts = it.parts[1:]
		e := p.entry
		if p.block != nil {
			e.chunks = slices.Clone(e.chunks)
			if err := e.load(p.block.file); err != nil {
				it.store.damage(p.block)
				continue
			}
		}
		it.chunks = e.chunks
	}
	c, err := chunkenc.FromData(chunkenc.EncXOR, it.chunks[0].data)
	it.chunks = it.chunks[1:]
	if err != nil {
		it.err = err
		return false
	}
	it.Iterator = c.Iterator(nil)
	return true
}

// next moves to the next sample.
func (it *iterator) next() bool {
	for it.err == nil {
		if it.Iterator != nil {
			if it.Iterator.Next() != chunkenc.ValNone {
				return true
			}
			if it.err = it.Iterator.Err(); it.err != nil {
				return false
			}
		}
		if !it.advance() {
			return false
		}
	}
	return false
}

// Next moves to the next sample in the time range.
func (it *iterator) Next() chunkenc.ValueType {
	for it.next() {
		if at := it.AtT(); at > it.to {
			it.parts, it.chunks = nil, nil
			return chunkenc.ValNone
		} else if at >= it.from {
			return chunkenc.ValFloat
		}
	}
	return chunkenc.ValNone
}

// A moment is a time in milliseconds since 1970.
type moment = int64

// Seek moves to the first sample that is not before a time.
func (it *iterator) Seek(t moment) chunkenc.ValueType {
	if it.Iterator != nil && it.AtT() >= max(t, it.from) && it.AtT() <= it.to {
		return chunkenc.ValFloat
	}
	for {
		// Skip chunks that end before it; those of blocks are not even read.
		for len(it.chunks) > 0 && it.chunks[0].to < t {
			it.chunks = it.chunks[1:]
		}
		for len(it.chunks) == 0 && len(it.parts) > 0 && it.parts[0].chunks[len(it.parts[0].chunks)-1].to < t {
			it.parts = it.parts[1:]
		}
		if kind := it.Next(); kind == chunkenc.ValNone || it.AtT() >= t {
			return kind
		}
	}
}

// Err returns the error that ended Next, or nil at the end.
func (it *iterator) Err() error { return it.err }

// Select returns the series that match all matchers.
func (r *reader) Select(ctx context.Context, _ bool, _ *storage.SelectHints, which ...*labels.Matcher) storage.SeriesSet {
	all, err := r.find(ctx, which)
	if err != nil {
		return storage.ErrSeriesSet(err)
	}
	return &set{all: all, at: -1}
}

// A set is the result of a reader.
type set struct {
	all []*found
	at  int
}

func (s *set) Next() bool                        { s.at++; return s.at < len(s.all) }
func (s *set) At() storage.Series                { return s.all[s.at] }
func (s *set) Err() error                        { return nil }
func (s *set) Warnings() annotations.Annotations { return nil }

// LabelValues returns the values of a label.
func (r *reader) LabelValues(ctx context.Context, name string, _ *storage.LabelHints, which ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	return r.texts(ctx, which, func(b *block, add func(string)) {
		for _, x := range b.values[name] {
			add(x.value)
		}
	}, func(l labels.Labels, add func(string)) {
		if v := l.Get(name); v != "" {
			add(v)
		}
	})
}

// LabelNames returns the names of labels.
func (r *reader) LabelNames(ctx context.Context, _ *storage.LabelHints, which ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	return r.texts(ctx, which, func(b *block, add func(string)) {
		for name := range b.values {
			add(name)
		}
	}, func(l labels.Labels, add func(string)) {
		l.Range(func(x labels.Label) { add(x.Name) })
	})
}

// texts returns the sorted texts from the indexes of blocks and the labels of the head or, with matchers, from the labels of
// the matching series.
func (r *reader) texts(ctx context.Context, which []*labels.Matcher, ofBlock func(*block, func(string)), of func(labels.Labels, func(string))) ([]string, annotations.Annotations, error) {
	all := map[string]bool{}
	add := func(s string) { all[s] = true }
	if len(which) > 0 {
		series, err := r.find(ctx, which)
		if err != nil {
			return nil, nil, err
		}
		for _, f := range series {
			of(f.labels, add)
		}
		return slices.Sorted(maps.Keys(all)), nil, nil
	}
	for _, b := range r.hold(nil, func(m *memory) { of(m.labels, add) }) {
		ofBlock(b, add)
	}
	return slices.Sorted(maps.Keys(all)), nil, nil
}

// A Range has the samples of one series in a time range. It is valid until the next one.
type Range struct {
	labels labels.Labels
	it     *iterator
}

// Next moves to the next sample in time order.
func (r *Range) Next() bool { return r.it.Next() != chunkenc.ValNone }

// At returns the sample: its time in milliseconds since 1970, and its number, which may be Stale.
func (r *Range) At() (ms int64, number float64) { return r.it.At() }

// Err returns the error that ended Next, or nil at the end.
func (r *Range) Err() error { return r.it.Err() }

// Label returns the value of a label, or "" without it.
func (r *Range) Label(name string) string { return r.labels.Get(name) }

// Labels calls f with every label in the order of names; __name__ is the name of the metric.
func (r *Range) Labels(f func(name, value string)) {
	r.labels.Range(func(l labels.Label) { f(l.Name, l.Value) })
}

// Each calls f with every series that has samples between two times, both inclusive, in the order of labels. names restricts
// the metrics, if there are any.
func (s *Store) Each(ctx context.Context, from, to time.Time, f func(*Range) error, names ...string) error {
	return s.EachOf(ctx, from, to, f, names)
}

// EachOf is Each for the series with the given labels, as name and value pairs.
func (s *Store) EachOf(ctx context.Context, from, to time.Time, f func(*Range) error, names []string, pairs ...string) (err error) {
	var which []*labels.Matcher
	if len(names) > 0 {
		m, err := labels.NewMatcher(labels.MatchRegexp, model.MetricNameLabel, strings.Join(names, "|"))
		if err != nil {
			return err
		}
		which = append(which, m)
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		which = append(which, labels.MustNewMatcher(labels.MatchEqual, pairs[i], pairs[i+1])) // a plain text needs no compiled expression
	}
	r := s.reader(from.UnixMilli(), to.UnixMilli())
	defer func() { err = errors.Join(err, r.Close()) }()
	all, err := r.find(ctx, which)
	if err != nil {
		return err
	}
	for _, x := range all {
		if err := f(&Range{labels: x.labels, it: x.samples()}); err != nil {
			return err
		}
	}
	return nil
}
