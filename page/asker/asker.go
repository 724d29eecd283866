// Package asker answers the questions of the page, which are those of package ask, about a shape or about dropped files. It does not depend on
// a browser.
package asker

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"homenode/ask"
	"homenode/ask/change"
	"homenode/internal/texttab"
	"homenode/internal/words"
	"homenode/numa"
	"homenode/output/fix/script"
	"homenode/output/format"
	"homenode/output/format/page"
	"homenode/output/table/xlsx"
	"homenode/rules/finding"
)

// An Asker stores the dropped files and answers questions about them. It serves one request at a time.
type Asker struct {
	Version string
	Now     func() time.Time

	names    []string // of all files
	captures []string // the recordings among them
	held     *ask.Held
	assumed  string // --assume-host: values for facts that the files lack about hosts
	hostless bool   // the files contain a VM, and no host
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
	Assume  string   // example of the facts about hosts that the user can state, if no VM could be assessed without; "" otherwise
}

// rows limits the rows of a table on a page. most limits the findings listed for each rule and severity.
const rows, most = 50, 5

// Answer answers the question of an address such as "/vm?vm=vm-101&vms.page=2", in a form of package format. The form "page" is the body of a
// page.
func (a *Asker) Answer(ctx context.Context, address, form string) (*Reply, error) {
	r, err := a.answer(ctx, address, form)
	return r, ask.Undashed(err)
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
	if err := a.assume(ctx, cmp.Or(query.Get("assume-host"), a.assumed)); err != nil {
		return nil, err
	}
	if u.Path == whatIfPath && a.held != nil && query.Get("what-if") == "" {
		return &Reply{HTML: "<h1>What would you change?</h1>", Title: "What if", Pages: a.pages(), Command: "homenode assess --help"}, nil
	}
	t, q, err := a.question(u.Path, query)
	if err != nil {
		return nil, err
	}
	out := &Reply{Pages: a.pages(), Command: words.Command(append([]string{"homenode"}, ask.Line(t.Name, q)...)...)}
	e := &ask.Env{Open: a.open, Held: a.held, Today: a.Now(), Version: a.Version, Warn: func(text string) { out.Tell = append(out.Tell, texttab.Line(text)) }}
	if form != "page" {
		e.Form = form
	}
	if plan, ok := q.(*change.Plan); ok && (form == "json" || slices.Contains(script.Formats, form)) {
		return a.savePlan(ctx, e, plan, form)
	}
	r, err := t.Answer(ctx, q, e)
	if err != nil {
		return nil, err
	}
	if r.Partly != nil {
		out.Tell = append(out.Tell, texttab.Line(r.Partly.Error()))
	}
	if form != "page" {
		return out, a.save(out, r, form)
	}
	out.Assume = a.assumable(u.Path)
	return out, a.show(out, r, u.Path, query)
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

// show writes the answers as HTML.
func (a *Asker) show(out *Reply, r *ask.Reply, path string, query url.Values) error {
	var b bytes.Buffer
	site := &page.Site{Path: path, Query: query, Rows: rows, Most: most, Subject: a.subject(path),
		Findings: func(rule string) string { return path + "?" + url.Values{"rule": {rule}}.Encode() }}
	if query.Get("rule") != "" {
		site.Most = 500
	}
	for _, one := range r.Answers {
		shown := *one
		shown.Next = nil // the page has links
		if _, err := page.Body(&b, &shown, site, nil); err != nil {
			return err
		}
		out.Title = cmp.Or(out.Title, shown.Title, shown.Question)
	}
	out.HTML = b.String()
	return nil
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
func (a *Asker) savePlan(ctx context.Context, e *ask.Env, q *change.Plan, form string) (*Reply, error) {
	p, err := q.Make(ctx, e)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	out := &Reply{Name: "homenode-plan.json"}
	if form == "json" {
		err = p.Write(&b)
	} else {
		out.Name = "homenode-plan." + cmp.Or(map[string]string{"powercli": "ps1", "govc": "sh", "ansible": "yml", "terraform": "tf"}[form], form)
		err = script.Print(&b, form, p, true)
	}
	out.Data = b.Bytes()
	return out, err
}

// errNothing is the error of a question about files when none was dropped.
var errNothing = errors.New("this page is about files, and none is open: drop them here; the page does not keep files")
