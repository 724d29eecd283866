package report

import (
	"fmt"
	"slices"
	"strings"

	"homenode/finding"
	"homenode/rule"
)

// findingTable has a row for each finding, highest severity first.
func findingTable(j *judged) Table {
	return Table{
		Name: "findings", Columns: j.findingColumns(), Len: len(j.Findings),
		Rows: func(yield func([]Cell) bool) {
			for i := range j.Findings {
				if !yield(j.findingRow(&j.Findings[i])) {
					return
				}
			}
		},
	}
}

// findingColumns are those of findingRow.
func (j *judged) findingColumns() []Column {
	if j.watched {
		return slices.Concat(findingColumns, watchedColumns)
	}
	return findingColumns
}

// watchedColumns are those of a finding about what was recorded.
var watchedColumns = []Column{{"From", 22}, {"To", 22}, {"GID", 10}}

var findingColumns = []Column{
	{"Severity", 9}, {"Rule", 7}, {"Title", 44}, {"Cluster", 16}, {"Host", 20}, {"VM", 24}, {"Message", 80}, {"Advice", 80},
	{"Notice", 50}, {"On hosts", 30}, {"Assumed", 40}, {"Evidence", 60}, {"VM ID", 14}, {"Host ID", 14}, {"Read at", 40},
}

func (j *judged) findingRow(f *finding.Finding) []Cell {
	row := []Cell{
		textOf(f.Severity.String()), textOf(f.Rule), textOf(f.Title), textOf(f.Cluster), textOf(f.Host), textOf(f.VM),
		textOf(f.Message), textOf(f.Advice), textOf(f.Notice), textOf(strings.Join(f.On, ", ")), joined(f.Assumes),
		joined(evidenceTexts(f.Evidence)), textOf(f.VMID), textOf(f.HostID), textOf(j.at(f)),
	}
	if j.watched {
		row = append(row, timeOf(f.From), timeOf(f.To), gidOf(f.GID, f.VM != ""))
	}
	return row
}

// suppressedTable has a row for each finding that the configuration accepts.
func suppressedTable(j *judged) Table {
	return Table{
		Name: "suppressed", Columns: append([]Column{{"Until", 11}, {"Reason", 50}, {"Suppressed at", 24}}, j.findingColumns()...), Len: len(j.Suppressed),
		Rows: func(yield func([]Cell) bool) {
			for i := range j.Suppressed {
				s := &j.Suppressed[i]
				if !yield(append([]Cell{textOf(s.By.Until), textOf(s.By.Reason), textOf(s.By.At)}, j.findingRow(&s.Finding)...)) {
					return
				}
			}
		},
	}
}

// evidenceTexts returns "vCPUs = 32 (read: config.hardware.numCPU)" for each.
func evidenceTexts(evidence []finding.Evidence) []string {
	var out []string
	for _, e := range evidence {
		out = append(out, fmt.Sprintf("%s = %s (%s)", e.Name, e.Value, e.Origin))
	}
	return out
}

// countColumns are the findings of a VM, host or cluster in numbers.
var countColumns = []Column{{"Findings", 9}, {"High", 6}, {"Medium", 8}, {"Low", 6}, {"Info", 6}}

func counts(findings []*finding.Finding) []Cell {
	var n [finding.High + 1]int
	for _, f := range findings {
		n[f.Severity]++
	}
	return []Cell{numberOf(len(findings)), numberOf(n[finding.High]), numberOf(n[finding.Medium]), numberOf(n[finding.Low]), numberOf(n[finding.Info])}
}

// saidColumns are the findings of a VM or host in words.
var saidColumns = []Column{{"Worst", 8}, {"Rules", 18}, {"Advice", 80}, {"Assumed", 40}}

// said sums up findings, which come highest severity first.
func said(findings []*finding.Finding) []Cell {
	worst, ids, advice, assumed := "", []string{}, []string{}, []string{}
	add := func(list []string, s string) []string {
		if s == "" || slices.Contains(list, s) {
			return list
		}
		return append(list, s)
	}
	for _, f := range findings {
		if worst == "" {
			worst = f.Severity.String()
		}
		ids, advice = add(ids, f.Rule), add(advice, f.Advice)
		for _, a := range f.Assumes {
			assumed = add(assumed, a)
		}
	}
	return []Cell{textOf(worst), textOf(strings.Join(ids, ", ")), textOf(strings.Join(advice, " ")), joined(assumed)}
}

// ruleTable has a row for each rule, also those that found nothing: that is an
// answer too.
func ruleTable(j *judged) Table {
	by := map[string][]*finding.Finding{}
	for i := range j.Findings {
		f := &j.Findings[i]
		by[f.Rule] = append(by[f.Rule], f)
	}
	return Table{
		Name: "rules",
		Columns: slices.Concat([]Column{{"Rule", 7}, {"Name", 20}, {"Title", 60}, {"About", 7}, {"Severity up to", 14}}, countColumns,
			[]Column{{"Why", 80}, {"Fix", 80}, {"When it is wrong", 80}, {"Rule book", 18}, {"Sources", 80}}),
		Len: len(j.rules),
		Rows: func(yield func([]Cell) bool) {
			for _, one := range j.rules {
				if !yield(slices.Concat(
					[]Cell{textOf(one.ID), textOf(one.Name), textOf(one.Title), textOf(aboutOf(one)), textOf(one.Severity.String())},
					counts(by[one.ID]),
					[]Cell{textOf(one.Why), textOf(one.Fix), textOf(one.Limits), textOf(strings.Join(one.Book, ", ")), joined(one.Sources)},
				)) {
					return
				}
			}
		},
	}
}

// aboutOf says what the rule judges.
func aboutOf(one *rule.Rule) string {
	if one.VMs {
		return "VM"
	}
	return "host"
}

// noteTable has a row for each note of the source and of the judgement.
func noteTable(j *judged) Table {
	return Table{
		Name:    "notes",
		Columns: []Column{{"From", 13}, {"Read at", 50}, {"Note", 100}},
		Len:     len(j.notes()),
		Rows: func(yield func([]Cell) bool) {
			for _, part := range j.open {
				for _, n := range part.list {
					if !yield([]Cell{textOf(part.from), textOf(n.At), textOf(n.Text)}) {
						return
					}
				}
			}
		},
	}
}

// aboutTable says what the other tables are about.
func aboutTable(x *index, j *judged, version string) Table {
	verdict, rest := verdictOf(x.Result)
	row := func(name string, c Cell) []Cell { return []Cell{textOf(name), c} }
	rows := [][]Cell{
		row("Verdict", textOf(strings.TrimSpace(verdict+" "+rest))),
		row("Source", textOf(x.Fleet.Source)), row("Collected", textOf(x.Fleet.Collected)), row("homenode", textOf(version)),
		row("Clusters", numberOf(len(x.Fleet.Clusters))), row("Hosts", numberOf(len(x.Fleet.Hosts))), row("VMs", numberOf(len(x.Fleet.VMs))),
		row("VMs judged", numberOf(x.VMs)), row("Templates, not judged", numberOf(x.Templates)), row("Predictions (VM × host)", numberOf(x.Pairs)),
		row("Findings", numberOf(len(x.Findings))), row("Findings suppressed", numberOf(len(x.Suppressed))), row("Notes", numberOf(len(j.notes()))),
	}
	return tableOf("about", []Column{{"What", 26}, {"Value", 80}}, rows)
}

// tableOf returns a table of rows that are few.
func tableOf(name string, columns []Column, rows [][]Cell) Table {
	return Table{Name: name, Columns: columns, Len: len(rows), Rows: slices.Values(rows)}
}
