// Package query answers PromQL over HTTP as Prometheus does, from a store: the requests that
// Grafana sends to a data source ("HTTP API", Prometheus documentation).
package query

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/util/annotations"

	"example.org/homenode/internal/turns"
	"example.org/homenode/internal/words"
)

// Limits of one query and of all queries.
const (
	mostSamples = 5_000_000 // 80 MB
	longest     = 30 * time.Second
	withoutStep = time.Minute // default step of a subquery
	atOnce      = 4
	mostWaiting = 100
	mostPoints  = 11_000 // of a series, as in Prometheus
	mostBody    = 1 << 20
)

// An API answers queries.
type API struct {
	// Store returns the data to query, or an error while there is none.
	Store func() (storage.Queryable, error)
	// Version is the version of homenode.
	Version string
	// Alerts returns the open findings as alerts.
	Alerts func() []Alert
	// Metadata returns type and help of metrics, by name.
	Metadata func() map[string][]Metadata

	engine *promql.Engine
	parser parser.Parser
	turns  *turns.Turns
}

// An Alert is one alert as the API shows it.
type Alert struct {
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
	State       string            `json:"state"`
	ActiveAt    time.Time         `json:"activeAt"`
	Value       string            `json:"value"`
}

// Metadata describes a metric.
type Metadata struct {
	Type string `json:"type"`
	Help string `json:"help"`
	Unit string `json:"unit"`
}

// Handler returns the routes below /api/v1/.
func (a *API) Handler() http.Handler {
	a.parser = parser.NewParser(parser.Options{})
	a.engine = promql.NewEngine(promql.EngineOpts{MaxSamples: mostSamples, Timeout: longest, LookbackDelta: 5 * time.Minute,
		EnableAtModifier: true, EnableNegativeOffset: true, Parser: a.parser,
		NoStepSubqueryIntervalFn: func(int64) int64 { return withoutStep.Milliseconds() }})
	a.turns = turns.New(atOnce, mostWaiting)
	mux := http.NewServeMux()
	both := func(path string, f func(*http.Request) (any, annotations.Annotations, error)) {
		h := func(w http.ResponseWriter, r *http.Request) {
			r.Body = http.MaxBytesReader(w, r.Body, mostBody)
			if err := r.ParseForm(); err != nil {
				a.fail(w, badData{err})
				return
			}
			data, notes, err := f(r)
			if err != nil {
				a.fail(w, err)
				return
			}
			a.answer(w, data, notes, r.Form.Get("query"))
		}
		mux.HandleFunc("GET "+path, h)
		mux.HandleFunc("POST "+path, h)
	}
	both("/api/v1/query", a.inTurn(a.instant))
	both("/api/v1/query_range", a.inTurn(a.series))
	both("/api/v1/labels", a.inTurn(a.labelNames))
	both("/api/v1/label/{name}/values", a.inTurn(a.labelValues))
	both("/api/v1/series", a.inTurn(a.find))
	fixed := func(data func() any) func(*http.Request) (any, annotations.Annotations, error) {
		return func(*http.Request) (any, annotations.Annotations, error) { return data(), nil, nil }
	}
	both("/api/v1/metadata", fixed(func() any { return a.Metadata() }))
	both("/api/v1/query_exemplars", fixed(func() any { return []string{} }))
	both("/api/v1/rules", fixed(func() any { return map[string]any{"groups": []string{}} }))
	both("/api/v1/alerts", fixed(func() any { return map[string]any{"alerts": a.Alerts()} }))
	both("/api/v1/status/buildinfo", fixed(func() any {
		return map[string]string{"version": "3.0.0", "revision": "homenode " + a.Version, "branch": "", "buildUser": "", "buildDate": "", "goVersion": ""}
	}))
	return mux
}

// badData is an error in the request.
type badData struct{ error }

