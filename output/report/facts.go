package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"homenode/internal/texttab"
	"homenode/numa"
	"homenode/rules/rule"
	"homenode/source/fact"
)

// A FactFile is one file of the read command: what it states, or why it could not
// be read.
type FactFile struct {
	fact.File
	Err error
}

// Facts writes what files state, file by file.
func Facts(w io.Writer, files []FactFile, colour bool) error {
	p := &printer{w: w, colour: colour}
	for i := range files {
		f := &files[i]
		if i > 0 {
			p.printf("\n")
		}
		if f.Err != nil {
			p.printf("%s  %s\n", p.paint(bold, f.Name), p.paint(severityCode[2], "could not be read: "+f.Err.Error()))
		} else {
			p.printf("%s  %s  %s%s\n", p.paint(bold, f.Name), f.Format, rule.Plural(len(f.Facts), "fact"), warned(len(f.Warnings)))
		}
		t := texttab.Table{Indent: "  "}
		for _, one := range f.Facts {
			t.Row(linePlace(one.Line, one.Col), one.Subject, one.Name, strings.TrimSpace(valueText(one.Value)+" "+one.Unit))
		}
		p.table(&t)
		for _, warning := range f.Warnings {
			p.printf("  %s  %s\n", p.paint(severityCode[2], "warning"), strings.TrimPrefix(numa.Place("", warning.Line, warning.Col)+": "+warning.Text, ":"))
		}
	}
	return p.err
}

func warned(n int) string {
	if n == 0 {
		return ""
	}
	return ", " + rule.Plural(n, "warning")
}

// linePlace returns "12:5", "12" or nothing.
func linePlace(line, col int) string {
	return strings.TrimPrefix(numa.Place("", line, col), ":")
}

// valueText writes a value of a fact without the noise of floating point.
func valueText(v any) string {
	if f, ok := v.(float64); ok {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}

type factsJSON struct {
	Format  string         `json:"format"`
	Version int            `json:"version"`
	Files   []factFileJSON `json:"files"`
}

type factFileJSON struct {
	fact.File
	Error string `json:"error,omitempty"`
}

// FactsJSON writes what files state as JSON.
func FactsJSON(w io.Writer, files []FactFile) error {
	j := factsJSON{Format: "homenode-facts", Version: JSONVersion, Files: []factFileJSON{}}
	for _, f := range files {
		one := factFileJSON{File: f.File}
		one.Facts = orEmpty(one.Facts)
		if f.Err != nil {
			one.Error = f.Err.Error()
		}
		j.Files = append(j.Files, one)
	}
	return writeJSON(w, &j)
}

// FleetFacts returns what a fleet states, as the facts of a file: a fleet has no
// lines, so the origin of a fact stands where a unit would.
func FleetFacts(name, format string, f *numa.Fleet) fact.File {
	out := fact.File{Name: name, Format: format}
	for i := range f.Hosts {
		addFacts(&out, "host "+f.Hosts[i].Name, &f.Hosts[i])
	}
	for i := range f.VMs {
		addFacts(&out, "VM "+f.VMs[i].Name, &f.VMs[i])
	}
	for _, n := range f.Notes {
		out.Warn(0, 0, "%s", n)
	}
	return out
}
