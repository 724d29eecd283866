package change

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"example.org/homenode/change/sweep"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/format"
	"example.org/homenode/source/story"
)

const day = `
release 7.0U3
host esx01 nodes=2 cores=8 memory=192GB
vm   web[01-03] host=esx01 vcpus=4 memory=16GB
vm   big host=esx01 vcpus=12 memory=90GB
run  10m seed=1
load web* cpu=40% noise=20%
at 5m power-cycle big
`

// made returns what a sweep of a short story comes to.
func made(t *testing.T, texts ...string) *sweep.Result {
	t.Helper()
	s, err := story.Read("day.txt", []byte(day))
	if err != nil {
		t.Fatal(err)
	}
	p, err := sweep.New(t.Context(), s, texts, sweep.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Run(context.Background(), sweep.How{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// all is a sweep in which everything is: a point that fails, seeds, points that ask for
// other CPU time, a value that a spreadsheet would take for a formula.
var all = []string{"vm=big vcpus=8,6 cpu=x0.5,x2 guest=@x,b", "nodesPerSocket=today,2,3", "seed=1..2"}

func TestHeadline(t *testing.T) {
	for _, tt := range []struct {
		texts []string
		want  string
	}{
		{all, "simulated: day.txt over 10m, 6 points and today, each with 2 seeds; none is better than today, and 1 (vcpus/cpu/guest big 8/x0.5/@x, nodesPerSocket today) costs least, speed −0.009 against today, faster with 0 of 2 seeds"},
		{[]string{"seed=1..3"}, "simulated: day.txt over 10m, as it is, with 3 seeds"},
		{[]string{"vm=big vcpus=12,today"}, "simulated: day.txt over 10m, 2 points and today; no two of them differ in speed, N%L or ready time"},
		{[]string{"nodesPerSocket=1,2"}, "simulated: day.txt over 10m, 2 points and today; none is better than today, and 1 (nodesPerSocket 1) costs least, speed 0.000 against today"},
		{[]string{"nodesPerSocket=today,2"}, "simulated: day.txt over 10m, 2 points and today; none is better than today"},
	} {
		if got := headline(made(t, tt.texts...)); got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.texts, got, tt.want)
		}
	}
}

// TestSwaps: where memory is swapped, the answer says that the speed leaves out those VMs, and no loss is called the best.
func TestSwaps(t *testing.T) {
	s, err := story.Read("day.txt", []byte(`release 8.0U3
cluster c
host esx1 nodes=2 cores=8 memory=256GB
host esx[2-3] nodes=2 cores=8 memory=128GB
vm   a[1-4] host=esx1 vcpus=4 memory=30GB
vm   b[1-4] host=esx2 vcpus=4 memory=30GB
vm   c[1-2] host=esx3 vcpus=4 memory=30GB
run  10m seed=1
load * cpu=40%
`))
	if err != nil {
		t.Fatal(err)
	}
	p, err := sweep.New(t.Context(), s, []string{"lose-host=esx1,esx3"}, sweep.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Run(t.Context(), sweep.How{})
	if err != nil {
		t.Fatal(err)
	}
	a := Sweep(r)
	if text := a.Verdict[0]; !strings.Contains(text, "none is better than today, and 2 (lose-host esx3) costs least") || !strings.HasSuffix(text, "without VMs that swap") {
		t.Errorf("headline %s", text)
	}
	if mark(r, r.Best) != "costs least" || !strings.Contains(fmt.Sprint(a.Notes), "a point with less swapped memory is better, whatever its speed") {
		t.Errorf("mark %q, notes %v", mark(r, r.Best), a.Notes)
	}
}

// TestCSV checks the cells of a row against the result, and what is done about formulas.
func TestCSV(t *testing.T) {
	r := made(t, all...)
	text := csvOf(t, Sweep(r))
	text = text[strings.Index(text, "table,point,"):]
	text, _, _ = strings.Cut(text, "table,of,value,") // the effects
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if n := len(rows); n != 8 {
		t.Errorf("%d lines, want a head and 7 points", n)
	}
	cell := func(row int, column string) string {
		for i, name := range rows[0] {
			if name == column {
				return rows[row][i]
			}
		}
		t.Fatalf("no column %s", column)
		return ""
	}
	six := func(v float64) string { return fmt.Sprintf("%.6f", v) }
	m, today := r.Points[2].Measured, r.Points[0].Measured
	for _, tt := range []struct {
		row          int
		column, want string
	}{
		{3, "point", "2"}, {3, "nodesPerSocket", "2"}, {3, "vcpus/cpu/guest big", "8/x0.5/@x"},
		{3, "speed", six(m[sweep.Speed].Mean)}, {3, "speed least", six(m[sweep.Speed].Low)}, {3, "speed most", six(m[sweep.Speed].High)},
		{3, "speed against today", six(m[sweep.Speed].Mean - today[sweep.Speed].Mean)},
		{3, "locality %", six(100 * m[sweep.Locality].Mean)}, {3, "swapped MB", six(m[sweep.Swapped].Mean / (1 << 20))},
		{3, "mark", "worst"}, {2, "mark", "costs least"}, {1, "mark", "today"}, {4, "mark", "not simulated"}, {4, "failed", "2"}, {4, "speed", ""}, {4, "findings", ""},
	} {
		if got := cell(tt.row, tt.column); got != tt.want {
			t.Errorf("row %d, %s: %q, want %q", tt.row, tt.column, got, tt.want)
		}
	}
	if text := csvOf(t, Sweep(made(t, "vm=big guest=@x,b"))); !strings.Contains(text, "\npoints,1,'@x,1,") {
		t.Errorf("the value is not guarded in\n%.400s", text)
	}
}

func csvOf(t *testing.T, a *answer.Answer) string {
	t.Helper()
	var b strings.Builder
	if err := format.CSV(&b, a, format.Options{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestJSON checks that the form has all points, and no number where nothing is known.
func TestJSON(t *testing.T) {
	r := made(t, all...)
	var b strings.Builder
	if err := format.JSON(&b, Sweep(r), format.Options{}); err != nil {
		t.Fatal(err)
	}
	var all struct {
		Format    string
		Simulated bool
		Result    struct {
			Points []struct {
				Values   []string
				Steps    []sweep.Step
				Measures map[string]struct{ Mean, AgainstToday float64 }
				Failed   int
				Runs     []sweep.RunResult
			}
			Effects     []struct{ Dimension, Value string }
			Best, Worst int
			Seeds       []int
		}
	}
	if err := json.Unmarshal([]byte(b.String()), &all); err != nil {
		t.Fatal(err)
	}
	got := &all.Result
	if all.Format != "homenode-sweep" || !all.Simulated || len(got.Points) != 7 || len(got.Effects) != 5 || got.Best != 1 || got.Worst != 2 || len(got.Seeds) != 2 {
		t.Errorf("%s, simulated %v: %d points, %d effects, best %d, worst %d, %d seeds", all.Format, all.Simulated, len(got.Points), len(got.Effects), got.Best, got.Worst, len(got.Seeds))
	}
	if e := got.Effects[3]; e.Dimension != "nodesPerSocket" || e.Value != "2" {
		t.Errorf("effect %+v", e)
	}
	one := got.Points[2]
	if v := one.Measures["speed"]; v.Mean != r.Points[2].Measured[sweep.Speed].Mean || v.AgainstToday != v.Mean-r.Points[0].Measured[sweep.Speed].Mean {
		t.Errorf("speed %+v", v)
	}
	if len(one.Steps) != 3 || one.Steps[0].Text != "vm=big vcpus=8 guest=@x" || one.Values[1] != "2" {
		t.Errorf("steps %+v, values %v", one.Steps, one.Values)
	}
	if failed := got.Points[3]; len(failed.Measures) != 0 || failed.Failed != 2 || failed.Runs[1].Seed != 2 || failed.Runs[1].Record != nil || failed.Runs[1].Failed == "" {
		t.Errorf("the failed point is %+v", failed)
	}
}

func TestNotes(t *testing.T) {
	const (
		assumed = "assumed: the load of the VM is not stated: an office day of 5 to 25 % of each vCPU, most at 14:00 UTC; all memory touched, a quarter of it active, no pages alike"
		index   = "speed is the performance index (docs/evidence/cost.md), for some VMs extrapolated beyond what anybody measured; its interval is in --format json"
		work    = "the points ask for different CPU time (CPU ASKED, cores on average): speeds are of different work. A load is a share of each vCPU: where vcpus= halves them, cpu=x2 beside it keeps the work as it is"
		failed  = "point 2 could not be simulated: host esx01: 8 cores of a package do not divide into 3 nodes"
		hours   = "not all points run the same VMs as long (VM HOURS): a point with more of them is better, whatever its speed"
	)
	for _, tt := range []struct {
		text string
		want []string
	}{
		{"nodesPerSocket=2,3", []string{failed, index, assumed}},
		{"cpu=x1,x2", []string{work, index, assumed}},
		{"vm=web* power=on,off", []string{work, hours, index, assumed}},
	} {
		if got := sweepNotes(made(t, tt.text)); fmt.Sprint(got) != fmt.Sprint(tt.want) {
			t.Errorf("%s:\n%s\nwant\n%s", tt.text, strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
		}
	}
}
