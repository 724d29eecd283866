package capture

import (
	"fmt"
	"math/rand/v2"
	"time"

	"example.org/homenode/numa"
)

// some are Options of sensible size.
var some = Options{
	Locality: 0.8, Remote: 4 * numa.GiB, BusyNode: 0.8, IdleNode: 0.2, Ready: 0.05,
	SpillFree: 12 * numa.GiB, SpillStep: 256 * numa.MiB, Lopsided: 0.95,
	Window: 10 * time.Minute, Gap: 5 * time.Minute, Buckets: 256,
}

// tight are Options by which much happens in few ticks.
var tight = Options{
	Locality: 0.8, Remote: 4 * numa.GiB, BusyNode: 0.6, IdleNode: 0.4, Ready: 0.05,
	SpillFree: 4 * numa.GiB, SpillStep: numa.GiB, Lopsided: 0.7,
	Window: 20 * time.Second, Gap: 12 * time.Second, Buckets: 5, Needs: true,
}

var start = time.Date(2026, 11, 20, 8, 0, 3, 0, time.UTC)

// A world makes ticks of a host on which everything that a Recording looks at happens
// again and again.
type world struct {
	*rand.Rand
	t     numa.Tick
	known []numa.VMTick // VMs by name, there or not
	lacks numa.Counters // never stated of VMs
	more  *rand.Rand    // for what came later, so that a seed keeps its world
}

func newWorld(seed uint64) *world {
	w := &world{Rand: rand.New(rand.NewPCG(seed, 4)), more: rand.New(rand.NewPCG(seed, 6))}
	w.t = numa.Tick{Host: "esx01", Time: start}
	if seed%3 == 0 {
		w.lacks = numa.HasCoStop | numa.HasPercent
	}
	for i := range 6 {
		w.known = append(w.known, numa.VMTick{GID: int64(100 + i), Name: fmt.Sprintf("vm%d", i), VCPUs: 2 + i, Homes: numa.SetOf(i % 3)})
	}
	w.known[4].Name, w.known[4].GID = "vm3", -1 // one name
	w.known[5].Name, w.known[5].GID = "vm3", -1 // and no GID either
	return w
}

func (w *world) one(in int) bool { return w.IntN(in) == 0 }

func (w *world) bytes(gib int) numa.Bytes { return numa.Bytes(w.Int64N(int64(gib) << 30)) }

// next returns the next tick; it is lent.
func (w *world) next() *numa.Tick {
	t := &w.t
	t.Line++
	step := []time.Duration{2 * time.Second, 5 * time.Second, 5500 * time.Millisecond, 12 * time.Second, 13 * time.Second, 3 * time.Minute}[min(w.IntN(12), w.IntN(12), 5)]
	t.Time = t.Time.Add(step)
	t.Since = step
	if w.one(3) {
		t.Since = 0
	}
	t.Has = numa.HasFree
	if !w.one(4) {
		t.Has |= numa.HasState | numa.HasMinFree
		t.State, t.MinFree = numa.MemoryState(w.IntN(5)), w.bytes(4)
	}
	t.Nodes = t.Nodes[:0]
	none := w.one(5)
	for id := range 3 {
		if none {
			break
		}
		n := numa.NodeTick{ID: id, Has: numa.HasTotal, Total: 64 * numa.GiB}
		if !w.one(8) {
			n.Has |= numa.HasFree | numa.HasUtil
			n.Free, n.Util = w.bytes(10), w.Float64()
			if w.lacks != 0 && w.one(5) {
				n.Free = 0
			}
		}
		t.Nodes = append(t.Nodes, n)
	}
	t.VMs = t.VMs[:0]
	for i := range w.known {
		v := &w.known[i]
		if w.one(40) {
			v.GID += 10 // another life
		}
		if w.one(5) {
			continue
		}
		w.vm(v)
		t.VMs = append(t.VMs, *v)
	}
	if w.one(6) {
		w.Shuffle(len(t.VMs), func(i, j int) { t.VMs[i], t.VMs[j] = t.VMs[j], t.VMs[i] })
	}
	return t
}

func (w *world) vm(v *numa.VMTick) {
	v.Has = 0
	if !w.one(10) {
		v.Has |= numa.HasHomes | numa.HasMoves
		v.Moves = numa.Moves{}
		if w.one(3) {
			v.Homes = []numa.NodeSet{0, 1, 2, 3, 5, 4}[w.IntN(6)]
			v.Moves.All = w.Int64N(3)
			if w.one(2) {
				v.Has |= numa.HasKinds
				v.Moves.Locality = v.Moves.All
			}
		}
	}
	if !w.one(10) {
		v.Has |= numa.HasMemory | numa.HasPercent
		switch w.IntN(6) {
		case 0:
			v.Local, v.Remote = 0, 0
		case 1:
			v.Local, v.Remote = w.bytes(16), w.bytes(16)
		case 2, 3:
			v.Remote += w.bytes(3)
		}
		v.Has |= numa.HasFar
		v.Far = v.Remote + v.Local/4
		v.Percent = w.IntN(101)
		if share, ok := v.Locality(); ok && !w.one(4) {
			v.Percent = int(100 * share)
		}
	} else if w.more.IntN(2) == 0 { // N%L alone
		v.Has |= numa.HasPercent
		v.Percent = w.more.IntN(101)
	}
	if !w.one(10) {
		v.Has |= numa.HasReady | numa.HasCoStop | numa.HasUsed
		v.Ready, v.CoStop, v.Used = w.Float64(), w.Float64()/4, w.Float64()*float64(v.VCPUs)
	}
	if w.one(3) {
		v.Has |= numa.HasSize | numa.HasLarge | numa.HasShared | numa.HasActive
		v.Size, v.Large, v.Shared, v.Active = w.bytes(64), w.bytes(2), w.bytes(2), w.bytes(2)
		if w.one(3) {
			v.Large, v.Shared, v.Active = 0, 0, 0
		}
	}
	if w.more.IntN(30) == 0 {
		v.VCPUs = 1 + w.more.IntN(9) // hot add, or none of our business
	}
	if w.more.IntN(8) > 0 {
		v.Has |= numa.HasRun
		v.Run = w.more.Float64() * float64(v.VCPUs)
	}
	if w.more.IntN(4) > 0 {
		v.Has |= numa.HasActive | numa.HasConsumed
		if w.more.IntN(3) == 0 {
			v.Has |= numa.HasBalloon | numa.HasSwapped
			v.Balloon, v.Swapped = numa.Bytes(w.more.Int64N(2<<30)), numa.Bytes(w.more.Int64N(2<<30))
		}
		v.Active, v.Consumed = numa.Bytes(w.more.Int64N(2<<30)), numa.Bytes(w.more.Int64N(16<<30))
	}
	v.Has &^= w.lacks
	v.OnNode = nil
	if !w.one(3) {
		v.OnNode = []numa.MemoryOnNode{{Node: 0, Guest: w.bytes(16)}, {Node: 1, Guest: w.bytes(2)}, {Node: 2, Guest: w.bytes(1), Overhead: -1}}
	}
}

// ticks returns n ticks that are kept.
func (w *world) ticks(n int) []*numa.Tick {
	all := make([]*numa.Tick, n)
	for i := range all {
		all[i] = clone(w.next())
	}
	return all
}
