package fix

import (
	"context"
	"maps"
	"slices"
	"strings"

	"example.org/homenode/numa/pattern"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
)

// flag finds the flag that a reason names.
var flag = pattern.Of(`--allow ([a-z]+)`)

// tries are plans of the same fleet with more allowed, by the words of --allow.
type tries map[string]*maker

// flagged says why a finding stays. A plan with the flag that the reason names is made too: the reason names all flags with which the plan has the change, or
// says what speaks against it with them.
func (m *maker) flagged(ctx context.Context, whole *rules.Result, tries tries, f *finding.Finding, id string) (string, error) {
	first := m.why(f, id)
	why, allowed := first, map[string]bool{}
	for !m.set() {
		named := flag.FindStringSubmatch(why)
		if named == nil || allowed[named[1]] {
			break
		}
		allowed[named[1]] = true
		words := strings.Join(slices.Sorted(maps.Keys(allowed)), ",")
		if tries[words] == nil {
			o := m.o
			for word := range allowed {
				*o.Allow(word) = true
			}
			with, err := newMaker(ctx, whole, o)
			if err == nil {
				err = with.make(ctx) // once: a further round only adds changes
			}
			if err != nil {
				return "", err
			}
			with.changed, with.base = nil, nil // fleets that are not needed any more
			tries[words] = with
		}
		if with := tries[words]; with.takes(f, id, m) {
			return flag.ReplaceAllString(first, "--allow "+words), nil
		} else {
			why = with.why(f, id)
		}
	}
	return why, nil
}

// takes reports whether the plan cures or eases the finding, or changes what it is about otherwise than the plan without the flag does.
func (m *maker) takes(f *finding.Finding, id string, without *maker) bool {
	changed := func(m *maker) bool { return m.edits[id] != nil && m.kept[id] == "" }
	return m.cured[subjectOf(f)] || m.isLess(f) || changed(m) && !(changed(without) && slices.Equal(m.edits[id], without.edits[id]))
}
