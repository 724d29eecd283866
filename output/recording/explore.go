package recording

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"homenode/internal/words"
	"homenode/output/answer"
	"homenode/output/draw/chart"
	"homenode/output/draw/picture"
	"homenode/output/table"
	"homenode/source/esxtop/explore"
)

// shownNames is the maximum number of instances of an object that a terminal lists.
const shownNames = 30

// Listing returns the answer about the contents of an esxtop batch file: its objects or, if picked, the counters and instances of
// some. all lists every instance on a terminal, too.
func Listing(l *explore.Listing, picked, all bool) *answer.Answer {
	columns := 0
	for _, o := range l.Objects {
		columns += o.Columns
	}
	a := &answer.Answer{Command: "capture", Format: "homenode-listing", Title: "Counters", Facts: listingFacts(l), Result: l,
		Verdict: []string{fmt.Sprintf("%s of %s in %s.", words.Plural(columns, "column"), words.Plural(len(l.Objects), "object"), words.Plural(l.Rows, "row"))}}
	command := func(pattern string) string { return "homenode capture --explore " + words.Command(pattern, l.File) }
	if !picked {
		t := answer.Table{Name: "objects", Columns: answer.Columns("object", ">instances", ">counters", ">columns")}
		next := ""
		for _, o := range l.Objects {
			t.Add(orNone(o.Name), instances(o), strconv.Itoa(len(o.Counters)), strconv.Itoa(o.Columns))
			if next == "" || o.Name == "Group Memory" { // the object with the NUMA counters of VMs
				next = o.Name
			}
		}
		a.Tables = []answer.Table{t}
		if next != "" {
			a.Next = []string{command(next)}
		}
		return a
	}
	for i, o := range l.Objects {
		t := answer.Table{Name: fmt.Sprintf("counters %d", i+1), Title: orNone(o.Name), Columns: answer.Columns("counter", ">columns")}
		for _, c := range o.Counters {
			t.Add(c.Name, strconv.Itoa(c.Columns))
		}
		a.Tables = append(a.Tables, t)
		if instances(o) == "-" {
			continue
		}
		most := len(o.Instances)
		if !all {
			most = min(most, shownNames)
		}
		cut := fmt.Sprintf("and %d more: %s", len(o.Instances)-most, command(o.Name+"(*)"))
		a.Tables = append(a.Tables, short(o.Instances, most, cut, func(some []*explore.Instance) answer.Table {
			t := answer.Table{Name: fmt.Sprintf("instances %d", i+1), Columns: answer.Columns("instance", ">columns")}
			for _, one := range some {
				name := one.Name
				if len(l.Hosts) > 1 {
					name = one.Host + `\` + name
				}
				t.Add(name, strconv.Itoa(one.Columns))
			}
			return t
		})...)
	}
	return a
}

// listingFacts describes the format of the file, its time range and its errors.
func listingFacts(l *explore.Listing) []answer.Fact {
	form := "every field in quotes, as esxtop writes it"
	if !l.Quoted {
		form = fmt.Sprintf("fields without quotes, separated by %q: another program has saved it", l.Separator)
	}
	out := []answer.Fact{{Name: "file", Text: l.File}, {Name: "form", Text: form}}
	add := func(name, text string) { out = append(out, answer.Fact{Name: name, Text: text}) }
	if l.Bias != 0 {
		add("zone", fmt.Sprintf("%s, %g minutes added for UTC", l.Zone, l.Bias))
	}
	add("host", strings.Join(l.Hosts, ", "))
	columns := fmt.Sprintf("%d and the time", l.Columns)
	if l.Headers > 1 {
		columns += fmt.Sprintf(", from %d headers", l.Headers)
	}
	add("columns", columns)
	add("rows", strconv.Itoa(l.Rows))
	if l.First != nil {
		add("time", fmt.Sprintf("%s to %s UTC%s", l.First.Format(time.DateTime), l.Last.Format(time.DateTime), interval(l.Interval)))
	}
	for _, warning := range l.Warnings {
		add("warning", warning)
	}
	return out
}

func interval(i *explore.Interval) string {
	switch {
	case i == nil:
		return ""
	case i.Least == i.Most:
		return fmt.Sprintf(", every %g s", i.Least)
	}
	return fmt.Sprintf(", every %g to %g s, %.3g s in the mean", i.Least, i.Most, i.Mean)
}

// instances returns the number of instances; "-" for an object without instances.
func instances(o *explore.Object) string {
	if len(o.Instances) == 1 && o.Instances[0].Name == "" {
		return "-"
	}
	return strconv.Itoa(len(o.Instances))
}

func orNone(name string) string {
	if name == "" {
		return "(no path)"
	}
	return name
}

const (
	mostCells = 1_000_000 // maximum number of extracted cells that are shown
	mostLines = 6         // maximum number of curves per chart
	mostPlots = 8         // maximum number of charts
	fineness  = 400       // maximum number of intervals per curve, each with its minimum and maximum
)

// Extracted returns the answer with columns of a batch file, drawn over time. It reads the whole file, and returns an error if there
// are more cells than can be shown.
func Extracted(x *explore.Extraction) (*answer.Answer, error) {
	t := answer.Table{Name: "extracted", Title: "Values", Columns: answer.Columns("time, UTC")}
	for _, name := range x.Columns {
		t.Columns = append(t.Columns, answer.Column{Name: name, Right: true, AsIs: true})
	}
	var times []time.Time
	for at, cells := range x.Each {
		if len(times)*(len(cells)+1) > mostCells {
			return nil, fmt.Errorf("found more than %s values: choose fewer columns, or a shorter time", words.Thousands(mostCells))
		}
		row := []answer.Cell{{Text: at.UTC().Format("2006-01-02 15:04:05")}}
		for _, c := range cells {
			row = append(row, answer.Cell{Text: string(c), Sort: string(c)})
		}
		t.Rows, times = append(t.Rows, row), append(times, at)
	}
	if err := x.Err(); err != nil && len(times) == 0 {
		return nil, err
	}
	a := &answer.Answer{Command: "capture", Format: "homenode-extraction", Title: "Counters", Tables: []answer.Table{t}, Result: struct {
		Columns []string `json:"columns"`
		Rows    int      `json:"rows"`
	}{x.Columns, x.Rows}, Verdict: []string{fmt.Sprintf("%s of %s.", words.Plural(x.Rows, "row"), words.Plural(len(x.Columns), "column"))}}
	if x.Outside > 0 {
		a.Note(words.Plural(x.Outside, "row") + " outside of the time that was asked for")
	}
	a.Note(x.Warnings...)
	if err := x.Err(); err != nil {
		a.Note(err.Error())
	}
	if len(times) > 1 {
		a.Drawings = plots(x.Columns, times, t.Rows)
	}
	return a, nil
}

// ExtractedTable returns the extracted values as a table: the time in milliseconds and the
// cells of the file.
func ExtractedTable(x *explore.Extraction) table.Table {
	t := table.Table{Name: "extracted", Columns: []table.Column{{Name: "time"}}}
	for _, name := range x.Columns {
		t.Columns = append(t.Columns, table.Column{Name: name})
	}
	t.Rows = func(yield func([]table.Cell) bool) {
		row := make([]table.Cell, len(t.Columns))
		for at, cells := range x.Each {
			row[0] = table.Text(at.Format("2006-01-02T15:04:05.999Z07:00"))
			for i, c := range cells {
				row[i+1] = table.Figure(string(c))
			}
			if !yield(row) {
				return
			}
		}
	}
	return t
}

// plots draws the columns, one chart per counter.
func plots(columns []string, times []time.Time, rows [][]answer.Cell) []answer.Drawing {
	var charts []chart.Chart
	var lines []*chart.Lines
	of := map[string]int{} // index in lines, by counter
	left := 0
	for i, name := range columns {
		s := chart.Series{Name: name, Points: thinned(times, rows, i+1)}
		if len(s.Points) == 0 {
			continue
		}
		counter := name[strings.LastIndexByte(name, '\\')+1:]
		s.Name = bare(name, columns)
		n, ok := of[counter]
		switch {
		case ok && len(lines[n].Series) < mostLines:
			lines[n].Series = append(lines[n].Series, s)
		case ok || len(charts) == mostPlots:
			left++
		default:
			of[counter] = len(charts)
			lines = append(lines, &chart.Lines{X: picture.Axis{Label: "UTC, from " + times[0].UTC().Format(time.DateTime), Time: true}, Y: picture.Axis{Label: counter}, Series: []chart.Series{s}})
			charts = append(charts, chart.Chart{ID: fmt.Sprintf("counter-%d", len(lines)), Title: counter, Figure: lines[len(lines)-1]})
		}
	}
	var out []answer.Drawing
	for i := range charts {
		c := charts[i]
		out = append(out, answer.Drawing{ID: c.ID, About: c.Title, Picture: func() *picture.Picture { return chart.Of(c) }})
	}
	if len(out) > 0 && left > 0 {
		out[len(out)-1].Cut = words.Verb(left, "further column is", "further columns are") + " in the table alone."
	}
	return out
}

// bare returns the name of a column without its host and counter if the result is unique.
func bare(name string, columns []string) string {
	cut := func(name string) (host, rest, counter string) {
		host, rest, _ = strings.Cut(strings.TrimPrefix(name, `\\`), `\`)
		if i := strings.LastIndexByte(rest, '\\'); i >= 0 {
			return host, rest[:i], rest[i+1:]
		}
		return "", name, ""
	}
	_, rest, counter := cut(name)
	n := 0
	for _, other := range columns {
		if _, r, c := cut(other); r == rest && c == counter {
			n++
		}
	}
	if n > 1 {
		return name
	}
	return rest
}

// thinned returns the points of a column, reduced to the minimum and maximum of each of at most fineness intervals.
func thinned(times []time.Time, rows [][]answer.Cell, column int) (out []chart.Point) {
	step := max(1, (len(times)+fineness-1)/fineness)
	for from := 0; from < len(times); from += step {
		var low, high *chart.Point
		for i := from; i < min(from+step, len(times)); i++ {
			y, err := strconv.ParseFloat(rows[i][column].Text, 64)
			if err != nil {
				continue
			}
			p := &chart.Point{X: picture.Seconds(times[i]), Y: y}
			if low == nil || y < low.Y {
				low = p
			}
			if high == nil || y > high.Y {
				high = p
			}
		}
		switch {
		case low == nil:
		case low.X == high.X:
			out = append(out, *low)
		case low.X < high.X:
			out = append(out, *low, *high)
		default:
			out = append(out, *high, *low)
		}
	}
	return out
}
