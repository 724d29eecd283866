// Package site has the pages for browsers. A page computes nothing: it asks a question of package ask about one of the server's fleets
// and shows the same answer as the command. Its address contains its whole state, and every page works without scripts.
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

	"example.org/homenode/ask"
	"example.org/homenode/docs/schema"
	"example.org/homenode/internal/turns"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/numa/pattern"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/draw/picture"
	"example.org/homenode/output/format/page"
	"example.org/homenode/rules/policy"
	"example.org/homenode/serve/captures"
	"example.org/homenode/serve/held"
)

// Source is the name of the page's fleet in questions.
const Source = "SOURCE"

// A Site serves the pages.
type Site struct {
	Fleets   func() []*held.Fleet  // the current fleets
	Policy   *policy.Policy        // policy for assessments; nil for the defaults
	Status   func() *answer.Answer // collection status; nil if nothing is collected
	Version  string
	Live     *Live           // nil if nothing is collected
	Captures *captures.Shelf // available captures; nil for none
	OneFile  string          // path of homenode.html, which is offered for download; "" for none

	placed placed
	recent recent
	front  front
	shown  shownPlans
}

// Forms are posted, then redirected to their address if that is no longer than mostAddress; mostPosted limits the size of a form.
const (
	mostAddress = 6_000
	mostPosted  = 1 << 20
)

// rowsShown is the number of rows of a long table on a page about one thing.
const rowsShown = 50

// rowsOfTable is that on a page of many parts, which a phone shows below each other.
const rowsOfTable = 10

// A place is the position of a link to a page in the layout.
type place uint8

const (
	linked place = iota // not in the layout: other pages link to it
	bar
	foot
)

// A screen is one page.
type screen struct {
	path  string // "/vm"
	title string // English; used in the navigation
	nav   place  // position of its link in the layout
	needs string // required part of its address
	fleet bool   // it is about the fleet; without the required part it lists the choices
	show  func(*request) (*view, error)
}

// A request is a request for a page.
type request struct {
	*http.Request
	site  *Site
	page  *screen
	query url.Values
	fleet *held.Fleet // nil without a fleet
	// asks has the fields of the page, as far as they are known.
	asks  []field
	quiet bool // only the fields are wanted
	// posted means that the question is too long for an address.
	posted bool
}

// A view is the content of a page.
type view struct {
	answer  *answer.Answer
	body    []byte  // its HTML, if it is kept
	fields  []field // of the form; none for a page without one
	command []string
	most    int  // findings of a rule to list; 0 for few
	live    bool // its content changes
	title   string
	tabs    []tab
	actions []action
	filter  bool      // its form filters findings and is placed above them
	open    bool      // the findings of a rule are expanded
	first   bool      // the things to do first stand below the drawings
	links   []link    // to further pages
	plan    *planFile // the plan on the page; nil for none
	// recorded is the capture of the findings; "" for the fleet.
	recorded string
	back     string // target of the link on an error page
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

// style returns the single style sheet of the pages: the styles of HTML files, of charts, and of the site.
func style() []byte {
	return []byte(strings.Join([]string{page.AppStyle(), picture.Style, plotStyle, siteStyle}, "\n"))
}

// Handlers returns the pages by pattern.
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
		out["POST"+strings.TrimPrefix(pattern, "GET")] = s.serve(p) // a form that is too long for an address
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

// asset serves a static part of the pages.
func asset(kind string, content []byte) http.Handler {
	tag := fmt.Sprintf("%q", fmt.Sprintf("%x", sha256.Sum256(content))[:16])
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.Header().Set("ETag", tag)
		w.Header().Set("Cache-Control", "no-cache")
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	})
}

// serve serves one page.
func (s *Site) serve(p *screen) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x, err := s.request(p, r)
		if r.Method == http.MethodPost && err == nil && !x.posted {
			http.Redirect(w, r, p.path+"?"+x.query.Encode(), http.StatusSeeOther)
			return
		}
		var v *view
		if err == nil {
			if p.path == frontPath && s.Live != nil {
				v, err = s.front.shown(x)
			} else {
				v, err = x.shown()
			}
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

// shown returns the page, within the limit of concurrent pages.
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

// missing answers requests for unknown addresses.
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

// plainer maps errors of a library, and of lines that a page generated, to plain texts.
var plainer = []struct {
	raw   *pattern.Pattern
	plain string
}{
	{pattern.Of(`(?is)^question:\d+:\d+: (.*?)( \(in .*\))?$`), `$1`},
	{pattern.Of(`(?s)unexpected token EOF.*$`), `it ends where more is wanted`},
	{pattern.Of(`(?s) \(\d+:\d+\)\s*\|.*$`), ``},
}

// flagOf matches the field at the begin of an error that names several.
var flagOf = pattern.Of(`^--([a-z-]+)(:[0-9]+)*: `)

// cannot returns an answer with the error, which names a field by its label.
func (x *request) cannot(err error) *answer.Answer {
	text, name := words.Error(err), ""
	if wrong, ok := errors.AsType[*ask.FieldError](err); ok {
		text, name = wrong.Err.Error(), wrong.Field
	} else if m := flagOf.FindStringSubmatch(text); m != nil {
		text, name = strings.TrimPrefix(text, m[0]), m[1]
	}
	if i := slices.IndexFunc(x.asks, func(f field) bool { return f.Name == name }); i >= 0 && x.asks[i].Label != "" {
		text = x.asks[i].Label + ": " + text
	}
	if i := slices.IndexFunc(x.asks, func(f field) bool { return f.Name == "source" }); i >= 0 {
		text = strings.ReplaceAll(text, Source, strings.ToLower(x.asks[i].Label))
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

// request parses a request.
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

// An unknownError means that the requested object does not exist.
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
	return words.Capital(text) + "."
}

// oneFile is the name of the page that contains the whole analysis (package page), and its address.
const oneFile = "homenode.html"

// save offers homenode.html for download: opened from a server, it could not keep its promise to make no requests.
func (s *Site) save(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Disposition", `attachment; filename="`+oneFile+`"`)
	http.ServeFile(w, r, s.OneFile)
}
