package format

import (
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"example.org/homenode/internal/words"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"example.org/homenode/internal/texttab"
	"example.org/homenode/numa"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/draw/picture"
	"example.org/homenode/output/table"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/policy"
)

// envelope is the JSON of every answer. See docs/reference/json.md.
type envelope struct {
	Format    string              `json:"format"`
	Version   int                 `json:"version"`
	Homenode  string              `json:"homenode,omitempty"` // version of the program
	Command   string              `json:"command"`
	Simulated bool                `json:"simulated,omitempty"`
	Question  string              `json:"question,omitempty"`
	Verdict   []string            `json:"verdict"`
	Facts     []answer.Fact       `json:"facts,omitempty"`
	Assumed   []answer.Assumption `json:"assumed,omitempty"`
	*judgement
	Result  any             `json:"result"`
	Changes []answer.Change `json:"whatIf,omitempty"`
	Notes   []answer.Note   `json:"notes,omitempty"`
}

// judgement is the JSON of findings.
type judgement struct {
	Counts     map[string]int      `json:"findingsBySeverity"`
	Findings   []finding.Finding   `json:"findings"`
	Suppressed []policy.Suppressed `json:"suppressed,omitempty"`
	Config     *config             `json:"config,omitempty"`
}

// config is the JSON of the configuration's effect.
type config struct {
	File       string                      `json:"file"`
	Thresholds map[string]float64          `json:"thresholds,omitempty"`
	Severities map[string]finding.Severity `json:"severities,omitempty"`
	Off        []string                    `json:"off,omitempty"`         // disabled rules
	OffCount   int                         `json:"offFindings,omitempty"` // their findings
	Notes      []numa.Note                 `json:"notes,omitempty"`       // suppressions that have expired or have no effect
}

func judgementOf(f *answer.Findings) *judgement {
	if f == nil {
		return nil
	}
	j := &judgement{Counts: map[string]int{}, Findings: f.Findings, Suppressed: f.Suppressed}
	for i := range f.Findings {
		j.Counts[f.Findings[i].Severity.String()]++
	}
	if p := f.Policy; p != nil {
		j.Config = &config{p.File, p.Thresholds, p.Severities, f.OffRules(), f.Off, f.PolicyNotes}
	}
	return j
}

// Envelope is the type of the JSON of every answer. The type of its result depends on the answer.
var Envelope = reflect.TypeFor[envelope]()

// Name returns the format name in the JSON of an answer: "homenode-size-fit".
func Name(a *answer.Answer) string {
	if a.Format != "" {
		return a.Format
	}
	return "homenode-" + strings.ReplaceAll(a.Command, " ", "-")
}

// Result returns the JSON result of an answer.
func Result(a *answer.Answer) any {
	if late, ok := a.Result.(func() any); ok {
		return late()
	}
	return a.Result
}

// tableRows is one table in JSON.
type tableRows struct {
	Table string         `json:"table"`
	Rows  []table.Object `json:"rows"`
}

// JSON writes the answer for programs: the typed result with its assumptions, or one of its
// tables.
func JSON(w io.Writer, a *answer.Answer, o Options) error {
	if o.Table != "" {
		t, ok := table.Named(dataOf(a), o.Table)
		if !ok {
			return fmt.Errorf("no table %q", o.Table)
		}
		return encode(w, envelope{"homenode-table", 1, o.Version, a.Command, a.Simulated, a.Question, a.Verdict, a.Facts, nil, nil, tableRows{t.Name, t.Objects()}, nil, a.Notes})
	}
	return encode(w, envelope{Name(a), max(1, a.Version), o.Version, a.Command, a.Simulated, a.Question, a.Verdict, a.Facts, a.Assumed, judgementOf(a.Findings), Result(a), a.Changes, a.Notes})
}

func encode(w io.Writer, v any) error {
	out := texttab.EscapedJSON(w)
	err := json.MarshalWrite(out, v, jsonv1.DefaultOptionsV1(), json.FormatNilSliceAsNull(false), jsontext.EscapeForHTML(false), jsontext.WithIndent("  "))
	if err == nil {
		_, err = io.WriteString(out, "\n")
	}
	return err
}

// CSV writes one table of the answer, or all in one file with the verdict and the notes. In that
// file, rows begin with the name of their table. It omits drawings.
func CSV(w io.Writer, a *answer.Answer, o Options) error {
	all := dataOf(a)
	if o.Table == "" {
		return table.CSV(w, named(all)...)
	}
	t, ok := table.Named(all, o.Table)
	if !ok {
		return fmt.Errorf("no table %q", o.Table)
	}
	return table.CSV(w, t)
}

// named adds a first column with the name of the table.
func named(tables []table.Table) []table.Table {
	all := slices.Clone(tables)
	for i, t := range tables {
		all[i].Columns = slices.Concat([]table.Column{{Name: "table"}}, t.Columns)
		all[i].Rows = func(yield func([]table.Cell) bool) {
			for row := range t.Rows {
				if !yield(slices.Concat([]table.Cell{table.Text(t.Name)}, row)) {
					return
				}
			}
		}
	}
	return all
}

// dataOf returns the tables of the answer for programs.
func dataOf(a *answer.Answer) []table.Table {
	if a.Data != nil {
		return a.Data
	}
	notes := words.Texts(a.Notes, func(n answer.Note) string { return n.Text })
	var out []table.Table
	all := append([]answer.Table{lineTable("verdict", a.Verdict)}, a.AllTables()...)
	for _, t := range append(all, lineTable("notes", notes)) {
		switch {
		case len(t.Rows) == 0 && t.Plain == nil:
			continue
		case t.Plain != nil:
			t.Columns, t.Rows = t.Plain.Columns, t.Plain.Rows
		}
		out = append(out, model(&t))
	}
	if a.Findings != nil {
		out = append(out, a.Findings.FindingTable())
	}
	return out
}

// model converts a table for human readers to one for programs.
func model(t *answer.Table) table.Table {
	var columns []table.Column
	for _, c := range t.Columns {
		columns = append(columns, table.Column{Name: c.Name, Width: 16})
	}
	rows := make([][]table.Cell, len(t.Rows))
	for i, row := range t.Rows {
		for j, cell := range row {
			content := table.Figure
			if t.Columns[j].Right {
				content = table.Numeric
			}
			rows[i] = append(rows[i], content(cell.Text))
		}
	}
	return table.Of(t.Name, columns, rows)
}

// lineTable returns a table with one sentence per row.
func lineTable(name string, lines []string) answer.Table {
	t := answer.Table{Name: name, Columns: []answer.Column{{Name: "text"}}}
	for _, line := range lines {
		t.Add(strings.TrimSpace(line))
	}
	return t
}

// SVG writes the drawings of the answer as one picture, one below the other. It returns an error
// if there is none.
func SVG(w io.Writer, a *answer.Answer) error {
	switch {
	case len(a.Drawings) > 0:
		return picture.Write(w, a.Drawings[0].Picture(), false)
	case a.NoDrawing != "":
		return fmt.Errorf("%s has nothing to draw: %s", a.Command, a.NoDrawing)
	}
	return fmt.Errorf("%s has no drawing", a.Command)
}
