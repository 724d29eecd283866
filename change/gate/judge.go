package gate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/keyed"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
	"example.org/homenode/source/planned"
)

// A VM is a planned VM with its placement on each kind of host.
type VM struct {
	ID     string      `json:"id"` // in its file
	File   string      `json:"file"`
	Name   string      `json:"vm"`
	Form   string      `json:"form"`
	At     string      `json:"at"` // file:line:column
	VCPUs  int         `json:"vcpus"`
	Memory numa.Bytes  `json:"memory,omitempty"`
	On     []Placement `json:"on"`
	// Alike are the nearest vCPU counts that give one layout on all hosts, if the present one does not.
	Alike  []int            `json:"alike,omitempty"`
	Lines  []planned.Line   `json:"lines,omitempty"`  // edits that fix the findings
	Cannot []string         `json:"cannot,omitempty"` // fixes that the file cannot express, or that cause a finding elsewhere
	Worst  finding.Severity `json:"worst"`
}

// A Placement is the VM on hosts that give it the same layout.
type Placement struct {
	Site   string   `json:"site"`
	Hosts  []string `json:"hosts"`
	Nodes  string   `json:"nodes"`    // of a host: 2 × 16 cores, 8.0 U3
	Layout string   `json:"layout"`   // in short
	Sees   string   `json:"sees"`     // seen by the guest
	Far    float64  `json:"farShare"` // remote share of its memory
	kind   *rule.Kind
}

// Judge returns the planned VMs of an assessed fleet, in their order.
func Judge(r *rules.Result) []*VM {
	var out []*VM
	at := map[string]*VM{}
	placed := map[string][]*rule.VM{}
	clusters := map[*rule.VM]*rule.Cluster{}
	for i := range r.Fleet.VMs {
		v := &r.Fleet.VMs[i]
		if v.Planned == nil || at[key(v)] != nil {
			continue
		}
		one := &VM{ID: v.Planned.ID, File: v.Planned.File, Name: v.Name, Form: v.Planned.Form, At: v.At, VCPUs: v.VCPUs.Value, Memory: v.Memory.Value, On: []Placement{}}
		at[key(v)] = one
		out = append(out, one)
	}
	for _, c := range r.Clusters {
		for _, v := range c.VMs {
			if v.Planned == nil {
				continue
			}
			clusters[v] = c
			placed[key(v.VM)] = append(placed[key(v.VM)], v)
			at[key(v.VM)].place(c, v)
		}
	}
	found := map[string][]finding.Finding{}
	for i := range r.Findings {
		found[r.Findings[i].VMID] = append(found[r.Findings[i].VMID], r.Findings[i])
	}
	a := advisor{r.Choices, clusters, found, map[alikeKey][]numa.Edit{}, map[alikeKey]string{}}
	for _, one := range out {
		on := placed[one.File+"\x00"+one.ID]
		one.cure(on, &a)
		if one.Differs() {
			one.Alike = alike(&on[0].Guest, one.On, r.Choices)
		}
	}
	return out
}

// key identifies a planned VM, which has a different ID on each site where it is assessed.
func key(v *numa.VM) string { return v.Planned.File + "\x00" + v.Planned.ID }

// place adds the layout of the VM on each kind of host of a cluster.
func (v *VM) place(c *rule.Cluster, on *rule.VM) {
	for _, list := range [][]rule.On{on.On, on.Refused} {
		for i := range list {
			l, k := &list[i].Layout, list[i].Kind
			v.On = append(v.On, Placement{Site: c.Name, Hosts: k.HostNames(), Nodes: k.Shape() + ", " + k.Machine.Release.String(),
				Layout: rule.Short(l), Sees: sees(l), Far: l.FarShare(), kind: k})
		}
	}
}

// sees describes the topology that the guest sees with a layout.
func sees(l *vnuma.Layout) string {
	switch {
	case l.Refused.Any():
		return "does not power on"
	case l.HidesNUMA():
		return fmt.Sprintf("1 node of %d over %d nodes of the host", l.VPDs.Max(), l.PPDs.Len())
	case !l.GuestSeesNUMA() || l.VPDs.Len() == 1:
		return fmt.Sprintf("1 node of %d", l.VPDs.Max())
	case l.VPDs.Even():
		return fmt.Sprintf("%d nodes of %d", l.VPDs.Len(), l.VPDs.Max())
	}
	return fmt.Sprintf("%d nodes (%s)", l.VPDs.Len(), l.VPDs)
}

// Differs reports whether the guest sees different topologies on different hosts.
func (v *VM) Differs() bool {
	return slices.ContainsFunc(v.On, func(p Placement) bool { return p.Sees != v.On[0].Sees })
}

// Depends describes the dependence on the host: "2 nodes of 16 on prod-a, 1 node of 32 on prod-b; 28 vCPUs would be alike"; "" for
// none.
func (v *VM) Depends() string {
	if !v.Differs() {
		return ""
	}
	var on keyed.Lists[string, string]
	for _, p := range v.On {
		if !slices.Contains(on.Of(p.Sees), p.Site) {
			on.Add(p.Sees, p.Site)
		}
	}
	var parts []string
	for sees, sites := range on.All() {
		parts = append(parts, sees+" on "+words.Few(sites))
	}
	text := strings.Join(parts, ", ")
	if v.Alike != nil {
		text += fmt.Sprintf("; %s vCPUs would be alike", strings.Join(words.Texts(v.Alike, func(n int) string { return fmt.Sprint(n) }), " or "))
	}
	return text
}

