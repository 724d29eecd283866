// Package sheet evaluates calculators that are data. A sheet is a text of tables: published figures with their source, formulas, and the texts of the
// answer. One evaluator processes all sheets, and output/size renders each as one kind of answer with one picture.
//
//	== figures    name, value, low, high, unit, origin, source, hardware, note: as published
//	== formulas   name, unit, when, formula: evaluated from the top; a name is a place in the JSON of the answer, as in plan.left, and one
//	              that begins with "_" stays inside
//	== totals     as formulas, after the rows: of all of them; == row 2 and == totals 2 follow
//	== columns    heading, when, cell: the table of the answer, a row for each of Input.Rows (formulas of rows: == row); they see the values of the whole answer
//	== title      text above it
//	== table      when, and the columns of a table that has no such rows; ">" before a heading stands for numbers
//	== question, verdict, notes     when, text
//	== assumed    when, what, figure, value, origin, source, note: a figure fills the cells that are empty
//	== … of rows  assumed, changes and notes of each row
//	== changes    if, when, set, result, change: everything is evaluated again with the set values; "was" has the values before
//	== picture    of ("rows" or "changes"), log, label, title, note, name, value, limit; == segments kind, when, value, soft
//
// A line whose when is false is omitted. Texts have expressions in braces: "{plan.left} are left". An expression is one of expr-lang/expr, limited to
// numbers, texts, comparisons, conditions and calls:
//
//	plan.usable - file.size          numbers have a range, and so has their sum, product, …
//	left < logs ? "too little" : "fits"
//	share(plan.left / boot)          functions write numbers in a unit; a number of a formula is written in its own
//
// A calculator implements in Go the parts that no formula can express: readers of files, curves between measurements, and the scheduler.
package sheet

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	"example.org/homenode/numa/unit"
)

// A Line is the cells of one line of a table by their columns.
type Line map[string]string

// A Sheet is the tables of a calculator, parsed on first use.
type Sheet struct {
	read func() *tables
}

// tables are the lines and the columns of each table.
type tables struct {
	lines   map[string][]Line
	columns map[string][]string
}

// Load returns a sheet that is compiled into the program. Its first use panics when the sheet is malformed, which every test of its package would
// show.
func Load(files fs.FS, name string) *Sheet {
	return &Sheet{sync.OnceValue(func() *tables { return read(files, name) })}
}

func read(files fs.FS, name string) *tables {
	text, err := fs.ReadFile(files, name)
	if err != nil {
		panic(err)
	}
	s := &tables{map[string][]Line{}, map[string][]string{}}
	var table string
	for number, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSpace(line)
		if title, ok := strings.CutPrefix(line, "== "); ok {
			table = title
			continue
		}
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		cells := strings.Split(strings.ReplaceAll(line, "||", "\x00"), "|")
		for i, c := range cells {
			cells[i] = strings.TrimSpace(strings.ReplaceAll(c, "\x00", "||"))
		}
		columns := s.columns[table]
		switch {
		case columns == nil:
			s.columns[table] = cells
			continue
		case len(cells) > len(columns):
			panic(fmt.Sprintf("%s:%d: found %d cells, want %d", name, number+1, len(cells), len(columns)))
		}
		l := Line{}
		for i, c := range cells {
			l[columns[i]] = c
		}
		s.lines[table] = append(s.lines[table], l)
	}
	return s
}

// A Value is a number with its range, its unit and its source.
type Value struct {
	unit.Figure[float64]
	Unit string // the function that formats it; "" for a plain number
}

// Plain returns an exact number.
func Plain(v float64, in string) Value {
	return Value{unit.Figure[float64]{Value: v, Low: v, High: v}, in}
}

// Of converts a figure to a value.
func Of[T ~float64](f unit.Figure[T], in string) Value {
	return Value{unit.Figure[float64]{Value: float64(f.Value), Low: float64(f.Low), High: float64(f.High),
		Origin: f.Origin, Source: f.Source, Hardware: f.Hardware, Note: f.Note}, in}
}

// An Input holds the values for which a sheet is evaluated: each a Value, a string, a bool, or nil when unknown.
type Input struct {
	Values map[string]any
	Rows   []map[string]any
	// Call holds the functions that are not formulas.
	Call map[string]func(args []any) any
	// Again creates the rows of a change from its values; nil keeps them.
	Again func(values map[string]any) []map[string]any
}

