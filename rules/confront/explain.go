package confront

import (
	"fmt"
	"slices"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
)

// mostReasons is the maximum number of reasons for a difference: the first is the most likely,
// and a longer list would not help.
const mostReasons = 3

// explain searches for changes that would make the prediction agree, and stores the first few.
// Each variant changes one thing.
func (r *Result) explain(v *numa.VM, places []Place, here int, ch vnuma.Choices) {
	try := func(g vnuma.Guest, m *vnuma.Machine, c vnuma.Case, format string, args ...any) {
		if len(r.Reasons) == mostReasons {
			return
		}
		l := vnuma.Predict(&g, m, &c)
		if Agree(r.withProcessors(fieldsOf(r.Observation, &l, nil), &g)) {
			r.Reasons = append(r.Reasons, fmt.Sprintf(format, args...))
		}
	}
	m := &places[here].Machine
	usual := vnuma.Case{Event: r.Event, Choices: ch, Ran: true}
	r.tryPlaces(try, places, here, usual)
	r.tryCheckpoint()
	if !r.Observation.Config.VCPUs.Known() { // it shows an older configuration
		r.tryEarlier(try, m, usual)
	}
	r.tryUnknown(try, v, m, usual)
	for choice, other := range ch.Others() {
		c := usual
		c.Choices = other
		try(r.Guest, m, c, "%s", choice.Explains())
	}
}

type trial func(g vnuma.Guest, m *vnuma.Machine, c vnuma.Case, format string, args ...any)

// tryPlaces assumes that the VM was sized on another host, and moved here since. A log that
// begins with a power-on proves that it was not moved, and most logs name the host.
func (r *Result) tryPlaces(try trial, places []Place, here int, c vnuma.Case) {
	started := r.Observation.Start == numa.FirstStart || r.Observation.Start == numa.PowerOnStart
	named := slices.ContainsFunc(places[here].Names, func(n string) bool { return numa.SameHost(n, r.Observation.Host) })
	for i := range places {
		p := &places[i]
		if i != here && !started {
			moved := c
			moved.Event, moved.From = vnuma.VMotionIn, &p.Machine
			try(r.Guest, &places[here].Machine, moved, "powered on last on a host like %s (%s) and moved here: the guest keeps its nodes (D-1)", p.name(), p.Machine.Shape())
		}
		if i != here && !(started && named) {
			try(r.Guest, &p.Machine, c, "powered on on a host like %s (%s)", p.name(), p.Machine.Shape())
		}
	}
	if r.Observation.Start == "" {
		fresh := c
		fresh.Event = vnuma.FirstPowerOn
		try(r.Guest, &places[here].Machine, fresh, "sized afresh: the stored size was not there at the last power-on (B-8)")
	}
}

// tryCheckpoint explains virtual nodes in a checkpoint from an unknown host: the clients, which
// the present host creates, agree.
func (r *Result) tryCheckpoint() {
	if r.Observation.Start != numa.CheckpointStart || len(r.Reasons) > 0 {
		return
	}
	clients := false
	for _, f := range r.Fields {
		switch f.Name {
		case FieldVPDs, fieldSlices, FieldSockets: // determined by the guest
		case fieldPPDs:
			clients = f.Agrees
		default:
			return
		}
	}
	if clients {
		r.Reasons = append(r.Reasons, "it came by a checkpoint (suspend or vMotion), and the guest keeps the nodes of its last power-on, on a host that is not known here (D-1); the clients agree")
	}
}

// tryEarlier assumes that a setting was changed since the last power-on: the layout in a guest
// is older than the inventory.
func (r *Result) tryEarlier(try trial, m *vnuma.Machine, c vnuma.Case) {
	with := func(text string, edit func(*vnuma.Guest)) {
		g := r.Guest
		edit(&g)
		if g != r.Guest {
			try(g, m, c, "it is what %s would give: changed since the last power-on, only a power cycle makes a change take effect (D-1)", text)
		}
	}
	if r.Guest.HotAdd {
		with("CPU hot add off", func(g *vnuma.Guest) { g.HotAdd = false })
	} else {
		with("CPU hot add on", func(g *vnuma.Guest) { g.HotAdd = true })
	}
	with("no size set by hand", func(g *vnuma.Guest) { g.MaxPerVirtualNode, g.CoresPerNode = 0, 0 })
	if nodes := sizesOf(r.Observation.VPDs.Value); len(nodes) > 1 {
		text, least := fmt.Sprintf("numa.vcpu.maxPerVirtualNode = %d", nodes[0]), r.Guest.Min
		if r.Guest.VCPUs < vnuma.DefaultMin && m.Model() >= numa.ESXi65 { // B-3
			least = r.Guest.VCPUs
			text += fmt.Sprintf(" with numa.vcpu.min = %d", least)
		}
		with(text, func(g *vnuma.Guest) { g.MaxPerVirtualNode, g.Min = int32(nodes[0]), least })
	}
	with("preferHT off", func(g *vnuma.Guest) { g.PreferHT = false })
	with("preferHT on", func(g *vnuma.Guest) { g.PreferHT = true })
	with("numa.consolidate = TRUE", func(g *vnuma.Guest) { g.Spread = false })
	with("no stored size", func(g *vnuma.Guest) { g.Stored, g.CookieVCPUs = 0, 0 })
	n, sockets := int(r.Guest.VCPUs), sizesOf(r.Observation.Sockets.Value)
	if seen, ok := Processors(r.Observation); ok && seen != n {
		n = seen
		with(fmt.Sprintf("%d vCPUs", n), func(g *vnuma.Guest) { g.VCPUs = int32(n) })
	}
	if len(sockets) > 0 {
		with(fmt.Sprintf("%d vCPUs with %d cores per socket", n, sockets[0]), func(g *vnuma.Guest) {
			g.VCPUs, g.CoresPerSocket, g.AutoCPS = int32(n), int32(sockets[0]), false
		})
	}
}

// tryUnknown varies unknown facts.
func (r *Result) tryUnknown(try trial, v *numa.VM, m *vnuma.Machine, c vnuma.Case) {
	if !v.CPUHotAdd.Known() && !r.Observation.Config.CPUHotAdd.Known() {
		g := r.Guest
		g.HotAdd = true
		try(g, m, c, "CPU hot add, which is not stated, is on")
	}
	if !v.Hardware.Known() && !r.Observation.Config.Hardware.Known() {
		g := r.Guest
		g.Hardware = 7
		try(g, m, c, "the virtual hardware, which is not stated, is older than 8")
	}
	if !v.Settings.Known() && !r.Observation.Config.Settings.Known() && r.Observation.VPDs.Known() {
		if sizes := sizesOf(r.Observation.VPDs.Value); len(sizes) > 0 {
			g := r.Guest
			g.Stored, g.CookieVCPUs = int32(sizes[0]), g.VCPUs
			try(g, m, c, "a stored or manual size of %d vCPUs, which is not stated", sizes[0])
		}
	}
}

// withProcessors adds the number of processors that a guest shows.
func (r *Result) withProcessors(fields []Field, g *vnuma.Guest) []Field {
	if n, ok := Processors(r.Observation); ok && r.Observation.By.InGuest() {
		fields = append(fields, Field{Agrees: n == int(g.VCPUs)})
	}
	return fields
}
