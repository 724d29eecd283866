package fleet_test

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"example.org/homenode/internal/formtest"
	"example.org/homenode/internal/golden"
	"example.org/homenode/numa"
	"example.org/homenode/output/format"
	"example.org/homenode/rules"
	"example.org/homenode/source/scenario/given"
)

// A small fleet with faults of every severity, unlike hosts, a host that cannot be
// judged and a template.
const htmlFleet = `
release 7.0U3
cluster prod
host esx[01-02] nodes=2 cores=18 memory=1024GB cpu="Intel(R) Xeon(R) Gold 6354 CPU @ 3.00GHz"
vm sql01  host=esx01 vcpus=32 coresPerSocket=2 memory=384GB hotAdd=on
vm hana01 host=esx02 vcpus=16 coresPerSocket=16 memory=740GB
vm web[01-03] vcpus=4 memory=16GB hotAdd=on
vm gold vcpus=4 memory=16GB template=on
cluster mixed
host esx11 nodes=2 cores=20 memory=768GB
host esx12 nodes=2 cores=14 memory=512GB
host esx13 nodes=? cores=14
vm erp[01-02] host=esx11 vcpus=18 coresPerSocket=1 memory=192GB
`

func htmlResult(t testing.TB, text string) *rules.Result {
	t.Helper()
	return rules.Run(given.Fleet(t, "fleet.txt", []byte(text)), rules.Options{})
}

func htmlPage(t testing.TB, r *rules.Result, version string) []byte {
	t.Helper()
	return written(t, as(r, "html", format.Options{Version: version}))
}

// notOurs is what the golden page leaves out: the style, the script and their
// hashes, which have files of their own; drawings, which package topo tests; and the
// texts of rules.
var notOurs = regexp.MustCompile(`(?s)<style>.*?</style>|<script>.*?</script>|sha256-.*?&#39;|<svg .*?</svg>|<details class="about">.*?</details>`)

func TestHTML(t *testing.T) {
	r := htmlResult(t, htmlFleet)
	r.Fleet.Source, r.Fleet.Collected = "vc01.example.com", "2026-11-20T09:30:00Z"
	r.Fleet.Notes = []numa.Note{{At: "vc01.example.com", Text: "the account sees 2 of 3 clusters"}}
	page := htmlPage(t, r, "1.2.3")
	if again := htmlPage(t, r, "1.2.3"); !bytes.Equal(page, again) {
		t.Error("two pages of one result differ")
	}
	golden.Equal(t, notOurs.ReplaceAll(page, []byte("…")), "testdata/page.html.golden")
	formtest.Page(t, page)
}

// hostileResult returns a fleet in which every text that a stranger chooses is
// hostile.
func hostileResult(t testing.TB) *rules.Result {
	t.Helper()
	f := htmlResult(t, htmlFleet).Fleet
	f.Source, f.Collected = formtest.Hostile, formtest.Hostile
	f.Notes = []numa.Note{{At: formtest.Hostile, Text: formtest.Hostile}}
	for i := range f.Clusters {
		f.Clusters[i].Name = fmt.Sprint(formtest.Hostile, i)
	}
	for i := range f.Hosts {
		h := &f.Hosts[i]
		h.Name, h.At, h.CPUModel.Value = formtest.Hostile, formtest.Hostile, formtest.Hostile
	}
	for i := range f.VMs {
		v := &f.VMs[i]
		v.Name, v.At, v.VCPUs.Origin.Where = formtest.Hostile, formtest.Hostile, formtest.Hostile
	}
	return rules.Run(f, rules.Options{})
}

// Every text that a stranger chooses stays text.
func TestHTMLHostileNames(t *testing.T) {
	r := hostileResult(t)
	page := htmlPage(t, r, formtest.Hostile)
	formtest.Page(t, page)
	root, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	names := 0
	for n := range root.Descendants() {
		if n.Type == html.TextNode && n.Data == formtest.Hostile {
			names++
		}
	}
	if want := 2*r.VMs + 3; names < want { // names and hosts of the rows, source, note, version
		t.Errorf("the hostile text stands %d times on the page, want at least %d", names, want)
	}
}

