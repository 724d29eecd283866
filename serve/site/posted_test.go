package site

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/homenode/change/fix"
	"example.org/homenode/output/answer"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
	"example.org/homenode/serve/board"
	"example.org/homenode/serve/held"
	"example.org/homenode/source/scenario/given"
)

// heldFleet is a Site of a small fleet.
func heldFleet(t *testing.T, text string) *Site {
	t.Helper()
	f := given.Fleet(t, "test", []byte(text))
	fleet := &held.Fleet{Name: "c", Result: rules.Run(f, rules.Options{}), Sources: []string{"fleet.txt"}}
	return &Site{Fleets: func() []*held.Fleet { return []*held.Fleet{fleet} }}
}

// TestPosted leads a short form on to its address, and answers a long one with its text kept, also when the answer is an error.
func TestPosted(t *testing.T) {
	s := heldFleet(t, "release 8.0U2\ncluster c\nhost esx1 cluster=c packages=2 nodes=2 cores=16 memory=512GB\nvm db host=esx1 vcpus=4 memory=16GB\n")
	mux := http.NewServeMux()
	for pattern, h := range s.Handlers() {
		mux.Handle(pattern, h)
	}
	post := func(path string, q url.Values) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(q.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, r)
		return w
	}
	if w := post("/what-if", url.Values{"vm": {"db"}, "vcpus": {"8"}}); w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/what-if?vcpus=8&vm=db" {
		t.Errorf("status %d to %s", w.Code, w.Header().Get("Location"))
	}
	long := strings.Repeat("db,", 35_000) + "db"
	w := post("/what-if", url.Values{"vm": {long}, "vcpus": {"8"}})
	if body := w.Body.String(); w.Code != http.StatusOK || !strings.Contains(body, `value="`+long+`"`) || len(body) > 400_000 {
		t.Errorf("status %d, %d bytes, the text %d times", w.Code, len(body), strings.Count(body, long))
	}
	w = post("/calculator", url.Values{"kind": {"fit"}, "vm": {long}})
	if body := w.Body.String(); w.Code != http.StatusBadRequest || !strings.Contains(body, `value="`+long+`"`) {
		t.Errorf("an error loses the text: status %d, %d bytes", w.Code, len(body))
	}
	if w := post("/what-if", url.Values{"vm": {strings.Repeat("x", 2<<20)}}); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "at most 1 MB") {
		t.Errorf("beyond all: status %d", w.Code)
	}
}

// TestExampleLeft asks about the fleet: values of the example take no part in the answer, and what a reader typed does.
func TestExampleLeft(t *testing.T) {
	s := heldFleet(t, "release 8.0U2\ncluster c\nhost esx1 cluster=c packages=2 nodes=2 cores=16 memory=512GB\nvm db host=esx1 vcpus=4 memory=16GB\n")
	_, _, alone := get(t, s, "/calculator?kind=fit&source=SOURCE&cluster=all")
	status, _, mixed := get(t, s, "/calculator?kind=fit&vm=24x192GB*40&hosts=2x32c/1TB,2x48c/1.5TB,2x64c/2TB&source=SOURCE&cluster=all")
	headline := func(body string) string {
		_, rest, _ := strings.Cut(body, "<h1>")
		h, _, _ := strings.Cut(rest, "</h1>")
		return h
	}
	if status != http.StatusOK || headline(mixed) != headline(alone) || !strings.Contains(mixed, "The values of the example were left out") || strings.Contains(alone, "left out:") {
		t.Errorf("status %d: %s, and without the example %s", status, headline(mixed), headline(alone))
	}
	if _, _, chosen := get(t, s, "/calculator?kind=fit&cluster=all"); headline(chosen) != headline(alone) {
		t.Error("a cluster without a fleet: " + headline(chosen))
	}
	if _, _, empty := get(t, s, "/calculator?kind=fit"); !strings.Contains(empty, `<option value="SOURCE" selected>`) || !strings.Contains(empty, "How many hosts VMs need") {
		t.Error("the form does not begin with the fleet")
	}
	if _, _, bare := get(t, heldFleet(t, "release 8.0U2\nvm db vcpus=4 memory=16GB\n"), "/calculator?kind=fit&source=SOURCE&vm=4x16GB"); !strings.Contains(bare, "The fleet describes no host") {
		t.Error("an error that does not name the field of the page: " + headline(bare))
	}
	if _, _, typed := get(t, s, "/calculator?kind=fit&vm=24x192GB*7&source=SOURCE&cluster=all"); headline(typed) == headline(alone) {
		t.Error("what was typed takes no part: " + headline(typed))
	}
}

