package site

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"example.org/homenode/numa"
	"example.org/homenode/output/answer"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
	"example.org/homenode/serve/board"
	"example.org/homenode/serve/collect"
	"example.org/homenode/serve/held"
	"example.org/homenode/source/scenario/given"
)

// seen is a board with one host, and how collecting goes of it and of one that cannot be seen.
func seen(limits *rules.Options) (*board.Board, func() []collect.Status) {
	b := board.New(*limits, time.Hour)
	b.Tick("vc", "host-1", &numa.Tick{Host: "esx01", Time: time.Now(), Nodes: []numa.NodeTick{{ID: 0, Has: numa.HasTotal | numa.HasFree | numa.HasUtil, Total: 512 * numa.GiB, Free: 8 * numa.GiB, Util: 0.9}, {ID: 1}},
		VMs: []numa.VMTick{{Name: "db<b>", Has: numa.HasMemory | numa.HasHomes, Homes: 1, Local: 7 * numa.GiB, Remote: 3 * numa.GiB}, {Name: "unknown"}}})
	return b, func() []collect.Status {
		return []collect.Status{{Name: "vc", Hosts: []collect.HostStatus{{ID: "host-1", Name: "esx01", Last: time.Now()}, {ID: "host-2", Name: "esx02", Failing: "no answer within 15s", Reason: "timeout", Since: time.Now()}}}}
	}
}

// TestFleetNow shows without any inventory what is bad now and since when, and who cannot be seen and why.
func TestFleetNow(t *testing.T) {
	b, status := seen(&rules.Options{})
	b.Adopt([]board.Alarm{{VCenter: "vc", Live: true, Finding: finding.Finding{Rule: "M001", Severity: finding.High, Title: "Little of the memory is local", Host: "esx01", VM: "db<b>", Message: "far"}}}, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	s := &Site{Fleets: func() []*held.Fleet { return nil }, Live: &Live{Board: b, Status: status}}
	code, _, body := get(t, s, "/")
	for _, want := range []string{"<dt>now</dt>", "1 VM runs with much remote memory:", "(70 % local)", "<dt>last hour</dt>", "1 VM had trouble:", "waiting for the inventory", "Little of the memory is local", "1 of 2 hosts cannot be seen", "no answer within 15s",
		"esx01: node 0: cores in use 90 %, free memory 2 %, N%L 70 %; node 1: cores in use unknown", `; worst: <a href="/host?host=host-1">esx01 (node 0: cores in use 90 %)</a></figcaption>`, "esx02: not seen",
		"1 of 2 hosts reporting", `<main id="main" data-live>`} {
		if !strings.Contains(body, want) {
			t.Errorf("status %d: %q is not on the page", code, want)
		}
	}
	if strings.Contains(body, "style=") {
		t.Error("an inline style")
	}
	// Nothing is bad, no VM is seen, and nothing is known.
	empty := board.New(rules.Options{}, time.Hour)
	for want, status := range map[string]func() []collect.Status{
		"waiting for the list of hosts": func() []collect.Status { return nil },
		"waiting for the first counters of 2 hosts": func() []collect.Status {
			return []collect.Status{{Name: "vc", Hosts: []collect.HostStatus{{Name: "a"}, {Name: "b"}}}}
		},
		"waiting for the first counters of 1 of 2 hosts · nothing is known": func() []collect.Status {
			return []collect.Status{{Name: "vc", Hosts: []collect.HostStatus{{Name: "a", Last: time.Now()}, {Name: "b"}}}}
		},
	} {
		s := &Site{Fleets: s.Fleets, Live: &Live{Board: empty, Status: status}}
		if _, _, body := get(t, s, "/"); !strings.Contains(textIn(body), want) {
			t.Errorf("want %s", want)
		}
	}
}

// TestClosely asks the collector, and says why it does not.
func TestClosely(t *testing.T) {
	b, status := seen(&rules.Options{})
	asked := ""
	s := &Site{Fleets: func() []*held.Fleet { return nil }, Live: &Live{Board: b, Status: status, Closely: func(_ context.Context, vcenter, host string) (time.Duration, time.Time, error) {
		if host != "host-1" {
			return 0, time.Time{}, collect.ErrUnknownHost
		}
		asked = vcenter + " " + host
		return time.Second, time.Now(), nil
	}}}
	post := func(s *Site, body string) *httptest.ResponseRecorder {
		mux := http.NewServeMux()
		for pattern, h := range s.Handlers() {
			mux.Handle(pattern, h)
		}
		r := httptest.NewRequest(http.MethodPost, "/host/closely", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, r)
		return w
	}
	if w := post(s, "fleet=vc&host=host-1"); w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/host?host=host-1&fleet=vc" || asked != "vc host-1" {
		t.Errorf("status %d to %s, asked %q", w.Code, w.Header().Get("Location"), asked)
	}
	if w := post(s, "fleet=vc&host=host-9"); w.Code != http.StatusNotFound {
		t.Errorf("an unknown host: status %d", w.Code)
	}
	s.Live = nil
	if w := post(s, "fleet=vc&host=host-1"); w.Code != http.StatusNotFound {
		t.Errorf("of a file: status %d", w.Code)
	}
}

