// Package outside contains external facts about tools and products: each with the version and date it was checked with, and its source.
package outside

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Page is the table, the source of docs/reference/tools.md.
//
//go:embed facts.md
var Page string

// A Fact is a fact about a tool or product.
type Fact struct {
	Key     string `json:"key"`
	About   string `json:"about"`
	Version string `json:"version"` // the version that it was checked with, or since which it applies
	Text    string `json:"fact"`
	Checked string `json:"checked"` // a date, or a remark that it was not checked
	Source  string `json:"source"`
}

// Facts lists them.
var Facts = parseFacts()

// attributes are those that scripts may write, with the version that introduced them, by tool and name.
var attributes = parseAttributes()

// rows returns the cells of the rows of a section of the page.
func rows(section string, cells int) (out [][]string) {
	_, rest, _ := strings.Cut(Page, "\n## "+section+"\n")
	rest, _, _ = strings.Cut(rest, "\n## ")
	for line := range strings.Lines(rest) {
		row := strings.Split(strings.Trim(line, "| \n"), " | ")
		if strings.HasPrefix(line, "| ") && len(row) != cells {
			panic(fmt.Sprintf("facts.md: %q has %d cells, want %d", line, len(row), cells))
		}
		if strings.HasPrefix(line, "| ") {
			out = append(out, row)
		}
	}
	return out[1:]
}

func parseFacts() (out []Fact) {
	for _, c := range rows("Facts", 6) {
		out = append(out, Fact{c[0], c[1], c[2], c[3], c[4], c[5]})
	}
	return out
}

func parseAttributes() map[[2]string]string {
	out := map[[2]string]string{}
	for _, c := range rows("Attributes", 3) {
		out[[2]string{c[0], c[1]}] = c[2]
	}
	return out
}

// Of returns the fact with the key. It panics on a key missing from the table.
func Of(key string) Fact {
	i := slices.IndexFunc(Facts, func(f Fact) bool { return f.Key == key })
	if i < 0 {
		panic("no fact about " + key)
	}
	return Facts[i]
}

// Attribute returns the name of an attribute that a script writes. It panics on one missing from the table.
func Attribute(tool, name string) string {
	if attributes[[2]string{tool, name}] == "" {
		panic(fmt.Sprintf("the table has no attribute %s of %s", name, tool))
	}
	return name
}

// Cite formats the source of the fact, and whether it is older than a year; today may be zero when unknown.
func (f *Fact) Cite(today time.Time) string {
	about := f.About
	if f.Version != "not stated" {
		about += ", " + f.Version
	}
	text := fmt.Sprintf("%s: %s (%s; %s)", about, f.Text, f.when(), f.Source)
	if checked, err := time.Parse(time.DateOnly, f.Checked); err == nil && !today.IsZero() && today.After(checked.AddDate(1, 0, 0)) {
		text += ". That is more than a year ago: check it again"
	}
	return text
}

func (f *Fact) when() string {
	if _, err := time.Parse(time.DateOnly, f.Checked); err != nil {
		return "not checked lately"
	}
	return "checked " + f.Checked
}
