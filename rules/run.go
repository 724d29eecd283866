package rules

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/confront"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/policy"
	"example.org/homenode/rules/rule"
)

// Options of a run. The zero value uses the rule book's choices.
type Options struct {
	Choices vnuma.Choices
	// Policy is the configuration of the fleet's owner; nil changes nothing.
	Policy *policy.Policy
	Today  time.Time // for suppressions that have ended, and for old facts; required with Policy
	// Ticks is the source name in observations of ticks that Watch assesses too: findings from a single one of these observations are left to the rules
	// that assess ticks. "" for none.
	Ticks string
}

// A Result is an assessed fleet.
type Result struct {
	Judgement
	Fleet    *numa.Fleet
	Whole    *Result         // before it was filtered; nil if it was not
	Clusters []*rule.Cluster // in the order of the fleet; standalone hosts last, each one a cluster without a name
	// Stated are the VMs of a KVM fleet, which has no Clusters.
	Stated   []*rule.StatedVM
	VMs      int         // number of assessed VMs
	Pairs    int         // VM × host predictions
	Unjudged []numa.Note // objects that could not be assessed, or not for certain, with the reason
	// Templates is the number of templates: what their clones inherit is judged, and they count apart.
	Templates int
	// Filter describes the part of the fleet that is shown; "" for all of it.
	Filter string
	// LeftOut are findings about shown objects that the filter hides: no verdict contradicts them.
	LeftOut []finding.Finding
	Choices vnuma.Choices // used in the assessment
	// RunsAll is the oldest modelled release that runs the virtual hardware of all VMs.
	RunsAll numa.Release
}

// Run predicts every VM on every host of its cluster and applies every rule to every VM and host. In a KVM fleet the layouts are stated: only the rules for
// stated layouts run. Templates are not assessed. Hosts of one kind give every VM the same layout, so each kind in a cluster is predicted once.
func Run(f *numa.Fleet, o Options) *Result {
	r, _ := RunContext(context.Background(), f, o) // the context never ends
	return r
}

// RunContext is Run with a context; it returns the context's error when it ends.
func RunContext(ctx context.Context, f *numa.Fleet, o Options) (*Result, error) {
	return run(ctx, f, o, nil, nil)
}

// Within is RunContext, limited to VMs and hosts in these clusters and standalone hosts, given by ID: nil means all. The others are predicted and have no
// findings. With a policy all are assessed, because it reports suppressions that match nothing.
func Within(ctx context.Context, f *numa.Fleet, o Options, in map[string]bool) (*Result, error) {
	if in == nil || o.Policy != nil {
		return RunContext(ctx, f, o)
	}
	return run(ctx, f, o, &Result{Fleet: f}, in)
}

// Changed is RunContext with the same options as r. f differs from the fleet of r only in these clusters and standalone hosts, given by ID: for the others,
// the findings of r are reused.
func (r *Result) Changed(ctx context.Context, f *numa.Fleet, in map[string]bool, o Options) (*Result, error) {
	if r.Policy != nil || o.Policy != nil || r.Whole != nil { // findings are no longer in their original form
		return RunContext(ctx, f, o)
	}
	return run(ctx, f, o, r, in)
}

// run assesses a fleet; if an assessment is known, only these clusters and standalone hosts.
func run(ctx context.Context, f *numa.Fleet, o Options, known *Result, in map[string]bool) (*Result, error) {
	r := &Result{Fleet: f, Choices: o.Choices, RunsAll: runsAll(f)}
	var err error
	if f.Hypervisor == numa.KVM {
		err = r.runStated(ctx, o)
	} else {
		err = r.runPredicted(ctx, o, known, in)
	}
	if err != nil {
		return nil, err
	}
	if o.Ticks != "" {
		r.Findings = slices.DeleteFunc(r.Findings, func(f finding.Finding) bool { return glance(&f, o.Ticks) })
	}
	if f.Plans() { // rules about hosts are not relevant to planned VMs
		r.Findings = slices.DeleteFunc(r.Findings, func(f finding.Finding) bool { return f.VMID == "" })
	}
	r.expect(o)
	if o.Policy != nil {
		r.take(o.Policy, o.Policy.Apply(r.Findings, f, o.Today))
	}
	slices.SortStableFunc(r.Findings, func(a, b finding.Finding) int {
		return cmp.Or(cmp.Compare(b.Severity, a.Severity), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Cluster, b.Cluster),
			cmp.Compare(a.VM, b.VM), cmp.Compare(a.Host, b.Host), cmp.Compare(a.VMID, b.VMID))
	})
	return r, nil
}