// A Run is a sheet with its values.
type Run struct {
	Sheet  *Sheet
	Values map[string]any
	Rows   []*Run
	input  *Input
	whole  *Run     // of a row
	places []string // names of formulas that have a value, for JSON
}

// Run evaluates the sheet.
func (s *Sheet) Run(in Input) *Run { return s.run(&in, nil) }

func (s *Sheet) run(in *Input, set map[string]any) *Run {
	r := &Run{Sheet: s, Values: map[string]any{}, input: in}
	r.start()
	maps.Copy(r.Values, set)
	r.formulas("formulas", set)
	rows := in.Rows
	if set != nil && in.Again != nil {
		rows = in.Again(r.Values)
	}
	for _, row := range rows {
		r.Rows = append(r.Rows, &Run{Sheet: s, Values: maps.Clone(row), input: in, whole: r})
	}
	for _, again := range []string{"", " 2"} {
		for _, row := range r.Rows {
			row.formulas("row"+again, nil)
		}
		r.formulas("totals"+again, set)
	}
	return r
}

// Figure returns a published figure.
func (s *Sheet) Figure(name string) Value {
	r := &Run{Sheet: s, Values: map[string]any{}, input: &Input{}}
	r.start()
	return r.Values[name].(Value)
}

// start sets the inputs, before any formula.
func (r *Run) start() {
	for name, v := range constants {
		r.Values[name] = Plain(v, "")
	}
	for _, f := range r.Sheet.read().lines["figures"] {
		r.Values[f["name"]] = r.figure(f)
	}
	maps.Copy(r.Values, r.input.Values)
}

// figure returns a published figure; its numbers are formulas of the figures above it.
func (r *Run) figure(f Line) Value {
	number := func(cell, other string) float64 {
		cell = cmp.Or(cell, other)
		return r.number(cell)
	}
	v := Value{Unit: f["unit"]}
	v.Value = r.number(f["value"])
	v.Low, v.High = number(f["low"], f["value"]), number(f["high"], f["value"])
	v.Origin, v.Source, v.Hardware, v.Note = unit.Origin(f["origin"]), f["source"], f["hardware"], f["note"]
	return v
}

func (r *Run) number(text string) float64 { return r.eval(parsed(text)).(Value).Value }

// formulas evaluates the formulas of a table, except for values that a change sets.
func (r *Run) formulas(table string, set map[string]any) {
	for _, f := range r.Sheet.read().lines[table] {
		name := f["name"]
		if _, ok := set[name]; ok || !r.holds(f) {
			continue
		}
		v := r.eval(parsed(f["formula"]))
		if n, ok := v.(Value); ok {
			if f["unit"] != "" {
				n.Unit = f["unit"]
			}
			v = n
		}
		r.Values[name] = v
		if !strings.HasPrefix(name, "_") {
			r.places = append(r.places, name)
		}
	}
}

// holds reports whether a line applies.
func (r *Run) holds(l Line) bool { return l["when"] == "" || truth(r.eval(parsed(l["when"]))) }

// Lines returns the lines of a table that apply, with their expressions unevaluated.
func (r *Run) Lines(table string) []Line {
	return slices.DeleteFunc(slices.Clone(r.Sheet.read().lines[table]), func(l Line) bool { return !r.holds(l) })
}

// Columns returns the headings of a table.
func (s *Sheet) Columns(table string) []string {
	return slices.DeleteFunc(slices.Clone(s.read().columns[table]), func(c string) bool { return c == "when" })
}

// Get returns the value of a name, or of an expression.
func (r *Run) Get(expression string) any { return r.eval(parsed(expression)) }

// With returns the sheet evaluated with other values: "boot = 2 * boot; media = 'max'". "was" has the values before.
func (r *Run) With(assignments string) *Run {
	set := map[string]any{"was": r}
	for assignment := range strings.SplitSeq(assignments, ";") {
		if name, formula, ok := strings.Cut(assignment, "="); ok {
			set[strings.TrimSpace(name)] = r.eval(parsed(formula))
		}
	}
	return r.Sheet.run(r.input, set)
}

// MarshalJSON writes the values of formulas under their names.
func (r *Run) MarshalJSON() ([]byte, error) { return marshal(r) }
