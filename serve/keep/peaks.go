package keep

import (
	"context"
	"math"
	"strconv"
	"time"

	"example.org/homenode/capture/store"
	"example.org/homenode/numa"
	"example.org/homenode/rules/check/headroom"
	"example.org/homenode/serve/board"
)

// The part of the previous day that is examined: as far ahead as an owner can still move a VM.
const (
	day       = 24 * time.Hour
	ahead     = 2 * time.Hour
	lookback  = 5 * time.Minute // maximum age of the first sample, as in PromQL
	peaksKept = 5 * time.Minute
)

// Peaks returns PeaksOf the store, cached for a few minutes. It returns none while the store is closed, or if it has no data from a day ago.
func (k *Keeper) Peaks(ctx context.Context, now time.Time) (map[board.Node]headroom.Peak, error) {
	k.mu.Lock()
	s, peaks, age := k.store, k.peaks, now.Sub(k.peaksAt)
	k.mu.Unlock()
	if s == nil || peaks != nil && age >= 0 && age < peaksKept {
		return peaks, nil
	}
	peaks, err := PeaksOf(ctx, s, now)
	if err == nil {
		k.mu.Lock()
		k.peaks, k.peaksAt = peaks, now
		k.mu.Unlock()
	}
	return peaks, err
}

// PeaksOf returns for each node the memory that was used a day ago in the hours after now, and freed since. Memory that was never freed, such as
// after a first touch, cannot be used again.
func PeaksOf(ctx context.Context, s *store.Store, now time.Time) (map[board.Node]headroom.Peak, error) {
	peaks := map[board.Node]headroom.Peak{}
	begin := now.Add(-day)
	end := begin.Add(ahead)
	err := s.Each(ctx, begin.Add(-lookback), now, func(r *store.Range) error {
		node, err := strconv.Atoi(r.Label("node"))
		if err != nil {
			return nil // not about a node
		}
		was, least, most, at := -1.0, 0.0, 0.0, int64(0)
		for r.Next() {
			ms, free := r.At()
			if math.IsNaN(free) { // the series ended for a while
				continue
			}
			if ms > end.UnixMilli() {
				most = max(most, free)
				continue
			}
			if ms <= begin.UnixMilli() || was < 0 { // the last one before begin, or the first
				was, least, at = free, free, ms
			}
			if free < least {
				least, at = free, ms
			}
		}
		if was = min(was, most); was > least {
			peaks[board.Node{VCenter: r.Label("vcenter"), Host: r.Label("host"), Number: node}] =
				headroom.Peak{Node: node, Took: numa.Bytes(was - least), At: time.UnixMilli(at)}
		}
		return r.Err()
	}, "homenode_node_memory_free_bytes")
	return peaks, err
}
