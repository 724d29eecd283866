package rule

import (
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/esxi/plan"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
)

// A Weight is the number of findings of a VM by severity, high ones first. Weights compare lexicographically: one high finding outweighs any
// number of medium ones.
type Weight [finding.High]int

// WeightOf counts the findings above info.
func WeightOf(findings []finding.Finding) (w Weight) {
	for i := range findings {
		if s := findings[i].Full(); s > finding.Info {
			w[finding.High-s]++
		}
	}
	return w
}

// Compare returns -1, 0 or 1 if w is lighter than, as heavy as or heavier than o.
func (w Weight) Compare(o Weight) int { return slices.Compare(w[:], o[:]) }

// weigh returns the findings of the VM with the edits applied.
func (p *Pass) weigh(edits []numa.Edit) []finding.Finding {
	return p.Cluster.Weigh(p.VM, p.trial(edits))
}

// trial returns the VM with the edits applied and without observations, until the next trial of the cluster.
func (p *Pass) trial(edits []numa.Edit) *numa.VM {
	v := &p.Cluster.trial
	*v = *p.VM.VM
	v.Observed = nil
	p.configure(v, edits)
	return v
}

// weighPlan is weigh for the edits of a plan, which several findings of the VM ask for.
func (p *Pass) weighPlan(e *plan.Edit) []finding.Finding {
	key := weighKey{p.VM, *e}
	found, ok := p.Cluster.weighed[key]
	if !ok {
		if p.Cluster.weighed == nil {
			p.Cluster.weighed = map[weighKey][]finding.Finding{}
		}
		after := p.trial(nil)
		e.Configure(&after.Config)
		found = p.Cluster.Weigh(p.VM, after)
		p.Cluster.weighed[key] = found
	}
	return found
}

type weighKey struct {
	vm   *VM
	edit plan.Edit
}

// configured returns the VM with the edits applied.
func (p *Pass) configured(edits ...[]numa.Edit) *numa.VM {
	v := *p.VM.VM
	for _, e := range edits {
		p.configure(&v, e)
	}
	return &v
}

// configure applies edits to v.
func (p *Pass) configure(v *numa.VM, edits []numa.Edit) {
	for _, e := range edits {
		if err := e.Configure(&v.Config, "advice"); err != nil { // created by a check
			panic(fmt.Sprintf("%s: %v", p.Rule.ID, err))
		}
	}
}

// now returns the present findings of the VM, without those about observations.
func (p *Pass) now() []finding.Finding {
	if p.Cluster.present == nil {
		p.Cluster.present = map[*VM][]finding.Finding{}
	}
	found, ok := p.Cluster.present[p.VM]
	if !ok {
		found = p.weigh(nil)
		p.Cluster.present[p.VM] = found
	}
	return found
}

// Forget drops what the checks of one VM have shared: the findings with each edit of its plan.
func (c *Cluster) Forget() {
	clear(c.present)
	clear(c.weighed)
}

// Serves reports whether the VM has no more and no worse findings with the edits than now. Without other rules it returns true.
func (p *Pass) Serves(edits []numa.Edit) bool {
	return p.Weighing || p.VM == nil || p.Cluster.Weigh == nil || WeightOf(p.weigh(edits)).Compare(WeightOf(p.now())) <= 0
}

// Beside is the topic of a resource that VMs lack together. People have to choose the VM to change, and a VM that causes it harms the others
// too.
const Beside = "beside"

// Unsupported is the topic of a layout that the software in the guest is not supported on: no advice makes one, whatever else it cures.
const Unsupported = "support"

