package measure

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"homenode/internal/words"
	"homenode/measure/own"
	"homenode/output/answer"
)

// Own returns the answer that compares the user's own VMs with the prediction.
func Own(s *own.Score) *answer.Answer {
	verdict := fmt.Sprintf("of %s the topology of %d was seen: %d agree with the prediction, %d differ for a known reason, %d without",
		words.Plural(s.VMs, "VM"), s.All.Seen, s.All.Agree, s.All.Explained, s.All.Unexplained)
	if s.All.Seen == 0 {
		verdict = fmt.Sprintf("of %s no topology was seen: nothing can be said of the prediction", words.Plural(s.VMs, "VM"))
	}
	a := &answer.Answer{Command: "validate", Format: "homenode-own-validation", Result: s, Verdict: []string{verdict}}
	for _, t := range []struct {
		name, title, first string
		groups             []own.Group
	}{
		{"releases", "By release of the host", "release", s.Releases},
		{"hardware", "By virtual hardware", "hardware", s.Hardware},
		{"rules", "By statement of the rule book that decided (a VM counts for each)", "rule", s.Rules},
		{"observers", "By what saw it (a VM counts for each)", "seen by", s.Observers},
	} {
		one := answer.Table{Name: t.name, Title: t.title, Columns: answer.Columns(t.first, ">VMs seen", ">agree", ">differ, explained", ">unexplained")}
		for _, g := range t.groups {
			one.Add(g.Name, strconv.Itoa(g.Seen), strconv.Itoa(g.Agree), strconv.Itoa(g.Explained), strconv.Itoa(g.Unexplained))
		}
		if len(one.Rows) > 0 {
			a.Tables = append(a.Tables, one)
		}
	}
	if len(s.Differences) > 0 {
		t := answer.Table{Name: "differences", Title: "Differences", Columns: answer.Columns("VM", "seen by", "what", "predicted", "observed"),
			Plain: &answer.Table{Columns: answer.Columns("VM", "host", "seen by", "what", "predicted", "observed", "at", "reason")}}
		for i := range s.Differences {
			d := &s.Differences[i]
			reason := cmp.Or(strings.Join(d.Reasons, "; or "), "not explained")
			t.Add(d.VM, d.By, d.Name, d.Predicted, d.Observed)
			t.Plain.Add(d.VM, d.Host, d.By, d.Name, d.Predicted, d.Observed, d.At, reason)
			if len(d.Reasons) == 0 {
				t.Rows[i][0].Tone = answer.Medium
			}
			if foot := d.VM + ", " + d.By + ": " + reason; len(t.Foot) == 0 || t.Foot[len(t.Foot)-1] != foot {
				t.Foot = append(t.Foot, foot)
			}
		}
		a.Tables = append(a.Tables, t)
	}
	if s.All.Agree > 0 {
		a.Note(fmt.Sprintf("%d of the %d that agree have no stored size: of the others it is an input of the prediction of a power cycle, and only the row \"%s\" compares it with a prediction that does not know it",
			s.Sure, s.All.Agree, own.StoredSize))
	}
	open := words.Texts(s.Open, func(o own.Open) string { return fmt.Sprintf("%s, %s, was not compared: %s", o.VM, o.By, o.Why) })
	a.Note(limited(open, "observations that were not compared")...)
	return a
}
