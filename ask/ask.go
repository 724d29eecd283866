// Package ask declares each question once, and answers it. A question is a struct: its fields are all that can be asked, with help,
// defaults, limits and labels in their tags; its method Answer answers it. A front end makes flags, form fields or parameters
// of that one declaration, lends an Env to read with, and shows the Reply. Package ask knows no front end, no network and no terminal.
package ask

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"io"
	"slices"
	"strings"

	"homenode/output/answer"
	"homenode/output/format"
)

// A Fielded has fields that can be asked: it embeds Asked.
type Fielded interface{ state() *Asked }

// A Question can be answered.
type Question interface {
	Fielded

	// Answer answers it with what the front end lends. It keeps nothing of e.
	Answer(ctx context.Context, e *Env) (*Reply, error)
}

// Asked remembers which fields of a question were given: not given differs from zero.
type Asked struct {
	given []*Field            // in the order in which they were given; each once
	flags map[string][]string // as Env has them
}

func (a *Asked) state() *Asked { return a }

// A Reply is the answer to a question.
type Reply struct {
	Answers   []*answer.Answer
	Form      format.Options          // what forms of an answer need to know beside it
	Lines     []string                // instead of answers: lines of a file of VMware's
	Write     func(w io.Writer) error // instead of answers, for a front end that writes: output that is too large for memory, or text already
	AllTables bool                    // a CSV file has all tables of the answer
	Found     bool                    // the exit code reports a finding
	Partly    error                   // not everything could be read; the answers are of the rest
}

// Answered returns a reply of one answer.
func Answered(a *answer.Answer, err error) (*Reply, error) {
	if err != nil {
		return nil, err
	}
	return &Reply{Answers: []*answer.Answer{a}}, nil
}

// An Entry is a row of the table of questions.
type Entry struct {
	Name       string // "size fit": the command; a page and a path of the API say size-fit
	Title      string // of its page
	Lead       string // a sentence above the empty form
	Example    string // what an address asks as an example: "vm=24x192GB*40&hosts=2x32c/1TB"; "" for a question that no form asks
	New        func() Question
	Budget     Budget
	Configured bool            // it judges as the configuration says
	Tables     func() []string // names of the tables that a CSV file can have; nil for an answer of one
}

// Named returns the entry of a name; nil for none.
func Named(all []*Entry, name string) *Entry {
	i := slices.IndexFunc(all, func(t *Entry) bool { return t.Name == name })
	if i < 0 {
		return nil
	}
	return all[i]
}

// Ask returns the question with the defaults of its fields.
func (t *Entry) Ask() Question {
	q := t.New()
	for _, f := range Fields(q) {
		f.preset()
	}
	return q
}

// ErrFiles is the error of a question that would read files of a process that others use.
var ErrFiles = errors.New("a page reads no files")

// errLocal is the error of a field that only the asker's own process takes.
var errLocal = errors.New("not on a page: it is for the command line")

// Answer answers a question of this entry within its budget, when the process is shared.
func (t *Entry) Answer(ctx context.Context, q Question, e *Env) (*Reply, error) {
	q.state().flags = e.Flags
	if !e.Shared {
		return q.Answer(ctx, e)
	}
	if e.Own == nil {
		own := *e
		e, own.Own = &own, embed.FS{} // no file
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

// Partly adds to a reply that not everything could be read: the first of the errors that is one.
func Partly(r *Reply, err error, incomplete ...error) (*Reply, error) {
	if err == nil {
		r.Partly = cmp.Or(append([]error{r.Partly}, incomplete...)...)
	}
	return r, err
}