// glance reports whether a finding is from a single observation: of a rule with Glance, or about an observation in ticks, like N030 for home nodes (M011
// assesses these).
func glance(f *finding.Finding, ticks string) bool {
	return slices.ContainsFunc(f.Evidence, func(e finding.Evidence) bool { return e.At == ticks }) || slices.ContainsFunc(All, func(one *rule.Rule) bool { return one.ID == f.Rule && one.Glance })
}

// outside returns the findings about objects that are not in these clusters and standalone hosts.
func (r *Result) outside(in map[string]bool) (out []finding.Finding) {
	cluster := map[string]string{}
	for i := range r.Fleet.Hosts {
		h := &r.Fleet.Hosts[i]
		cluster[h.ID] = cmp.Or(h.Cluster, h.ID)
	}
	of := map[string]string{}
	for i := range r.Fleet.VMs {
		v := &r.Fleet.VMs[i]
		of[v.ID] = cmp.Or(cluster[v.Host], v.Cluster)
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		at := cluster[f.HostID]
		if f.VMID != "" {
			at = of[f.VMID]
		}
		if !in[at] {
			out = append(out, *f)
		}
	}
	return out
}

// runPredicted assesses an ESXi fleet; if an assessment is known, only these clusters and standalone hosts.
func (r *Result) runPredicted(ctx context.Context, o Options, known *Result, in map[string]bool) error {
	g := r.group(r.Fleet)
	for i := range r.Fleet.VMs {
		if err := ctx.Err(); err != nil {
			return err
		}
		r.addVM(&r.Fleet.VMs[i], g, o)
	}
	r.Unjudged = append(r.Unjudged, r.Doubts()...)
	anew := map[*rule.Cluster]bool{}
	for id := range in {
		anew[g.cluster[id]] = true
	}
	for _, c := range r.Clusters {
		c.Choices, c.Weigh, c.Judge = o.Choices, weigher(c, o), judge(c, o)
		if known != nil && !anew[c] {
			continue
		}
		if err := r.judge(ctx, c, o); err != nil {
			return err
		}
	}
	if known != nil {
		r.Findings = append(r.Findings, known.outside(in)...)
	}
	return nil
}

// homeless returns the reason why the VM v has no prediction on any host, and the remedy; h is its host, nil if unknown.
func (r *Result) homeless(v *numa.VM, h *numa.Host) string {
	if v.Planned != nil {
		return "no host that it can be created on is known: say one with --hosts '2x16c/512GB release=8.0U3', or name a snapshot of the fleet beside it"
	}
	why := "no host that it can run on is known: say one"
	if h != nil && !h.Nodes.Known() {
		why = "its host " + h.Name + " " + cmp.Or(h.Doubt, "is known, and the NUMA nodes of that are not") + ": say its nodes"
		if h.Doubt != "" && h.Cores.Known() { // an example would take one of the contradicting numbers
			return fmt.Sprintf("its host %s %s: if %s are right, say its nodes with --assume-host, such as '%s'; else correct the source", h.Name, h.Doubt, words.Plural(h.Cores.Value, "core"), r.Example(h))
		}
	}
	return why + " with --assume-host, such as '" + r.Example(h) + "'"
}

// Example returns arguments of --assume-host for a host of which the nodes are unknown, or for any: those of the first host of the fleet that may be like
// it, or two equal nodes with its cores.
func (r *Result) Example(h *numa.Host) string {
	if h == nil || h.Nodes.Known() {
		h = &numa.Host{}
	}
	like, nodes, cores := *h, 2, h.Cores.Or(2*18)
	for i := range r.Fleet.Hosts {
		if o := &r.Fleet.Hosts[i]; len(o.Nodes.Value) > 0 && o.Nodes.Value[0].Cores*len(o.Nodes.Value) == h.Cores.Or(o.Cores.Value) {
			like, nodes, cores = *o, len(o.Nodes.Value), o.Cores.Value
			break
		}
	}
	if cores%nodes != 0 {
		nodes = 1
	}
	text := fmt.Sprintf("nodes=%d cores=%d", nodes, cores/nodes)
	if !h.Memory.Known() {
		size, unit := numa.MiB, "MB"
		if like.Memory.Or(512*numa.GiB)%numa.GiB == 0 {
			size, unit = numa.GiB, "GB"
		}
		text += fmt.Sprintf(" memory=%d%s", like.Memory.Or(512*numa.GiB)/size, unit)
	}
	if !h.Release.Known() {
		text += " release=" + strings.ReplaceAll(like.Release.Or(r.RunsAll).String(), " ", "")
	}
	return text
}

