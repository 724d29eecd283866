package published

import (
	"cmp"
	"slices"
	"strings"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/words"
	"example.org/homenode/measure/experiment"
	"example.org/homenode/numa/pattern"
)

// A Score is the result of comparing many cases.
type Score struct {
	Comparisons []*Comparison  `json:"-"`        // in the order of the cases
	All         ReleaseScore   `json:"all"`      // of all cases
	Releases    []ReleaseScore `json:"releases"` // of each release family, oldest first
	Kinds       []KindScore    `json:"kinds"`    // of comparable cases: blind, fitted, trivial
	Fields      FieldScore     `json:"fields"`
	Misses      []Missed       `json:"misses"`
	Open        []OpenCase     `json:"notComparable"` // recommendations, measurements, or cases that do not state a decisive fact
}

// A ReleaseScore counts the comparable and the reproduced cases of a release family.
type ReleaseScore struct {
	Release    string `json:"release"` // "6.5", or "several" for cases without a single release
	Cases      int    `json:"cases"`
	Compared   int    `json:"compared"`
	Reproduced int    `json:"reproduced"`
}

// A KindScore counts the comparable and the reproduced cases by how much they prove. Fields
// counts their comparable fields.
type KindScore struct {
	Kind       string `json:"kind"`
	Cases      int    `json:"cases"`
	Reproduced int    `json:"reproduced"`
	Fields     int    `json:"fields"`
}

// kindNames are the names of the kinds in tables: a case that restates is about a host only,
// one node or one vCPU.
var kindNames = [len(experiment.Kinds)]string{"blind", "fitted", "trivial"}

// A FieldScore counts all stated fields.
type FieldScore struct {
	Stated   int          `json:"stated"`
	Compared int          `json:"compared"`
	Agree    int          `json:"agree"`
	Open     []OpenReason `json:"notCompared"` // by reason, most frequent first
}

// An OpenReason is a reason for not comparing fields, with these fields.
type OpenReason struct {
	Why    string   `json:"why"`
	Fields int      `json:"fields"`
	Names  []string `json:"names"`
}

// openValues matches the values in a reason, which differ from case to case.
var openValues = pattern.Of(`: (.* or .*|[0-9]+ of [0-9]+ MB)$|: found .*|setting "[^"]*" `)

func (s *FieldScore) add(c *Comparison) {
	s.Stated += len(c.Fields) + len(c.Open)
	s.Compared += len(c.Fields)
	for _, f := range c.Fields {
		if f.Agrees {
			s.Agree++
		}
	}
	for _, f := range c.Open {
		why := strings.TrimSpace(openValues.ReplaceAllString(f.Why, ""))
		i := slices.IndexFunc(s.Open, func(r OpenReason) bool { return r.Why == why })
		if i < 0 {
			i = len(s.Open)
			s.Open = append(s.Open, OpenReason{Why: why})
		}
		r := &s.Open[i]
		r.Fields++
		r.Names = words.Once(r.Names, f.Name)
	}
}

// A Missed is a field that differs from the prediction.
type Missed struct {
	ID     string `json:"id"` // of the case
	Source string `json:"source"`

	Name      string `json:"field"`
	Predicted string `json:"predicted"`
	Observed  string `json:"observed"`
	Reason    string `json:"reason,omitempty"` // the conflict of sources that explains it, if any
}

// An OpenCase is a case without any comparable field.
type OpenCase struct {
	ID  string `json:"id"`
	Why string `json:"why"`
}

// NewScore compares every case.
func NewScore(cases []Case, ch vnuma.Choices) *Score {
	s := &Score{}
	groups := map[string][]*Comparison{}
	for _, name := range kindNames {
		s.Kinds = append(s.Kinds, KindScore{Kind: name})
	}
	for i := range cases {
		c := Compare(&cases[i], ch)
		s.Comparisons = append(s.Comparisons, c)
		groups[family(c.Case)] = append(groups[family(c.Case)], c)
		s.Fields.add(c)
		if c.Comparable() {
			s.Kinds[c.Proves()].add(c)
		} else {
			s.Open = append(s.Open, OpenCase{c.Case.ID, c.why()})
		}
		for _, f := range c.Fields {
			if !f.Agrees {
				s.Misses = append(s.Misses, Missed{c.Case.ID, c.Case.Source, f.Name, f.Predicted, f.Observed, reason(c.Case, f.Name, ch)})
			}
		}
	}
	slices.SortStableFunc(s.Fields.Open, func(a, b OpenReason) int { return b.Fields - a.Fields })
	s.All = count("all", s.Comparisons)
	for name, cs := range groups {
		s.Releases = append(s.Releases, count(name, cs))
	}
	slices.SortFunc(s.Releases, func(a, b ReleaseScore) int { return cmp.Compare(a.Release, b.Release) })
	return s
}

func (k *KindScore) add(c *Comparison) {
	k.Cases++
	k.Fields += len(c.Fields)
	if c.Reproduced() {
		k.Reproduced++
	}
}

// why returns why no field of the case could be compared.
func (c *Comparison) why() string {
	var parts []string
	for _, f := range c.Open {
		parts = append(parts, f.Name+": "+f.Why)
	}
	return cmp.Or(strings.Join(parts, "; "), "the case states no field")
}

func count(release string, cs []*Comparison) ReleaseScore {
	out := ReleaseScore{Release: release, Cases: len(cs)}
	for _, c := range cs {
		if c.Comparable() {
			out.Compared++
		}
		if c.Reproduced() {
			out.Reproduced++
		}
	}
	return out
}

// Unexplained counts the misses without a reason.
func (s *Score) Unexplained() int {
	return words.Count(s.Misses, func(m Missed) bool { return m.Reason == "" })
}

// family returns the release family of the case.
func family(c *Case) string {
	for _, r := range c.Releases {
		if r.Base() != c.Releases[0].Base() {
			return "several"
		}
	}
	return c.Releases[0].Base().String()
}
