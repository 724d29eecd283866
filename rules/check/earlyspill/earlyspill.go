// Package earlyspill finds VMs whose new memory was allocated on another node while their own
// had gigabytes free.
package earlyspill

import (
	_ "embed"
	"fmt"
	"strconv"
	"time"

	"example.org/homenode/capture"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

//go:embed earlyspill.md
var page string

// Rule is M008.
var Rule = rule.New(page, rule.Rule{Severity: finding.Medium, VMs: true, Watch: watch, Needs: []string{"Numa Home Nodes", "Numa Local Memory MBytes", "Numa Node Free MBytes"}})

func watch(w *rule.Watch) {
	v := w.VM
	p := &v.Spilled
	if v.Spill.Count == 0 || p.Grown <= 0 {
		return
	}
	s := spellAt(&v.Spill, p.Time)
	if s == nil {
		s = &capture.Spell{From: p.Time, To: p.Time}
	}
	f := finding.Finding{
		From: s.From, To: s.To,
		Severity: finding.Low,
		Message:  fmt.Sprintf("%s of new memory went to other nodes at %s while home node %d had %s free before", p.Grown, words.Moment(p.Time), p.Node, p.Free),
		Evidence: []finding.Evidence{
			w.Limit("free", w.Host.Options.SpillFree.String()),
			rule.Saw("new memory that went remote", p.Grown.String(), rule.FieldNRMEM, p.Time),
			rule.Saw(fmt.Sprintf("free on node %d before", p.Node), p.Free.String(), rule.FieldFree, p.Time),
		},
	}
	keep := reserve(w, &f)
	if v.Spill.Ticks > 1 {
		f.Message += fmt.Sprintf("; %d of %s were like this", v.Spill.Ticks, words.Plural(v.Ticks, "tick"))
		f.Evidence = append(f.Evidence, w.Counted("ticks with new memory that went remote", strconv.Itoa(v.Spill.Ticks), rule.FieldNRMEM))
	}
	most := p.Remote
	if far := spellAt(&v.Far, s.To); far != nil {
		most = max(most, numa.Bytes(far.Worst))
	}
	f.Message += fmt.Sprintf("; up to %s were remote then", most)
	f.Evidence = append(f.Evidence, rule.Saw("most remote memory of all that is judged", v.Remote.Most.String(), rule.FieldNRMEM, v.Remote.At))
	if v.Remote.Most >= w.Host.Options.Remote {
		f.Severity = finding.Medium
	}
	f.Advice = "Find out what binds its memory to other nodes: numa.nodeAffinity (N025), memory affinity (N023)"
	if keep != "" {
		f.Advice = fmt.Sprintf("Keep %s before the VM allocates its memory: move another VM away first. The memory that is remote now migrates home under load; %s", keep, rule.PlaceAgain)
	}
	w.Report(f)
}

// spellAt returns the longest or the last spell if it contains the time; nil if neither does.
func spellAt(all *capture.Spells, at time.Time) *capture.Spell {
	for _, s := range []*capture.Spell{&all.Longest, &all.Last} {
		if !at.Before(s.From) && !at.After(s.To) {
			return s
		}
	}
	return nil
}

// reserve compares the free memory with the host's reserve, and returns the amount to keep
// free, as text; empty if that was free.
func reserve(w *rule.Watch, f *finding.Finding) (keep string) {
	k := w.Reserve()
	if !k.Known {
		return "12 to 15 GB free on each node, as in the experiment,"
	}
	f.Evidence = append(f.Evidence, k.Evidence)
	f.Assumes = append(f.Assumes, k.Assumes...)
	if w.VM.Spilled.Free >= k.Bytes {
		f.Message += fmt.Sprintf(", more than the %s %s: something else sent it there, unless the node fell below that in between", k.Bytes, rule.Keeps)
		return ""
	}
	f.Message += fmt.Sprintf(", less than the %s %s", k.Bytes, rule.Keeps)
	return k.Bytes.String() + " free on each node"
}
