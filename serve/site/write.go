package site

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"example.org/homenode/ask/plain"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/texttab"
	"example.org/homenode/internal/turns"
	"example.org/homenode/internal/version"
	"example.org/homenode/internal/words"
	"example.org/homenode/output/format"
	"example.org/homenode/output/format/page"
	"example.org/homenode/output/table/xlsx"
	"example.org/homenode/rules/finding"
	"example.org/homenode/serve/access"
	"example.org/homenode/serve/held"
)

//go:embed layout.tmpl
var layoutText string

var layout = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("layout").Funcs(template.FuncMap{"line": texttab.Line}).Parse(layoutText))
})

// A shown is the data of the layout around an answer.
type shown struct {
	Title   string
	Pages   []*entry // at the top
	More    []*entry // at the end
	Query   string   // of the search
	Fleet   *held.Fleet
	Live    bool
	Content template.HTML
	Command string
	Again   bool   // the command reads the fleet again: what is seen live is on the page alone
	Forms   []link // other formats of the page
	Plan    *planFile
	Version string
	Docs    string // the address of the documentation; "" if the build does not define it
	User    string // user name from the proxy; "" for none
	OneFile string // the address of homenode.html; "" if there is none to save

	Switch []entry // other fleets
}

// An entry is an entry of the navigation.
type entry struct {
	Path, Title string
	Here        bool
}

// A link is an address with its text.
type link struct{ Text, Address string }

// forms are the formats in which a page can be saved, with their labels.
var forms = []link{{"CSV", "csv"}, {"Excel", "xlsx"}, {"JSON", "json"}, {"Markdown", "markdown"}, {"Report", "html"}}

// types has the media types of forms.
var types = map[string]string{"csv": "text/csv; charset=utf-8", "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "json": "application/json",
	"markdown": "text/markdown; charset=utf-8", "html": "text/html; charset=utf-8"}

// body returns the HTML of the answer and of the form.
func (x *request) body(v *view) ([]byte, error) {
	var content bytes.Buffer
	rows := rowsShown
	if v.most > 0 && v.most < rowsShown { // a page of many parts
		rows = rowsOfTable
	}
	site := &page.Site{Path: x.page.path, Query: x.query, Rows: rows, Whole: x.posted, Open: v.open, First: v.first, Most: cmp.Or(v.most, 3), Findings: allOf}
	if v.recorded != "" {
		site.Findings, site.Subject = nil, func(f *finding.Finding) string { return x.inCapture(v.recorded, f) }
	}
	var asked bytes.Buffer
	err := writeForms(&asked, x, v)
	if v.filter {
		site.Filter = template.HTML(asked.String()) // escaped by the layout
		asked.Reset()
	}
	if err == nil {
		_, err = page.Body(&content, v.answer, site, func(w io.Writer) error { _, err := w.Write(asked.Bytes()); return err })
	}
	said := content.Bytes()
	if !strings.HasPrefix(x.page.path, "/rule") { // those pages are about flags too
		controls := x.controls()
		said = []byte(plain.HTML(string(said), func(text string) string { return plain.Text(text, controls) }))
	}
	return said, err
}

// bodyOf returns the HTML of a view, from the cache if it is there.
func (x *request) bodyOf(v *view) ([]byte, error) {
	if v.body != nil {
		return v.body, nil
	}
	address := x.page.path + "?" + x.query.Encode()
	if x.posted {
		address = "" // of no page
	}
	return x.site.recent.body(v.answer, address, func() ([]byte, error) { return x.body(v) })
}

