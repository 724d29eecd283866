// Package reader displays data of other collectors: it reads, from any database with Prometheus's query API, metrics
// that collectors were scraped for or sent there, and passes them to a Board. It stores nothing, so any number of
// readers can run.
package reader

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/api"
	v1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"

	"example.org/homenode/internal/bounded"
	"example.org/homenode/internal/turns"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
	"example.org/homenode/serve/board"
	"example.org/homenode/serve/collect"
	"example.org/homenode/serve/metrics"
	"example.org/homenode/serve/post"
)

// A Reader reads from one database.
type Reader struct {
	base  *url.URL
	limit bound // of each request
	api   v1.API
	board *board.Board

	mu     sync.Mutex
	status []collect.Status
	failed error
}

// New returns the Reader of the database at a URL, which may include user and password.
func New(address string, b *board.Board) (*Reader, error) {
	if _, err := (&post.Address{URL: address}).Check(); err != nil {
		return nil, err
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	limit := bound{api.DefaultRoundTripper, 256 << 20, 50 * time.Second} // a look at 10,000 VMs has some 30 MB
	if b == nil {                                                        // a command that reads their history
		limit = bound{api.DefaultRoundTripper, 4 << 30, 3 * time.Minute}
	}
	c, err := api.NewClient(api.Config{Address: strings.TrimSuffix(address, "/"), Client: &http.Client{Transport: limit,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}})
	if err != nil {
		return nil, err
	}
	return &Reader{base: u, limit: limit, api: v1.NewAPI(c), board: b}, nil
}

// bound limits the bodies of answers, unpacked, and the time until they are read.
type bound struct {
	http.RoundTripper
	most    int64
	longest time.Duration
}

// RoundTrip sends a request.
func (b bound) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithTimeoutCause(r.Context(), b.longest, fmt.Errorf("no whole answer within %v", b.longest))
	res, err := b.RoundTripper.RoundTrip(r.WithContext(ctx))
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		cancel()
		return nil, err
	}
	res.Body = &boundBody{bounded.Reader(res.Body, b.most), res.Body, cancel}
	return res, nil
}

// A boundBody ends the time limit of its request when it is closed.
type boundBody struct {
	io.Reader
	body   io.Closer
	cancel func()
}

func (b *boundBody) Close() error {
	defer b.cancel()
	return b.body.Close()
}

// Proxy forwards query API requests to the database: read-only paths, and no others, some at a time.
func (r *Reader) Proxy() http.Handler {
	pending := turns.New(8, 100)
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		path := strings.TrimPrefix(req.URL.Path, "/api/v1/")
		label, ok := strings.CutPrefix(path, "label/")
		name, values := strings.CutSuffix(label, "/values")
		if !slices.Contains([]string{"query", "query_range", "labels", "series", "metadata", "query_exemplars", "status/buildinfo"}, path) && !(ok && values && !strings.ContainsAny(name, "/%.")) {
			http.NotFound(w, req)
			return
		}
		if req.Method != http.MethodGet && req.Method != http.MethodPost {
			http.Error(w, "want GET or POST", http.StatusMethodNotAllowed)
			return
		}
		end, err := pending.Take(req.Context())
		if err != nil {
			w.Header().Set("Retry-After", turns.RetryAfter)
			http.Error(w, `{"status":"error","errorType":"unavailable","error":"too many queries are pending"}`, http.StatusServiceUnavailable)
			return
		}
		defer end()
		r.pass(w, req)
	})
}

