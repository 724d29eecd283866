package scheduler

import (
	"slices"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
)

// before does the events of the time of the next step.
func (w *plainWorld) before() {
	w.changeOver()
	for w.events < len(w.story.Events) && w.story.Events[w.events].At <= plainTime(w.k) {
		w.do(&w.story.Events[w.events])
		w.events++
	}
}

// do is "Events".
func (w *plainWorld) do(e *numa.Event) {
	v, h := w.vmOf(e.VM), w.hostOf(e.Host)
	switch e.Kind {
	case numa.PowerOn:
		if h == nil {
			h = v.host
		}
		v.powerOn(h)
	case numa.PowerOff:
		v.powerOff()
	case numa.Cycle:
		v.cycle()
	case numa.Reboot:
		if v.guest.PowerCycleReboot {
			v.cycle()
		} else if v.on {
			w.decided["rebooted"]++
		}
	case numa.VMotion:
		v.copyTo(h, e)
	case numa.Resize:
		v.resize(e.Config)
	case numa.HotAdd:
		v.hotAdd(e.Config)
	case numa.LoadChange:
		v.changeLoad(e.Load)
	case numa.TalkChange:
		w.talk(*e.Talk)
	case numa.OptionChange:
		h.setOptions(e.Options)
	case numa.Maintenance:
		h.maintenance = true
		h.evacuate()
	case numa.LeaveMaintenance:
		h.maintenance = false
	case numa.Fail:
		h.fail()
	case numa.Repair:
		h.failed = false
	}
}

// usable reports whether VMs can be started on the host.
func (h *plainHost) usable() bool {
	return h != nil && h.simulated && !h.failed && !h.maintenance
}

func (v *plainVM) powerOn(h *plainHost) {
	if v.on || v.unknown {
		return
	}
	if h != nil && (!h.usable() || !v.admittedOn(h, true)) {
		h = h.best(v)
	}
	if h == nil {
		v.world.decided["no room"]++
		return
	}
	v.world.decided["powered on"]++
	v.start(h)
}

// admittedOn reports whether the host takes the VM as it is configured and, where others count, whether what it reserves is unreserved.
func (v *plainVM) admittedOn(h *plainHost, others bool) bool {
	if v.unknown {
		return true
	}
	memory, mhz := min(v.reservation(), v.configured()), v.vm.CPUReservation.Or(0)
	hasMemory, hasMHz := memory > 0 && h.machine.Reservable > 0, mhz > 0 && h.machine.CoreMHz > 0
	for _, o := range h.running() {
		if o != v {
			memory += min(o.reservation(), o.configured())
			mhz += o.vm.CPUReservation.Or(0)
		}
	}
	return !vnuma.Refuse(&v.guest, &h.machine).Any() && (!others || (!hasMemory || memory*int64(numa.PageSize) <= h.machine.Reservable) &&
		(!hasMHz || mhz <= int(h.machine.CoreMHz*h.machine.AllCores)))
}

// start powers the VM on.
func (v *plainVM) start(h *plainHost) {
	v.on, v.host = true, h
	v.t0, v.k0, v.kept = 0, v.world.k, 0
	v.place(v.world.k, vnuma.Case{Event: vnuma.PowerCycle, Choices: v.world.choices})
}

func (v *plainVM) powerOff() {
	if !v.on {
		return
	}
	v.cancelCopy()
	v.leave()
	v.on = false
	v.world.decided["powered off"]++
}

// leave gives the memory back.
func (v *plainVM) leave() {
	for _, c := range v.clients {
		for _, n := range v.host.nodes {
			n.used -= c.pages[n.index]
		}
	}
	v.clients, v.widened, v.kept = nil, nil, 0
}

// cycle is off and on.
func (v *plainVM) cycle() {
	if v.on {
		v.powerOff()
		v.powerOn(v.host)
	}
}

// vMotion moves the VM to a host; its touched memory is allocated anew.
func (v *plainVM) vMotion(h *plainHost) {
	if !v.on || h == v.host || v.guest.Affinity {
		return
	}
	if !h.usable() || !v.admittedOn(h, true) {
		v.world.decided["no room"]++
		return
	}
	v.cancelCopy()
	touched := v.touched()
	v.leave()
	v.host, v.kept = h, touched
	v.place(v.world.k, vnuma.Case{Event: vnuma.VMotionIn, From: v.poweredOnAt, Choices: v.world.choices})
	v.world.decided["moved in"]++
}

func (v *plainVM) configure(c *numa.Config) {
	v.vm.Config = *c
	v.read()
}

func (v *plainVM) resize(c *numa.Config) {
	on := v.on
	v.powerOff()
	v.configure(c)
	v.world.decided["reshaped"]++
	if on {
		v.powerOn(v.host)
	}
}

// hotAdd changes the vCPUs of a running VM.
func (v *plainVM) hotAdd(c *numa.Config) {
	if !v.on {
		v.configure(c)
		return
	}
	v.world.decided["reshaped"]++
	v.configure(c)
	if v.unknown {
		return
	}
	before, managed := v.clients, v.layout.Managed
	event := vnuma.Case{Event: vnuma.PowerCycle, Choices: v.world.choices, Ran: true}
	layout := vnuma.Predict(&v.guest, &v.host.machine, &event)
	same := layout.Managed == managed && (!managed || layout.PPDs.Len() == len(before))
	touched := v.touched()
	v.t0, v.k0 = touched, v.world.k
	if !same {
		v.leave()
		v.kept = touched
		v.place(v.world.k, event)
		return
	}
	v.layout = layout
	_, v.interleaved = layout.Spanning()
	v.threads = v.guest.PreferHT || v.host.machine.PreferHT
	for i, c := range v.clients {
		c.first, c.n = 0, layout.VPDs.Sum()
		if managed {
			c.first, c.n = layout.PPDs.Group(i)
		}
	}
	m := v.host.machine
	v.poweredOnAt = &m
	v.draw(v.world.k)
}

