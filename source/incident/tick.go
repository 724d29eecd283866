package incident

import (
	"math"
	"time"

	"homenode/numa"
)

// tick fills t with the host as it is at a time, every after the tick before.
func (h *host) tick(t *numa.Tick, at, every time.Duration) {
	t.Has = 0
	has(&t.Has, numa.HasFree, &h.free, at, func(v float64) { t.Free = pages(v) })
	has(&t.Has, numa.HasMinFree, &h.minFree, at, func(v float64) { t.MinFree = pages(v) })
	has(&t.Has, numa.HasState, &h.state, at, func(v float64) { t.State = numa.MemoryState(v) })
	has(&t.Has, numa.HasTotal, &h.memory, at, func(v float64) { t.Memory = pages(v) })
	has(&t.Has, numa.HasShared, &h.shared, at, func(v float64) { t.Shared = pages(v) })
	has(&t.Has, numa.HasCommon, &h.common, at, func(v float64) { t.Common = pages(v) })
	t.Nodes = t.Nodes[:0]
	for _, n := range h.nodes {
		one := numa.NodeTick{ID: n.id}
		has(&one.Has, numa.HasTotal, &n.memory, at, func(v float64) { one.Total = pages(v) })
		has(&one.Has, numa.HasFree, &n.free, at, func(v float64) { one.Free = pages(v) })
		has(&one.Has, numa.HasCore, &n.busy, at, func(v float64) { one.Core = v })
		has(&one.Has, numa.HasUtil, &n.util, at, func(v float64) { one.Util = v })
		has(&one.Has, numa.HasUsed, &n.used, at, func(v float64) { one.Used = v })
		t.Nodes = append(t.Nodes, one)
	}
	t.VMs = t.VMs[:0]
	for _, v := range h.vms {
		if on, ok := v.track("on").value(at); ok && on == 1 {
			t.VMs = append(t.VMs, v.tick(at, every))
		}
	}
}

// tick returns the VM as it is at a time.
func (v *vm) tick(at, every time.Duration) numa.VMTick {
	t := numa.VMTick{Name: v.name, GID: -1}
	count := func(name string) int64 {
		n, _ := v.track(name).value(at)
		return int64(n)
	}
	if _, ok := v.track("gid").value(at); ok {
		t.GID = count("gid")
	}
	t.VCPUs = int(count("vcpus"))
	v.memory(&t, at)
	v.moves(&t, at, every, count)
	vcpus := float64(max(1, t.VCPUs))
	for _, q := range []struct {
		name string
		bit  numa.Counters
		to   *float64
	}{
		{"ready", numa.HasReady, &t.Ready}, {"costop", numa.HasCoStop, &t.CoStop}, {"used", numa.HasUsed, &t.Used}, {"run", numa.HasRun, &t.Run},
	} {
		has(&t.Has, q.bit, v.track(q.name), at, func(share float64) { *q.to = share * vcpus })
	}
	return t
}

func (v *vm) memory(t *numa.VMTick, at time.Duration) {
	for _, q := range []struct {
		name string
		bit  numa.Counters
		to   *numa.Bytes
	}{
		{"memory", numa.HasSize, &t.Size}, {"granted", numa.HasGranted, &t.Granted}, {"consumed", numa.HasConsumed, &t.Consumed},
		{"active", numa.HasActive, &t.Active}, {"shared", numa.HasShared, &t.Shared}, {"saved", numa.HasSaved, &t.Saved},
		{"zero", numa.HasZero, &t.Zero}, {"hint", numa.HasHint, &t.Hint},
		{"large", numa.HasLarge, &t.Large}, {"balloon", numa.HasBalloon, &t.Balloon}, {"swapped", numa.HasSwapped, &t.Swapped},
	} {
		has(&t.Has, q.bit, v.track(q.name), at, func(b float64) { *q.to = pages(b) })
	}
	if both := numa.HasGranted | numa.HasSaved; t.Has&both == both && t.Has&numa.HasConsumed == 0 {
		t.Has |= numa.HasConsumed
		t.Consumed = t.Granted - t.Saved
	}
	local, ok1 := v.track("local").value(at)
	remote, ok2 := v.track("remote").value(at)
	if ok1 && ok2 {
		t.Has |= numa.HasMemory | numa.HasPercent
		t.Local, t.Remote = pages(local), pages(remote)
		if all := t.Local + t.Remote; all > 0 {
			t.Percent = int(100 * t.Local / all) // truncated, as ESXi does
		}
	}
	if p := v.track("percent"); len(p.parts) > 0 && p.parts[0].at <= at {
		t.Has &^= numa.HasPercent
		has(&t.Has, numa.HasPercent, p, at, func(n float64) { t.Percent = int(n) })
	}
	for i := range v.onNode {
		if b, ok := v.onNode[i].value(at); ok {
			t.OnNode = append(t.OnNode, numa.MemoryOnNode{Node: i, Guest: pages(b), Overhead: -1})
		}
	}
}

// moves states the home nodes and the migrations since the tick before.
func (v *vm) moves(t *numa.VMTick, at, every time.Duration, count func(string) int64) {
	homes, ok := v.home(at)
	if !ok {
		return
	}
	t.Homes = homes
	t.Has |= numa.HasHomes | numa.HasMoves
	t.Moves = numa.Moves{Balance: count("balance"), LoadSwap: count("loadSwap"), Locality: count("localityMoves"),
		LocalitySwap: count("localitySwap"), Fairness: count("fairness")}
	t.Moves.All = t.Moves.Balance + t.Moves.LoadSwap + t.Moves.Locality + t.Moves.LocalitySwap + t.Moves.Fairness
	if t.Moves.All > 0 {
		t.Has |= numa.HasKinds
	}
	t.Moves.All += count("moves")
	if before, ok := v.home(at - every); ok && before != homes && t.Moves.All == 0 {
		t.Moves.All = 1
	}
}

// home returns the home nodes at a time.
func (v *vm) home(at time.Duration) (numa.NodeSet, bool) {
	for _, f := range v.flips {
		if since := at - f.at; since >= 0 && since < f.length {
			return f.homes[int(since/f.each)%len(f.homes)], true
		}
	}
	homes, ok := v.track("homes").value(at)
	return numa.NodeSet(homes), ok
}

// has sets bit when the quantity is stated at the time, and hands on its value.
func has(set *numa.Counters, bit numa.Counters, t *track, at time.Duration, use func(float64)) {
	if v, ok := t.value(at); ok {
		*set |= bit
		use(v)
	}
}

// pages rounds to whole pages, in which ESXi counts memory.
func pages(b float64) numa.Bytes {
	return numa.Bytes(math.Round(b/float64(numa.PageSize))) * numa.PageSize
}
