// Package store persists time series on disk: Append writes samples and Queryable reads them. Names and labels are those of
// /metrics.
//
// The newest samples are in memory and, tick by tick, in a journal. Older samples are in blocks, one file for each time range, which
// are merged into larger blocks as they age. Everything on disk has a checksum. On opening, the store detects damage, saves the
// intact parts, sets the damaged file aside, and reports the losses in State.
package store

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/tsdb/fileutil"
)

// Options limit the age and size of the data. The zero value of each field selects the default.
type Options struct {
	Retain      time.Duration // default 30 days
	RetainBytes int64         // of blocks; 0 for no limit
	Reserve     int64         // disk space in bytes that stays free, default 2 GiB; below it nothing is appended
	// Free returns the free bytes of a folder's disk; nil uses the operating system.
	Free func(dir string) (int64, error)
	// Lost is called for each loss when it is found. It must not call the store.
	Lost func(Loss)
}

// A Store is one open database. Its methods are safe for concurrent use.
type Store struct {
	dir     string
	o       Options
	span    int64 // ms: length of the blocks that the head is written to
	largest int64 // ms: maximum length of a block
	lock    fileutil.Releaser
	zip     *packer

	upkeep sync.WaitGroup // at most one runs

	mu      sync.RWMutex
	head    head
	journal *journal
	blocks  []*block // in time order; they do not overlap
	losses  []Loss
	damaged int64      // damaged chunks found since it was opened
	state   State      // Full, Appended, Left and Error
	busy    bool       // upkeep is running
	idle    *sync.Cond // on mu: upkeep has ended
	again   time.Time  // when failed upkeep is retried
	broken  error
}

// A Series is one series for Append.
type Series struct {
	labels labels.Labels
	in     *memory // created on the first append
}

// A Sample is one number of a series.
type Sample struct {
	Series *Series
	Number float64
}

// Stale is the number that ends a series: it has no value from then on.
var Stale = math.Float64frombits(value.StaleNaN)

// ErrBroken is wrapped by the error of a failed write in Append. Nothing can be appended until the store is opened again; earlier
// samples are safe.
var ErrBroken = errors.New("the store cannot write")

// Names of files in the folder, apart from blocks and journals.
const (
	lockName = "lock"
	tmpEnd   = ".tmp"
)

// Defaults of Options, and time ranges.
const (
	defaultRetain  = 30 * 24 * time.Hour
	defaultReserve = 2 << 30
	late           = 10 * time.Minute // maximum time difference between appends, for two collectors and late hosts
	largestBlock   = 31 * 24 * time.Hour
	shortSpan      = time.Hour
	mostAhead      = 6              // spans that may be appended while one is written
	longSpan       = 24 * time.Hour // for a store that retains data for more than longRetain, such as one number an hour
	longRetain     = 100 * 24 * time.Hour
)

// Open opens the database in a folder, and creates the folder if necessary. It reads and checks everything.
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
		return nil, fmt.Errorf("%s: %d MB are free, want %d MB to open a database", dir, free>>20, o.Reserve/2>>20)
	}
	if err := foreign(dir); err != nil {
		return nil, err
	}
	s := &Store{dir: dir, o: o, span: shortSpan.Milliseconds(), head: newHead()}
	if err := s.clear(lockName); err != nil {
		return nil, err
	}
	var err error
	if s.lock, _, err = fileutil.Flock(filepath.Join(dir, lockName)); err != nil {
		return nil, explain(dir, err)
	}
	if s.zip, err = newPacker(); err != nil {
		return nil, errors.Join(err, s.lock.Release())
	}
	s.idle = sync.NewCond(&s.mu)
	if o.Retain > longRetain {
		s.span = longSpan.Milliseconds()
	}
	s.largest = max(s.span, min(largestBlock, o.Retain/10).Milliseconds())
	if err := s.load(); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", dir, err), s.closeFiles(), s.lock.Release())
	}
	return s, nil
}

// explain returns an error that mentions another process if it has locked the folder.
func explain(dir string, err error) error {
	if _, stat := os.Stat(filepath.Join(dir, lockName)); stat == nil && locked(err) {
		return fmt.Errorf("%s: another process has it open: only one can write", dir)
	}
	return fmt.Errorf("%s: %w", dir, err)
}

// foreign rejects the folder of another database.
func foreign(dir string) error {
	for _, name := range []string{"wal", "chunks_head"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return fmt.Errorf("%s: is a database of Prometheus (it has %s): name another folder", dir, name)
		}
	}
	return nil
}

// load reads the folder.
func (s *Store) load() error {
	files, err := os.ReadDir(s.dir)
	if err != nil {
		return err
	}
	there := map[string]bool{}
	for _, f := range files {
		there[f.Name()] = true
		if err := s.clear(f.Name()); err != nil {
			return err
		}
	}
	listed, err := s.readList()
	if err != nil {
		return err
	}
	if err := s.loadBlocks(); err != nil {
		return err
	}
	for _, b := range s.blocks {
		s.head.floor = max(s.head.floor, b.to)
		s.head.newest = max(s.head.newest, b.most)
	}
	s.journal = &journal{}
	if err := s.replay(listed, there); err != nil {
		return err
	}
	return s.list(false)
}

