package scheduler

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
)

// happen applies an event before step k (D-1).
func (w *World) happen(k int64, e *numa.Event) {
	vm, host := -1, -1
	if e.VM != "" {
		vm = w.find(e.VM)
	}
	if e.Host != "" {
		host = w.byHost[e.Host]
	}
	switch e.Kind {
	case numa.PowerOn:
		w.powerOn(k, vm, host, PoweredOn)
	case numa.PowerOff:
		w.powerOff(k, vm, PoweredOff)
	case numa.Cycle:
		w.cycle(k, vm)
	case numa.Reboot:
		w.reboot(k, vm)
	case numa.VMotion:
		w.vmotion(k, vm, host, e)
	case numa.Resize:
		w.guests[vm].more().config = e.Config
		if w.guests[vm].runs {
			w.cycle(k, vm)
		}
	case numa.HotAdd:
		w.hotAdd(k, vm, e.Config)
	case numa.LoadChange:
		w.changeLoad(k, vm, e.Load)
	case numa.TalkChange:
		w.talk(e.Talk)
	case numa.OptionChange:
		w.setOptions(k, host, e.Options)
	case numa.Maintenance:
		w.evacuate(k, host)
	case numa.LeaveMaintenance:
		if h := w.hosts[host]; h != nil {
			h.closed = false
		}
	case numa.Fail:
		w.fail(k, host)
	case numa.Repair:
		if h := w.hosts[host]; h != nil {
			h.gone = false
		}
	}
}

// changeLoad sets another load for a VM.
func (w *World) changeLoad(k int64, vm int, load *numa.Load) {
	at := w.guests[vm].host()
	if at < 0 {
		w.guests[vm].load = load
		return
	}
	h := w.hosts[at]
	i, _ := h.search(int32(vm))
	h.settleCPU(k)
	h.setLoad(&h.vms[i], load, k)
	h.drawOne(&h.vms[i], w.seed, w.secondOfDay(k), k)
}

// took adds an event of a VM to the why-log of a host.
func (h *host) took(kind DecisionKind, vm, other int) {
	h.decide(Decision{Kind: kind, VM: vm, Client: -1, Other: other, From: -1, To: -1})
}

// powerOn powers a VM on, on a host or where it is registered.
func (w *World) powerOn(k int64, vm, host int, kind DecisionKind) {
	if w.guests[vm].runs {
		return
	}
	if host < 0 {
		if host = int(w.guests[vm].at); host < 0 {
			w.note(w.fleet.VMs[vm].Name, fmt.Sprintf("powered on at %v, on a host that is not stated", timeOf(k)))
			return
		}
	}
	if closed := !w.open(host); closed || !w.takes(vm, host) {
		other := w.hostFor(w.fleet.Hosts[host].Cluster, vm, host)
		if other < 0 {
			if closed || w.admits(k, vm, host, false) {
				w.note(w.fleet.VMs[vm].Name, fmt.Sprintf("powered on at %v, and no host takes it", timeOf(k)))
			}
			return
		}
		host = other
	}
	w.hosts[host].took(kind, vm, -1)
	w.place(k, vm, host, coming{})
}

// open reports whether a host accepts VMs.
func (w *World) open(host int) bool {
	h := w.hosts[host]
	return h != nil && !h.gone && !h.closed
}

// takes reports whether a host powers a VM on.
func (w *World) takes(vm, host int) bool {
	g, _, err := vnuma.NewGuest(w.config(vm))
	return err != nil || !w.refusal(&g, vm, host).Any()
}

// powerOff powers a VM off.
func (w *World) powerOff(k int64, vm int, kind DecisionKind) (host int) {
	g := &w.guests[vm]
	host = g.host()
	if host < 0 {
		return host
	}
	h := w.hosts[host]
	w.cancel(k, vm)
	i, _ := h.search(int32(vm))
	h.dismiss(k, i)
	g.runs = false
	h.took(kind, vm, -1)
	return host
}

// cycle power-cycles a VM on its host.
func (w *World) cycle(k int64, vm int) {
	if host := w.powerOff(k, vm, PoweredOff); host >= 0 {
		w.powerOn(k, vm, host, PoweredOn)
	}
}

// reboot restarts a guest: nothing changes for the scheduler, unless a reboot is configured as a power cycle.
func (w *World) reboot(k int64, vm int) {
	host := w.guests[vm].host()
	if host < 0 {
		return
	}
	if g, _, err := vnuma.NewGuest(w.config(vm)); err == nil && g.PowerCycleReboot {
		w.cycle(k, vm)
		return
	}
	w.hosts[host].took(Rebooted, vm, -1)
}

// hotAdd changes a running VM: its clients grow (D-1). If the number of clients changes, it is
// placed again on its host.
func (w *World) hotAdd(k int64, vm int, config *numa.Config) {
	g := &w.guests[vm]
	before := g.more().config
	g.more().config = config
	if !g.runs {
		return
	}
	h := w.hosts[g.at]
	i, _ := h.search(int32(vm))
	v := w.config(vm)
	gst, _, err := vnuma.NewGuest(v)
	if err != nil {
		w.note(v.Name, fmt.Sprintf("hot-add at %v: %v: it stays as it is", timeOf(k), err))
		g.more().config = before
		return
	}
	w.recall(g, &gst)
	l := vnuma.Predict(&gst, h.machine, &vnuma.Case{Choices: w.options.Choices, Ran: true})
	facts, problems := h.factsOf(v, &gst, &l)
	for _, p := range problems {
		w.note(v.Name, p)
	}
	g.origin = h.machineIndex
	h.took(Reshaped, vm, -1)
	if in := &h.vms[i]; facts.managed != in.facts.managed || facts.managed && l.PPDs.Len() != int(in.n) {
		touched := h.dismiss(k, i).floor
		was := growthOf(g.load, facts.size, touched, k)
		was.floor = touched
		w.place(k, vm, int(g.at), coming{growth: &was})
		return
	}
	h.settleCPU(k)
	h.settleMemory(&h.vms[i], k)
	facts.allowed = h.vms[i].facts.allowed // it is not placed again
	h.vms[i].facts = w.alike(facts)
	h.reshape(k, &h.vms[i], &l)
	h.drawOne(&h.vms[i], w.seed, w.secondOfDay(k), k)
}

