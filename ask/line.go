package ask

import (
	"slices"
	"strings"
)

// Line returns the command line of the question: its name, the flags that were given, and its arguments.
func Line(name string, q Question) []string {
	words := strings.Fields(name)
	var arguments []string
	sides, dashed := 0, false // names are untrusted: a leading dash must not make them flags
	for _, f := range Fields(q) {
		dashed = dashed || f.Argument && slices.ContainsFunc(f.Values(), func(a string) bool { return strings.HasPrefix(a, "-") })
		switch {
		case f.Argument && !f.Given():
			arguments = append(arguments, f.Values()...)
		case f.Argument:
			if f.Kind == Texts {
				if sides++; sides > 1 { // separates the values of two fields
					arguments = append(arguments, "--")
				}
			}
			arguments = append(arguments, f.texts()...)
		case f.Kind == Truth && f.value.Bool() && f.Given():
			words = append(words, "--"+f.Name)
		case f.Given():
			for _, text := range f.texts() {
				words = append(words, "--"+f.Name+"="+text)
			}
		}
	}
	if dashed {
		words = append(words, "--")
	}
	return append(words, arguments...)
}

// texts returns the values of a given field in the form that Set parses.
func (f *Field) texts() []string {
	values := f.Values()
	if len(values) == 0 {
		return []string{""}
	}
	for i, v := range values {
		if f.List && (v == "" || strings.ContainsAny(v, `",`)) {
			values[i] = One(v)
		}
	}
	return values
}

// Words returns arguments followed by those of the named fields and front-end flags that were given. It is used for the next commands of an answer.
func (a *Asked) Words(arguments []string, names ...string) []string {
	words := slices.Clone(arguments)
	for _, name := range names {
		if values, ok := a.flags[name]; ok {
			words = append(append(words, "--"+name), values...)
		}
		i := slices.IndexFunc(a.given, func(f *Field) bool { return f.Name == name })
		if i < 0 {
			continue
		}
		f := a.given[i]
		for _, text := range f.texts() {
			switch {
			case f.Kind != Truth:
				words = append(words, "--"+name, text)
			case f.value.Bool():
				words = append(words, "--"+name)
			default:
				words = append(words, "--"+name+"=false")
			}
		}
	}
	return words
}
