package site

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"homenode/ask"
	"homenode/internal/turns"
	"homenode/output/answer"
	"homenode/serve/board"
	"homenode/source/open"
)

// env returns what this server lends to a question: the fleet of the page alone, and no file.
func (x *request) env() *ask.Env {
	e := &ask.Env{Policy: x.site.Policy, Today: time.Now(), Version: x.site.Version, Shared: true}
	if x.fleet != nil {
		e.Held = &ask.Held{Source: Source, Result: x.fleet.Result, Bare: x.fleet.Bare, Demo: slices.Equal(x.fleet.Sources, []string{open.Demo})}
		if x.fleet.Live {
			e.Held.Ticks = board.SeenAt
		}
	}
	return e
}

// asking bounds the pages that are made at once, and those that wait.
var asking = turns.New(4, 100)

// answerOf answers a question within its budget.
func (x *request) answerOf(t *ask.Entry, q ask.Question) (*answer.Answer, error) {
	r, err := x.reply(t, q, x.env())
	if err != nil {
		return nil, err
	}
	return r.Answers[0], nil
}

// reply answers a question with what is lent to it.
func (x *request) reply(t *ask.Entry, q ask.Question, e *ask.Env) (*ask.Reply, error) {
	if x.quiet {
		return nil, errors.New("nothing is asked")
	}
	return t.Answer(x.Context(), q, e)
}

// exampleLink leads from an empty form to an answer.
const exampleLink = "Show an example"

// showQuestion shows the form of a question, and its answer when something is asked. What a field shows as an example is asked by the link that says so alone.
func (x *request) showQuestion(t *ask.Entry) (*view, error) {
	q := t.Ask()
	fields, given, err := x.form(q)
	v := &view{fields: fields, most: rowsShown, title: t.Title}
	if err != nil {
		return v, err
	}
	if !given {
		example := cloned(x.query)
		asked, err := url.ParseQuery(t.Example)
		if err != nil {
			return v, fmt.Errorf("the example of %s: %w", t.Name, err)
		}
		for name, values := range asked {
			example[name] = values
		}
		v.answer = &answer.Answer{Title: t.Title, Verdict: []string{t.Lead}}
		v.links = []link{{exampleLink, x.page.path + "?" + example.Encode()}}
		return v, nil
	}
	v.command = ask.Line(t.Name, q)
	v.answer, err = x.answerOf(t, q)
	return v, err
}
