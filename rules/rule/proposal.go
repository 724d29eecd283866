package rule

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/esxi/plan"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
)

// A Scope says which findings of VMs plans cure. With the zero value it is those that are worth the downtime of their cure.
type Scope struct {
	Better  bool                  // cosmetic changes too, and cures of low findings that need downtime
	Cycled  bool                  // the VMs are power-cycled anyway: cures of low findings cost nothing more
	Further bool                  // cures of findings that the first cures uncover, as in a plan of changes for all findings
	Split   bool                  // more clients on a VM's own hosts too, where only other hosts gain
	Down    map[string]numa.Needs // by ID, why a VM is powered off in any case
	Wide    map[string]bool       // by ID, the VMs that a setting of their host makes wide: its cure costs no VM downtime
}

// hidden is the finding that a VM of few vCPUs is wide and its guest sees one node.
const hidden = "N011"

// Worth reports whether a finding of the VM is worth the downtime of its cure.
func (s *Scope) Worth(f *finding.Finding, v *VM) bool {
	return s.Better || s.Cycled || v.Worth(f) && !(s.Wide[v.ID] && f.Rule == hidden && !v.Stopped())
}

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
	// Free: a plan of changes makes the optional edits too, because they cost no more downtime.
	Free bool `json:"optionalFree,omitempty"`
	// Wider suits all hosts instead of Needed, which divides the VM into fewer clients on the hosts of its own kind; nil if Needed does.
	Wider      []string    `json:"wider,omitempty"`
	WiderEdits []numa.Edit `json:"widerEdits,omitempty"`
	sockets    bool        // Optional shows the guest more sockets, for which a licence may count
	Later      bool        `json:"later,omitempty"` // no finding is worth the downtime: a plan of changes leaves it out
	Findings   []string    `json:"findings"`        // the rules whose advice it is
	Effect     []Effect    `json:"effect"`
	Downtime   string      `json:"downtime"`
	Notice     string      `json:"notice"` // effect on guest and licences
	Undo       []string    `json:"undo"`
	// Afterwards lists settings to remove later.
	Afterwards string `json:"afterwards"`
	// Parts are the edits to make if Taken harms others: fewer and fewer, then the cures without the layout.
	Parts [][]numa.Edit `json:"-"`
	// Cheap are the findings that are not worth the downtime of their cure.
	Cheap []*finding.Finding `json:"-"`
	// Urgent: it cures a finding of at least medium severity.
	Urgent bool `json:"-"`
	// LeftOut is the reason why no plan of changes makes it; "" if one may.
	LeftOut string `json:"leftOut,omitempty"`
}

// Taken returns the edits that a plan of changes makes; nil where all of them are optional and not free.
func (p *Proposal) Taken() []numa.Edit {
	if p.Later || p.Parts == nil {
		return nil
	}
	return p.Parts[0]
}

// An Effect is the change of the layout by a plan on hosts of one kind, in the format of Short.
type Effect struct {
	Hosts  []string `json:"hosts"`
	Before string   `json:"before"`
	Needed string   `json:"needed"`          // after the necessary changes
	All    string   `json:"all"`             // after all changes
	Wider  string   `json:"wider,omitempty"` // after Wider; "" without
}

