package scheduler

import (
	"cmp"
	"slices"
	"time"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
)

// A tracer creates the ticks of a host: columns as those of esxtop (C-17). Its tick lives from one to the next: of a VM whose memory and homes have
// not changed it updates the rates alone.
type tracer struct {
	shown  int64 // step of the last tick; -1 before the first
	tick   numa.Tick
	fleet  *numa.Fleet
	rows   []row               // by VM of the host, unless others came or left since the last tick
	stale  bool                // VMs came or left
	before map[int32]VMOutcome // by VM that came since the last tick: its sums on earlier hosts
	bytes  []numa.Bytes
	lives  map[int32]int64 // scheduler group of each VM: another for each life on a host
	came   map[int32]int64
	groups int64
	ran    []int64 // of the host at the last tick
}

// A row is the state of a VM in the last tick of a tracer.
type row struct {
	index              int32 // in the fleet
	still              bool  // the tick has rates and no migrations, and memory and homes are as it shows them
	gid                int64
	run, ready, coStop int64 // sums
	moves              numa.Moves
}

func newTracer(h *numa.Host, f *numa.Fleet) *tracer {
	t := &tracer{shown: -1, stale: true, fleet: f, before: map[int32]VMOutcome{}, lives: map[int32]int64{}, came: map[int32]int64{}}
	t.tick.Host = h.Name
	t.tick.Nodes = make([]numa.NodeTick, len(h.Nodes.Value))
	t.ran = make([]int64, len(h.Nodes.Value))
	return t
}

// stir reports to the tracer that the memory, the homes or the load of a VM change.
func (h *host) stir(v *vm) {
	if h.trace != nil && !h.trace.stale {
		h.trace.rows[h.clients[v.first].vm].still = false
	}
}

// gid returns the scheduler group of a VM on this host.
func (t *tracer) gid(v *vm) int64 {
	if came, ok := t.came[v.index]; !ok || came != int64(v.came) {
		t.groups++
		t.lives[v.index], t.came[v.index] = t.groups, int64(v.came)
	}
	return t.lives[v.index]
}

// regroup gives every VM of the host a row and a place in the tick, after VMs came or left.
func (t *tracer) regroup(h *host) {
	old, n := t.rows, len(h.cap)
	t.rows, t.stale = make([]row, len(h.vms)), false
	t.tick.VMs, t.tick.Still = make([]numa.VMTick, len(h.vms)), make([]bool, len(h.vms))
	onNode := make([]numa.MemoryOnNode, len(h.vms)*n)
	for i := range h.vms {
		v, r := &h.vms[i], &t.rows[i]
		if at, ok := slices.BinarySearchFunc(old, v.index, func(r row, index int32) int { return cmp.Compare(r.index, index) }); ok {
			*r = old[at]
		}
		if sums, ok := t.before[v.index]; ok {
			*r = row{run: sums.Run, ready: sums.Ready, coStop: sums.CoStop, moves: sums.Moves}
		}
		r.index, r.still, r.gid = v.index, false, t.gid(v)
		t.tick.VMs[i].OnNode = onNode[i*n : i*n+n : i*n+n]
	}
	clear(t.before)
}

// show passes the tick of the current step to the observer.
func (h *host) show(w *World) {
	t := h.trace
	k := h.step
	h.settleCPU(k)
	since := time.Duration(0)
	if t.shown >= 0 {
		since = timeOf(k - t.shown)
	}
	t.shown = k
	if h.gone {
		copy(t.ran, h.ran)
		return
	}
	tick := &t.tick
	tick.Time, tick.Since = w.story.Start.UTC().Add(timeOf(k)), since
	h.showHost(tick)
	if t.stale {
		t.regroup(h)
	}
	steps := int64(since / numa.Step)
	for i := range h.vms {
		v, r, x := &h.vms[i], &t.rows[i], &tick.VMs[i]
		tick.Still[i] = r.still
		if !r.still {
			h.settleMemory(v, k)
			h.vmTick(v, x)
		}
		ready, coStop := x.Ready, x.CoStop
		h.rates(v, r, x, steps)
		tick.Still[i] = tick.Still[i] && x.Ready == ready && x.CoStop == coStop
		r.still = steps > 0 && x.Moves == numa.Moves{}
	}
	w.options.Observe(h.index, tick, &Look{h})
}

func (h *host) showHost(tick *numa.Tick) {
	tick.Has = numa.HasMinFree | numa.HasState | numa.HasFree
	if h.whole == 0 { // the memory of the host is not stated
		tick.Has &^= numa.HasMinFree
	}
	tick.MinFree, tick.State, tick.Free = numa.Bytes(h.minFree)*numa.PageSize, h.state, 0
	for n := range tick.Nodes {
		node := &tick.Nodes[n]
		*node = numa.NodeTick{ID: h.id(n)}
		if h.mem[n] < noLimit {
			node.Has |= numa.HasTotal | numa.HasFree
			node.Total, node.Free = numa.Bytes(h.mem[n])*numa.PageSize, numa.Bytes(h.free(n))*numa.PageSize
			tick.Free += node.Free
		} else {
			tick.Has &^= numa.HasFree | numa.HasState
		}
		if steps := int64(tick.Since / numa.Step); h.cap[n] > 0 && steps > 0 {
			node.Has |= numa.HasUtil
			node.Util = float64(h.ran[n]-h.trace.ran[n]) / float64(h.cap[n]*steps)
		}
		h.trace.ran[n] = h.ran[n]
	}
}

