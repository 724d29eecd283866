// Package symptom has the table of symptoms: the possible causes of each, the fact that tells each from the others, and those that the facts
// of a VM or host leave.
package symptom

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
)

// Page is the table of causes in docs/reference/symptoms.md.
//
//go:embed symptoms.md
var Page string

// A Symptom is an observable fault, with its known causes.
type Symptom struct {
	Name   string
	Rules  []string // IDs of the checks that report it
	Title  string
	Causes []finding.Cause
	Anyway string // remedy for any cause; empty for none
}

// All contains the symptoms in symptoms.md, in its order.
var All = parseSymptoms(Page)

// parseSymptoms parses the page: a section "## name IDs: title" with a table of causes for each symptom.
func parseSymptoms(page string) (out []Symptom) {
	for _, section := range strings.Split(page, "\n## ")[1:] {
		head, body, _ := strings.Cut(section, "\n")
		names, title, _ := strings.Cut(head, ": ")
		fields := strings.Fields(names)
		s := Symptom{Name: fields[0], Rules: fields[1:], Title: title}
		for line := range strings.Lines(body) {
			if text, ok := strings.CutPrefix(line, "Whatever it is, "); ok {
				s.Anyway = strings.TrimSuffix(text, ".\n")
			}
			cells := strings.Split(strings.Trim(line, "| \n"), " | ")
			if !strings.HasPrefix(line, "| ") || cells[0] == "cause" {
				continue
			}
			if len(cells) != 5 {
				panic(fmt.Sprintf("symptom %s: %q has %d cells, want 5", s.Name, line, len(cells)))
			}
			s.Causes = append(s.Causes, finding.Cause{Key: cells[0], Text: cells[1], Told: cells[2], Do: cells[3], Source: cells[4]})
		}
		out = append(out, s)
	}
	return out
}

// Told is the effect of the facts on one cause.
type Told struct {
	Out, Proven bool // neither: the facts do not decide it
	Said        bool // the message of the finding contains it already
	Evidence    []finding.Evidence
	Edits       []numa.Edit // for the change in the table
	Do          string      // remedy with numbers, for the text of the table
}

// Causes evaluates the causes of a symptom by the facts of a subject.
type Causes[M any] struct {
	symptom *Symptom
	tell    map[string]func(M) Told
}

// CausesOf returns the causes of a symptom. tell has a function for each cause of its table; nil for a cause without available
// facts. It panics if table and functions do not match.
func CausesOf[M any](name string, tell map[string]func(M) Told) *Causes[M] {
	i := slices.IndexFunc(All, func(s Symptom) bool { return s.Name == name })
	if i < 0 || len(All[i].Causes) != len(tell) {
		panic(fmt.Sprintf("symptom %s: the page and the check know other causes", name))
	}
	for _, c := range All[i].Causes {
		if _, ok := tell[c.Key]; !ok {
			panic(fmt.Sprintf("symptom %s: no function judges %s", name, c.Key))
		}
	}
	return &Causes[M]{&All[i], tell}
}

// A Verdict contains the remaining causes: the proven ones, otherwise those that the facts do not rule out.
type Verdict struct {
	Proven bool
	Left   []finding.Cause
	told   []Told // for each of Left
	anyway string
}

// Judge evaluates every cause by the facts of m.
func (c *Causes[M]) Judge(m M) (v Verdict) {
	v.anyway = c.symptom.Anyway
	for _, cause := range c.symptom.Causes {
		told := Told{}
		if f := c.tell[cause.Key]; f != nil {
			told = f(m)
		}
		switch {
		case told.Out, v.Proven && !told.Proven:
			continue
		case told.Proven && !v.Proven:
			v = Verdict{Proven: true, anyway: v.anyway}
		}
		cause.Do = cmp.Or(told.Do, cause.Do)
		v.Left, v.told = append(v.Left, cause), append(v.told, told)
	}
	return v
}

// Is reports whether this cause remains.
func (v *Verdict) Is(key string) bool {
	return slices.ContainsFunc(v.Left, func(c finding.Cause) bool { return c.Key == key })
}

// Only reports whether this is the only remaining cause.
func (v *Verdict) Only(key string) bool { return len(v.Left) == 1 && v.Is(key) }

// Explain adds the remaining causes to a finding: to its message, its evidence, and the remedies.
func (v *Verdict) Explain(f *finding.Finding) {
	f.Causes = v.Left
	texts := words.Texts(v.Left, func(c finding.Cause) string { return c.Text })
	for i := range v.told {
		f.Evidence = append(f.Evidence, v.told[i].Evidence...)
	}
	switch {
	case len(v.Left) == 0:
		f.Message += "; no known cause fits these facts"
		f.Advice = "Report the facts of this finding: its cause is not in the table of symptoms"
	case v.Proven:
		texts = nil
		for i, c := range v.Left {
			if !v.told[i].Said {
				texts = append(texts, c.Text)
			}
		}
		if len(texts) > 0 {
			f.Message += ": " + strings.Join(texts, ", and ")
		}
		f.Advice = strings.Join(words.Texts(v.Left, func(c finding.Cause) string { return words.Capital(c.Do) }), ". ")
		if len(v.Left) == 1 {
			f.Ways = []numa.Way{{Do: v.Left[0].Do, Edits: v.told[0].Edits}}
		}
	case len(v.Left) == 1:
		f.Message += "; one known cause is left: " + texts[0]
		f.Advice = fmt.Sprintf("Make sure by %s, then %s", v.Left[0].Told, v.Left[0].Do)
	default:
		f.Message += "; possible causes: " + words.Or(texts)
		f.Advice = finding.FindOut + ". " + words.Capital(strings.Join(words.Texts(v.Left, func(c finding.Cause) string {
			text := c.Text + ": see " + c.Told
			if len(texts) <= mostDone {
				text += ", then " + c.Do
			}
			return text
		}), "; "))
		if v.anyway != "" {
			f.Advice += ". Whatever it is, " + v.anyway
		}
	}
}

// mostDone is the maximum number of causes for which the advice contains the remedy of each, to limit its length.
const mostDone = 3

// Kernel reports whether a kernel setting of the host differs from its default; an unset one has the default.
func Kernel(h *numa.Host, name, standard string) Told {
	key, value := "VMkernel.Boot."+name, standard
	for _, o := range h.Options.Value {
		if strings.EqualFold(o.Key[strings.LastIndexByte(o.Key, '.')+1:], name) {
			key, value = o.Key, o.Value
		}
	}
	on := func(s string) bool { return s == "1" || strings.EqualFold(s, "TRUE") }
	if strings.EqualFold(value, standard) || on(value) && on(standard) {
		return Told{Out: h.Options.Known()}
	}
	return Told{Proven: true, Evidence: []finding.Evidence{{Name: key + " of " + h.Name, Value: value, Origin: h.Options.Origin.String(), At: h.At}},
		Edits: []numa.Edit{{Kind: numa.EditHostOption, Key: key, To: numa.Is(standard)}}}
}
