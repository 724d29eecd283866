// Package onebusynode finds hosts with all load on one NUMA node while another idles.
package onebusynode

import (
	"fmt"
	"strconv"

	"homenode/capture"
	"homenode/finding"
	"homenode/numa"
	"homenode/rule"
)

// Rule is M004.
var Rule = &rule.Rule{
	ID:    "M004",
	Name:  "onebusynode",
	Title: "one NUMA node was overloaded while another idled",
	Why: `A client runs on its home node alone, so the VMs of the busy node wait for its cores while those of the
other do nothing. The balancer should move one within seconds. KB 430776 (8.x, 9.0): VMs powered on within a short
time may all be placed on one node, and beside latency-sensitive VMs, whose demand is underestimated, nothing moves
away. KB 309217 (ESX 4.1 before U2): a wave of vMotions lands on the node with most free memory and stays there while the
host is lightly loaded. Action affinity gathers VMs that communicate (KB 314059).`,
	Fix: `At once: power-cycle a VM of the busy node, or move it to another host and back. For good: the option or
update that the finding names for the release.`,
	Limits: `A client is never divided: one VM alone that fills its node cannot be helped by the other, and is not told of.
VMs that share data may do better together on one node: compare their ready time. Which VMs were homed on the
node is taken from the time of the most uneven tick. Node affinity (numa.nodeAffinity) set by hand does the same, and
is meant.`,
	Book: []string{"C-3", "C-4", "C-7", "C-9", "C-11"},
	Sources: []string{
		"Broadcom KB 430776, VMs crashing or failing to boot due to flaws in the NUMA scheduler, https://knowledge.broadcom.com/external/article/430776",
		"Broadcom KB 309217 (old 2000740), https://knowledge.broadcom.com/external/article/309217",
		"Broadcom KB 314059 (old 2097369), https://knowledge.broadcom.com/external/article/314059",
		"esx-doctor, https://github.com/haoyifan/esx-doctor (80 and 20 %, for 6 samples)",
	},
	Severity: finding.High,
	Thresholds: []rule.Threshold{{
		Name: "busy", Default: 0.80, Unit: rule.Share, Least: 0.5, Most: 2,
		Text: "share of a node's cores in use from which it is overloaded, for M009 too: 80 %, as esx-doctor has it; at 90 % ESXi stops moving clients there (CoreCapRatioPct)",
	}, {
		Name: "idle", Default: 0.20, Unit: rule.Share, Least: 0, Most: 0.49,
		Text: "share up to which a node idles, for M009 too: 20 %, as esx-doctor has it; ESXi acts on an imbalance of 10 % already (MigImbalanceThreshold)",
	}, {
		Name: "minutes", Default: 5, Unit: rule.Minutes, Least: 0, Most: 1440,
		Text: "how long without a break: the balancer acts every 2 to 6 seconds (C-9), so minutes are not its normal work",
	}},
	Watch: watch,
}

func watch(w *rule.Watch) {
	rec := w.Host
	s := &rec.Imbalance.Longest
	if rec.Imbalance.Count == 0 || s.Length().Minutes() < w.Threshold("minutes") {
		return
	}
	at := &rec.At
	there := homed(w, at)
	if there.known > 0 && len(there.names) == 1 && there.waiting == 0 {
		return // one client: it cannot be divided
	}
	busy, idle := rule.Percent(rec.Options.BusyNode), rule.Percent(rec.Options.IdleNode)
	f := finding.Finding{
		From: s.From, To: s.To,
		Severity: finding.Medium,
		Message: fmt.Sprintf("a node was %s busy or more while another was %s or less for %s, %s: node %d %s and node %d %s at %s",
			busy, idle, rule.Duration(s.Length()), w.Span(s), at.Busiest, rule.Percent(at.Busy), at.Idlest, rule.Percent(at.Idle), rule.Moment(at.Time)),
		Evidence: []finding.Evidence{
			w.Limit("busy", busy), w.Limit("idle", idle),
			rule.Saw("uneven for", rule.Duration(s.Length()), rule.FieldNode, s.From),
			rule.Saw(fmt.Sprintf("load of node %d", at.Busiest), rule.Percent(at.Busy), rule.FieldNode, at.Time),
			rule.Saw(fmt.Sprintf("load of node %d", at.Idlest), rule.Percent(at.Idle), rule.FieldNode, at.Time),
		},
		Moves: true,
	}
	switch {
	case there.known == 0:
		f.Assumes = append(f.Assumes, "several VMs are homed on the busy node: the capture states no home nodes")
	case len(there.names) == 0:
		f.Message += fmt.Sprintf("; no VM was homed on node %d alone", at.Busiest)
	default:
		f.Message += fmt.Sprintf("; %s were homed on node %d alone: %s", counted(len(there.names), there.known), at.Busiest, rule.List(there.names))
		f.Evidence = append(f.Evidence, rule.Saw(fmt.Sprintf("VMs homed on node %d alone", at.Busiest), strconv.Itoa(len(there.names)), rule.FieldNHN, at.Time))
	}
	if there.arrived > 0 {
		f.Message += fmt.Sprintf("; %d of them appeared in the recording, by power-on or vMotion", there.arrived)
		f.Evidence = append(f.Evidence, w.Counted("of them appeared", strconv.Itoa(there.arrived), "names of VMs"))
	}
	if there.waiting > 0 {
		f.Severity = finding.High
		f.Message += fmt.Sprintf("; %d of them waited for its cores", there.waiting)
		f.Evidence = append(f.Evidence, w.Counted("of them waited", strconv.Itoa(there.waiting), rule.FieldRDY))
	}
	f.Evidence = append(f.Evidence, w.ReleaseEvidence())
	f.Advice = advice(w, &f)
	w.Report(f)
}

