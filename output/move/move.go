// Package move has the answers about moving VMs to another platform: about all VMs, and a page for each VM with individual losses. Its package
// target writes the files for the platforms.
package move

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"example.org/homenode/change/move"
	"example.org/homenode/internal/keyed"
	"example.org/homenode/internal/words"
	"example.org/homenode/output/answer"
	"example.org/homenode/rules/rule"
)

// Fleet returns the answer about all moves. files returns the names of the files written for a move. folder is "" if nothing was written. p is
// the plan of their hosts; nil for none. typed is the input that the user typed, for the next command.
func Fleet(moves []*move.Move, p *Planned, folder string, files func(m *move.Move) []string, typed ...string) *answer.Answer {
	a := &answer.Answer{Command: "move", Title: "Moves", Result: func() any { return result(moves, p, files) }}
	vms, refused := map[string]bool{}, 0
	t := answer.Table{Name: "moves", Columns: answer.Columns("VM", "to", "nodes", "sockets and cores", ">carried", ">changed", ">lost", ">conditions", "files, or why there is none")}
	if p != nil {
		t.Title = "What becomes of each VM"
		t.Columns = slices.Insert(t.Columns, 2, answer.Columns(">wave", "host", "host nodes")...)
	}
	for _, m := range moves {
		vms[m.ID] = true
		written := strings.Join(files(m), ", ")
		switch {
		case m.Refused != nil:
			refused++
			written = strings.Join(m.Refused, "; ")
		}
		sizes, topology := "", ""
		if m.Shape != nil {
			sizes, topology = cells(m.Shape), m.Shape.Topology()
		}
		row := []answer.Cell{{Text: m.Title, To: answer.Object{Kind: "vm", ID: m.ID}}, {Text: m.To}, {Text: sizes}, {Text: topology}}
		if p != nil {
			host, nodes := place(p.Plan, m.ID)
			wave := ""
			if n, ok := p.Wave(m.ID); ok {
				wave = fmt.Sprint(n)
			}
			row = slices.Insert(row, 2, answer.Cell{Text: wave}, answer.Cell{Text: host}, answer.Cell{Text: nodes})
		}
		for _, kind := range []move.Kind{move.Carried, move.Changed, move.Lost} {
			row = append(row, answer.Cell{Text: fmt.Sprint(len(m.Of(kind)))})
		}
		row = append(row, answer.Cell{Text: fmt.Sprint(len(m.Needs()))})
		text := answer.Cell{Text: written}
		if m.Refused != nil {
			text.Tone = answer.Medium
		}
		t.Rows = append(t.Rows, append(row, text))
	}
	a.Tables = []answer.Table{t}
	if all, n := conditions(moves); n > 0 {
		a.Tables = append(a.Tables, all)
		a.Verdict = append(a.Verdict, fmt.Sprintf("%s only under a condition: see the table of them, and the comments of the files.", words.Verb(n, "move starts", "moves start")))
	}
	if all := common(moves); len(all.Rows) > 0 {
		a.Tables = append(a.Tables, all)
	}
	a.Verdict = append([]string{verdict(len(vms), len(moves), refused)}, append(a.Verdict, losses(moves))...)
	if p != nil {
		planned(a, p)
	}
	switch {
	case folder == "":
		a.Note("Nothing was written: -o DIR writes the files, and a page for each VM with losses of its own.")
		a.Next = []string{"homenode move " + words.Command(append(typed, "-o", "move")...)}
	default:
		a.Next = []string{"homenode assess " + words.Command(folder)}
	}
	return a
}

func verdict(vms, moves, refused int) string {
	switch {
	case moves == 0:
		return "No VM is shown that can be judged: there is nothing to move."
	case refused == 0:
		return fmt.Sprintf("%s can be moved, in %s.", words.Plural(vms, "VM"), words.Plural(moves, "move"))
	}
	return fmt.Sprintf("%d of %s of %s cannot be made as asked.", refused, words.Plural(moves, "move"), words.Plural(vms, "VM"))
}

// losses states how many VMs have individual losses, and the most frequent of these.
func losses(moves []*move.Move) string {
	vms, by := map[string]bool{}, map[string]map[string]bool{}
	for _, m := range moves {
		for _, i := range m.Own() {
			vms[m.ID] = true
			if by[i.What] == nil {
				by[i.What] = map[string]bool{}
			}
			by[i.What][m.ID] = true
		}
	}
	if len(vms) == 0 {
		return "No VM loses more than every VM does."
	}
	what := slices.SortedFunc(maps.Keys(by), func(a, b string) int { return cmp.Or(len(by[b])-len(by[a]), cmp.Compare(a, b)) })
	return fmt.Sprintf("%s more than every VM does: %s.", words.Verb(len(vms), "VM loses", "VMs lose"),
		words.Few(words.Texts(what, func(w string) string { return fmt.Sprintf("%s (%d)", w, len(by[w])) })))
}

