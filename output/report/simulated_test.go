package report_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"homenode/esxi/rulebook"
	"homenode/esxi/scheduler"
	"homenode/internal/golden"
	"homenode/output/report"
	"homenode/rules/finding"
	"homenode/rules/simulate"
	"homenode/source/demo"
	"homenode/source/story"
)

// A host on which memory goes remote early, a VM is moved to its partner, and another host
// that fails.
const busyStory = `release 7.0U3
cluster c
host esx01 nodes=2 cores=8 memory=256GB
host esx02 nodes=2 cores=8 memory=256GB
vm db   host=esx01 vcpus=8 memory=100GB
vm app  host=esx01 vcpus=4 memory=60GB
vm web  host=esx01 vcpus=4 memory=16GB
vm far  host=esx02 vcpus=4 memory=16GB
vm big  host=esx01 vcpus=4 memory=80GB power=off
run 3h start=2026-03-02T08:00:00Z seed=1
load db   cpu=20% workload=database
load app  cpu=30%
load web  cpu=5..20% peak=12:00
load big  cpu=40% memory=all over=10m
at 20m power-on big             # which node has room?
at 1h  talk web app rate=2000
at 2h  fail esx02               # HA restarts far
at 2h30m power-off big
`

func simulated(t testing.TB, text string) *simulate.Result {
	t.Helper()
	s, err := story.Read("busy.txtar", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	r, err := simulate.Run(context.Background(), s, simulate.Options{Prices: 6})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestSimulatedForms checks every form of a small simulation.
func TestSimulatedForms(t *testing.T) {
	r := simulated(t, busyStory)
	o := report.CaptureOptions{FailOn: finding.Medium, SourceWords: []string{"busy.txtar"}}
	x := report.ExportOptions{Version: "v1", FailOn: finding.Medium}
	for _, tt := range []struct {
		file  string
		write func(io.Writer) error
	}{
		{"simulated.txt", func(w io.Writer) error { return report.Simulated(w, r, o) }},
		{"simulated-vm.txt", func(w io.Writer) error { return report.SimulatedVM(w, r, "big", o) }},
		{"simulated-why.txt", func(w io.Writer) error { return report.Why(w, r, "table", report.WhyOptions{}) }},
		{"simulated-why.json", func(w io.Writer) error { return report.Why(w, r, "json", report.WhyOptions{VM: "far", Host: "esx01"}) }},
		{"simulated.json", func(w io.Writer) error { return report.SimulatedJSON(w, r) }},
		{"simulated-vm.json", func(w io.Writer) error { return report.SimulatedVMJSON(w, r, "far") }},
		{"simulated.md", func(w io.Writer) error { return report.SimulatedMarkdown(w, r, x) }},
		{"simulated.sarif", func(w io.Writer) error { return report.SimulatedSARIF(w, r, x) }},
		{"simulated.junit.xml", func(w io.Writer) error { return report.SimulatedJUnit(w, r, x) }},
		{"simulated.svg", func(w io.Writer) error { return report.SimulatedSVG(w, r, "big") }},
	} {
		golden.Equal(t, written(t, tt.write), "testdata/"+tt.file)
	}
}

// TestSimulatedNeverObserved checks that no form of a simulation can be taken for what was
// observed.
func TestSimulatedNeverObserved(t *testing.T) {
	r := simulated(t, busyStory)
	html := string(written(t, func(w io.Writer) error { return report.SimulatedHTML(w, r, report.HTMLOptions{}) }))
	if !strings.Contains(html, "<title>Simulated: NUMA in busy.txtar</title>") {
		t.Error("the title of the page does not say that it is simulated")
	}
	if n, want := strings.Count(html, "Simulated by the model of the NUMA scheduler: nothing here was observed."), strings.Count(html, "<svg"); n != want || n == 0 {
		t.Errorf("%d of %d drawings say that they are simulated", n, want)
	}
	if !strings.Contains(html, `<th scope="col" data-key="simulated">Simulated</th>`) {
		t.Error("what the page saves as CSV does not say that it is simulated")
	}
	for _, word := range []string{"in the capture", "was recorded", "read</p>"} {
		if strings.Contains(html, word) {
			t.Errorf("the page says %q of a simulation", word)
		}
	}
	tables := report.SimulatedTables(r, "v1")
	for _, one := range tables {
		if last := one.Columns[len(one.Columns)-1].Name; last != "Simulated" {
			t.Errorf("the last column of table %s is %s, want Simulated", one.Name, last)
		}
		rows := 0
		for row := range one.Rows {
			if rows++; len(row) != len(one.Columns) || row[len(row)-1].String() != "True" {
				t.Fatalf("table %s: row %v, want %d cells, the last one True", one.Name, row, len(one.Columns))
			}
		}
		if rows != one.Len {
			t.Errorf("table %s has %d rows, says %d", one.Name, rows, one.Len)
		}
	}
	names := report.SimulatedTableNames()
	if len(names) != len(tables) || names[0] != "findings" {
		t.Errorf("tables %v, want the %d of a simulation, findings first", names, len(tables))
	}
}

// TestSimulatedRules checks that the rule book explains every decision.
func TestSimulatedRules(t *testing.T) {
	for k := scheduler.Placed; k <= scheduler.OptionSet; k++ {
		for _, id := range k.Rules() {
			if _, ok := rulebook.Find(id); !ok {
				t.Errorf("%s rests on %s, which the rule book does not have", k, id)
			}
		}
	}
}

// TestSimulatedErrors checks what is said of names that nobody bears.
func TestSimulatedErrors(t *testing.T) {
	r := simulated(t, busyStory)
	for _, tt := range []struct {
		write func() error
		want  string
	}{
		{func() error { return report.SimulatedVM(io.Discard, r, "bug", report.CaptureOptions{}) }, `the story has no VM "bug"; alike: big`},
		{func() error { return report.SimulatedVM(io.Discard, r, "esx01", report.CaptureOptions{}) }, `"esx01" is a host: --format svg draws hosts, else --vm takes a VM`},
		{func() error { return report.Why(io.Discard, r, "table", report.WhyOptions{Host: "esx03"}) }, `--host: the story has no host "esx03"; alike: esx01, esx02`},
		{func() error { return report.SimulatedSVG(io.Discard, r, "") }, "2 hosts were simulated: name one with --vm: esx01, esx02"},
		{func() error { return report.SimulatedSVG(io.Discard, r, "far") }, `"far" could be each of esx01/far, esx02/far`},
	} {
		if err := tt.write(); err == nil || err.Error() != tt.want {
			t.Errorf("error %v, want %s", err, tt.want)
		}
	}
}

// TestSimulatedSilent checks that a run that was not judged says so, and claims nothing.
func TestSimulatedSilent(t *testing.T) {
	s, err := demo.Story()
	if err != nil {
		t.Fatal(err)
	}
	r, err := simulate.Run(context.Background(), s, simulate.Options{Silent: true})
	if err != nil {
		t.Fatal(err)
	}
	text := string(written(t, func(w io.Writer) error { return report.Simulated(w, r, report.CaptureOptions{}) }))
	for _, want := range []string{"Simulated, in sum only: ", "Nothing was judged"} {
		if !strings.Contains(text, want) {
			t.Errorf("the report does not say %q:\n%s", want, text)
		}
	}
	for _, claim := range []string{"NUMA does no harm", "without findings"} {
		if strings.Contains(text, claim) {
			t.Errorf("the report claims %q", claim)
		}
	}
	j := string(written(t, func(w io.Writer) error { return report.SimulatedJSON(w, r) }))
	if !strings.Contains(j, `"judged": false`) {
		t.Error("the JSON does not say that nothing was judged")
	}
}

// TestSimulatedTrouble checks that hosts that cannot carry their VMs never read as if all
// was well.
func TestSimulatedTrouble(t *testing.T) {
	const head = "release 8.0U2\ncluster c\nhost esx01 nodes=2 cores=8 memory=64GB\n"
	for _, tt := range []struct{ name, story, want string }{
		{"no host", head + "vm a vcpus=4 memory=16GB host=esx01\nrun 2h\nload * cpu=10%\nat 1h fail esx01\n", "1 VM found no host: a."},
		{"too many vCPUs", head + "vm wide vcpus=40 memory=16GB host=esx01\nrun 2h\nload * cpu=10%\n", "1 VM would be refused by ESXi at power-on: wide with 40 vCPUs on esx01, which has 32 logical CPUs."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := string(written(t, func(w io.Writer) error { return report.Simulated(w, simulated(t, tt.story), report.CaptureOptions{}) }))
			verdict, _, _ := strings.Cut(text, "\n")
			if want := "Simulated: the hosts cannot carry all of it: " + tt.want; verdict != want {
				t.Errorf("verdict %q, want %q", verdict, want)
			}
			if strings.Contains(text, "no harm") {
				t.Errorf("the report says that there is no harm:\n%s", text)
			}
		})
	}
}
