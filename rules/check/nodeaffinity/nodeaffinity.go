// Package nodeaffinity finds NUMA node affinities that the VM does not fit.
package nodeaffinity

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

//go:embed nodeaffinity.md
var page string

// Rule is N025.
var Rule = rule.New(page, rule.Rule{Severity: finding.High, VMs: true, Check: check})

func check(p *rule.Pass) {
	v := p.VM
	if v.Guest.AllowedNodes == 0 || v.Guest.Affinity || !v.On[0].Kind.Machine.Schedules() {
		byClient(p)
		return
	}
	nodes := vnuma.NodeAffinity(v.VM)
	// Hosts that lack nodes and hosts on which the nodes are too small are different findings: neither may hide the other.
	absent, small := missing(p, nodes), tooSmall(p, nodes)
	together := !littleMemory(v, &v.On[0]) && beside(p, nodes)
	if !absent && !small && !together {
		byClient(p)
	}
}

// report adds the common parts of every finding of the rule.
func report(p *rule.Pass, f *finding.Finding, on *rule.On) {
	v := p.VM
	f.Evidence = append(f.Evidence, v.SettingEvidence("numa.nodeAffinity"), v.VCPUsEvidence(), v.MemoryEvidence(), on.Kind.NodesEvidence())
	at := len(p.Findings)
	f.Ways = append([]numa.Way{{Do: "clear numa.nodeAffinity", Edits: []numa.Edit{numa.Unassign("numa.nodeAffinity")}, Auto: f.Topic != rule.Beside}}, f.Ways...)
	p.Report(*f, &on.Layout)
	if len(vnuma.ClientAffinitySettings(v.VM)) > 0 {
		p.Findings[at].Assumes = append(p.Findings[at].Assumes, notModelled)
	}
}

const notModelled = "sched.node<x>.affinity binds single clients and is not modelled: none is taken (C-12)"

// lacks reports whether some host of the kind lacks a listed node.
func lacks(o *rule.On, nodes []int) bool {
	return slices.ContainsFunc(o.Kind.Hosts, func(h *numa.Host) bool { return len(rule.LackingNodes(h, nodes)) > 0 })
}

// missing reports nodes that some host lacks.
func missing(p *rule.Pass, nodes []int) bool {
	v := p.VM
	on, text := p.Lacking(func(h *numa.Host) string {
		if lacks := rule.LackingNodes(h, nodes); len(lacks) > 0 {
			noun := "nodes "
			if len(lacks) == 1 {
				noun = "node "
			}
			return noun + words.Ranges(lacks) + " of numa.nodeAffinity = " + words.Ranges(nodes)
		}
		return ""
	})
	if on == nil {
		return false
	}
	f := finding.Finding{Severity: finding.Medium, Topic: "missing", Message: text + ". What ESXi does with the VM there, at power-on and after vMotion, is not published"}
	var large []*numa.Host
	for _, o := range v.Open() {
		if !lacks(&o, nodes) && !o.Small && !fewCores(v, &o, nodes) && !littleMemory(v, &o) {
			large = append(large, v.HostsOf(o.Kind)...)
		}
	}
	if large != nil {
		f.Ways = []numa.Way{numa.ByHand("keep the VM " + rule.ByDRS + " on " + rule.HostNames(large) + ", whose nodes suit it")}
	}
	report(p, &f, on)
	return true
}

// fewCores reports whether the listed nodes have fewer cores than the VM has vCPUs.
func fewCores(v *rule.VM, o *rule.On, nodes []int) bool {
	return o.Layout.Managed && int(v.Guest.VCPUs) > coresOf(v, o, nodes)
}

// coresOf returns the number of vCPUs that the listed nodes run without sharing.
func coresOf(v *rule.VM, o *rule.On, nodes []int) int {
	node, _ := o.Kind.Machine.CPUs(&v.Guest)
	return len(nodes) * int(node)
}

// serious is the number of vCPUs for each core of the listed nodes from which the finding is high: with two of them, not even the second thread
// of every core is free, and a thread adds far less than a core (Denneman 2010, in the page). Other nodes idle meanwhile.
const serious = 2

