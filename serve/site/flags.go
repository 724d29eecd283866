package site

import (
	"bytes"
	"regexp"
	"strings"
)

// flag is one of a command, with the word behind it, in a text of an answer.
var flag = regexp.MustCompile(`\B--([a-z][a-z-]*[a-z])(?: ([a-z]+|SOURCE|NAME)\b)?`)

// inPages are flags with what serves instead on a page that has no field for them.
var inPages = map[string]string{"format json": "“Save as JSON”", "details": "“Save as Report”", "fleet": "“Beside the inventory of the fleet”"}

// textOrTag are the parts of a page.
var textOrTag = regexp.MustCompile(`<[^>]*>|[^<]+`)

// withoutFlags names in the texts of a page its fields for the flags of which they are: people have no command line here. Commands stay as they are.
func (x *request) withoutFlags(content []byte) []byte {
	if !bytes.Contains(content, []byte("--")) {
		return content
	}
	labels := map[string]string{}
	for _, f := range x.asks {
		if f.Label != "" {
			labels[f.Name] = "“" + f.Label + "”"
		}
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
		return both
	}
	if both := inPages[name+" "+word]; both != "" {
		return both
	}
	if word != "" && word == strings.ToLower(word) {
		word = " " + word
	} else {
		word = "" // of what stands for a value
	}
	for _, of := range []map[string]string{labels, inPages} {
		if one := of[name]; one != "" {
			return one + word
		}
	}
	return "the option " + name + " of the command" + word
}
