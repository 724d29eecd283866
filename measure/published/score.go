package published

import (
	"cmp"
	"slices"
	"strings"

	"homenode/esxi/vnuma"
)

// A Score is the result of comparing many cases.
type Score struct {
	Comparisons []*Comparison  `json:"-"`        // in the order of the cases
	All         ReleaseScore   `json:"all"`      // of all cases
	Releases    []ReleaseScore `json:"releases"` // of each release family, oldest first
	Misses      []Missed       `json:"misses"`
	Open        []OpenCase     `json:"notComparable"` // recommendations, measurements, or cases that leave open what decides
}

// A ReleaseScore says how many of the cases of a release family could be compared, and how
// many of these were reproduced.
type ReleaseScore struct {
	Release    string `json:"release"` // "6.5", or "several" for cases that name no single release
	Cases      int    `json:"cases"`
	Compared   int    `json:"compared"`
	Reproduced int    `json:"reproduced"`
}

// A Missed is a field that was predicted otherwise.
type Missed struct {
	ID     string `json:"id"` // of the case
	Source string `json:"source"`
	Field
}

// An OpenCase is a case of which nothing could be compared.
type OpenCase struct {
	ID  string `json:"id"`
	Why string `json:"why"`
}

// NewScore compares every case.
func NewScore(cases []Case, ch vnuma.Choices) *Score {
	s := &Score{}
	groups := map[string][]*Comparison{}
	for i := range cases {
		c := Compare(&cases[i], ch)
		s.Comparisons = append(s.Comparisons, c)
		groups[family(c.Case)] = append(groups[family(c.Case)], c)
		if !c.Comparable() {
			s.Open = append(s.Open, OpenCase{c.Case.ID, cmp.Or(strings.Join(c.Open, "; "), "the case states no field")})
		}
		for _, f := range c.Fields {
			if !f.Agrees {
				s.Misses = append(s.Misses, Missed{c.Case.ID, c.Case.Source, f})
			}
		}
	}
	s.All = count("all", s.Comparisons)
	for name, cs := range groups {
		s.Releases = append(s.Releases, count(name, cs))
	}
	slices.SortFunc(s.Releases, func(a, b ReleaseScore) int { return cmp.Compare(a.Release, b.Release) })
	return s
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

// Unexplained counts the fields that miss without a reason.
func (s *Score) Unexplained() (n int) {
	for i := range s.Misses {
		if s.Misses[i].Reason == "" {
			n++
		}
	}
	return n
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