func (a *API) fail(w http.ResponseWriter, err error) {
	kind, code := "execution", http.StatusUnprocessableEntity
	var canceled promql.ErrQueryCanceled
	var timeout promql.ErrQueryTimeout
	switch {
	case errors.As(err, new(badData)):
		kind, code = "bad_data", http.StatusBadRequest
	case errors.As(err, new(unready)):
		kind, code = "unavailable", http.StatusServiceUnavailable
	case errors.As(err, &canceled):
		kind, code = "canceled", 499
	case errors.As(err, &timeout), errors.Is(err, context.DeadlineExceeded):
		kind, code = "timeout", http.StatusServiceUnavailable
	}
	w.Header().Set("Content-Type", "application/json")
	if code == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", turns.RetryAfter)
	}
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(map[string]string{"status": "error", "errorType": kind, "error": words.Error(err)}) // the client is gone
}

func (a *API) answer(w http.ResponseWriter, data any, notes annotations.Annotations, query string) {
	warnings, infos := notes.AsStrings(query, 10, 10)
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(struct { // the client is gone
		Status   string   `json:"status"`
		Data     any      `json:"data"`
		Warnings []string `json:"warnings,omitempty"`
		Infos    []string `json:"infos,omitempty"`
	}{"success", data, warnings, infos})
}

// unready means that there is no data to query yet.
type unready struct{ error }

func (a *API) store() (storage.Queryable, error) {
	s, err := a.Store()
	if err != nil {
		return nil, unready{err}
	}
	return s, nil
}

// inTurn returns f with a limit on concurrent calls, and on the time of each.
func (a *API) inTurn(f func(*http.Request) (any, annotations.Annotations, error)) func(*http.Request) (any, annotations.Annotations, error) {
	return func(r *http.Request) (any, annotations.Annotations, error) {
		end, err := a.turns.Take(r.Context())
		if errors.Is(err, turns.ErrBusy) {
			err = unready{err}
		}
		if err != nil {
			return nil, nil, err
		}
		defer end()
		ctx, cancel := context.WithTimeout(r.Context(), longest)
		defer cancel()
		return f(r.WithContext(ctx))
	}
}

// exec runs a query; apart is the time between its first and last moment.
func (a *API) exec(r *http.Request, apart time.Duration, make func(context.Context, storage.Queryable, promql.QueryOpts) (promql.Query, error)) (any, annotations.Annotations, error) {
	s, err := a.store()
	if err == nil {
		err = a.bound(r.Form.Get("query"), apart)
	}
	if err != nil {
		return nil, nil, err
	}
	most, err := limit(r)
	if err != nil {
		return nil, nil, err
	}
	ctx := r.Context()
	if t := r.Form.Get("timeout"); t != "" {
		d, err := duration("timeout", t)
		if err != nil {
			return nil, nil, err
		}
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, d)
		defer cancel()
	}
	lookback := time.Duration(0)
	if t := r.Form.Get("lookback_delta"); t != "" {
		if lookback, err = duration("lookback_delta", t); err != nil {
			return nil, nil, err
		}
	}
	q, err := make(ctx, s, promql.NewPrometheusQueryOpts(false, lookback, nil))
	if err != nil {
		return nil, nil, badData{err}
	}
	defer q.Close()
	res := q.Exec(ctx)
	if res.Err != nil {
		return nil, nil, res.Err
	}
	switch v := res.Value.(type) {
	case promql.Vector:
		res.Value = cut(v, most, &res.Warnings)
	case promql.Matrix:
		if v == nil {
			v = promql.Matrix{} // encoded as [], not null
		}
		res.Value = cut(v, most, &res.Warnings)
	}
	// Encoded here, because the values belong to the query.
	b, err := json.Marshal(map[string]any{"resultType": res.Value.Type(), "result": res.Value})
	return json.RawMessage(b), res.Warnings, err
}

