package rule

import (
	"fmt"
	"math"
	"strings"
)

// New returns the rule r with the texts of its page, the file in the folder of the check:
//
//	# N001 hotaddhides: wide VM with CPU hot add
//
//	## Why
//
//	CPU hot add forces one virtual NUMA node whatever the size of the VM.
//
// and likewise the sections Fix, Limits, Thresholds (a table: name, unit, default, least, most,
// what), Book ("B-15, C-13") and Sources ("- source"). New panics when the page is incomplete or
// has other sections.
func New(page string, r Rule) *Rule {
	head, rest, _ := strings.Cut(page, "\n\n## ")
	name, title, _ := strings.Cut(head, ": ")
	if n, err := fmt.Sscanf(name, "# %s %s", &r.ID, &r.Name); n != 2 || title == "" {
		panic(fmt.Sprintf("the page of a rule begins %q, want \"# ID name: title\": %v", head, err))
	}
	r.Title = title
	sections := map[string]string{}
	for _, s := range strings.Split(strings.TrimSuffix(rest, "\n"), "\n\n## ") {
		name, text, _ := strings.Cut(s, "\n\n")
		sections[name] = text
	}
	section := func(name string) string {
		text := sections[name]
		delete(sections, name)
		return text
	}
	r.Why, r.Fix, r.Limits = section("Why"), section("Fix"), section("Limits")
	r.Sources = items(section("Sources"))
	r.Book = strings.Split(section("Book"), ", ")
	if table := section("Thresholds"); table != "" {
		for _, row := range items(table)[2:] {
			r.Thresholds = append(r.Thresholds, thresholdOf(r.ID, row))
		}
	}
	for name := range sections {
		panic(fmt.Sprintf("rule %s: its page has a section %q, which is unknown", r.ID, name))
	}
	if r.Why == "" || r.Fix == "" || r.Limits == "" || len(r.Sources) == 0 || r.Book[0] == "" {
		panic(fmt.Sprintf("rule %s: its page lacks Why, Fix, Limits, Book or Sources", r.ID))
	}
	return &r
}

// thresholdOf parses a row of the table of thresholds.
func thresholdOf(id, row string) Threshold {
	cells := strings.Split(strings.Trim(row, "| "), " | ")
	if len(cells) != 6 {
		panic(fmt.Sprintf("rule %s: %q has %d cells, want 6", id, row, len(cells)))
	}
	t := Threshold{Name: cells[0], Unit: Unit(cells[1]), Text: cells[5], Least: math.Inf(-1), Most: math.Inf(1)}
	var values [3]float64
	for i, text := range cells[2:5] {
		value, ok := t.Parse(text)
		if !ok || t.Write(value) != text {
			panic(fmt.Sprintf("rule %s: threshold %s: found %q, want %s", id, t.Name, text, t.Unit.Form()))
		}
		values[i] = value
	}
	t.Default, t.Least, t.Most = values[0], values[1], values[2]
	return t
}

// items returns the lines of a list without their "- ".
func items(list string) (out []string) {
	for line := range strings.Lines(list) {
		out = append(out, strings.TrimSpace(strings.TrimPrefix(line, "- ")))
	}
	return out
}