// runsAll returns the oldest modelled release that runs the virtual hardware of all VMs.
func runsAll(f *numa.Fleet) numa.Release {
	newest := 0
	for i := range f.VMs {
		newest = max(newest, f.VMs[i].Hardware.Value)
	}
	if h, known := numa.HardwareOf(newest); known {
		return h.Since
	}
	return numa.ESXi80 + 3
}

// addVM adds a VM to its cluster and predicts it on every kind of host there.
func (r *Result) addVM(vm *numa.VM, g *groups, o Options) {
	if vm.Template.Or(false) {
		r.Templates++
	}
	guest, problems, err := vnuma.NewGuest(vm)
	if err != nil {
		r.Unjudged = append(r.Unjudged, numa.Note{At: vm.At, Text: err.Error()})
		return
	}
	for _, p := range problems {
		r.Unjudged = append(r.Unjudged, numa.Note{At: vm.At, Text: fmt.Sprintf("VM %s: %s", vm.Name, p)})
	}
	v := &rule.VM{VM: vm, Guest: guest, Host: g.host[vm.Host], Home: g.kind[vm.Host]}
	if text := v.UnknownProduct(); text != "" {
		r.Unjudged = append(r.Unjudged, numa.Note{At: vm.At, Text: "VM " + vm.Name + ": " + text})
	}
	c := g.cluster[vm.Cluster]
	if v.Host != nil {
		c = g.cluster[cmp.Or(v.Host.Cluster, v.Host.ID)]
	}
	if c == nil || len(c.Kinds) == 0 {
		r.Unjudged = append(r.Unjudged, numa.Note{At: vm.At, Text: "VM " + vm.Name + ": " + r.homeless(vm, v.Host)})
		return
	}
	g.predict(v, c, o.Choices)
	if vm.Template.Or(false) {
		c.Templates = append(c.Templates, v)
		return
	}
	for i := range v.On {
		r.Pairs += len(v.On[i].Kind.Hosts)
	}
	for i := range v.Refused {
		r.Pairs += len(v.Refused[i].Kind.Hosts)
	}
	v.Seen = r.confront(v, g, o.Choices)
	r.VMs++
	c.VMs = append(c.VMs, v)
}

// predict predicts the VM on every kind of host of its cluster, once for all VMs that get the same: they share the lists, which stay as they are.
func (g *groups) predict(v *rule.VM, c *rule.Cluster, ch vnuma.Choices) {
	if v.Tied() != nil {
		predict(v, c, ch)
		return
	}
	key := alike{v.Guest, v.Home, c}
	one, ok := g.predicted[key]
	if !ok {
		predict(v, c, ch)
		one = predicted{v.On, v.Refused}
		g.predicted[key] = one
	}
	v.On, v.Refused = one.on, one.refused
}

// predict predicts the VM on every kind of host of its cluster.
func predict(v *rule.VM, c *rule.Cluster, ch vnuma.Choices) {
	v.On, v.Refused = make([]rule.On, 0, len(c.Kinds)), nil
	add := func(k *rule.Kind) {
		on := rule.On{Kind: k, Layout: vnuma.Predict(&v.Guest, &k.Machine, &vnuma.Case{Choices: ch})}
		// A refusal by its own host because of its configuration is fixed for all hosts together.
		alike := len(v.On) > 0 && v.Off() && !on.Layout.Refused.ByHost()
		if on.Layout.Refused.Any() && k != v.Home && !alike {
			v.Refused = append(v.Refused, on)
			return
		}
		v.On = append(v.On, on)
	}
	if v.Home != nil {
		add(v.Home)
	}
	for _, k := range c.Kinds {
		if k != v.Home && (v.Home == nil || v.TiedTo() == nil) {
			add(k)
		}
	}
	if len(v.On) == 0 {
		v.On, v.Refused = v.Refused[:1], v.Refused[1:]
	}
	v.Reach()
}

// confront compares each observation of the VM with its prediction: on the hosts of its cluster, and on a host of another cluster that an observation
// names.
func (r *Result) confront(v *rule.VM, g *groups, ch vnuma.Choices) []confront.Result {
	if len(v.Observed) == 0 {
		return nil
	}
	places := make([]confront.Place, len(v.On))
	for i := range v.On {
		k := v.On[i].Kind
		places[i].Machine = k.Machine
		if k == v.Home {
			places[i].Names = []string{v.Host.Name}
		}
		for _, h := range k.Hosts {
			places[i].Names = append(places[i].Names, h.Name)
		}
	}
	out := make([]confront.Result, len(v.Observed))
	for i := range v.Observed {
		o := &v.Observed[i]
		out[i] = confront.Check(v.VM, o, append(places, r.elsewhere(o.Host, places, g)...), ch)
	}
	return out
}

