// Package earlyspill finds VMs whose new memory went to another node while their own
// had gigabytes free.
package earlyspill

import (
	"fmt"
	"strconv"

	"homenode/rules/finding"
	"homenode/rules/rule"
)

// Rule is M008.
var Rule = &rule.Rule{
	ID:    "M008",
	Name:  "earlyspill",
	Title: "new memory went remote although the home node had gigabytes free",
	Why: `ESXi gives new memory away before the home node is full. On a node of 132,000 MB 7 GB of a VM's 100 GB
went to the other node while 12.5 GB were free, and nobody brought them back in 15 minutes; with more than 15 GB free it
did not happen. 4 × minFree of that host, where it leaves its high memory state, is 13 GB: each node seems to keep as
much back. So a VM that just fits a node by its size does not.`,
	Fix: `Plan each node with that reserve: 4 × minFree of the host, which the finding names. Before a load peak see the
free memory of the nodes and move a VM away if it is short. What is remote comes home by itself only under load; a power
cycle places the VM anew once its node has room, a reboot of the guest does not.`,
	Limits: `One experiment (ESXi 6.0) shows it; that the reserve is 4 × minFree for each node is inferred. Growth
between two ticks is looked at: memory that goes remote in steps below step is not seen, nor is it in ticks where the home
node changes. A VM bound by node affinity, or with its memory on all home nodes, spills for other reasons.`,
	Book: []string{"C-15", "C-23", "D-2"},
	Sources: []string{
		"“VMware ESXi 6.0, the effect of NUMA balancing on performance, part 2” (in Russian), 2018",
		"Epping, What happens at which vSphere memory state?, 2015, http://www.yellow-bricks.com/2015/03/02/what-happens-at-which-vsphere-memory-state/",
	},
	Severity: finding.Medium,
	Thresholds: []rule.Threshold{{
		Name: "free", Default: 12, Unit: rule.GiB, Least: 0, Most: 24576,
		Text: "free memory of every home node, before and after, from which new memory should have gone there: 12 to 15 GB were free in the experiment",
	}, {
		Name: "step", Default: 0.125, Unit: rule.GiB, Least: 0.001, Most: 24576,
		Text: "growth of remote memory between two ticks that counts: 128 MB are more than the pages that come and go between two readings",
	}},
	VMs:   true,
	Watch: watch,
	Needs: []string{"Numa Home Nodes", "Numa Local Memory MBytes", "Numa Node Free MBytes"},
}

func watch(w *rule.Watch) {
	v := w.VM
	p := &v.Spilled
	if v.Spill.Count == 0 || p.Grown <= 0 {
		return
	}
	s := &v.Spill.Longest
	f := finding.Finding{
		From: s.From, To: s.To,
		Severity: finding.Low,
		Message:  fmt.Sprintf("%s of new memory went to other nodes at %s while home node %d had %s free before", p.Grown, rule.Moment(p.Time), p.Node, p.Free),
		Evidence: []finding.Evidence{
			w.Limit("free", w.Host.Options.SpillFree.String()),
			rule.Saw("new memory that went remote", p.Grown.String(), rule.FieldNRMEM, p.Time),
			rule.Saw(fmt.Sprintf("free on node %d before", p.Node), p.Free.String(), rule.FieldFree, p.Time),
		},
	}
	keep := reserve(w, &f)
	if v.Spill.Ticks > 1 {
		f.Message += fmt.Sprintf("; %d ticks were like this", v.Spill.Ticks)
		f.Evidence = append(f.Evidence, w.Counted("ticks with new memory that went remote", strconv.Itoa(v.Spill.Ticks), rule.FieldNRMEM))
	}
	f.Message += fmt.Sprintf("; %s were remote at the most", v.Remote.Most)
	f.Evidence = append(f.Evidence, rule.Saw("most remote memory", v.Remote.Most.String(), rule.FieldNRMEM, v.Remote.At))
	if v.Remote.Most >= w.Host.Options.Remote {
		f.Severity = finding.Medium
	}
	f.Advice = "Look what binds its memory to other nodes: numa.nodeAffinity (N025), memory affinity (N023)"
	if keep != "" {
		f.Advice = fmt.Sprintf("Keep %s before the VM takes its memory: move a VM to another host first. What is remote now comes home under load; %s", keep, rule.PlaceAgain)
	}
	w.Report(f)
}

// reserve compares what was free with what the host keeps back, and returns how much to
// keep free, in words; empty when that was free.
func reserve(w *rule.Watch, f *finding.Finding) (keep string) {
	k := w.Reserve()
	if !k.Known {
		return "12 to 15 GB free on each node, as in the experiment,"
	}
	f.Evidence = append(f.Evidence, k.Evidence)
	if k.Assumes != "" {
		f.Assumes = append(f.Assumes, k.Assumes)
	}
	if w.VM.Spilled.Free >= k.Bytes {
		f.Message += fmt.Sprintf(", more than the %s at which the host leaves its high memory state: something else sent it there, unless the node fell below that in between", k.Bytes)
		return ""
	}
	f.Message += fmt.Sprintf(", less than the %s at which the host leaves its high memory state", k.Bytes)
	f.Assumes = append(f.Assumes, "a node gives memory away below the high memory state of the host: inferred from one experiment (C-15)")
	return k.Bytes.String() + " free on each node"
}
