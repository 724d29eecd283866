package fleet_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"example.org/homenode/internal/formtest"
	"example.org/homenode/internal/golden"
	"example.org/homenode/numa"
	"example.org/homenode/output/fleet"
	"example.org/homenode/output/format"
	"example.org/homenode/output/table"
	"example.org/homenode/rules"
	"example.org/homenode/rules/filter"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/policy"
	"example.org/homenode/rules/rule"
	judged "example.org/homenode/rules/verdict/fleet"
	"example.org/homenode/source/demo"
)

// hostileFleet returns a fleet in which each hostile name is the name of a host, a
// cluster or a VM with findings, in the notes and in the places that were read.
func hostileFleet(t testing.TB) *rules.Result {
	t.Helper()
	text := "release 7.0U3\ncluster c\nhost h1 nodes=2 cores=18 memory=1024GB\nhost h2 nodes=? cores=18\n" +
		fmt.Sprintf("vm a[01-%02d] host=h1 vcpus=32 coresPerSocket=2 memory=384GB hotAdd=on\nvm u vcpus=?\n", len(formtest.HostileNames))
	f := htmlResult(t, text).Fleet
	for i, name := range formtest.HostileNames {
		v := &f.VMs[i]
		v.Name, v.At, v.VCPUs.Origin.Where, v.Folder = name, name, name, name
		f.Notes = append(f.Notes, numa.Note{At: name, Text: name})
		f.Source += name
		f.Clusters[0].Name += name
		f.Hosts[0].Name += name
	}
	return rules.Run(f, rules.Options{})
}

