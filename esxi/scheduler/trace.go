package scheduler

import (
	"time"

	"homenode/esxi/vnuma"
	"homenode/numa"
)

// A tracer creates the ticks of a host: columns as those of esxtop (C-17).
type tracer struct {
	shown  int64 // step of the last tick; -1 before the first
	tick   numa.Tick
	names  []string // by VM of the fleet
	before map[int32]VMOutcome
	onNode []numa.MemoryOnNode
	bytes  []numa.Bytes
	lives  map[int32]int64 // scheduler group of each VM: another for each life on a host
	came   map[int32]int64
	groups int64
	ran    []int64 // of the host at the last tick
}

func newTracer(h *numa.Host, f *numa.Fleet) *tracer {
	t := &tracer{shown: -1, before: map[int32]VMOutcome{}, lives: map[int32]int64{}, came: map[int32]int64{}}
	t.tick.Host = h.Name
	t.tick.Nodes = make([]numa.NodeTick, len(h.Nodes.Value))
	t.ran = make([]int64, len(h.Nodes.Value))
	t.names = make([]string, len(f.VMs))
	for i := range f.VMs {
		t.names[i] = f.VMs[i].Name
	}
	return t
}

// gid returns the scheduler group of a VM on this host.
func (t *tracer) gid(v *vm) int64 {
	if came, ok := t.came[v.index]; !ok || came != int64(v.came) {
		t.groups++
		t.lives[v.index], t.came[v.index] = t.groups, int64(v.came)
	}
	return t.lives[v.index]
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
	tick.VMs = tick.VMs[:0]
	t.onNode = t.onNode[:0]
	for i := range h.vms {
		v := &h.vms[i]
		h.settleMemory(v, k)
		tick.VMs = append(tick.VMs, h.vmTick(v, since))
		t.before[v.index] = h.sumsOf(v)
	}
	for i := range tick.VMs { // the slice may have been moved while it grew
		n := len(h.cap)
		tick.VMs[i].OnNode = t.onNode[i*n : i*n+n : i*n+n]
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

// vmTick returns a VM as esxtop would show it.
func (h *host) vmTick(v *vm, since time.Duration) numa.VMTick {
	t := h.trace
	x := numa.VMTick{
		GID: t.gid(v), Name: t.names[v.index], VCPUs: int(v.vcpus),
		Has: numa.HasHomes | numa.HasMemory | numa.HasMoves | numa.HasKinds | numa.HasSize | numa.HasGranted | numa.HasConsumed |
			numa.HasActive | numa.HasShared | numa.HasLarge | numa.HasBalloon | numa.HasSwapped | numa.HasFar,
		Size: numa.Bytes(v.facts.size) * numa.PageSize,
	}
	if v.facts.size == 0 { // not stated
		x.Has &^= numa.HasSize
	}
	for n := range v.homes.All() {
		x.Homes |= 1 << h.id(n)
	}
	local, remote, far, swapped := h.memoryOf(v)
	x.Far = numa.Bytes(far) * numa.PageSize
	x.Local, x.Remote, x.Swapped = numa.Bytes(local)*numa.PageSize, numa.Bytes(remote)*numa.PageSize, numa.Bytes(swapped)*numa.PageSize
	if local+remote > 0 {
		x.Has |= numa.HasPercent
		x.Percent = int(local * 100 / (local + remote))
	}
	before := t.before[v.index]
	sums := h.sumsOf(v)
	x.Moves = sums.Moves
	x.Moves.Sub(before.Moves)
	if since > 0 {
		x.Has |= numa.HasUsed | numa.HasRun | numa.HasReady | numa.HasCoStop
		steps := int64(since / numa.Step)
		x.Run = share(sums.Run-before.Run, steps)
		x.Used, x.Ready, x.CoStop = x.Run, share(sums.Ready-before.Ready, steps), share(sums.CoStop-before.CoStop, steps)
	}
	at := len(t.onNode)
	for n := range h.cap {
		t.onNode = append(t.onNode, numa.MemoryOnNode{Node: h.id(n), Overhead: -1})
	}
	h.addClients(v, &x, t.onNode[at:])
	return x
}

// addClients adds up the memory of the clients of a VM.
func (h *host) addClients(v *vm, x *numa.VMTick, onNode []numa.MemoryOnNode) {
	active := h.activeOf(v)
	for c, end := v.clientsOf(); c < end; c++ {
		s, touched := h.strainOf(c), h.touched(c)
		for n, p := range h.at(c) {
			onNode[n].Guest += numa.Bytes(p) * numa.PageSize
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
