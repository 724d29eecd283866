package rule

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/esxi/plan"
	"example.org/homenode/esxi/product"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
)

// planKey is equal for VMs that get the same plan before all rules check it.
type planKey struct {
	guest vnuma.Guest
	home  *Kind
	tied  bool // to its host by a device
}

// A vetted plan is one that all rules together accept for its VM.
type vetted struct {
	*plan.Plan
	price string // the findings that it causes in place of those that it cures; "" for none
	why   string // the objection to the plan that was dropped; "" if none was
}

// Plan returns the best configuration of the VM for the hosts it can run on. There is one plan per VM, so that findings do not give
// contradictory advice.
func (p *Pass) Plan() *plan.Plan {
	if p.Weighing { // plans are checked by weighing
		return p.best()
	}
	return p.vetted().Plan
}

// best returns the plan before it is checked by all rules.
func (p *Pass) best() *plan.Plan {
	guest := p.VM.Guest
	guest.Admitted = false // a plan also fixes the reason of a refusal
	key := planKey{guest, p.VM.On[0].Kind, p.VM.TiedTo() != nil}
	if best, ok := p.Cluster.plans[key]; ok {
		return best
	}
	fit, others := p.VM.Machines()
	best := plan.Best(&guest, fit, p.Choices, others...)
	if p.Cluster.plans == nil {
		p.Cluster.plans = map[planKey]*plan.Plan{}
	}
	p.Cluster.plans[key] = &best
	return &best
}

// vetted returns the plan without changes that all rules together assess as worse than the present configuration: on different hosts a plan can
// fix one and harm another. The part that fixes a finding may remain.
func (p *Pass) vetted() vetted {
	v := vetted{Plan: p.best()}
	if !v.Better || p.Cluster.Weigh == nil {
		return v
	}
	if known, ok := p.Cluster.vetted[p.VM]; ok {
		return known
	}
	if p.Cluster.vetted == nil {
		p.Cluster.vetted = map[*VM]vetted{}
	}
	whole := v.Plan
	serves := func(e *plan.Edit, then []vnuma.Layout) (price string, ok bool) {
		if *e == (plan.Edit{}) {
			return "", false
		}
		price, ok = p.gains(p.weighPlan(e))
		return price, ok || p.nearer(e, whole.Before, then)
	}
	part := whole.Needed != (plan.Edit{}) && whole.Needed != whole.Edit
	price, all := serves(&whole.Edit, whole.After)
	less, some := "", false
	if part {
		less, some = serves(&whole.Needed, whole.Cured)
	}
	enough := some && !(all && p.falls(whole))
	if v.price = price; !all || part && !enough { // it is shared by VMs of the same guest
		own := *whole
		whole, v.Plan = &own, &own
	}
	switch {
	case all && part && !enough: // one part is not enough
		whole.Needed, whole.Cured = whole.Edit, whole.After
	case all:
	case some:
		whole.Edit, whole.After, v.price = whole.Needed, whole.Cured, less
	default:
		v.why = p.dropped(&whole.Edit)
		whole.Better, whole.Edit, whole.Needed = false, plan.Edit{}, plan.Edit{}
		whole.After, whole.Cured = whole.Before, whole.Before
		whole.For, whole.Alone, v.price = nil, nil, ""
	}
	if v.Better && v.price != "" {
		if without := p.without(v.Plan); without != nil {
			v = vetted{Plan: without}
		}
	}
	p.Cluster.vetted[p.VM] = v
	return v
}

// nearer reports whether a plan with which the VM has findings as severe as now leaves less of its memory far from its vCPUs by a tenth or more on a host, and is worse on none.
func (p *Pass) nearer(e *plan.Edit, now, then []vnuma.Layout) (nearer bool) {
	b, brought := p.balance(p.weighPlan(e))
	if b.Compare() != 0 || b.Level() < finding.High || slices.ContainsFunc(brought, func(a *finding.Finding) bool { return a.Topic == Unsupported }) {
		return false
	}
	for i := range now {
		if then[i].Compare(&now[i]) > 0 {
			return false
		}
		nearer = nearer || now[i].Farther(&then[i])
	}
	return nearer
}