// objection returns the objection to the edits, with which the VM has the findings after: the worst finding that they cause, or that remains of f; nil if they
// fix f and cause only findings that are less severe than those that go, and on the host of the VM than f if that is elsewhere. Equally severe ones do not count if less memory is ballooned or swapped then, or if
// they are on other hosts and f is on that of the VM.
func (p *Pass) objection(f *finding.Finding, edits []numa.Edit, after []finding.Finding) *finding.Finding {
	guest, _, err := vnuma.NewGuest(p.configured(edits))
	home := &p.VM.On[0]
	then := vnuma.Predict(&guest, &home.Kind.Machine, &vnuma.Case{Choices: p.Choices})
	if err == nil && !p.VM.Guest.Affinity && then.Farther(&home.Layout) { // the findings that say so may be less severe than that which the edits cure
		return f
	}
	if p.VM.Guest.Affinity {
		after = slices.DeleteFunc(slices.Clone(after), func(a finding.Finding) bool { return err == nil && a.VMID == p.VM.ID && p.VM.Hid(&a, &guest) })
	}
	denied := err == nil && p.starts(&guest) && p.beside(&guest.Needs).Any()
	for i := range after {
		a := &after[i]
		stays := a.Same(*f) && a.Severity >= f.Full() && (f.Elsewhere() || !a.Elsewhere() || len(a.On) == 0)
		if stays || denied && a.Severity == finding.High {
			return a
		}
	}
	balance, brought := p.balance(after)
	if len(brought) == 0 {
		return nil
	}
	worst, others, here := brought[0], false, f.Elsewhere()
	for _, a := range brought {
		atHome := f.Elsewhere() && !a.Elsewhere() && a.Severity > finding.Info && a.Severity >= f.Full() && !p.VM.Off()
		if a.Topic == Unsupported || atHome {
			return a
		}
		if a.Severity > worst.Severity {
			worst = a
		}
		others = others || a.Topic == Beside
		here = here || !a.Elsewhere() && a.Severity == balance.Level()
	}
	equal := balance.Compare() == 0 && balance.Level() > finding.Info && (balance.Level() == finding.High || here && then.Memory.Nowhere >= home.Layout.Memory.Nowhere)
	if WeightOf(after).Compare(WeightOf(p.now())) > 0 || (equal || others) && !p.VM.Off() { // power-on has the highest priority
		return worst
	}
	return nil
}

// balance weighs the findings after, of the VM with a change, against those of now. brought are those that are new or more severe.
func (p *Pass) balance(after []finding.Finding) (b finding.Balance, brought []*finding.Finding) {
	left := slices.Clone(p.now())
	for i := range after {
		a, before := &after[i], finding.Info
		if k := slices.IndexFunc(left, a.Same); k >= 0 {
			before = left[k].Full()
			left = slices.Delete(left, k, k+1)
		}
		if b.Count(before, a.Full()); a.Full() > before {
			brought = append(brought, a)
		}
	}
	for i := range left {
		b.Count(left[i].Full(), finding.Info)
	}
	return b, brought
}

// starts reports whether the host of the VM, which refuses it now, accepts it when it is configured as guest.
func (p *Pass) starts(guest *vnuma.Guest) bool {
	if v := p.VM; v.Home == nil || !v.Off() && !v.Guest.Admitted {
		return false
	}
	l := vnuma.Predict(guest, &p.VM.Home.Machine, &vnuma.Case{Choices: p.Choices})
	return !l.Refused.Any()
}

// leaves names the hosts on which a way that helps on that of the VM leaves the finding, or causes one as severe, if the VM has the findings after with it; "" for none.
func (p *Pass) leaves(f *finding.Finding, after []finding.Finding) string {
	_, brought := p.balance(after)
	var hosts []string
	for i := range after {
		a := &after[i]
		if a.Severity >= f.Full() && a.Severity > finding.Info && a.Elsewhere() && (a.Same(*f) || f.Severity > finding.Info && slices.Contains(brought, a)) {
			hosts = append(hosts, a.On...)
		}
	}
	if hosts == nil {
		return ""
	}
	slices.SortFunc(hosts, words.Natural)
	return " (not on " + strings.Join(slices.Compact(hosts), " and ") + ")"
}

