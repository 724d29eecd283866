// Package lopsided finds VMs of several home nodes with nearly all memory on one.
package lopsided

import (
	"fmt"
	"strings"
	"time"

	"homenode/capture"
	"homenode/numa"
	"homenode/rules/finding"
	"homenode/rules/rule"
)

// Rule is M010.
var Rule = &rule.Rule{
	ID:    "M010",
	Name:  "lopsided",
	Title: "a VM of several home nodes has nearly all its memory on one",
	Why: `A wide VM runs on several nodes and should have its memory there in equal parts. When one of them
is short of memory at power-on, all of it may land on the other: in an experiment a VM of 24 vCPUs got 16 GB on
node 0 and none on node 1, and reached half the throughput of the even spread. N%L reads 100 all the while, since both
are home nodes.`,
	Fix: `Power the VM off and on while all its nodes have room; a reboot of the guest changes nothing, and a power
cycle on a full host not either: first move a VM to another host. Load alone shifted little in hours.`,
	Limits: `A guest that has touched little memory, or whose work runs on one of its nodes, looks the same: see the
memory inside the guest (numastat). VMs with less memory on nodes than M010.memory are left out for that. The memory on
each node (GST_NDx) has to be in the capture.`,
	Book: []string{"B-22", "C-5", "C-13", "C-17", "D-2"},
	Sources: []string{
		"“VMware ESXi 6.0, the effect of NUMA balancing on performance, part 2” (in Russian), 2018",
	},
	Severity: finding.Medium,
	Thresholds: []rule.Threshold{{
		Name: "share", Default: 0.90, Unit: rule.Share, Least: 0.51, Most: 1,
		Text: "share of the VM's memory on one of its home nodes from which it is lopsided: an even spread is 50 % or less, the experiment had 100 %, and 66 % after a first power cycle",
	}, {
		Name: "minutes", Default: 15, Unit: rule.Minutes, Least: 0, Most: 1440,
		Text: "how long without a break: a VM that starts fills its nodes one after the other; in the experiment it stayed for an hour and more",
	}, {
		Name: "memory", Default: 8, Unit: rule.GiB, Least: 0, Most: 24576,
		Text: "memory on nodes from which the spread says something: the kernel and its start-up alone need some, on the first node; the VM of the experiment had 16 GB",
	}},
	VMs:   true,
	Watch: watch,
	Needs: []string{"GST_NDx", "Numa Home Nodes"},
}

func watch(w *rule.Watch) {
	v := w.VM
	s := &v.Lopsided.Longest
	all, on := inUse(v)
	if v.Lopsided.Count == 0 || s.Length().Minutes() < w.Threshold("minutes") || float64(all) < w.Threshold("memory")*float64(numa.GiB) {
		return
	}
	limit := rule.Percent(w.Host.Options.Lopsided)
	worst := rule.Percent(s.Worst)
	f := finding.Finding{
		From: s.From, To: s.To,
		Severity: finding.Medium,
		Message: fmt.Sprintf("%s or more of its memory was on one of its home nodes for %s, %s, up to %s; at last %s",
			limit, rule.Duration(s.Length()), w.Span(s), worst, on),
		Evidence: []finding.Evidence{
			w.Limit("share", limit), w.Limit("memory", numa.Bytes(w.Threshold("memory")*float64(numa.GiB)).String()),
			rule.Saw("so for", rule.Duration(s.Length()), rule.FieldGST, s.From),
			rule.Saw("largest share on a node", worst, rule.FieldGST, s.At),
			rule.Saw("memory on nodes at last", on, rule.FieldGST, v.Last),
		},
		Assumes: []string{"the guest works on all its nodes: memory that only one of them uses belongs there"},
	}
	if v.Appeared && s.From.Sub(v.First) <= early {
		f.Message += fmt.Sprintf("; it was so since the VM appeared at %s, by power-on or vMotion", rule.Moment(v.First))
		f.Evidence = append(f.Evidence, rule.Saw("appeared", rule.Moment(v.First), "names of VMs", v.First))
	}
	room, evidence := rooms(w)
	f.Evidence = append(f.Evidence, evidence...)
	f.Advice = "Power the VM off and on while all its nodes have room for their part" + room + "; a reboot of the guest does not spread it, and a power cycle on a full host neither"
	w.Report(f)
}

// early is how long after its appearance a VM has to be lopsided to be so from the start:
// it has to take some memory first.
const early = 5 * time.Minute

// inUse returns the memory of the VM on all nodes when last stated, and where it is.
func inUse(v *capture.VM) (all numa.Bytes, on string) {
	var parts []string
	for _, m := range v.LastNode {
		all += m.Guest
		parts = append(parts, fmt.Sprintf("%s on node %d", m.Guest, m.Node))
	}
	return all, strings.Join(parts, ", ")
}

// rooms says how much its home nodes had free at last.
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