// dropped says why the plan of the edit is none: the worst finding that it makes.
func (p *Pass) dropped(e *plan.Edit) string {
	_, brought := p.balance(p.weighPlan(e))
	if brought == nil {
		return ""
	}
	worst := slices.MaxFunc(brought, func(a, b *finding.Finding) int { return cmp.Compare(a.Full(), b.Full()) })
	return fmt.Sprintf("To %s would not do: %s", strings.Join(p.stepsOf(e), ", "), worst.Message)
}

// falls reports whether the necessary part of the plan falls short: a finding of at least medium severity stays with it and goes with the whole plan.
func (p *Pass) falls(whole *plan.Plan) bool {
	after := p.weighPlan(&whole.Edit)
	return slices.ContainsFunc(p.weighPlan(&whole.Needed), func(a finding.Finding) bool {
		return a.Full() >= finding.Medium && slices.ContainsFunc(p.now(), a.Same) && !slices.ContainsFunc(after, func(b finding.Finding) bool { return b.Same(a) && b.Full() >= finding.Medium })
	})
}

// without returns a plan near v that cures the findings of at least medium severity that v cures, makes no other such finding, and divides the VM as
// evenly on its host; nil for none.
func (p *Pass) without(v *plan.Plan) *plan.Plan {
	with := p.weighPlan(&v.Needed)
	guest := p.VM.Guest
	fit, others := p.VM.Machines()
	for _, near := range v.Needed.Near(guest.VCPUs) {
		found := p.weighPlan(&near)
		price, ok := p.gains(found)
		if !ok || price != "" || slices.ContainsFunc(found, func(a finding.Finding) bool {
			return a.Full() >= finding.Medium && !slices.ContainsFunc(with, func(b finding.Finding) bool { return a.Same(b) && b.Full() >= a.Full() })
		}) {
			continue
		}
		out := v.Instead(near, &guest, p.Choices, slices.Concat(fit, others)...)
		if out.Cured[0].PPDs.Even() || !v.Cured[0].PPDs.Even() {
			return out
		}
	}
	return nil
}

// gains reports whether the VM gains by a plan with which it has the findings after: they are less severe than now, or the same. price describes
// those of medium or high severity that are new.
func (p *Pass) gains(after []finding.Finding) (price string, ok bool) {
	b, brought := p.balance(after)
	for _, a := range brought {
		if a.Topic == Unsupported {
			return "", false
		}
		if a.Severity >= finding.Medium {
			price = words.Join("; ", price, "the plan makes another finding of "+a.Severity.String()+" severity: "+a.Message)
		}
	}
	return price, b.Compare() < 0 || b == finding.Balance{}
}

// counsel returns the advice for the VM and the effect on its guest, with the sentences about hosts that are true beside the finding, if one is
// given. Both are empty if no configuration is better than the present one. If the VM has more vCPUs than its host has cores, that has to be
// fixed before the layout (N013).
func (p *Pass) counsel(f *finding.Finding) (advice, notice string) {
	if p.Weighing {
		return "", ""
	}
	best := p.Plan()
	if most, crowded := p.VM.Crowded(p.VM.On[0].Kind); crowded {
		text := words.Capital(p.AtMostVCPUs(most, " first").Do)
		if best.Better && best.Edit.HotAddOff {
			text += " and switch CPU hot add off"
		}
		return text + ": a layout for more vCPUs than the host has cores does not last", ""
	}
	if !best.Better {
		return p.Counts(), ""
	}
	after := &best.After[0]
	needed, better := p.steps(best)
	first, edit, optional := needed, best.Needed, ""
	if needed == nil {
		first, edit = better, best.Edit
	}
	text := words.Capital(p.VM.unlessHANA() + strings.Join(first, ", "))
	if needed == nil {
		text = finding.Untidy + words.Lower(text)
	}
	others, alone := "", ""
	if f != nil {
		others, alone = p.forHosts(f, best)
	}
	text += others + p.VM.Cycle(p.VM.Edits(&edit)...) + ": the guest then sees "
	if needed != nil && better != nil {
		text += seen(&best.Cured[0])
		optional = "Better still: " + strings.Join(better, ", ") + ": " + brings(&best.Cured[0], after)
	} else {
		text += seen(after)
	}
	counts := ""
	if !after.PPDs.Even() {
		counts = p.Counts()
	}
	for _, rest := range []string{optional, alone, p.farHosts(best), p.depends(best), restRemote(p.VM, after), counts} {
		if rest != "" {
			text += ". " + rest
		}
	}
	p.planned = true
	return text, p.notice(best)
}

