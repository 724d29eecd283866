package scheduler

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
)

// A World is a running story. Hosts are simulated independently from one event to the next.
type World struct {
	story   *numa.Story
	options Options
	fleet   *numa.Fleet
	seed    uint64
	first   int64 // second of the day at the start

	hosts   []*host // by index in the fleet; nil for one that cannot be simulated
	byHost  map[string]int
	byID    []int32 // VMs by their ID
	talking map[int32][]partner

	guests []guest
	// machines are those of VM power-ons, facts those of running VMs.
	machines []*vnuma.Machine
	facts    map[vmFacts]*vmFacts
	next     int // event
	copies   []vmotion
	every    int64 // steps between ticks; 0 without a trace

	denied   []Denial
	problems []numa.Note
	noted    map[numa.Note]bool
}

// sortByID returns the indices of VMs in the order of their IDs.
func sortByID(vms []numa.VM) []int32 {
	by := make([]int32, len(vms))
	for i := range by {
		by[i] = int32(i)
	}
	slices.SortFunc(by, func(a, b int32) int { return cmp.Compare(vms[a].ID, vms[b].ID) })
	return by
}

// shareFacts shares equal facts between a host and the one before it.
func (w *World) shareFacts(h *host) {
	if h.index > 0 {
		if b := w.hosts[h.index-1]; b != nil && *b.set == *h.set && *b.machine == *h.machine {
			h.set, h.machine, h.machineIndex = b.set, b.machine, b.machineIndex
			return
		}
	}
	h.machineIndex = int32(len(w.machines))
	w.machines = append(w.machines, h.machine)
}

// find returns the index of the VM with an ID. The story is validated: the VM exists.
func (w *World) find(id string) int {
	at, _ := slices.BinarySearchFunc(w.byID, id, func(i int32, id string) int { return cmp.Compare(w.fleet.VMs[i].ID, id) })
	return int(w.byID[at])
}

// alike returns the stored facts equal to f.
func (w *World) alike(f *vmFacts) *vmFacts {
	if kept, ok := w.facts[*f]; ok {
		return kept
	}
	w.facts[*f] = f
	return f
}

// New returns the world at the start of a story, with the powered-on VMs running. The error reports the fault in the story.
func New(story *numa.Story, o Options) (*World, error) {
	if err := story.Check(); err != nil {
		return nil, err
	}
	start := story.Start.UTC()
	w := &World{
		story: story, options: o, fleet: story.Fleet, seed: story.Seed,
		first:  int64(start.Hour()*3600 + start.Minute()*60 + start.Second()),
		hosts:  make([]*host, len(story.Fleet.Hosts)),
		byHost: map[string]int{}, facts: map[vmFacts]*vmFacts{}, noted: map[numa.Note]bool{}, talking: map[int32][]partner{},
		guests: make([]guest, len(story.Fleet.VMs)),
	}
	if o.Observe != nil {
		w.every = max(1, int64(story.Every/numa.Step))
	}
	for i := range w.fleet.Hosts {
		w.addHost(i)
	}
	for i := range w.fleet.VMs {
		w.guests[i] = guest{at: -1, origin: -1, load: &story.Unstated.Value}
		if at, ok := w.byHost[w.fleet.VMs[i].Host]; ok {
			w.guests[i].at = int32(at)
		}
	}
	w.byID = sortByID(w.fleet.VMs)
	for i := range story.Loads {
		w.guests[w.find(story.Loads[i].VM)].load = &story.Loads[i].Load
	}
	for i := range story.Talks {
		w.talk(&story.Talks[i])
	}
	w.begin()
	return w, nil
}

func (w *World) addHost(i int) {
	f := &w.fleet.Hosts[i]
	w.byHost[f.ID] = i
	h, problems, err := newHost(i, f, w.story.Used, &w.options.Choices)
	if err != nil {
		text := err.Error() + ": it is not simulated"
		if !f.Nodes.Known() {
			text += ", and the VMs on it do not run: say its nodes, such as nodes=2 cores=8"
		}
		w.note(f.Name, text)
		return
	}
	for _, p := range problems {
		w.note(f.Name, p)
	}
	h.talking, h.guests = w.talking, w.guests
	if w.options.Log {
		h.room = max(1, mostDecisions/len(w.hosts))
	}
	w.shareFacts(h)
	if w.every > 0 {
		h.trace = newTracer(f, w.fleet)
	}
	w.hosts[i] = h
}

// note adds a problem. Notes about each placement are added once.
func (w *World) note(at, text string) {
	n := numa.Note{At: at, Text: text}
	if !w.noted[n] {
		w.noted[n] = true
		w.problems = append(w.problems, n)
	}
}

