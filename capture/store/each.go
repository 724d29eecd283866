package store

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
)

// A Range are the samples of one series in a stretch of time. It is valid until the next one.
type Range struct {
	series storage.Series
	it     chunkenc.Iterator
	to     int64
	from   int64
}

// Next moves to the next sample, in the order of time.
func (r *Range) Next() bool {
	for kind := r.it.Next(); kind != chunkenc.ValNone; kind = r.it.Next() {
		if kind != chunkenc.ValFloat {
			continue
		}
		if at := r.it.AtT(); at >= r.from && at <= r.to {
			return true
		}
	}
	return false
}

// At returns the sample: its time in milliseconds since 1970, and its number, which may be Stale.
func (r *Range) At() (ms int64, number float64) { return r.it.At() }

// Err returns why Next ended, when that was not the end.
func (r *Range) Err() error { return r.it.Err() }

// Label returns the value of a label; empty without it.
func (r *Range) Label(name string) string { return r.series.Labels().Get(name) }

// Labels calls f with every label in the order of names; the name of the metric is __name__.
func (r *Range) Labels(f func(name, value string)) {
	r.series.Labels().Range(func(l labels.Label) { f(l.Name, l.Value) })
}

// Each calls f with every series that has samples from one time to another, both included, in the order of
// labels; names, when there are any, are those of the metrics.
func (s *Store) Each(ctx context.Context, from, to time.Time, f func(*Range) error, names ...string) error {
	return s.EachOf(ctx, from, to, f, names)
}

// EachOf is Each of the series that have these labels, given as pairs.
func (s *Store) EachOf(ctx context.Context, from, to time.Time, f func(*Range) error, names []string, pairs ...string) (err error) {
	which := []*labels.Matcher{labels.MustNewMatcher(labels.MatchNotEqual, model.MetricNameLabel, "")}
	if len(names) > 0 {
		if which[0], err = labels.NewMatcher(labels.MatchRegexp, model.MetricNameLabel, strings.Join(names, "|")); err != nil {
			return err
		}
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		which = append(which, labels.MustNewMatcher(labels.MatchEqual, pairs[i], pairs[i+1])) // of text no expression is compiled
	}
	q, err := s.db.Querier(from.UnixMilli(), to.UnixMilli())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, q.Close()) }()
	all := q.Select(ctx, true, nil, which...)
	r := &Range{from: from.UnixMilli(), to: to.UnixMilli()}
	for all.Next() {
		r.series = all.At()
		r.it = r.series.Iterator(r.it)
		if err := f(r); err != nil {
			return err
		}
	}
	return all.Err()
}

// Both reads two stores as one; they have no series in common.
func Both(a, b *Store) storage.Queryable {
	return storage.QueryableFunc(func(from, to int64) (storage.Querier, error) {
		x, err := a.db.Querier(from, to)
		if err != nil {
			return nil, err
		}
		y, err := b.db.Querier(from, to)
		if err != nil {
			return nil, errors.Join(err, x.Close())
		}
		return storage.NewMergeQuerier([]storage.Querier{x, y}, nil, storage.ChainedSeriesMerge), nil
	})
}

// Newest returns the time of the newest sample; zero without one.
func (s *Store) Newest() time.Time {
	newest := s.db.Head().MaxTime()
	for _, b := range s.db.Blocks() {
		newest = max(newest, b.MaxTime()-1)
	}
	if newest < 0 { // an empty head
		return time.Time{}
	}
	return time.UnixMilli(newest)
}

// Oldest returns a time before which there is no sample; zero without one.
func (s *Store) Oldest() time.Time {
	if s.Newest().IsZero() {
		return time.Time{}
	}
	oldest := s.db.Head().MinTime()
	for _, b := range s.db.Blocks() {
		oldest = min(oldest, b.MinTime())
	}
	return time.UnixMilli(oldest)
}
