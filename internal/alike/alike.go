// Package alike finds the word that a misspelt one was probably meant to be.
package alike

import "strings"

// mostEdits is how many letters a misspelt word differs by: a doubled letter, two
// letters in the wrong order, a plural.
const mostEdits = 2

// Of returns the known word that is nearest to word, in any case of letters; nothing
// when none is near. exact reports that word is known itself.
func Of(word string, known []string) (nearest string, exact bool) {
	word = strings.ToLower(word)
	least := mostEdits + 1
	for _, k := range known {
		d := distance(word, strings.ToLower(k))
		if d == 0 {
			return k, true
		}
		// In short words two letters are most of it.
		if d < least && d < min(len(word), len(k)) {
			nearest, least = k, d
		}
	}
	return nearest, false
}

// distance returns how many letters must be put in, taken out or changed to make b of
// a (Levenshtein), one row at a time. Words that differ in length by more than
// mostEdits are told apart by that.
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
