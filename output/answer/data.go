package answer

import (
	"slices"
	"strings"

	"example.org/homenode/output/table"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/policy"
	"example.org/homenode/rules/rule"
)

// Tables of an assessment for spreadsheets and scripts. Every answer with findings has them in Data.

// FindingTable has one row per finding, highest severity first.
func (f *Findings) FindingTable() table.Table {
	return table.Each("findings", f.columns(), f.Findings, func(one finding.Finding) []table.Cell { return f.row(&one) })
}

var findingColumns = []table.Column{
	table.Col("Severity", 9), table.Col("Rule", 7), table.Col("Title", 44), table.Col("Cluster", 16), table.Col("Host", 20), table.Col("VM", 24), table.Col("Message", 80), table.Col("Advice", 80),
	table.Col("Notice", 50), table.Col("On hosts", 30), table.Col("Assumed", 40), table.Col("Evidence", 60), table.Col("VM ID", 14), table.Col("Host ID", 14), table.Col("Read at", 40),
}

func (f *Findings) columns() []table.Column {
	if f.Watched {
		return slices.Concat(findingColumns, []table.Column{table.Col("From", 22), table.Col("To", 22), table.Col("GID", 10)})
	}
	return findingColumns
}

func (f *Findings) row(one *finding.Finding) []table.Cell {
	row := []table.Cell{
		table.Text(one.Severity.String()), table.Text(one.Rule), table.Text(one.Title), table.Text(one.Cluster), table.Text(one.Host), table.Text(one.VM),
		table.Text(one.Message), table.Text(one.Advice), table.Text(one.Notice), table.Text(strings.Join(one.On, ", ")), table.Joined(one.Assumes),
		table.Joined(one.EvidenceTexts()), table.Text(one.VMID), table.Text(one.HostID), table.Text(f.Subject(one).At),
	}
	if f.Watched {
		row = append(row, table.Time(one.From), table.Time(one.To), table.Known(one.VM != "" && one.GID >= 0, table.Number(float64(one.GID))))
	}
	return row
}

// SuppressedTable has one row per accepted finding.
func (f *Findings) SuppressedTable() table.Table {
	columns := append([]table.Column{table.Col("Until", 11), table.Col("Reason", 50), table.Col("Suppressed at", 24)}, f.columns()...)
	return table.Each("suppressed", columns, f.Suppressed, func(s policy.Suppressed) []table.Cell {
		return append([]table.Cell{table.Text(s.By.Until), table.Text(s.By.Reason), table.Text(s.By.At)}, f.row(&s.Finding)...)
	})
}

// RuleTable has one row per rule, including rules without findings.
func (f *Findings) RuleTable() table.Table {
	by := map[string][]*finding.Finding{}
	for i := range f.Findings {
		one := &f.Findings[i]
		by[one.Rule] = append(by[one.Rule], one)
	}
	columns := slices.Concat([]table.Column{table.Col("Rule", 7), table.Col("Name", 20), table.Col("Title", 60), table.Col("About", 7), table.Col("Severity up to", 14)}, CountColumns,
		[]table.Column{table.Col("Why", 80), table.Col("Fix", 80), table.Col("When it is wrong", 80), table.Col("Rule book", 18), table.Col("Sources", 80)})
	return table.Each("rules", columns, f.Rules, func(one *rule.Rule) []table.Cell {
		return slices.Concat([]table.Cell{table.Text(one.ID), table.Text(one.Name), table.Text(one.Title), table.Text(AboutOf(one)), table.Text(one.Severity.String())},
			Counts(by[one.ID]),
			[]table.Cell{table.Text(one.Why), table.Text(one.Fix), table.Text(one.Limits), table.Text(strings.Join(one.Book, ", ")), table.Joined(one.Sources)})
	})
}

// AboutOf returns the type of object that the rule is about.
func AboutOf(one *rule.Rule) string {
	if one.VMs {
		return "VM"
	}
	return "host"
}

// NoteTable has one row per note.
func (a *Answer) NoteTable() table.Table {
	rows := make([][]table.Cell, len(a.Notes))
	for i, n := range a.Notes {
		rows[i] = []table.Cell{table.Text(n.From), table.Text(n.At), table.Text(n.Text)}
	}
	return table.Of("notes", []table.Column{table.Col("From", 13), table.Col("Read at", 50), table.Col("Note", 100)}, rows)
}

// AboutTable describes the origin of the other tables. Its first row is the verdict.
func (a *Answer) AboutTable(rows ...[2]table.Cell) table.Table {
	all := [][]table.Cell{{table.Text("Verdict"), table.Text(strings.Join(a.Verdict, " "))}}
	for _, r := range rows {
		all = append(all, r[:])
	}
	return table.Of("about", []table.Column{table.Col("What", 26), table.Col("Value", 80)}, all)
}

// About returns a row of AboutTable.
func About(what string, value table.Cell) [2]table.Cell {
	return [2]table.Cell{table.Text(what), value}
}

// CountColumns are the columns with numbers of findings of a VM, host or cluster: see Counts.
var CountColumns = []table.Column{table.Col("Findings", 9), table.Col("High", 6), table.Col("Medium", 8), table.Col("Low", 6), table.Col("Info", 6)}

// Counts returns the cells of CountColumns.
func Counts(findings []*finding.Finding) []table.Cell {
	var n [finding.High + 1]int
	for _, f := range findings {
		n[f.Severity]++
	}
	return []table.Cell{table.Number(len(findings)), table.Number(n[finding.High]), table.Number(n[finding.Medium]), table.Number(n[finding.Low]), table.Number(n[finding.Info])}
}

// SaidColumns are the columns with descriptions of the findings of a VM or host: see Said.
var SaidColumns = []table.Column{table.Col("Worst", 8), table.Col("Rules", 18), table.Col("Advice", 80), table.Col("Assumed", 40)}

// Said returns the cells of SaidColumns. The findings must be sorted, highest severity first; assumed are further
// assumptions.
func Said(findings []*finding.Finding, assumed ...string) []table.Cell {
	var worst string
	var ids, advice []string
	add := func(list *[]string, s string) {
		if s != "" && !slices.Contains(*list, s) {
			*list = append(*list, s)
		}
	}
	for _, f := range findings {
		if worst == "" {
			worst = f.Severity.String()
		}
		add(&ids, f.Rule)
		add(&advice, f.Advice)
		for _, a := range f.Assumes {
			add(&assumed, a)
		}
	}
	return []table.Cell{table.Text(worst), table.Text(strings.Join(ids, ", ")), table.Text(strings.Join(advice, " ")), table.Joined(assumed)}
}