// Series returns the series of a name and label/value pairs; equal arguments give the same series.
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

// Append adds samples of one time, all or none. While the disk is nearly full it skips them and reports false. An error that wraps
// ErrBroken is final for this store. Append skips a sample that is not newer than the last one of its series, one that is older than
// the newest block, and one that is ahead of the clock by more than late: after such a sample all others would be too old.
func (s *Store) Append(ctx context.Context, at time.Time, samples []Sample) (kept bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.busy && s.head.newest-s.head.floor > mostAhead*s.span && s.broken == nil {
		s.idle.Wait()
	}
	if s.broken != nil {
		return false, s.broken
	}
	if ok, err := s.room(); err != nil || !ok {
		s.state.Left += int64(len(samples))
		return false, err
	}
	if time.Until(at) > late {
		s.state.Left += int64(len(samples))
		return true, nil
	}
	ms := at.UnixMilli()
	s.journal.begin(ms)
	taken := s.head.taken[:0]
	for i := range samples {
		m := s.head.of(samples[i].Series)
		if ms <= m.last || ms < s.head.floor {
			s.state.Left++
			continue
		}
		m.last = ms
		s.journal.add(m, samples[i].Number)
		taken = append(taken, appended{m, samples[i].Number})
	}
	s.head.taken = taken
	if len(taken) == 0 {
		return true, nil
	}
	if err := s.journal.end(); err != nil {
		s.broken = fmt.Errorf("%s: %w: %w", s.dir, ErrBroken, err)
		return false, s.broken
	}
	for _, x := range taken {
		x.memory.append(ms, x.number, s.span)
	}
	s.head.took(ms)
	s.state.Appended += int64(len(taken))
	s.keepUp()
	return true, nil
}

// room reports whether the free disk space exceeds the reserve; after it was too low, 1.5 times the reserve is required. s.mu is
// locked.
func (s *Store) room() (bool, error) {
	free, err := s.o.Free(s.dir)
	if err != nil {
		return false, err
	}
	least := s.o.Reserve
	if s.state.Full {
		least += s.o.Reserve / 2
	}
	s.state.Full = free < least
	return !s.state.Full, nil
}

// A State is the status of a Store.
type State struct {
	Full     bool   `json:"full"`              // the disk is full: nothing is appended
	Appended int64  `json:"appended"`          // samples since it was opened
	Left     int64  `json:"left"`              // skipped samples
	Series   int    `json:"series"`            // of the last hours
	Bytes    int64  `json:"bytes"`             // of blocks
	Free     int64  `json:"free"`              // on the disk
	Upkeep   string `json:"upkeep,omitempty"`  // why samples stay in the journal
	Damaged  int64  `json:"damaged,omitempty"` // series of blocks that could not be read since it was opened
	Losses   []Loss `json:"losses,omitempty"`  // damaged or missing files found since it was opened
}

// State returns the status.
func (s *Store) State() State {
	free, _ := s.o.Free(s.dir) // 0 if it is unknown
	s.mu.RLock()
	defer s.mu.RUnlock()
	x := s.state
	x.Series, x.Free, x.Damaged, x.Losses = s.head.count, free, s.damaged, s.losses
	for _, b := range s.blocks {
		x.Bytes += b.size
	}
	return x
}

// Newest returns the time of the newest sample; zero without one.
func (s *Store) Newest() time.Time {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.head.newest < 0 {
		return time.Time{}
	}
	return time.UnixMilli(s.head.newest)
}

// Oldest returns a time before which there is no sample; zero without one.
func (s *Store) Oldest() time.Time {
	s.mu.RLock()
	defer s.mu.RUnlock()
	switch {
	case len(s.blocks) > 0:
		return time.UnixMilli(s.blocks[0].least)
	case s.head.newest < 0:
		return time.Time{}
	}
	return time.UnixMilli(s.head.begin)
}

// Close stops upkeep and closes the database.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.broken == nil {
		s.broken = fmt.Errorf("%s: it is closed", s.dir)
	}
	s.idle.Broadcast()
	s.mu.Unlock()
	s.upkeep.Wait()
	s.mu.Lock()
	err := s.list(true)
	s.mu.Unlock()
	return errors.Join(err, s.closeFiles(), s.lock.Release())
}

// closeFiles closes the open files. A block's file stays open for its last reader to close.
func (s *Store) closeFiles() (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.journal != nil {
		err = s.journal.close()
	}
	for _, b := range s.blocks {
		err = errors.Join(err, b.leave())
	}
	s.blocks = nil
	return err
}
