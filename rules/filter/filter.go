// Package filter restricts an assessment to some VMs, hosts, checks and severities. It filters the results, not the input: hidden
// neighbours still count in findings about placement.
package filter

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/internal/glob"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/condition"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/policy"
	"example.org/homenode/rules/rule"
)

// Options are the user's filters. Names may contain * and ?; a list matches any of its names, and all options must match.
type Options struct {
	Clusters, VMs, Hosts, Folders []string
	Tags                          []string // and custom attributes, as "owner=db*"
	Rules                         []string // IDs of checks, or their whole names
	Severity                      string   // minimum; "" for all
	Select                        string   // a condition about a VM: see condition.Compile
}

// A Filter is compiled Options; nil matches everything.
type Filter struct {
	cluster, vm, host, folder, tag, rule glob.Patterns
	least                                finding.Severity
	condition                            *condition.Condition
	named                                []named
	text                                 []string
}

// named are the names and patterns that a user gave of objects of one kind.
type named struct {
	noun, after string // after: see glob.Compile
	texts       []string
}

// One returns the VM if the options name exactly one, without * and ?; otherwise "".
func (o *Options) One() string {
	if len(o.VMs) == 1 && !strings.ContainsAny(o.VMs[0], "*?") {
		return o.VMs[0]
	}
	return ""
}

// New compiles the options; it returns nil if they restrict nothing.
func New(o Options) (*Filter, error) {
	f := &Filter{
		cluster: glob.Compile(o.Clusters, ""), vm: glob.Compile(o.VMs, ""), host: glob.Compile(o.Hosts, glob.Domain),
		folder: glob.Compile(o.Folders, glob.Below), tag: glob.Compile(o.Tags, ""), rule: glob.Compile(ruleIDs(o.Rules), ""),
		named: []named{{"cluster", "", o.Clusters}, {"VM", "", o.VMs}, {"host", glob.Domain, o.Hosts}, {"folder", glob.Below, o.Folders}, {"tag", "", o.Tags}},
	}
	for _, one := range append(f.named, named{"rule", "", o.Rules}) {
		if len(one.texts) > 0 {
			f.text = append(f.text, one.noun+" "+strings.Join(one.texts, ", "))
		}
	}
	err := (&Filter{named: []named{{"check", "", o.Rules}}}).stranger(namesOfChecks)
	if err != nil {
		return nil, fmt.Errorf("--rule: %w: homenode rules lists them", err)
	}
	if o.Severity != "" {
		if f.least, err = finding.ParseSeverity(o.Severity); err != nil {
			return nil, fmt.Errorf("--severity: %w", err)
		}
		f.text = append(f.text, "severity "+o.Severity+" or higher")
	}
	if o.Select != "" {
		if f.condition, err = condition.Compile(o.Select); err != nil {
			return nil, fmt.Errorf("--select: %w", err)
		}
		f.text = append(f.text, o.Select)
	}
	if len(f.text) == 0 {
		return nil, nil
	}
	return f, nil
}

// String describes the filter: "VM sql*; severity high or higher".
func (f *Filter) String() string { return strings.Join(f.text, "; ") }

// aboutVMs reports whether the filter selects VMs.
func (f *Filter) aboutVMs() bool {
	return f.vm != nil || f.folder != nil || f.tag != nil || f.condition != nil
}

// namesOf returns the names of a cluster; a standalone host has its own.
func namesOf(c *rule.Cluster) []string {
	if c.Name == "" && len(c.Hosts) > 0 {
		return []string{c.Hosts[0].Name, c.Title()}
	}
	return []string{c.Name}
}

// shows reports whether the filter matches the VM of a cluster with these names; on is its host. The name of a VM may follow that of
// the cluster, on KVM that of the host.
func (f *Filter) shows(v *numa.VM, cluster string, names []string, on *numa.Host) bool {
	above, hosts := cluster, []string{}
	if on != nil {
		hosts = []string{on.Name, on.ID}
	}
	if v.Stated != nil {
		above, names = v.Host, hosts // each host is its own cluster
	}
	return f.cluster.Allow(names...) && f.host.Allow(hosts...) && f.vm.Named(v.Name, v.ID, above+"/"+v.Name) &&
		f.folder.Allow(v.Folder) && f.tag.Allow(labels(v)...) && f.condition.Holds(v, cluster, on)
}

