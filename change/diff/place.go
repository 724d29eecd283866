package diff

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

// A Place is the layout that a VM is assessed by: the one on its host. A VM without a host can run on any host of its cluster; its Place
// is the worst layout.
type Place struct {
	VM *rule.VM // nil if the VM is not assessed
	On *rule.On // nil if the VM is not assessed
	// Away contains the hosts with the worst layout if the VM has no host and other hosts give another layout.
	Away []*numa.Host
}

// PlaceOf returns the place of a VM; it is empty for nil.
func PlaceOf(v *rule.VM) Place {
	if v == nil {
		return Place{}
	}
	p := Place{VM: v, On: &v.On[0]}
	if v.Home != nil {
		return p
	}
	p.On = &v.On[vnuma.Worst(len(v.On), func(i int) *vnuma.Layout { return &v.On[i].Layout })]
	elsewhere := false
	for i := range v.On {
		if o := &v.On[i]; o.Layout.Same(&p.On.Layout) {
			p.Away = append(p.Away, o.Kind.Hosts...)
		} else {
			elsewhere = true
		}
	}
	if !elsewhere {
		p.Away = nil
	}
	return p
}

// elsewhere decides about a changed VM that is neither better nor worse on its host by its worst layout on the hosts of its cluster: DRS may move it there.
func (v *VM) elsewhere() {
	if v.From.On == nil || v.To.On == nil || v.From.VM.Home == nil || v.To.VM.Home == nil {
		return
	}
	before, after := *v.From.VM, *v.To.VM
	before.Home, after.Home = nil, nil
	a, b := PlaceOf(&before), PlaceOf(&after)
	c, even := a.compare(&b, nil), v.Verdict == Other || v.Verdict == Unchanged
	if c > 0 && b.Away != nil && !b.On.Layout.Same(&v.To.On.Layout) {
		v.Why = append(v.Why, fmt.Sprintf("on %s: %s", rule.HostNames(b.Away), b.Short()))
	}
	switch {
	case even && c > 0:
		v.Verdict = Worse
	case even && c < 0:
		v.Verdict = Better
	}
}

// Runs reports whether the VM is assessed and powers on.
func (p *Place) Runs() bool { return p.On != nil && !p.On.Layout.Refused.Any() }

// startable reports whether a host of the cluster powers the VM on.
func (p *Place) startable() bool {
	return p.VM != nil && slices.ContainsFunc(p.VM.On, func(o rule.On) bool { return !o.Layout.Refused.Any() })
}

// MarshalJSON writes the layout and its hosts; null for a VM that is not assessed.
func (p Place) MarshalJSON() ([]byte, error) {
	l := p.Layout()
	if l == nil {
		return []byte("null"), nil
	}
	hosts := words.Texts(p.On.Kind.Hosts, func(h *numa.Host) string { return h.Name })
	return json.Marshal(struct {
		Short  string        `json:"short"`
		Hosts  []string      `json:"hosts"`
		Runs   bool          `json:"runs"`
		Layout *vnuma.Layout `json:"layout"`
	}{p.Short(), hosts, p.Runs(), l})
}

// Where names the hosts of Away, and states how many hosts they are and the remote accesses on the others; "" if all give one layout.
func (p *Place) Where() string {
	if p.Away == nil {
		return ""
	}
	all, runs, shares := 0, "", []string(nil)
	for i := range p.VM.On {
		o := &p.VM.On[i]
		all += len(o.Kind.Hosts)
		if share := words.Percent(o.Layout.FarShare()); !o.Layout.Same(&p.On.Layout) && !slices.Contains(shares, share) {
			shares = append(shares, share)
		}
	}
	if p.VM.Refused != nil {
		runs = " that power it on"
	}
	return fmt.Sprintf("%s (%d of %s%s; %s remote on the others)", rule.HostNames(p.Away), len(p.Away), words.Plural(all, "host"), runs, strings.Join(shares, " or "))
}

// Host returns the VM's own host if it gives the layout, otherwise the first host that does; nil for none.
func (p *Place) Host() *numa.Host {
	switch {
	case p.On == nil:
		return nil
	case p.VM != nil && p.VM.Host != nil && slices.Contains(p.On.Kind.Hosts, p.VM.Host):
		return p.VM.Host
	}
	return p.On.Kind.Hosts[0]
}

