package site

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// A field is a part of a question that a page lets its reader change.
type field struct {
	Name    string // in the address
	Label   string
	Hint    string   // an example
	Choices []choice // when only these are possible
	Default string
	Long    bool   // the text is long
	Check   bool   // a flag that is given or not
	Hidden  bool   // readers do not change it
	Group   string // heading of it and of the fields after it
	Folded  bool   // its group is seldom used
	File    bool   // a file of the reader's
	Value   string
}

// A choice is a value that a field can have.
type choice struct{ Value, Label string }

// choices returns values that are their own labels; the first is "" for whatever the command takes then.
func choices(none string, values ...string) []choice {
	out := []choice{{"", none}}
	for _, v := range values {
		out = append(out, choice{v, v})
	}
	return out
}

// asked returns fields that are of no question, with what the address says.
func (x *request) asked(fields ...field) []field {
	for i := range fields {
		f := &fields[i]
		if f.Value = strings.TrimSpace(x.query.Get(f.Name)); !x.query.Has(f.Name) {
			f.Value = f.Default
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

// valid refuses what no field asks, and a value that none of the fields of its name has among its choices.
func valid(query url.Values, fields []field) error {
	for name, values := range query {
		known, fits := false, false
		for _, f := range fields {
			if f.Name != name {
				continue
			}
			known = true
			fits = fits || f.Choices == nil || slices.ContainsFunc(f.Choices, func(c choice) bool { return c.Value == values[0] })
		}
		switch {
		case !known:
			return fmt.Errorf("%q is no parameter of this question", name)
		case !fits || len(values) > 1:
			return fmt.Errorf("%s: found %q, want one of its values", name, values)
		}
	}
	return nil
}

// A group is fields below a heading.
type group struct {
	Legend string // "" for none
	ID     string // of a folded one
	Folded bool   // it is shown when somebody opens it
	Open   bool
	Fields []field
}

// groupsOf returns the fields in their groups: a field without a group is in that of the one before it.
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
