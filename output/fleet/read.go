package fleet

import (
	"fmt"
	"strconv"
	"strings"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/table"
	"example.org/homenode/source/fact"
)

// Read returns the answer with the facts in files. vm explains the VM that they describe; nil for none or several.
func Read(files []fact.File, vm *answer.Answer) *answer.Answer {
	result := struct {
		Files []fact.File `json:"files"`
		VM    any         `json:"vm,omitempty"`
	}{Files: files}
	a := &answer.Answer{Command: "explain", Format: "homenode-facts", Version: 4, Title: "what was understood of files", NoDrawing: "none of the files describes one VM whose host is known"}
	facts, warnings, unread := 0, 0, 0
	for i := range files {
		f := &files[i]
		facts, warnings = facts+len(f.Facts), warnings+len(f.Warnings)
		if f.Error != "" {
			unread++
			a.NotesFrom("source", numa.Note{Text: "could not be read: " + f.Error, At: f.Name})
			continue
		}
		if len(f.Facts) > 0 || len(f.Warnings) == 0 { // other files only have warnings
			a.Tables = append(a.Tables, fileTable(i, f))
		}
		for _, w := range f.Warnings {
			a.NotesFrom("source", numa.Note{Text: w.Text, At: f.At(w.Line, w.Col)})
		}
	}
	verdict := words.Plural(facts, "fact") + " in " + words.Plural(len(files)-unread, "file")
	if warnings > 0 {
		verdict += ", " + words.Plural(warnings, "warning")
	}
	if unread > 0 {
		verdict += "; " + words.Plural(unread, "file") + " could not be read"
	}
	a.Verdict = []string{verdict + "."}
	a.Data = []table.Table{factData(files)}
	if vm != nil {
		result.VM = vm.Result
		a.Verdict = append(a.Verdict, vm.Question+": "+strings.Join(vm.Verdict, " "))
		a.Facts, a.Assumed, a.Findings, a.Drawings = vm.Facts, vm.Assumed, vm.Findings, vm.Drawings
		a.Tables = append(a.Tables, vm.Tables...)
	}
	a.Result = result
	return a
}

// fileTable lists the facts of a file with their places.
func fileTable(nth int, f *fact.File) answer.Table {
	t := answer.Table{
		Name: fmt.Sprintf("file %d", nth+1), Title: fmt.Sprintf("%s  %s  %s", f.Name, f.Format, words.Plural(len(f.Facts), "fact")),
		Columns: []answer.Column{{Name: "at"}, {Name: "subject"}, {Name: "fact"}, {Name: "value"}},
	}
	for _, one := range f.Facts {
		t.Add(strings.TrimPrefix(numa.Place("", one.Line, one.Col), ":"), one.Subject, one.Name, words.Join(" ", valueText(one.Value), one.Unit, one.Origin))
	}
	return t
}

// valueText formats the value of a fact without floating-point artifacts.
func valueText(v any) string {
	if f, ok := v.(float64); ok {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}

// factData has one row per file and fact.
func factData(files []fact.File) table.Table {
	columns := []table.Column{
		table.Col("File", 30), table.Col("Format", 16), table.Col("Line", 7), table.Col("Column", 7), table.Col("Subject", 24), table.Col("Fact", 24), table.Col("Value", 24), table.Col("Unit", 12), table.Col("Origin", 30),
	}
	of := func(f fact.File) []fact.Fact { return f.Facts }
	return table.Within("facts", columns, files, of, func(f fact.File, one *fact.Fact) []table.Cell {
		return []table.Cell{table.Text(f.Name), table.Text(f.Format), table.Known(one.Line > 0, table.Number(one.Line)), table.Known(one.Col > 0, table.Number(one.Col)),
			table.Text(one.Subject), table.Text(one.Name), table.Text(valueText(one.Value)), table.Text(one.Unit), table.Text(one.Origin)}
	})
}
