package site

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"homenode/ask"
	"homenode/output/answer"
	"homenode/serve/board"
	"homenode/serve/captures"
)

// divider divides the values of a field of several in a form; none of them has one.
const divider = ";"

// form returns the fields of a question as a form has them, filled with what the address says: those of these names, or all without names.
func (x *request) form(q ask.Question, names ...string) (fields []field, given bool, err error) {
	for _, f := range ask.Fields(q) {
		if names != nil && !slices.Contains(names, f.Name) || f.Label == "" && !x.query.Has(f.Name) {
			continue
		}
		one := field{Name: f.Name, Label: f.Label, Hint: f.Example, Choices: choicesOf(f), Long: f.Kind == ask.Texts, Check: f.Kind == ask.Truth, Group: f.Group, Hidden: f.Label == ""}
		if one.Hint == "" {
			one.Hint = f.Default
		}
		if f.Argument {
			one.Choices = x.sourceChoices()
		}
		if n := len(fields); n > 0 && fields[n-1].Group == one.Group {
			one.Group = ""
		}
		for _, text := range x.query[f.Name] {
			if text = strings.TrimSpace(text); text == "" {
				continue
			}
			one.Value = text
			values := []string{text}
			if f.Kind == ask.Texts {
				values = strings.Split(text, divider)
			}
			for _, value := range values {
				e := errors.New("a page reads no files")
				if value = strings.TrimSpace(value); !strings.HasPrefix(value, "@") {
					e = f.Set(value)
				}
				if e != nil && err == nil {
					err = e
				}
			}
			given = true
		}
		fields = append(fields, one)
	}
	x.asks = append(x.asks, fields...)
	return fields, given, err
}

// choicesOf are the only values of a field.
func choicesOf(f *ask.Field) []choice {
	if f.Choices == nil {
		return nil
	}
	out := []choice{{"", cmp.Or(f.Default, "any")}}
	for _, c := range f.Choices {
		if c != f.Default {
			out = append(out, choice{c, c})
		}
	}
	return out
}

// sourceChoices are the fleets that a question can be about.
func (x *request) sourceChoices() []choice {
	out := []choice{{"", "none: described here"}}
	if x.fleet != nil {
		out = append(out, choice{Source, "my fleet"})
	}
	return out
}

// env returns what this server lends to a question: the fleet of the page alone, and no file.
func (x *request) env() *ask.Env {
	e := &ask.Env{Own: captures.Of(x.Context()), Policy: x.site.Policy, Today: time.Now(), Version: x.site.Version, Shared: true}
	if x.fleet != nil {
		e.Held = &ask.Held{Source: Source, Result: x.fleet.Result, Bare: x.fleet.Bare}
		if x.fleet.Live {
			e.Held.Ticks = board.SeenAt
		}
	}
	return e
}

// give gives fields of a question values: a name, then its value. What is empty is not given.
func give(q ask.Question, values ...string) error {
	fields := ask.Fields(q)
	for i := 0; i < len(values); i += 2 {
		for _, f := range fields {
			if f.Name != values[i] || values[i+1] == "" {
				continue
			}
			if err := f.Set(values[i+1]); err != nil {
				return err
			}
		}
	}
	return nil
}

// turns are of the questions that are answered at once; the others wait.
var turns = make(chan struct{}, 4)

// answerOf answers a question within its budget.
func (x *request) answerOf(t *ask.Entry, q ask.Question) (*answer.Answer, error) {
	if x.quiet {
		return nil, errors.New("nothing is asked")
	}
	select {
	case turns <- struct{}{}:
		defer func() { <-turns }()
	case <-x.Context().Done():
		return nil, x.Context().Err()
	}
	r, err := t.Answer(x.Context(), q, x.env())
	if err != nil {
		return nil, err
	}
	return r.Answers[0], nil
}

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
		v.links = []link{{"Show an example", x.page.path + "?" + example.Encode()}}
		return v, nil
	}
	v.command = ask.Line(t.Name, q)
	v.answer, err = x.answerOf(t, q)
	return v, err
}

// entryOf returns the question of a name; nil for none.
func entryOf(all []*ask.Entry, name string) *ask.Entry {
	i := slices.IndexFunc(all, func(t *ask.Entry) bool { return t.Name == name })
	if i < 0 {
		return nil
	}
	return all[i]
}