func (a *API) instant(r *http.Request) (any, annotations.Annotations, error) {
	at := time.Now()
	if t := r.Form.Get("time"); t != "" {
		var err error
		if at, err = moment("time", t); err != nil {
			return nil, nil, err
		}
	}
	return a.exec(r, 0, func(ctx context.Context, s storage.Queryable, o promql.QueryOpts) (promql.Query, error) {
		return a.engine.NewInstantQuery(ctx, s, o, r.Form.Get("query"), at)
	})
}

func (a *API) series(r *http.Request) (any, annotations.Annotations, error) {
	start, err1 := moment("start", r.Form.Get("start"))
	end, err2 := moment("end", r.Form.Get("end"))
	step, err3 := duration("step", r.Form.Get("step"))
	switch err := errors.Join(err1, err2, err3); {
	case err1 != nil:
		return nil, nil, err1
	case err != nil:
		return nil, nil, badData{err}
	case end.Before(start):
		return nil, nil, badData{errors.New(`invalid parameter "end": end timestamp must not be before start time`)}
	case step <= 0:
		return nil, nil, badData{errors.New(`invalid parameter "step": want more than 0`)}
	case end.Sub(start)/step > mostPoints:
		return nil, nil, badData{fmt.Errorf("found more than %d points a series: take a longer step", mostPoints)}
	}
	return a.exec(r, end.Sub(start), func(ctx context.Context, s storage.Queryable, o promql.QueryOpts) (promql.Query, error) {
		return a.engine.NewRangeQuery(ctx, s, o, r.Form.Get("query"), start, end, step)
	})
}

// moment parses a time in seconds since 1970 or by RFC 3339.
func moment(what, s string) (time.Time, error) {
	if f, err := strconv.ParseFloat(s, 64); err == nil && math.Abs(f) < 1e15 {
		return time.UnixMilli(int64(math.Round(f * 1000))).UTC(), nil
	}
	if t, err := time.Parse(time.RFC3339Nano, s); err == nil {
		return t, nil
	}
	return time.Time{}, badData{fmt.Errorf("invalid parameter %q: found %q, want seconds since 1970 or a time such as 2026-11-22T10:00:00Z", what, s)}
}

// duration parses a duration in seconds or such as 5m.
func duration(what, s string) (time.Duration, error) {
	if f, err := strconv.ParseFloat(s, 64); err == nil && math.Abs(f) < 1e9 {
		return time.Duration(f * float64(time.Second)), nil
	}
	if d, err := model.ParseDuration(s); err == nil {
		return time.Duration(d), nil
	}
	return 0, badData{fmt.Errorf("invalid parameter %q: found %q, want seconds or a duration such as 5m", what, s)}
}

// between returns the bounds of a search; the default is all time.
func between(r *http.Request) (from, to int64, err error) {
	from, to = math.MinInt64/2, math.MaxInt64/2
	for what, at := range map[string]*int64{"start": &from, "end": &to} {
		if s := r.Form.Get(what); s != "" {
			t, err := moment(what, s)
			if err != nil {
				return 0, 0, err
			}
			*at = t.UnixMilli()
		}
	}
	return from, to, nil
}

// matchers parses the selectors of a search.
func (a *API) matchers(r *http.Request) (sets [][]*labels.Matcher, err error) {
	if err := boundTexts("selectors", r.Form["match[]"]...); err != nil {
		return nil, err
	}
	for _, s := range r.Form["match[]"] {
		set, err := a.parser.ParseMetricSelector(s)
		if err != nil {
			return nil, badData{err}
		}
		if !slices.ContainsFunc(set, func(m *labels.Matcher) bool { return !m.Matches("") }) {
			return nil, badData{errors.New("match[] must contain at least one non-empty matcher")}
		}
		sets = append(sets, set)
	}
	return sets, nil
}