// pass forwards a request to the database and returns its answer. It passes on a closed list of headers: others may contain credentials, or repeat them.
func (r *Reader) pass(w http.ResponseWriter, req *http.Request) {
	out := req.Clone(req.Context())
	to := *r.base
	to.User, to.Path, to.RawPath, to.RawQuery = nil, strings.TrimSuffix(to.Path, "/")+req.URL.Path, "", req.URL.RawQuery
	out.URL, out.Host, out.Header, out.Trailer = &to, "", http.Header{}, nil
	if req.ContentLength == 0 {
		out.Body = nil
	}
	for _, name := range []string{"Accept-Encoding", "Content-Type"} {
		if value := req.Header.Get(name); value != "" {
			out.Header.Set(name, value)
		}
	}
	if password, ok := r.base.User.Password(); ok {
		out.SetBasicAuth(r.base.User.Username(), password)
	}
	w.Header().Set("Content-Type", "application/json")
	res, err := r.limit.RoundTrip(out)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		_, _ = io.WriteString(w, `{"status":"error","errorType":"unavailable","error":"the database does not answer"}`)
		return
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK { // its text may repeat the password
		code := res.StatusCode
		if code < http.StatusBadRequest {
			code = http.StatusBadGateway
		}
		w.WriteHeader(code)
		kind := cmp.Or(map[int]v1.ErrorType{http.StatusBadRequest: v1.ErrBadData, http.StatusUnprocessableEntity: v1.ErrExec}[res.StatusCode], "unavailable")
		fmt.Fprintf(w, `{"status":"error","errorType":%q,"error":"the database answers %d, and its log has the reason"}`, kind, res.StatusCode)
		return
	}
	if packed := res.Header.Get("Content-Encoding"); packed == "gzip" || packed == "zstd" || packed == "deflate" {
		w.Header().Set("Content-Encoding", packed)
	}
	if _, err := io.Copy(w, res.Body); err != nil {
		panic(http.ErrAbortHandler) // else a part would look whole
	}
}

// Run reads until ctx ends.
func (r *Reader) Run(ctx context.Context, every time.Duration) {
	for {
		once, cancel := context.WithTimeout(ctx, 30*time.Second)
		err := r.Read(once, time.Now())
		cancel()
		r.mu.Lock()
		r.failed = err
		r.mu.Unlock()
		select {
		case <-ctx.Done():
			return
		case <-time.After(every):
		}
	}
}

// Status returns the collection status reported by the collectors, by vCenter.
func (r *Reader) Status() []collect.Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := slices.Clone(r.status)
	if r.failed != nil {
		all = append(all, collect.Status{Name: r.base.Host, Error: "the database does not answer: " + plain(r.failed)})
	}
	return all
}

// plain returns an error without its URL, which may include a password, and without any text of the database, which may repeat it.
func plain(err error) string {
	limit, long := errors.AsType[*bounded.LimitError](err)
	answer, refused := errors.AsType[*v1.Error](err)
	switch {
	case long:
		return limit.Error()
	case refused && slices.Contains([]v1.ErrorType{v1.ErrBadData, v1.ErrTimeout, v1.ErrCanceled, v1.ErrExec, v1.ErrBadResponse, v1.ErrServer, v1.ErrClient}, answer.Type):
		return "the query ended with " + string(answer.Type)
	}
	return post.Plain(err).Error()
}

// what is the query for the metrics of hosts, nodes and findings.
const what = `{__name__=~"homenode_vm_(vcpus|numa_(local_bytes|remote_bytes|home_node|migrations_total)|cpu_ready_seconds_per_second)|homenode_node_memory_(total|free)_bytes|homenode_host_(failing|memory_state)|homenode_vcenter_up|homenode_interval_seconds|homenode_last_tick_timestamp_seconds"}`

// A key identifies a host or VM.
type key struct{ vcenter, host, vm, id string }

