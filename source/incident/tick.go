package incident

import (
	"math"
	"time"

	"example.org/homenode/numa"
)

// tick fills t with the state of the host at a time; every is the interval since the previous
// tick.
func (h *host) tick(t *numa.Tick, at, every time.Duration) {
	t.Has = show(hostQuantities, h.tracks, t, at)
	t.Nodes = t.Nodes[:0]
	for _, n := range h.nodes {
		one := numa.NodeTick{ID: n.id}
		one.Has = show(nodeQuantities, n.tracks, &one, at)
		t.Nodes = append(t.Nodes, one)
	}
	t.VMs = t.VMs[:0]
	for _, v := range h.vms {
		if on, ok := v.value("on", at); ok && on == 1 {
			t.VMs = append(t.VMs, v.tick(at, every))
		}
	}
}

// tick returns the state of the VM at a time.
func (v *vm) tick(at, every time.Duration) numa.VMTick {
	t := numa.VMTick{Name: v.name, GID: -1}
	t.Has = show(vmQuantities, v.tracks, &t, at)
	for _, share := range []*float64{&t.Ready, &t.CoStop, &t.Used, &t.Run} {
		*share *= float64(max(1, t.VCPUs))
	}
	v.memory(&t, at)
	v.moves(&t, at, every)
	return t
}

func (v *vm) memory(t *numa.VMTick, at time.Duration) {
	if both := numa.HasGranted | numa.HasSaved; t.Has&both == both && t.Has&numa.HasConsumed == 0 {
		t.Has |= numa.HasConsumed
		t.Consumed = t.Granted - t.Saved
	}
	local, ok1 := v.value("local", at)
	remote, ok2 := v.value("remote", at)
	if ok1 && ok2 {
		t.Has |= numa.HasMemory | numa.HasPercent
		t.Local, t.Remote = pages(local), pages(remote)
		if all := t.Local + t.Remote; all > 0 {
			t.Percent = int(100 * t.Local / all) // truncated, as ESXi does
		}
	}
	if p := v.of("percent"); len(p.parts) > 0 && p.parts[0].at <= at {
		t.Has &^= numa.HasPercent
		if n, ok := p.value(at); ok {
			t.Percent, t.Has = int(n), t.Has|numa.HasPercent
		}
	}
	for i := range v.onNode {
		if b, ok := v.onNode[i].value(at); ok {
			t.OnNode = append(t.OnNode, numa.MemoryOnNode{Node: i, Guest: pages(b), Overhead: -1})
		}
	}
}

// moves sets the home nodes and the migrations since the previous tick.
func (v *vm) moves(t *numa.VMTick, at, every time.Duration) {
	homes, ok := v.home(at)
	if !ok {
		t.Moves = numa.Moves{}
		return
	}
	t.Homes = homes
	t.Has |= numa.HasHomes | numa.HasMoves
	m := &t.Moves
	if kinds := m.Balance + m.LoadSwap + m.Locality + m.LocalitySwap + m.Fairness; kinds > 0 {
		t.Has |= numa.HasKinds
		m.All += kinds
	}
	if before, ok := v.home(at - every); ok && before != homes && m.All == 0 {
		m.All = 1
	}
}

// home returns the home nodes at a time.
func (v *vm) home(at time.Duration) (numa.NodeSet, bool) {
	for _, f := range v.flips {
		if since := at - f.at; since >= 0 && since < f.length {
			return f.homes[int(since/f.each)%len(f.homes)], true
		}
	}
	homes, ok := v.value("homes", at)
	return numa.NodeSet(homes), ok
}

// pages rounds to whole pages: ESXi counts memory in pages.
func pages(b float64) numa.Bytes {
	return numa.Bytes(math.Round(b/float64(numa.PageSize))) * numa.PageSize
}
