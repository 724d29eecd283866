package rule

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/numa/pattern"
	"example.org/homenode/rules/finding"
)

// Running returns the assessed VMs that run on the host, in the order of the fleet; one that would not power on again is Admitted. A VM with an unknown power state counts as running, unless its
// reservation is not available in addition to those of the VMs before it.
func (c *Cluster) Running(h *numa.Host) []*VM {
	c.admit()
	return c.running[h]
}

// Excess returns the memory of the running VMs of the host that exceeds what it has for VMs. Without slower tiers of memory, it is ballooned or swapped
// once all is used. It is not positive if they fit, or if the memory of the host is unknown.
func (c *Cluster) Excess(k *Kind, h *numa.Host) (over numa.Bytes) {
	if !k.Machine.MemoryKnown() {
		return 0
	}
	for _, v := range c.Running(h) {
		over += v.Resident()
	}
	return over - numa.Bytes(k.Machine.ForVMs())
}

// Lacks returns the memory that the hosts of the cluster that run VMs lack together for their running VMs: moving VMs between them does not help. It is
// not positive if there is enough, if the memory of a host is unknown, or if there is one host alone.
func (c *Cluster) Lacks() (over numa.Bytes) {
	hosts := 0
	for _, k := range c.Kinds {
		for _, h := range k.Hosts {
			if !h.Ready() {
				continue
			}
			if !k.Machine.MemoryKnown() {
				return 0
			}
			hosts, over = hosts+1, over+c.Excess(k, h)-h.TierMemory.Value
		}
	}
	if hosts < 2 || c.Unjudged() != nil {
		return 0
	}
	return over
}

// Denied returns the reason why a VM that otherwise counts as running does not power on in addition to the other VMs of its host (B-30): VMs that are
// known to run come first, then the others power on in the order of the fleet.
func (c *Cluster) Denied(v *VM) vnuma.Refusal {
	c.admit()
	return c.denied[v]
}

// Denied is that of the cluster for the VM of the pass. While edits are weighed, the VM comes after those that run now.
func (p *Pass) Denied() vnuma.Refusal {
	v, c := p.VM, p.Cluster
	if !p.Weighing {
		return c.Denied(v)
	}
	if v.Home == nil || v.Power.Or(numa.PoweredOn) != numa.PoweredOn || v.Off() || v.Runs() {
		return vnuma.Refusal{}
	}
	return p.beside(&v.Guest.Needs)
}

// Again returns the reason why the VM, once it is off, does not power on again where it is: its host refuses its configuration, or has not left what it
// reserves.
func (c *Cluster) Again(v *VM) vnuma.Refusal {
	if v.Off() {
		return v.On[0].Layout.Refused
	}
	return cmp.Or(v.refusal, c.Denied(v))
}

// restart puts the reason why the VM would not power on again before advice that powers it off and does not cure that.
func (p *Pass) restart(f *finding.Finding) {
	if p.Weighing || p.VM == nil || p.Rule.Refused || p.VM.Stopped() || !poweredOff(f) {
		return
	}
	again := p.Cluster.Again(p.VM)
	stays := func(w numa.Way) bool { return Needs(w.Edits) != numa.NeedsNothing && !p.restarts(w.Edits) }
	if !again.Any() || f.Ways != nil && !slices.ContainsFunc(f.Ways, stays) {
		return
	}
	f.Advice = fmt.Sprintf("First cure why the VM does not power on again once it is off: %s. After that: %s", again, words.Lower(f.Advice))
}

// poweredOff reports whether advice that is followed powers the VM off.
func poweredOff(f *finding.Finding) bool {
	return slices.ContainsFunc(f.Ways, func(w numa.Way) bool { return Needs(w.Edits) != numa.NeedsNothing }) || offText.MatchString(f.Advice)
}

var offText = pattern.Of(`(?i)power([- ]cycle|( the VM)? off)`)

// restarts reports whether the VM powers on where it is with the edits.
func (p *Pass) restarts(edits []numa.Edit) bool {
	guest, _, err := vnuma.NewGuest(p.configured(edits))
	if err != nil || p.VM.Home == nil {
		return false
	}
	l := vnuma.Predict(&guest, &p.VM.Home.Machine, &vnuma.Case{Choices: p.Choices})
	return !l.Refused.Any() && !p.beside(&guest.Needs).Any()
}

