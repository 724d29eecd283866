package rule

import "homenode/esxi/vnuma"

// PreferHTLate reports whether the VM keeps a stored size that was made before
// preferHT was set: the size is what the host gives without preferHT, and with it the
// host would give another (rule book B-8, B-14). Two rules ask: N020 speaks, and N010
// leaves it to that.
func (p *Pass) PreferHTLate(o *On) bool {
	g, m := p.VM.Guest, o.Kind.Machine
	if o.Layout.Why != vnuma.ByStored || !g.PreferHT && !m.PreferHT {
		return false
	}
	fresh := p.VM.Fresh(o.Kind, p.Choices)
	g.PreferHT, m.PreferHT = false, false
	plain := vnuma.Predict(&g, &m, &vnuma.Case{Event: vnuma.FirstPowerOn, Choices: p.Choices})
	return plain.VPDs.Equal(o.Layout.VPDs) && !fresh.VPDs.Equal(o.Layout.VPDs)
}