// elsewhere returns the host with this name if it is not one of the places.
func (r *Result) elsewhere(name string, places []confront.Place, g *groups) []confront.Place {
	same := func(other string) bool { return numa.SameHost(name, other) }
	if name == "" || slices.ContainsFunc(places, func(p confront.Place) bool { return slices.ContainsFunc(p.Names, same) }) {
		return nil
	}
	for i := range r.Fleet.Hosts {
		h := &r.Fleet.Hosts[i]
		if k := g.kind[h.ID]; k != nil && same(h.Name) {
			return []confront.Place{{Names: []string{h.Name}, Machine: k.Machine}}
		}
	}
	return nil
}

// weigher returns a function that finds the findings of a VM of the cluster with another configuration or on another of its hosts, without its
// observations.
func weigher(c *rule.Cluster, o Options) func(*rule.VM, *numa.VM) []finding.Finding {
	return func(v *rule.VM, configured *numa.VM) (found []finding.Finding) {
		return weighed(c, anew(c, v, configured), o)
	}
}

// judge returns a function that judges a VM of the cluster with another configuration, without its observations.
func judge(c *rule.Cluster, o Options) func(*rule.VM, *numa.VM) (*rule.VM, []finding.Finding) {
	return func(v *rule.VM, configured *numa.VM) (*rule.VM, []finding.Finding) {
		var r Result
		again := anew(c, v, configured)
		r.judgeVM(c, again, o)
		return again, r.Findings
	}
}

// anew returns the VM with another configuration or on another of the hosts of its cluster, without its observations.
func anew(c *rule.Cluster, v *rule.VM, configured *numa.VM) *rule.VM {
	again := *v
	again.VM, again.Seen = configured, nil
	again.Guest, _, _ = vnuma.NewGuest(configured) // the VM was parsed before
	if configured.Host != v.VM.Host {
		again.Home, again.Host = c.Place(configured.Host)
	}
	predict(&again, c, c.Choices)
	return &again
}

// weighed returns the findings about a VM, without advice.
func weighed(c *rule.Cluster, v *rule.VM, o Options) (found []finding.Finding) {
	for p := range passes(c, v, o) {
		p.Weighing, p.Findings = true, found
		p.Rule.Check(p)
		found = p.Findings
	}
	for _, one := range All {
		if one.Brings != nil {
			p := &rule.Pass{Rule: one, Cluster: c, VM: v, Weighing: true, Findings: found}
			one.Brings(p)
			found = p.Findings
		}
	}
	return found
}

// There returns the findings about a VM that has a layout on a host, as if no other host and no other VM existed.
func (r *Result) There(v *rule.VM, h *numa.Host, m *vnuma.Machine, l *vnuma.Layout) []finding.Finding {
	k := &rule.Kind{Machine: *m, Hosts: []*numa.Host{h}}
	there := *v
	there.Host, there.Home, there.On, there.Refused, there.Seen = h, k, []rule.On{{Kind: k, Layout: *l}}, nil, nil
	c := &rule.Cluster{Hosts: k.Hosts, Kinds: []*rule.Kind{k}, VMs: []*rule.VM{&there}, Choices: r.Choices}
	return append([]finding.Finding{}, weighed(c, &there, Options{Choices: r.Choices, Policy: r.Policy})...)
}

// judge applies every rule to the hosts and VMs of a cluster.
func (r *Result) judge(ctx context.Context, c *rule.Cluster, o Options) error {
	for _, k := range c.Kinds {
		for _, h := range k.Hosts {
			if err := ctx.Err(); err != nil {
				return err
			}
			for _, one := range All {
				if !one.VMs || one.Hosts {
					r.check(&rule.Pass{Rule: one, Cluster: c, Host: h, Kind: k, Choices: o.Choices, Thresholds: o.thresholds(), Today: o.Today})
				}
			}
		}
	}
	if c.Cured = c.AfterCures(); c.Cured != nil {
		c.Cured.Weigh = weigher(c.Cured, o)
	}
	for _, v := range c.VMs {
		if err := ctx.Err(); err != nil {
			return err
		}
		r.judgeVM(c, v, o)
	}
	for _, v := range c.Templates {
		r.inherited(c, v, o)
	}
	return nil
}