func (v *plainVM) changeLoad(l *numa.Load) {
	active := partsOf(v.load.Active)
	v.load = *l
	v.t0, v.k0 = v.touched(), v.world.k
	if !v.on {
		return
	}
	v.draw(v.world.k)
	if partsOf(l.Active) != active {
		for _, c := range v.clients {
			if c.home != nil {
				c.heat()
			}
		}
	}
}

// talk sets the rate at which two VMs communicate.
func (w *plainWorld) talk(t numa.Talk) {
	a, b := w.vmOf(t.A).index, w.vmOf(t.B).index
	pair := [2]int{min(a, b), max(a, b)}
	if delete(w.talks, pair); t.Rate > 500 {
		w.talks[pair] = int64(t.Rate + 0.5)
	}
}

// setOptions changes options of the host.
func (h *plainHost) setOptions(s numa.Settings) {
	h.world.decided["option set"]++
	options := slices.Clone(s)
	for _, o := range h.host.Options.Value {
		if _, ok := s.Lookup(o.Key); !ok {
			options = append(options, o)
		}
	}
	h.host.Options = numa.ReadAt(options, "story")
	if h.simulated {
		_ = h.configure()
	}
}

// best returns the host of the cluster that takes a VM: alive, not in maintenance, one that admits it, the
// least vCPUs per core, then the most free memory; nil for none.
func (h *plainHost) best(v *plainVM) (best *plainHost) {
	for _, o := range h.world.hosts {
		if o == h || h.host.Cluster == "" || o.host.Cluster != h.host.Cluster || !o.usable() || !v.admittedOn(o, true) || v.on && numa.NotRunning(&h.host, &o.host) != "" {
			continue
		}
		if best == nil {
			best = o
			continue
		}
		a, b := o.vcpus()*best.cores(), best.vcpus()*o.cores()
		if a < b || a == b && o.freeMemory() > best.freeMemory() {
			best = o
		}
	}
	return best
}

func (h *plainHost) vcpus() (sum int64) {
	for _, v := range h.running() {
		sum += int64(v.layout.VPDs.Sum())
	}
	return sum
}

func (h *plainHost) cores() (sum int64) {
	for _, n := range h.nodes {
		sum += int64(n.Cores)
	}
	return sum
}

// evacuate moves every VM by vMotion.
func (h *plainHost) evacuate() {
	h.noteTie(len(h.running()) > 1)
	for _, v := range h.running() {
		if to := h.best(v); to == nil {
			h.world.decided["no room"]++
		} else if !v.guest.Affinity {
			v.vMotion(to)
		}
	}
}

// fail restarts every VM on another host.
func (h *plainHost) fail() {
	h.failed = true
	h.noteTie(len(h.running()) > 1)
	for _, v := range h.running() {
		v.cancelCopy()
		v.leave()
		v.on = false
		to := h.best(v)
		if to == nil {
			h.world.decided["no room"]++
			continue
		}
		v.start(to)
		h.world.decided["restarted"]++
	}
}

// A plainCopy is a vMotion under way.
type plainCopy struct {
	vm   *plainVM
	to   *plainHost
	done int64
}

// copyTo begins a vMotion.
func (v *plainVM) copyTo(h *plainHost, e *numa.Event) {
	if !v.on || h == v.host {
		return
	}
	if e.Link == 0 {
		v.vMotion(h)
		return
	}
	begin := v.world.k
	for _, c := range v.world.copies {
		if c.vm == v {
			return
		}
		if c.vm.host == v.host {
			begin = max(begin, c.done)
		}
	}
	link, dirty := max(1, e.Link/numa.PageSize), e.Dirty/numa.PageSize
	dirty = min(dirty, link/2)
	passes := []numa.Bytes{numa.Bytes(v.touched())}
	for passes[len(passes)-1] > link/2 {
		passes = append(passes, passes[len(passes)-1]*dirty/link)
	}
	var all numa.Bytes
	for _, p := range passes {
		all += p
	}
	steps := all / (2 * link)
	if all%(2*link) != 0 || steps == 0 {
		steps++
	}
	v.world.decided["copied"]++
	v.world.copies = append(v.world.copies, &plainCopy{v, h, begin + int64(steps)})
}

func (v *plainVM) cancelCopy() {
	v.world.copies = slices.DeleteFunc(v.world.copies, func(c *plainCopy) bool { return c.vm == v })
}

// changeOver moves the VMs whose memory is copied, those first that are done first.
func (w *plainWorld) changeOver() {
	slices.SortStableFunc(w.copies, func(a, b *plainCopy) int { return int(a.done - b.done) })
	for len(w.copies) > 0 && w.copies[0].done <= w.k {
		c := w.copies[0]
		w.copies = w.copies[1:]
		if !c.vm.guest.Affinity { // a resize may have given it one
			c.vm.vMotion(c.to)
		}
	}
}