// tooSmall reports listed nodes with too few cores or too little memory for the VM. What they lack of memory is not even remote, unlike memory beyond the home
// nodes in N005.
func tooSmall(p *rule.Pass, nodes []int) bool {
	v := p.VM
	small := func(o *rule.On) bool { return !lacks(o, nodes) && (fewCores(v, o, nodes) || littleMemory(v, o)) }
	on, others, ok := p.Worst(small)
	if !ok {
		return false
	}
	f := finding.Finding{Severity: finding.Medium, Topic: "size"}
	where := p.Where(others)
	if fewCores(v, on, nodes) {
		f.Severity, f.Message = cores(v, on, nodes, where)
		where = ""
	}
	if littleMemory(v, on) {
		severity, text := memory(p, on, nodes, where)
		f.Severity, f.Message = max(f.Severity, severity), words.Join("; ", f.Message, text)
	}
	f.Ways = append(p.Elsewhere(), list(p, nodes))
	f.Ways = append(f.Ways, smaller(p, nodes)...)
	report(p, &f, on)
	return true
}

// cores describes clients that have to share the listed nodes.
func cores(v *rule.VM, on *rule.On, nodes []int, where string) (s finding.Severity, text string) {
	cores, unit := coresOf(v, on, nodes), "core"
	if cores > len(nodes)*int(on.Kind.Machine.Cores) {
		unit = "thread"
	}
	text = fmt.Sprintf("numa.nodeAffinity = %s allows %s with %s%s, but %d vCPUs run as %s: they share nodes and wait while others idle",
		words.Ranges(nodes), words.Plural(len(nodes), "node"), words.Plural(cores, unit), where, v.Guest.VCPUs, words.Plural(on.Layout.PPDs.Len(), "client"))
	if v.Guest.Needs.Exclusive {
		text += ", and latency sensitivity High finds no core for each"
	}
	if int(v.Guest.VCPUs) >= serious*cores {
		return finding.High, text
	}
	return finding.Medium, text
}

// littleMemory reports whether the listed nodes do not hold the memory of the VM, or not without the part that ESXi keeps free.
func littleMemory(v *rule.VM, o *rule.On) bool { return o.Lacks(&v.Guest)+o.Fills(&v.Guest) > 0 }

// memory describes memory that does not fit the listed nodes.
func memory(p *rule.Pass, on *rule.On, nodes []int, where string) (s finding.Severity, text string) {
	v := p.VM
	memory, beyond := numa.Bytes(v.Guest.Resident()), on.Lacks(&v.Guest)
	allows := fmt.Sprintf("the %s that numa.nodeAffinity = %s allows%s", words.Plural(len(nodes), "node"), words.Ranges(nodes), where)
	if fills := on.Fills(&v.Guest); fills > 0 {
		return finding.Medium, fmt.Sprintf("memory of %s takes %s that ESXi keeps free of %s, and may come from no other node", memory, fills, allows)
	}
	beyondText := fmt.Sprintf("%s do not fit any other node and are ballooned or swapped", beyond)
	if v.Unreserved() == 0 {
		beyondText = fmt.Sprintf("%s do not fit any other node, and reserved memory is neither ballooned nor swapped: how ESXi handles that is not published", beyond)
	}
	if memory == beyond { // the nodes have none
		return p.Beyond(beyond), fmt.Sprintf("memory of %s has no room on %s: %s", memory, allows, beyondText)
	}
	return p.Beyond(beyond), fmt.Sprintf("memory of %s exceeds the %s of %s: %s", memory, memory-beyond, allows, beyondText)
}

// smaller returns the way to make the VM small enough for the listed nodes of all hosts that have them; nil if there is none.
func smaller(p *rule.Pass, nodes []int) []numa.Way {
	var kinds []*rule.Kind
	for _, o := range p.VM.Open() {
		if !o.Small && !lacks(&o, nodes) {
			kinds = append(kinds, o.Kind)
		}
	}
	if way, ok := p.ForNodes(kinds, nodes...); ok {
		return []numa.Way{way}
	}
	return nil
}

