package site

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"homenode/ask"
	"homenode/output/answer"
)

// divider divides the values of a field of several in a form, unless commas do; none of them has one.
const divider = ";"

// form returns the fields of a question as a form has them, filled with what the address says: those of these names, or all that have a label. An
// address asks no more than these.
func (x *request) form(q ask.Question, names ...string) (fields []field, given bool, err error) {
	group := ""
	for _, f := range ask.Fields(q) {
		if names != nil && !slices.Contains(names, f.Name) || f.Label == "" && (names == nil || !x.query.Has(f.Name)) {
			continue
		}
		var some []field
		var wrong error
		if f.Labels != nil && f.Kind == ask.Texts {
			some = x.checks(f)
		} else {
			some, wrong = x.entry(f)
		}
		if f.Group != group {
			group, some[0].Group = f.Group, f.Group
		}
		fields, given, err = append(fields, some...), given || f.Given(), cmp.Or(err, wrong)
	}
	x.asks = append(x.asks, fields...)
	return fields, given || err != nil, err
}

// entry returns a field as a form has it.
func (x *request) entry(f *ask.Field) (out []field, err error) {
	one := field{Name: f.Name, Label: f.Label, Hint: cmp.Or(f.Example, f.Default), Type: map[ask.Kind]string{ask.Count: "integer", ask.Number: "number"}[f.Kind], Choices: choicesOf(f), Long: f.Kind == ask.Texts, Check: f.Kind == ask.Truth, Hidden: f.Label == ""}
	if one.Choices != nil {
		one.Usual = f.Default
	}
	if f.Argument {
		one.Choices = x.sourceChoices()
	}
	for _, text := range x.query[f.Name] {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		if one.Choices != nil && f.Default == "" && text == one.Choices[0].Label { // what holds when nothing is given
			continue
		}
		one.Value = text
		values := []string{text}
		switch {
		case f.Kind == ask.Texts && !f.List:
			values = strings.Split(text, divider)
		case f.Kind == ask.Truth:
			on, _ := checked(text)
			if values = []string{strconv.FormatBool(on)}; !on {
				one.Value = ""
			}
		}
		for _, value := range values {
			err = cmp.Or(err, f.Set(strings.TrimSpace(value)))
		}
	}
	return []field{one}, err
}

// checks returns a field of several choices as a form has it: each of them is checked or not.
func (x *request) checks(f *ask.Field) (out []field) {
	for i, c := range f.Choices {
		one := field{Name: f.Name + "-" + c, Label: f.Label + " " + f.Labels[i], Check: true, Value: x.query.Get(f.Name + "-" + c)}
		if on, _ := checked(one.Value); on {
			_ = f.Set(c) // a choice is one
		} else {
			one.Value = ""
		}
		out = append(out, one)
	}
	return out
}

// choicesOf are the only values of a field.
func choicesOf(f *ask.Field) []choice {
	if f.Choices == nil {
		return nil
	}
	out := []choice{{"", cmp.Or(f.Default, "any")}}
	for i, c := range f.Choices {
		label := c
		if f.Labels != nil {
			label = f.Labels[i]
		}
		if c == f.Default {
			out[0].Label = label
		} else {
			out = append(out, choice{c, label})
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

// An action is something that a form asks the server to do.
type action struct {
	Path, Label, Note string
	Files             bool // a field of it sends a file
	Fields            []field
	Hidden            []choice
}

// act does what a posted form asks and shows the page that it leads to, or why it was not done.
func (s *Site) act(w http.ResponseWriter, r *http.Request, do func(*request) (string, error)) {
	r.Body = http.MaxBytesReader(w, r.Body, 64<<10)
	x := &request{Request: r, site: s, page: &screen{path: r.URL.Path, title: "Not done"}, query: url.Values{}}
	err := r.ParseForm()
	for _, values := range r.PostForm {
		if slices.ContainsFunc(values, func(v string) bool { return strings.HasPrefix(strings.TrimSpace(v), "@") }) {
			err = errors.New("a page reads no files")
		}
	}
	x.do(w, err, do)
}

// do does what was asked, unless there is an error already, and shows the page that it leads to, or why it was not done.
func (x *request) do(w http.ResponseWriter, err error, do func(*request) (string, error)) {
	to := ""
	if err == nil {
		to, err = do(x)
	}
	if err != nil {
		x.write(w, statusOf(err), &view{answer: &answer.Answer{Title: "Not done", Verdict: []string{sentence(err.Error())}}, back: to})
		return
	}
	http.Redirect(w, x.Request, to, http.StatusSeeOther)
}