// alike returns the nearest smaller and larger vCPU count, within a half, that gives one layout on all kinds of hosts.
func alike(g *vnuma.Guest, on []Placement, ch vnuma.Choices) (out []int) {
	same := func(n int32) bool {
		one := *g
		one.VCPUs = n
		if one.CoresPerSocket > 1 && !one.AutoCPS && n%one.CoresPerSocket != 0 {
			return false
		}
		var first string
		for i := range on {
			l := vnuma.Predict(&one, &on[i].kind.Machine, &vnuma.Case{Choices: ch})
			text := rule.Short(&l) + sees(&l)
			first = cmp.Or(first, text)
			if l.Refused.Any() || text != first || l.HidesNUMA() {
				return false
			}
		}
		return true
	}
	step := int32(1)
	if g.VCPUs%2 == 0 {
		step = 2
	}
	for n := g.VCPUs - step; n >= max(1, g.VCPUs/2); n -= step {
		if same(n) {
			out = append(out, int(n))
			break
		}
	}
	for n := g.VCPUs + step; n <= g.VCPUs+g.VCPUs/2; n += step {
		if same(n) {
			return append(out, int(n))
		}
	}
	return out
}

// An advisor finds fixes. It plans once for VMs that are alike on a cluster.
type advisor struct {
	choices  vnuma.Choices
	clusters map[*rule.VM]*rule.Cluster
	found    map[string][]finding.Finding // by ID of the VM
	plans    map[alikeKey][]numa.Edit
	brings   map[alikeKey]string
}

// An alikeKey is equal for VMs that are alike on a cluster, and for a text: the findings, or the edits.
type alikeKey struct {
	cluster *rule.Cluster
	guest   vnuma.Guest
	text    string
}

// plan returns the edits that fix the findings of the VM.
func (a *advisor) plan(v *rule.VM) []numa.Edit {
	found := a.found[v.ID]
	key := alikeKey{a.clusters[v], v.Guest, strings.Join(words.Texts(found, func(f finding.Finding) string { return f.Rule }), " ")}
	edits, ok := a.plans[key]
	if !ok {
		p := rule.Pass{Cluster: a.clusters[v], VM: v, Choices: a.choices}
		if plan := p.Proposal(found, &rule.Scope{Split: true}); plan != nil {
			edits = plan.Edits
		} else {
			edits = cures(found)
		}
		a.plans[key] = edits
	}
	return edits
}

// cures returns the edits for the findings of a VM without a plan, such as one that does not power on: those of the first finding
// that has edits.
func cures(found []finding.Finding) []numa.Edit {
	for i := range found {
		if found[i].Severity < finding.Medium || len(found[i].Ways) == 0 {
			continue
		}
		sizes := func(e numa.Edit) bool { return e.Kind == numa.EditVCPUs || e.Kind == numa.EditMemory } // these are decided by people
		if edits := found[i].Ways[0].Edits; len(edits) > 0 && !slices.ContainsFunc(edits, sizes) {
			return edits
		}
	}
	return nil
}

// cure finds the edits that fix the findings, and leaves out edits that would cause a finding elsewhere.
func (v *VM) cure(on []*rule.VM, a *advisor) {
	var edits []numa.Edit
	for _, one := range on {
		for _, f := range a.found[one.ID] {
			v.Worst = max(v.Worst, f.Severity)
		}
		var more []numa.Edit
		site := a.clusters[one].Name
		for _, e := range a.plan(one) {
			i := slices.IndexFunc(edits, func(o numa.Edit) bool { return o.Like(e) })
			switch {
			case i < 0:
				more = append(more, e)
			case edits[i].To != e.To:
				v.Cannot = append(v.Cannot, fmt.Sprintf("%s = %s for %s: other hosts want %s", e.Name(), e.To, site, edits[i].To))
			}
		}
		if why := a.worse(slices.Concat(edits, more), on); why != "" && more != nil {
			names := words.Texts(more, func(e numa.Edit) string { return fmt.Sprintf("%s = %s", e.Name(), e.To) })
			v.Cannot = append(v.Cannot, fmt.Sprintf("%s for %s: %s", strings.Join(names, ", "), site, why))
			continue
		}
		edits = append(edits, more...)
	}
	if len(on) > 0 && edits != nil {
		lines, cannot := planned.Lines(on[0].VM, edits)
		v.Lines, v.Cannot = lines, append(v.Cannot, cannot...)
	}
}

// worse returns the first place where edits would cause a finding of medium or high severity that does not exist today; "" for none.
func (a *advisor) worse(edits []numa.Edit, on []*rule.VM) string {
	if len(on) == 1 || len(edits) == 0 { // the plan for a single cluster was checked already
		return ""
	}
	text := fmt.Sprint(words.Texts(edits, func(e numa.Edit) string { return e.Name() + e.To.String() }))
	for _, one := range on {
		key := alikeKey{a.clusters[one], one.Guest, text}
		why, ok := a.brings[key]
		if !ok {
			why = a.weigh(edits, one)
			a.brings[key] = why
		}
		if why != "" {
			return why
		}
	}
	return ""
}

// weigh returns the finding that edits of a VM would cause on its cluster; "" for none.
func (a *advisor) weigh(edits []numa.Edit, v *rule.VM) string {
	configured := *v.VM
	for _, e := range edits {
		if err := e.Configure(&configured.Config, "proposed"); err != nil {
			return err.Error()
		}
	}
	for _, f := range a.clusters[v].Weigh(v, &configured) {
		if f.Severity >= finding.Medium && !slices.ContainsFunc(a.found[v.ID], func(o finding.Finding) bool { return o.Rule == f.Rule }) {
			return fmt.Sprintf("it would bring %s on %s", f.Rule, a.clusters[v].Name)
		}
	}
	return ""
}

// At returns the position in the file of a planned VM of the value that an edit changes; "" if the file does not state it.
func At(v *numa.VM, e *numa.Edit) string { return planned.Place(v, e) }