// steps lists the changes of the plan in the terms of the vSphere Client: the necessary ones, and cosmetic ones.
func (p *Pass) steps(best *plan.Plan) (needed, better []string) {
	needed = p.stepsOf(&best.Needed)
	for _, step := range p.stepsOf(&best.Edit) {
		if !slices.Contains(needed, step) {
			better = append(better, step)
		}
	}
	return needed, better
}

// brings describes the guest's gain from the layout next compared with the layout now.
func brings(now, next *vnuma.Layout) string {
	var parts []string
	if !now.VPDs.Equal(next.VPDs) {
		parts = append(parts, "the guest then sees "+seen(next))
	} else if !now.PPDs.Equal(next.PPDs) {
		parts = append(parts, fmt.Sprintf("clients of %s instead of %s vCPU", next.PPDs, now.PPDs))
	}
	if next.VSockets.Equal(next.VPDs) && !now.VSockets.Equal(now.VPDs) {
		text := "one socket with one cache (B-25)"
		if next.VSockets.Len() > 1 {
			text = "a socket with its cache for each node that it sees (B-25)"
		}
		parts = append(parts, text)
	}
	if parts == nil {
		return "simpler to look after"
	}
	return strings.Join(parts, " and ")
}

// depends describes the condition that would make the plan wrong if the product in the guest is unknown.
func (p *Pass) depends(best *plan.Plan) string {
	if after := best.After[0].VPDs.Max(); p.VM.MayRunSQL() && after > product.GroupSize && best.Before[0].VPDs.Max() <= product.GroupSize {
		return fmt.Sprintf("It depends on what runs in the guest: SQL Server 2022 from CU11 on does not start with more than %d processors in a NUMA node, and this has %d (--product says what runs)", product.GroupSize, after)
	}
	return ""
}

// Counts returns the nearest vCPU counts that are evenly divisible if the present one is not.
func (p *Pass) Counts() string {
	best := p.Plan()
	var counts []string
	for _, n := range []int{best.Fewer, best.More} {
		if n > 0 && p.VM.Sized(n) {
			counts = append(counts, p.evenly(n))
		}
	}
	if counts == nil {
		return ""
	}
	n, over := int(p.VM.Guest.VCPUs), words.Plural(p.VM.On[0].Layout.Least, "node")
	if best.Edit.Shape.CoresPerSocket == n && socketFor(n-1, n) == 1 {
		return fmt.Sprintf("Change the vCPUs to %s: %d divide neither over %s nor into several sockets of several cores", strings.Join(counts, " or "), n, over)
	}
	return fmt.Sprintf("Change the vCPUs to %s: %d do not divide over %s", strings.Join(counts, " or "), n, over)
}

