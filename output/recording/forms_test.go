package recording_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/net/html"

	"example.org/homenode/capture"
	"example.org/homenode/internal/formtest"
	"example.org/homenode/internal/golden"
	"example.org/homenode/numa"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/format"
	"example.org/homenode/output/recording"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/policy"
	"example.org/homenode/source/demo"
	"example.org/homenode/source/incident"
	"example.org/homenode/source/scenario/given"
)

// A night on two hosts: sql01 loses its memory and is powered on again, the capture of
// esx07 stops for a quarter of an hour, esx08 says little.
const captureNight = `
start 2026-11-20T22:00:00Z
every 60s
host esx07 free=400GB minFree=8GB state=high
node 0 memory=256GB free=60GB busy=45%
node 1 memory=256GB free=120GB busy=40%
vm sql01 gid=4711 vcpus=16 memory=192GB homes=0 local=180GB remote=4GB ready=0.8% costop=0.1%
vm web01 gid=4712 vcpus=4 memory=16GB homes=1 local=15GB remote=0 ready=0.3%
50m  node 0 busy=97%
50m  vm sql01 ready=9%
1h   vm sql01 homes=1 local=70GB remote=114GB
1h   vm sql01 ready=2%
1h   node 0 free=5GB
2h   host esx07 state=soft
130m host esx07 state=high
3h   vm sql01 off
3h2m vm sql01 on gid=4799 homes=0,1 local=184GB remote=0
3h   node 0 busy=40%
host esx08
vm app01 gid=91 vcpus=2 ready=0.4%
vm app02 gid=92 vcpus=2 homes=0 local=6GB remote=2GB moves=1
4h   end
`

