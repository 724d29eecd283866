// Package routes serves the content of a Board over HTTP: the status page, /metrics and the API.
// A Gate authorizes requests.
package routes

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/gzip"

	"example.org/homenode/internal/turns"
	"example.org/homenode/serve/access"
	"example.org/homenode/serve/board"
	"example.org/homenode/serve/collect"
	"example.org/homenode/serve/keep"
	"example.org/homenode/serve/metrics"
	"example.org/homenode/serve/notify"
	"example.org/homenode/serve/remote"
	"example.org/homenode/serve/site"
	"example.org/homenode/source/snapshot"
)

// A Server answers requests from a Board.
type Server struct {
	Board *board.Board
	// Status returns the collection status of each vCenter.
	Status func() []collect.Status
	// Gate authorizes requests.
	Gate    *access.Gate
	Version string
	Started time.Time
	// Keeping returns the status of the store; nil without one.
	Keeping func() keep.State
	// Notified returns the status of notifications; nil without them.
	Notified func() []notify.State
	// Sending returns the status of remote write; nil without it.
	Sending func() []remote.State
	// Site has the pages for people; nil for none.
	Site *site.Site
	// More has further handlers by pattern, such as the query API.
	More map[string]http.Handler

	pages [2]sync.Pool // of *metrics.Page, by form
}

// Handler serves the routes to authorized clients.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	for pattern, h := range s.routes() {
		mux.Handle(pattern, h)
	}
	return s.Gate.Wrap(mux)
}

// routes returns every route by pattern.
func (s *Server) routes() map[string]http.Handler {
	out := map[string]http.Handler{
		"GET /metrics":                   inTurn(s.metrics),
		"GET /healthz":                   http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok\n") }),
		"GET /api/homenode/v1/status":    inTurn(s.status),
		"GET /api/homenode/v1/findings":  inTurn(s.findings),
		"GET /api/homenode/v1/vms":       inTurn(s.vms),
		"GET /api/homenode/v1/inventory": inTurn(s.inventory),
		"/api/v1/": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, `{"status":"error","errorType":"not_found","error":"nothing is kept: start homenode serve with --data"}`, http.StatusNotFound)
		}),
	}
	if s.Site != nil {
		maps.Copy(out, s.Site.Handlers())
	}
	maps.Copy(out, s.More)
	return out
}

// large limits the answers that are in memory at once: those of a large fleet have tens of MB each, until the client has read them.
var large = turns.New(8, 100)

// inTurn runs a handler of large answers when it is its turn. Its client has 30 s to read.
func inTurn(h http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		end, err := large.Take(r.Context())
		if err != nil {
			w.Header().Set("Retry-After", turns.RetryAfter)
			access.Fail(w, err, http.StatusServiceUnavailable)
			return
		}
		defer end()
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(30 * time.Second)) // a test's connection has none
		h(w, r)
	})
}

// metrics answers a scrape in the form that the scraper prefers.
func (s *Server) metrics(w http.ResponseWriter, r *http.Request) {
	f := metrics.Text
	if strings.Contains(r.Header.Get("Accept"), "application/openmetrics-text") {
		f = metrics.OpenMetrics
	}
	pool := &s.pages[0]
	if f == metrics.OpenMetrics {
		pool = &s.pages[1]
	}
	p, _ := pool.Get().(*metrics.Page)
	if p == nil {
		p = metrics.NewPage(f)
	}
	defer pool.Put(p)
	p.Reset()
	only := r.URL.Query().Get("vcenter")
	if only != "" && !slices.ContainsFunc(s.Status(), func(c collect.Status) bool { return c.Name == only }) {
		http.Error(w, "no such vCenter", http.StatusNotFound)
		return
	}
	if err := p.Only(r.URL.Query()["group"]); err != nil {
		access.Fail(w, err, http.StatusBadRequest)
		return
	}
	p.AddHosts(s.Board, only)
	s.Own(only, p.Add)
	if only == "" {
		metrics.Process(p.Add)
	}
	w.Header().Set("Content-Type", f.ContentType())
	w.Header().Set("Vary", "Accept, Accept-Encoding")
	to := io.Writer(w)
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		w.Header().Set("Content-Encoding", "gzip")
		z, _ := gzips.Get().(*gzip.Writer)
		defer gzips.Put(z)
		z.Reset(w)
		defer func() { _ = z.Close() }() // the client is gone
		to = z
	}
	_, _ = p.WriteTo(to)
}

