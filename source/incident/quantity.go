package incident

import (
	"time"

	"example.org/homenode/internal/words"

	"example.org/homenode/numa"
	"example.org/homenode/source/word"
)

// A quantity is one keyword of a line about a host, a node or a VM: the form of its value, and
// the field of a tick that it sets. Those without set are combined with others.
type quantity[T any] struct {
	word string
	form form
	bit  numa.Counters // marks the quantity as present in the tick
	set  func(t *T, value float64)
}

var hostQuantities = []quantity[numa.Tick]{
	{"free", size, numa.HasFree, func(t *numa.Tick, v float64) { t.Free = pages(v) }},
	{"minFree", size, numa.HasMinFree, func(t *numa.Tick, v float64) { t.MinFree = pages(v) }},
	{"state", memoryState, numa.HasState, func(t *numa.Tick, v float64) { t.State = numa.MemoryState(v) }},
	{"memory", size, numa.HasTotal, func(t *numa.Tick, v float64) { t.Memory = pages(v) }},
	{"shared", size, numa.HasShared, func(t *numa.Tick, v float64) { t.Shared = pages(v) }}, // includes the VMkernel's
	{"common", size, numa.HasCommon, func(t *numa.Tick, v float64) { t.Common = pages(v) }},
}

var nodeQuantities = []quantity[numa.NodeTick]{
	{"memory", size, numa.HasTotal, func(t *numa.NodeTick, v float64) { t.Total = pages(v) }},
	{"free", size, numa.HasFree, func(t *numa.NodeTick, v float64) { t.Free = pages(v) }},
	{"busy", share, numa.HasCore, func(t *numa.NodeTick, v float64) { t.Core = v }}, // of cores
	{"util", share, numa.HasUtil, func(t *numa.NodeTick, v float64) { t.Util = v }}, // of PCPUs
	{"used", share, numa.HasUsed, func(t *numa.NodeTick, v float64) { t.Used = v }}, // of PCPUs, scaled by frequency
}

var vmQuantities = []quantity[numa.VMTick]{
	{"memory", size, numa.HasSize, func(t *numa.VMTick, v float64) { t.Size = pages(v) }},
	{"local", size, 0, nil},
	{"remote", size, 0, nil},
	{"granted", size, numa.HasGranted, func(t *numa.VMTick, v float64) { t.Granted = pages(v) }},
	{"consumed", size, numa.HasConsumed, func(t *numa.VMTick, v float64) { t.Consumed = pages(v) }},
	{"active", size, numa.HasActive, func(t *numa.VMTick, v float64) { t.Active = pages(v) }},
	{"shared", size, numa.HasShared, func(t *numa.VMTick, v float64) { t.Shared = pages(v) }},
	{"saved", size, numa.HasSaved, func(t *numa.VMTick, v float64) { t.Saved = pages(v) }},
	{"zero", size, numa.HasZero, func(t *numa.VMTick, v float64) { t.Zero = pages(v) }},
	{"hint", size, numa.HasHint, func(t *numa.VMTick, v float64) { t.Hint = pages(v) }},
	{"large", size, numa.HasLarge, func(t *numa.VMTick, v float64) { t.Large = pages(v) }},
	{"balloon", size, numa.HasBalloon, func(t *numa.VMTick, v float64) { t.Balloon = pages(v) }},
	{"swapped", size, numa.HasSwapped, func(t *numa.VMTick, v float64) { t.Swapped = pages(v) }},
	{"compressed", size, numa.HasCompressed, func(t *numa.VMTick, v float64) { t.Compressed = pages(v) }},
	// Shares of one vCPU: tick multiplies them by the vCPUs.
	{"ready", share, numa.HasReady, func(t *numa.VMTick, v float64) { t.Ready = v }},
	{"costop", share, numa.HasCoStop, func(t *numa.VMTick, v float64) { t.CoStop = v }},
	{"used", share, numa.HasUsed, func(t *numa.VMTick, v float64) { t.Used = v }},
	{"run", share, numa.HasRun, func(t *numa.VMTick, v float64) { t.Run = v }},
	{"gid", count, 0, func(t *numa.VMTick, v float64) { t.GID = int64(v) }},
	{"vcpus", count, 0, func(t *numa.VMTick, v float64) { t.VCPUs = int(v) }},
	{"percent", count, 0, nil},
	{"moves", count, 0, func(t *numa.VMTick, v float64) { t.Moves.All = int64(v) }},
	{"balance", count, 0, func(t *numa.VMTick, v float64) { t.Moves.Balance = int64(v) }},
	{"loadSwap", count, 0, func(t *numa.VMTick, v float64) { t.Moves.LoadSwap = int64(v) }},
	{"localityMoves", count, 0, func(t *numa.VMTick, v float64) { t.Moves.Locality = int64(v) }},
	{"localitySwap", count, 0, func(t *numa.VMTick, v float64) { t.Moves.LocalitySwap = int64(v) }},
	{"fairness", count, 0, func(t *numa.VMTick, v float64) { t.Moves.Fairness = int64(v) }},
}

// most is the maximum amount of memory in an incident.
const most = 1024 * numa.TiB

// A form is the syntax of the value of a quantity. One that steps is not interpolated.
type form struct {
	read  func(word.Word) (float64, error)
	steps bool
}

var (
	size = form{read: func(w word.Word) (float64, error) {
		if w.Value == "0" {
			return 0, nil
		}
		b, err := w.Bytes(w.Value, most)
		return float64(b), err
	}}
	share = form{read: func(w word.Word) (float64, error) { return w.Share(w.Value, 10) }}
	count = form{steps: true, read: func(w word.Word) (float64, error) {
		n, err := w.Number(0, 1<<31-1)
		return float64(n), err
	}}
	memoryState = form{steps: true, read: func(w word.Word) (float64, error) {
		var s numa.MemoryState
		if err := s.UnmarshalText([]byte(w.Value)); err != nil {
			return 0, word.Errorf(w.Col, "found %q, want high, clear, soft, hard or low", word.Short(w.Value))
		}
		return float64(s), nil
	}}
)

// tracks are the quantities of one host, node or VM over time, by keyword.
type tracks map[string]*track

// of returns the track of a keyword.
func (ts tracks) of(name string) *track {
	if ts[name] == nil {
		ts[name] = &track{}
	}
	return ts[name]
}

// value returns the quantity at a time; false if it is not stated.
func (ts tracks) value(name string, at time.Duration) (float64, bool) {
	if t := ts[name]; t != nil {
		return t.value(at)
	}
	return 0, false
}

// state applies a word from a time on; known is false if the word is not a quantity. Sizes and
// shares change linearly during over.
func state[T any](list []quantity[T], ts tracks, w word.Word, at, over time.Duration) (known bool, err error) {
	for _, q := range list {
		if q.word == w.Key {
			return true, ts.of(w.Key).read(q.form, w, at, over)
		}
	}
	return false, nil
}

// wordsOf returns the keywords of quantities.
func wordsOf[T any](list []quantity[T]) []string {
	return words.Texts(list, func(q quantity[T]) string { return q.word })
}

// show sets the quantities of t at a time, and returns those that are present.
func show[T any](list []quantity[T], ts tracks, t *T, at time.Duration) (has numa.Counters) {
	for _, q := range list {
		if v, ok := ts.value(q.word, at); ok && q.set != nil {
			has |= q.bit
			q.set(t, v)
		}
	}
	return has
}