// labels returns the tags of a VM and its custom attributes as "owner=db team".
func labels(v *numa.VM) []string {
	out := slices.Clone(v.Tags)
	for _, a := range v.Attributes {
		out = append(out, a.Name+"="+a.Value)
	}
	return out
}

// ruleIDs returns the patterns with the ID of each check that is named: a pattern is for IDs alone.
func ruleIDs(texts []string) []string {
	out := slices.Clone(texts)
	for i, text := range texts {
		for _, r := range rules.All {
			if strings.EqualFold(text, r.Name) {
				out[i] = r.ID
			}
		}
	}
	return out
}

// finding reports whether the filter matches a finding about a matching object.
func (f *Filter) finding(x *finding.Finding) bool {
	return x.Severity >= f.least && f.rule.Allow(x.Rule)
}

// Seen reports whether the filter matches a finding about an observation, by the finding's own fields: a filter by folders, tags or a
// condition matches none.
func (f *Filter) Seen(x *finding.Finding) bool {
	return f == nil || f.finding(x) && f.cluster.Allow(x.Cluster) && f.host.Named(x.Host, x.HostID) && f.vm.Named(x.VM, x.VMID, x.Cluster+"/"+x.VM) &&
		f.folder == nil && f.tag == nil && f.condition == nil
}

// Shown contains the IDs of the VMs and hosts that a filter matches.
type Shown struct {
	VMs, Hosts map[string]bool

	templates map[string]bool // matching ones, which are not among the VMs

	unknown string // number of VMs with an unknown result, as text
	strange error  // a name that no object has
}

// has reports whether the VM or the template is among the matching ones.
func (s *Shown) has(id string) bool { return s.VMs[id] || s.templates[id] }

// Shown returns the VMs and hosts of an assessed fleet that the filter matches. It returns an error if there are none, or if the
// context ends.
func (f *Filter) Shown(ctx context.Context, r *rules.Result) (Shown, error) {
	f.condition.Reset()
	s := Shown{VMs: map[string]bool{}, Hosts: map[string]bool{}, templates: map[string]bool{}}
	for _, c := range r.Clusters {
		for _, v := range c.VMs {
			if err := ctx.Err(); err != nil {
				return s, err
			}
			if f.shows(v.VM, c.Name, namesOf(c), v.Host) {
				s.VMs[v.ID] = true
			}
		}
		for _, h := range c.Hosts {
			if f.cluster.Allow(namesOf(c)...) && f.host.Named(h.Name, h.ID) && !f.aboutVMs() {
				s.Hosts[h.ID] = true
			}
		}
	}
	for _, v := range r.Stated {
		if err := ctx.Err(); err != nil {
			return s, err
		}
		if f.shows(v.VM, "", nil, v.Host) {
			s.VMs[v.ID] = true
		}
	}
	for i := range r.Fleet.Hosts {
		h := &r.Fleet.Hosts[i]
		if r.Fleet.Hypervisor == numa.KVM && f.cluster.Allow(h.Name, h.ID) && f.host.Named(h.Name, h.ID) && !f.aboutVMs() {
			s.Hosts[h.ID] = true
		}
	}
	if err := f.condition.Err(); err != nil {
		return s, fmt.Errorf("--select: %w", err)
	}
	s.unknown, s.strange = f.condition.Unknown(), f.stranger(func() names { return namesIn(r) })
	for _, v := range f.Templates(r.Fleet) {
		s.templates[v.ID] = true
	}
	if len(s.VMs)+len(s.Hosts)+len(s.templates) == 0 {
		return s, nothing("no VM or host matches "+f.String()+s.unknown, s.strange)
	}
	return s, nil
}

// Templates returns the templates that would match if they were VMs; all for a nil filter.
func (f *Filter) Templates(fleet *numa.Fleet) (out []*numa.VM) {
	on := fleet.HostsByID()
	for i := range fleet.VMs {
		v := &fleet.VMs[i]
		if cluster := fleet.ClusterName(v.Cluster); v.Template.Value && (f == nil || f.shows(v, cluster, []string{cluster}, on[v.Host])) {
			out = append(out, v)
		}
	}
	return out
}

// Fleet returns the matching part of the assessed fleet. It returns an error if nothing matches, or if the context ends.
func (f *Filter) Fleet(ctx context.Context, r *rules.Result) (*rules.Result, error) {
	if f == nil {
		return r, nil
	}
	s, err := f.Shown(ctx, r)
	if err != nil {
		return nil, err
	}
	return f.Part(r, s), nil
}