// search opens a querier for a search, with its matchers and limit.
func (a *API) search(r *http.Request) (q storage.Querier, sets [][]*labels.Matcher, most int, err error) {
	if sets, err = a.matchers(r); err != nil {
		return nil, nil, 0, err
	}
	if most, err = limit(r); err != nil {
		return nil, nil, 0, err
	}
	from, to, err := between(r)
	if err != nil {
		return nil, nil, 0, err
	}
	s, err := a.store()
	if err != nil {
		return nil, nil, 0, err
	}
	q, err = s.Querier(from, to)
	return q, sets, most, err
}

// collect merges the results of one look per set of matchers, or of one without any.
func collect(sets [][]*labels.Matcher, look func(...*labels.Matcher) ([]string, annotations.Annotations, error)) (all []string, notes annotations.Annotations, err error) {
	if len(sets) == 0 {
		sets = [][]*labels.Matcher{nil}
	}
	all = []string{}
	for _, set := range sets {
		some, n, err := look(set...)
		if err != nil {
			return nil, nil, err
		}
		notes.Merge(n)
		all = append(all, some...)
	}
	slices.Sort(all)
	return slices.Compact(all), notes, nil
}

// limit parses the maximum number of results; 0 means all.
func limit(r *http.Request) (most int, err error) {
	if t := r.Form.Get("limit"); t != "" {
		if most, err = strconv.Atoi(t); err != nil || most < 0 {
			return 0, badData{fmt.Errorf("invalid parameter \"limit\": found %q, want 0 or more", t)}
		}
	}
	return most, nil
}

// cut drops results beyond the limit, with a note.
func cut[S ~[]T, T any](all S, most int, notes *annotations.Annotations) S {
	if most > 0 && len(all) > most {
		notes.Add(errors.New("results truncated due to limit")) // the text of Prometheus
		return all[:most]
	}
	return all
}

func (a *API) labelNames(r *http.Request) (any, annotations.Annotations, error) {
	return a.texts(r, func(q storage.Querier, m ...*labels.Matcher) ([]string, annotations.Annotations, error) {
		return q.LabelNames(r.Context(), nil, m...)
	})
}

func (a *API) labelValues(r *http.Request) (any, annotations.Annotations, error) {
	name := r.PathValue("name")
	if name == "" {
		return nil, nil, badData{errors.New("invalid label name")}
	}
	return a.texts(r, func(q storage.Querier, m ...*labels.Matcher) ([]string, annotations.Annotations, error) {
		return q.LabelValues(r.Context(), name, nil, m...)
	})
}

// texts returns the names or values of labels of the series that the request selects.
func (a *API) texts(r *http.Request, of func(storage.Querier, ...*labels.Matcher) ([]string, annotations.Annotations, error)) (any, annotations.Annotations, error) {
	q, sets, most, err := a.search(r)
	if err != nil {
		return nil, nil, err
	}
	defer q.Close()
	all, notes, err := collect(sets, func(m ...*labels.Matcher) ([]string, annotations.Annotations, error) { return of(q, m...) })
	all = cut(all, most, &notes)
	return all, notes, err
}

func (a *API) find(r *http.Request) (any, annotations.Annotations, error) {
	q, sets, most, err := a.search(r)
	if err != nil {
		return nil, nil, err
	}
	defer q.Close()
	if len(sets) == 0 {
		return nil, nil, badData{errors.New("no match[] parameter provided")}
	}
	from, to, err := between(r)
	if err != nil {
		return nil, nil, err
	}
	found := map[string]labels.Labels{}
	var notes annotations.Annotations
	for _, set := range sets {
		all := q.Select(r.Context(), false, &storage.SelectHints{Start: from, End: to, Func: "series"}, set...)
		for all.Next() {
			l := all.At().Labels()
			found[l.String()] = l
		}
		if err := all.Err(); err != nil {
			return nil, nil, err
		}
		notes.Merge(all.Warnings())
	}
	out := make([]labels.Labels, 0, len(found))
	for _, l := range found {
		out = append(out, l)
	}
	slices.SortFunc(out, labels.Compare)
	out = cut(out, most, &notes)
	return out, notes, nil
}