// TestEvents listens: a tick is told, more streams than there may be are refused, and the end of the server ends them.
func TestEvents(t *testing.T) {
	b, status := seen(&rules.Options{})
	ended := make(chan struct{})
	s := &Site{Fleets: func() []*held.Fleet { return nil }, Live: &Live{Board: b, Status: status, Ended: ended}}
	mux := http.NewServeMux()
	for pattern, h := range s.Handlers() {
		mux.Handle(pattern, h)
	}
	server := httptest.NewUnstartedServer(mux)
	server.Config.ReadTimeout, server.Config.WriteTimeout = time.Second, time.Second // the streams live longer
	server.Start()
	defer server.Close()
	listen := func(ctx context.Context) (*http.Response, error) {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+"/events", nil)
		if err != nil {
			t.Fatal(err)
		}
		return http.DefaultClient.Do(r)
	}
	res, err := listen(t.Context())
	if err != nil || res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%v, %v", res, err)
	}
	defer res.Body.Close()
	lines := make(chan string, 100)
	go func() {
		for in := bufio.NewScanner(res.Body); in.Scan(); {
			lines <- in.Text()
		}
		close(lines)
	}()
	next := func() string {
		select {
		case line, ok := <-lines:
			if !ok {
				return "ended"
			}
			return line
		case <-time.After(10 * time.Second):
			return "nothing"
		}
	}
	if got := next() + next(); got != "retry: 5000" {
		t.Fatalf("first %q", got)
	}
	time.Sleep(1200 * time.Millisecond) // beyond WriteTimeout
	b.Tick("vc", "host-1", &numa.Tick{Host: "esx01", Time: time.Now()})
	generation, _ := b.Generation()
	if got, want := next()+"|"+next()+"|"+next(), fmt.Sprintf("event: changed|id: %d|data: %d", generation, generation); got != want {
		t.Errorf("found %q, want %q", got, want)
	}
	// All but one are taken.
	s.Live.streams.Store(mostStreams - 1)
	last, err := listen(t.Context())
	if err != nil || last.StatusCode != http.StatusOK {
		t.Fatalf("stream %d: %v, %v", mostStreams, last, err)
	}
	defer last.Body.Close()
	if more, err := listen(t.Context()); err != nil || more.StatusCode != http.StatusServiceUnavailable || more.Header.Get("Retry-After") == "" {
		t.Errorf("stream %d: %v, %v", mostStreams+1, more, err)
	} else {
		more.Body.Close()
	}
	close(ended)
	for got := next(); got != "ended"; got = next() {
		if got == "nothing" {
			t.Fatal("the stream does not end with the server")
		}
	}
	for end := time.Now().Add(5 * time.Second); s.Live.streams.Load() != mostStreams-2; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d streams are counted at the end, want %d", s.Live.streams.Load(), mostStreams-2)
		}
	}
}

// BenchmarkFleetNow shows 500 hosts with 20 VMs each, as they are seen now.
func BenchmarkFleetNow(b *testing.B) {
	board := board.New(rules.Options{}, time.Hour)
	status := collect.Status{Name: "vc"}
	for h := range 500 {
		t := numa.Tick{Host: fmt.Sprintf("esx%03d", h), Time: time.Now()}
		for n := range 2 {
			t.Nodes = append(t.Nodes, numa.NodeTick{ID: n, Has: numa.HasTotal | numa.HasFree | numa.HasUtil, Total: 512 * numa.GiB, Free: numa.Bytes(h) * numa.GiB, Util: float64(h) / 500})
		}
		for v := range 20 {
			t.VMs = append(t.VMs, numa.VMTick{Name: fmt.Sprintf("vm%05d", 20*h+v), GID: int64(v + 1), Has: numa.HasMemory | numa.HasHomes, Homes: numa.SetOf(v % 2), Local: 7 * numa.GiB, Remote: numa.Bytes(v) * numa.GiB})
		}
		board.Tick("vc", fmt.Sprint("host-", h), &t)
		status.Hosts = append(status.Hosts, collect.HostStatus{ID: fmt.Sprint("host-", h), Name: t.Host, Last: time.Now()})
	}
	s := &Site{Fleets: func() []*held.Fleet { return nil }, Live: &Live{Board: board, Status: func() []collect.Status { return []collect.Status{status} }}}
	handler := s.Handlers()["GET /{$}"]
	for b.Loop() {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
		if w.Code != http.StatusOK {
			b.Fatal(w.Code)
		}
	}
}

