// Package asker answers the questions of the page, which are those of package ask, about a shape or about dropped files. It does not depend on
// a browser.
package asker

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	"example.org/homenode/ask"
	"example.org/homenode/ask/change"
	"example.org/homenode/ask/plain"
	"example.org/homenode/internal/texttab"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/fix/script"
	"example.org/homenode/output/format"
	"example.org/homenode/output/format/page"
	"example.org/homenode/output/table/xlsx"
	"example.org/homenode/rules/finding"
	"example.org/homenode/source/open"
)

// An Asker stores the dropped files and answers questions about them. It serves one request at a time.
type Asker struct {
	Version string
	Now     func() time.Time

	names    []string // of all files
	captures []string // the recordings among them
	held     *ask.Held
	stated   url.Values // facts that the files lack, by the names of fields
	hostless bool       // the files contain a VM, and no host
}

// A Reply is the content that the page shows or saves.
type Reply struct {
	HTML    string   // body of an answer, for the style sheet of pages
	Title   string   // of the window
	Command string   // the command line that gives the same answer
	Pages   []string // paths that can be opened now, in the order of the navigation
	Tell    []string // one line for each unreadable file
	Data    []byte   // a file to save; the other fields are then empty
	Name    string   // of that file
}

// rows limits the rows of a table on a page. most limits the findings listed for each rule and severity.
const rows, most = 50, 5

// Answer answers the question of an address such as "/vm?vm=vm-101&vms.page=2", in a form of package format. The form "page" is the body of a
// page.
func (a *Asker) Answer(ctx context.Context, address, form string) (*Reply, error) {
	r, err := a.answer(ctx, address, form)
	return r, told(err)
}

func (a *Asker) answer(ctx context.Context, address, form string) (*Reply, error) {
	u, err := url.Parse(address)
	var query url.Values
	if err == nil {
		query, err = url.ParseQuery(u.RawQuery)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: no such page", address)
	}
	wrong := a.restate(ctx, query)
	t, q, err := a.question(u.Path, query)
	if q == nil {
		return nil, err
	}
	out := &Reply{Pages: a.pages(), Command: words.Command(append([]string{"homenode"}, ask.Line(t.Name, q)...)...)}
	if err = cmp.Or(wrong, err); err == nil {
		err = a.reply(ctx, out, t, q, u.Path, query, form)
	}
	if fields := a.form(q, u.Path, query, ""); err != nil && form == "page" && fields != nil && fields.shows(u.Path, spoken(err.Error())) {
		fields.Open = true
		out.Command, err = "", a.refuse(out, fields, err) // the reader can change the fields
	}
	return out, err
}

// reply answers a question in a form.
func (a *Asker) reply(ctx context.Context, out *Reply, t *ask.Entry, q ask.Question, path string, query url.Values, form string) error {
	e := &ask.Env{Open: open.Fleet, Held: a.held, Today: a.Now(), Version: a.Version, Warn: func(text string) { out.Tell = append(out.Tell, spoken(texttab.Line(text))) }}
	if form != "page" {
		e.Form = form
	}
	if plan, ok := q.(*change.Plan); ok && (form == "json" || slices.Contains(script.Formats, form)) {
		return a.savePlan(ctx, out, e, plan, form)
	}
	if path == whatIfPath && query.Get("what-if") == "" {
		out.Command = ""
		return a.show(out, &ask.Reply{Answers: []*answer.Answer{{Title: "What if", Verdict: []string{"What would you change?"}}}}, a.form(q, path, query, ""), path, query)
	}
	r, err := t.Answer(ctx, q, e)
	if err != nil {
		return err
	}
	if r.Partly != nil {
		out.Tell = append(out.Tell, spoken(texttab.Line(r.Partly.Error())))
	}
	if form != "page" {
		return a.save(out, r, form)
	}
	return a.show(out, r, a.form(q, path, query, a.assumable(path)), path, query)
}

// assumable returns an example of the facts about hosts without which no VM could be assessed; "" for none.
func (a *Asker) assumable(path string) string {
	if path == filePath && a.hostless {
		return "nodes=2 cores=16 memory=768GB release=8.0U3"
	}
	if path != fleetPath || a.held.Result.VMs > 0 || len(a.held.Result.Fleet.VMs) == 0 {
		return ""
	}
	hosts := a.held.Result.Fleet.Hosts
	if i := slices.IndexFunc(hosts, func(h numa.Host) bool { return !h.Nodes.Known() }); i >= 0 {
		return a.held.Result.Example(&hosts[i])
	}
	if len(hosts) > 0 {
		return "release=8.0U3"
	}
	return a.held.Result.Example(nil)
}

