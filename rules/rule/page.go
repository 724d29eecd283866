package rule

import (
	"fmt"
	"strings"
)

// New returns the rule r with the words of its page, the file beside the check:
//
//	# N001 hotaddwide: wide VM with CPU hot add
//
//	## Why
//
//	CPU hot add forces one virtual NUMA node whatever the size of the VM.
//
// and likewise the sections Fix, Limits, Thresholds ("- name: text"), Book ("B-15, C-13")
// and Sources ("- source"). Limits and Sources that r has follow those of the page. New
// panics when the page is incomplete, has other sections, or does not match the thresholds of r.
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
	r.Why, r.Fix, r.Limits = section("Why"), section("Fix"), section("Limits")+r.Limits
	r.Sources = append(items(section("Sources")), r.Sources...)
	r.Book = strings.Split(section("Book"), ", ")
	texts := items(section("Thresholds"))
	if len(texts) != len(r.Thresholds) {
		panic(fmt.Sprintf("rule %s has %d thresholds and texts for %d", r.ID, len(r.Thresholds), len(texts)))
	}
	for i, text := range texts {
		t, found := &r.Thresholds[i], false
		if t.Text, found = strings.CutPrefix(text, t.Name+": "); !found {
			panic(fmt.Sprintf("rule %s: the text %q is not of the threshold %s", r.ID, text, t.Name))
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

// items returns the lines of a list without their "- ".
func items(list string) (out []string) {
	for line := range strings.Lines(list) {
		out = append(out, strings.TrimSpace(strings.TrimPrefix(line, "- ")))
	}
	return out
}