// Own adds the status of collecting and storing and the open findings; vcenter selects one,
// empty for all.
func (s *Server) Own(vcenter string, add metrics.Add) {
	for _, c := range s.Status() {
		if vcenter == "" || c.Name == vcenter {
			metrics.Status(&c, add)
		}
	}
	open, _ := s.Board.Alarms()
	metrics.Alarms(slices.DeleteFunc(open, func(a board.Alarm) bool { return vcenter != "" && a.VCenter != vcenter }), add)
	if vcenter != "" {
		return
	}
	for _, n := range s.notified() {
		add("homenode_notifications", "counter", "", "Messages about findings", float64(n.Sent), "to", n.To, "result", "sent")
		add("homenode_notifications", "counter", "", "", float64(n.Lost), "to", n.To, "result", "lost")
		add("homenode_notifications_waiting", "gauge", "", "Messages that could not be delivered yet", float64(n.Waiting), "to", n.To)
	}
	for _, r := range s.sending() {
		if !r.Until.IsZero() {
			add("homenode_remote_behind_seconds", "gauge", "seconds", "How old the newest sample is up to which the target has everything", time.Since(r.Until).Round(time.Millisecond).Seconds(), "to", r.To)
		}
		add("homenode_remote_samples_sent", "counter", "", "Samples that the target took", float64(r.Sent), "to", r.To)
		add("homenode_remote_samples_failed", "counter", "", "Samples that the target refused", float64(r.Failed), "to", r.To)
	}
	k := s.keeping()
	if k == nil {
		return
	}
	flag := map[bool]float64{true: 1}
	add("homenode_store_open", "gauge", "", "Whether the store is open", flag[k.Open])
	add("homenode_store_disk_full", "gauge", "", "Whether nothing is kept, for the disk has less free than the reserve", flag[k.Full])
	add("homenode_store_samples_appended", "counter", "", "Samples that were kept since the start", float64(k.Appended))
	add("homenode_store_samples_left", "counter", "", "Samples that were not kept", float64(k.Left))
	add("homenode_store_damaged_series", "counter", "", "Series of blocks that a query could not read", float64(k.Damaged))
	add("homenode_store_lost_files", "gauge", "", "Files of the store that were found damaged or missing since the start", float64(len(k.Losses)))
	told := map[string]bool{}
	for _, x := range k.Losses {
		if !told[x.File] {
			told[x.File] = true
			add("homenode_store_lost", "gauge", "", "1 for each of these files, with the time that it is about", 1, "file", x.File, "from", utc(x.From), "to", utc(x.To))
		}
	}
	add("homenode_store_series", "gauge", "", "Series of the last hours", float64(k.Series))
	add("homenode_store_bytes", "gauge", "bytes", "Size of the blocks", float64(k.Bytes))
	add("homenode_store_free_bytes", "gauge", "bytes", "Free on the disk of the store", float64(k.Free))
}

// utc returns a time for a label; empty for none.
func utc(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.RFC3339)
}

var gzips = sync.Pool{New: func() any {
	z, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // the level is valid
	return z
}}

func (s *Server) json(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	_ = e.Encode(v) // the client is gone
}

func (s *Server) status(w http.ResponseWriter, _ *http.Request) {
	s.json(w, struct {
		Format   string           `json:"format"`
		Version  int              `json:"version"`
		Homenode string           `json:"homenode"`
		Started  time.Time        `json:"started"`
		VCenters []collect.Status `json:"vcenters"`
		Store    *keep.State      `json:"store,omitempty"`
		Notified []notify.State   `json:"notified,omitempty"`
		Sending  []remote.State   `json:"sending,omitempty"`
	}{"homenode-serve-status", 1, s.Version, s.Started, s.Status(), s.keeping(), s.notified(), s.sending()})
}

// sending returns the status of remote write.
func (s *Server) sending() []remote.State {
	if s.Sending == nil {
		return nil
	}
	return s.Sending()
}

// notified returns the status of notifications.
func (s *Server) notified() []notify.State {
	if s.Notified == nil {
		return nil
	}
	return s.Notified()
}

// keeping returns the status of the store; nil without one.
func (s *Server) keeping() *keep.State {
	if s.Keeping == nil {
		return nil
	}
	k := s.Keeping()
	return &k
}

func (s *Server) findings(w http.ResponseWriter, _ *http.Request) {
	open, ended := s.Board.Alarms()
	s.json(w, struct {
		Format  string        `json:"format"`
		Version int           `json:"version"`
		Open    []board.Alarm `json:"open"`
		Ended   []board.Alarm `json:"ended"`
	}{"homenode-serve-findings", 1, append([]board.Alarm{}, open...), append([]board.Alarm{}, ended...)})
}

func (s *Server) vms(w http.ResponseWriter, _ *http.Request) {
	s.json(w, struct {
		Format  string        `json:"format"`
		Version int           `json:"version"`
		VMs     []board.VMNow `json:"vms"`
	}{"homenode-serve-vms", 1, append([]board.VMNow{}, s.Board.VMs()...)})
}

// inventory answers with a snapshot that includes the current observations of every VM.
func (s *Server) inventory(w http.ResponseWriter, r *http.Request) {
	name := r.URL.Query().Get("vcenter")
	f, names := s.Board.Inventory(name)
	if name == "" && len(names) == 1 {
		f, _ = s.Board.Inventory(names[0])
	}
	if f == nil {
		if len(names) == 0 {
			http.Error(w, "no inventory was read; a reader has none", http.StatusNotFound)
			return
		}
		http.Error(w, fmt.Sprintf("want ?vcenter= with one of %q: those whose inventory was read", names), http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = snapshot.Write(w, f) // the client is gone
}
