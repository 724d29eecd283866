package words

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Natural compares two names as people sort them: numbers by value, letters ignoring case. esx2 comes before esx10.
func Natural(a, b string) int {
	x, y := strings.ToLower(a), strings.ToLower(b)
	for x != "" && y != "" {
		m, n := digits(x), digits(y)
		if m > 0 && n > 0 {
			p, q := strings.TrimLeft(x[:m], "0"), strings.TrimLeft(y[:n], "0")
			if c := cmp.Or(cmp.Compare(len(p), len(q)), strings.Compare(p, q)); c != 0 {
				return c
			}
			x, y = x[m:], y[n:]
			continue
		}
		r, i := utf8.DecodeRuneInString(x)
		s, j := utf8.DecodeRuneInString(y)
		if r != s {
			return cmp.Or(cmp.Compare(rank(r), rank(s)), cmp.Compare(r, s))
		}
		x, y = x[i:], y[j:]
	}
	return cmp.Compare(len(x), len(y))
}

// digits counts the ASCII digits at the beginning of s.
func digits(s string) int { return len(s) - len(strings.TrimLeft(s, "0123456789")) }

// rank orders punctuation before digits before letters, as collations do.
func rank(r rune) int {
	switch {
	case unicode.IsLetter(r):
		return 2
	case unicode.IsDigit(r):
		return 1
	}
	return 0
}