// Read reads the metrics at a time and passes them to the Board.
func (r *Reader) Read(ctx context.Context, now time.Time) error {
	found, _, _, err := r.api.Query(ctx, what, now)
	if err != nil {
		return err
	}
	vector, ok := found.(model.Vector)
	if !ok {
		return fmt.Errorf("found %v, want a vector", found.Type())
	}
	vector = slices.DeleteFunc(vector, func(s *model.Sample) bool {
		return !possible(string(s.Metric[model.MetricNameLabel]), float64(s.Value))
	})
	shown, advice := choose(vector)
	status := map[string]*collect.Status{}
	hosts := map[key]*readHost{}
	for _, s := range vector {
		label := func(name string) string { return string(s.Metric[model.LabelName(name)]) }
		h := key{vcenter: label("vcenter"), host: label("host")}
		number := float64(s.Value)
		st := status[h.vcenter]
		if st == nil {
			st = &collect.Status{Name: h.vcenter, Advice: advice[h.vcenter]}
			status[h.vcenter] = st
		}
		switch label(model.MetricNameLabel) { // metrics of the vCenter
		case "homenode_vcenter_up":
			st.Up = number == 1
			continue
		case "homenode_interval_seconds":
			st.Every.Duration = time.Duration(number * float64(time.Second))
			continue
		}
		if h.host == "" || shown[h] != collector(s.Metric) {
			continue
		}
		t := hosts[h]
		if t == nil {
			t = &readHost{tick: numa.Tick{Host: h.host}, status: collect.HostStatus{ID: h.host, Name: h.host}, vms: map[key]*numa.VMTick{}}
			hosts[h] = t
		}
		t.take(label, number)
	}
	all := r.show(hosts, status)
	alarms, err := r.findings(ctx, now)
	if err != nil {
		return err
	}
	r.board.Adopt(alarms, now)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status = all
	return nil
}

// possible reports whether a metric of a collector can have a value: others can write to the database too.
func possible(name string, number float64) bool {
	most := 1e15 // bytes and counts
	switch name {
	case "homenode_last_tick_timestamp_seconds":
		most = 1e11 // a year of four digits
	case "homenode_interval_seconds":
		most = 1e9
	}
	return number >= 0 && number <= most // NaN is neither
}

