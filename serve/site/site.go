// Package site has the pages that people look at in a browser. A page computes nothing: it asks a question of package ask
// about a fleet that the server holds and shows its answer, which is that of the command. Its address has its whole state, and
// every page reads without scripts.
package site

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"homenode/ask"
	"homenode/docs/schema"
	"homenode/internal/turns"
	"homenode/numa"
	"homenode/numa/pattern"
	"homenode/output/answer"
	"homenode/output/draw/picture"
	"homenode/output/format/page"
	"homenode/rules/policy"
	"homenode/serve/captures"
	"homenode/serve/held"
)

// Source stands in questions for the fleet of the page.
const Source = "SOURCE"

// A Site answers with pages.
type Site struct {
	Fleets   func() []*held.Fleet  // that are held now
	Policy   *policy.Policy        // how this server judges; nil for the defaults
	Status   func() *answer.Answer // how collecting goes; nil where nothing is collected
	Version  string
	Live     *Live           // nil where nothing is collected
	Captures *captures.Shelf // that may be opened; nil for none
	OneFile  string          // path of homenode.html, which is offered for download; "" for none

	placed placed
	recent recent
	shown  shownPlans
}

// What a form asks is posted, and led on to its address when that is no longer than mostAddress; mostPosted is how much a form can ask.
const (
	mostAddress = 6_000
	mostPosted  = 1 << 20
)

// rowsShown is how many rows of a long table stand on a page.
const rowsShown = 50

// A place is where a link to a page stands on every page.
type place uint8

const (
	linked place = iota // nowhere: other pages lead to it
	bar
	foot
)

// A screen is one question.
type screen struct {
	path  string // "/vm"
	title string // English; the navigation says it
	nav   place  // where a link to it stands on every page
	needs string // the part of its address without which it shows nothing
	fleet bool   // it is about the fleet; without the part that it needs it lists what there is
	show  func(*request) (*view, error)
}

// A request is a page that is asked for.
type request struct {
	*http.Request
	site  *Site
	page  *screen
	query url.Values
	fleet *held.Fleet // nil when none is held
	// asks are the fields of the page, when it has come so far.
	asks  []field
	quiet bool // only these are wanted
	// posted says that what is asked is too long for an address.
	posted bool
}

// A view is what a page shows.
type view struct {
	answer  *answer.Answer
	fields  []field // what can be asked; none for a page without a form
	command []string
	most    int  // findings of a rule that are listed; 0 for few
	live    bool // what it shows changes
	title   string
	tabs    []tab
	actions []action
	filter  bool      // its form picks findings: it stands above them
	open    bool      // the findings of a rule are listed at once
	links   []link    // to further questions
	plan    *planFile // that the page shows; nil for none
	// recorded is the capture that its findings are of; "" for the fleet.
	recorded string
	back     string // where a page that says why not leads back to
}

var (
	//go:embed static/site.css
	siteStyle string
	//go:embed static/play.js
	playScript []byte
	//go:embed static/site.js
	siteScript []byte
	// uPlot draws series in a browser: https://github.com/leeoniya/uPlot, MIT, see static/uPlot.LICENSE.
	//go:embed static/uPlot.iife.min.js
	plotScript []byte
	//go:embed static/uPlot.min.css
	plotStyle string
	//go:embed static/series.js
	seriesScript []byte
)

// style is the one style sheet of the pages: those of files, of every kind of drawing, and what a site has beyond.
func style() []byte {
	return []byte(strings.Join([]string{page.AppStyle(), picture.Style, plotStyle, siteStyle}, "\n"))
}

// Handler returns the pages by pattern.
func (s *Site) Handlers() map[string]http.Handler {
	out := map[string]http.Handler{
		"GET /static/site.css": asset("text/css; charset=utf-8", style()), "GET /static/site.js": asset("text/javascript; charset=utf-8", siteScript), "GET /static/play.js": asset("text/javascript; charset=utf-8", playScript),
		"GET /static/uPlot.js": asset("text/javascript; charset=utf-8", plotScript), "GET /static/series.js": asset("text/javascript; charset=utf-8", seriesScript),
	}
	for _, p := range pages() {
		pattern := "GET " + p.path
		if p.path == "/" {
			pattern += "{$}"
		}
		out[pattern] = s.serve(p)
		out["POST"+strings.TrimPrefix(pattern, "GET")] = s.serve(p) // a form that asks more than an address holds
	}
	if s.OneFile != "" {
		out["GET /"+oneFile] = http.HandlerFunc(s.save)
	}
	out["GET /plan"] = http.HandlerFunc(s.download)
	for _, p := range pages() {
		if p.question() {
			out["GET "+apiPath+p.name()] = s.answer(p)
		}
	}
	out["GET "+apiPath+"openapi.json"] = http.HandlerFunc(s.describe)
	out["GET "+schemaPath] = http.StripPrefix(schemaPath, http.FileServerFS(schema.Files))
	out["POST /captures"] = http.HandlerFunc(s.upload)
	out["POST /captures/remove"] = http.HandlerFunc(s.forget)
	out["/"] = http.HandlerFunc(s.missing)
	out["GET /search"] = http.HandlerFunc(s.search)
	out["GET /events"] = http.HandlerFunc(s.events)
	out["GET /vm/series"] = http.HandlerFunc(s.series)
	out["POST /host/closely"] = http.HandlerFunc(s.closely)
	return out
}

// asset answers with a part of every page.
func asset(kind string, content []byte) http.Handler {
	tag := fmt.Sprintf("%q", fmt.Sprintf("%x", sha256.Sum256(content))[:16])
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.Header().Set("ETag", tag)
		w.Header().Set("Cache-Control", "no-cache")
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	})
}

