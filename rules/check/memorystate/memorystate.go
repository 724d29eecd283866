// Package memorystate finds hosts that were short of memory.
package memorystate

import (
	_ "embed"
	"fmt"
	"time"

	"example.org/homenode/capture"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

//go:embed memorystate.md
var page string

// Rule is M012.
var Rule = rule.New(page, rule.Rule{Severity: finding.High, Watch: watch, Needs: []string{"Kernel State"}, Beside: true})

// severities by state: clear only prepares, ballooning costs performance, swapping is severe.
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
		Bad:      fmt.Sprintf("the memory state was %s%s for %s", state, orWorse(rec, state), words.Duration(spent)),
		Message:  fmt.Sprintf("the memory state was %s%s for %s in all", state, orWorse(rec, state), words.Duration(spent)),
		Evidence: []finding.Evidence{
			w.Limit("minutes", words.Duration(least)),
			w.Counted("time in that state", words.Duration(spent), rule.FieldState),
		},
		Advice: "Move VMs with memory to other hosts before their NUMA nodes are looked at: without free memory no placement keeps it local",
	}
	if s := &rec.Short.Longest; rec.Short.Count > 1 || s.Length() != spent {
		f.Message += fmt.Sprintf("; the longest time below high was %s", w.Span(s))
		f.Evidence = append(f.Evidence, rule.Saw("longest below high", words.Duration(s.Length()), rule.FieldState, s.From))
	} else {
		f.Message += ", " + w.Span(s)
	}
	if rec.MinFree > 0 {
		f.Message += fmt.Sprintf("; minFree is %s", rec.MinFree)
		f.Evidence = append(f.Evidence, rule.Saw("minFree", rec.MinFree.String(), rule.FieldMinFree, rec.Last))
	}
	fullest := numa.Bytes(-1)
	for i := range rec.Nodes {
		n := &rec.Nodes[i]
		if n.Least < 0 {
			continue
		}
		f.Message += fmt.Sprintf("; node %d had %s free at worst", n.ID, n.Least)
		if within := !n.LeastAt.Before(f.From) && !n.LeastAt.After(f.To); within && (fullest < 0 || n.Least < fullest) {
			fullest, f.Because = n.Least, []string{fmt.Sprintf("node %d had %s free at %s", n.ID, n.Least, n.LeastAt.UTC().Format("15:04"))}
		}
		f.Evidence = append(f.Evidence, rule.Saw(fmt.Sprintf("least free on node %d", n.ID), n.Least.String(), rule.FieldFree, n.LeastAt))
	}
	if state > numa.Clear {
		f.Advice += "; low N%L after this comes home once there is room"
	}
	w.Report(f)
}

// worst returns the worst state in which, or below which, the host was for at least this time,
// and the duration; High if there is none.
func worst(rec *capture.Recording, least time.Duration) (numa.MemoryState, time.Duration) {
	var spent time.Duration
	for s := numa.Low; s > numa.High; s-- {
		if spent += rec.States[s]; spent > 0 && spent >= least {
			return s, spent
		}
	}
	return numa.High, 0
}

// orWorse reports whether part of the time was in a worse state.
func orWorse(rec *capture.Recording, state numa.MemoryState) string {
	for s := state + 1; s <= numa.Low; s++ {
		if rec.States[s] > 0 {
			return " or worse"
		}
	}
	return ""
}