// beside reports that the listed nodes of the host do not have enough memory for the VM and the VMs there that may use no other nodes.
func beside(p *rule.Pass, nodes []int) bool {
	v, on := p.VM, &p.VM.On[0]
	m := &on.Kind.Machine
	n := m.Allowed(v.Guest.AllowedNodes)
	if v.Home == nil || v.Off() || v.Stopped() || v.Power.Or(numa.PoweredOn) != numa.PoweredOn || !m.MemoryKnown() || n >= int(m.Nodes) {
		return false
	}
	_, has := m.Holds(n, v.Guest.AllowedNodes, false)
	p.At()
	bound, memory := []*rule.VM{v}, v.Resident()
	for _, o := range p.Cluster.Running(v.Host) {
		if o.ID == v.ID {
			continue
		}
		ids := o.Guest.AllowedNodes
		if o.Guest.Affinity {
			ids = numa.SetOf(vnuma.PinnedMemory(o.VM)...)
		}
		if ids != 0 && ids&^v.Guest.AllowedNodes == 0 {
			bound, memory = append(bound, o), memory+o.Resident()
		}
	}
	if len(bound) < 2 || memory <= has {
		return false
	}
	f := finding.Finding{
		Severity: finding.Medium, Topic: rule.Beside,
		Message: fmt.Sprintf("affinity binds %s with %s of memory to %s with %s (%s): %s do not fit any other node and are ballooned or swapped once all is touched",
			rule.Names(bound), memory, words.Plural(n, "node"), has, words.Ranges(nodes), memory-has),
		Ways: []numa.Way{numa.ByHand("bind some of these VMs to other nodes, or move them to another host")},
	}
	f.Severity = max(f.Severity, p.Beyond(numa.Bytes(float64(memory-has)*float64(v.Resident())/float64(memory)))) // its share
	for _, o := range bound[1:] {
		e := o.MemoryEvidence()
		e.Name += " of " + o.Name
		f.Evidence = append(f.Evidence, e)
	}
	report(p, &f, on)
	return true
}

// byClient reports affinities of single clients, which are not modelled.
func byClient(p *rule.Pass) {
	v := p.VM
	set := vnuma.ClientAffinitySettings(v.VM)
	if len(set) == 0 {
		return
	}
	f := finding.Finding{
		Severity: finding.Info,
		Message:  fmt.Sprintf("%s = %s binds a client to nodes by hand: homenode reads it but does not follow it", set[0].Key, set[0].Value),
		When:     "Unless it is there on purpose",
		Ways:     []numa.Way{{Do: "clear it: NUMA places clients by load", Edits: clear(set)}},
	}
	for _, s := range set {
		f.Evidence = append(f.Evidence, finding.Evidence{Name: s.Key, Value: s.Value, Origin: v.Settings.Origin.String(), At: v.At})
	}
	p.Report(f, &v.On[0].Layout)
	last := &p.Findings[len(p.Findings)-1]
	last.Assumes = append(last.Assumes, notModelled)
}

// list returns the way to allow as many nodes as the VM needs: the listed ones, and the next ones of its host. If other hosts need more of them, or lack them, the
// value is for the hosts like its own, and the VM is kept off the others.
func list(p *rule.Pass, nodes []int) numa.Way {
	v := p.VM
	more := next(v, nodes, v.Needed())
	unsuited := func() (hosts []*numa.Host) {
		for _, o := range v.Open()[1:] {
			if !o.Small && (o.Needed(&v.Guest) > len(more) || lacks(&o, more)) {
				hosts = append(hosts, v.HostsOf(o.Kind)...)
			}
		}
		return hosts
	}
	keepOff := ""
	if unsuited() != nil {
		more = next(v, nodes, v.On[0].Needed(&v.Guest))
		if hosts := unsuited(); hosts != nil {
			keepOff = " and " + rule.KeepOff(hosts).Do
		}
	}
	text := strings.Trim(strings.ReplaceAll(fmt.Sprint(more), " ", ","), "[]")
	return numa.Way{Do: "set numa.nodeAffinity = " + text + keepOff, Edits: []numa.Edit{numa.Assign("numa.nodeAffinity", text)}}
}

// next returns the listed nodes and the next ones of the VM's host, n in all.
func next(v *rule.VM, nodes []int, n int) []int {
	more := slices.Clone(nodes)
	for _, node := range v.On[0].Kind.Hosts[0].Nodes.Value {
		if len(more) < n && !slices.Contains(more, node.ID) {
			more = append(more, node.ID)
		}
	}
	slices.Sort(more)
	return more
}

// clear removes the settings.
func clear(set []numa.Setting) (out []numa.Edit) {
	for _, s := range set {
		out = append(out, numa.Unassign(s.Key))
	}
	return out
}
