// Package flapping finds VMs that were repeatedly moved between home nodes and back.
package flapping

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"time"

	"example.org/homenode/capture"
	"example.org/homenode/internal/words"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

//go:embed flapping.md
var page string

// Rule is M002.
var Rule = rule.New(page, rule.Rule{Severity: finding.Medium, VMs: true, Watch: watch, Needs: []string{"Numa Home Nodes"}})

func watch(w *rule.Watch) {
	v := w.VM
	if w.MoveStorm() {
		return
	}
	f := finding.Finding{Severity: finding.Low}
	switch returns := int64(w.Threshold("returns")); {
	case v.Returns.Most >= returns:
		often(w, &f)
	case seldomLooked(w) && v.Returns.Total >= returns && 3*v.Returns.Total >= int64(v.Ticks):
		always(w, &f)
	default:
		return
	}
	f.Evidence = append(f.Evidence, w.Counted("changes of home nodes", strconv.FormatInt(v.Changed.Total, 10), rule.FieldNHN))
	f.Advice = "Look what moves it (sched-stats -t numa-migration): for load, move another VM off the host; for locality, set " +
		rule.ActionAffinity + " = 0 on the host (M003)"
	if least, ok := rule.LeastLocality(v, f.From, f.To); ok && least < w.Host.Options.Locality {
		f.Severity = finding.Medium
		f.Message += fmt.Sprintf("; N%%L fell to %s meanwhile", rule.NL(least))
		f.Evidence = append(f.Evidence, rule.Saw("least N%L of that time", rule.NL(least), rule.FieldBoth, f.From))
	}
	w.Report(f)
}

// often describes the window with most returns.
func often(w *rule.Watch, f *finding.Finding) {
	v := w.VM
	f.From, f.To = w.Window(&v.Returns)
	f.Message = fmt.Sprintf("the home changed back to where it was before %d times in %s from %s, %s; %s in all",
		v.Returns.Most, words.Duration(f.To.Sub(f.From)), words.Moment(f.From), among(v), changes(v))
	f.Evidence = []finding.Evidence{
		w.Limit("returns", strconv.Itoa(int(w.Threshold("returns")))),
		w.Limit("window", words.Duration(w.Host.Options.Window)),
		rule.Saw("returns in the window", strconv.FormatInt(v.Returns.Most, 10), rule.FieldNHN, f.From),
	}
}

// changes formats the number of home changes, and the number of migrations in NMIG if that is smaller, because NMIG does not count each
// change.
func changes(v *capture.VM) string {
	text := words.Plural(int(v.Changed.Total), "change")
	if v.HasMoves && v.Migrated.Total < v.Changed.Total {
		return fmt.Sprintf("%s (NMIG counted %d)", text, v.Migrated.Total)
	}
	return text
}

// seldomLooked reports whether a window has too few ticks for as many returns.
func seldomLooked(w *rule.Watch) bool {
	between := w.Between()
	return between > 0 && float64(w.Host.Options.Window/between) < w.Threshold("returns")
}

// always describes a VM that was back on the previous nodes at every third tick or more often.
func always(w *rule.Watch, f *finding.Finding) {
	v := w.VM
	f.From, f.To = v.First, v.Last
	f.Message = fmt.Sprintf("the home had changed back to where it was before at %d of %s, %s apart, %s; %s in all, and maybe more between them",
		v.Returns.Total, words.Plural(v.Ticks, "tick"), words.Duration(w.Between().Round(time.Second)), among(v), words.Plural(int(v.Changed.Total), "change"))
	f.Evidence = []finding.Evidence{
		w.Limit("returns", strconv.Itoa(int(w.Threshold("returns")))),
		w.Counted("ticks that found it back", fmt.Sprintf("%d of %d", v.Returns.Total, v.Ticks), rule.FieldNHN),
	}
	f.Assumes = []string{"it moves between two ticks too: they are too far apart to see it"}
}

// among names the sets of home nodes that the VM had, the longest first.
func among(v *capture.VM) string {
	homes := slices.Clone(v.Homes)
	slices.SortStableFunc(homes, func(a, b capture.HomeTime) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Homes, b.Homes))
	})
	var names []string
	for _, h := range homes {
		if h.Homes != 0 {
			names = append(names, rule.Nodes(h.Homes))
		}
	}
	if len(names) == 2 {
		return "between " + words.List(names)
	}
	return "among " + words.List(names)
}
