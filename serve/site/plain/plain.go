// Package plain puts into the texts of a page the names of its fields for the flags of which they are: people have no command line there.
package plain

import (
	"bytes"
	"strings"

	"homenode/numa/pattern"
)

// flag is one of a command, with the word behind it, in a text of an answer.
var flag = pattern.Of(`\B--([a-z][a-z-]*[a-z])(?: ([a-z]+|SOURCE|NAME)\b)?`)

// inPages are flags with what serves instead on a page that has no field for them.
var inPages = map[string]string{"format json": "“Save as JSON”", "details": "“Save as Report”", "fleet": "“Beside the inventory of the fleet”"}

// textOrTag are the parts of a page.
var textOrTag = pattern.Of(`<[^>]*>|[^<]+`)

// WithoutFlags returns a page with the labels of fields, by the names of their flags, in its texts. Commands stay as they are.
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

// fieldOf names the field for a flag and the word behind it, which may be its value.
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
		word = "" // of what stands for a value
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
