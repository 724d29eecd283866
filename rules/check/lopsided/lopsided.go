// Package lopsided finds VMs of several home nodes with nearly all memory on one.
package lopsided

import (
	_ "embed"
	"fmt"
	"strings"
	"time"

	"example.org/homenode/capture"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

//go:embed lopsided.md
var page string

// Rule is M010.
var Rule = rule.New(page, rule.Rule{Severity: finding.Medium, VMs: true, Watch: watch, Needs: []string{"GST_NDx", "Numa Home Nodes"}})

func watch(w *rule.Watch) {
	v := w.VM
	if o := w.On(); o != nil && o.Layout.Memory.Joins() {
		return // a node without a client: see M006
	}
	s := &v.Lopsided.Longest
	all, on := inUse(v)
	if v.Lopsided.Count == 0 || s.Length().Minutes() < w.Threshold("minutes") || float64(all) < w.Threshold("memory")*float64(numa.GiB) {
		return
	}
	if s.Worst < even(w)+beyond {
		return // as large as that client
	}
	limit := words.Percent(w.Host.Options.Lopsided)
	worst := words.Percent(s.Worst)
	f := finding.Finding{
		From: s.From, To: s.To,
		Severity: finding.Medium,
		Message: fmt.Sprintf("%s or more of its memory was on one of its home nodes for %s, %s, up to %s; at last %s",
			limit, words.Duration(s.Length()), w.Span(s), worst, on),
		Evidence: []finding.Evidence{
			w.Limit("share", limit), w.Limit("memory", numa.Bytes(w.Threshold("memory")*float64(numa.GiB)).String()),
			rule.Saw("so for", words.Duration(s.Length()), rule.FieldGST, s.From),
			rule.Saw("largest share on a node", worst, rule.FieldGST, s.At),
			rule.Saw("memory on nodes at last", on, rule.FieldGST, v.Last),
		},
		Assumes: []string{"the guest works on all its nodes: memory that only one of them uses belongs there"},
	}
	if v.Appeared && s.From.Sub(v.First) <= early {
		f.Message += fmt.Sprintf("; it was so since the VM appeared at %s, %s", words.Moment(v.First), w.Arrival())
		f.Evidence = append(f.Evidence, rule.Saw("appeared", words.Moment(v.First), "names of VMs", v.First))
	}
	room, evidence := rooms(w)
	f.Evidence = append(f.Evidence, evidence...)
	f.Advice = "Power the VM off and on while all its nodes have room for their part" + room + "; a reboot of the guest does not spread it, and a power cycle on a full host neither"
	w.Report(f)
}

// beyond is the excess of a VM's share of memory on one node over that of its largest client: the VM
// of the experiment had 16 points more.
const beyond = 0.15

// even is the predicted share of memory of the clients on the fullest home node; half without a
// prediction.
func even(w *rule.Watch) float64 {
	o := w.On()
	if o == nil || o.Layout.PPDs.Len() < 2 {
		return 0.5
	}
	l, most := &o.Layout, 0
	vcpus := make([]int, max(1, l.HomeNodes))
	for c := range l.PPDs.Len() {
		_, n := l.PPDs.Group(c)
		vcpus[c%len(vcpus)] += n
		most = max(most, vcpus[c%len(vcpus)])
	}
	return float64(most) / float64(l.PPDs.Sum())
}

// early is the maximum time between the appearance of a VM and its lopsidedness for a VM that is
// lopsided from the start: it first has to allocate some memory.
const early = 5 * time.Minute

// inUse returns the memory of the VM on all nodes in the last tick with this value, and its
// location.
func inUse(v *capture.VM) (all numa.Bytes, on string) {
	var parts []string
	for _, m := range v.LastNode {
		all += m.Guest
		parts = append(parts, fmt.Sprintf("%s on node %d", m.Guest, m.Node))
	}
	return all, strings.Join(parts, ", ")
}

// rooms describes the last known free memory of its home nodes.
func rooms(w *rule.Watch) (text string, evidence []finding.Evidence) {
	homes, _, _ := rule.Homes(w.VM)
	var parts []string
	for i := range w.Host.Nodes {
		n := &w.Host.Nodes[i]
		if !homes.Has(n.ID) || n.LastFree < 0 {
			continue
		}
		parts = append(parts, fmt.Sprintf("%s on node %d", n.LastFree, n.ID))
		evidence = append(evidence, rule.Saw(fmt.Sprintf("free on node %d at last", n.ID), n.LastFree.String(), rule.FieldFree, w.Host.Last))
	}
	if parts == nil {
		return "", nil
	}
	return " (free at last: " + strings.Join(parts, ", ") + ")", evidence
}