// judgeVM applies every rule to a VM.
func (r *Result) judgeVM(c *rule.Cluster, v *rule.VM, o Options) {
	for p := range passes(c, v, o) {
		p.Today = o.Today
		r.check(p)
	}
	c.Forget()
}

// passes returns the passes of all VM rules for the VM. If its host refuses the VM, the rules assess it as if it were accepted, because its other faults
// remain once it powers on; rules about refusals get it unchanged. A pass is valid until the next one.
func passes(c *rule.Cluster, v *rule.VM, o Options) iter.Seq[*rule.Pass] {
	return func(yield func(*rule.Pass) bool) {
		admitted := v
		if v.Off() {
			admitted = v.Admitted(o.Choices)
		}
		p := new(rule.Pass) // one for all: most rules report nothing
		for _, one := range All {
			if !one.VMs || one.Check == nil || one.Placed && v.Off() && v.On[0].Layout.Refused.BySize() {
				continue
			}
			*p = rule.Pass{Rule: one, Cluster: c, Choices: o.Choices, VM: admitted, Host: v.Host, Kind: v.Home, Thresholds: o.thresholds()}
			if one.Refused {
				p.VM = v
			}
			if !yield(p) {
				return
			}
		}
	}
}

// inherited reports the faults of a template that its clones will have. They have no cost until then.
func (r *Result) inherited(c *rule.Cluster, v *rule.VM, o Options) {
	from := len(r.Findings)
	r.judgeVM(c, v, o)
	found := r.Findings[from:]
	r.Findings = r.Findings[:from]
	for _, f := range found {
		if f.Severity > finding.Info {
			f.Message, f.Severity = "clones of the template will inherit it: "+f.Message, min(f.Severity, finding.Medium)
			r.Findings = append(r.Findings, f)
		}
	}
}

func (r *Result) check(p *rule.Pass) {
	if p.Rule.Check == nil { // it assesses recordings
		return
	}
	p.Rule.Check(p)
	r.Findings = append(r.Findings, p.Findings...)
}

// ClusterOf returns the cluster in which the VM was assessed.
func (r *Result) ClusterOf(v *rule.VM) *rule.Cluster {
	i := slices.IndexFunc(r.Clusters, func(c *rule.Cluster) bool { return slices.Contains(c.VMs, v) || slices.Contains(c.Templates, v) })
	if i < 0 {
		return &rule.Cluster{}
	}
	return r.Clusters[i]
}

// Proposals returns the plan of each VM that has one, in the order of the clusters, for all its findings.
func (r *Result) Proposals() (vms []*rule.VM, plans []*rule.Proposal) {
	return r.ProposalsFor(r.Findings, rule.Scope{Further: true})
}

// ProposalsFor returns the plan of each VM that has one for these of its findings, in the order of the clusters.
func (r *Result) ProposalsFor(findings []finding.Finding, s rule.Scope) (vms []*rule.VM, plans []*rule.Proposal) {
	s.Wide = r.wide()
	byVM := map[string][]finding.Finding{}
	for _, f := range findings {
		byVM[f.VMID] = append(byVM[f.VMID], f)
	}
	for _, c := range r.Clusters {
		for _, v := range c.VMs {
			if plan := (&rule.Pass{Cluster: c, VM: v, Choices: r.Choices}).Proposal(byVM[v.ID], &s); plan != nil {
				vms, plans = append(vms, v), append(plans, plan)
			}
			c.Forget()
		}
	}
	return vms, plans
}

// Proposal returns the plan of the VM for these findings; nil if it has none.
func (r *Result) Proposal(v *rule.VM, findings []finding.Finding) *rule.Proposal {
	return (&rule.Pass{Cluster: r.ClusterOf(v), VM: v, Choices: r.Choices}).Proposal(findings, &rule.Scope{Further: true, Wide: r.wide()})
}

// wide returns the VMs, by ID, that a setting of their host makes wide.
func (r *Result) wide() map[string]bool {
	out := map[string]bool{}
	for i := range r.Findings {
		for _, id := range r.Findings[i].Split {
			out[id] = true
		}
	}
	return out
}

// Machine returns the host of the inventory with this name; nil if there is none, or no inventory.
func (r *Result) Machine(name string) *numa.Host {
	if r == nil || name == "" {
		return nil
	}
	for i := range r.Fleet.Hosts {
		if h := &r.Fleet.Hosts[i]; numa.SameHost(h.Name, name) {
			return h
		}
	}
	return nil
}
