// Package ask declares and answers each question once. A question is a struct. Its fields are the parameters, with help, defaults,
// limits and labels in their tags; its method Answer answers it. A front end derives flags, form fields or API parameters from that
// declaration, provides an Env, and shows the Reply. Package ask does not depend on front ends, the network or a terminal.
package ask

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"io"
	"slices"
	"strings"

	"example.org/homenode/output/answer"
	"example.org/homenode/output/format"
)

// A Fielded is a struct of fields that can be set: it embeds Asked.
type Fielded interface{ state() *Asked }

// A Question can be answered.
type Question interface {
	Fielded

	// Answer answers the question with the resources of the front end. It does not keep e.
	Answer(ctx context.Context, e *Env) (*Reply, error)
}

// Asked records which fields of a question were given. A field that was given can still be zero.
type Asked struct {
	given []*Field            // in the order in which they were given; each once
	flags map[string][]string // as in Env.Flags
}

func (a *Asked) state() *Asked { return a }

// A Reply is the answer to a question.
type Reply struct {
	Answers   []*answer.Answer
	Form      format.Options          // options that the output forms need in addition to the answer
	Lines     []string                // instead of answers: lines of a VMware file
	Write     func(w io.Writer) error // instead of answers, if the front end can write: output that is too large for memory, or already text
	AllTables bool                    // a CSV file contains all tables of the answer
	Found     bool                    // the exit code reports a finding
	Partly    error                   // not everything could be read; the answers cover the rest
}

// Answered returns a reply with one answer.
func Answered(a *answer.Answer, err error) (*Reply, error) {
	if err != nil {
		return nil, err
	}
	return &Reply{Answers: []*answer.Answer{a}}, nil
}

// An Entry declares a question in the table of questions.
type Entry struct {
	Name       string // the command, such as "size fit"; pages and API paths use size-fit
	Title      string // of its page
	Lead       string // a sentence above the empty form
	Example    string // query of an example address: "vm=24x192GB*40&hosts=2x32c/1TB"; "" for a question without a form
	New        func() Question
	Budget     Budget
	Configured bool            // the assessment uses the configuration
	Tables     func() []string // names of the tables available as CSV; nil if the answer has one
}

// Named returns the entry with a name; nil for none.
func Named(all []*Entry, name string) *Entry {
	i := slices.IndexFunc(all, func(t *Entry) bool { return t.Name == name })
	if i < 0 {
		return nil
	}
	return all[i]
}

// Ask returns the question with default values.
func (t *Entry) Ask() Question {
	q := t.New()
	for _, f := range Fields(q) {
		f.preset()
	}
	return q
}

// ErrFiles is the error of a question that would read files in a shared process.
var ErrFiles = errors.New("a page reads no files")

// errLocal is the error of a field that is only available on the command line.
var errLocal = errors.New("not on a page: it is for the command line")

// Answer answers a question of this entry. In a shared process the budget applies.
func (t *Entry) Answer(ctx context.Context, q Question, e *Env) (*Reply, error) {
	q.state().flags = e.Flags
	if !e.Shared {
		return q.Answer(ctx, e)
	}
	if e.Own == nil {
		own := *e
		e, own.Own = &own, embed.FS{} // no files
	}
	if err := t.Budget.allow(q, e); err != nil {
		return nil, err
	}
	for _, f := range Fields(q) {
		switch values := f.Values(); {
		case slices.ContainsFunc(values, func(v string) bool { return strings.HasPrefix(v, "@") }):
			return nil, Wrong(f.Name, ErrFiles)
		case f.local && f.Given():
			return nil, Wrong(f.Name, errLocal)
		case f.Needed && len(values) == 0:
			return nil, Wrong(f.Name, errors.New("it is missing"))
		}
	}
	ctx, done := t.Budget.bound(ctx)
	defer done()
	r, err := q.Answer(ctx, e)
	if ended := context.Cause(ctx); ended != nil && err != nil {
		return nil, ended
	}
	return r, err
}

// Partly sets Reply.Partly to the first error that is not nil, and marks the answers as incomplete where their sources are.
func Partly(r *Reply, err error, incomplete ...error) (*Reply, error) {
	if err != nil {
		return r, err
	}
	r.Partly = cmp.Or(append([]error{r.Partly}, incomplete...)...)
	for _, a := range r.Answers {
		Mark(a, incomplete...)
	}
	return r, nil
}

// Mark marks an answer as incomplete where its sources are, and returns it.
func Mark(a *answer.Answer, incomplete ...error) *answer.Answer {
	for _, err := range incomplete {
		if l, ok := errors.AsType[*Lacks](err); ok {
			l.Mark(a)
		}
	}
	return a
}
