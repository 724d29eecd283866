package scheduler

import (
	"example.org/homenode/numa"
)

// tick shows every host.
func (w *plainWorld) tick() {
	for _, h := range w.hosts {
		if h.simulated && !h.failed {
			w.onTick(h.index, h.tick())
		}
		for _, n := range h.nodes {
			n.busy = 0
		}
	}
	for _, v := range w.vms {
		v.recent = plainSums{}
	}
}

// tick is the host as esxtop would show it.
func (h *plainHost) tick() *numa.Tick {
	w := h.world
	t := &numa.Tick{Host: h.host.Name, Time: w.story.Start.Add(plainTime(w.k)), Since: w.story.Every}
	if w.k == 0 {
		t.Since = 0
	}
	t.Has = numa.HasFree | numa.HasMinFree | numa.HasState
	t.Free = numa.Bytes(h.freeMemory()) * numa.PageSize
	t.MinFree = numa.Bytes(h.minFree) * numa.PageSize
	t.State = h.state
	for _, n := range h.nodes {
		node := numa.NodeTick{ID: n.ID}
		if n.Memory.Known() {
			node.Total, node.Free = numa.Bytes(n.mem)*numa.PageSize, numa.Bytes(n.free())*numa.PageSize
		} else {
			t.Free -= numa.Bytes(n.free()) * numa.PageSize
		}
		if t.Since > 0 && n.cap > 0 {
			node.Util = float64(n.busy) / float64(n.cap*int64(t.Since/numa.Step))
		}
		t.Nodes = append(t.Nodes, node)
	}
	for _, v := range h.running() {
		t.VMs = append(t.VMs, v.tick(int64(t.Since/numa.Step)))
	}
	return t
}

// tick is the VM as esxtop would show it, after so many steps.
func (v *plainVM) tick(steps int64) numa.VMTick {
	bytes := func(pages int64) numa.Bytes { return numa.Bytes(pages) * numa.PageSize }
	t := numa.VMTick{Name: v.vm.Name, VCPUs: v.layout.VPDs.Sum(), Homes: v.homeIDs(), Moves: v.recent.Moves, Size: v.vm.Memory.Value}
	onNode := make([]numa.MemoryOnNode, len(v.host.nodes))
	for i, n := range v.host.nodes {
		onNode[i] = numa.MemoryOnNode{Node: n.ID, Overhead: -1}
	}
	for _, c := range v.clients {
		if c.home != nil {
			t.Local += bytes(c.all() - c.outside())
			t.Remote += bytes(c.outside())
		}
		t.Granted += bytes(c.touched - c.ballooned - c.swapped)
		t.Active += bytes(times(c.touched, partsOf(v.load.Active), whole))
		t.Consumed += bytes(c.all())
		t.Shared += bytes(c.saved)
		t.Large += bytes(c.large())
		t.Balloon += bytes(c.ballooned)
		t.Swapped += bytes(c.swapped)
		for i, p := range c.pages {
			onNode[i].Guest += bytes(p)
		}
	}
	t.OnNode = onNode
	if t.Local+t.Remote > 0 {
		t.Percent = int(times(int64(t.Local), 100, int64(t.Local+t.Remote)))
	}
	if steps > 0 {
		mean := func(sum int64) float64 { return float64(sum) / float64(whole*steps) }
		t.Run, t.Ready, t.CoStop = mean(v.recent.Run), mean(v.recent.Ready), mean(v.recent.CoStop)
	}
	return t
}