// beside returns the reason why the VM with these needs does not power on in addition to the VMs that run.
func (p *Pass) beside(needs *vnuma.Needs) vnuma.Refusal {
	var others vnuma.Reserved
	for _, o := range p.Cluster.Running(p.VM.Host) {
		if o.ID != p.VM.ID {
			others.Add(&o.Guest.Needs)
		}
	}
	return vnuma.Beside(needs, others, &p.VM.On[0].Kind.Machine)
}

// Unjudged returns the hosts without a prediction.
func (c *Cluster) Unjudged() (hosts []*numa.Host) {
	for _, h := range c.Hosts {
		if !slices.ContainsFunc(c.Kinds, func(k *Kind) bool { return slices.Contains(k.Hosts, h) }) {
			hosts = append(hosts, h)
		}
	}
	return hosts
}

// Takes reports whether the VM takes room on its host, as far as is known: it is on, and its host powers it on beside the others, or it runs all the same.
func (c *Cluster) Takes(v *VM) bool {
	return v.MayRun() && (!v.Off() || v.Runs()) && !c.Denied(v).Any()
}

func (c *Cluster) admit() {
	if c.running != nil {
		return
	}
	c.running, c.denied = map[*numa.Host][]*VM{}, Admit(c.VMs, (*VM).Runs)
	for _, v := range c.VMs {
		if v.Host == nil || !c.Takes(v) {
			continue
		}
		if v.Off() { // it runs, and would not power on again
			v = v.Admitted(c.Choices)
		}
		c.running[v.Host] = append(c.running[v.Host], v)
	}
}

// Admit returns the VMs whose reservations their hosts deny (B-30): VMs that are there have theirs, then the others come in their order, those that a what-if moved there last.
func Admit(vms []*VM, there func(*VM) bool) map[*VM]vnuma.Refusal {
	denied, reserved := map[*VM]vnuma.Refusal{}, map[*numa.Host]vnuma.Reserved{}
	turn := func(v *VM) int {
		switch {
		case v.Arrived:
			return 2
		case there(v):
			return 0
		}
		return 1
	}
	for now := range 3 {
		for _, v := range vms {
			if v.Host == nil || len(v.On) == 0 || v.Home == nil || v.Power.Or(numa.PoweredOn) != numa.PoweredOn || v.Off() && !v.Runs() || turn(v) != now {
				continue
			}
			r := vnuma.Beside(&v.Guest.Needs, reserved[v.Host], &v.On[0].Kind.Machine)
			if r.Any() && now > 0 {
				denied[v] = r
				continue
			}
			sum := reserved[v.Host]
			sum.Add(&v.Guest.Needs)
			reserved[v.Host] = sum
		}
	}
	return denied
}

// Runs reports whether the VM is known to run: by an observation, or according to its source.
func (v *VM) Runs() bool {
	return len(v.Seen) > 0 || v.StatedOn()
}

// NotAgain says this of a VM that runs although its host would not power it on.
const NotAgain = "it runs, and would not power on again"

// Stopped reports whether the VM is off: according to its source, or because its host does not power it on and nothing indicates that it runs.
func (v *VM) Stopped() bool {
	return v.Power.Value == numa.PoweredOff || (v.Off() || v.Guest.Admitted) && !v.Runs()
}

// PowerOnOf is the topic of findings about the room for a powered-off VM.
func PowerOnOf(v *VM) string { return "power-on of " + v.Name }

// Names lists the first VMs by name: "sql01, sql02, web01 and 7 more".
func Names(vms []*VM) string {
	names := words.Texts(vms, func(v *VM) string { return v.Name })
	return words.List(names)
}

// NodesEvidence returns the NUMA nodes of the host of a host rule as evidence.
func (p *Pass) NodesEvidence() finding.Evidence {
	return finding.Evidence{Name: "NUMA nodes of " + p.Host.Name, Value: p.Kind.Shape(), Origin: p.Host.Nodes.Origin.String(), At: p.Host.At}
}