func TestHTMLVerdict(t *testing.T) {
	const host = "release 7.0U3\ncluster c\nhost esx01 nodes=2 cores=18 memory=1024GB\n"
	for _, tt := range []struct{ name, fleet, verdict, rest string }{
		{"empty", "release 7.0U3\ncluster c\n", "The inventory is empty: it lists no VM.", ""},
		{"fine", host + "vm a vcpus=2 memory=8GB\n", "No performance is lost to NUMA that settings could avoid (1 VM checked).", ""},
		{"high", host + "vm a vcpus=32 memory=64GB hotAdd=on\nvm b vcpus=2 memory=8GB\n",
			"NUMA slows 1 of 2 VMs.", "The other 1 needs nothing urgent."},
		{"unjudged", host + "vm a vcpus=? memory=64GB\n", "No VM could be judged.", "1 VM could not be judged: see the notes."},
		{"both", htmlFleet, "NUMA slows 2 of 7 VMs; 2 more slightly, or after a vMotion.",
			"The other 3 need nothing urgent, as far as is known. 1 host is not judged: esx13. Not known: the guest software (perhaps SAP HANA by its name) of 1 VM."},
		{"host", "release 7.0U3\ncluster c\nhost esx01 nodes=1 cores=36 packages=2 memory=1024GB cpu=\"Intel(R) Xeon(R) Gold 6254 CPU @ 3.10GHz\"\nvm a vcpus=2 memory=8GB\n",
			"NUMA slows 1 of 1 VM.", "1 host has findings of its own of medium or high severity."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			page := string(htmlPage(t, htmlResult(t, tt.fleet), ""))
			if got := between(page, "<h1>", "</h1>"); got != tt.verdict {
				t.Errorf("verdict %q, want %q", got, tt.verdict)
			}
			if got := between(page, `<p class="rest">`, "</p>"); got != tt.rest {
				t.Errorf("rest %q, want %q", got, tt.rest)
			}
		})
	}
}

func between(s, from, to string) string {
	_, s, _ = strings.Cut(s, from)
	if s, _, ok := strings.Cut(s, to); ok {
		return s
	}
	return ""
}

// The page of 300 VMs stays below 2 MB; that of 10,000 opens, and says what it
// leaves out.
func TestHTMLSize(t *testing.T) {
	const cluster = `
cluster c%[1]d
host h%[1]d-[01-08] nodes=2 cores=18 memory=1024GB
vm sql%[1]d-[01-%02[2]d] vcpus=32 coresPerSocket=2 memory=384GB hotAdd=on
vm web%[1]d-[001-%03[3]d] vcpus=4 memory=16GB hotAdd=on
vm app%[1]d-[001-%03[3]d] vcpus=12 coresPerSocket=1 memory=64GB
`
	for _, tt := range []struct {
		name               string
		clusters, sql, web int
		most               int
		cut                []string
	}{
		{"300 VMs", 3, 20, 40, 2 << 20, nil},
		{"10,000 VMs", 20, 60, 220, 12 << 20, []string{"16 more kinds of hosts are not drawn here"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := "release 7.0U3\n"
			for i := range tt.clusters {
				text += fmt.Sprintf(cluster, i, tt.sql, tt.web)
			}
			r := htmlResult(t, text)
			page := htmlPage(t, r, "")
			t.Logf("%d VMs, %d findings: %d bytes", r.VMs, len(r.Findings), len(page))
			if len(page) > tt.most {
				t.Errorf("the page has %d bytes, want at most %d", len(page), tt.most)
			}
			if n := strings.Count(string(page), `<tr><th scope="row">`); n < r.VMs {
				t.Errorf("the page has %d rows, want one for each of %d VMs", n, r.VMs)
			}
			for _, cut := range tt.cut {
				if !strings.Contains(string(page), cut) {
					t.Errorf("the page does not say %q", cut)
				}
			}
		})
	}
}
