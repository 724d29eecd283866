package rule

import (
	"cmp"
	"slices"

	"example.org/homenode/esxi/plan"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
)

// A Proposal is the single plan of a VM, for all its findings together: the changes, their effect on every host of the
// cluster, and how to revert them.
type Proposal struct {
	Needed []string `json:"needed,omitempty"` // necessary changes
	Better []string `json:"better,omitempty"` // cosmetic changes
	// Instead also fixes the findings, only by the placement of the VM; "" if nothing does.
	Instead string `json:"instead,omitempty"`
	// Edits are those of Needed as data, Optional those of Better.
	Edits    []numa.Edit `json:"edits,omitempty"`
	Optional []numa.Edit `json:"optionalEdits,omitempty"`
	// Own are fewer edits, which cure the harm on the hosts of the VM's own kind with fewer clients there; nil if Edits do not divide it further
	// for the sake of other hosts.
	Own      []numa.Edit `json:"-"`
	OwnSteps []string    `json:"-"` // those of Own
	sockets  bool        // Optional shows the guest more sockets, for which a licence may count
	Later    bool        `json:"-"`        // none of the findings is worth the downtime
	Findings []string    `json:"findings"` // the rules whose advice it is
	Effect   []Effect    `json:"effect"`
	Downtime string      `json:"downtime"`
	Notice   string      `json:"notice"` // effect on guest and licences
	Undo     []string    `json:"undo"`
	// Afterwards lists settings to remove later.
	Afterwards string `json:"afterwards"`
}

// An Effect is the change of the layout by a plan on hosts of one kind, in the format of Short.
type Effect struct {
	Hosts  []string `json:"hosts"`
	Before string   `json:"before"`
	Needed string   `json:"needed"` // after the necessary changes
	All    string   `json:"all"`    // after all changes
	Own    string   `json:"-"`      // after Own; "" without
}

// Proposal returns the plan of the VM, for those of the findings that recommend it; nil if none does.
func (p *Pass) Proposal(findings []finding.Finding) *Proposal {
	if _, crowded := p.VM.Crowded(p.VM.On[0].Kind); crowded { // first fewer vCPUs are needed (N013)
		return nil
	}
	out := &Proposal{Later: true}
	place := true
	for i := range findings {
		f := &findings[i]
		if f.VMID != p.VM.ID || !f.Planned() {
			continue
		}
		out.Findings = append(out.Findings, f.Rule)
		out.Later = out.Later && !p.VM.Worth(f)
		if first := &f.Ways[0]; first.Edits != nil || first.Plan {
			place = false
		} else {
			out.Instead = cmp.Or(out.Instead, first.Do)
		}
	}
	if !place {
		out.Instead = ""
	}
	best := p.Plan()
	if out.Findings == nil || !best.Better {
		return nil
	}
	out.Needed, out.Better = p.steps(best)
	cured, after := p.VM.Config, p.VM.Config
	best.Needed.Configure(&cured)
	best.Edit.Configure(&after)
	out.Edits, out.Optional = numa.Edits(&p.VM.Config, &cured), numa.Edits(&cured, &after)
	out.sockets = best.After[0].VSockets.Len() > best.Cured[0].VSockets.Len()
	own := p.own(best)
	if own != nil {
		out.Own, out.OwnSteps = p.VM.Edits(&best.Alone.Needed), p.stepsOf(&best.Alone.Needed)
	}
	for i := range p.VM.On {
		e := Effect{p.VM.On[i].Kind.HostNames(), Short(&best.Before[i]), Short(&best.Cured[i]), Short(&best.After[i]), ""}
		if own != nil {
			e.Own = own[i]
		}
		out.Effect = append(out.Effect, e)
	}
	out.Notice = words.Join("; ", p.notice(best), p.VM.KeyNotice())
	out.Undo = best.Edit.Undo(&p.VM.Guest, &p.VM.Config)
	first := out.Edits
	if first == nil {
		first = out.Optional
	}
	out.Downtime, out.Afterwards = p.VM.downtime(first), "nothing"
	if p.VM.Guest.SizeEachTime {
		out.Afterwards = "numa.autosize.once = FALSE: with it every power-on sizes the VM afresh for the host that it starts on (N010)"
	}
	return out
}

// downtime says how the edits, which a power cycle activates, take effect.
func (v *VM) downtime(edits []numa.Edit) string {
	text := "power off and on: a reboot of the guest, a reset or vMotion is not enough"
	switch {
	case v.Stopped():
		text = v.NoDowntime()
	case v.rebooted(edits):
		text = "a reboot of the guest: vmx.reboot.PowerCycle = TRUE makes it a power cycle, and removes itself"
	}
	if v.FaultTolerant() {
		text += ". Fault Tolerance is off in between: vSphere changes no settings while it is on"
	}
	return text
}