// OptionEvidence returns an advanced option of the host as evidence.
func OptionEvidence(h *numa.Host, key string) finding.Evidence {
	value, ok := h.Options.Value.Lookup(key)
	switch {
	case !h.Options.Known():
		value = "unknown"
	case !ok:
		value = "unset"
	}
	return finding.Evidence{Name: key + " of " + h.Name, Value: value, Origin: h.Options.Origin.String(), At: h.At}
}

// OfHosts sets the subject of a host pass to the first of several similar hosts of one finding, and returns their names for Finding.On: none if these are
// all hosts of the cluster.
func (p *Pass) OfHosts(hosts []*numa.Host) (on []string) {
	p.Host, p.about = hosts[0], hosts
	if len(hosts) == len(p.Cluster.Hosts) {
		return nil
	}
	return hostNames(hosts)
}

func hostNames(hosts []*numa.Host) []string {
	return words.Texts(hosts, func(h *numa.Host) string { return h.Name })
}

// VMIDs returns the IDs of VMs, for Finding.Costs.
func VMIDs(vms []*VM) []string {
	return words.Texts(vms, func(v *VM) string { return v.ID })
}

// First reports whether the host of a host pass is the first of its kind: hosts of
// one kind share findings.
func (p *Pass) First() bool { return p.Kind != nil && p.Host == p.Kind.Hosts[0] }

// FrequencyKnown reports whether the frequency of the VM's host is known, or nothing depends on it: a CPU limit may hold the VM back, and a CPU
// reservation may be more than the host has, or too little for latency sensitivity High.
func (v *VM) FrequencyKnown() bool {
	n, m := &v.Guest.Needs, &v.On[0].Kind.Machine
	return m.CoreMHz > 0 || n.Limit == 0 && (!n.Unclocked(m) || v.Runs() && !n.Exclusive)
}

// Untouched says why no plan of changes makes the edits, which advice proposes or, if asked is true, somebody asks for; "" if one may.
func (v *VM) Untouched(edits []numa.Edit, asked bool) string {
	stops := Needs(edits) != numa.NeedsNothing
	switch {
	case strings.HasPrefix(v.Name, "vCLS-") || strings.HasPrefix(v.Name, "vCLS ("):
		return "vSphere manages it (vCLS)"
	case !asked && v.Off() && !v.Runs() && v.refusedWith(edits):
		return "it does not power on, and these changes do not cure that: cure it first, since the layout may be another one then"
	case stops && v.Host != nil && !v.Stopped() && v.Host.Nested() && v.Host.Nodes.Origin.Kind == numa.Assumed:
		return "the nodes of its host are assumed, and the host is itself a VM: state them with --assume-host first"
	case stops && !asked && v.unscheduled():
		return "the NUMA scheduler of its host is off (H008), and has no clients there to fit it to"
	case stops && !asked && v.RunsHANA() && !v.Whole(&v.On[0]):
		return "SAP HANA is supported on whole sockets and on half a one: decide its size first (N033), or ask for the layout (--set) where it is no production system"
	case v.FaultTolerant():
		return "Fault Tolerance is on, and vSphere changes no settings then: turn it off, plan again, and turn it on at the end if it supports the VM then"
	case v.Power.Value == numa.Suspended:
		return "it is suspended: resume it and power it off first"
	}
	return ""
}

// refusedWith reports whether the host of a VM that does not power on refuses it with the edits too.
func (v *VM) refusedWith(edits []numa.Edit) bool {
	after := *v.VM
	for _, e := range edits {
		_ = e.Configure(&after.Config, "advice") // those of a check are well formed
	}
	guest, _, err := vnuma.NewGuest(&after)
	return err != nil || vnuma.Refuse(&guest, &v.On[0].Kind.Machine).Any()
}

// unscheduled reports whether the NUMA scheduler of the VM's host is off.
func (v *VM) unscheduled() bool {
	if v.Host == nil {
		return false
	}
	on := v.OnHost(v.Host.ID)
	return on != nil && !on.Kind.Machine.Schedules()
}