// home is what is known of the VMs of a node.
type home struct {
	known   int      // VMs whose home nodes are known
	names   []string // homed on the node alone
	arrived int      // of these, that came while it was recorded
	waiting int      // of these, that had ready time for as long while another node idled
}

// homed returns the VMs of a node at the most uneven moment.
func homed(w *rule.Watch, at *capture.Uneven) (h home) {
	rec, node := w.Host, at.Busiest
	for i := range rec.VMs {
		v := &rec.VMs[i]
		if v.First.After(at.Time) || v.Last.Before(at.Time) {
			continue
		}
		set, ok := rule.HomesAt(v, at.Time)
		if !ok {
			set, _, ok = rule.Homes(v)
		}
		if !ok || set == 0 {
			continue
		}
		h.known++
		if set != numa.SetOf(node) {
			continue
		}
		h.names = append(h.names, v.Name)
		if v.Appeared {
			h.arrived++
		}
		if v.Starved.Count > 0 && v.Starved.Longest.Length().Minutes() >= w.Threshold("minutes") {
			h.waiting++
		}
	}
	return h
}

func counted(n, of int) string {
	if n == of {
		return "all " + rule.Plural(n, "VM")
	}
	return fmt.Sprintf("%d of %s", n, rule.Plural(of, "VM"))
}

// The releases of KB 430776: the fix is announced for a 9.x release.
var (
	esxi91 = numa.NewRelease(9, 1, 0)
	esxi10 = numa.NewRelease(10, 0, 0)
)

// advice names the fault that the release is known for.
func advice(w *rule.Watch, f *finding.Finding) string {
	const (
		burst = "KB 430776: VMs powered on together may all be placed on one node; set Numa.InitialPlacementLoadThreshold = 100 on the host"
		wave  = "KB 309217: VMs that arrive one after another may all be placed on one node; update to 4.1 U2 or later"
	)
	var parts []string
	switch r := w.Release(); {
	case r == 0:
		f.Assumes = append(f.Assumes, "the release of the host is unknown: which fault it has is open")
		parts = append(parts, "On 8.x and 9.0 "+burst+". On ESX 4.1 "+wave)
	case r >= numa.ESXi80 && r < esxi91:
		parts = append(parts, burst)
	case r >= esxi91 && r < esxi10:
		parts = append(parts, burst)
		f.Assumes = append(f.Assumes, fmt.Sprintf("which release has the fix of KB 430776 is not published: %s may have it", r))
	case r >= numa.ESX41 && r < numa.ESX41+2:
		parts = append(parts, wave)
	}
	if a := w.Affinity(); a.Known && a.On {
		parts = append(parts, "VMs that communicate are gathered on purpose (KB 314059): where that costs more than it gains, set "+rule.ActionAffinity+" = 0")
		f.Evidence = append(f.Evidence, a.Evidence)
		if a.Assumes != "" {
			f.Assumes = append(f.Assumes, a.Assumes)
		}
	}
	parts = append(parts, "At once: "+rule.PlaceAgain)
	text := parts[0]
	for _, p := range parts[1:] {
		text += ". " + p
	}
	return text
}
