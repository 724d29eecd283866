package published

import (
	"cmp"
	"slices"

	"homenode/esxi/vnuma"
)

// A Score is the result of comparing many cases.
type Score struct {
	Comparisons []*Comparison // in the order of the cases
}

// NewScore compares every case.
func NewScore(cases []Case, ch vnuma.Choices) *Score {
	s := &Score{}
	for i := range cases {
		s.Comparisons = append(s.Comparisons, Compare(&cases[i], ch))
	}
	return s
}

// Count returns how many cases there are, how many could be compared and how many
// of these were reproduced.
func (s *Score) Count() (cases, compared, reproduced int) {
	return count(s.Comparisons)
}

func count(cs []*Comparison) (cases, compared, reproduced int) {
	for _, c := range cs {
		if c.Comparable() {
			compared++
		}
		if c.Reproduced() {
			reproduced++
		}
	}
	return len(cs), compared, reproduced
}

// Unexplained counts the fields that miss without a reason.
func (s *Score) Unexplained() int {
	n := 0
	for _, c := range s.Comparisons {
		for _, f := range c.Fields {
			if !f.Agrees && f.Reason == "" {
				n++
			}
		}
	}
	return n
}

// A ReleaseScore is the score of the cases of one release family.
type ReleaseScore struct {
	Release                     string // "6.5", or "several" for cases that name no single release
	Cases, Compared, Reproduced int
}

// ByRelease returns the score of each release family, oldest first.
func (s *Score) ByRelease() []ReleaseScore {
	groups := map[string][]*Comparison{}
	for _, c := range s.Comparisons {
		groups[family(c.Case)] = append(groups[family(c.Case)], c)
	}
	var out []ReleaseScore
	for name, cs := range groups {
		n, compared, reproduced := count(cs)
		out = append(out, ReleaseScore{name, n, compared, reproduced})
	}
	slices.SortFunc(out, func(a, b ReleaseScore) int { return cmp.Compare(a.Release, b.Release) })
	return out
}

// family returns the release family that the case is about.
func family(c *Case) string {
	releases := releasesIn(c.Release)
	for _, r := range releases {
		if r.Base() != releases[0].Base() {
			return "several"
		}
	}
	if len(releases) == 0 {
		return "several"
	}
	return releases[0].Base().String()
}
