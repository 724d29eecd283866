// Package plain replaces flags in the texts of pages with the names of the corresponding controls, because pages have no command line.
package plain

import (
	"strings"

	"example.org/homenode/numa/pattern"
)

// flag matches a flag of a command, with the next word, in a text of an answer.
var flag = pattern.Of(`\B--([a-z][a-z-]*[a-z])(?: ([a-z]+|SOURCE|NAME)\b)?`)

// Text replaces the flags in a text. controls has the text for a flag ("details"), or for a flag with a value ("format json").
func Text(text string, controls map[string]string) string {
	if !strings.Contains(text, "--") {
		return text
	}
	return flag.Regexp().ReplaceAllStringFunc(text, func(found string) string {
		m := flag.FindStringSubmatch(found)
		name, word := m[1], m[2]
		if both := controls[name+" "+word]; both != "" {
			return both
		}
		if word != "" && word == strings.ToLower(word) {
			word = " " + word
		} else {
			word = "" // a placeholder for a value
		}
		if control := controls[name]; control != "" {
			return control + word
		}
		return "the option " + name + " of the command" + word
	})
}

// HTML changes the texts of a page, except commands, and those of pictures, which name no flags and are most of a long answer.
func HTML(html string, change func(string) string) string {
	var out strings.Builder
	for html != "" {
		text, tag := html, ""
		if i := strings.IndexByte(html, '<'); i >= 0 {
			text, tag = html[:i], html[i:]
		}
		out.WriteString(change(text))
		end := ">"
		for _, kept := range []string{"svg", "code"} {
			if strings.HasPrefix(tag, "<"+kept) {
				end = "</" + kept + ">"
			}
		}
		skipped, rest, found := strings.Cut(tag, end)
		out.WriteString(skipped)
		if found {
			out.WriteString(end)
		}
		html = rest
	}
	return out.String()
}

// Quoted returns the label of a control as texts name it.
func Quoted(label string) string { return "“" + label + "”" }