// begin places the running VMs on their hosts: observed ones before the others, as placement.Place does, and those known to run
// before those that may.
func (w *World) begin() {
	seen := numa.ByKey(w.story.Seen, func(v *numa.SeenVM) string { return v.VM })
	order := make([]int, len(w.fleet.VMs))
	rank := make([]int, len(order))
	for i := range order {
		v := &w.fleet.VMs[i]
		order[i], rank[i] = i, 2
		if s := seen[v.ID]; s != nil && s.Homes != 0 {
			rank[i] = 0
		} else if v.StatedOn() {
			rank[i] = 1
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rank[a], rank[b]) })
	for _, i := range order {
		v := &w.fleet.VMs[i]
		if !v.MayRun() {
			continue
		}
		host, ok := w.byHost[v.Host]
		if !ok {
			w.note(v.Name, "its host is not stated: it is not simulated")
			continue
		}
		if s := seen[v.ID]; s != nil {
			host = w.byHost[s.Host]
		}
		h := w.hosts[host]
		if h == nil || seen[v.ID] == nil && !w.admits(0, i, host, v.StatedOn()) || !w.place(0, i, host, coming{standing: true, seen: seen[v.ID]}) {
			continue
		}
		at, _ := h.search(int32(i))
		in := &h.vms[at]
		h.guestOf(in).more().growth.over = 1
		if h.touchedBy(in) == 0 { // also VMs observed without a home here
			h.growVM(in, 0)
		}
	}
	for _, h := range w.hosts {
		if h != nil {
			h.findState()
			h.countAway()
			h.trim()
		}
	}
}

// A Denial is a refused power-on, or a refused vMotion.
type Denial struct {
	At       time.Duration // since the start of the story
	VM, Host int           // index in the fleet
	Why      string
	Stays    bool // a vMotion: the VM runs on where it is
}

// admits reports whether a host powers a VM on, and records the reason if not (B-26 to B-32). Reservations of others are ignored
// for a VM that is known to run there.
func (w *World) admits(k int64, vm, host int, runs bool) bool {
	g, _, err := vnuma.NewGuest(w.config(vm))
	if err != nil {
		return true // place reports it
	}
	r := w.refusal(&g, vm, host)
	if !r.Any() || runs && r == vnuma.Beside(&g.Needs, w.hosts[host].reserved(vm), w.hosts[host].machine) {
		return true
	}
	w.denied = append(w.denied, Denial{timeOf(k), vm, host, r.String(), false})
	w.note(w.fleet.VMs[vm].Name, fmt.Sprintf("%v on %s: it does not power on (%s)", r, w.hosts[host].facts.Name, r.Rule()))
	return false
}

// refusal returns why a host does not power a VM on beside its running VMs.
func (w *World) refusal(g *vnuma.Guest, vm, host int) vnuma.Refusal {
	h := w.hosts[host]
	if r := vnuma.Refuse(g, h.machine); r.Any() {
		return r
	}
	return vnuma.Beside(&g.Needs, h.reserved(vm), h.machine)
}

// reserved returns the reservations of the other VMs of a host.
func (h *host) reserved(vm int) (sum vnuma.Reserved) {
	for i := range h.vms {
		if v := &h.vms[i]; int(v.index) != vm {
			sum.Memory, sum.MHz = sum.Memory+v.facts.keep*int64(numa.PageSize), sum.MHz+v.facts.mhz
		}
	}
	return sum
}

// coming describes how a VM arrives on a host.
type coming struct {
	standing bool
	seen     *numa.SeenVM
	growth   *growth // by vMotion or hot add: its former state, and the growth that moves along
	event    vnuma.Event
}

// place starts a VM on a host; false when its topology cannot be predicted there.
func (w *World) place(k int64, index, host int, how coming) bool {
	h, g, v := w.hosts[host], &w.guests[index], w.config(index)
	gst, _, err := vnuma.NewGuest(v)
	if err != nil {
		w.note(v.Name, err.Error()+": it is not simulated")
		return false
	}
	w.recall(g, &gst)
	c := vnuma.Case{Event: how.event, Choices: w.options.Choices, Ran: true} // the story states that it runs
	if how.event == vnuma.VMotionIn && g.origin >= 0 {
		c.From = w.machines[g.origin]
	} else {
		g.origin = h.machineIndex
	}
	l := vnuma.Predict(&gst, h.machine, &c)
	if l.Stored.Written {
		g.size, g.cookie = int16(l.Stored.Size), int32(l.Stored.Cookie)
	}
	facts, problems := h.factsOf(v, &gst, &l)
	for _, p := range problems {
		w.note(v.Name, p)
	}
	a := arrival{
		index: index, layout: &l, facts: w.alike(facts), load: g.load, standing: how.standing, seen: how.seen,
		growth: growthOf(g.load, facts.size, 0, k),
	}
	if how.growth != nil {
		a.growth = *how.growth
	}
	g.at, g.runs = int32(host), true
	h.admit(k, &a, w)
	return true
}

