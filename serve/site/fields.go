package site

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// A field is a part of a question that a page lets its reader change: a flag of the command.
type field struct {
	Name    string // in the address; the flag's where flag is ""
	Label   string
	Hint    string   // an example
	flag    string   // of the command: "-" for none by itself; "what-if=lose-host=" with the words before the value; "" for Name
	Choices []choice // when only these are possible
	Default string
	Long    bool   // the text is long
	Check   bool   // a flag that is given or not
	Quick   bool   // the other fields depend on it: they go when it changes
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

// asked returns the fields with what the address says, and the flags that this comes to.
func (x *request) asked(fields ...field) (filled []field, flags []string) {
	for _, f := range fields {
		if f.Value = x.query.Get(f.Name); !x.query.Has(f.Name) {
			f.Value = f.Default
		}
		f.Value = strings.TrimSpace(f.Value)
		flag := "--" + f.Name
		if f.flag != "" {
			flag = "--" + f.flag
		}
		switch {
		case f.flag == "-" || f.Value == "":
		case f.Check:
			flags = append(flags, flag)
		case strings.Contains(flag, "="): // of a flag that takes words
			flags = append(flags, flag+f.Value)
		default:
			flags = append(flags, flag+"="+f.Value)
		}
		filled = append(filled, f)
	}
	x.asks = append(x.asks, filled...)
	return filled, flags
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