// All returns the necessary edits, and the optional ones where they cost nothing more: the VM is down for them as it is for others, which need
// at least down, the guest sees no more sockets, and what they change is known.
func (p *Proposal) All(down numa.Needs) []numa.Edit {
	blind := slices.ContainsFunc(p.Optional, func(e numa.Edit) bool { return !e.Stated() })
	if p.sockets || blind || Needs(p.Optional) > max(down, Needs(p.Edits)) {
		return p.Edits
	}
	return slices.Concat(p.Edits, p.Optional)
}

// own returns the layouts on each kind of hosts with the edits of Proposal.Own, in the format of Short; nil without. With them the clients are even
// on the other hosts too.
func (p *Pass) own(best *plan.Plan) []string {
	own := best.Alone
	if own == nil || own.Cured[0].PPDs.Len() >= best.Cured[0].PPDs.Len() {
		return nil
	}
	if p.Cluster.Weigh != nil {
		if _, ok := p.gains(p.weighPlan(&own.Needed)); !ok {
			return nil
		}
	}
	guest, home := own.Needed.Apply(p.VM.Guest), &p.VM.On[0].Kind.Machine
	layouts := []string{Short(&own.Cured[0])}
	for i := 1; i < len(p.VM.On); i++ {
		l := vnuma.Predict(&guest, &p.VM.On[i].Kind.Machine, &vnuma.Case{Event: vnuma.VMotionIn, From: home, Choices: p.Choices})
		if !l.PPDs.Even() {
			return nil
		}
		layouts = append(layouts, Short(&l))
	}
	return layouts
}

// Worth reports whether a finding of the VM is worth the downtime that its cure needs.
func (v *VM) Worth(f *finding.Finding) bool { return f.Severity >= finding.Medium || v.Stopped() }

// NoDowntime returns the reason why a change needs no downtime for a stopped VM.
func (v *VM) NoDowntime() string {
	if v.Power.Value == numa.PoweredOff {
		return "none: the VM is powered off"
	}
	return "none: the VM does not power on as it is"
}

// Whole returns the proposal with the fixes for the remaining findings, which a plan of changes includes.
func (p *Pass) Whole(findings []finding.Finding) *Proposal {
	out := p.Proposal(findings)
	if out == nil || p.Cluster.Weigh == nil {
		return out
	}
	left := p.weigh(out.Edits)
	var cures []numa.Edit
	for i := range findings {
		f := &findings[i]
		stays := func(l finding.Finding) bool { return l.Rule == f.Rule && l.Topic == f.Topic }
		if f.VMID != p.VM.ID || f.Planned() || f.Severity < finding.Medium || f.Cure() == nil || !slices.ContainsFunc(left, stays) {
			continue
		}
		w := &f.Ways[slices.IndexFunc(f.Ways, func(w numa.Way) bool { return w.Auto })]
		out.Needed = append(out.Needed, w.Do)
		cures = append(cures, w.Edits...)
	}
	if cures != nil {
		p.with(out, cures)
		left = p.weigh(out.Edits)
	}
	now := p.now()
	out.Findings = nil
	for i := range findings {
		f := &findings[i]
		cured := slices.ContainsFunc(now, f.Same) && !slices.ContainsFunc(left, f.Same)
		if f.VMID == p.VM.ID && (cured || f.Planned()) && !slices.Contains(out.Findings, f.Rule) {
			out.Findings = append(out.Findings, f.Rule)
		}
	}
	return out
}

// with adds necessary edits to the proposal, with their effect and how to revert them.
func (p *Pass) with(out *Proposal, cures []numa.Edit) {
	cured, after := p.configured(out.Edits, cures), p.configured(out.Edits, cures, out.Optional)
	out.Edits, out.Optional = numa.Edits(&p.VM.Config, &cured.Config), numa.Edits(&cured.Config, &after.Config)
	for i := range out.Effect {
		short := func(v *numa.VM) string {
			g, _, err := vnuma.NewGuest(v)
			if err != nil {
				return ""
			}
			l := vnuma.Predict(&g, &p.VM.On[i].Kind.Machine, &vnuma.Case{Choices: p.Choices})
			return Short(&l)
		}
		out.Effect[i].Needed, out.Effect[i].All = short(cured), short(after)
	}
	for _, e := range out.Edits {
		switch {
		case !slices.ContainsFunc(cures, func(c numa.Edit) bool { return c.Kind == e.Kind && c.Key == e.Key }):
		case e.Assumed:
			out.Undo = append(out.Undo, plan.Restore(e.Name()))
		default:
			out.Undo = append(out.Undo, plan.Back(e.Name(), e.From))
		}
	}
}

// notice describes the effect on guest and licences of the necessary part of the plan, and of the rest.
func (p *Pass) notice(best *plan.Plan) string {
	before, cured, after := &best.Before[0], &best.Cured[0], &best.After[0]
	text := Notice(before, after)
	if needed, better := p.steps(best); needed != nil && better != nil {
		text = Notice(before, cured) + "; of the optional part: " + Notice(cured, after)
	}
	return words.Join("; ", text, p.VM.ForProducts(before, after), p.vetted().price)
}
