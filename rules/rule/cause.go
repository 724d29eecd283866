package rule

import (
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
)

// PreferHTLate reports whether the VM has a stored size from before preferHT was set: the size equals the
// host's result without preferHT, and with it the result would be another (rule book B-8, B-14). Two rules
// use it: N020 reports it, and N010 then does not.
func (p *Pass) PreferHTLate(o *On) bool {
	g, m := p.VM.Guest, o.Kind.Machine
	set := g.PreferHT || m.PreferHT
	g.PreferHT, m.PreferHT = false, false
	return set && p.late(o, g, m)
}

// SpreadLate is the equivalent for numa.consolidate = FALSE: then the stored size is not from a different
// host (B-8, B-17). N010 reports it, and N006 then does not.
func (p *Pass) SpreadLate(o *On) bool {
	g := p.VM.Guest
	g.Spread = false
	return p.VM.Guest.Spread && p.late(o, g, o.Kind.Machine)
}

// late reports whether the stored size is the result for g on m, and the VM would now get another one.
func (p *Pass) late(o *On, g vnuma.Guest, m vnuma.Machine) bool {
	if o.Layout.Why != vnuma.ByStored {
		return false
	}
	fresh := p.VM.Fresh(o.Kind, p.Choices)
	plain := vnuma.Predict(&g, &m, &vnuma.Case{Event: vnuma.FirstPowerOn, Choices: p.Choices})
	return plain.VPDs.Equal(o.Layout.VPDs) && !fresh.VPDs.Equal(o.Layout.VPDs)
}

// LeaveStored makes a finding about a stored size information: it suits the hosts of the VM together, and sized afresh for its own the VM
// would not fit the others.
func (p *Pass) LeaveStored(f *finding.Finding, now, fresh *vnuma.Layout) {
	f.Severity, f.When = finding.Info, "Leave it where the VM moves between its hosts: sized afresh it fits all of them no better. Where it stays on hosts of this shape"
	f.Ways, f.Notice = []numa.Way{numa.ByHand(p.VM.Afresh().Do)}, Notice(now, fresh)
}

// Suits reports whether the stored size of the VM, with this layout, suits its hosts together: each node that the guest sees has one client, the
// hosts need as many nodes, and the plan of the VM keeps the size.
func (p *Pass) Suits(l *vnuma.Layout) bool {
	_, spans := l.Spanning()
	return !spans && l.VPDs.Len() <= p.VM.Needed() && !p.Plan().Edit.ForgetStored
}

// Rounded reports whether cores per socket make the clients of the VM less even than required by its vCPUs
// (B-12).
func (p *Pass) Rounded(o *On) bool {
	l := p.Flat(p.VM.Guest, &o.Kind.Machine)
	return l.Managed && l.PPDs.Unevenness() < o.Layout.PPDs.Unevenness()
}

// Flat predicts g on m with the smallest sockets that power on there, which do not affect the layout: 140
// sockets of one core do not power on.
func (p *Pass) Flat(g vnuma.Guest, m *vnuma.Machine) vnuma.Layout {
	for g.CoresPerSocket = 1; ; g.CoresPerSocket++ {
		l := vnuma.Predict(&g, m, &vnuma.Case{Choices: p.Choices})
		if !l.Refused.Any() || g.CoresPerSocket >= g.VCPUs {
			return l
		}
	}
}