// TestRecentForgets drops answers about fleets that were judged anew, and old ones.
func TestRecentForgets(t *testing.T) {
	old, now := &held.Fleet{Name: "vc"}, &held.Fleet{Name: "vc"}
	there := make(chan struct{})
	close(there)
	c := recent{all: []*recentAnswer{{fleet: old, line: "assess", until: time.Now().Add(recentFor), done: there}, {fleet: now, line: "rules", until: time.Now(), done: there},
		{fleet: now, line: "fix", a: &answer.Answer{}, until: time.Now().Add(recentFor), done: there}}}
	if a, err := c.once(&request{Request: httptest.NewRequest(http.MethodGet, "/", nil), fleet: now}, recentFor, "fix", func() (*answer.Answer, error) { return nil, errors.New("asked") }); err != nil || a != c.all[0].a || len(c.all) != 1 {
		t.Errorf("%v, %v, %d kept", a, err, len(c.all))
	}
}

// TestPresent shows many viewers the same for a moment, and what is anew when the fleet was judged anew.
func TestPresent(t *testing.T) {
	var c recent
	made := 0
	ask := func(f *held.Fleet) {
		if _, err := c.once(&request{Request: httptest.NewRequest(http.MethodGet, "/", nil), fleet: f}, presentFor, "/", func() (*answer.Answer, error) { made++; return &answer.Answer{}, nil }); err != nil {
			t.Error(err)
		}
	}
	one := &held.Fleet{Name: "vc"}
	ask(one)
	ask(one)
	ask(&held.Fleet{Name: "vc"})
	if made != 2 {
		t.Errorf("made %d times, want 2", made)
	}
}

// tag is one of a page.
var tag = regexp.MustCompile(`<[^>]*>`)

// textIn returns the text of a page.
func textIn(body string) string {
	return strings.Join(strings.Fields(tag.ReplaceAllString(body, "")), " ")
}

// TestInterleavedNow: N%L of a VM whose memory is interleaved over its home nodes reads 100 and means nothing: a dash stands there, with the reason.
func TestInterleavedNow(t *testing.T) {
	f := given.Fleet(t, "test", []byte("release 7.0U3\ncluster c\nhost esx1 cluster=c packages=2 nodes=2 cores=16 memory=512GB\nvm sql host=esx1 vcpus=24 memory=64GB hotAdd=on\nvm two host=esx1 vcpus=24 memory=64GB\nvm web host=esx1 vcpus=4 memory=16GB\n"))
	b := board.New(rules.Options{}, time.Hour)
	b.Fleet("c", f)
	tick := numa.Tick{Host: "esx1", Time: time.Now(), Nodes: []numa.NodeTick{{ID: 0}, {ID: 1}}}
	for i, name := range []string{"sql", "two", "web"} {
		v := numa.VMTick{Name: name, GID: int64(7 + i), Has: numa.HasMemory | numa.HasHomes, Homes: numa.SetOf(0, 1), Local: 64 * numa.GiB}
		if name == "web" {
			v.Homes = numa.SetOf(1)
		}
		tick.VMs = append(tick.VMs, v)
	}
	b.Tick("c", f.Hosts[0].ID, &tick)
	s := &Site{Fleets: func() []*held.Fleet {
		return []*held.Fleet{{Name: "c", Result: rules.Run(f, rules.Options{}), Sources: []string{"fleet.txt"}}}
	}, Live: &Live{Board: b, Status: func() []collect.Status { return nil }}}
	for page, want := range map[string][2]bool{"/vm?vm=sql": {false, true}, "/vm?vm=two": {true, false}, "/vm?vm=web": {true, false}, "/host?host=esx1": {true, true}} {
		code, _, body := get(t, s, page)
		_, table, _ := strings.Cut(body, "Ready a vCPU")
		if got := [2]bool{strings.Contains(table, ">100 %<"), strings.Contains(body, unmeasurable)}; got != want {
			t.Errorf("%s: status %d: a percentage and a reason %v, want %v", page, code, got, want)
		}
		if strings.Contains(table, ">0 B<") != want[0] {
			t.Errorf("%s: status %d: an amount of remote memory: %v", page, code, !want[0])
		}
	}
}