// vmTick sets a VM as esxtop would show it, but its rates.
func (h *host) vmTick(v *vm, x *numa.VMTick) {
	onNode := x.OnNode
	*x = numa.VMTick{
		Name: h.trace.fleet.VMs[v.index].Name, VCPUs: int(v.vcpus),
		Has: numa.HasHomes | numa.HasMemory | numa.HasMoves | numa.HasKinds | numa.HasSize | numa.HasGranted | numa.HasConsumed |
			numa.HasActive | numa.HasShared | numa.HasLarge | numa.HasBalloon | numa.HasSwapped | numa.HasFar,
		Size: numa.Bytes(v.facts.size) * numa.PageSize, OnNode: onNode,
	}
	if v.facts.size == 0 { // not stated
		x.Has &^= numa.HasSize
	}
	for n := range v.homes.All() {
		x.Homes |= 1 << h.id(n)
	}
	local, remote, _, far, swapped := h.memoryOf(v)
	x.Far = numa.Bytes(far) * numa.PageSize
	x.Local, x.Remote, x.Swapped = numa.Bytes(local)*numa.PageSize, numa.Bytes(remote)*numa.PageSize, numa.Bytes(swapped)*numa.PageSize
	if local+remote > 0 {
		x.Has |= numa.HasPercent
		x.Percent = int(local * 100 / (local + remote))
	}
	for n := range onNode {
		onNode[n] = numa.MemoryOnNode{Node: h.id(n), Overhead: -1}
	}
	h.addClients(v, x)
}

// rates sets the rates and migrations of a VM in so many steps, 0 when they are unknown.
func (h *host) rates(v *vm, r *row, x *numa.VMTick, steps int64) {
	run, ready, coStop, moves := v.run, v.ready, int64(0), numa.Moves{}
	if rare := h.guestOf(v).rare; rare != nil {
		run, ready, coStop, moves = run+rare.sums.Run, ready+rare.sums.Ready, rare.sums.CoStop, rare.sums.Moves
	}
	x.GID, x.Moves = r.gid, moves
	x.Moves.Sub(r.moves)
	if steps > 0 {
		x.Has |= numa.HasUsed | numa.HasRun | numa.HasReady | numa.HasCoStop
		x.Run = share(run-r.run, steps)
		x.Used, x.Ready, x.CoStop = x.Run, share(ready-r.ready, steps), share(coStop-r.coStop, steps)
	}
	r.run, r.ready, r.coStop, r.moves = run, ready, coStop, moves
}

// addClients adds up the memory of the clients of a VM.
func (h *host) addClients(v *vm, x *numa.VMTick) {
	active := h.activeOf(v)
	for c, end := v.clientsOf(); c < end; c++ {
		s, touched := h.strainOf(c), h.touched(c)
		for n, p := range h.at(c) {
			x.OnNode[n].Guest += numa.Bytes(p) * numa.PageSize
			x.Consumed += numa.Bytes(p) * numa.PageSize
		}
		x.Granted += numa.Bytes(touched-s.ballooned-s.swapped) * numa.PageSize
		x.Active += numa.Bytes(mulDiv(touched, active, full)) * numa.PageSize
		x.Shared += numa.Bytes(s.saved) * numa.PageSize
		x.Large += numa.Bytes(h.largeOf(v, c)) * numa.PageSize
		x.Balloon += numa.Bytes(s.ballooned) * numa.PageSize
	}
}

// share returns parts × steps as seconds a second.
func share(sum, steps int64) float64 { return float64(sum) / float64(steps*wholeCore) }

// Clients calls f with every client of the i-th VM of the tick.
func (l *Look) Clients(i int, f func(*ClientState)) {
	h := l.h
	v := &h.vms[i]
	n := len(h.cap)
	h.trace.bytes = append(h.trace.bytes[:0], make([]numa.Bytes, n)...)
	for c, end := v.clientsOf(); c < end; c++ {
		s := ClientState{VCPUs: int(h.clients[c].vcpus), Home: -1, Interleaved: v.facts.nodes != (vnuma.Split{}), OnNode: h.trace.bytes}
		if h.home[c] >= 0 {
			s.Home = int(h.home[c])
		}
		for n, p := range h.at(c) {
			s.OnNode[n] = numa.Bytes(p) * numa.PageSize
		}
		f(&s)
	}
}

// VM returns the index in the fleet of the i-th VM of the tick, and Load its load.
func (l *Look) VM(i int) (index int, load *numa.Load) {
	return int(l.h.vms[i].index), l.h.loadOf(&l.h.vms[i])
}
