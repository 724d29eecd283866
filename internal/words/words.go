// Package words writes numbers and lists as English has them.
package words

import (
	"strconv"
	"strings"
)

// Plural returns "1 VM" or "1,204 VMs".
func Plural(n int, noun string) string { return Verb(n, noun, noun+"s") }

// Verb returns "1 loses" or "1,204 lose".
func Verb(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Thousands(n) + " " + many
}

// Thousands returns "1,204".
func Thousands(n int) string {
	s := strconv.Itoa(n)
	least := 3
	if n < 0 {
		least = 4
	}
	for i := len(s) - 3; i > least-3; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Paragraph joins the lines of a text.
func Paragraph(s string) string { return strings.Join(strings.Fields(s), " ") }