// show passes the hosts to the Board, and returns the state of each vCenter with its hosts, by name.
func (r *Reader) show(hosts map[key]*readHost, status map[string]*collect.Status) []collect.Status {
	for h, t := range hosts {
		ids := t.finish()
		status[h.vcenter].Hosts = append(status[h.vcenter].Hosts, t.status)
		if !t.tick.Time.IsZero() {
			r.board.Show(h.vcenter, h.host, t.status.Cluster, &t.tick, ids)
		}
	}
	var all []collect.Status
	for _, s := range status {
		slices.SortFunc(s.Hosts, func(a, b collect.HostStatus) int { return cmp.Compare(a.Name, b.Name) })
		all = append(all, *s)
	}
	slices.SortFunc(all, func(a, b collect.Status) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// A readHost is one host while its samples are read.
type readHost struct {
	tick   numa.Tick
	status collect.HostStatus
	vms    map[key]*numa.VMTick // by name and ID
}

// take adds one sample.
func (h *readHost) take(label func(string) string, number float64) {
	if c := label("cluster"); c != "" {
		h.status.Cluster = c
	}
	switch name := label(model.MetricNameLabel); {
	case strings.HasPrefix(name, "homenode_vm_"):
		k := key{vm: label("vm"), id: cmp.Or(label("vm_id"), label("gid"))}
		v := h.vms[k]
		if v == nil {
			v = &numa.VMTick{Name: k.vm, GID: int64(len(h.vms) + 1)}
			h.vms[k] = v
		}
		metrics.TakeVM(v, name, nodeOf(label("node")), number)
	case name == "homenode_last_tick_timestamp_seconds":
		h.tick.Time = time.UnixMilli(int64(number * 1000)).UTC()
		h.status.Last = h.tick.Time
	case name == "homenode_host_failing":
		if number == 1 {
			h.status.Failing, h.status.Reason = "the collector says that it fails", "other"
		}
	case name == "homenode_host_memory_state":
		h.tick.Has |= numa.HasState
		h.tick.State = numa.MemoryState(number)
	default:
		takeNode(&h.tick, name, label("node"), number)
	}
}

// finish sorts VMs and nodes, and returns the IDs of the VMs.
func (h *readHost) finish() (ids []string) {
	for _, k := range slices.SortedFunc(maps.Keys(h.vms), func(a, b key) int { return cmp.Or(cmp.Compare(a.vm, b.vm), cmp.Compare(a.id, b.id)) }) {
		h.tick.VMs = append(h.tick.VMs, *h.vms[k])
		ids = append(ids, k.id)
	}
	slices.SortFunc(h.tick.Nodes, func(a, b numa.NodeTick) int { return cmp.Compare(a.ID, b.ID) })
	return ids
}

// collector returns the source of a sample: the collector label of sent samples, or the scraped address.
func collector(m model.Metric) string { return string(cmp.Or(m["collector"], m["instance"])) }

// choose returns the collector to display for each host, and advice by vCenter about hosts with several collectors,
// whose numbers must not be mixed.
func choose(vector model.Vector) (shown map[key]string, advice map[string]string) {
	last := map[key]map[string]float64{} // time of the last tick by collector
	for _, s := range vector {
		h := key{vcenter: string(s.Metric["vcenter"]), host: string(s.Metric["host"])}
		if h.host == "" {
			continue
		}
		if last[h] == nil {
			last[h] = map[string]float64{}
		}
		last[h][collector(s.Metric)] += 0
		if s.Metric[model.MetricNameLabel] == "homenode_last_tick_timestamp_seconds" {
			last[h][collector(s.Metric)] = float64(s.Value)
		}
	}
	shown, advice = map[key]string{}, map[string]string{}
	several := map[[2]string][]string{} // hosts by vCenter and their collectors
	for h, by := range last {
		names := slices.Sorted(maps.Keys(by))
		newest := slices.Max(slices.Collect(maps.Values(by)))
		current := func(name string) bool { return by[name] >= newest-ended.Seconds() }
		shown[h] = names[slices.IndexFunc(names, current)]
		if len(names) > 1 {
			k := [2]string{h.vcenter, strings.Join(names, " and ")}
			several[k] = append(several[k], h.host)
		}
	}
	for _, k := range slices.SortedFunc(maps.Keys(several), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }) {
		slices.Sort(several[k])
		advice[k[0]] = words.Join("; ", advice[k[0]], fmt.Sprintf("the collectors %s see the same %s: one is shown; let one alone collect from a host",
			k[1], words.Few(several[k])))
	}
	return shown, advice
}

// ended is the delay after which a collector counts as not seeing a host that another one sees.
const ended = 2 * time.Minute

// nodeOf returns the node of a label; -1 if it is not one.
func nodeOf(label string) int {
	if n, err := strconv.Atoi(label); err == nil && n >= 0 && n < 64 {
		return n
	}
	return -1
}

// takeNode adds a sample of a node.
func takeNode(t *numa.Tick, name, label string, number float64) {
	id := nodeOf(label)
	if id < 0 {
		return
	}
	i := slices.IndexFunc(t.Nodes, func(n numa.NodeTick) bool { return n.ID == id })
	if i < 0 {
		i = len(t.Nodes)
		t.Nodes = append(t.Nodes, numa.NodeTick{ID: id})
	}
	metrics.TakeNode(&t.Nodes[i], name, number)
}

// titles has the titles of the checks, by ID.
var titles = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for _, r := range rules.All {
		all[r.ID] = r.Title
	}
	return all
})

// findings reads the open findings.
func (r *Reader) findings(ctx context.Context, now time.Time) (all []board.Alarm, err error) {
	found, _, _, err := r.api.Query(ctx, "homenode_finding", now)
	if err != nil {
		return nil, err
	}
	vector, _ := found.(model.Vector)
	for _, s := range vector {
		label := func(name string) string { return string(s.Metric[model.LabelName(name)]) }
		severity, err := finding.ParseSeverity(label("severity"))
		if err != nil {
			continue // from another version
		}
		rule := label("rule")
		all = append(all, board.Alarm{VCenter: label("vcenter"), Live: strings.HasPrefix(rule, "M"), Finding: finding.Finding{Rule: rule, Severity: severity,
			Cluster: label("cluster"), Host: label("host"), VM: label("vm"), VMID: label("vm_id"), Topic: label("topic"), Title: titles()[rule], Message: titles()[rule]}})
	}
	return all, nil
}
