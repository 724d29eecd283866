package experiment

import (
	"fmt"
	"strings"

	"example.org/homenode/internal/words"
)

// A Kind states how much a figure proves.
type Kind uint8

// The kinds, strongest evidence first.
const (
	// Blind: the source was not used to build the model.
	Blind Kind = iota
	// Fitted: a number or a rule of the model comes from this source, from this figure or
	// another one.
	Fitted
	// Restated: the figure is an input of the story, or follows from inputs and other figures
	// of the source by arithmetic.
	Restated
)

// Kinds are all kinds.
var Kinds = [...]Kind{Blind, Fitted, Restated}

// String returns the kind as in reports.
func (k Kind) String() string { return [...]string{"blind", "fitted", "restated"}[min(k, Restated)] }

// MarshalText writes the kind as String does.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// kind returns the kind of a figure. If one figure was used for the model, its whole source
// counts as known.
func (c *Case) kind(f *Figure) Kind {
	switch {
	case f.Restated != "" || f.Input != "":
		return Restated
	case c.Gave != "" || f.Fitted != "":
		return Fitted
	}
	return Blind
}

// A Measure is the type of a figure: matching a number proves more than matching a direction.
type Measure uint8

// The measures.
const (
	Amounts    Measure = iota // memory or a share, printed as a number
	Counts                    // clients, nodes, or which nodes
	Directions                // more, less, unchanged, at all
)

// Measures are all measures.
var Measures = [...]Measure{Amounts, Counts, Directions}

// String returns the measure as in reports, in the plural.
func (m Measure) String() string {
	return [...]string{"quantities", "counts", "directions"}[min(m, Directions)]
}

// MarshalText writes the measure as String does.
func (m Measure) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// measure depends on the first want: a number that the source does not print, such as the 0 of
// “unchanged”, is a direction.
func (f *Figure) measure() Measure {
	if len(f.Wants) == 0 {
		return Amounts
	}
	w, words := &f.Wants[0], f.published()
	k, _ := w.kind()
	number := strings.ContainsAny(words, "0123456789")
	switch {
	case w.Relation != "=" || w.Right.A.quantity != nil:
	case k == kindNodes, k == kindNumber:
		if number || strings.Contains(words, " one ") || strings.Contains(words, "two ") {
			return Counts
		}
	case number:
		return Amounts
	}
	return Directions
}

// A Tally counts figures that the model computes.
type Tally struct {
	Figures    int `json:"figures"`
	Reproduced int `json:"reproduced"` // in the case as it is described
	// Always counts figures that are also reproduced in every simulated world.
	Always int `json:"reproducedInEveryWorld"`
}

// A Score counts figures by kind and by measure.
type Score struct {
	Kinds       [len(Kinds)][len(Measures)]Tally `json:"-"`
	Blind       map[string]Tally                 `json:"blind"`
	Fitted      map[string]Tally                 `json:"fitted"`
	Restated    map[string]Tally                 `json:"restated"`
	Inputs      int                              `json:"inputs"` // restated figures that are inputs of the story and are not computed
	NotModelled int                              `json:"notModelled"`
	// Worlds counts the worlds simulated in addition to the cases as they are described.
	Worlds int `json:"worlds"`
}

// Count adds up the figures of results.
func Count(results []*Result) (s Score) {
	for _, r := range results {
		s.Worlds += r.Worlds
		for i := range r.Rows {
			s.add(&r.Rows[i])
		}
	}
	for k, to := range []*map[string]Tally{&s.Blind, &s.Fitted, &s.Restated} {
		*to = map[string]Tally{}
		for _, m := range Measures {
			(*to)[m.String()] = s.Kinds[k][m]
		}
	}
	return s
}

func (s *Score) add(r *Row) {
	switch r.Verdict {
	case Input:
		s.Inputs++
		return
	case NotModelled:
		s.NotModelled++
		return
	}
	t := &s.Kinds[r.Kind][r.Measure]
	t.Figures++
	if r.Verdict == Reproduced {
		t.Reproduced++
		if r.Worst == Reproduced {
			t.Always++
		}
	}
}

// All adds up the measures of a kind.
func (s *Score) All(k Kind) (t Tally) {
	for _, m := range s.Kinds[k] {
		t.Figures += m.Figures
		t.Reproduced += m.Reproduced
		t.Always += m.Always
	}
	return t
}

// Lines returns the score as text, a line for each kind.
func (s *Score) Lines() []string {
	var out []string
	for i, k := range Kinds {
		t := s.All(k)
		line := fmt.Sprintf("%s, %s: %d of %s", k, [...]string{
			"nothing of the source went into the model", "a number or a rule of the source did", "inputs and arithmetic of the source, which prove nothing",
		}[i], t.Reproduced, words.Plural(t.Figures, "figure"))
		if t.Figures > 0 {
			var parts []string
			for j, m := range Measures {
				parts = append(parts, fmt.Sprintf("%s %d of %d", m, s.Kinds[i][j].Reproduced, s.Kinds[i][j].Figures))
			}
			line += fmt.Sprintf(" (%s); in every world %d", strings.Join(parts, ", "), t.Always)
		}
		out = append(out, line)
	}
	return append(out, fmt.Sprintf("not computed: %s of stories, %d not modelled", words.Plural(s.Inputs, "input"), s.NotModelled))
}
