package query_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/util/annotations"

	"example.org/homenode/capture/store"
	"example.org/homenode/internal/testdeps"
	"example.org/homenode/serve/post"
	"example.org/homenode/serve/query"
	"example.org/homenode/serve/remote"
)

var begin = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)

// fill appends six hours of three VMs on two hosts, one of which moves and one of which ends.
func fill(t *testing.T, dir string) {
	t.Helper()
	s, err := store.Open(dir, store.Options{Retain: 1e6 * time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	type vm struct{ local, moves *store.Series }
	of := func(host, name string) vm {
		l := []string{"vcenter", "vc", "host", host, "vm", name}
		return vm{s.Series("homenode_vm_numa_local_ratio", l...), s.Series("homenode_vm_numa_migrations_total", l...)}
	}
	a, b, c, moved := of("esx1", "a"), of("esx1", "b"), of("esx2", "c"), of("esx2", "b")
	for i := range 6 * 180 {
		var samples []store.Sample
		add := func(v vm, ratio float64, moves int) {
			samples = append(samples, store.Sample{Series: v.local, Number: ratio}, store.Sample{Series: v.moves, Number: float64(moves)})
		}
		add(a, 0.5+float64(i%100)/200, i/7)
		switch {
		case i < 300:
			add(b, 1, i)
		case i == 300:
			add(b, store.Stale, 0)
			samples[len(samples)-1].Number = store.Stale
			add(moved, 0.3, 0)
		default:
			add(moved, 0.3+float64(i)/2000, i-300)
		}
		if i < 700 {
			add(c, 0.9, 2)
		}
		if _, err := s.Append(t.Context(), begin.Add(time.Duration(i)*20*time.Second), samples); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// open opens the folder.
func open(t *testing.T, dir string) *store.Store {
	t.Helper()
	s, err := store.Open(dir, store.Options{Retain: 1e6 * time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// serve answers from a store.
func serve(t *testing.T, s *store.Store) string {
	t.Helper()
	api := query.API{Store: func() (storage.Queryable, error) { return s.Queryable(), nil }, Version: "test",
		Alerts: func() []query.Alert { return []query.Alert{} }, Metadata: func() map[string][]query.Metadata { return map[string][]query.Metadata{} }}
	server := httptest.NewServer(api.Handler())
	t.Cleanup(server.Close)
	return server.URL
}

func ask(t *testing.T, base, path string, form url.Values, post bool) (int, map[string]any) {
	t.Helper()
	var res *http.Response
	var err error
	if post {
		res, err = http.PostForm(base+path, form)
	} else {
		res, err = http.Get(base + path + "?" + form.Encode())
	}
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	var v map[string]any
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatalf("%s %v: %s: %v", path, form, b, err)
	}
	return res.StatusCode, v
}

// at is a time between two samples, so that nothing hangs on which side a bound falls.
func at(minutes int) string {
	return strconv.FormatInt(begin.Add(time.Duration(minutes)*time.Minute+7*time.Second).Unix(), 10)
}

type request struct {
	path string
	form url.Values
}

// requests are what Grafana and people ask.
func requests() (all []request) {
	for _, q := range []string{
		"homenode_vm_numa_local_ratio", "homenode_vm_numa_local_ratio < 0.8", `homenode_vm_numa_local_ratio{host="esx1"}`, `homenode_vm_numa_local_ratio{vm=~"a|b"}`,
		"rate(homenode_vm_numa_migrations_total[10m])", "increase(homenode_vm_numa_migrations_total[1h])", "min_over_time(homenode_vm_numa_local_ratio[2h])",
		"avg by (host) (homenode_vm_numa_local_ratio)", "count(homenode_vm_numa_local_ratio < 0.8)", "topk(2, homenode_vm_numa_local_ratio)", "quantile(0.5, homenode_vm_numa_local_ratio)",
		"avg_over_time(homenode_vm_numa_local_ratio[30m:5m])", "homenode_vm_numa_local_ratio offset 1h", "sum(homenode_vm_numa_migrations_total)", "absent(homenode_nothing)", "1 + 1",
		"time()", "vector(3)", `label_replace(homenode_vm_numa_local_ratio, "x", "$1", "host", "esx(.)")`, "homenode_vm_numa_local_ratio * on (vm) group_left count by (vm) (homenode_vm_numa_local_ratio)",
		"sort_desc(homenode_vm_numa_local_ratio)", "changes(homenode_vm_numa_migrations_total[1h])", "last_over_time(homenode_vm_numa_local_ratio[1h])", `"text"`,
	} {
		all = append(all, request{"/api/v1/query", url.Values{"query": {q}, "time": {at(95)}}})
	}
	for _, q := range []string{"homenode_vm_numa_local_ratio", "rate(homenode_vm_numa_migrations_total[5m])", "count(homenode_vm_numa_local_ratio < 0.8)", "max by (vm) (homenode_vm_numa_local_ratio)"} {
		all = append(all, request{"/api/v1/query_range", url.Values{"query": {q}, "start": {at(20)}, "end": {at(350)}, "step": {"5m"}}})
	}
	all = append(all, request{"/api/v1/labels", url.Values{}}, request{"/api/v1/labels", url.Values{"match[]": {`{vm="a"}`}}},
		request{"/api/v1/label/vm/values", url.Values{}}, request{"/api/v1/label/vm/values", url.Values{"match[]": {`homenode_vm_numa_local_ratio{host="esx2"}`}}},
		request{"/api/v1/label/__name__/values", url.Values{}}, request{"/api/v1/series", url.Values{"match[]": {"homenode_vm_numa_local_ratio"}, "start": {at(0)}, "end": {at(400)}}})
	for _, f := range []url.Values{
		{"query": {"homenode_vm_numa_local_ratio{"}}, {"query": {""}}, {"query": {"rate(homenode_vm_numa_local_ratio)"}}, {"query": {"up"}, "time": {"yesterday"}},
	} {
		all = append(all, request{"/api/v1/query", f})
	}
	return append(all, request{"/api/v1/query_range", url.Values{"query": {"up"}, "start": {at(9)}, "end": {at(1)}, "step": {"5m"}}},
		request{"/api/v1/series", url.Values{}})
}

// TestLikePrometheus puts the same requests to a real Prometheus with the same data.
func TestLikePrometheus(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir)
	real := testdeps.Prometheus(t, t.TempDir(), "{}\n", "--web.enable-remote-write-receiver")
	s := open(t, dir)
	ours := serve(t, s)
	target := remote.Target{Address: post.Address{URL: real + "/api/v1/write"}, Name: "real"}
	if err := target.Check(); err != nil {
		t.Fatal(err)
	}
	sender, err := remote.New(target, t.TempDir(), time.Minute, begin.Add(-time.Second), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := sender.Pass(t.Context(), s, begin.Add(6*time.Hour)); err != nil || sender.State().Failed > 0 {
		t.Fatalf("%v, %+v", err, sender.State())
	}
	all := requests()
	if len(all) < 40 {
		t.Fatalf("%d requests, want 40", len(all))
	}
	for i, r := range all {
		code, got := ask(t, ours, r.path, r.form, i%2 == 0 && !strings.Contains(r.path, "/label/") && r.path != "/api/v1/series")
		wantCode, want := ask(t, real, r.path, r.form, false)
		if code != wantCode || got["status"] != want["status"] || got["errorType"] != want["errorType"] {
			t.Errorf("%s %v: %d %v %v, a Prometheus says %d %v %v", r.path, r.form, code, got["status"], got["error"], wantCode, want["status"], want["error"])
			continue
		}
		if sorted(got["data"]) != sorted(want["data"]) {
			t.Errorf("%s %v:\n%v\na Prometheus says\n%v", r.path, r.form, got["data"], want["data"])
		}
	}
	t.Logf("%d requests", len(all))
}

// sorted returns an answer with its vector by labels, where no order is promised, and with numbers to twelve
// digits: averages of 2.42 and 3.x add up in another order.
func sorted(v any) string {
	b, _ := json.Marshal(v)
	b = number.ReplaceAllFunc(b, func(n []byte) []byte {
		f, err := strconv.ParseFloat(string(n[1:len(n)-1]), 64)
		if err != nil {
			return n
		}
		return fmt.Appendf(nil, `"%.12g"`, f)
	})
	var d struct {
		ResultType string
		Result     []json.RawMessage
	}
	if json.Unmarshal(b, &d) != nil || d.ResultType != "vector" {
		return string(b)
	}
	all := make([]string, len(d.Result))
	for i := range d.Result {
		all[i] = string(d.Result[i])
	}
	for i := range all {
		for k := range i {
			if all[i] < all[k] {
				all[i], all[k] = all[k], all[i]
			}
		}
	}
	return strings.Join(all, "\n")
}

var number = regexp.MustCompile(`"-?[0-9]+\.[0-9]+"`)

// TestQueries asks without a Prometheus: answers that are known.
func TestQueries(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir)
	base := serve(t, open(t, dir))
	_, v := ask(t, base, "/api/v1/query", url.Values{"query": {"count(homenode_vm_numa_local_ratio < 0.95)"}, "time": {at(95)}}, true)
	if got := fmt.Sprint(v["data"]); !strings.Contains(got, "metric:map[] value:") || !strings.Contains(got, " 2]") {
		t.Errorf("count: %s", got)
	}
	// b moved at minute 100: its series on the old host ends there, though samples are young.
	_, v = ask(t, base, "/api/v1/query", url.Values{"query": {`homenode_vm_numa_local_ratio{vm="b"}`}, "time": {at(101)}}, false)
	if got := fmt.Sprint(v["data"]); strings.Contains(got, "esx1") || !strings.Contains(got, "esx2") {
		t.Errorf("b after its move: %s", got)
	}
	for path, form := range map[string]url.Values{"/api/v1/query": {"query": {"homenode_vm_numa_local_ratio"}, "time": {at(95)}}, "/api/v1/labels": {}, "/api/v1/label/vm/values": {},
		"/api/v1/query_range": {"query": {"homenode_vm_numa_local_ratio"}, "start": {at(20)}, "end": {at(95)}, "step": {"5m"}}, "/api/v1/series": {"match[]": {"{vm=~'.+'}"}}} {
		for limit, want := range map[string]int{"1": 1, "2": 2, "0": 0, "100": 0, "-1": -1, "x": -1} {
			form.Set("limit", limit)
			code, v := ask(t, base, path, form, false)
			all, ok := v["data"].([]any)
			if data, isMap := v["data"].(map[string]any); isMap {
				all, ok = data["result"].([]any)
			}
			switch warned := fmt.Sprint(v["warnings"]) == "[results truncated due to limit]"; {
			case want < 0 && (code != http.StatusBadRequest || v["errorType"] != "bad_data"),
				want == 0 && (!ok || len(all) < 3 || v["warnings"] != nil), want > 0 && (len(all) != want || !warned):
				t.Errorf("%s, limit %s: %d %v", path, limit, code, v)
			}
		}
	}
	for _, path := range []string{"/api/v1/metadata", "/api/v1/rules", "/api/v1/alerts", "/api/v1/query_exemplars", "/api/v1/status/buildinfo"} {
		if code, v := ask(t, base, path, url.Values{}, false); code != http.StatusOK || v["status"] != "success" {
			t.Errorf("%s: %d %v", path, code, v)
		}
	}
}

// TestBounds asks for more than is reckoned: it is refused at once, and the process stays.
func TestBounds(t *testing.T) {
	base := serve(t, open(t, t.TempDir()))
	for query, want := range map[string]string{
		"max_over_time(x[30d:1s])":                                                                "2592000 steps",
		"sum(sum_over_time(rate(x[5m])[365d:]))":                                                  "525600 steps",
		"max_over_time(max_over_time(x[10m:1s])[30d:1h])":                                         "2592600 steps",
		"max_over_time(x[30d:1m]) + max_over_time(x[1y:1ms])":                                     "steps",
		"max_over_time(x[290y:1ms])":                                                              "steps",
		strings.Repeat("max_over_time(", 50) + "x" + strings.Repeat("[290y:1d])", 50):             "steps", // no overflow
		strings.Repeat("-", 1<<18) + "1":                                                          "bytes",
		strings.Repeat("(", 1<<18) + "1":                                                          "bytes",
		"max_over_time(x[30d:1m])":                                                                "",
		"max_over_time(rate(x[5m])[1d:20s])":                                                      "",
		strings.Repeat("up+", 10_000) + "up":                                                      "20001 parts",
		strings.Repeat("up+", 400) + "up":                                                         "",
		strings.Repeat("-", mostDepth) + "1":                                                      "",
		`label_replace(x, "a", "` + strings.Repeat("$1", 9) + `", "b", "(.*)")`:                   "labels too long",
		`label_join(x, "a", ""` + strings.Repeat(`, "b"`, 9) + `)`:                                "labels too long",
		`label_replace(label_replace(x, "a", "$1$1$1", "b", "(.*)"), "a", "$1$1$1", "a", "(.*)")`: "labels too long",
		`label_replace(x, "a", "` + strings.Repeat("y", 1100) + `", "b", "")`:                     "labels too long",
		`label_replace(x, "a", "$1$1", "b", "(.*)")`:                                              "",
	} {
		for path, more := range map[string]url.Values{"/api/v1/query": {}, "/api/v1/query_range": {"start": {at(0)}, "end": {at(60)}, "step": {"1m"}}} {
			more.Set("query", query)
			began := time.Now()
			code, v := ask(t, base, path, more, true)
			if said := fmt.Sprint(v["error"]); (want == "") != (code == http.StatusOK) || path == "/api/v1/query" && want != "" && !strings.Contains(said, want) || code != http.StatusOK && v["errorType"] != "bad_data" {
				t.Errorf("%s %.80s: %d %.200s", path, query, code, said)
			}
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("%s %.80s takes %v", path, query, took)
			}
		}
	}
}

// TestBoundExpressions asks with regular expressions that take gigabytes when they are compiled: the request is refused before, whichever kind it is.
func TestBoundExpressions(t *testing.T) {
	base := serve(t, open(t, t.TempDir()))
	large := strings.Repeat("a{999}", 1000)
	quoted := func(regex string) string { return `{__name__="x",a=~"` + regex + `"}` }
	for _, tt := range []struct {
		path, field string
		texts       []string
		want        string
	}{
		{"query", "query", []string{quoted(large)}, "regular expressions of more than"},
		{"query", "query", []string{"{__name__='x',a!~'" + large + "'}"}, "regular expressions of more than"},
		{"query", "query", []string{"{__name__=`x`,a=~`" + large + "`}"}, "regular expressions of more than"},
		{"query", "query", []string{`label_replace(x,"a","b","c","` + large + `")`}, "regular expressions of more than"},
		{"query", "query", []string{quoted(`\x61{999}`) + strings.Repeat(" or "+quoted(`\u0061{999}`), 40)}, "regular expressions of more than"},
		{"series", "match[]", slices.Repeat([]string{quoted("a{999}")}, 40), "regular expressions of more than"},
		{"labels", "match[]", slices.Repeat([]string{quoted("a{999}")}, 40), "regular expressions of more than"},
		{"label/a/values", "match[]", slices.Repeat([]string{quoted("a{999}")}, 40), "regular expressions of more than"},
		{"series", "match[]", slices.Repeat([]string{quoted("a")}, 9000), "selectors of more than"},
		{"series", "match[]", []string{quoted("a{999}b{999}|" + strings.Repeat("esx01.example.com|", 500))}, ""},
	} {
		before := allocated()
		code, v := ask(t, base, "/api/v1/"+tt.path, url.Values{tt.field: tt.texts}, true)
		if said := fmt.Sprint(v["error"]); (tt.want == "") != (code == http.StatusOK) || tt.want != "" && (code != http.StatusBadRequest || !strings.Contains(said, tt.want)) {
			t.Errorf("%s %.60s: %d %.200s", tt.path, tt.texts[0], code, said)
		}
		if n := allocated() - before; n > 100<<20 {
			t.Errorf("%s %.60s allocates %d MB", tt.path, tt.texts[0], n>>20)
		}
	}
}

// allocated returns the bytes that the process has allocated until now.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// A timed is a querier that tells how long each search of it may take.
type timed struct {
	storage.Querier
	told func(context.Context)
}

func (q timed) LabelNames(ctx context.Context, _ *storage.LabelHints, _ ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	q.told(ctx)
	return nil, nil, nil
}

func (q timed) LabelValues(ctx context.Context, _ string, _ *storage.LabelHints, _ ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	return q.LabelNames(ctx, nil)
}

func (q timed) Select(ctx context.Context, _ bool, _ *storage.SelectHints, _ ...*labels.Matcher) storage.SeriesSet {
	q.told(ctx)
	return storage.EmptySeriesSet()
}

// TestTimeout gives each kind of request a time, as a request may have thousands of selectors.
func TestTimeout(t *testing.T) {
	var all []time.Duration
	api := query.API{Store: func() (storage.Queryable, error) {
		return storage.QueryableFunc(func(int64, int64) (storage.Querier, error) {
			return timed{storage.NoopQuerier(), func(ctx context.Context) {
				end, _ := ctx.Deadline()
				all = append(all, time.Until(end))
			}}, nil
		}), nil
	}}
	server := httptest.NewServer(api.Handler())
	defer server.Close()
	paths := []string{"/api/v1/query", "/api/v1/query_range", "/api/v1/labels", "/api/v1/label/vm/values", "/api/v1/series"}
	for _, path := range paths {
		if code, v := ask(t, server.URL, path, url.Values{"query": {"up"}, "match[]": {"up"}, "start": {at(0)}, "end": {at(60)}, "step": {"1m"}}, true); code != http.StatusOK {
			t.Errorf("%s: %d %v", path, code, v)
		}
	}
	if len(all) != len(paths) || slices.ContainsFunc(all, func(d time.Duration) bool { return d <= 0 || d > 30*time.Second }) {
		t.Errorf("times %v", all)
	}
}

// mostDepth is nested as deep as a text of the longest length can be.
const mostDepth = 32<<10 - 1

func TestNotYet(t *testing.T) {
	api := query.API{Store: func() (storage.Queryable, error) { return nil, errors.New("the store is being opened") }}
	server := httptest.NewServer(api.Handler())
	defer server.Close()
	if code, v := ask(t, server.URL, "/api/v1/query", url.Values{"query": {"up"}}, false); code != http.StatusServiceUnavailable || v["error"] != "the store is being opened" {
		t.Errorf("%d %v", code, v)
	}
}