// TestWaysOn leads on from a plan that changes nothing.
func TestWaysOn(t *testing.T) {
	s := heldFleet(t, "release 8.0U2\ncluster c\nhost esx1 cluster=c packages=2 nodes=2 cores=16 memory=512GB\nvm db host=esx1 vcpus=4 memory=16GB\n")
	_, _, body := get(t, s, "/plans?vm=db")
	for _, want := range []string{`href="/plans">Plan for the whole fleet`, `href="/what-if?vm=db">What if`} {
		if !strings.Contains(body, want) {
			t.Errorf("%q is not on the page", want)
		}
	}
	if strings.Contains(body, "table-changes") {
		t.Error("an empty table")
	}
	x := &request{Request: httptest.NewRequest(http.MethodGet, "/plans", nil), page: &screen{path: "/plans"}, query: url.Values{}}
	table := answer.Table{}
	table.Add("it divides the VM further: --allow split, or keep it off")
	ways := x.waysOn(&answer.Answer{Tables: []answer.Table{table}, Result: &fix.Plan{}}, []field{{Name: "allow-split", Label: "Allow splitting", Check: true}, {Name: "allow-host", Label: "Allow hosts", Check: true}})
	if len(ways) != 2 || ways[0] != (link{"Allow splitting", "/plans?allow-split=on"}) {
		t.Errorf("%v", ways)
	}
}

// TestPresets begins a simulation with the host of the most VMs that another one stands beside.
func TestPresets(t *testing.T) {
	s := heldFleet(t, "release 8.0U2\ncluster c\nhost esx[1-2] cluster=c packages=2 nodes=2 cores=16 memory=512GB\nhost lone cluster=none packages=2 nodes=2 cores=16 memory=512GB\nvm db[1-3] host=lone vcpus=4 memory=16GB\nvm app host=esx2 vcpus=4 memory=16GB\n")
	x, err := s.request(&screen{path: "/simulate"}, httptest.NewRequest(http.MethodGet, "/simulate", nil))
	if err != nil {
		t.Fatal(err)
	}
	links := x.presets()
	if len(links) != 4 || links[1].Text != "esx2 fails at 02:00" {
		t.Fatalf("%v", links)
	}
	for _, l := range links {
		if status, _, body := get(t, s, l.Address); status != http.StatusOK || !strings.Contains(body, "Simulated") {
			t.Errorf("%s: status %d", l.Address, status)
		}
	}
}

// TestOrder: on the pages of a VM and of a host the drawings come first, then the cure, then why and the facts.
func TestOrder(t *testing.T) {
	s := heldFleet(t, "release 7.0U3\ncluster c\nhost esx[1-2] cluster=c packages=2 nodes=2 cores=16 memory=512GB\nvm sql host=esx1 vcpus=24 memory=64GB hotAdd=on\n")
	for page, order := range map[string][]string{
		"/vm?vm=sql":      {`id="drawings"`, `<section id="table-plan">`, `<section id="table-why">`, `<section id="table-facts">`},
		"/host?host=esx1": {`id="drawings"`, ">Do first", `<section id="table-nodes">`, `id="findings"`},
	} {
		_, _, body := get(t, s, page)
		last := 0
		for _, part := range order {
			at := strings.Index(body, part)
			if at < last {
				t.Errorf("%s: %s at %d, after a part at %d", page, part, at, last)
			}
			last = at
		}
	}
}

// TestHostVerdict: the verdict about a host begins with the present and the last day, and without both it is that about its settings.
func TestHostVerdict(t *testing.T) {
	share := 0.5
	low := []board.VMNow{{VM: "db", Locality: &share}}
	past := &lately{over: "last 24 hours", events: eventsOf([]board.Alarm{{VCenter: "vc", Begin: time.Unix(100, 0), End: time.Unix(200, 0), Finding: finding.Finding{Rule: "M001", Severity: finding.High, VM: "db", VMID: "vm-1", Host: "esx1"}}}, time.Unix(300, 0))}
	settings := []string{"esx1 is well set.", "More."}
	now, lost := "Now: 1 VM runs with much remote memory: db (50 % local).", "Last 24 hours: 1 VM had trouble: db."
	for _, tt := range []struct {
		low  []board.VMNow
		past *lately
		want []string
	}{
		{nil, &lately{}, settings},
		{low, &lately{}, []string{now, "Settings: esx1 is well set.", "More."}},
		{nil, past, []string{lost, "Settings: esx1 is well set.", "More."}},
		{low, past, []string{now, lost, "Settings: esx1 is well set.", "More."}},
	} {
		if got := hostVerdict(tt.low, tt.past, settings); !slices.Equal(got, tt.want) {
			t.Errorf("found %q, want %q", got, tt.want)
		}
	}
}

// TestPlanGone names the page that makes a plan anew as the menu does, and leads to it.
func TestPlanGone(t *testing.T) {
	s := heldFleet(t, "release 8.0U2\ncluster c\nhost esx1 nodes=2 cores=16 memory=512GB\nvm db host=esx1 vcpus=4 memory=16GB\n")
	if status, _, body := get(t, s, "/plan"); status != http.StatusNotFound || !strings.Contains(body, "the page Plan makes it anew") || !strings.Contains(body, `href="/plans"`) {
		t.Errorf("status %d: %s", status, body)
	}
}