// serve answers for one page.
func (s *Site) serve(p *screen) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x, err := s.request(p, r)
		if r.Method == http.MethodPost && err == nil && !x.posted {
			http.Redirect(w, r, p.path+"?"+x.query.Encode(), http.StatusSeeOther)
			return
		}
		var v *view
		if err == nil {
			v, err = x.shown()
		}
		status := http.StatusOK
		if err != nil {
			status = statusOf(err)
			if v == nil {
				v = &view{}
			}
			v.answer = x.cannot(err)
			if name := x.query.Get(p.needs); status == http.StatusNotFound && p.needs != "" && name != "" {
				v.links = append(v.links, link{"Search for " + name, "/search?" + url.Values{"q": {name}}.Encode()})
			}
		}
		if form := x.query.Get("format"); !x.posted && form != "" && err == nil {
			x.export(w, form, v)
			return
		}
		x.write(w, status, v)
	})
}

// shown shows the page when it is its turn.
func (x *request) shown() (*view, error) {
	if !x.quiet {
		end, err := asking.Take(x.Context())
		if err != nil {
			return nil, err
		}
		defer end()
	}
	switch p := x.page; {
	case p.fleet && x.fleet == nil:
		return nil, ask.ErrNoFleet
	case p.fleet && p.needs != "" && x.query.Get(p.needs) == "":
		return x.which(p.needs), nil
	default:
		return p.show(x)
	}
}

// missing answers for addresses that nothing is at.
func (s *Site) missing(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		refuse(w, http.StatusMethodNotAllowed, "this server only answers: want GET or HEAD")
		return
	}
	if strings.HasPrefix(r.URL.Path, "/api/") {
		refuse(w, http.StatusNotFound, "the API has no such question: "+apiPath+"openapi.json lists them")
		return
	}
	if strings.HasPrefix(r.URL.Path, "/static/") {
		http.NotFound(w, r)
		return
	}
	x, err := s.request(&screen{path: "/search", title: "Search"}, r)
	if err == nil {
		err = &unknownError{"no page has this address"}
	}
	x.write(w, statusOf(err), &view{answer: x.cannot(err)})
}

// plainer are errors of a library, and of lines that a page wrote itself, with what readers are told.
var plainer = []struct {
	raw   *pattern.Pattern
	plain string
}{
	{pattern.Of(`(?is)^question:\d+:\d+: (.*?)( \(in .*\))?$`), `$1`},
	{pattern.Of(`(?s)unexpected token EOF.*$`), `it ends where more is wanted`},
	{pattern.Of(`(?s) \(\d+:\d+\)\s*\|.*$`), ``},
}

// flagOf finds the field at the beginning of an error that names several.
var flagOf = pattern.Of(`^--([a-z-]+)(:[0-9]+)*: `)

// cannot says why a page shows nothing: by the label of the field where it is about one.
func (x *request) cannot(err error) *answer.Answer {
	text, name := err.Error(), ""
	if wrong, ok := errors.AsType[*ask.FieldError](err); ok {
		text, name = wrong.Err.Error(), wrong.Field
	} else if m := flagOf.FindStringSubmatch(text); m != nil {
		text, name = strings.TrimPrefix(text, m[0]), m[1]
	}
	if i := slices.IndexFunc(x.asks, func(f field) bool { return f.Name == name }); i >= 0 && x.asks[i].Label != "" {
		text = x.asks[i].Label + ": " + text
	}
	for _, p := range plainer {
		text = p.raw.ReplaceAllString(text, p.plain)
	}
	headline := "This cannot be answered."
	if errors.Is(err, turns.ErrBusy) {
		headline = "This server is busy."
	}
	if statusOf(err) == http.StatusNotFound {
		headline = "Not found."
	}
	return &answer.Answer{Title: x.page.title, Verdict: []string{headline, sentence(text)}}
}

// request reads what is asked.
func (s *Site) request(p *screen, r *http.Request) (*request, error) {
	x := &request{Request: r, site: s, page: p, query: r.URL.Query()}
	if r.Method == http.MethodPost {
		r.Body = http.MaxBytesReader(nil, r.Body, mostPosted)
		if err := r.ParseForm(); err != nil {
			return x, fmt.Errorf("the form: %w: at most %s", err, numa.Bytes(mostPosted))
		}
		x.query = r.PostForm
		x.posted = len(x.query.Encode()) > mostAddress
	}
	fleets := s.Fleets()
	name := x.query.Get("fleet")
	i := slices.IndexFunc(fleets, func(f *held.Fleet) bool { return name == "" || f.Name == name })
	if i < 0 && name != "" {
		return x, &unknownError{fmt.Sprintf("no fleet is named %q", name)}
	}
	if i >= 0 {
		x.fleet = fleets[i]
	}
	if len(fleets) > 1 && x.fleet != nil {
		x.query.Set("fleet", x.fleet.Name)
	}
	for _, values := range x.query {
		for _, v := range values {
			switch {
			case strings.HasPrefix(v, "@"):
				return x, fmt.Errorf("found %q: a page reads no files", v)
			case strings.HasPrefix(v, "--"):
				return x, fmt.Errorf("found %q: a page takes no flags", v)
			}
		}
	}
	return x, nil
}

// An unknownError says that something asked for is not there.
type unknownError struct{ text string }

func (e *unknownError) Error() string { return e.text }

func statusOf(err error) int {
	switch _, unknown := errors.AsType[*unknownError](err); {
	case unknown:
		return http.StatusNotFound
	case errors.Is(err, ask.ErrNoFleet), errors.Is(err, turns.ErrBusy), errors.Is(err, context.DeadlineExceeded):
		return http.StatusServiceUnavailable
	}
	return http.StatusBadRequest
}

// sentence returns an error as a sentence.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:] + "."
}