// cells formats the nodes of a guest: "1 × 24", "2 × 12", "5 + 4".
func cells(s *move.Shape) string {
	if len(s.Cells) == 1 {
		return fmt.Sprintf("1 × %d", s.VCPUs)
	}
	return rule.SizesText(s)
}

func nodes(s *move.Shape) string {
	switch sizes := s.Sizes(); {
	case len(sizes) == 1:
		return fmt.Sprintf("one node of %d vCPUs", s.VCPUs)
	case slices.Min(sizes) == slices.Max(sizes):
		return fmt.Sprintf("%d nodes of %d vCPUs", len(sizes), sizes[0])
	}
	return fmt.Sprintf("%d nodes of %s vCPUs", len(s.Cells), rule.SizesText(s))
}

// conditions returns what has to be there before VMs start, each once, and how many moves have a condition.
func conditions(moves []*move.Move) (t answer.Table, conditional int) {
	t = answer.Table{Name: "conditions", Title: "Without this they do not start", Columns: answer.Columns("to", "needed", ">VMs", "which")}
	var vms keyed.Lists[[2]string, string]
	for _, m := range moves {
		needs := m.Needs()
		if m.Refused != nil || needs == nil {
			continue
		}
		conditional++
		for _, need := range needs {
			vms.Add([2]string{m.Platform.Title, need}, m.Title)
		}
	}
	for row, names := range vms.All() {
		t.Add(row[0], row[1], fmt.Sprint(len(names)), words.Few(names))
	}
	return t, conditional
}

// common lists the losses of all VMs, without duplicates. They are not repeated on the pages of VMs.
func common(moves []*move.Move) answer.Table {
	t := answer.Table{Name: "common", Title: "Lost by any VM", Columns: answer.Columns("to", "what", "on vSphere", "then", "why", ">VMs")}
	var vms keyed.Lists[[5]string, string]
	for _, m := range moves {
		own := m.Own()
		for _, i := range m.Of(move.Lost) {
			if slices.Contains(own, i) {
				continue
			}
			vms.Add([5]string{m.Platform.Title, i.What, i.On, i.Then, i.Why}, m.Title)
		}
	}
	for row, names := range vms.All() {
		t.Add(append(row[:], fmt.Sprint(len(names)))...)
	}
	return t
}

// needed writes a condition behind a reason; "" for none.
func needed(text string) string {
	if text == "" {
		return ""
	}
	return "it does not start without " + text
}

// A moved is a move with its files, for JSON.
type moved struct {
	*move.Move
	Files []string `json:"files,omitempty"`
}

func result(moves []*move.Move, p *Planned, files func(m *move.Move) []string) any {
	out := make([]moved, len(moves))
	for i, m := range moves {
		out[i] = moved{m, files(m)}
	}
	if p != nil {
		return map[string]any{"moves": out, "plan": planResult(p.Plan)}
	}
	return map[string]any{"moves": out}
}

// VM returns the page of one VM, with its moves to each platform.
func VM(moves []*move.Move, p *Planned, files func(m *move.Move) []string) *answer.Answer {
	first := moves[0]
	a := &answer.Answer{Command: "move", Title: "Move of " + first.Title, Result: func() any { return result(moves, nil, files) }}
	for _, m := range moves {
		to := m.Platform.Title
		if m.Refused != nil {
			a.Verdict = append(a.Verdict, fmt.Sprintf("%s cannot be moved to %s as asked: %s.", m.Title, to, strings.Join(m.Refused, "; ")))
		} else {
			a.Verdict = append(a.Verdict, fmt.Sprintf("On %s %s gets %s, %s; %s changed, %d lost.", to, m.Title, nodes(m.Shape), m.Shape.Topology(), words.Verb(len(m.Of(move.Changed)), "fact is", "facts are"), len(m.Of(move.Lost))))
		}
		t := answer.Table{Name: m.To, Title: to, Columns: answer.Columns("what", "becomes", "on vSphere", "then", "why", "read at")}
		for _, kind := range []move.Kind{move.Lost, move.Changed, move.Carried} {
			for _, i := range m.Of(kind) {
				row := []answer.Cell{{Text: i.What}, {Text: string(i.Kind)}, {Text: i.On}, {Text: i.Then}, {Text: words.Join("; ", i.Why, needed(i.Needs))}, {Text: i.From}}
				if kind == move.Lost {
					row[1].Tone = answer.Medium
				}
				t.Rows = append(t.Rows, row)
			}
		}
		a.Tables = append(a.Tables, t)
		if named := files(m); named != nil {
			a.Facts = append(a.Facts, answer.Fact{Name: m.To, Text: strings.Join(named, ", ")})
		}
	}
	a.Facts = append(placedFact(p, first), a.Facts...)
	if first.Basis != "" {
		a.Facts = append([]answer.Fact{{Name: "shape", Text: first.Basis}}, a.Facts...)
	}
	a.Note("SMBIOS strings, APIC IDs and the BIOS differ on every platform: guests and licences that are bound to them may notice.")
	return a
}
