// Package store keeps samples over time on disk: Prometheus's own database behind Append,
// Queryable and Close. Names and labels are those of /metrics.
package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb"
	"github.com/prometheus/prometheus/util/compression"
)

// Options say how long and how much is kept. The zero value of each field is the default.
type Options struct {
	Retain      time.Duration // 30 days
	RetainBytes int64         // of blocks; 0 for no limit
	Reserve     int64         // bytes of the disk that stay free: 2 GiB; below it nothing is appended
	// Free returns the free bytes of the disk of a folder; nil asks the system.
	Free func(dir string) (int64, error)
}

// A Store is one open database. Its methods may be called at the same time.
type Store struct {
	dir     string
	db      *tsdb.DB
	reserve int64
	free    func(string) (int64, error)

	mu       sync.Mutex
	full     bool
	appended atomic.Int64
	left     atomic.Int64
}

// A Series is one series to append to.
type Series struct {
	labels labels.Labels
	ref    storage.SeriesRef
}

// A Sample is one number of a series.
type Sample struct {
	Series *Series
	Number float64
}

// Stale is the number that ends a series: it has no value from then on.
var Stale = math.Float64frombits(value.StaleNaN)

// ErrBroken is wrapped by the error of an Append whose commit failed. What was acknowledged before is
// safe only if the process ends now, without Close: the next Append or Close would damage it.
var ErrBroken = errors.New("the store cannot write")

// defaults of Options.
const (
	defaultRetain  = 30 * 24 * time.Hour
	defaultReserve = 2 << 30
	outOfOrder     = 10 * time.Minute // two collectors, late hosts
	largestBlock   = 31 * 24 * time.Hour
)

// Open opens the database in a folder, which is made when it is not there. After a kill it may take
// minutes to read what was not yet in blocks.
func Open(dir string, o Options) (*Store, error) {
	if o.Retain <= 0 {
		o.Retain = defaultRetain
	}
	if o.Reserve <= 0 {
		o.Reserve = defaultReserve
	}
	if o.Free == nil {
		o.Free = freeBytes
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if free, err := o.Free(dir); err != nil {
		return nil, err
	} else if free < o.Reserve/2 {
		return nil, fmt.Errorf("%s: %d MB are free, want %d MB: opening a database on a full disk could damage it", dir, free>>20, o.Reserve/2>>20)
	}
	opts := tsdb.DefaultOptions()
	opts.RetentionDuration = o.Retain.Milliseconds()
	opts.MaxBytes = o.RetainBytes
	opts.MaxBlockDuration = max(opts.MinBlockDuration, min(largestBlock, o.Retain/10).Milliseconds()) // as Prometheus has it
	opts.OutOfOrderTimeWindow = outOfOrder.Milliseconds()
	opts.WALCompression = compression.Snappy
	db, err := tsdb.Open(dir, slog.New(slog.DiscardHandler), nil, opts, nil)
	if err != nil {
		return nil, explain(dir, err)
	}
	return &Store{dir: dir, db: db, reserve: o.Reserve, free: o.Free}, nil
}

// explain says in words that another process has the folder.
func explain(dir string, err error) error {
	if _, stat := os.Stat(filepath.Join(dir, "lock")); stat == nil && locked(err) {
		return fmt.Errorf("%s: another process has it open: only one can write", dir)
	}
	return fmt.Errorf("%s: %w", dir, err)
}

// Series returns the series of a name and pairs of label and value, the same for the same.
func (s *Store) Series(name string, pairs ...string) *Series {
	b := labels.NewScratchBuilder(1 + len(pairs)/2)
	b.Add(model.MetricNameLabel, name)
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			b.Add(pairs[i], pairs[i+1])
		}
	}
	b.Sort()
	return &Series{labels: b.Labels()}
}

// Append adds samples of one time, all or none. It leaves them out, and reports false, while the
// disk is nearly full. An error that wraps ErrBroken ends the store. A sample that is older than one of its
// series is left out, and so is one that is more than outOfOrder ahead of the clock: the database would refuse all others.
func (s *Store) Append(ctx context.Context, at time.Time, samples []Sample) (kept bool, err error) {
	if ok, err := s.room(); err != nil || !ok {
		s.left.Add(int64(len(samples)))
		return false, err
	}
	if time.Until(at) > outOfOrder {
		s.left.Add(int64(len(samples)))
		return true, nil
	}
	a := s.db.Appender(ctx)
	ms, n := at.UnixMilli(), 0
	for i := range samples {
		x := samples[i].Series
		ref, err := a.Append(x.ref, x.labels, ms, samples[i].Number)
		switch {
		case err == nil:
			x.ref = ref
			n++
		case errors.Is(err, storage.ErrOutOfOrderSample), errors.Is(err, storage.ErrTooOldSample), errors.Is(err, storage.ErrDuplicateSampleForTimestamp), errors.Is(err, storage.ErrOutOfBounds):
			s.left.Add(1)
		default:
			return false, errors.Join(fmt.Errorf("%s: %w: %w", s.dir, ErrBroken, err), a.Rollback())
		}
	}
	if err := a.Commit(); err != nil {
		return false, fmt.Errorf("%s: %w: %w", s.dir, ErrBroken, err)
	}
	s.appended.Add(int64(n))
	return true, nil
}

// room reports whether the disk has more free than the reserve, and, once it had not, half
// more than that.
func (s *Store) room() (bool, error) {
	free, err := s.free(s.dir)
	if err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	least := s.reserve
	if s.full {
		least += s.reserve / 2
	}
	s.full = free < least
	return !s.full, nil
}

// Queryable reads what is kept.
func (s *Store) Queryable() storage.Queryable { return s.db }

// A State is how a Store goes.
type State struct {
	Full     bool  `json:"full"`     // the disk: nothing is appended
	Appended int64 `json:"appended"` // samples since it was opened
	Left     int64 `json:"left"`     // samples that were left out
	Series   int   `json:"series"`   // of the last hours
	Bytes    int64 `json:"bytes"`    // of blocks
	Free     int64 `json:"free"`     // of the disk
}

// State returns how it goes.
func (s *Store) State() State {
	x := State{Appended: s.appended.Load(), Left: s.left.Load(), Series: int(s.db.Head().NumSeries())}
	for _, b := range s.db.Blocks() {
		x.Bytes += b.Size()
	}
	x.Free, _ = s.free(s.dir) // 0 when it cannot be told
	s.mu.Lock()
	defer s.mu.Unlock()
	x.Full = s.full
	return x
}

// Close writes what is open and closes the database. It must not be called after an error that
// wraps ErrBroken.
func (s *Store) Close() error { return s.db.Close() }