// evenly formats n vCPUs, with the necessary cores per socket if n is not a multiple of the present ones, or of those of the plan, or these make uneven clients.
func (p *Pass) evenly(n int) string {
	g, m := p.VM.Guest, &p.VM.On[0].Kind.Machine
	g.VCPUs = int32(n)
	l := vnuma.Predict(&g, m, &vnuma.Case{Choices: p.Choices})
	if by := p.Plan().Edit.Shape.CoresPerSocket; by == 0 && g.AutoCPS || (by == 0 || n%by == 0) && n%int(g.CoresPerSocket) == 0 && l.PPDs.Even() {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%d with %s per socket", n, words.Plural(n/int(m.Least(g.VCPUs)), "core"))
}

// stepsOf lists the changes of the edit.
func (p *Pass) stepsOf(e *plan.Edit) []string {
	return e.Steps(&p.VM.Guest, &p.VM.On[0].Kind.Machine)
}

// seen describes the topology that the guest of the layout sees: "2 NUMA nodes of 16 vCPU and 192 GB each".
func seen(l *vnuma.Layout) string {
	if !l.GuestSeesNUMA() {
		if l.Wide() {
			return "1 node"
		}
		return "1 node, on 1 client"
	}
	if !l.VPDs.Even() {
		return fmt.Sprintf("%d NUMA nodes (%s vCPU)", l.VPDs.Len(), l.VPDs)
	}
	text := fmt.Sprintf("%d NUMA nodes of %d vCPU", l.VPDs.Len(), l.VPDs.Max())
	if l.Slice(0) > 0 {
		text += fmt.Sprintf(" and %s each", l.Slice(0))
	}
	return text
}

// forHosts names the other hosts for which the plan does more than the best change for the VM's own kind of hosts alone: those that have a
// finding with this, and not with the plan. alone says what is enough for the own hosts, if it is, according to the findings there: nothing,
// if they have none, or a simpler change that cures the finding.
func (p *Pass) forHosts(f *finding.Finding, best *plan.Plan) (others, alone string) {
	if best.Alone == nil || p.Cluster.Weigh == nil {
		return "", ""
	}
	less, all := p.weighPlan(&best.Alone.Edit), p.weighPlan(&best.Edit)
	var hosts []*numa.Host
	for _, i := range best.For {
		for _, h := range p.VM.HostsOf(p.VM.On[i].Kind) {
			if afflicted(less, all, h.Name) {
				hosts = append(hosts, h)
			}
		}
	}
	if hosts == nil {
		return "", ""
	}
	others = ", so that it fits " + HostNames(hosts) + " too"
	own := func(found []finding.Finding) []finding.Finding {
		return slices.DeleteFunc(slices.Clone(found), func(a finding.Finding) bool { return a.Elsewhere() || a.Severity == finding.Info })
	}
	home := "On " + HostNames(p.VM.HostsOf(p.VM.On[0].Kind)) + " alone "
	edit, then := &best.Alone.Edit, &best.Alone.After[0]
	if p.stepsOf(&best.Alone.Needed) != nil { // the plan calls the rest optional
		edit, then = &best.Alone.Needed, &best.Alone.Cured[0]
	}
	switch {
	case len(own(p.now())) == 0:
		alone = home + "nothing has to change"
	case best.AloneSimpler && best.Alone.Better && !f.Elsewhere() && !slices.ContainsFunc(own(p.weighPlan(edit)), f.Same):
		alone = home + "it is enough to " + strings.Join(p.stepsOf(edit), ", ") + ": the guest then sees " + seen(then)
	}
	return others, alone
}

// afflicted reports whether the host has a finding of less that it does not have in all, or with a lower severity.
func afflicted(less, all []finding.Finding, host string) bool {
	return slices.ContainsFunc(less, func(a finding.Finding) bool {
		return a.Severity > finding.Info && slices.Contains(a.On, host) && !slices.ContainsFunc(all, func(b finding.Finding) bool {
			return a.Same(b) && b.Severity >= a.Severity && (len(b.On) == 0 || slices.Contains(b.On, host))
		})
	})
}

// farHosts names the hosts on which the plan does not help after vMotion.
func (p *Pass) farHosts(best *plan.Plan) string {
	var hosts []*numa.Host
	for i := 1; i < len(p.VM.Open()); i++ {
		if _, spans := best.After[i].Spanning(); spans {
			hosts = append(hosts, p.VM.On[i].Kind.Hosts...)
		}
	}
	if hosts == nil {
		return ""
	}
	return fmt.Sprintf("On %s a virtual node is carried by several clients after vMotion all the same: keep the VM off them %s", HostNames(hosts), ByDRS)
}

// restRemote describes the remaining remote memory.
func restRemote(v *VM, l *vnuma.Layout) string {
	if !l.Memory.Known || !l.Managed || l.Memory.Remote == 0 {
		return ""
	}
	return fmt.Sprintf("%s stay remote", l.Memory.Remote)
}

// Or joins two ways to do something; either may be empty.
func Or(a, b string) string {
	switch {
	case a == "":
		return b
	case b == "":
		return a
	}
	return a + ", or: " + words.Lower(b)
}
