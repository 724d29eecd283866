package store

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"time"

	"github.com/prometheus/prometheus/model/labels"
)

const (
	grows     = 4 // length ratio of a merged block to its parts
	tryAgain  = time.Minute
	fewInMean = mostInChunk / 2 // samples per chunk, below which chunks are repacked
)

// keepUp starts upkeep if samples are old enough for a block. s.mu is locked.
func (s *Store) keepUp() {
	age := s.head.newest - late.Milliseconds()
	to := age - age%s.span
	if s.busy || s.head.begin >= to || time.Now().Before(s.again) {
		return
	}
	s.busy = true
	s.upkeep.Go(func() {
		err := s.tend(to)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.busy, s.state.Upkeep, s.again = false, "", time.Time{}
		if err != nil {
			s.state.Upkeep, s.again = err.Error(), time.Now().Add(tryAgain)
		}
		s.idle.Broadcast()
	})
}

// tend writes samples older than a time to a block, removes expired blocks, and merges blocks.
func (s *Store) tend(to int64) error {
	if err := s.cut(to); err != nil {
		return err
	}
	if err := s.expire(); err != nil {
		return err
	}
	for size := grows * s.span; size <= s.largest; size *= grows {
		for {
			group := s.group(size)
			if group == nil {
				break
			}
			if err := s.merge(group); err != nil {
				return err
			}
		}
	}
	return nil
}

// cut writes samples older than a block boundary to a block, and drops them from memory and journals.
func (s *Store) cut(to int64) error {
	s.mu.Lock()
	s.head.floor = max(s.head.floor, to) // from here on no sample of the block can be appended
	all := make([]*memory, 0, s.head.count)
	s.head.each(nil, func(m *memory) { all = append(all, m) })
	s.mu.Unlock()
	slices.SortFunc(all, func(a, b *memory) int { return labels.Compare(a.labels, b.labels) })
	w, err := s.create()
	if err != nil {
		return err
	}
	for _, m := range all {
		s.mu.RLock()
		chunks := m.chunks(math.MinInt64, to-1)
		s.mu.RUnlock()
		w.add(m.labels, chunks)
	}
	b, err := w.finish(s.dir, to)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if b != nil {
		s.blocks = append(s.blocks, b)
	}
	s.head.drop(to)
	if err := s.journal.turn(s.dir, s.begins()); err != nil {
		s.broken = fmt.Errorf("%s: %w: %w", s.dir, ErrBroken, err)
		return s.broken
	}
	old := s.journal.forget(to)
	if err := s.list(false); err != nil {
		return err // the files are loaded when the store is opened again
	}
	for _, path := range old {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}

// expire removes blocks beyond the limits of age and size.
func (s *Store) expire() (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := int64(0)
	for _, b := range s.blocks {
		all += b.size
	}
	old := s.head.newest - s.o.Retain.Milliseconds()
	n := 0
	for ; n < len(s.blocks) && (s.blocks[n].to <= old || s.o.RetainBytes > 0 && all > s.o.RetainBytes); n++ {
		all -= s.blocks[n].size
	}
	if n == 0 {
		return nil
	}
	gone := s.blocks[:n]
	s.blocks = slices.Clone(s.blocks[n:]) // readers have the old list
	if err := s.list(false); err != nil {
		return err
	}
	for _, b := range gone {
		err = errors.Join(err, s.retire(b))
	}
	return err
}

// retire removes a block unless a reader uses it. s.mu is locked.
func (s *Store) retire(b *block) error {
	b.gone = true
	if b.readers.Load() > 0 {
		return nil
	}
	return errors.Join(b.file.Close(), os.Remove(b.path))
}

// leave closes the file, or leaves that to the last reader. Store.mu is locked.
func (b *block) leave() error {
	if b.orphan = b.readers.Load() > 0; b.orphan {
		return nil
	}
	return b.file.Close()
}

// group returns blocks to merge into one of a size, if their time is over and the disk has space.
func (s *Store) group(size int64) []*block {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for i := 0; i < len(s.blocks); {
		window := s.blocks[i].from / size
		k, bytes := i, int64(0)
		for k < len(s.blocks) && s.blocks[k].from/size == window && (s.blocks[k].to-1)/size == window {
			bytes += s.blocks[k].size
			k++
		}
		free, err := s.o.Free(s.dir)
		if k-i > 1 && (window+1)*size <= s.head.floor && err == nil && free > s.o.Reserve+bytes {
			return slices.Clone(s.blocks[i:k])
		}
		i = max(k, i+1)
	}
	return nil
}

// A cursor iterates over a block in the order of labels.
type cursor struct {
	*block
	page    int
	entries []entry
	damaged bool
}

// next moves to the next series, and reads pages as necessary; it reports false at the end.
func (c *cursor) next(zip *packer) bool {
	if len(c.entries) > 0 {
		c.entries = c.entries[1:]
	}
	for len(c.entries) == 0 {
		if c.page >= len(c.pages) {
			return false
		}
		entries, _, err := readPage(c.file, c.pages[c.page], c.size, zip)
		c.page++
		c.entries, c.damaged = entries, c.damaged || err != nil
	}
	return true
}

// merge replaces blocks by one. A block that was damaged after opening is set aside.
func (s *Store) merge(group []*block) error {
	w, err := s.create()
	if err != nil {
		return err
	}
	all, open := make([]*cursor, len(group)), []*cursor(nil)
	for i, b := range group {
		all[i] = &cursor{block: b}
		if all[i].next(s.zip) {
			open = append(open, all[i])
		}
	}
	var chunks []chunk
	for len(open) > 0 {
		first := open[0].entries[0].labels
		for _, c := range open[1:] {
			if l := c.entries[0].labels; labels.Compare(l, first) < 0 {
				first = l
			}
		}
		chunks = chunks[:0]
		open = slices.DeleteFunc(open, func(c *cursor) bool {
			e := &c.entries[0]
			if !labels.Equal(e.labels, first) {
				return false
			}
			if err := e.load(c.file); err != nil {
				c.damaged = true
			} else {
				chunks = append(chunks, e.chunks...)
			}
			return !c.next(s.zip)
		})
		w.add(first, repack(chunks))
	}
	b, err := w.finish(s.dir, group[len(group)-1].to)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(s.blocks, group[0])
	rest := slices.Clone(s.blocks[i+len(group):])
	s.blocks = slices.Clone(s.blocks[:i])
	if b != nil {
		s.blocks = append(s.blocks, b)
	}
	s.blocks = append(s.blocks, rest...)
	if err := s.list(false); err != nil {
		return err
	}
	for _, c := range all {
		if !c.damaged {
			err = errors.Join(err, s.retire(c.block))
			continue
		}
		err = errors.Join(err, c.leave(), s.aside(Loss{File: c.path, From: time.UnixMilli(c.least).UTC(), To: time.UnixMilli(c.most).UTC(), Samples: -1}))
	}
	return err
}

// repack combines many small chunks into fewer ones.
func repack(chunks []chunk) []chunk {
	n := int64(0)
	for i := range chunks {
		n += chunks[i].samples()
	}
	if len(chunks) < 2 || n/int64(len(chunks)) >= fewInMean {
		return chunks
	}
	m := memory{last: math.MinInt64}
	it := iterator{chunks: chunks}
	for it.next() {
		at, number := it.At()
		m.append(at, number, math.MaxInt64)
	}
	if m.open != nil {
		m.seal()
	}
	return m.full
}
