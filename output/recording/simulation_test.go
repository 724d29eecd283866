package recording_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"example.org/homenode/esxi/rulebook"
	"example.org/homenode/esxi/scheduler"
	"example.org/homenode/internal/formtest"
	"example.org/homenode/internal/golden"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/format"
	"example.org/homenode/output/recording"
	"example.org/homenode/output/table"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/simulate"
	"example.org/homenode/source/demo"
	"example.org/homenode/source/story"
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

// must returns the answer that has to be there.
func must(t testing.TB) func(*answer.Answer, error) *answer.Answer {
	return func(a *answer.Answer, err error) *answer.Answer {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
}

// TestSimulatedForms checks every form of a small simulation; the data of JSON is in the corpus.
func TestSimulatedForms(t *testing.T) {
	r := simulated(t, busyStory)
	words := []string{"busy.txtar"}
	all := recording.Simulation(r, recording.Options{Words: words})
	why := must(t)(recording.Decisions(r, "", "", recording.Options{}))
	for _, tt := range []struct {
		file, form string
		a          *answer.Answer
	}{
		{"simulated.txt", "table", all},
		{"simulated-vm.txt", "table", must(t)(recording.SimulatedVM(r, recording.Options{VM: "big", Words: words}))},
		{"simulated-why.txt", "table", why},
		{"simulated.md", "markdown", all},
		{"simulated.sarif", "sarif", all},
		{"simulated.junit.xml", "junit", all},
		{"simulated.svg", "svg", must(t)(recording.SimulationDrawing(r, "big"))},
	} {
		golden.Equal(t, written(t, tt.form, tt.a, format.Options{Version: "v1", FailOn: finding.Medium, Details: tt.file == "simulated-vm.txt"}), "testdata/"+tt.file)
	}
}

// TestSimulatedVMSuites checks that a JUnit report of one VM has no test of a host or of
// another VM; this one moves to another host.
func TestSimulatedVMSuites(t *testing.T) {
	one := must(t)(recording.SimulatedVM(simulated(t, busyStory), recording.Options{VM: "far"}))
	var names []string
	for _, suite := range one.Findings.Suites {
		for _, c := range suite.Cases {
			names = append(names, suite.Name+"/"+c.Name)
		}
	}
	if want := []string{"esx01/far", "esx02/far"}; !slices.Equal(names, want) {
		t.Errorf("tests %v, want %v", names, want)
	}
}

// TestSimulatedNeverObserved checks that no form of a simulation can be taken for what was
// observed.
func TestSimulatedNeverObserved(t *testing.T) {
	r := simulated(t, busyStory)
	a := recording.Simulation(r, recording.Options{})
	one := must(t)(recording.SimulatedVM(r, recording.Options{VM: "far"}))
	for _, a := range []*answer.Answer{a, one} {
		html := string(written(t, "html", a, format.Options{}))
		formtest.Page(t, []byte(html))
		if !strings.Contains(html, "<title>Simulated: NUMA in busy.txtar</title>") {
			t.Error("the title of the page does not say that it is simulated")
		}
		if n, want := strings.Count(html, "Simulated by the model of the NUMA scheduler: nothing here was observed."), strings.Count(html, "<svg"); n != want || n == 0 {
			t.Errorf("%d of %d drawings say that they are simulated", n, want)
		}
		if !strings.Contains(html, `<strong class="simulated">A simulation</strong>: nothing here was observed · `) {
			t.Error("the page does not say that it is simulated; nor does what it saves as CSV")
		}
		for _, word := range []string{"in the capture", "was recorded", "read</p>"} {
			if strings.Contains(html, word) {
				t.Errorf("the page says %q of a simulation", word)
			}
		}
	}
	why := must(t)(recording.Decisions(r, "", "", recording.Options{}))
	for _, one := range slices.Concat(a.Data, one.Data, why.Data) {
		if last := one.Columns[len(one.Columns)-1].Name; last != "Simulated" {
			t.Errorf("the last column of table %s is %s, want Simulated", one.Name, last)
		}
		for row := range one.Rows {
			if row[len(row)-1].String() != "True" {
				t.Fatalf("table %s: row %v, want the last cell True", one.Name, row)
			}
		}
	}
	checkTables(t, a)
	checkTables(t, one)
	checkTables(t, why)
	names := recording.SimulationTables()
	if !slices.Equal(names, table.Names(a.Data)) || names[0] != "findings" {
		t.Errorf("tables %v, want those of a simulation, findings first", names)
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

// TestSimulatedErrors checks what is said of names that no VM has.
func TestSimulatedErrors(t *testing.T) {
	r := simulated(t, busyStory)
	vm := func(name string) error {
		_, err := recording.SimulatedVM(r, recording.Options{VM: name})
		return err
	}
	drawing := func(name string) error {
		_, err := recording.SimulationDrawing(r, name)
		return err
	}
	_, noHost := recording.Decisions(r, "", "esx03", recording.Options{})
	for _, tt := range []struct {
		err  error
		want string
	}{
		{vm("bug"), `the story has no VM "bug"; alike: big`},
		{vm("esx01"), `"esx01" is a host: --format svg draws hosts, else --vm takes a VM`},
		{noHost, `--vm: the story has no host "esx03"; alike: esx01, esx02`},
		{drawing(""), "2 hosts were simulated: name one with --vm: esx01, esx02"},
		{drawing("far"), `"far" could be each of esx01/far, esx02/far`},
	} {
		if tt.err == nil || tt.err.Error() != tt.want {
			t.Errorf("error %v, want %s", tt.err, tt.want)
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
	text := string(written(t, "table", recording.Simulation(r, recording.Options{}), format.Options{}))
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
	j := string(written(t, "json", recording.Simulation(r, recording.Options{}), format.Options{}))
	if !strings.Contains(j, `"judged": false`) {
		t.Error("the JSON does not say that nothing was judged")
	}
}

// TestNotModelled: a simulation says which promises to a VM it does not model, and what to state for a host that it leaves out.
func TestNotModelled(t *testing.T) {
	const vm = "\nvm a vcpus=4 memory=16GB host=esx01 hw=20"
	for story, want := range map[string]string{
		"release 8.0U3\nhost esx01 nodes=2 cores=8 memory=64GB mhz=2000" + vm + " latency=high reserveAll=on cpuReservation=8000\nrun 1h\n": "cores that latency sensitivity High keeps for a VM are not modelled",
		"release 8.0U3\nhost esx01 nodes=? cores=8 memory=64GB" + vm + "\nrun 1h\n":                                                         "say its nodes, such as nodes=2",
	} {
		text := string(written(t, "table", recording.Simulation(simulated(t, story), recording.Options{}), format.Options{}))
		if !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
			t.Errorf("%snot said: %q in\n%s", story, want, text)
		}
	}
}

// TestSimulatedTrouble checks that hosts that cannot carry their VMs never read as if all
// was well.
func TestSimulatedTrouble(t *testing.T) {
	const head = "release 8.0U2\ncluster c\nhost esx01 nodes=2 cores=8 memory=64GB\n"
	for _, tt := range []struct{ name, story, want string }{
		{"no host", head + "vm a vcpus=4 memory=16GB host=esx01\nrun 2h\nload * cpu=10%\nat 1h fail esx01\n", "1 VM found no host: a."},
		{"too many vCPUs", head + "vm wide vcpus=40 memory=16GB host=esx01\nrun 2h\nload * cpu=10%\n", "1 VM does not power on: wide (40 vCPUs are more than the 32 logical CPUs of the host)."},
		{"a vMotion to an older release", head + "release 6.7U3\nhost esx02 nodes=2 cores=8 memory=64GB\nvm a vcpus=4 memory=16GB host=esx01 hw=19\nrun 2h\nload * cpu=10%\nat 1h vmotion a host=esx02\n", "a to esx02 (virtual hardware 19 is newer than the 15 of ESXi 6.7 U3)"},
		{"a vMotion to a host without room", head + "host esx02 nodes=2 cores=8 memory=64GB\nvm a vcpus=4 memory=16GB host=esx01 reserveAll=on\nvm b vcpus=4 memory=60GB host=esx02 reserveAll=on\nrun 2h\nload * cpu=10%\nat 1h vmotion a host=esx02\n", "a to esx02 ("},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := recording.Simulation(simulated(t, tt.story), recording.Options{})
			text := string(written(t, "table", a, format.Options{}))
			want, refused := "Simulated: the hosts cannot run everything: "+tt.want, strings.HasPrefix(tt.name, "a vMotion")
			if refused {
				want = "1 vMotion is refused: " + tt.want
			}
			if !strings.HasPrefix(a.Verdict[0], want) || refused != strings.Contains(text, "a stays: ") {
				t.Errorf("verdict %q, want %q", a.Verdict[0], want)
			}
			if !refused && strings.Contains(text, "no harm") || !strings.Contains(text, "exit 1     not every VM runs") {
				t.Errorf("the report says that there is no harm, or not that the exit code is 1:\n%s", text)
			}
		})
	}
}
