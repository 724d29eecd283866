// Package plain replaces flags in the texts of a page with the names of the corresponding fields, because pages have no command line.
package plain

import (
	"bytes"
	"strings"

	"homenode/numa/pattern"
)

// flag matches a flag of a command, with the next word, in a text of an answer.
var flag = pattern.Of(`\B--([a-z][a-z-]*[a-z])(?: ([a-z]+|SOURCE|NAME)\b)?`)

// inPages maps flags without a field to their equivalents on a page.
var inPages = map[string]string{"format json": "“Save as JSON”", "details": "“Save as Report”", "fleet": "the inventory of the fleet"}

// textOrTag matches the parts of a page.
var textOrTag = pattern.Of(`<[^>]*>|[^<]+`)

// WithoutFlags replaces flags in the texts of a page with the labels of fields, by flag name. Commands are unchanged.
func WithoutFlags(content []byte, labels map[string]string) []byte {
	if !bytes.Contains(content, []byte("--")) {
		return content
	}
	code := false
	return textOrTag.ReplaceAllFunc(content, func(part []byte) []byte {
		switch {
		case bytes.HasPrefix(part, []byte("<code")):
			code = true
		case bytes.HasPrefix(part, []byte("</code")):
			code = false
		case part[0] != '<' && !code:
			return flag.ReplaceAllFunc(part, func(one []byte) []byte { return []byte(fieldOf(string(one), labels)) })
		}
		return part
	})
}

// fieldOf returns the name of the field for a flag and the next word, which may be its value.
func fieldOf(text string, labels map[string]string) string {
	m := flag.FindStringSubmatch(text)
	name, word := m[1], m[2]
	if both := labels[name+"-"+word]; both != "" {
		return quoted(both)
	}
	if both := inPages[name+" "+word]; both != "" {
		return both
	}
	if word != "" && word == strings.ToLower(word) {
		word = " " + word
	} else {
		word = "" // a placeholder for a value
	}
	if label := labels[name]; label != "" {
		return quoted(label) + word
	}
	if other := inPages[name]; other != "" {
		return other + word
	}
	return "the option " + name + " of the command" + word
}

func quoted(label string) string { return "“" + label + "”" }