// Part returns the assessed fleet with only these VMs and hosts, and the matching findings.
func (f *Filter) Part(r *rules.Result, s Shown) *rules.Result {
	out := *r
	out.Whole = r
	out.Filter, out.VMs, out.Pairs, out.Templates, out.Clusters = f.String(), 0, 0, len(s.templates), nil
	for _, c := range r.Clusters {
		one := *c
		one.VMs = slices.DeleteFunc(slices.Clone(c.VMs), func(v *rule.VM) bool { return !s.VMs[v.ID] })
		for _, v := range one.VMs {
			for i := range v.On {
				out.Pairs += len(v.On[i].Kind.Hosts)
			}
		}
		out.VMs += len(one.VMs)
		if len(one.VMs) > 0 || slices.ContainsFunc(c.Hosts, func(h *numa.Host) bool { return s.Hosts[h.ID] }) {
			out.Clusters = append(out.Clusters, &one)
		}
	}
	out.Stated = slices.DeleteFunc(slices.Clone(r.Stated), func(v *rule.StatedVM) bool { return !s.VMs[v.ID] })
	out.VMs += len(out.Stated)
	about := func(x *finding.Finding) bool {
		if x.VMID != "" {
			return s.has(x.VMID)
		}
		return s.Hosts[x.HostID] || slices.ContainsFunc(x.Costs, func(id string) bool { return s.VMs[id] }) // a finding about its host slows the VM
	}
	out.Judgement = f.judgement(&r.Judgement, func(x *finding.Finding) bool { return about(x) && f.finding(x) })
	out.LeftOut = slices.DeleteFunc(slices.Clone(r.Findings), func(x finding.Finding) bool { return !about(&x) || f.finding(&x) })
	out.Fleet = shown(r.Fleet, s, f.aboutVMs(), out.Clusters)
	gone, kept := map[string]bool{}, map[string]bool{} // places, shared by the VMs of one line
	for i := range r.Fleet.VMs {
		if v := &r.Fleet.VMs[i]; s.has(v.ID) {
			kept[v.At] = true
		} else {
			gone[v.At] = true
		}
	}
	doubts := r.Doubts()
	out.Unjudged = slices.DeleteFunc(slices.Clone(r.Unjudged), func(n numa.Note) bool { return slices.Contains(doubts, n) || gone[n.At] && !kept[n.At] })
	out.Unjudged = append(out.Unjudged, out.Doubts()...)
	if s.unknown != "" {
		out.Unjudged = append(out.Unjudged, numa.Note{Text: "--select" + s.unknown})
	}
	if s.strange != nil {
		out.Unjudged = append(out.Unjudged, numa.Note{Text: s.strange.Error()})
	}
	return &out
}

// judgement returns the matching findings.
func (f *Filter) judgement(j *rules.Judgement, keep func(*finding.Finding) bool) rules.Judgement {
	out := *j
	out.Findings = slices.DeleteFunc(slices.Clone(j.Findings), func(x finding.Finding) bool { return !keep(&x) })
	out.Suppressed = slices.DeleteFunc(slices.Clone(j.Suppressed), func(x policy.Suppressed) bool { return !keep(&x.Finding) })
	return out
}

// shown returns the fleet with the matching VMs and hosts. Hosts of matching VMs are included.
func shown(fleet *numa.Fleet, s Shown, aboutVMs bool, clusters []*rule.Cluster) *numa.Fleet {
	out := *fleet
	out.VMs, out.Hosts = nil, nil
	used := map[string]bool{}
	for i := range fleet.VMs {
		if v := &fleet.VMs[i]; s.has(v.ID) {
			out.VMs = append(out.VMs, *v)
			used[v.Host] = true
		}
	}
	if aboutVMs {
		for _, c := range clusters {
			for _, h := range c.Hosts {
				used[h.ID] = true
			}
		}
	}
	for i := range fleet.Hosts {
		if h := &fleet.Hosts[i]; used[h.ID] || s.Hosts[h.ID] {
			out.Hosts = append(out.Hosts, *h)
		}
	}
	out.Clusters = slices.DeleteFunc(slices.Clone(fleet.Clusters), func(c numa.Cluster) bool {
		return !slices.ContainsFunc(out.Hosts, func(h numa.Host) bool { return h.Cluster == c.ID })
	})
	return &out
}