func written(t testing.TB, write func(io.Writer) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// as writes a result in one of the forms.
func as(r *rules.Result, name string, o format.Options) func(io.Writer) error {
	return func(w io.Writer) error {
		return format.Write(w, name, fleet.Assess(r, fleet.Options{Version: o.Version}), o)
	}
}

// formats writes a result in every form for files.
func formats(r *rules.Result, o format.Options) map[string]func(io.Writer) error {
	out := map[string]func(io.Writer) error{"sarif": as(r, "sarif", o), "junit": as(r, "junit", o), "markdown": as(r, "markdown", o)}
	for _, name := range fleet.TableNames() {
		o.Table = name
		out["csv "+name] = as(r, "csv", o)
	}
	return out
}

// tables returns the tables of a result for spreadsheets.
func tables(r *rules.Result) []table.Table { return fleet.Assess(r, fleet.Options{}).Data }

// The same fleet gives the same bytes in every form, without control characters
// whatever the names are.
func TestExportsAreCleanAndRepeat(t *testing.T) {
	for _, r := range []*rules.Result{hostileFleet(t), htmlResult(t, htmlFleet), htmlResult(t, "release 7.0U3\ncluster c\n")} {
		for name, write := range formats(r, format.Options{Version: "1.2.3", FailOn: finding.Medium, Details: true}) {
			first := written(t, write)
			formtest.Clean(t, name, first)
			if !bytes.Equal(first, written(t, write)) {
				t.Errorf("%s: two writings of one result differ", name)
			}
		}
	}
}

// Small golden files of each form: what a person reads. They leave out the texts of
// rules.
func TestExports(t *testing.T) {
	r := htmlResult(t, htmlFleet)
	r.Fleet.Source, r.Fleet.Collected = "fleet.txt", "2026-11-20T09:30:00Z"
	r.Fleet.Notes = []numa.Note{{At: "vc01.example.com", Text: "the account sees 2 of 3 clusters"}}
	// Three rules, so that no rule to come changes the files.
	r.Findings = slices.DeleteFunc(r.Findings, func(f finding.Finding) bool { return f.Rule != "N001" && f.Rule != "N002" && f.Rule != "N005" })
	o := format.Options{Version: "1.2.3", FailOn: finding.High, SourceFiles: []string{"fleet.txt"}}
	for name, write := range formats(r, o) {
		if name != "csv rules" && name != "sarif" {
			golden.Equal(t, written(t, write), "testdata/export."+strings.ReplaceAll(name, " ", "."))
		}
	}
}

// TestAssumed: the table of VMs says what was assumed, also of a VM without findings.
func TestAssumed(t *testing.T) {
	r := htmlResult(t, "release 7.0U3\nhost h nodes=2 cores=18 memory=512GB\nvm a host=h vcpus=4 memory=8GB\n")
	r.Fleet.VMs[0].CoresPerSocket = numa.Fact[int]{}
	r = rules.Run(r.Fleet, rules.Options{})
	rows, err := csv.NewReader(bytes.NewReader(written(t, as(r, "csv", format.Options{Table: "vms"})))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if got := rows[1][slices.Index(rows[0], "Assumed")]; !strings.Contains(got, "cores per socket are unknown: 1 is taken") {
		t.Errorf("found %q of %v", got, rows)
	}
}

// TestSameOnAllHosts: the column of the table of VMs says it of as many VMs as the table of clusters.
func TestSameOnAllHosts(t *testing.T) {
	r := htmlResult(t, "release 8.0U3\ncluster p\nhost a[1-2] nodes=2 cores=16 memory=512GB\nhost b nodes=2 cores=8 memory=256GB\nhost c nodes=2 cores=16 memory=512GB release=7.0\n"+
		"vm gpu host=a1 vcpus=4 memory=20GB hw=17 reserveAll=on pci=3b:00.0\nvm new host=a1 vcpus=4 memory=20GB hw=20\nvm wide host=a1 vcpus=12 memory=20GB hw=17\nvm app host=a1 vcpus=4 memory=20GB hw=17\n")
	var differ []string
	rows, err := csv.NewReader(bytes.NewReader(written(t, as(r, "csv", format.Options{Table: "vms"})))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows[1:] {
		if row[slices.Index(rows[0], "Same on all hosts")] != "True" {
			differ = append(differ, row[slices.Index(rows[0], "VM")])
		}
	}
	if got := judged.Clusters(r)[0].Differing; got != 3 || len(differ) != got {
		t.Errorf("%d VMs differ by host, those of the table are %q", got, differ)
	}
}

// TestStopped: a VM that does not power on has no layout, neither on the page nor in tables.
func TestStopped(t *testing.T) {
	r := htmlResult(t, "release 8.0U3\nhost h nodes=2 cores=18 memory=512GB\nvm a host=h vcpus=4 memory=8GB latency=high\n")
	rows, err := csv.NewReader(bytes.NewReader(written(t, as(r, "csv", format.Options{Table: "vms"})))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Guest nodes", "Clients", "Home nodes", "Virtual sockets", "NUMA-managed"} {
		if got := rows[1][slices.Index(rows[0], name)]; got != "" {
			t.Errorf("%s: found %q, want none", name, got)
		}
	}
	if page := string(written(t, as(r, "html", format.Options{}))); !strings.Contains(page, "does not power on</td><td data-v=\"0\">–</td>") || strings.Contains(page, "no client") {
		t.Error("the page has a layout of a VM that does not power on")
	}
}

// filtered returns the part of htmlFleet that the options show.
func filtered(t *testing.T, o filter.Options) *rules.Result {
	t.Helper()
	f, err := filter.New(o)
	if err != nil {
		t.Fatal(err)
	}
	r, err := f.Fleet(t.Context(), htmlResult(t, htmlFleet))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A filter shows each VM and host once, and no other.
func TestFiltered(t *testing.T) {
	r := filtered(t, filter.Options{Hosts: []string{"esx01"}})
	var names []string
	for _, suite := range fleet.Assess(r, fleet.Options{}).Findings.Suites {
		for _, c := range suite.Cases {
			names = append(names, c.Name)
		}
	}
	if got, want := strings.Join(names, " "), "host esx01 sql01"; !strings.HasPrefix(got, want) || strings.Contains(got, "esx02") || strings.Count(got, "sql01") != 1 {
		t.Errorf("cases %s, want %s and other VMs of esx01", got, want)
	}
}

func TestTablesAreWhole(t *testing.T) {
	host, vm := filtered(t, filter.Options{Hosts: []string{"esx01"}}), filtered(t, filter.Options{VMs: []string{"sql01", "gold"}})
	for _, r := range []*rules.Result{hostileFleet(t), htmlResult(t, htmlFleet), host, vm, {Fleet: &numa.Fleet{}}} {
		for _, one := range tables(r) {
			rows := 0
			for row := range one.Rows {
				rows++
				if len(row) != len(one.Columns) {
					t.Fatalf("%s: row %d has %d cells, want %d", one.Name, rows, len(row), len(one.Columns))
				}
			}
			if rows != one.Len {
				t.Errorf("%s: has %d rows, says %d", one.Name, rows, one.Len)
			}
			for range one.Rows { // a reader may stop
				break
			}
		}
	}
	if got, want := strings.Join(fleet.TableNames(), " "), "findings vms hosts clusters observations suppressed rules notes about"; got != want {
		t.Errorf("tables %s, want %s", got, want)
	}
}

// No text of a CSV file begins a formula, and the guard can be taken off.
func TestCSVHostileNames(t *testing.T) {
	r := hostileFleet(t)
	vms, _ := table.Named(tables(r), "vms")
	records, err := csv.NewReader(bytes.NewReader(written(t, func(w io.Writer) error { return table.CSV(w, vms) }))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	row := 0
	for cells := range vms.Rows {
		row++
		for i, cell := range cells {
			got := records[row][i]
			if _, number := cell.Number(); number {
				continue
			}
			if strings.HasPrefix(strings.TrimSpace(got), "=") || strings.HasPrefix(got, "@") || strings.HasPrefix(got, "+") || strings.HasPrefix(got, "-") {
				t.Errorf("row %d, %s: %q begins a formula", row, vms.Columns[i].Name, got)
			}
			if back := strings.TrimPrefix(got, "'"); back != cell.String() {
				t.Errorf("row %d, %s: %q read back is %q, want %q", row, vms.Columns[i].Name, got, back, cell)
			}
		}
	}
	if row != len(records)-1 || row != len(formtest.HostileNames)+1 {
		t.Errorf("%d rows, %d records; want %d", row, len(records)-1, len(formtest.HostileNames)+1)
	}
}

// The page guards the CSV that it saves as table.Guard does.
func TestPageGuard(t *testing.T) {
	script, err := os.ReadFile("../format/page/page.js")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^ *const guarded = /(.+)/u;$`).FindSubmatch(script)
	if found == nil {
		t.Fatal("found no pattern named guarded in page.js")
	}
	guarded := regexp.MustCompile(string(found[1]))
	for _, name := range append(slices.Clone(formtest.HostileNames), "sql01", "", "a=1", "－1", "＠x", "\u3000＋1", "\u00a0=1", "\u2028=1", "\u0085=1", "\v\f=1", "\x7f@x", "x =1", "−1") {
		if got, want := guarded.MatchString(name), table.Guard(name) != name; got != want {
			t.Errorf("%q: the page guards it: %v, Guard: %v", name, got, want)
		}
	}
}

// Every log keeps to the schema of the standard; a log with one word changed does not.
func TestSARIFSchema(t *testing.T) {
	s := formtest.SARIFSchema(t)
	for _, r := range []*rules.Result{hostileFleet(t), htmlResult(t, htmlFleet), {Fleet: &numa.Fleet{}}} {
		for _, o := range []format.Options{{}, {Version: "1.2.3", SourceFiles: []string{"fleet.txt"}}, {SourceFiles: []string{"/data/a b/ü%:?#.xlsx"}}, {SourceFiles: []string{"x:y.json", "", "fleet.txt"}}} {
			log := written(t, as(r, "sarif", o))
			doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(log))
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Validate(doc); err != nil {
				t.Errorf("%+v: %v", o, err)
			}
			wrong, err := jsonschema.UnmarshalJSON(bytes.NewReader(bytes.ReplaceAll(log, []byte(`"executionSuccessful"`), []byte(`"successful"`))))
			if err != nil {
				t.Fatal(err)
			}
			if s.Validate(wrong) == nil {
				t.Error("the schema takes a log without executionSuccessful: it checks nothing")
			}
		}
	}
}

// TestSuppressedExports: what the configuration accepts is marked in SARIF, noted in
// Markdown, and no finding in either.
func TestSuppressedExports(t *testing.T) {
	fleet, err := demo.Fleet()
	if err != nil {
		t.Fatal(err)
	}
	p := policy.Policy{File: "c.yaml", Suppress: []policy.Suppression{{Rules: []string{"N001"}, VM: []string{"sql01"}, Reason: "contract", Until: "2999-12-31", At: "c.yaml:2:5"}}}
	r := rules.Run(fleet, rules.Options{Policy: &p, Today: time.Now()})
	log := written(t, as(r, "sarif", format.Options{}))
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(log))
	if err != nil {
		t.Fatal(err)
	}
	if err := formtest.SARIFSchema(t).Validate(doc); err != nil {
		t.Error(err)
	}
	if n := bytes.Count(log, []byte(`"justification": "until 2999-12-31: contract (c.yaml:2:5)"`)); n != 1 {
		t.Errorf("%d justifications, want 1", n)
	}
	text := written(t, as(r, "markdown", format.Options{}))
	if want := "1 finding suppressed until 2999-12-31"; !bytes.Contains(text, []byte(want)) {
		t.Errorf("Markdown lacks %q", want)
	}
}

func readSARIF(t *testing.T, r *rules.Result, o format.Options) formtest.SARIF {
	t.Helper()
	var log formtest.SARIF
	if err := json.Unmarshal(written(t, as(r, "sarif", o)), &log); err != nil {
		t.Fatal(err)
	}
	return log
}

func TestSARIFResults(t *testing.T) {
	r := htmlResult(t, htmlFleet)
	log := readSARIF(t, r, format.Options{SourceFiles: []string{"fleet.txt"}})
	run := log.Runs[0]
	judging := len(slices.DeleteFunc(slices.Clone(rules.All), func(one *rule.Rule) bool { return one.Check == nil }))
	if len(run.Tool.Driver.Rules) != judging || len(run.Results) != len(r.Findings) {
		t.Fatalf("%d rules and %d results, want %d and %d", len(run.Tool.Driver.Rules), len(run.Results), judging, len(r.Findings))
	}
	levels := map[finding.Severity]string{finding.High: "fail error", finding.Medium: "fail warning", finding.Low: "fail note", finding.Info: "informational none"}
	for i, res := range run.Results {
		f := &r.Findings[i]
		if run.Tool.Driver.Rules[res.RuleIndex].ID != f.Rule || res.RuleID != f.Rule || res.Kind+" "+res.Level != levels[f.Severity] {
			t.Errorf("result %d: %+v; want %s, %s", i, res, f.Rule, levels[f.Severity])
		}
		where := res.Locations[0]
		id := f.VMID
		if id == "" {
			id = f.HostID
		}
		if got := where.LogicalLocations[0]; got.FullyQualifiedName != f.Subject() || got.DecoratedName != id {
			t.Errorf("result %d: at %+v, want %s (%s)", i, got, f.Subject(), id)
		}
		if where.PhysicalLocation.ArtifactLocation.URI != "fleet.txt" || where.PhysicalLocation.Region == nil {
			t.Errorf("result %d: in %+v, want a line of fleet.txt", i, where.PhysicalLocation)
		}
	}
}

// TestSARIFPlaces: every result has a relative path and a line, or GitHub refuses the
// whole log.
func TestSARIFPlaces(t *testing.T) {
	r := htmlResult(t, "release 7.0U3\ncluster prod\nhost esx01 nodes=2 cores=18 memory=1024GB\nvm .. vcpus=32 memory=64GB hotAdd=on\n")
	for source, want := range map[string]string{
		"https://vc01.example.com/sdk":   "vc01.example.com/sdk/prod",
		"/data/export folder":            "data/export%20folder/prod",
		"vc01:8443":                      "./vc01:8443/prod",
		"vc01.example.com, ../b":         "vc01.example.com,%20../b/prod",
		"":                               "prod",
		"demo (simulated vCenter)\n../x": "demo%20%28simulated%20vCenter%29%20../x/prod",
	} {
		r.Fleet.Source = source
		var got []string
		for _, res := range readSARIF(t, r, format.Options{SourceFiles: []string{""}}).Runs[0].Results {
			where := res.Locations[0].PhysicalLocation
			if where == nil || where.Region == nil || where.Region.StartLine != 1 {
				t.Fatalf("%s: %s has no place: %+v", source, res.RuleID, where)
			}
			if res.RuleID == "N001" {
				got = append(got, where.ArtifactLocation.URI)
			}
		}
		if !slices.Equal(got, []string{want}) {
			t.Errorf("source %q: N001 at %q, want %q", source, got, want)
		}
	}
}

// Fingerprints stay when other VMs come, go or change places; no two are alike.
func TestSARIFFingerprints(t *testing.T) {
	prints := func(fleet string) map[string]string {
		out := map[string]string{}
		for _, res := range readSARIF(t, htmlResult(t, fleet), format.Options{}).Runs[0].Results {
			p := res.PartialFingerprints["homenodeFinding/v1"]
			if out[p] != "" {
				t.Errorf("%s and %s share fingerprint %s", out[p], res.Message.Text, p)
			}
			out[p] = res.RuleID + " " + res.Locations[0].LogicalLocations[0].FullyQualifiedName
		}
		return out
	}
	before := prints(htmlFleet)
	after := prints(strings.Replace(htmlFleet, "vm sql01 ", "vm aaa01 host=esx02 vcpus=32 memory=64GB hotAdd=on\nvm sql01 ", 1))
	for p, what := range before {
		if after[p] != what {
			t.Errorf("fingerprint %s of %s is now of %q", p, what, after[p])
		}
	}
	if len(after) <= len(before) {
		t.Error("the VM that came has no finding: the test shows nothing")
	}
}

// A placeholder or link in a name is text.
func TestSARIFMessages(t *testing.T) {
	for _, res := range readSARIF(t, hostileFleet(t), format.Options{}).Runs[0].Results {
		text := strings.NewReplacer("{{", "", "}}", "", `\[`, "", `\]`, "").Replace(res.Message.Text)
		if strings.ContainsAny(text, "{}") || strings.Contains(text, "](") {
			t.Errorf("the message holds a placeholder or link: %s", res.Message.Text)
		}
	}
}

type junitRead struct {
	Tests    int `xml:"tests,attr"`
	Failures int `xml:"failures,attr"`
	Errors   int `xml:"errors,attr"`
	Skipped  int `xml:"skipped,attr"`
	Suites   []struct {
		Name     string `xml:"name,attr"`
		Tests    int    `xml:"tests,attr"`
		Failures int    `xml:"failures,attr"`
		Cases    []struct {
			Name    string `xml:"name,attr"`
			Class   string `xml:"classname,attr"`
			Failure []struct {
				Message string `xml:"message,attr"`
				Text    string `xml:",chardata"`
			} `xml:"failure"`
			Skipped []struct {
				Message string `xml:"message,attr"`
			} `xml:"skipped"`
			Error []struct{} `xml:"error"`
		} `xml:"testcase"`
	} `xml:"testsuite"`
}

func readJUnit(t *testing.T, r *rules.Result, failOn finding.Severity) junitRead {
	t.Helper()
	var got junitRead
	b := written(t, as(r, "junit", format.Options{FailOn: failOn}))
	if err := xml.Unmarshal(b, &got); err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	return got
}

// The counts are those of the cases, every VM and host is one case with a name of
// its own, and a failure has every finding from the threshold on.
func TestJUnit(t *testing.T) {
	for _, r := range []*rules.Result{hostileFleet(t), htmlResult(t, htmlFleet), htmlResult(t, "release 7.0U3\ncluster c\nhost h nodes=? cores=4\nvm a vcpus=2\n")} {
		for _, failOn := range []finding.Severity{finding.Info, finding.Medium, finding.High} {
			got := readJUnit(t, r, failOn)
			tests, failures, failed, skipped, errs := 0, 0, 0, 0, 0
			seen := map[string]bool{}
			for _, s := range got.Suites {
				for _, c := range s.Cases {
					tests++
					failures, skipped, errs = failures+len(c.Failure), skipped+len(c.Skipped), errs+len(c.Error)
					if seen[s.Name+"\x00"+c.Name] {
						t.Errorf("two tests of %s are named %q", s.Name, c.Name)
					}
					seen[s.Name+"\x00"+c.Name] = true
					for _, f := range c.Failure {
						failed += len(regexp.MustCompile(`(?m)^(INFO|LOW|MEDIUM|HIGH) `).FindAllString(f.Text, -1))
					}
				}
			}
			if want := 1 + len(r.Fleet.Hosts) + len(r.Fleet.VMs); tests != want || got.Tests != tests || got.Failures != failures || got.Skipped != skipped || got.Errors != errs {
				t.Errorf("%d tests, %d failures, %d skipped; says %d, %d, %d; want %d tests", tests, failures, skipped, got.Tests, got.Failures, got.Skipped, want)
			}
			if want := r.AtLeast(failOn); failed != want {
				t.Errorf("from %s: the failures hold %d findings, want %d", failOn, failed, want)
			}
			if (errs == 1) != (r.VMs == 0) {
				t.Errorf("%d errors with %d VMs judged", errs, r.VMs)
			}
		}
	}
}

// TestHiddenCharacters checks that JSON, HTML and drawings hold nothing that hides text or turns it.
func TestHiddenCharacters(t *testing.T) {
	for _, name := range []string{"json", "html", "svg"} {
		formtest.Clean(t, name, bytes.ReplaceAll(written(t, as(hostileFleet(t), name, format.Options{})), []byte("\t"), nil))
	}
}

// Each row of a Markdown table has the cells of its header, and no name becomes
// markup, a link or a mention.
func TestMarkdownHostileNames(t *testing.T) {
	page := string(written(t, as(hostileFleet(t), "markdown", format.Options{FailOn: finding.Info, Version: formtest.Hostile})))
	cells := 0
	for line := range strings.Lines(page) {
		if !strings.HasPrefix(line, "|") {
			cells = 0
			continue
		}
		n := strings.Count(strings.ReplaceAll(strings.ReplaceAll(line, `\\`, ""), `\|`, ""), "|")
		if cells != 0 && n != cells {
			t.Errorf("a row has %d bars, its header %d: %s", n, cells, line)
		}
		cells = n
	}
	text := strings.ReplaceAll(outsideCode(page), "<!-- -->", "\x01")
	for _, markup := range []string{"<", "](", "@all", "@SUM", "https://", "www.", " #1"} {
		if strings.Contains(text, markup) {
			t.Errorf("found %s outside of code:\n%s", markup, text)
		}
	}
}

// outsideCode returns a Markdown page without its code spans and escaped characters.
func outsideCode(page string) string {
	var out strings.Builder
	for page != "" {
		switch n := len(page) - len(strings.TrimLeft(page, "`")); {
		case n > 0:
			fence := page[:n]
			_, rest, _ := strings.Cut(page[n:], fence)
			for strings.HasPrefix(rest, "`") { // a longer run does not close
				_, rest, _ = strings.Cut(strings.TrimLeft(rest, "`"), fence)
			}
			page = rest
		case page[0] == '\\' && len(page) > 1:
			page = page[2:]
		default:
			out.WriteByte(page[0])
			page = page[1:]
		}
	}
	return out.String()
}

// TestMemoryOfExport: the columns of memory add up, and the placement has the words of those above zero; sizes are in MB, the unit of the screen.
func TestMemoryOfExport(t *testing.T) {
	text := "release 7.0U3\ncluster c\nhost h[1-2] nodes=2 cores=18 memory=256GB\n"
	for i, memory := range []int{64, 128, 160, 250, 256, 300, 400} {
		text += fmt.Sprintf("vm v%d host=h1 vcpus=%d memory=%dGB\nvm w%d host=h1 vcpus=24 memory=%dGB\n", i, 2+2*i, memory, i, memory)
	}
	r := htmlResult(t, text)
	for _, one := range tables(r) {
		for _, c := range one.Columns {
			if strings.Contains(c.Name, "MiB") {
				t.Errorf("table %s: column %s, want MB", one.Name, c.Name)
			}
		}
	}
	rows, err := csv.NewReader(bytes.NewReader(written(t, as(r, "csv", format.Options{Table: "vms"})))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	reclaimed := false
	for _, row := range rows[1:] {
		cell := func(name string) string { return row[slices.Index(rows[0], name)] }
		size := func(name string) float64 {
			n, err := strconv.ParseFloat(cell(name), 64)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			return n
		}
		remote, gone := size("Remote MB alone on its host"), size("Ballooned or swapped MB alone on its host")
		if all := size("Local MB alone on its host") + remote + gone; all != size("Memory MB") {
			t.Errorf("%s: local, remote and reclaimed memory are %g MB of %s", cell("VM"), all, cell("Memory MB"))
		}
		placement := cell("Memory placement")
		if strings.Contains(placement, "remote") != (remote > 0) || strings.Contains(placement, "ballooned") != (gone > 0 && remote == 0) {
			t.Errorf("%s: %s, with %g MB remote and %g MB ballooned or swapped", cell("VM"), placement, remote, gone)
		}
		reclaimed = reclaimed || gone > 0 && remote == 0
	}
	if !reclaimed {
		t.Error("no VM has only memory that is ballooned or swapped")
	}
}