// layout returns the plan of the VM for its topology alone, for those of its findings that recommend it; nil if none does.
func (p *Pass) layout(findings []*finding.Finding, s *Scope) *Proposal {
	if _, crowded := p.VM.Crowded(p.VM.On[0].Kind); crowded { // first fewer vCPUs are needed (N013)
		return nil
	}
	out := &Proposal{}
	place := true
	for _, f := range findings {
		if !f.Planned() {
			continue
		}
		out.Findings = append(out.Findings, f.Rule)
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
	out.Notice, out.Undo = p.notice(best), best.Edit.Undo(&p.VM.Guest, &p.VM.Config)
	var own []string
	if !s.Split && best.Alone != nil && p.VM.Edits(&best.Alone.Needed) != nil {
		own = p.own(best)
	}
	if own != nil {
		alone := best.Alone
		out.Wider, out.WiderEdits = out.Needed, out.Edits
		out.Needed, out.Edits, out.Better, out.Optional = p.stepsOf(&alone.Needed), p.VM.Edits(&alone.Needed), nil, nil
		before, after := &alone.Before[0], &alone.Cured[0]
		out.Notice, out.Undo = words.Join("; ", Notice(before, after), p.VM.sharing(before, after), p.VM.ForProducts(before, after)), alone.Needed.Undo(&p.VM.Guest, &p.VM.Config)
	}
	for i := range p.VM.On {
		e := Effect{p.VM.On[i].Kind.HostNames(), Short(&best.Before[i]), Short(&best.Cured[i]), Short(&best.After[i]), ""}
		if own != nil {
			e.Needed, e.All, e.Wider = own[i], own[i], e.Needed
		}
		out.Effect = append(out.Effect, e)
	}
	return out
}

// A choice is the findings of a VM that a proposal cures.
type choice struct {
	layout bool               // by the layout
	cures  []*finding.Finding // by edits of their own
	cheap  []*finding.Finding // those that are not worth the downtime of their cure
	down   numa.Needs         // what the VM is taken down for
}

// choose returns which of the findings of the VM the proposal cures. A cure costs its VM a power cycle unless the VM is off, or no edit needs one: a
// finding of low severity or less is not worth that, nor one that a setting of the host cures. A VM that is taken down all the same gets the cures
// of those above info too.
func (s *Scope) choose(v *VM, findings []*finding.Finding, layout *Proposal) (c choice) {
	c.down = s.Down[v.ID]
	needs := func(f *finding.Finding) numa.Needs {
		switch {
		case layout == nil || !f.Planned():
			return numa.NeedsNothing
		case len(layout.Edits) == 0:
			return Needs(layout.Optional)
		}
		return Needs(layout.Edits)
	}
	for _, f := range findings {
		if s.Worth(f, v) {
			c.down = max(c.down, needs(f), Needs(f.Cure()))
		}
	}
	for _, f := range findings {
		worth, down := s.Worth(f, v), numa.NeedsNothing
		if f.Severity > finding.Info {
			down = c.down
		}
		planned, cured := f.Planned() && (worth || down != numa.NeedsNothing && needs(f) <= down), worth || Needs(f.Cure()) <= down
		c.layout = c.layout || planned && layout != nil
		if cured && f.Cure() != nil {
			c.cures = append(c.cures, f)
		}
		if f.Planned() != planned || !cured {
			c.cheap = append(c.cheap, f)
		}
	}
	return c
}

// Proposal returns the plan of the VM for those of the findings that the scope includes, or that a wider scope would; nil if none has a cure.
func (p *Pass) Proposal(findings []finding.Finding, s *Scope) *Proposal {
	var own []*finding.Finding
	for i := range findings {
		if findings[i].VMID == p.VM.ID {
			own = append(own, &findings[i])
		}
	}
	if !slices.ContainsFunc(own, func(f *finding.Finding) bool { return f.Planned() || f.Cure() != nil }) {
		return nil
	}
	layout := p.layout(own, s)
	c := s.choose(p.VM, own, layout)
	later := !c.layout && c.cures == nil
	if later {
		all := *s
		all.Cycled = true
		cheap := c.cheap
		c = all.choose(p.VM, own, layout)
		c.cheap = cheap
	}
	out := p.begin(layout, &c)
	out.Later, out.Cheap = later, c.cheap
	if c.layout && !later {
		out.Free = len(out.Optional) > 0 && (s.Better || out.free(c.down))
	}
	needed, optional := out.Edits, out.Optional
	cures := p.add(out, c.cures)
	for _, part := range [][][]numa.Edit{{out.Edits, out.Optional}, {out.Edits}, {needed, optional}, {needed}, {cures}} {
		if len(part) > 1 && !out.Free {
			continue
		}
		e := numa.Edits(&p.VM.Config, &p.configured(part...).Config)
		if len(e) > 0 && !slices.ContainsFunc(out.Parts, func(o []numa.Edit) bool { return slices.Equal(o, e) }) {
			out.Parts = append(out.Parts, e)
		}
	}
	if len(out.Edits)+len(out.Optional) == 0 {
		return nil
	}
	if s.Further && cures != nil && !later {
		p.further(out)
	}
	p.finish(out, own)
	return out
}

// further adds the plan for the VM with the edits of the proposal: their findings may have hidden others.
func (p *Pass) further(out *Proposal) {
	if p.Cluster.Judge == nil {
		return
	}
	made := p.configured(out.Taken())
	made.Observed = nil
	v, found := p.Cluster.Judge(p.VM, made)
	then := &Pass{Cluster: p.Cluster, VM: v, Choices: p.Choices}
	next := then.Proposal(found, &Scope{Down: map[string]numa.Needs{v.ID: Needs(out.Taken())}})
	if next == nil || next.Taken() == nil || then.onlyElsewhere(found, next.Taken()) {
		return
	}
	all := numa.Edits(&p.VM.Config, &p.configured(out.Taken(), next.Taken()).Config)
	if slices.ContainsFunc(out.Taken(), func(e numa.Edit) bool { return !slices.ContainsFunc(all, e.Like) }) { // it takes back what the findings advise
		return
	}
	out.Parts = append([][]numa.Edit{all}, out.Parts...)
	for _, step := range next.Needed {
		out.say(step)
	}
	if next.Edits == nil || next.Free {
		out.Needed = append(out.Needed, next.Better...)
	}
	p.with(out, next.Taken())
}

// say adds a step, in place of earlier ones that give the same setting another value.
func (p *Proposal) say(do string) {
	if slices.Contains(p.Needed, do) {
		return
	}
	steps := words.Texts(strings.Split(do, ", "), about)
	p.Needed = append(slices.DeleteFunc(slices.Clone(p.Needed), func(o string) bool { return slices.Contains(steps, about(o)) }), do)
}

// about returns the setting of a step: "cores per socket" of "set cores per socket to 5 (4 sockets)".
func about(step string) string {
	for _, end := range []string{" to ", " = ", " be "} {
		step, _, _ = strings.Cut(step, end)
	}
	return strings.TrimPrefix(strings.TrimPrefix(step, "set "), "let ")
}

// onlyElsewhere reports whether the edits divide the VM further on its host although none of the findings of medium or high severity is there.
func (p *Pass) onlyElsewhere(found []finding.Finding, edits []numa.Edit) bool {
	guest, _, err := vnuma.NewGuest(p.configured(edits))
	home := &p.VM.On[0]
	l := vnuma.Predict(&guest, &home.Kind.Machine, &vnuma.Case{Choices: p.Choices})
	here := func(f finding.Finding) bool { return f.Severity >= finding.Medium && !f.Elsewhere() }
	return err != nil || l.PPDs.Len() > home.Layout.PPDs.Len() && !slices.ContainsFunc(found, here)
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

// free reports whether the optional edits cost nothing more: the VM is down for them as it is for others, which need at least down, the guest
// sees no more sockets, and what they change is known.
func (p *Proposal) free(down numa.Needs) bool {
	blind := slices.ContainsFunc(p.Optional, func(e numa.Edit) bool { return !e.Stated() })
	return !p.sockets && !blind && Needs(p.Optional) <= max(down, Needs(p.Edits))
}

// own returns the layouts on each kind of hosts with the edits of the plan for them alone, in the format of Short; nil without. With them the clients are even
// on the other hosts too, and no vMotion to one of these makes the VM worse than it does now.
func (p *Pass) own(best *plan.Plan) []string {
	own := best.Alone
	if own == nil || own.Cured[0].PPDs.Len() >= best.Cured[0].PPDs.Len() {
		return nil
	}
	if p.Cluster.Weigh != nil {
		price, ok := p.gains(p.weighPlan(&own.Needed))
		if divided := best.Cured[0].PPDs.Len() > best.Before[0].PPDs.Len(); !ok || price != "" && !divided { // the plan for all hosts costs nothing
			return nil
		}
	}
	guest, home := own.Needed.Apply(p.VM.Guest), &p.VM.On[0].Kind.Machine
	layouts := []string{Short(&own.Cured[0])}
	for i := 1; i < len(p.VM.On); i++ {
		o := &p.VM.On[i]
		l, now := vnuma.Predict(&guest, &o.Kind.Machine, &vnuma.Case{Event: vnuma.VMotionIn, From: home, Choices: p.Choices}), p.VM.Moved(o.Kind, p.Choices)
		if !l.PPDs.Even() || !o.Small && !o.Closed && l.Compare(&now) > 0 {
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

// begin returns a proposal with the layout, if it is chosen; else one without edits.
func (p *Pass) begin(layout *Proposal, c *choice) *Proposal {
	if c.layout {
		return layout
	}
	out := &Proposal{}
	for i := range p.VM.On {
		now := Short(&p.VM.On[i].Layout)
		out.Effect = append(out.Effect, Effect{p.VM.On[i].Kind.HostNames(), now, now, now, ""})
	}
	return out
}

// add adds the edits that cure the findings, except those that the layout cures, and returns them.
func (p *Pass) add(out *Proposal, findings []*finding.Finding) (cures []numa.Edit) {
	var now, left []finding.Finding
	if findings != nil && out.Edits != nil && p.Cluster.Weigh != nil {
		now, left = p.now(), p.weigh(out.Edits)
	}
	for _, f := range findings {
		if slices.ContainsFunc(now, f.Same) && !slices.ContainsFunc(left, f.Same) {
			continue
		}
		w := &f.Ways[slices.IndexFunc(f.Ways, func(w numa.Way) bool { return w.Auto })]
		if !slices.ContainsFunc(w.Edits, func(e numa.Edit) bool { return !slices.Contains(cures, e) }) { // another finding has the cure
			continue
		}
		do := w.Do
		for _, step := range out.Needed { // a cure may repeat steps of the layout
			do = strings.ReplaceAll(do, ", "+step, "")
		}
		out.say(do)
		cures = append(cures, w.Edits...)
	}
	if cures != nil {
		p.with(out, cures)
	}
	return cures
}

// finish sets the findings that the proposal cures, and its downtime.
func (p *Pass) finish(out *Proposal, own []*finding.Finding) {
	first := out.Edits
	if first == nil {
		first = out.Optional
	}
	out.Notice = words.Join("; ", out.Notice, p.VM.KeyNotice())
	out.Downtime, out.Afterwards = p.VM.downtime(first), "nothing"
	if p.VM.Guest.SizeEachTime {
		out.Afterwards = "numa.autosize.once = FALSE: with it every power-on sizes the VM afresh for the host that it starts on (N010)"
	}
	out.LeftOut = p.VM.Untouched(first, false)
	planned := out.Findings
	out.Findings = nil
	if p.Cluster.Weigh == nil {
		out.Findings, out.Urgent = planned, true
		return
	}
	now, left := p.now(), p.weigh(out.Edits)
	for _, f := range own {
		cured := slices.ContainsFunc(now, f.Same) && !slices.ContainsFunc(left, f.Same)
		if !cured && (planned == nil || !f.Planned()) {
			continue
		}
		if out.Urgent = out.Urgent || f.Needed(); !slices.Contains(out.Findings, f.Rule) {
			out.Findings = append(out.Findings, f.Rule)
		}
	}
}

// with adds necessary edits to the proposal, with their effect and how to revert them.
func (p *Pass) with(out *Proposal, cures []numa.Edit) {
	cured, after := p.configured(out.Edits, cures), p.configured(out.Edits, cures, out.Optional)
	before := slices.Concat(out.Edits, out.Optional)
	out.Edits, out.Optional = numa.Edits(&p.VM.Config, &cured.Config), numa.Edits(&cured.Config, &after.Config)
	if out.Wider != nil {
		out.WiderEdits = numa.Edits(&p.VM.Config, &p.configured(out.WiderEdits, cures).Config)
	}
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
		case !slices.ContainsFunc(cures, e.Like) || slices.ContainsFunc(before, e.Like): // that one has its undo
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
	return words.Join("; ", text, p.VM.sharing(before, cured), p.VM.ForProducts(before, after), p.vetted().price)
}

// sharing says that the vCPUs share cores with the layout after, as preferHT has it, and have more of them with the layout before.
func (v *VM) sharing(before, after *vnuma.Layout) string {
	node := int(v.On[0].Kind.Machine.Cores)
	if cores := after.HomeNodes * node; cores > 0 && int(v.Guest.VCPUs) > cores && cores < before.HomeNodes*node {
		return fmt.Sprintf("its %d vCPUs then share the %s of %s, instead of %d: with all of them busy that is less capacity", v.Guest.VCPUs, words.Plural(cores, "core"), words.Plural(after.HomeNodes, "node"), before.HomeNodes*node)
	}
	return ""
}