// hidden reports whether the host hides its nodes (H001): ESXi cannot place the vCPUs of a VM near its memory.
func (p *Place) hidden() bool { return p.On != nil && p.Host().Hidden() > 1 }

// Short returns the layout in one line; there must be one.
func (p *Place) Short() string { return rule.Short(&p.On.Layout) }

// Layout returns the layout; nil if there is none.
func (p *Place) Layout() *vnuma.Layout {
	if p.On == nil {
		return nil
	}
	return &p.On.Layout
}

// differs reports whether the layouts of both places differ.
func (p *Place) differs(q *Place) bool {
	if p.On == nil || q.On == nil {
		return p.On != q.On
	}
	return p.hidden() != q.hidden() || !p.On.Layout.Same(&q.On.Layout)
}

// compare returns a positive number if q is worse than p, a negative one if it is better. Criteria, in this order: whether the VM runs;
// the balance of its findings; then the layout, which decides nothing where a finding of medium severity or more takes the place of another. If the
// number of clients or virtual nodes differs because the VM has another host, or its host was changed, findings about other hosts than its own do
// not count: if the only hosts where the VM fits one node are lost, "does not fit every host" (N014) is gone too, and that is not a gain.
func (p *Place) compare(q *Place, of []Finding) int {
	if p.Runs() != q.Runs() {
		if p.Runs() {
			return 1
		}
		return -1
	}
	switch a, b := p.startable(), q.startable(); {
	case a && !b || p.On != nil && q.On == nil: // no host left
		return 1
	case b && !a:
		return -1
	}
	spread := p.On != nil && q.On != nil && p.spread() != q.spread()
	if spread && p.VM.Host != nil && q.VM.Host != nil && p.VM.Host.ID == q.VM.Host.ID { // the VM itself was changed
		spread = numa.Edits(&p.VM.Config, &q.VM.Config) == nil
	}
	var balance finding.Balance
	for i := range of {
		f, before, after := &of[i], finding.Info, finding.Info
		if f.A != nil && !(spread && f.A.Elsewhere()) && !(f.B == nil && f.A.Wide && !p.wider(q)) {
			before = f.A.Severity
		}
		if f.B != nil && !f.Hid && !(spread && f.B.Elsewhere()) && !(f.A == nil && (f.B.Far && p.farther(q) || f.B.Wide && !q.wider(p))) {
			after = f.B.Severity
		}
		balance.Count(before, after)
	}
	c := balance.Compare()
	if p.On == nil || q.On == nil || c > 0 {
		return c
	}
	if c < 0 && !q.On.Layout.Farther(&p.On.Layout) { // findings may be less severe and more of the memory remote
		return c
	}
	if c == 0 && balance.Level() >= finding.Medium {
		return 0
	}
	return q.On.Layout.Compare(&p.On.Layout)
}

// spread returns the number of clients and of virtual nodes.
func (p *Place) spread() [2]int { return [2]int{p.On.Layout.PPDs.Len(), p.On.Layout.VPDs.Len()} }

// wider reports whether the VM has more clients than at q.
func (p *Place) wider(q *Place) bool {
	return p.On == nil || q.On == nil || p.On.Layout.PPDs.Len() > q.On.Layout.PPDs.Len()
}

// farther reports whether the share of memory that is ballooned or swapped, or else remote, is larger than at q, in whole percent.
func (p *Place) farther(q *Place) bool {
	if p.On == nil || q.On == nil {
		return false
	}
	if a, b := p.On.Layout.Memory.Nowhere, q.On.Layout.Memory.Nowhere; a != b {
		return a > b // a swapped page is read from a disk, a remote one from memory
	}
	return words.Percent(p.On.Layout.FarShare()) != words.Percent(q.On.Layout.FarShare()) && p.On.Layout.FarShare() > q.On.Layout.FarShare()
}

