package capture

import (
	"slices"
	"strings"
	"time"

	"example.org/homenode/numa"
)

// keep copies a tick into a stored one and reuses the memory of the latter. Names of VMs stay
// as they are: the caller replaces them by permanent copies. Values that no host can have
// become not stated. Of calm VMs, which the stored tick has already, it copies the use of CPU alone.
func keep(to, t *numa.Tick, calm []bool) {
	nodes, vms := to.Nodes[:0], to.VMs
	*to = *t
	to.Still = nil
	to.Time = t.Time.Truncate(resolution).UTC()
	to.Since = t.Since.Truncate(resolution)
	if to.Since < 0 || to.Since > mostTime {
		to.Since = 0
	}
	to.Has &^= wrong(numa.HasFree, t.Free) | wrong(numa.HasMinFree, t.MinFree)
	to.State = min(t.State, numa.Low)

	var seen numa.NodeSet
	for i := range t.Nodes {
		n := t.Nodes[i]
		if n.ID < 0 || n.ID >= numa.MaxNodes || seen.Has(n.ID) {
			continue
		}
		seen |= numa.SetOf(n.ID)
		n.Has &^= wrong(numa.HasTotal, n.Total) | wrong(numa.HasFree, n.Free)
		sane(&n.Has, numa.HasUsed, &n.Used)
		sane(&n.Has, numa.HasUtil, &n.Util)
		sane(&n.Has, numa.HasCore, &n.Core)
		nodes = append(nodes, n)
	}
	to.Nodes = nodes

	// A VM of the previous tick passes its OnNode slice to the VM at its index.
	vms = slices.Grow(vms[:0], len(t.VMs))[:len(t.VMs)]
	for i := range t.VMs {
		if calm[i] {
			vms[i].Used, vms[i].Run = t.VMs[i].Used, t.VMs[i].Run
			continue
		}
		keepVM(&vms[i], &t.VMs[i])
	}
	to.VMs = vms
}

func keepVM(to, v *numa.VMTick) {
	onNode := to.OnNode[:0]
	*to = *v
	to.VCPUs = max(0, v.VCPUs)
	sane(&to.Has, numa.HasUsed, &to.Used)
	sane(&to.Has, numa.HasRun, &to.Run)
	sane(&to.Has, numa.HasReady, &to.Ready)
	sane(&to.Has, numa.HasCoStop, &to.CoStop)
	if all := v.Local | v.Remote | v.Size | v.Active | v.Consumed | v.Shared | v.Balloon | v.Swapped | v.Large | v.Granted | v.Compressed; uint64(all) > uint64(most) {
		to.Has &^= wrong(numa.HasMemory, v.Local) | wrong(numa.HasMemory, v.Remote) |
			wrong(numa.HasSize, v.Size) | wrong(numa.HasActive, v.Active) |
			wrong(numa.HasConsumed, v.Consumed) | wrong(numa.HasShared, v.Shared) |
			wrong(numa.HasBalloon, v.Balloon) | wrong(numa.HasSwapped, v.Swapped) | wrong(numa.HasLarge, v.Large) |
			wrong(numa.HasGranted, v.Granted) | wrong(numa.HasCompressed, v.Compressed)
	}
	switch {
	case to.Has&numa.HasMoves == 0:
		to.Moves = numa.Moves{}
		to.Has &^= numa.HasKinds
	case v.Moves.All < 0 || v.Moves.All > mostMoves:
		to.Moves = numa.Moves{}
		to.Has &^= numa.HasMoves | numa.HasKinds
	case to.Has&numa.HasKinds == 0:
		to.Moves = numa.Moves{All: v.Moves.All}
	}
	for _, m := range v.OnNode {
		if m.Guest < 0 || m.Guest > most || m.Node < 0 || m.Node >= numa.MaxNodes {
			onNode = onNode[:0]
			break
		}
		onNode = append(onNode, m)
	}
	to.OnNode = onNode
}

// wrong returns the bit if the amount is impossible.
func wrong(bit numa.Counters, b numa.Bytes) numa.Counters {
	if uint64(b) > uint64(most) { // negative ones too
		return bit
	}
	return 0
}

// sane removes an impossible share; NaN fails every comparison.
func sane(has *numa.Counters, bit numa.Counters, share *float64) {
	if !(*share >= 0 && *share <= mostShare) {
		*has &^= bit
		*share = 0
	}
}

// clone returns a copy of a stored tick that shares no memory with it. The result does not
// depend on the earlier content of that memory.
func clone(t *numa.Tick) *numa.Tick {
	c := *t
	c.Nodes = append([]numa.NodeTick(nil), t.Nodes...)
	c.VMs = append([]numa.VMTick(nil), t.VMs...)
	for i := range c.VMs {
		c.VMs[i].OnNode = append([]numa.MemoryOnNode(nil), c.VMs[i].OnNode...)
	}
	return &c
}

// valid returns a copy of a name that passes through JSON unchanged.
func valid(name string) string { return strings.Clone(strings.ToValidUTF8(name, "\uFFFD")) }

// A moment is a tick and its context.
type moment struct {
	options *Options
	file    string
	tick    *numa.Tick
}

// A pair is two consecutive ticks of a host.
type pair struct {
	options *Options
	before  *numa.Tick
	after   *numa.Tick
	time    time.Duration // between them
	linked  bool          // no gap: states before lasted until after
}

func newPair(o *Options, before, after *numa.Tick) pair {
	between := after.Time.Sub(before.Time)
	return pair{options: o, before: before, after: after, time: between, linked: between <= o.Gap}
}

// rates returns the duration of the later tick's rates if the pair determines it and the tick
// does not; otherwise 0.
func (p *pair) rates() time.Duration {
	if p.after.Since > 0 || !p.linked {
		return 0
	}
	return p.time
}
