package truth

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"example.org/homenode/internal/words"
	"example.org/homenode/measure/captures"
	"example.org/homenode/numa"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/table"
	"example.org/homenode/rules/verdict/recording"
)

// Captures returns the answer of a comparison of two captures. With details it includes VMs
// without a significant difference.
func Captures(c *captures.Comparison, details bool) *answer.Answer {
	a := &answer.Answer{Command: "compare", Format: "homenode-captures", Verdict: []string{capturesLine(c)}, Result: c,
		Facts: []answer.Fact{{Name: "A", Text: sideLine(&c.A)}, {Name: "B", Text: sideLine(&c.B)}}}
	var rows [][]table.Cell
	for _, part := range []struct {
		name, title string
		subjects    []captures.Subject
	}{{"all", "All VMs that both have, together", []captures.Subject{c.All}}, {"hosts", "Hosts, with their VMs", c.Hosts}, {"vms", "VMs", c.VMs}} {
		t := answer.Table{Name: part.name, Title: part.title, Columns: answer.Columns("name", "counter", ">A", ">B", ">difference", ">interval", "verdict")}
		hidden := 0
		for i := range part.subjects {
			s := &part.subjects[i]
			for j := range s.Counters {
				rows = append(rows, counterCells(part.name, s, &s.Counters[j]))
			}
			if part.name == "vms" && !details && (s.Verdict == captures.Same || s.Verdict == captures.None) {
				hidden++
				continue
			}
			addCounters(&t, s)
		}
		cut := fmt.Sprintf("%s not told apart or not compared: --details shows them", words.Verb(hidden, "VM is", "VMs are"))
		switch {
		case len(t.Rows) > 0 && hidden > 0:
			t.Cut = cut
		case hidden > 0:
			a.Note(cut)
		}
		if len(t.Rows) > 0 {
			a.Tables = append(a.Tables, t)
		}
	}
	a.Data = []table.Table{table.Of("counters", counterColumns, rows)}
	a.Note(fmt.Sprintf("one VM in 20 is distinguished by chance alone: about %s of %s here", byChance(float64(len(c.VMs))*(1-c.Confidence)), words.Plural(len(c.VMs), "VM")),
		"not told apart: no difference that matters could be shown with these captures, which does not prove that there is none")
	a.Note(limited(c.Notes, "notes on the captures")...)
	return a
}

// capturesLine returns the verdict in one sentence.
func capturesLine(c *captures.Comparison) string {
	s := fmt.Sprintf("B is %s", c.All.Verdict)
	switch c.All.Verdict {
	case captures.Same, captures.None:
		s = "A and B are " + string(c.All.Verdict)
	}
	if k := c.All.Deciding(); k != nil {
		s += fmt.Sprintf(": %s of %s went from %s to %s", k.Name, c.All.Name, amount(k, *k.A), amount(k, *k.B))
	}
	return s + fmt.Sprintf("; by VM %d better, %d worse, %d both, %d not told apart",
		c.Verdicts[captures.Better], c.Verdicts[captures.Worse], c.Verdicts[captures.Mixed], c.Verdicts[captures.Same]) + map[bool]string{true: fmt.Sprintf(", %d not compared", c.Verdicts[captures.None])}[c.Verdicts[captures.None] > 0]
}

func sideLine(s *captures.Side) string {
	return fmt.Sprintf("%s, %s, %s; %s covered", recording.Dated(s.First, s.Last), words.Plural(s.Hosts, "host"), words.Plural(s.VMs, "VM"), words.Duration(s.Covered))
}

// addCounters adds one row per counter. Counters without a comparison are omitted; programs get
// them.
func addCounters(t *answer.Table, s *captures.Subject) {
	name := s.Name
	for i := range s.Counters {
		k := &s.Counters[i]
		if k.Difference == nil {
			continue
		}
		between := ""
		if k.Interval != nil {
			between = changed(k, k.Low) + " … " + changed(k, k.High)
		}
		t.Add(name, k.Name, amount(k, *k.A), amount(k, *k.B), changed(k, *k.Difference), between, string(k.Verdict))
		row := t.Rows[len(t.Rows)-1]
		switch k.Verdict {
		case captures.Worse:
			row[6].Tone = answer.High
		case captures.Same:
			row[6].Tone = answer.Faint
		}
		name = ""
	}
	if name != "" {
		t.Add(name, "", "", "", "", "", string(s.Verdict))
	}
}

// counterColumns are the columns of all counters, for programs.
var counterColumns = []table.Column{
	table.Col("About", 8), table.Col("Name", 24), table.Col("Name in A", 24), table.Col("Hosts in A", 20), table.Col("Hosts in B", 20), table.Col("Verdict of all", 16),
	table.Col("Counter", 16), table.Col("Unit", 20), table.Col("A", 16), table.Col("B", 16), table.Col("Difference", 16), table.Col("From", 16), table.Col("To", 16),
	table.Col("Values A", 9), table.Col("Values B", 9), table.Col("Block A", 8), table.Col("Block B", 8), table.Col("Verdict", 16), table.Col("Why", 40),
}

func counterCells(about string, s *captures.Subject, k *captures.Counter) []table.Cell {
	value := func(v *float64) table.Cell {
		if v == nil {
			return table.Cell{}
		}
		return table.Number(*v)
	}
	var low, high table.Cell
	if k.Interval != nil {
		low, high = table.Number(k.Low), table.Number(k.High)
	}
	return []table.Cell{
		table.Text(about), table.Text(s.Name), table.Text(s.Was), table.Text(s.Hosts[0]), table.Text(s.Hosts[1]), table.Text(string(s.Verdict)),
		table.Text(k.Name), table.Text(k.Unit), value(k.A), value(k.B), value(k.Difference), low, high,
		table.Number(k.Values[0]), table.Number(k.Values[1]), table.Number(k.Blocks[0]), table.Number(k.Blocks[1]), table.Text(string(k.Verdict)), table.Text(k.Why),
	}
}

// amount formats a value of a counter with its unit.
func amount(k *captures.Counter, v float64) string {
	switch k.Unit {
	case "bytes":
		b := numa.Bytes(v)
		return (b - b%numa.MiB).String()
	case "an hour":
		return strconv.FormatFloat(v, 'f', 1, 64) + "/h"
	}
	return strconv.FormatFloat(100*v, 'f', 1, 64) + " %"
}

// changed formats a difference of a counter.
func changed(k *captures.Counter, d float64) string {
	s := amount(k, math.Abs(d))
	if !strings.ContainsAny(s, "123456789") {
		return s
	}
	return signed(s, d)
}