// formHere is the place of the form in an answer, which has no comments of its own.
const formHere = "<!--form-->"

// show writes the answers as HTML, with the form after the headline.
func (a *Asker) show(out *Reply, r *ask.Reply, fields *form, path string, query url.Values) error {
	var b, asked bytes.Buffer
	site := &page.Site{Path: path, Query: query, Rows: rows, Most: most, Subject: a.subject(path),
		Findings: func(rule string) string { return path + "?" + url.Values{"rule": {rule}}.Encode() }}
	if query.Get("rule") != "" {
		site.Most = 500
	}
	for _, one := range r.Answers {
		shown := *one
		shown.Next = nil // the page has links
		if _, err := page.Body(&b, &shown, site, func(w io.Writer) error { _, err := io.WriteString(w, formHere); return err }); err != nil {
			return err
		}
		out.Title = cmp.Or(out.Title, shown.Title, shown.Question)
	}
	out.HTML = plain.HTML(b.String(), spoken)
	if vm := a.vm(path, query); vm != "" {
		out.HTML += `<p class="more"><a href="` + template.HTMLEscapeString(whatIfPath+"?"+url.Values{"change": {`vm="` + vm + `" `}}.Encode()) + `">What if this VM were changed?</a></p>`
	}
	if fields != nil && fields.shows(path, out.HTML) {
		out.HTML = fields.linked(out.HTML)
		if err := formTemplate().Execute(&asked, fields); err != nil {
			return err
		}
	}
	first, rest, _ := strings.Cut(out.HTML, formHere)
	out.HTML = first + asked.String() + strings.ReplaceAll(rest, formHere, "")
	return nil
}

// refuse writes an error as HTML, with the form whose fields the reader can change.
func (a *Asker) refuse(out *Reply, fields *form, err error) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, `<h1>This did not work</h1><p class="bad" role="alert">%s</p>`, template.HTMLEscapeString(texttab.Line(told(err).Error())))
	out.Title = "This did not work"
	err = formTemplate().Execute(&b, fields)
	out.HTML = b.String()
	return err
}

// vm returns the name of the VM that an answer is about, if a what-if can change it.
func (a *Asker) vm(path string, query url.Values) string {
	name := query.Get(map[string]string{"/vm": "vm", findPath: "name"}[path])
	if slices.Contains(a.pages(), whatIfPath) && slices.ContainsFunc(a.held.Result.Fleet.VMs, func(v numa.VM) bool { return v.Name == name || v.ID == name }) {
		return name
	}
	return ""
}

// subject returns a function that links a finding of a capture to its VM or host in the capture. It is nil elsewhere: those findings link to
// the page of the object.
func (a *Asker) subject(path string) func(*finding.Finding) string {
	if path != capturePath {
		return nil
	}
	return func(f *finding.Finding) string {
		q := url.Values{}
		switch {
		case f.VM != "":
			q.Set("vm", ask.One(f.VM))
		case f.Host != "":
			q.Set("host", ask.One(f.Host))
		}
		return capturePath + "?" + q.Encode()
	}
}

// save writes the answers in another form.
func (a *Asker) save(out *Reply, r *ask.Reply, form string) error {
	var b bytes.Buffer
	o := r.Form
	o.Version, o.Workbook, o.SourceFiles, o.Details = a.Version, xlsx.Write, a.names, o.Details || form == "html"
	if form != "csv" {
		o.Table = ""
	}
	name := "answer"
	for _, one := range r.Answers {
		name = strings.ReplaceAll(one.Command, " ", "-")
		if err := format.Write(&b, form, one, o); err != nil {
			return err
		}
	}
	if r.Write != nil {
		if err := r.Write(&b); err != nil {
			return err
		}
	}
	out.Data, out.Name = b.Bytes(), "homenode-"+name+"."+cmp.Or(map[string]string{"markdown": "md", "text": "txt"}[form], form)
	return nil
}

// savePlan writes the plan: as JSON, which fix --plan reads, or as a script.
func (a *Asker) savePlan(ctx context.Context, out *Reply, e *ask.Env, q *change.Plan, form string) error {
	p, err := q.Make(ctx, e)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	out.Name = "homenode-plan.json"
	if form == "json" {
		err = p.Write(&b)
	} else {
		out.Name = "homenode-plan." + cmp.Or(map[string]string{"powercli": "ps1", "govc": "sh", "ansible": "yml", "terraform": "tf"}[form], form)
		err = script.Print(&b, form, p, true)
	}
	out.Data = b.Bytes()
	return err
}

// errNothing is the error of a question about files when none was dropped.
var errNothing = errors.New("this page is about files, and none is open: drop them here; the page does not keep files")
