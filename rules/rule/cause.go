package rule

import "homenode/esxi/vnuma"

// PreferHTLate reports whether the VM keeps a stored size that was made before
// preferHT was set: the size is what the host gives without preferHT, and with it the
// host would give another (rule book B-8, B-14). Two rules ask: N020 speaks, and N010
// leaves it to that.
func (p *Pass) PreferHTLate(o *On) bool {
	g, m := p.VM.Guest, o.Kind.Machine
	set := g.PreferHT || m.PreferHT
	g.PreferHT, m.PreferHT = false, false
	return set && p.late(o, g, m)
}

// SpreadLate reports the same of numa.consolidate = FALSE: then no other host shape made the
// stored size (B-8, B-17). N010 says so, and N006 leaves it to that.
func (p *Pass) SpreadLate(o *On) bool {
	g := p.VM.Guest
	g.Spread = false
	return p.VM.Guest.Spread && p.late(o, g, o.Kind.Machine)
}

// late reports whether the stored size is what the VM would get as g on m, and sized afresh
// as it is it would get another.
func (p *Pass) late(o *On, g vnuma.Guest, m vnuma.Machine) bool {
	if o.Layout.Why != vnuma.ByStored {
		return false
	}
	fresh := p.VM.Fresh(o.Kind, p.Choices)
	plain := vnuma.Predict(&g, &m, &vnuma.Case{Event: vnuma.FirstPowerOn, Choices: p.Choices})
	return plain.VPDs.Equal(o.Layout.VPDs) && !fresh.VPDs.Equal(o.Layout.VPDs)
}

// Rounded reports whether cores per socket make the clients of the VM less even than its vCPUs need (B-12).
func (p *Pass) Rounded(o *On) bool {
	l := p.Flat(p.VM.Guest, &o.Kind.Machine)
	return l.Managed && l.PPDs.Unevenness() < o.Layout.PPDs.Unevenness()
}

// Flat predicts g on m with the smallest sockets that power on there, which shape nothing: 140
// sockets of one core do not.
func (p *Pass) Flat(g vnuma.Guest, m *vnuma.Machine) vnuma.Layout {
	for g.CoresPerSocket = 1; ; g.CoresPerSocket++ {
		l := vnuma.Predict(&g, m, &vnuma.Case{Choices: p.Choices})
		if !l.Refused.Any() || g.CoresPerSocket >= g.VCPUs {
			return l
		}
	}
}
