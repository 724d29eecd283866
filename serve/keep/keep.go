// Package keep writes the data of a Board into a store, and with it the means, trends and peaks of each hour. The store is opened while
// collecting; until it is open, samples wait in memory.
package keep

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/prometheus/storage"

	"example.org/homenode/capture/store"
	"example.org/homenode/rules/check/headroom"
	"example.org/homenode/serve/board"
	"example.org/homenode/serve/metrics"
)

// mostWaiting limits the ticks that wait for the store: 1,000 hosts for ten minutes at one tick a minute.
const mostWaiting = 10_000

// A Keeper stores ticks.
type Keeper struct {
	damaged func(store.Loss) // may be nil

	mu      sync.Mutex
	hosts   map[[2]string]*host // by vCenter and ID
	waiting []batch
	lost    int64 // ticks dropped after waiting too long
	losses  []store.Loss
	wake    chan struct{}

	store *store.Store // nil until it is open
	hours *store.Store
	why   error // error of opening or writing the store
	made  bool  // see Made

	peaks   map[board.Node]headroom.Peak
	peaksAt time.Time // when they were read; see Peaks
	trend   []Hour
	trendAt time.Time // when it was read; see Trend
}

// A batch has the samples of one tick.
type batch struct {
	at      time.Time
	samples []sample
}

type sample struct {
	*series
	number float64
}

// A series is one series of a host, identified by its name and labels.
type series struct {
	name   string
	labels []string      // until in is created
	host   [2]string     // name and cluster, of labels
	in     *store.Series // in the store; created on the first append
	turn   uint64        // turn of the host at its last sample
}

// A place identifies a series of a host.
type place struct {
	family, node int
	vm           string // identifies its labels
}

type host struct {
	series map[place]*series
	turn   uint64 // counts ticks
}

// New returns a Keeper without a store: see Run. It calls damaged for each damaged or missing file.
func New(damaged func(store.Loss)) *Keeper {
	return &Keeper{damaged: damaged, hosts: map[[2]string]*host{}, wake: make(chan struct{}, 1)}
}

// Take records the tick of a host. Series that are missing from it end.
func (k *Keeper) Take(h *board.Host) {
	k.mu.Lock()
	defer k.mu.Unlock()
	at := k.host([2]string{h.VCenter, h.ID})
	b := batch{at: h.Tick.Time, samples: make([]sample, 0, len(at.series))}
	at.turn++
	name := [2]string{h.Name, h.Cluster}
	current, vm := -2, "" // neither host nor VM
	var labels []string
	own := metrics.Labels(h, -1) // the labels of a VM begin with them
	metrics.Each(h, func(s metrics.Sample) {
		if s.VM != current {
			current, vm = s.VM, ""
			labels = metrics.Labels(h, s.VM)
			if s.VM >= 0 {
				vm = strings.Join(labels[len(own):], "\x00")
			}
		}
		p := place{s.Family, s.Node, vm}
		x := at.series[p]
		if x != nil && x.host != name {
			b.samples = append(b.samples, sample{x, store.Stale})
			x = nil
		}
		if x == nil {
			x = &series{name: metrics.Families[s.Family].Name, labels: metrics.WithNode(labels, s.Node), host: name}
			at.series[p] = x
		}
		x.turn = at.turn
		b.samples = append(b.samples, sample{x, s.Number})
	})
	k.add(at, b)
}

// TakeOwn records the collector's own samples, which each passes to its argument. Series without a sample this time
// end.
func (k *Keeper) TakeOwn(now time.Time, each func(metrics.Add)) {
	b := batch{at: now}
	found := map[place]*series{}
	each(func(name, kind, _, _ string, number float64, labels ...string) {
		if kind == "counter" {
			name += "_total"
		}
		x := &series{name: name, labels: labels}
		found[place{vm: name + "\x00" + strings.Join(labels, "\x00")}] = x
		b.samples = append(b.samples, sample{x, number})
	})
	k.mu.Lock()
	defer k.mu.Unlock()
	at := k.host([2]string{})
	at.turn++
	for p, x := range found {
		x.turn = at.turn
		at.series[p] = x
	}
	k.add(at, b)
}

// host returns the state of a host; the zero key is the collector itself. k.mu is locked.
func (k *Keeper) host(key [2]string) *host {
	at := k.hosts[key]
	if at == nil {
		at = &host{series: map[place]*series{}}
		k.hosts[key] = at
	}
	return at
}