// write writes the page.
func (x *request) write(w http.ResponseWriter, status int, v *view) {
	said, err := x.bodyOf(v)
	if err != nil {
		access.Fail(w, err, http.StatusInternalServerError)
		return
	}
	fleets := x.site.Fleets()
	s := &shown{Title: cmp.Or(v.title, v.answer.Title, v.answer.Question, x.page.title), Query: texttab.Line(x.query.Get("q")), Fleet: x.fleet, Live: v.live, Switch: x.switches(fleets), Plan: v.plan,
		Content: template.HTML(said), Version: x.site.Version, Docs: docs(), User: access.User(x.Context())} // escaped by page.Body
	for _, p := range pages() {
		one := &entry{p.path, p.title, p.path == x.page.path}
		switch p.nav {
		case bar:
			s.Pages = append(s.Pages, one)
		case foot:
			s.More = append(s.More, one)
		}
	}
	if v.command != nil && status == http.StatusOK && !x.posted {
		s.Command = x.commandLine(v.command)
		s.Again = x.fleet != nil && x.fleet.Live && slices.ContainsFunc(v.command, func(a string) bool { return a == Source || strings.HasSuffix(a, "="+Source) })
		for _, f := range forms {
			q := cloned(x.query)
			q.Set("format", f.Address)
			s.Forms = append(s.Forms, link{f.Text, x.page.path + "?" + q.Encode()})
		}
	}
	if x.site.OneFile != "" {
		s.OneFile = "/" + oneFile
	}
	var whole bytes.Buffer
	if err := layout().ExecuteTemplate(texttab.Cleaned(&whole), "layout", s); err != nil {
		access.Fail(w, err, http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	retry(h, status)
	w.WriteHeader(status)
	_, _ = w.Write(x.keepFleet(whole.Bytes(), len(fleets))) // the client is gone
}

// controls returns the controls of the site and the fields of this page by the flags that they replace.
func (x *request) controls() map[string]string {
	out := map[string]string{"format json": "“Save as JSON”", "details": "“Save as Report”", "fleet": "the inventory of the fleet", "what-if": "“What if”"}
	for _, f := range x.asks {
		if f.Label == "" {
			continue
		}
		out[f.Name] = plain.Quoted(f.Label)
		if flag, value, is := strings.Cut(f.Name, "-"); is { // a box for one value of a flag
			out[flag+" "+value] = out[f.Name]
		}
	}
	return out
}

// docs returns the address of the documentation; "" if the build does not define it.
func docs() string {
	if page := version.Page("docs/watch.md"); strings.HasPrefix(page, "https://") {
		return page
	}
	return ""
}

// retry sets the time after which a client may retry.
func retry(h http.Header, status int) {
	if status == http.StatusServiceUnavailable {
		h.Set("Retry-After", turns.RetryAfter)
	}
}

// commandLine returns the command for the same answer.
func (x *request) commandLine(args []string) string {
	out := []string{"homenode"}
	for _, a := range args {
		flag, named := strings.CutSuffix(a, "="+Source)
		switch {
		case named && x.fleet != nil:
			for _, one := range x.fleet.Sources {
				if !strings.HasPrefix(one, "--") { // a flag about reading them stays
					one = flag + "=" + one
				}
				out = append(out, words.Command(one))
			}
			continue
		case a != Source:
			out = append(out, words.Command(a))
			continue
		}
		for _, one := range x.fleet.Sources {
			out = append(out, words.Command(one))
		}
	}
	return strings.Join(out, " ")
}

// writeForms writes the form of a page, and its actions.
func writeForms(w io.Writer, x *request, v *view) error {
	return layout().ExecuteTemplate(texttab.Cleaned(w), "forms", struct {
		Path    string
		Fleet   string
		Long    bool // it may be too long for an address
		Tabs    []tab
		Groups  []group
		Keep    bool // empty fields are sent too
		Actions []action
		Links   []link
		Back    string
	}{x.page.path, x.query.Get("fleet"), slices.ContainsFunc(v.fields, func(f field) bool { return f.Long }), v.tabs, groupsOf(v.fields), slices.ContainsFunc(v.fields, func(f field) bool { return f.Default != "" }), v.actions, v.links, v.back})
}

// export writes the answer of a page in another format.
func (x *request) export(w http.ResponseWriter, form string, v *view) {
	kind, ok := types[form]
	if !ok {
		http.Error(w, fmt.Sprintf("format: found %q, want one of csv, xlsx, json, markdown, html", form), http.StatusBadRequest)
		return
	}
	var b bytes.Buffer
	if err := format.Write(&b, form, v.answer, format.Options{Version: x.site.Version, Details: true, Workbook: xlsx.Write}); err != nil {
		access.Fail(w, err, http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "no-store")
	if form != "json" {
		extension := map[string]string{"markdown": "md"}
		w.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", "homenode-"+strings.ReplaceAll(v.answer.Command, " ", "-")+"."+cmp.Or(extension[form], form)))
	}
	_, _ = w.Write(b.Bytes()) // the client is gone
}

func cloned(q url.Values) url.Values {
	out := url.Values{}
	for k, v := range q {
		out[k] = slices.Clone(v)
	}
	return out
}

// eventChoices are the events of a VM.
func eventChoices() []choice { return choices("next power cycle", vnuma.EventNames()[1:]...) }
