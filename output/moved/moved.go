// Package moved has the Answer of a comparison of VMs before and after a migration to KVM.
package moved

import (
	"fmt"
	"strings"

	"example.org/homenode/change/moved"
	"example.org/homenode/internal/words"
	"example.org/homenode/output/answer"
	"example.org/homenode/rules/rule"
)

// mostSentences is the maximum number of VMs with a sentence of their own.
const mostSentences = 5

// Moved returns the answer about the layouts of VMs after a migration to KVM.
func Moved(r *moved.Report) *answer.Answer {
	a := &answer.Answer{Command: "compare", Format: "homenode-moved", Version: 1, Title: r.Before + " beside " + r.After, Result: r,
		Verdict: []string{movedVerdict(r)},
		Facts:   []answer.Fact{{Name: "before", Text: r.Before + " · " + r.From}, {Name: "after", Text: r.After + " · KVM"}}}
	t := answer.Table{Name: "moved", Columns: answer.Columns("VM", "before", "after", "sockets before", "sockets after", ">memory before", ">memory after", ">remote before", ">remote after", "verdict")}
	for i := range r.VMs {
		v := &r.VMs[i]
		t.Add(v.Name, nodesOf(&v.Before), nodesOf(&v.After), v.Before.Shape.Topology(), v.After.Shape.Topology(), v.Before.Shape.Memory.String(), v.After.Shape.Memory.String(),
			remote(&v.Before), remote(&v.After), string(v.Verdict))
		switch v.Verdict {
		case moved.Lost:
			t.Rows[i][9].Tone = answer.High
		case moved.Same:
			t.Rows[i][9].Tone = answer.Faint
		}
	}
	a.Tables = []answer.Table{t}
	for i := range r.VMs {
		if i == mostSentences {
			break
		}
		a.Note(sentence(r, &r.VMs[i]))
	}
	for side, names := range r.Only {
		if len(names) > 0 {
			a.Note(fmt.Sprintf("only %s: %s", []string{"before", "after"}[side], words.First(8, names)))
		}
	}
	a.Note(r.Notes...)
	return a
}

func movedVerdict(r *moved.Report) string {
	count := map[moved.Verdict]int{}
	for i := range r.VMs {
		count[r.VMs[i].Verdict]++
	}
	if len(r.VMs) == 0 {
		return "No VM is on both sides."
	}
	var parts []string
	for _, v := range []moved.Verdict{moved.Lost, moved.Other, moved.Socket} {
		if n := count[v]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d with %s", n, map[moved.Verdict]string{moved.Lost: "fewer nodes", moved.Other: "other nodes", moved.Socket: "the same nodes and other sockets or cores"}[v]))
		}
	}
	text := fmt.Sprintf("Of %s on both sides %s the same layout", words.Plural(len(r.VMs), "VM"), words.Verb(count[moved.Same], "has", "have"))
	if parts != nil {
		text += "; " + strings.Join(parts, ", ")
	}
	return text + "."
}

// sentence describes one VM: "sql01 had 2 × 12 on vSphere and has 2 × 12 here; 3 % of its memory is remote".
func sentence(r *moved.Report, v *moved.VM) string {
	text := fmt.Sprintf("%s had %s on %s (%s) and has %s here", v.Name, nodesOf(&v.Before), r.From, v.Before.Basis, nodesOf(&v.After))
	if v.After.Remote != nil {
		text += fmt.Sprintf("; %s of its memory is remote", words.Percent(*v.After.Remote))
	}
	return text
}

// nodesOf formats the nodes of a guest: "2 × 12", or "1 node of 8".
func nodesOf(s *moved.Side) string {
	if len(s.Shape.Cells) == 1 {
		return fmt.Sprintf("1 node of %d", len(s.Shape.Cells[0].CPUs))
	}
	return rule.SizesText(s.Shape)
}

func remote(s *moved.Side) string {
	if s.Remote == nil {
		return "unknown"
	}
	return words.Percent(*s.Remote)
}
