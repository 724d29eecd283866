// Package memorystate finds hosts that were short of memory.
package memorystate

import (
	"fmt"
	"time"

	"homenode/capture"
	"homenode/numa"
	"homenode/rules/finding"
	"homenode/rules/rule"
)

// Rule is M012.
var Rule = &rule.Rule{
	ID:    "M012",
	Name:  "memorystate",
	Title: "the host was short of memory: its memory state was below high",
	Why: `Below high ESXi breaks large pages into small ones, so that page sharing can begin; then it balloons (soft),
compresses and swaps (hard), and stops allocations (low). For NUMA it means that no node has room: new memory goes where a
page is free and not where the VM is, the balancer cannot bring memory home, and small pages cost page walks. Pages are
shared inside a node only, so the same page stays once on each node.`,
	Fix: `Take memory away from the host: move VMs to others, give VMs less, or power off what nobody uses. Large pages that
were broken come back slowly.`,
	Limits: `The state is that of the whole host: one node can be full while the host is high (M008, H007). The
state called clear exists from 6.0 on; there high ends at 4 × minFree already, and a host that is planned full is clear all
day: low only. Before 6.0 high ends at minFree.`,
	Book: []string{"C-15", "C-21", "C-22", "C-23"},
	Sources: []string{
		"Epping, What happens at which vSphere memory state?, 2015, http://www.yellow-bricks.com/2015/03/02/what-happens-at-which-vsphere-memory-state/",
		"vSphere 6: ESXi memory states and reclamation techniques, https://www.running-system.com/vsphere-6-esxi-memory-states-and-reclamation-techniques/",
	},
	Severity: finding.High,
	Thresholds: []rule.Threshold{{
		Name: "minutes", Default: 5, Unit: rule.Minutes, Least: 0, Most: 1440,
		Text: "time in the state, or a worse one, in all: a power-on takes the host there for seconds",
	}},
	Watch:  watch,
	Needs:  []string{"Kernel State"},
	Beside: true,
}

// severities by state: clear only prepares, ballooning costs, swapping breaks.
var severities = map[numa.MemoryState]finding.Severity{
	numa.Clear: finding.Low, numa.Soft: finding.Medium, numa.Hard: finding.High, numa.Low: finding.High,
}

func watch(w *rule.Watch) {
	rec := w.Host
	if !rec.HasStates {
		return
	}
	least := time.Duration(w.Threshold("minutes") * float64(time.Minute))
	state, spent := worst(rec, least)
	if state == numa.High {
		return
	}
	f := finding.Finding{
		From: rec.Short.Longest.From, To: rec.Short.Longest.To,
		Severity: severities[state],
		Message:  fmt.Sprintf("the memory state was %s%s for %s in all", state, orWorse(rec, state), rule.Duration(spent)),
		Evidence: []finding.Evidence{
			w.Limit("minutes", rule.Duration(least)),
			w.Counted("time in that state", rule.Duration(spent), rule.FieldState),
		},
		Moves:  true,
		Advice: "Move VMs with memory to other hosts before their NUMA nodes are looked at: without free memory no placement keeps it local",
	}
	if s := &rec.Short.Longest; rec.Short.Count > 1 || s.Length() != spent {
		f.Message += fmt.Sprintf("; the longest time below high was %s", w.Span(s))
		f.Evidence = append(f.Evidence, rule.Saw("longest below high", rule.Duration(s.Length()), rule.FieldState, s.From))
	} else {
		f.Message += ", " + w.Span(s)
	}
	if rec.MinFree > 0 {
		f.Message += fmt.Sprintf("; minFree is %s", rec.MinFree)
		f.Evidence = append(f.Evidence, rule.Saw("minFree", rec.MinFree.String(), rule.FieldMinFree, rec.Last))
	}
	for i := range rec.Nodes {
		n := &rec.Nodes[i]
		if n.Least < 0 {
			continue
		}
		f.Message += fmt.Sprintf("; node %d had %s free at the least", n.ID, n.Least)
		f.Evidence = append(f.Evidence, rule.Saw(fmt.Sprintf("least free on node %d", n.ID), n.Least.String(), rule.FieldFree, n.LeastAt))
	}
	if state > numa.Clear {
		f.Advice += "; low N%L after this comes home once there is room"
	}
	w.Report(f)
}

// worst returns the worst state that the host was in, or below, for this long, and how
// long; High when there is none.
func worst(rec *capture.Recording, least time.Duration) (numa.MemoryState, time.Duration) {
	var spent time.Duration
	for s := numa.Low; s > numa.High; s-- {
		if spent += rec.States[s]; spent > 0 && spent >= least {
			return s, spent
		}
	}
	return numa.High, 0
}

// orWorse says whether part of the time was in a worse state.
func orWorse(rec *capture.Recording, state numa.MemoryState) string {
	for s := state + 1; s <= numa.Low; s++ {
		if rec.States[s] > 0 {
			return " or worse"
		}
	}
	return ""
}
