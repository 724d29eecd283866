package site

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"example.org/homenode/ask"
	"example.org/homenode/internal/turns"
	"example.org/homenode/output/answer"
	"example.org/homenode/serve/board"
	"example.org/homenode/source/open"
)

// env returns the environment of a question on this server: only the page's fleet, and no files.
func (x *request) env() *ask.Env {
	e := &ask.Env{Policy: x.site.Policy, Today: time.Now(), Version: x.site.Version, Shared: true}
	if x.fleet != nil {
		e.Held = &ask.Held{Sources: []string{Source}, Result: x.fleet.Result, Bare: x.fleet.Bare, Demo: slices.Equal(x.fleet.Sources, []string{open.Demo})}
		if x.fleet.Live {
			e.Held.Ticks = board.SeenAt
		}
	}
	return e
}

// asking limits the pages that are computed at once, and those that wait: all live pages ask again within a second of new data.
var asking = turns.New(4, mostStreams)

// answerOf answers a question within its limits.
func (x *request) answerOf(t *ask.Entry, q ask.Question) (*answer.Answer, error) {
	r, err := x.reply(t, q, x.env())
	if err != nil {
		return nil, err
	}
	return r.Answers[0], nil
}

// reply answers a question in an environment.
func (x *request) reply(t *ask.Entry, q ask.Question, e *ask.Env) (*ask.Reply, error) {
	if x.quiet {
		return nil, errors.New("nothing is asked")
	}
	return t.Answer(x.Context(), q, e)
}

// exampleLink is the label of the link from an empty form to an answer.
const exampleLink = "Show an example"

// showQuestion shows the form of a question, and its answer if values are given. The example values of fields are only used by the example link.
func (x *request) showQuestion(t *ask.Entry) (*view, error) {
	q := t.Ask()
	example, err := url.ParseQuery(t.Example)
	if err != nil {
		return nil, fmt.Errorf("the example of %s: %w", t.Name, err)
	}
	fleet := x.fleet != nil && x.query.Get("source") == "" && slices.ContainsFunc(ask.Fields(q), func(f *ask.Field) bool { return f.Name == "cluster" && f.Label != "" })
	if fleet && x.query.Get("cluster") != "" { // of the fleet: there is no other
		x.query.Set("source", Source)
	}
	left := x.leaveExample(q, example)
	fields, given, err := x.form(q)
	v := &view{fields: fields, most: rowsShown, title: t.Title}
	if err != nil {
		return v, err
	}
	if !given {
		for i := range fields {
			if fleet && fields[i].Name == "source" {
				fields[i].Value = Source
			}
		}
		example = merged(x.query, example)
		v.answer = &answer.Answer{Title: t.Title, Verdict: []string{t.Lead}}
		v.links = []link{{exampleLink, x.page.path + "?" + example.Encode()}}
		return v, nil
	}
	v.command = ask.Line(t.Name, q)
	v.answer, err = x.answerOf(t, q)
	if err == nil && left {
		out := *v.answer
		out.Notes = slices.Clone(out.Notes)
		out.Note("The values of the example were left out: this answer is about the fleet.")
		v.answer = &out
	}
	return v, err
}

// merged returns a query with additional values.
func merged(query, more url.Values) url.Values {
	out := cloned(query)
	for name, values := range more {
		out[name] = values
	}
	return out
}

// leaveExample removes the values of an example from a question about the fleet, if the example is about something else. It reports whether there
// were any.
func (x *request) leaveExample(q ask.Question, example url.Values) bool {
	if !slices.ContainsFunc(ask.Fields(q), func(f *ask.Field) bool {
		return f.Argument && x.query.Get(f.Name) == Source && example.Get(f.Name) != Source
	}) {
		return false
	}
	for name, values := range example {
		if !slices.Equal(x.query[name], values) { // it is not shown
			return false
		}
	}
	for name := range example {
		x.query.Del(name)
	}
	return len(example) > 0
}
