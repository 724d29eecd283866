// Package deviceaway finds VMs whose PCI devices may be attached to another node.
package deviceaway

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

//go:embed deviceaway.md
var page string

// Rule is N034.
var Rule = rule.New(page, rule.Rule{Severity: finding.Medium, VMs: true, Check: check})

func check(p *rule.Pass) {
	v := p.VM
	if v.Host == nil || v.Home == nil || !v.Home.Machine.Schedules() {
		return
	}
	on := &v.On[0]
	allowed := vnuma.NodeAffinity(v.VM)
	pinned, _ := rule.NodesOf(v.Host, vnuma.PinnedPCPUs(v.VM))
	if !v.Guest.Affinity && apart(p, on) {
		return
	}
	for _, d := range v.Devices.Value {
		node, ok := v.Host.NodeOf(d.PCI)
		if !ok || v.Guest.Affinity && (len(pinned) == 0 || slices.Contains(pinned, node)) { // without a home node: see N023
			continue
		}
		if !v.Guest.Affinity && (on.Layout.HomeNodes == on.Layout.Nodes || len(allowed) == 1 && allowed[0] == node) {
			continue
		}
		f := finding.Finding{
			Severity: finding.Low, Topic: d.PCI,
			Message: fmt.Sprintf("%s is attached to node %d of %s, and nothing keeps the VM there: it has %s of %d",
				d.String(), node, v.Host.Name, words.Plural(on.Layout.HomeNodes, "home node"), on.Layout.Nodes),
			When: "Where its transfers matter",
			Ways: []numa.Way{beside(p, on, node)},
			Evidence: []finding.Evidence{
				{Name: "PCI device", Value: d.String(), Origin: v.Devices.Origin.String(), At: v.At},
				{Name: "node of " + d.PCI, Value: fmt.Sprint(node), Origin: v.Host.Attached.Origin.String(), At: v.Host.At},
				on.Kind.NodesEvidence(),
			},
		}
		switch {
		case v.Guest.Affinity:
			f.Severity = finding.Medium
			f.Message = fmt.Sprintf("%s is attached to node %d of %s, but CPU affinity keeps the VM on PCPUs of %s", d.String(), node, v.Host.Name, rule.Nodes(numa.SetOf(pinned...)))
			clear := v.ClearAffinity()
			f.Ways[0].Do, f.Ways[0].Edits = clear.Do+" and "+f.Ways[0].Do, append(clear.Edits, f.Ways[0].Edits...)
		case len(allowed) > 0 && !slices.Contains(allowed, node):
			f.Severity = finding.Medium
			f.Message = fmt.Sprintf("%s is attached to node %d of %s, but numa.nodeAffinity = %s keeps the VM elsewhere", d.String(), node, v.Host.Name, words.Ranges(allowed))
			f.Evidence = append(f.Evidence, v.SettingEvidence("numa.nodeAffinity"))
		}
		if d.VirtualNode >= 0 {
			f.Message += fmt.Sprintf("; that the guest sees it on virtual node %d places nothing", d.VirtualNode)
		}
		p.Report(f, &on.Layout)
	}
}

// apart reports devices on several nodes for a VM with one client, and whether there are any: it is one finding, because
// a way to keep the VM near one device keeps it away from the other.
func apart(p *rule.Pass, on *rule.On) bool {
	v := p.VM
	var nodes []int
	var names []string
	for _, d := range v.Devices.Value {
		if node, ok := v.Host.NodeOf(d.PCI); ok {
			nodes, names = append(nodes, node), append(names, fmt.Sprintf("%s to node %d", d.String(), node))
		}
	}
	if nodes == nil || on.Layout.PPDs.Len() > 1 || on.Layout.Nodes < 2 || slices.Min(nodes) == slices.Max(nodes) {
		return false
	}
	p.Report(finding.Finding{
		Severity: finding.Low,
		Message:  fmt.Sprintf("its devices are attached to several nodes of %s, and a VM of one client is beside one of them only: %s", v.Host.Name, words.List(names)),
		When:     "Where transfers matter",
		Ways: []numa.Way{numa.ByHand("give the VM devices of one node and set numa.nodeAffinity to it"),
			numa.ByHand("divide the VM into a virtual node for each node; the guest then uses the one beside the device")},
		Evidence: []finding.Evidence{
			{Name: "PCI devices", Value: strings.Join(names, ", "), Origin: v.Devices.Origin.String(), At: v.At},
			{Name: "nodes of PCI devices", Value: words.Ranges(nodes), Origin: v.Host.Attached.Origin.String(), At: v.Host.At},
			on.Kind.NodesEvidence(),
		},
	}, &on.Layout)
	return true
}

// beside returns the way to keep the VM on the node.
func beside(p *rule.Pass, on *rule.On, node int) numa.Way {
	m := &on.Kind.Machine
	way := numa.Way{Do: fmt.Sprintf("set numa.nodeAffinity = %d", node), Edits: []numa.Edit{numa.Assign("numa.nodeAffinity", strconv.Itoa(node))}}
	if more, ok := p.ForNodes([]*rule.Kind{on.Kind}, node); ok {
		way.Do += " and " + more.Do
		way.Edits = append(way.Edits, more.Edits...)
	}
	others, vcpus := p.Cluster.BoundTo(p.VM.Host, node)
	others = slices.DeleteFunc(others, func(v *rule.VM) bool { return v == p.VM })
	if cores, _ := m.CPUs(&p.VM.Guest); len(others) > 0 && vcpus+float64(min(p.VM.Guest.VCPUs, cores)) > float64(m.Cores) {
		return numa.ByHand(fmt.Sprintf("make room on node %d first, to which numa.nodeAffinity binds %s, then %s", node, rule.Names(others), way.Do))
	}
	way.Do += p.VM.Cycle() + "; on another host the number means another node"
	return way
}