// why lists the differences for the VM, in a few words each: the topology, then findings.
func why(d *Drift, v *VM, of []Finding, moved bool) []string {
	var out []string
	add := func(when bool, format string, args ...any) {
		if when {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	add(!v.From.Runs() && v.To.Runs(), "runs again")
	if v.stranded() {
		return append(out, stopped(d, v))
	}
	if a, b := v.From.Layout(), v.To.Layout(); a != nil && b != nil {
		blindA, blindB := a.HidesNUMA(), b.HidesNUMA()
		add(blindB && !blindA, "the guest sees 1 node")
		add(blindA && b.GuestSeesNUMA(), "the guest sees its %d nodes", b.VPDs.Len())
		add(!a.Wide() && b.Wide() && !blindB, "split over %s", words.Plural(b.PPDs.Len(), "client"))
		add(a.Wide() && !b.Wide() && !v.To.hidden(), "fits one node")
		add(v.To.hidden() && !v.From.hidden(), "the host hides its nodes")
		add(!v.To.hidden() && v.From.hidden(), "the host shows its nodes")
		_, spanA := a.Spanning()
		_, spanB := b.Spanning()
		add(spanB && !spanA && !blindB, "guest nodes over several clients")
		add(a.Managed && !b.Managed, "no home node")
		add(!a.Managed && b.Managed, "has home nodes")
		x, y := words.Percent(a.FarShare()), words.Percent(b.FarShare())
		add(x != y, "%s → %s of accesses remote", strings.TrimSuffix(x, " %"), y)
		kept, lost := words.Percent(a.Nowhere()), words.Percent(b.Nowhere())
		add(kept != lost, "%s → %s of its memory ballooned or swapped", strings.TrimSuffix(kept, " %"), lost)
		if a, b := a.VSockets.Len(), b.VSockets.Len(); a != b {
			add(true, "%d → %s", a, words.Plural(b, "socket"))
		}
		add(v.To.Away != nil && v.Layout, "when on %s", v.To.Where())
		if host := v.To.VM.Host; moved && v.Layout && host != nil && !v.From.On.Kind.Machine.Like(v.To.On.Kind.Machine) {
			add(true, "on %s", rule.HostNames(v.To.On.Kind.Hosts)) // similar ones are equally good
		}
	}
	return append(out, findingWords(of)...)
}

// barredFrom returns the hosts that refuse the VM because its virtual hardware is newer than before: hosts that accepted it, and hosts
// that now are too old and also refuse it for another reason as before.
func barredFrom(v *VM, hosts *pairs) (now, besides []*numa.Host) {
	from, to := v.From.VM, v.To.VM
	if from == nil || to == nil || to.Guest.Hardware <= from.Guest.Hardware || v.A.Cluster != v.B.Cluster {
		return nil, nil
	}
	for _, o := range slices.Concat(from.On, from.Refused) {
		for _, h := range o.Kind.Hosts {
			b := hosts.b[h.ID]
			after := to.OnHost(b)
			switch was := o.Layout.Refused; {
			case b == "" || was.Old():
			case !was.Any() && (after == nil || after.Layout.Refused.Any()):
				now = append(now, h)
			case was.Any() && after != nil && after.Layout.Refused.Old():
				besides = append(besides, h)
			}
		}
	}
	return now, besides
}

// stopped returns the reason why a VM that ran is not assessed, or does not run.
func stopped(d *Drift, v *VM) string {
	if v.To.On != nil {
		return "does not power on: " + v.To.On.Layout.Refused.String()
	}
	if v.B.Template.Or(false) {
		return "is a template"
	}
	if device := v.B.Tied(); device != nil && v.A.Host != "" && v.B.Host == "" {
		return fmt.Sprintf("stays down: its %s is in the lost host, and vSphere HA restarts it nowhere else (D-5)", device)
	}
	for _, n := range d.B.Unjudged {
		if text, ok := strings.CutPrefix(n.Text, "VM "+v.B.Name+": "); ok && n.At == v.B.At {
			return text
		}
	}
	return "not judged"
}

// findingWords returns "N001 gone, N006 new (low), now on hosts with H003 (medium)".
func findingWords(of []Finding) []string {
	var out []string
	for i := range of {
		switch f := &of[i]; {
		case f.entered:
			out = append(out, fmt.Sprintf("now on hosts with %s (%s)", f.B.Rule, f.B.Severity))
		case f.A == nil:
			out = append(out, fmt.Sprintf("%s new (%s)", f.B.Rule, f.B.Severity))
		case f.B == nil:
			out = append(out, f.A.Rule+" gone")
		default:
			out = append(out, fmt.Sprintf("%s %s → %s", f.B.Rule, f.A.Severity, f.B.Severity))
		}
	}
	return out
}
