// Package glob matches names with patterns as users type them, ignoring case: * is any text, ? one character, [01-12] a number of the range.
package glob

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Suffixes allowed after a pattern: paths below a folder, and the domain of a host.
const (
	Below  = "(/.*)?"
	Domain = `(\..*)?`
)

// Patterns are compiled patterns. Nil patterns restrict nothing; see Allow.
type Patterns []*regexp.Regexp

// Compile compiles patterns. after is a regular expression for an optional suffix, such as the domain of a host; "" for none.
func Compile(texts []string, after string) Patterns {
	var out Patterns
	for _, p := range texts {
		p = regexp.QuoteMeta(strings.ToValidUTF8(strings.TrimSuffix(p, "/"), "?")) // otherwise it is no regular expression
		p = ranges(strings.NewReplacer(`\*`, ".*", `\?`, ".").Replace(p))
		for strings.Contains(p, ".*.*") { // a match looks at each
			p = strings.ReplaceAll(p, ".*.*", ".*")
		}
		out = append(out, regexp.MustCompile("(?is)^"+p+after+"$"))
	}
	return out
}

// mostNumbers bounds the numbers of a range; a longer one stands for itself.
const mostNumbers = 10_000

// ranges has each range of numbers in a quoted pattern match its numbers, of as many digits as the first, and itself.
func ranges(quoted string) string {
	if !strings.Contains(quoted, `\[`) {
		return quoted
	}
	span := regexp.MustCompile(`\\\[(\d{1,9})-(\d{1,9})\\\]`)
	return span.ReplaceAllStringFunc(quoted, func(one string) string {
		ends := span.FindStringSubmatch(one)
		from, _ := strconv.Atoi(ends[1]) // digits
		to, _ := strconv.Atoi(ends[2])
		if to-from >= mostNumbers {
			return one
		}
		numbers := []string{one}
		for n := from; n <= to; n++ {
			numbers = append(numbers, fmt.Sprintf("%0*d", len(ends[1]), n))
		}
		return "(" + strings.Join(numbers, "|") + ")"
	})
}

// Match reports whether one of the patterns matches one of the names.
func (p Patterns) Match(names ...string) bool {
	return slices.ContainsFunc(p, func(one *regexp.Regexp) bool { return slices.ContainsFunc(names, one.MatchString) })
}

// Named reports whether the patterns are nil, or one matches an object by its name. The others, its ID and path names, may contain
// slashes: only a pattern with a slash matches those, since * would otherwise match across a slash.
func (p Patterns) Named(name string, others ...string) bool {
	return p == nil || p.Match(name) || slices.ContainsFunc(p, func(one *regexp.Regexp) bool {
		return slices.ContainsFunc(others, func(other string) bool {
			return one.MatchString(other) && (strings.Contains(one.String(), "/") || !strings.Contains(other, "/"))
		})
	})
}

// Allow reports whether the patterns are nil or match one of the names.
func (p Patterns) Allow(names ...string) bool { return p == nil || p.Match(names...) }