// add queues a batch for the store, with end markers for series that are missing from it. k.mu is locked.
func (k *Keeper) add(at *host, b batch) {
	for p, x := range at.series {
		if x.turn != at.turn {
			b.samples = append(b.samples, sample{x, store.Stale})
			delete(at.series, p)
		}
	}
	k.waiting = append(k.waiting, b)
	if more := len(k.waiting) - mostWaiting; more > 0 {
		k.lost += int64(more)
		k.waiting = append([]batch(nil), k.waiting[more:]...)
	}
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

// Hours: retention, interval of updates, limit of waiting ticks during an update, and time until history is
// complete.
const (
	hoursKept  = 400 * 24 * time.Hour
	hoursEvery = 30 * time.Second
	mostBusy   = 1000
	settled    = 2 * time.Minute // maximum age of the newest sample before stored history counts as complete, and the maximum wait for that
)

// Run opens the store and appends until ctx ends; then it appends waiting samples and closes the store. It returns
// the error of the store; after one that wraps store.ErrBroken the process must end. Hours are in the subfolder
// "hours".
func (k *Keeper) Run(ctx context.Context, dir string, o store.Options) error {
	o.Lost = k.Lose
	s, err := store.Open(dir, o)
	if err == nil {
		var h *store.Store
		hours := filepath.Join(dir, "hours")
		lost := store.Loss{File: hours, To: s.Oldest().UTC(), Samples: -1, Missing: true}
		if info, gone := os.Stat(hours); gone == nil && !info.IsDir() {
			if lost.File, err = store.SetAside(hours); err == nil {
				lost.Missing = false
				k.Lose(lost)
			}
		} else if gone != nil && !s.Oldest().IsZero() {
			k.Lose(lost)
		}
		if h, err = store.Open(hours, store.Options{Retain: hoursKept, Reserve: o.Reserve, Free: o.Free, Lost: k.Lose}); err != nil {
			err = errors.Join(err, s.Close())
		} else {
			k.mu.Lock()
			k.store, k.hours = s, h
			k.mu.Unlock()
		}
	}
	if err != nil {
		k.mu.Lock()
		k.why = err
		k.mu.Unlock()
		return err
	}
	var all sync.WaitGroup
	broken := make(chan error, 1)
	all.Go(func() { broken <- k.keepHours(ctx, cmp.Or(o.Retain, 30*24*time.Hour)) })
	for ctx.Err() == nil {
		if err := k.write(s); err != nil {
			return err
		}
		select {
		case <-k.wake:
		case err := <-broken:
			if err != nil {
				return err
			}
		case <-ctx.Done():
		}
	}
	all.Wait()
	if err := k.write(s); err != nil {
		return err
	}
	k.mu.Lock()
	h := k.hours
	k.store, k.hours = nil, nil
	k.mu.Unlock()
	return errors.Join(h.Close(), s.Close())
}

// keepHours computes hours until ctx ends.
func (k *Keeper) keepHours(ctx context.Context, since time.Duration) error {
	h, begun := NewHours(k.store, k.hours), time.Now()
	for {
		wait := hoursEvery
		if !k.Made() { // pages wait for the first ones
			wait = time.Second
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
		k.mu.Lock()
		busy := len(k.waiting) > mostBusy // an hour with waiting samples is incomplete
		k.mu.Unlock()
		if busy || time.Since(k.store.Newest()) > settled && time.Since(begun) < settled { // history is still being received
			continue
		}
		err := h.Update(ctx, time.Now(), since)
		if err != nil && ctx.Err() == nil {
			return err
		}
		k.mu.Lock()
		k.made = err == nil
		k.mu.Unlock()
	}
}

// Made reports whether the hours that had ended at the start are computed, or never will be.
func (k *Keeper) Made() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.made || k.why != nil
}

// Lose records a damaged or missing file: one of the store, or another one in its folder.
func (k *Keeper) Lose(x store.Loss) {
	k.mu.Lock()
	k.losses = append(k.losses, x)
	k.mu.Unlock()
	if k.damaged != nil {
		k.damaged(x)
	}
}

// write appends the waiting samples.
func (k *Keeper) write(s *store.Store) error {
	k.mu.Lock()
	all := k.waiting
	k.waiting = nil
	k.mu.Unlock()
	var out []store.Sample
	for i := range all {
		out = out[:0]
		for _, x := range all[i].samples {
			if x.in == nil {
				x.in, x.labels = s.Series(x.name, x.labels...), nil
			}
			out = append(out, store.Sample{Series: x.in, Number: x.number})
		}
		// An append that began is completed, even if collecting ends.
		if _, err := s.Append(context.Background(), all[i].at, out); err != nil {
			k.mu.Lock()
			k.why = err
			k.mu.Unlock()
			return err
		}
	}
	return nil
}

// Queryable returns read access to samples and hours, or an error while nothing can be read.
func (k *Keeper) Queryable() (storage.Queryable, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.store == nil {
		return nil, cmp.Or(k.why, errors.New("the store is being opened"))
	}
	return store.Both(k.store, k.hours), nil
}

// Store returns the store if it is open; otherwise the error, which is nil during opening.
func (k *Keeper) Store() (*store.Store, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.store, k.why
}

// A State is the status of a Keeper.
type State struct {
	Open    bool   `json:"open"`
	Error   string `json:"error,omitempty"`
	Waiting int    `json:"waiting"` // ticks
	Lost    int64  `json:"lost"`    // ticks dropped after waiting too long
	store.State
}

// State returns the status.
func (k *Keeper) State() State {
	k.mu.Lock()
	x := State{Open: k.store != nil, Waiting: len(k.waiting), Lost: k.lost}
	s, losses := k.store, slices.Clone(k.losses)
	if k.why != nil {
		x.Error = k.why.Error()
	}
	k.mu.Unlock()
	if s != nil {
		x.State = s.State()
	}
	x.Losses = losses
	return x
}
