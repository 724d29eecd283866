// Package onebusynode finds hosts with all load on one NUMA node while another one is idle.
package onebusynode

import (
	_ "embed"
	"fmt"
	"strconv"

	"example.org/homenode/capture"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

//go:embed onebusynode.md
var page string

// Rule is M004.
var Rule = rule.New(page, rule.Rule{Severity: finding.High, Watch: watch, Needs: []string{"Numa Node % Util Time"}})

func watch(w *rule.Watch) {
	rec := w.Host
	s := &rec.Imbalance.Longest
	if rec.Imbalance.Count == 0 || s.Length().Minutes() < w.Threshold("minutes") {
		return
	}
	at := moment(w, s)
	there := homed(w, &at)
	if there.known > 0 && there.alone && there.waiting == 0 {
		return // one client on each busy node: it cannot be divided
	}
	busy, idle := words.Percent(rec.Options.BusyNode), words.Percent(rec.Options.IdleNode)
	f := finding.Finding{
		From: s.From, To: s.To,
		Severity: finding.Medium,
		Bad:      fmt.Sprintf("node %d was %s busy while node %d was %s", at.Busiest, words.Percent(at.Busy), at.Idlest, words.Percent(at.Idle)),
		Message: fmt.Sprintf("a node was %s busy or more while another was %s or less for %s, %s: node %d %s and node %d %s at %s",
			busy, idle, words.Duration(s.Length()), w.Span(s), at.Busiest, words.Percent(at.Busy), at.Idlest, words.Percent(at.Idle), words.Moment(at.Time)),
		Evidence: []finding.Evidence{
			w.Limit("busy", busy), w.Limit("idle", idle),
			rule.Saw("uneven for", words.Duration(s.Length()), rule.FieldNode, s.From),
			rule.Saw(fmt.Sprintf("load of node %d", at.Busiest), words.Percent(at.Busy), rule.FieldNode, at.Time),
			rule.Saw(fmt.Sprintf("load of node %d", at.Idlest), words.Percent(at.Idle), rule.FieldNode, at.Time),
		},
	}
	there.tell(w, &f, &at)
	v := rule.ReadyCauses.Judge(w)
	v.Explain(&f)
	w.Report(f)
}

// moment returns the most uneven moment of a spell. The recording stores the one of all spells;
// if that is in another spell, it is taken from the timelines of the nodes.
func moment(w *rule.Watch, s *capture.Spell) capture.Uneven {
	if at := &w.Host.At; at.Time.Equal(s.At) {
		return *at
	}
	at := capture.Uneven{Time: s.At, Busiest: -1, Idlest: -1}
	for i := range w.Host.Nodes {
		n := &w.Host.Nodes[i]
		mean, most, ok := rule.BusyAt(n, s.At)
		if !ok {
			continue
		}
		if at.Busiest < 0 || most > at.Busy {
			at.Busiest, at.Busy = n.ID, most
		}
		if at.Idlest < 0 || mean < at.Idle {
			at.Idlest, at.Idle = n.ID, mean
		}
	}
	return at
}

// home describes the VMs of the busy nodes.
type home struct {
	busy    numa.NodeSet
	known   int      // VMs with known home nodes
	names   []string // VMs with their home only on one busy node
	alone   bool     // each busy node has exactly one of these
	arrived int      // number of these that appeared during the recording
	waiting int      // number of these with ready time for as long while another node was idle
	calm    int      // number of these that never had half as much
}

// homed returns the VMs of the busy nodes at the most uneven moment.
func homed(w *rule.Watch, at *capture.Uneven) (h home) {
	rec := w.Host
	h.busy = numa.SetOf(at.Busiest)
	for i := range rec.Nodes {
		if _, most, ok := rule.BusyAt(&rec.Nodes[i], at.Time); ok && most >= rec.Options.BusyNode {
			h.busy |= numa.SetOf(rec.Nodes[i].ID)
		}
	}
	on := map[numa.NodeSet]int{}
	for i := range rec.VMs {
		v := &rec.VMs[i]
		if v.First.After(at.Time) || v.Last.Before(at.Time) {
			continue
		}
		set, ok := rule.HomesAt(v, at.Time)
		if !ok {
			set, _, ok = rule.Homes(v)
		}
		one := w.Joined[v]
		if !ok || set == 0 { // CPU affinity leaves it none (C-12)
			if one != nil && one.PinnedTo(w.Machine)&^h.busy == 0 && one.PinnedTo(w.Machine) != 0 {
				w.Crowd = append(w.Crowd, one)
			}
			continue
		}
		h.known++
		if set.Len() != 1 || set&h.busy == 0 {
			continue
		}
		on[set]++
		h.names, w.Crowd = append(h.names, v.Name), append(w.Crowd, one)
		h.count(w, v)
	}
	h.alone = len(on) == h.busy.Len() && len(h.names) == len(on)
	return h
}

// count counts a VM with its home only on a busy node.
func (h *home) count(w *rule.Watch, v *capture.VM) {
	if v.Appeared {
		h.arrived++
	}
	if v.Starved.Count > 0 && v.Starved.Longest.Length().Minutes() >= w.Threshold("minutes") {
		h.waiting++
	}
	if ready, ok := v.Ready.Peak(); ok && v.VCPUs > 0 && ready < w.Host.Options.Ready/2 {
		h.calm++
	}
}

// tell adds the VMs of the nodes, and their cost, to a finding.
func (h *home) tell(w *rule.Watch, f *finding.Finding, at *capture.Uneven) {
	where := rule.Nodes(h.busy)
	if h.busy.Len() > 1 {
		where = "one of " + where
		f.Message += fmt.Sprintf("; busy like this were %s", rule.Nodes(h.busy))
	}
	switch {
	case h.known == 0:
		f.Assumes = append(f.Assumes, "several VMs are homed on the busy node: the capture states no home nodes")
	case len(h.names) == 0:
		f.Severity = finding.Low // clients of wide VMs: their guests load them unevenly
		f.Message += fmt.Sprintf("; no VM was homed on %s alone", where)
	default:
		f.Message += fmt.Sprintf("; %s were homed on %s alone: %s", counted(len(h.names), h.known), where, words.List(h.names))
		f.Evidence = append(f.Evidence, rule.Saw("VMs homed on "+where+" alone", strconv.Itoa(len(h.names)), rule.FieldNHN, at.Time))
	}
	if h.arrived > 0 {
		f.Message += fmt.Sprintf("; %d of them appeared in the recording, powered on here or migrated from another host", h.arrived)
		f.Evidence = append(f.Evidence, w.Counted("of them appeared", strconv.Itoa(h.arrived), "names of VMs"))
	}
	switch half := words.Percent(w.Host.Options.Ready / 2); {
	case h.waiting > 0:
		f.Severity = finding.High
		f.Message += fmt.Sprintf("; %d of them waited for its cores", h.waiting)
		f.Evidence = append(f.Evidence, w.Counted("of them waited", strconv.Itoa(h.waiting), rule.FieldRDY))
	case len(h.names) > 0 && h.calm == len(h.names):
		f.Severity = finding.Low
		f.Message += fmt.Sprintf("; none of them ever waited for %s of its time", half)
		f.Evidence = append(f.Evidence, w.Counted("most ready time of each of them below", half, rule.FieldRDY))
	}
}

func counted(n, of int) string {
	if n == of {
		return "all " + words.Plural(n, "VM")
	}
	return fmt.Sprintf("%d of %s", n, words.Plural(of, "VM"))
}