// helps reports whether the plan of the VM cures the finding on some host: it is gone, less severe, or left on fewer hosts, and not on that of
// the VM if it was there.
func (p *Pass) helps(f *finding.Finding) bool {
	return !slices.ContainsFunc(p.weighPlan(&p.Plan().Edit), func(a finding.Finding) bool {
		if !a.Same(*f) || a.Severity < f.Full() {
			return false
		}
		fewer := len(a.On) > 0 && (len(f.On) == 0 || len(a.On) < len(f.On))
		return !fewer || !f.Elsewhere() && !a.Elsewhere()
	})
}

// follows reports whether the plan that the VM needs for its own host cures the finding about others too.
func (p *Pass) follows(f *finding.Finding) bool {
	if _, crowded := p.VM.Crowded(p.VM.On[0].Kind); crowded || p.Cluster.Weigh == nil || !p.Plan().Better {
		return false
	}
	after := p.weighPlan(&p.Plan().Edit)
	gone := func(n finding.Finding) bool { return !slices.ContainsFunc(after, n.Same) }
	return gone(*f) && slices.ContainsFunc(p.now(), func(n finding.Finding) bool {
		return n.Severity >= finding.Medium && !n.Elsewhere() && gone(n)
	})
}

// Hid reports whether CPU or memory affinity, which the edits remove, hid a finding of the VM: rules do not report layouts for a VM without NUMA management,
// although they were no better on other hosts, nor, below high severity, on its own.
func (v *VM) Hid(f *finding.Finding, after *vnuma.Guest) bool {
	return v.Guest.Affinity && !after.Affinity && (f.Elsewhere() || f.Severity < finding.High && after.AllowedNodes == v.Guest.AllowedNodes)
}

// together returns the way together with the VM's plan after it, if the combination fixes the finding.
func (p *Pass) together(f *finding.Finding, w *numa.Way) (numa.Way, bool) {
	if slices.ContainsFunc(w.Edits, func(e numa.Edit) bool { return e.Kind == numa.EditVCPUs || e.Kind == numa.EditMemory }) {
		return numa.Way{}, false // a size is chosen so that no other change is needed
	}
	both, ok := p.withPlan(w)
	if !ok {
		return both, false
	}
	after := p.weigh(both.Edits)
	both.Do += p.leaves(f, after)
	return both, p.objection(f, both.Edits, after) == nil
}

// withPlan returns the way with the plan for the VM as it is after it; ok is false if there is none.
func (p *Pass) withPlan(w *numa.Way) (both numa.Way, ok bool) {
	v := p.configured(w.Edits)
	guest, _, err := vnuma.NewGuest(v)
	if err != nil {
		return both, false
	}
	fit, _ := p.VM.Machines()
	best := plan.Best(&guest, fit, p.Choices)
	if !best.Better {
		return both, false
	}
	before := v.Config
	best.Edit.Configure(&v.Config)
	both = numa.Way{Edits: slices.Concat(w.Edits, unset(numa.Edits(&before, &v.Config))), Auto: w.Auto}
	both.Do = strings.Join(append([]string{w.Do}, best.Edit.Steps(&guest, &p.VM.On[0].Kind.Machine)...), ", ")
	return both, true
}

// unset returns the edits without the previous values.
func unset(edits []numa.Edit) []numa.Edit {
	for i := range edits {
		edits[i].From, edits[i].Assumed = numa.Value{}, false
	}
	return edits
}

