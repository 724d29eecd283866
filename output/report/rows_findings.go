package report

import (
	"fmt"
	"slices"
	"strings"

	"homenode/output/table"
	"homenode/rules/finding"
	"homenode/rules/rule"
)

// findingTable has a row for each finding, highest severity first.
func findingTable(j *judged) table.Table {
	return table.Table{
		Name: "findings", Columns: j.findingColumns(), Len: len(j.Findings),
		Rows: func(yield func([]table.Cell) bool) {
			for i := range j.Findings {
				if !yield(j.findingRow(&j.Findings[i])) {
					return
				}
			}
		},
	}
}

// findingColumns are those of findingRow.
func (j *judged) findingColumns() []table.Column {
	if j.watched {
		return slices.Concat(findingColumns, watchedColumns)
	}
	return findingColumns
}

// watchedColumns are those of a finding about what was recorded.
var watchedColumns = []table.Column{column("From", 22), column("To", 22), column("GID", 10)}

var findingColumns = []table.Column{
	column("Severity", 9), column("Rule", 7), column("Title", 44), column("Cluster", 16), column("Host", 20), column("VM", 24), column("Message", 80), column("Advice", 80),
	column("Notice", 50), column("On hosts", 30), column("Assumed", 40), column("Evidence", 60), column("VM ID", 14), column("Host ID", 14), column("Read at", 40),
}

func (j *judged) findingRow(f *finding.Finding) []table.Cell {
	row := []table.Cell{
		table.Text(f.Severity.String()), table.Text(f.Rule), table.Text(f.Title), table.Text(f.Cluster), table.Text(f.Host), table.Text(f.VM),
		table.Text(f.Message), table.Text(f.Advice), table.Text(f.Notice), table.Text(strings.Join(f.On, ", ")), joined(f.Assumes),
		joined(evidenceTexts(f.Evidence)), table.Text(f.VMID), table.Text(f.HostID), table.Text(j.at(f)),
	}
	if j.watched {
		row = append(row, table.Time(f.From), table.Time(f.To), gidOf(f.GID, f.VM != ""))
	}
	return row
}

// suppressedTable has a row for each finding that the configuration accepts.
func suppressedTable(j *judged) table.Table {
	return table.Table{
		Name: "suppressed", Columns: append([]table.Column{column("Until", 11), column("Reason", 50), column("Suppressed at", 24)}, j.findingColumns()...), Len: len(j.Suppressed),
		Rows: func(yield func([]table.Cell) bool) {
			for i := range j.Suppressed {
				s := &j.Suppressed[i]
				if !yield(append([]table.Cell{table.Text(s.By.Until), table.Text(s.By.Reason), table.Text(s.By.At)}, j.findingRow(&s.Finding)...)) {
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
var countColumns = []table.Column{column("Findings", 9), column("High", 6), column("Medium", 8), column("Low", 6), column("Info", 6)}

func counts(findings []*finding.Finding) []table.Cell {
	var n [finding.High + 1]int
	for _, f := range findings {
		n[f.Severity]++
	}
	return []table.Cell{table.Number(len(findings)), table.Number(n[finding.High]), table.Number(n[finding.Medium]), table.Number(n[finding.Low]), table.Number(n[finding.Info])}
}

// saidColumns are the findings of a VM or host in words.
var saidColumns = []table.Column{column("Worst", 8), column("Rules", 18), column("Advice", 80), column("Assumed", 40)}

// said sums up findings, which come highest severity first.
func said(findings []*finding.Finding) []table.Cell {
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
	return []table.Cell{table.Text(worst), table.Text(strings.Join(ids, ", ")), table.Text(strings.Join(advice, " ")), joined(assumed)}
}

// ruleTable has a row for each rule, also those that found nothing: that is an
// answer too.
func ruleTable(j *judged) table.Table {
	by := map[string][]*finding.Finding{}
	for i := range j.Findings {
		f := &j.Findings[i]
		by[f.Rule] = append(by[f.Rule], f)
	}
	return table.Table{
		Name: "rules",
		Columns: slices.Concat([]table.Column{column("Rule", 7), column("Name", 20), column("Title", 60), column("About", 7), column("Severity up to", 14)}, countColumns,
			[]table.Column{column("Why", 80), column("Fix", 80), column("When it is wrong", 80), column("Rule book", 18), column("Sources", 80)}),
		Len: len(j.rules),
		Rows: func(yield func([]table.Cell) bool) {
			for _, one := range j.rules {
				if !yield(slices.Concat(
					[]table.Cell{table.Text(one.ID), table.Text(one.Name), table.Text(one.Title), table.Text(aboutOf(one)), table.Text(one.Severity.String())},
					counts(by[one.ID]),
					[]table.Cell{table.Text(one.Why), table.Text(one.Fix), table.Text(one.Limits), table.Text(strings.Join(one.Book, ", ")), joined(one.Sources)},
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
func noteTable(j *judged) table.Table {
	return table.Table{
		Name:    "notes",
		Columns: []table.Column{column("From", 13), column("Read at", 50), column("Note", 100)},
		Len:     len(j.notes()),
		Rows: func(yield func([]table.Cell) bool) {
			for _, part := range j.open {
				for _, n := range part.list {
					if !yield([]table.Cell{table.Text(part.from), table.Text(n.At), table.Text(n.Text)}) {
						return
					}
				}
			}
		},
	}
}

// aboutTable says what the other tables are about.
func aboutTable(x *index, j *judged, version string) table.Table {
	verdict, rest := verdictOf(x.Result)
	row := func(name string, c table.Cell) []table.Cell { return []table.Cell{table.Text(name), c} }
	rows := [][]table.Cell{
		row("Verdict", table.Text(strings.TrimSpace(verdict+" "+rest))),
		row("Source", table.Text(x.Fleet.Source)), row("Collected", table.Text(x.Fleet.Collected)), row("homenode", table.Text(version)),
		row("Clusters", table.Number(len(x.Fleet.Clusters))), row("Hosts", table.Number(len(x.Fleet.Hosts))), row("VMs", table.Number(len(x.Fleet.VMs))),
		row("VMs judged", table.Number(x.VMs)), row("Templates, not judged", table.Number(x.Templates)), row("Predictions (VM × host)", table.Number(x.Pairs)),
		row("Findings", table.Number(len(x.Findings))), row("Findings suppressed", table.Number(len(x.Suppressed))), row("Notes", table.Number(len(j.notes()))),
	}
	return table.Of("about", []table.Column{column("What", 26), column("Value", 80)}, rows)
}
