package site

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// A field is an input of a page's form.
type field struct {
	Name    string // in the address
	Label   string
	Hint    string   // an example
	Choices []choice // the only possible values, if any
	Default string
	Usual   string // the value if no choice is made
	Long    bool   // the text is long
	Type    string // of its value in the API: integer, number; "" for text
	Check   bool   // a flag
	Hidden  bool   // readers cannot change it
	Group   string // heading of this and the following fields
	Folded  bool   // its group is rarely used
	File    bool   // upload of a file
	Value   string
}

// A choice is a possible value of a field.
type choice struct{ Value, Label string }

// checked reports whether the value of a box means that it is checked; known is false for another word.
func checked(value string) (on, known bool) {
	switch strings.ToLower(value) {
	case "on", "true", "yes", "1":
		return true, true
	case "", "off", "false", "no", "0":
		return false, true
	}
	return true, false
}

// choices returns values that are their own labels; the first is "", the command's default.
func choices(none string, values ...string) []choice {
	out := []choice{{"", none}}
	for _, v := range values {
		out = append(out, choice{v, v})
	}
	return out
}

// asked returns fields outside any question, filled from the address.
func (x *request) asked(fields ...field) []field {
	for i := range fields {
		f := &fields[i]
		if f.Value = strings.TrimSpace(x.query.Get(f.Name)); !x.query.Has(f.Name) {
			f.Value = f.Default
		}
		if on, _ := checked(f.Value); f.Check && !on {
			f.Value = ""
		}
		for _, c := range f.Choices {
			if c.Value == "" && f.Value == f.called(c) {
				f.Value = ""
			}
		}
	}
	x.asks = append(x.asks, fields...)
	return fields
}

// valueOf returns the value of a field.
func valueOf(fields []field, name string) string {
	i := slices.IndexFunc(fields, func(f field) bool { return f.Name == name })
	if i < 0 {
		return ""
	}
	return fields[i].Value
}

// valid rejects unknown fields, and values that no field of the name accepts.
func valid(query url.Values, fields []field) error {
	for name, values := range query {
		var of []field
		for _, f := range fields {
			if f.Name == name {
				of = append(of, f)
			}
		}
		switch {
		case of == nil:
			return fmt.Errorf("%q is no parameter of this question", name)
		case len(values) > 1:
			return fmt.Errorf("%s: found %d values, want one", name, len(values))
		case !slices.ContainsFunc(of, func(f field) bool { return f.takes(values[0]) }):
			return fmt.Errorf("%s: found %q, want %s", name, values[0], of[0].wants())
		}
	}
	return nil
}

// takes reports whether the field accepts the value; texts are checked by the question.
func (f *field) takes(value string) bool {
	switch {
	case f.Check:
		_, known := checked(value)
		return known
	case f.Choices == nil:
		return true
	}
	return slices.ContainsFunc(f.Choices, func(c choice) bool { return c.Value == value || f.called(c) == value })
}

// wants describes the accepted values.
func (f *field) wants() string {
	if f.Check {
		return "true or false"
	}
	return "one of " + strings.Join(f.values(), ", ")
}

// called returns the name of a choice; the default has a name too.
func (f *field) called(c choice) string { return cmp.Or(c.Value, f.Usual, c.Label) }

// values returns the accepted values; the default has its own name.
func (f *field) values() []string {
	var out []string
	for _, c := range f.Choices {
		if v := f.called(c); !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

// A group is a list of fields below a heading.
type group struct {
	Legend string // "" for none
	ID     string // of a folded group
	Folded bool   // collapsed at first
	Open   bool
	Fields []field
}

// groupsOf returns the fields in groups: a field without a group belongs to the group of the previous
// one.
func groupsOf(fields []field) []group {
	var out []group
	for _, f := range fields {
		if len(out) == 0 || f.Group != "" {
			out = append(out, group{Legend: f.Group, Folded: f.Folded, ID: "more-" + f.Name})
		}
		g := &out[len(out)-1]
		g.Fields, g.Open = append(g.Fields, f), g.Open || f.Value != ""
	}
	return out
}