// advise creates the advice from the ways of a finding. For a VM each way is first checked by all rules: one that does not fix the finding, or
// makes something worse, is left out.
func (p *Pass) advise(f *finding.Finding) {
	if f.Ways == nil && p.VM == nil && f.Advice != "" {
		f.Ways = []numa.Way{numa.ByHand(words.Lower(f.Advice))}
		return
	}
	if p.Weighing {
		return
	}
	if f.Ways == nil {
		if p.VM != nil && f.Advice == "" && f.Severity >= finding.Medium {
			f.Advice = p.vetted().why
		}
		return
	}
	if p.VM != nil && !p.away && f.Planned() && f.Severity >= finding.Medium {
		f.Ways = append(f.Ways, p.Elsewhere()...) // without downtime
	}
	if p.VM != nil && p.away && p.follows(f) {
		if ways, notice := p.PlanWays(); slices.ContainsFunc(ways, func(w numa.Way) bool { return w.Plan }) {
			f.Ways, f.Notice = slices.DeleteFunc(ways, func(w numa.Way) bool { return !w.Plan }), notice
		}
	}
	f.Ways = distinct(f.Ways)
	changes := func(w numa.Way) bool { return w.Plan || w.Edits != nil }
	for i := range f.Ways {
		if p.VM != nil && slices.ContainsFunc(f.Ways[i].Edits, func(e numa.Edit) bool { return e.Kind == numa.EditHostOption }) {
			f.Ways[i].Edits = nil // its host is changed manually
		}
	}
	if p.VM != nil && p.VM.FaultTolerance.Value == numa.FTSecondary && slices.ContainsFunc(f.Ways, changes) {
		f.Ways, f.Notice, f.Advice = nil, "", "Change the primary VM of Fault Tolerance: vSphere makes its secondary anew"
		return
	}
	for i := range f.Ways {
		f.Ways[i].Auto = f.Ways[i].Auto && !p.away // on its present host no change is needed
	}
	why := ""
	if p.VM != nil && p.Cluster.Weigh != nil {
		why = p.weighWays(f)
	}
	f.Advice = numa.Either(f.Ways)
	switch {
	case f.Advice == "":
		f.Ways, f.Advice = nil, why
	case f.When != "":
		f.Advice = f.When + ": " + words.Lower(f.Advice)
	}
	if p.VM != nil && p.VM.FaultTolerant() && slices.ContainsFunc(f.Ways, changes) {
		f.Advice = "Turn Fault Tolerance off first, since vSphere changes no settings while it is on, and on again at the end if it supports the VM then. In between: " + words.Lower(f.Advice)
	}
	if p.VM != nil {
		f.Notice = words.Join(", or ", f.Notice, p.resized(f.Ways))
	}
	if p.VM != nil && slices.ContainsFunc(f.Ways, func(w numa.Way) bool { return Needs(w.Edits) != numa.NeedsNothing }) {
		f.Notice = words.Join("; ", f.Notice, p.VM.KeyNotice())
	}
	if f.Besides != "" {
		f.Advice += ". " + f.Besides
	}
	if p.VM != nil && p.Cluster.Weigh != nil {
		p.order(f)
	}
}

// weighWays keeps the ways of a finding that do no harm, the plan in its words; why is the objection to the first of the others.
func (p *Pass) weighWays(f *finding.Finding) (why string) {
	var ways []numa.Way
	for _, w := range f.Ways {
		harm, left := (*finding.Finding)(nil), ""
		if w.Plan {
			if !p.helps(f) {
				f.Notice = ""
				continue
			}
			w.Do, _ = p.counsel(f)
		} else if w.Edits != nil {
			after := p.weigh(w.Edits)
			left = p.leaves(f, after)
			if harm = p.objection(f, w.Edits, after); harm != nil && why == "" {
				text := harm.Message
				if harm == f { // it is cured, and yet
					text = "much more of its memory would be on another node than the vCPU that uses it"
				}
				do, _, _ := strings.Cut(w.Do, ";")
				why = fmt.Sprintf("To %s alone would not do: %s", do, text)
			}
		}
		if harm == nil {
			w.Do += left
			ways = append(ways, w)
		} else if !f.Planned() { // the plan is a way without this one
			if more, ok := p.together(f, &w); ok {
				ways = append(ways, more)
			}
		}
	}
	f.Ways = ways
	return why
}

// distinct returns the ways without repetitions: two parts of a check may name the same placement.
func distinct(ways []numa.Way) (out []numa.Way) {
	for _, w := range ways {
		if !slices.ContainsFunc(out, func(o numa.Way) bool { return o.Do == w.Do }) {
			out = append(out, w)
		}
	}
	return out
}