// recall sets in a guest the sizes that its VM stored at an earlier power-on of the story (B-8).
func (w *World) recall(g *guest, to *vnuma.Guest) {
	if g.size > 0 {
		to.Stored = int32(g.size)
		to.CookieVCPUs, to.CookieCPS = cookie(int(g.cookie))
	}
}

// cookie splits numa.autosize.cookie (B-9).
func cookie(n int) (vcpus, cps int32) {
	v, c, _ := vnuma.ParseCookie(fmt.Sprint(n))
	return int32(v), int32(c)
}

// config returns the current configuration of a VM.
func (w *World) config(index int) *numa.VM {
	v := &w.fleet.VMs[index]
	if r := w.guests[index].rare; r != nil && r.config != nil {
		now := *v
		now.Config = *r.config
		return &now
	}
	return v
}

// secondOfDay returns the second of the day at which a step begins.
func (w *World) secondOfDay(k int64) int64 {
	return (w.first + k*int64(numa.Step/time.Second)) % (24 * 3600)
}

// ObserveEvery changes the observation interval from now on, in a World that observes.
func (w *World) ObserveEvery(d time.Duration) { w.every = max(1, int64(d/numa.Step)) }

// RunTo simulates until a time since the start of the story. Events at that time have not happened yet.
func (w *World) RunTo(ctx context.Context, t time.Duration) error {
	end := int64(min(t, w.story.Length) / numa.Step)
	for {
		stop := end
		if w.next < len(w.story.Events) {
			stop = min(end, int64(w.story.Events[w.next].At/numa.Step))
		}
		if len(w.copies) > 0 {
			stop = min(stop, w.copies[0].done)
		}
		if err := w.runHosts(ctx, stop); err != nil {
			return err
		}
		if stop == end {
			return nil
		}
		w.arrive(stop)
		for w.next < len(w.story.Events) && int64(w.story.Events[w.next].At/numa.Step) <= stop {
			w.happen(stop, &w.story.Events[w.next])
			w.next++
		}
	}
}

// runHosts runs every host to a step.
func (w *World) runHosts(ctx context.Context, end int64) error {
	var next atomic.Int64
	work := func() {
		for ctx.Err() == nil {
			i := int(next.Add(1) - 1)
			if i >= len(w.hosts) {
				return
			}
			if h := w.hosts[i]; h != nil {
				w.runHost(ctx, h, end)
			}
		}
	}
	var all sync.WaitGroup
	for range min(w.options.Workers, len(w.hosts)) - 1 {
		all.Go(work)
	}
	work()
	all.Wait()
	return ctx.Err()
}

// breath is the number of steps between two checks of the context.
const breath = 1 << 16

// runHost runs a host to a step and reports its ticks on the way.
func (w *World) runHost(ctx context.Context, h *host, end int64) {
	for ctx.Err() == nil {
		if w.every > 0 && h.step%w.every == 0 && h.step > h.trace.shown {
			h.show(w)
		}
		if h.step >= end {
			return
		}
		stop := min(end, h.step+breath)
		if w.every > 0 {
			stop = min(stop, (h.step/w.every+1)*w.every)
		}
		if h.gone {
			h.step = stop
			continue
		}
		h.run(w, stop)
	}
}

// Outcome returns the results of the run so far.
func (w *World) Outcome() *Outcome {
	out := &Outcome{VMs: make([]VMOutcome, len(w.guests)), Denied: slices.Clone(w.denied), Problems: slices.Clone(w.problems)}
	for i := range w.guests {
		if r := w.guests[i].rare; r != nil {
			out.VMs[i] = r.sums
		}
	}
	for _, h := range w.hosts {
		if h == nil {
			continue
		}
		h.settleCPU(h.step)
		for i := range h.vms {
			v := &h.vms[i]
			h.settleMemory(v, h.step)
			out.VMs[v.index] = h.sumsOf(v)
		}
		out.ClientTicks += h.ticks
		out.Decisions = append(out.Decisions, h.events...)
		if h.cut.count > 0 {
			out.Problems = append(out.Problems, numa.Note{At: h.facts.Name,
				Text: fmt.Sprintf("the why-log is full: %d decisions from %v on are left out; sums and findings have all", h.cut.count, timeOf(h.cut.from))})
		}
	}
	slices.SortStableFunc(out.Decisions, func(a, b Decision) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Host, b.Host))
	})
	return out
}
