package site

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/ask"
	"example.org/homenode/output/answer"
)

// divider separates the values of a multi-value field in a form, if commas do not; no value contains it.
const divider = ";"

// form returns the fields of a question for a form, filled from the address: those with these names, or all with a label. An address cannot set
// other fields.
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

// entry returns the form fields of a question's field.
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
		if one.Choices != nil && f.Default == "" && text == one.Choices[0].Label { // the default
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

// checks returns a multiple-choice field as check boxes, one for each choice.
func (x *request) checks(f *ask.Field) (out []field) {
	for i, c := range f.Choices {
		one := field{Name: f.Name + "-" + c, Label: f.Label + " " + f.Labels[i], Check: true, Value: x.query.Get(f.Name + "-" + c)}
		if on, _ := checked(one.Value); on {
			_ = f.Set(c) // a choice is valid
		} else {
			one.Value = ""
		}
		out = append(out, one)
	}
	return out
}

// choicesOf returns the possible values of a field.
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

// sourceChoices returns the fleets that a question can be about.
func (x *request) sourceChoices() []choice {
	out := []choice{{"", "none: described here"}}
	if x.fleet != nil {
		out = append(out, choice{Source, "my fleet"})
	}
	return out
}

// give sets fields of a question, given as name and value pairs. Empty values are skipped.
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

// An action is a form that changes something on the server.
type action struct {
	Path, Label, Note string
	Files             bool // one of its fields uploads a file
	Fields            []field
	Hidden            []choice
}

// act performs the action of a posted form and shows the resulting page, or the error.
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

// do performs the action, unless there is an error already, and shows the resulting page, or the error.
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