// resized returns the notice of each way, except the plan, that changes the size of the VM.
func (p *Pass) resized(ways []numa.Way) string {
	var out []string
	for _, w := range ways {
		if w.Edits == nil {
			continue
		}
		after := p.configured(w.Edits)
		if text := Resized(&p.VM.Config, &after.Config); text != "" && !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return strings.Join(out, ", or ")
}

// Needs returns the most disruptive action that the edits need to take effect.
func Needs(edits []numa.Edit) (most numa.Needs) {
	for _, e := range edits {
		most = max(most, e.Needs())
	}
	return most
}

// KeyNotice describes the requirement for a power cycle of an encrypted VM: at each power-on it gets its key from a key provider (vSphere
// Security, virtual machine encryption). "" for a VM that is not encrypted. The files of a virtual TPM are encrypted too.
func (v *VM) KeyNotice() string {
	const reach = ": the key provider must be reachable, or the VM does not power on again"
	switch {
	case v.Encrypted.Value:
		return "the VM is encrypted" + reach
	case v.TPM.Value:
		return "the virtual TPM is encrypted" + reach
	}
	return ""
}

// ByDRS names the rule that keeps a VM on or off hosts: a preferential one, since HA restarts it on no other host against a required one ("must"), nor does DRS
// evacuate it (vSphere Resource Management, "Using VM-Host Affinity Rules", GUID-793013E2).
const ByDRS = "with a DRS rule (should)"

// KeepOff is the way to keep the VM off hosts.
func KeepOff(hosts []*numa.Host) numa.Way {
	return numa.ByHand("keep the VM off " + HostNames(hosts) + " " + ByDRS)
}

// Cycle ends the text of a change that takes effect at power-on with the action to get there. edits are those that may need the VM to be off:
// none for advanced settings.
func (v *VM) Cycle(edits ...numa.Edit) string {
	switch {
	case v.Template.Or(false):
		return " (convert the template to a VM first, and back to a template afterwards)"
	case v.Stopped():
		return " before it is powered on"
	case v.rebooted(edits):
		return ", then reboot the guest (vmx.reboot.PowerCycle makes that a power cycle)"
	}
	return ", then power off and on (a reboot is not enough)"
}

// rebooted reports whether a reboot of the guest makes the edits take effect: vmx.reboot.PowerCycle makes it a power cycle, and none of them
// is written to a powered-off VM only.
func (v *VM) rebooted(edits []numa.Edit) bool {
	return v.Guest.PowerCycleReboot && !slices.ContainsFunc(edits, func(e numa.Edit) bool { return e.Needs() == numa.NeedsOff })
}

// Afresh returns the way to have the VM sized at the next power-on.
func (v *VM) Afresh() numa.Way {
	const size, cookie = numa.StoredKey, numa.CookieKey
	return numa.Way{Do: "remove " + size + " and " + cookie + v.Cycle(), Edits: []numa.Edit{numa.Unassign(size), numa.Unassign(cookie)}}
}

// PlanWays returns the plan of the VM as a way, and its effect on the guest; nil if there is none. A text without a plan contains the reason,
// and takes its place. If only other hosts have the fault, keeping the VM off them comes first.
func (p *Pass) PlanWays() (ways []numa.Way, notice string) {
	text, notice := p.counsel(nil)
	if p.away {
		ways = p.Elsewhere()
	}
	switch {
	case text == "":
		return ways, ""
	case !p.planned:
		return append(ways, numa.ByHand(text)), notice
	}
	best := p.Plan()
	edit := best.Needed
	if stepless := p.stepsOf(&edit) == nil; stepless {
		if ways != nil { // this is the fix, and the plan is only cosmetic
			return ways, ""
		}
		edit = best.Edit
	}
	return append(ways, numa.Way{Do: text, Edits: p.VM.Edits(&edit), Plan: true}), notice
}

// Edits returns a plan as edits of the VM.
func (v *VM) Edits(e *plan.Edit) []numa.Edit {
	after := v.Config
	e.Configure(&after)
	return unset(numa.Edits(&v.Config, &after))
}