// reshape changes the vCPUs of a VM's clients in place.
func (h *host) reshape(k int64, v *vm, l *vnuma.Layout) {
	v.vcpus = int16(l.VPDs.Sum())
	for i := range int(v.n) {
		start, n := 0, int(v.vcpus)
		if v.facts.managed {
			start, n = l.PPDs.Group(i)
		}
		c := &h.clients[int(v.first)+i]
		c.start, c.vcpus = int16(start), int16(n)
	}
	h.setLoad(v, h.loadOf(v), k)
}

// talk changes how much two VMs communicate (C-11).
func (w *World) talk(t *numa.Talk) {
	a, b := int32(w.find(t.A)), int32(w.find(t.B))
	w.setPartner(a, b, t.Rate)
	w.setPartner(b, a, t.Rate)
	for _, h := range w.hosts {
		if h != nil {
			h.findTalks()
			h.hopeless, h.noMove, h.wake = false, false, 0
		}
	}
}

// commRate is Cpu.CommRateThreshold, a second (C-11).
const commRate = 500

func (w *World) setPartner(a, b int32, rate float64) {
	list := w.talking[a]
	kept := make([]partner, 0, len(list)+1)
	for _, p := range list {
		if p.vm != b {
			kept = append(kept, p)
		}
	}
	if rate > commRate {
		kept = append(kept, partner{b, int64(rate + 0.5)})
	}
	w.talking[a] = kept
}

// setOptions changes options of a host.
func (w *World) setOptions(k int64, host int, options numa.Settings) {
	h := w.hosts[host]
	if h == nil {
		return
	}
	h.settleCPU(k)
	now := *h.facts
	now.Options.Value = slices.Clone(now.Options.Value)
	set := *h.set
	for _, o := range options {
		if err := set.set(o.Key, o.Value); err != nil {
			w.note(h.facts.Name, fmt.Sprintf("%v, set at %v: it stays as it was", err, timeOf(k)))
			continue
		}
		if !acts(o.Key) { // the mitigation options need a reboot of the host
			w.note(h.facts.Name, fmt.Sprintf("%s, set at %v, changes nothing in the simulation", o.Key, timeOf(k)))
		}
		now.Options.Value = slices.DeleteFunc(now.Options.Value, func(s numa.Setting) bool { return strings.EqualFold(s.Key, o.Key) })
		now.Options.Value = append(now.Options.Value, o)
	}
	if m, err := vnuma.NewMachine(&now); err == nil { // PreferHT and others that shape topologies
		h.machineIndex = int32(len(w.machines))
		w.machines = append(w.machines, &m)
		h.machine = &m
	}
	h.facts, h.set = &now, &set
	h.setReserve()
	h.took(OptionSet, -1, -1)
	h.changed()
}

// evacuate moves every VM of a host to others of its cluster.
func (w *World) evacuate(k int64, host int) {
	h := w.hosts[host]
	if h == nil {
		return
	}
	h.closed = true
	for i := 0; i < len(h.vms); {
		vm := int(h.vms[i].index)
		to := w.hostFor(w.fleet.Hosts[host].Cluster, vm, host)
		if to < 0 {
			h.took(NoRoom, vm, -1)
		}
		if to < 0 || w.stays(k, vm, to) {
			i++
			continue
		}
		w.cancel(k, vm)
		w.carry(k, vm, host, to)
	}
}

// fail fails a host; HA restarts its VMs on others of its cluster.
func (w *World) fail(k int64, host int) {
	h := w.hosts[host]
	if h == nil {
		return
	}
	h.settleCPU(k)
	clear(h.got)
	h.gone = true
	for len(h.vms) > 0 {
		vm := int(h.vms[0].index)
		w.cancel(k, vm)
		h.dismiss(k, 0)
		w.guests[vm].runs = false
		to := w.hostFor(w.fleet.Hosts[host].Cluster, vm, host)
		if to < 0 {
			h.took(NoRoom, vm, -1)
			continue
		}
		w.hosts[to].took(Restart, vm, host)
		w.place(k, vm, to, coming{})
	}
	h.findState()
}

// hostFor returns the host of a cluster for a VM: the one with the fewest vCPUs per core, then the
// most free memory, then the first; -1 when none accepts it.
func (w *World) hostFor(cluster string, vm, not int) int {
	best := -1
	if cluster == "" || w.config(vm).Tied() != nil {
		return best
	}
	var least, leastCores, most int64
	for i, h := range w.hosts {
		if i == not || w.fleet.Hosts[i].Cluster != cluster || !w.open(i) || !w.takes(vm, i) || w.apart(vm, i) != "" {
			continue
		}
		vcpus, cores := h.size()
		free := h.allFree()
		less := cmp.Compare(vcpus*leastCores, least*cores)
		if best < 0 || less < 0 || less == 0 && free > most {
			best, least, leastCores, most = i, vcpus, cores, free
		}
	}
	return best
}

// size returns the vCPUs of all VMs and the cores.
func (h *host) size() (vcpus, cores int64) {
	for i := range h.vms {
		vcpus += int64(h.vms[i].vcpus)
	}
	for _, c := range h.cores {
		cores += int64(c)
	}
	return vcpus, cores
}
