package move

import (
	"fmt"
	"strings"

	"homenode/internal/words"
	"homenode/output/answer"
	"homenode/rules/finding"
)

// A Patch is the result of patching a domain of another tool.
type Patch struct {
	File    string            `json:"file"`
	VM      string            `json:"vm,omitempty"`      // "" if no VM of the fleet matches the file
	Differs []string          `json:"differs,omitempty"` // differences between the domain and the VM
	Changes []string          `json:"changes"`
	Faults  []finding.Finding `json:"faults,omitempty"` // in the result
	Why     string            `json:"why,omitempty"`    // why it was not changed
}

// Bad reports whether the patch failed or its result has faults.
func (p *Patch) Bad() bool { return p.Why != "" || len(p.Faults) > 0 }

// Patches returns the answer about patched domains of another tool. folder is "" if nothing was written.
func Patches(list []Patch, folder string, typed ...string) *answer.Answer {
	a := &answer.Answer{Command: "move", Title: "Patches", Result: map[string]any{"patches": list}}
	t := answer.Table{Name: "patches", Columns: answer.Columns("file", "VM", "place and change")}
	changed, bad, unlike, changes, written := 0, 0, 0, 0, 0
	for i := range list {
		p := &list[i]
		p.rows(&t)
		changes += len(p.Changes)
		for _, count := range []struct {
			n  *int
			is bool
		}{{&bad, p.Bad()}, {&unlike, p.Differs != nil}, {&written, p.Why == ""}, {&changed, p.Why == "" && p.Changes != nil}} {
			if count.is {
				*count.n++
			}
		}
	}
	a.Tables = []answer.Table{t}
	verb := "are to be made"
	if folder != "" {
		verb = "are made"
	}
	head := fmt.Sprintf("%s in %d of %s", words.Verb(changes, "change "+strings.Replace(verb, "are", "is", 1), "changes "+verb), changed, words.Plural(len(list), "file"))
	if changes == 0 {
		head = "Nothing is changed in " + words.Plural(len(list), "file")
	}
	if bad > 0 {
		head += fmt.Sprintf("; %s as asked", words.Verb(bad, "file is not", "files are not"))
	}
	a.Verdict = []string{head + "."}
	if unlike > 0 {
		a.Verdict = append(a.Verdict, fmt.Sprintf("%s unlike the VM: see whether it is that one.", words.Verb(unlike, "domain is", "domains are")))
	}
	a.Note("Every other byte stays: devices, comments, order.")
	switch {
	case written == 0 || changes == 0 && folder == "":
		a.Note("Nothing was written.")
	case folder == "":
		a.Note("Nothing was written: -o DIR writes the changed files under their names.")
		a.Next = []string{"homenode move " + words.Command(append(typed, "-o", "patched")...)}
	default:
		a.Next = []string{"homenode assess " + words.Command(folder)}
	}
	return a
}

// rows adds the rows about one file.
func (p *Patch) rows(t *answer.Table) {
	add := func(text string, tone answer.Tone) {
		t.Rows = append(t.Rows, []answer.Cell{{Text: p.File}, {Text: p.VM}, {Text: text, Tone: tone}})
	}
	if p.Differs != nil {
		add("may be another VM: "+strings.Join(p.Differs, "; "), answer.Medium)
	}
	switch {
	case p.Why != "":
		add("stays as it is: "+p.Why, answer.Medium)
	case p.Changes == nil:
		add("already has every change", answer.Plain)
	}
	for _, c := range p.Changes {
		add(c, answer.Plain)
	}
	for _, f := range p.Faults {
		add(fmt.Sprintf("%s of the result: %s", f.Rule, f.Message), answer.Medium)
	}
}