func record(t testing.TB, in *incident.Incident, leave func(*numa.Tick) bool) []*capture.Recording {
	t.Helper()
	r := capture.NewRecorders(capture.Options{
		Locality: .8, Remote: 8 * numa.GiB, BusyNode: .9, IdleNode: .5, Ready: .05, SpillFree: 4 * numa.GiB, SpillStep: 64 * numa.MiB, Lopsided: .9,
		Window: 10 * time.Minute, Gap: 5 * time.Minute, Buckets: 64,
	})
	r.Open("night.csv", "esxtop batch CSV")
	err := in.Ticks(func(k *numa.Tick) error {
		if leave == nil || !leave(k) {
			r.Add(k)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	r.Warn("night.csv:17:5: found \"n/a\", want a number")
	return r.Recordings()
}

// at is so many minutes after the start of the night.
func at(minutes int) time.Time {
	return time.Date(2026, 11, 20, 22, minutes, 0, 0, time.UTC)
}

// watchedNight returns the night with findings as rules would make them: their own texts
// are no part of these tests.
func watchedNight(t testing.TB) *rules.Watched {
	t.Helper()
	in, err := incident.Read("night.txt", []byte(captureNight))
	if err != nil {
		t.Fatal(err)
	}
	w := &rules.Watched{Recordings: record(t, in, func(k *numa.Tick) bool {
		return k.Host == "esx07" && k.Time.After(at(110)) && k.Time.Before(at(125))
	})}
	w.Notes = []numa.Note{{At: "esx08", Text: "VM app02: recorded with 2 vCPUs, 4 in the inventory"}}
	w.Findings = []finding.Finding{
		{Rule: "M001", Title: "N%L was low", Severity: finding.High, Host: "esx07", VM: "sql01", GID: 4711, Message: "38 % at the least", Advice: "make room",
			Evidence: []finding.Evidence{{Name: "least N%L", Value: "38 %", Origin: "read: NLMEM, NRMEM", At: "2026-11-20 23:00:00"}}},
		{Rule: "M004", Title: "one node was overloaded", Severity: finding.Medium, Host: "esx07", Message: "node 0 97 %, node 1 40 %", From: at(50), To: at(180)},
		{Rule: "M009", Title: "the VM waited for cores", Severity: finding.Medium, Host: "esx08", VM: "app02", GID: 92, Message: "it waited", Assumes: []string{"the release is 6.7"}},
		{Rule: "M002", Title: "the home node changed", Severity: finding.Info, Host: "esx07", VM: "sql01", GID: 4799, Message: "twice", From: at(200), To: at(200)},
	}
	low := w.Recordings[0].VMs[0].Low.Longest
	w.Findings[0].From, w.Findings[0].To = low.From, low.To
	return w
}

// formNames are the forms of captures, csv with each of its tables.
func formNames() []string {
	names := []string{"table", "json", "sarif", "junit", "markdown", "html"}
	for _, one := range recording.CaptureTables() {
		names = append(names, "csv "+one)
	}
	return names
}

// notOurs is what the golden page leaves out: the style, the script and their hashes, which
// package form has; drawings, which package timeline tests; and the texts of rules.
var notOurs = regexp.MustCompile(`(?s)<style>.*?</style>|<script>.*?</script>|sha256-.*?&#39;|<svg .*?</svg>|<details class="about">.*?</details>`)

// Small golden files of each form: what a person reads.
func TestCaptureForms(t *testing.T) {
	w := watchedNight(t)
	o := format.Options{Version: "1.2.3", FailOn: finding.High, SourceFiles: []string{"night.csv"}}
	for _, name := range formNames() {
		got := written(t, name, recording.Capture(w, recording.Options{Version: "1.2.3", Words: []string{"night.csv"}}), o)
		switch name {
		case "csv rules", "sarif", "json": // all rules with their texts; the data of JSON is in the corpus
			continue
		case "html":
			formtest.Page(t, got)
			got = notOurs.ReplaceAll(got, []byte("…"))
		}
		golden.Equal(t, got, "testdata/capture."+strings.ReplaceAll(name, " ", "."))
	}
	w.Filter = "VM web01"
	w.Recordings[0].VMs, w.Findings = w.Recordings[0].VMs[1:2], nil
	w.Recordings = w.Recordings[:1]
	alone := recording.Capture(w, recording.Options{VM: "web01", Words: []string{"night.csv", "--vm", "web01"}})
	golden.Equal(t, written(t, "table", alone, format.Options{Details: true}), "testdata/vm.table")
	formtest.Page(t, written(t, "html", alone, format.Options{}))
}

// demoWatched judges the night of the demo, with its inventory.
func demoWatched(t testing.TB) *rules.Watched {
	t.Helper()
	in, err := demo.Capture()
	if err != nil {
		t.Fatal(err)
	}
	f := given.Demo(t)
	r := capture.NewRecorders(rules.CaptureOptions(nil))
	if err := in.Ticks(func(k *numa.Tick) error { r.Add(k); return nil }); err != nil {
		t.Fatal(err)
	}
	return rules.Watch(r.Recordings(), rules.Run(f, rules.Options{}), rules.Options{})
}

// hostileWatched returns recordings in which every text that a stranger chooses is hostile.
func hostileWatched(t testing.TB) *rules.Watched {
	t.Helper()
	w := watchedNight(t)
	n := 0
	name := func() string { n++; return formtest.HostileNames[n%len(formtest.HostileNames)] + fmt.Sprint(n) }
	for _, rec := range w.Recordings {
		old := rec.Host
		rec.Host = name()
		rec.Files[0].Name, rec.Files[0].Format, rec.Files[0].Warnings = name(), name(), []string{name()}
		rec.Lacks = append(rec.Lacks, name())
		for i := range rec.VMs {
			v := &rec.VMs[i]
			was := v.Name
			v.Name = name()
			for j := range w.Findings {
				if f := &w.Findings[j]; f.Host == old && f.VM == was && f.GID == v.GID {
					f.VM, f.Message, f.Advice, f.Evidence = v.Name, name(), name(), []finding.Evidence{{Name: name(), Value: name(), Origin: name(), At: name()}}
				}
			}
		}
		for j := range w.Findings {
			if f := &w.Findings[j]; f.Host == old {
				f.Host = rec.Host
			}
		}
	}
	w.Notes = []numa.Note{{At: name(), Text: name()}}
	w.Suppressed = []policy.Suppressed{{Finding: w.Findings[0], By: policy.Suppression{Reason: name(), Until: "2999-01-01", At: name()}}}
	return w
}

// The same recordings give the same bytes in every form, clean whatever the names are; and
// nothing recorded is no accident.
func TestCaptureFormsAreCleanAndRepeat(t *testing.T) {
	for _, w := range []*rules.Watched{hostileWatched(t), watchedNight(t), demoWatched(t), {}} {
		a := recording.Capture(w, recording.Options{Version: "1.2.3", Details: true})
		for _, name := range formNames() {
			o := format.Options{Version: "1.2.3", Details: true}
			first := written(t, name, a, o)
			switch name {
			case "html":
				formtest.Page(t, first)
			case "json":
				if !json.Valid(first) {
					t.Errorf("no JSON: %s", first)
				}
			default:
				formtest.Clean(t, name, first)
			}
			if !bytes.Equal(first, written(t, name, recording.Capture(w, recording.Options{Version: "1.2.3", Details: true}), o)) {
				t.Errorf("%s: two writings of one result differ", name)
			}
		}
		checkTables(t, a)
	}
	if got, want := strings.Join(recording.CaptureTables(), " "), "findings vms nodes hosts changes files suppressed rules notes about"; got != want {
		t.Errorf("tables %s, want %s", got, want)
	}
}

// checkTables counts the rows and cells of the tables for spreadsheets.
func checkTables(t *testing.T, a *answer.Answer) {
	t.Helper()
	for _, one := range a.Data {
		rows := 0
		for row := range one.Rows {
			if rows++; len(row) != len(one.Columns) {
				t.Fatalf("%s: row %d has %d cells, want %d", one.Name, rows, len(row), len(one.Columns))
			}
		}
		if rows != one.Len {
			t.Errorf("%s: has %d rows, says %d", one.Name, rows, one.Len)
		}
	}
}

// Hostile names stay text on the page: its elements are those of the page with other names.
func TestCaptureHTMLHostile(t *testing.T) {
	elements := func(w *rules.Watched) map[string]int {
		root, err := html.Parse(bytes.NewReader(written(t, "html", recording.Capture(w, recording.Options{}), format.Options{})))
		if err != nil {
			t.Fatal(err)
		}
		n := map[string]int{}
		for one := range root.Descendants() {
			if one.Type == html.ElementNode {
				n[one.Data]++
			}
		}
		return n
	}
	plain, hostile := elements(watchedNight(t)), elements(hostileWatched(t))
	for name, n := range hostile {
		if plain[name] == 0 {
			t.Errorf("%d elements <%s> come from names", n, name)
		}
	}
	if hostile["script"] != 1 || hostile["svg"] != 4 {
		t.Errorf("%d scripts, %d drawings; want 1 and 4", hostile["script"], hostile["svg"])
	}
}

func TestCaptureSARIF(t *testing.T) {
	s := formtest.SARIFSchema(t)
	for _, w := range []*rules.Watched{hostileWatched(t), watchedNight(t), demoWatched(t), {}} {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(written(t, "sarif", recording.Capture(w, recording.Options{}), format.Options{SourceFiles: []string{"night.csv"}})))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(doc); err != nil {
			t.Error(err)
		}
	}
	var log formtest.SARIF
	if err := json.Unmarshal(written(t, "sarif", recording.Capture(watchedNight(t), recording.Options{}), format.Options{SourceFiles: []string{"night.csv", "other.csv"}}), &log); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range log.Runs[0].Results {
		where := r.Locations[0]
		got = append(got, r.RuleID+" "+where.PhysicalLocation.ArtifactLocation.URI+" "+where.LogicalLocations[0].FullyQualifiedName+" "+where.LogicalLocations[0].DecoratedName)
	}
	want := []string{"M001 night.csv esx07/sql01 (gid 4711) gid 4711", "M004 night.csv esx07 ", "M009 night.csv esx08/app02 gid 92", "M002 night.csv esx07/sql01 (gid 4799) gid 4799"}
	if !slices.Equal(got, want) {
		t.Errorf("results\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, r := range log.Runs[0].Tool.Driver.Rules {
		if !regexp.MustCompile(`^M\d+$`).MatchString(r.ID) {
			t.Errorf("rule %s judges no recordings", r.ID)
		}
	}
}

// Every host and life of a VM is a test with a name of its own, and the failures hold every
// finding from the threshold on.
func TestCaptureJUnit(t *testing.T) {
	for _, w := range []*rules.Watched{hostileWatched(t), watchedNight(t), demoWatched(t), {}} {
		var got junitRead
		if err := xml.Unmarshal(written(t, "junit", recording.Capture(w, recording.Options{}), format.Options{FailOn: finding.Medium}), &got); err != nil {
			t.Fatal(err)
		}
		tests, failed := 0, 0
		seen := map[string]bool{}
		for _, s := range got.Suites {
			for _, c := range s.Cases {
				tests++
				if seen[s.Name+"\x00"+c.Name] {
					t.Errorf("two tests of %s are named %q", s.Name, c.Name)
				}
				seen[s.Name+"\x00"+c.Name] = true
				for _, f := range c.Failure {
					failed += len(regexp.MustCompile(`(?m)^(INFO|LOW|MEDIUM|HIGH) `).FindAllString(f.Text, -1))
				}
			}
		}
		want := 1
		for _, rec := range w.Recordings {
			want += 1 + len(rec.VMs)
		}
		if tests != want || got.Tests != want || failed != w.AtLeast(finding.Medium) {
			t.Errorf("%d tests, %d findings in failures; says %d tests; want %d and %d", tests, failed, got.Tests, want, w.AtLeast(finding.Medium))
		}
	}
}

func TestCaptureSVG(t *testing.T) {
	w := watchedNight(t)
	for _, tt := range []struct{ name, id, err string }{
		{"esx07", `id="capture-esx07"`, ""},
		{"web01", `id="capture-esx07__vm-web01__gid-4712"`, ""},
		{"esx08/app02", `id="capture-esx08__vm-app02__gid-92"`, ""},
		{"sql01 (gid 4799)", `id="capture-esx07__vm-sql01__gid-4799"`, ""},
		{"sql01", "", `"sql01" could be each of esx07/sql01 (gid 4711), esx07/sql01 (gid 4799)`},
		{"", "", `2 hosts were recorded: name one with --vm: esx07, esx08`},
	} {
		var b bytes.Buffer
		a, err := recording.CaptureDrawing(w, tt.name)
		if err == nil {
			err = format.SVG(&b, a)
		}
		if text := fmt.Sprint(err); err != nil && text != tt.err || err == nil && tt.err != "" || !strings.Contains(b.String(), tt.id) {
			t.Errorf("%q: error %v; want %q, and a drawing with %s", tt.name, err, tt.err, tt.id)
		}
	}
	if _, err := recording.CaptureDrawing(&rules.Watched{}, ""); err == nil || err.Error() != "no host was recorded" {
		t.Errorf("nothing recorded: error %v", err)
	}
}
