// Package alike finds the known word that a misspelt one probably means.
package alike

import (
	"cmp"
	"slices"
	"strings"
)

// mostEdits is the largest number of differing letters in a misspelt word: a doubled letter, two
// letters in the wrong order, a plural.
const mostEdits = 2

// Of returns the known word nearest to word, ignoring case; "" when none is near. exact reports
// that word is itself known.
func Of(word string, known []string) (nearest string, exact bool) {
	for _, k := range known { // the common case: the word is right
		if strings.EqualFold(word, k) {
			return k, true
		}
	}
	word = strings.ToLower(word)
	least := mostEdits + 1
	for _, k := range known {
		d := distance(word, strings.ToLower(k))
		// In short words two letters are too much.
		if d < least && d < min(len(word), len(k)) {
			nearest, least = k, d
		}
	}
	return nearest, false
}

// mostNames is the most names that a message lists.
const mostNames = 5

// Names returns the few known names that a misspelt one may mean, the likeliest first: those that
// differ by a letter or two, then those that contain it, then those that contain it without its
// number, such as esx for esx9.
func Names(name string, known []string) []string {
	name = strings.ToLower(name)
	type candidate struct {
		name string
		rank int
	}
	label, _, _ := strings.Cut(name, ".")
	stem := strings.TrimRight(name, "0123456789")
	var found []candidate
	for _, k := range known {
		low := strings.ToLower(k)
		short, _, _ := strings.Cut(low, ".") // of a host, which may be named without its domain
		d := min(distance(name, low), distance(label, short))
		switch {
		case d <= mostEdits && d < min(len(name), len(short)):
			found = append(found, candidate{k, d})
		case name != "" && strings.Contains(low, name):
			found = append(found, candidate{k, mostEdits + 1})
		case len(stem) > 1 && strings.Contains(low, stem):
			found = append(found, candidate{k, mostEdits + 2})
		}
	}
	slices.SortFunc(found, func(a, b candidate) int { return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.name, b.name)) })
	var out []string
	for _, c := range found {
		if !slices.Contains(out, c.name) && len(out) < mostNames {
			out = append(out, c.name)
		}
	}
	return out
}

// After returns the end of a message about an unknown name or pattern: "; alike: sql01, sql02", or "; known: prod, test" when none
// is alike and few are known, or "".
func After(name string, known []string) string {
	name = strings.Trim(name[strings.LastIndexByte(name, '/')+1:], "*?")
	if found := Names(name, known); found != nil {
		return "; alike: " + strings.Join(found, ", ")
	}
	if known = slices.Compact(slices.Sorted(slices.Values(known))); len(known) > 0 && len(known) <= mostNames {
		return "; known: " + strings.Join(known, ", ")
	}
	return ""
}

// distance returns how many letters must be inserted, removed or changed to turn a into b
// (Levenshtein), one row at a time. It skips words whose lengths differ by more than mostEdits.
func distance(a, b string) int {
	if d := len(a) - len(b); d > mostEdits || d < -mostEdits {
		return max(d, -d)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
