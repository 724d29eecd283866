package ask

import (
	"slices"
	"strings"
)

// Line returns the words of the command that asks what was asked here: its name, the flags that were given, and its arguments.
func Line(name string, q Question) []string {
	words := strings.Fields(name)
	var arguments []string
	for _, f := range Fields(q) {
		switch {
		case f.Argument:
			arguments = append(arguments, f.Values()...)
		case f.Given():
			words = append(words, f.flags()...)
		}
	}
	if slices.ContainsFunc(arguments, func(a string) bool { return strings.HasPrefix(a, "-") }) { // names come from strangers: none is taken for a flag
		words = append(words, "--")
	}
	return append(words, arguments...)
}

// flags returns the field as flags with their values.
func (f *Field) flags() (out []string) {
	values := f.Values()
	if f.Kind == Truth && values[0] == "true" {
		return []string{"--" + f.Name}
	}
	for _, v := range values {
		if f.List && strings.ContainsAny(v, `",`) {
			v = One(v)
		}
		out = append(out, "--"+f.Name+"="+v)
	}
	return out
}

// Words returns arguments, and after them those of these fields, and flags of the front end, that were given, for the next commands that an answer names.
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
		if f := a.given[i]; f.Kind == Truth {
			words = append(words, f.flags()...)
		} else {
			for _, v := range f.Values() {
				words = append(words, "--"+name, v)
			}
		}
	}
	return words
}
