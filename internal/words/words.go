// Package words formats numbers and lists in English, and quotes words for shells and PowerCLI.
package words

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
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

// Few lists names, the first few of many: "a, b, c, d, e and 7 more".
func Few(names []string) string {
	const most = 5
	if len(names) == most+1 {
		return strings.Join(names, ", ")
	}
	return First(most, names)
}

// Numbered writes numbers behind a noun: "vCPU 7", "vCPUs 18-23".
func Numbered(noun string, numbers []int) string {
	if len(numbers) != 1 {
		noun += "s"
	}
	return noun + " " + Ranges(numbers)
}

// Be writes numbers behind a noun, and the verb: "vCPU 7 is", "vCPUs 18-23 are".
func Be(noun string, numbers []int) string {
	if len(numbers) == 1 {
		return Numbered(noun, numbers) + " is"
	}
	return Numbered(noun, numbers) + " are"
}

// First lists the first names: "a, b and 2 more".
func First(most int, names []string) string {
	if n := len(names); n > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), n-most)
	}
	return strings.Join(names, ", ")
}

// Texts returns the text of each item of a list; nil for none.
func Texts[T any](list []T, text func(T) string) (out []string) {
	for _, one := range list {
		out = append(out, text(one))
	}
	return out
}

// Once adds one to a list that does not have it.
func Once[T comparable](list []T, one T) []T {
	if slices.Contains(list, one) {
		return list
	}
	return append(list, one)
}

// Count returns how many of a list are so.
func Count[T any](list []T, is func(T) bool) (n int) {
	for _, one := range list {
		if is(one) {
			n++
		}
	}
	return n
}

// Lists splits each text into names, separated by commas.
func Lists(texts []string) (out [][]string) {
	for _, text := range texts {
		var names []string
		for name := range strings.SplitSeq(text, ",") {
			if name = strings.TrimSpace(name); name != "" {
				names = append(names, name)
			}
		}
		out = append(out, names)
	}
	return out
}

// Join returns the texts that are not empty, with the separator between them.
func Join(sep string, texts ...string) string {
	var out []string
	for _, s := range texts {
		if s != "" {
			out = append(out, s)
		}
	}
	return strings.Join(out, sep)
}

// Took formats a duration with two digits; "" for 0.
func Took(d time.Duration) string {
	switch {
	case d == 0:
		return ""
	case d < time.Second:
		return fmt.Sprintf("%d ms", max(1, d.Milliseconds()))
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

// Short formats a duration as Go does, without trailing zeros: "2h", "1h30m".
func Short(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
	}
	return s
}

// Ranges formats ascending numbers with ranges: "0-3, 8".
func Ranges(numbers []int) string {
	var out []string
	for i := 0; i < len(numbers); {
		j := i
		for j+1 < len(numbers) && numbers[j+1] == numbers[j]+1 {
			j++
		}
		switch {
		case j == i:
			out = append(out, strconv.Itoa(numbers[i]))
		default:
			out = append(out, fmt.Sprintf("%d-%d", numbers[i], numbers[j]))
		}
		i = j + 1
	}
	return strings.Join(out, ", ")
}

// Lower returns s with its first letter in lower case, for use after a colon.
func Lower(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

// Capital returns s with its first letter in upper case, for the start of a sentence. Names of settings and files, which have a dot, keep theirs.
func Capital(s string) string {
	first, _, _ := strings.Cut(s, " ")
	if first == "" || strings.Contains(strings.TrimRight(first, ".:"), ".") {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// Moment formats a time of a recording: "2026-11-02 01:10:20", in UTC.
func Moment(t time.Time) string { return t.UTC().Format(time.DateTime) }

// Duration formats a time span with its two largest units, rounded: "50 s", "12 min", "3 h 20 min", "24 h", "2 d 4 h".
func Duration(d time.Duration) string {
	two := func(large time.Duration, name string, small time.Duration, rest string) string {
		d = d.Round(small)
		text := fmt.Sprintf("%d %s", d/large, name)
		if n := d % large / small; n > 0 {
			text += fmt.Sprintf(" %d %s", n, rest)
		}
		return text
	}
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d < time.Hour:
		return two(time.Minute, "min", time.Second, "s")
	case d < 48*time.Hour:
		return two(time.Hour, "h", time.Minute, "min")
	}
	return two(24*time.Hour, "d", time.Hour, "h")
}

// Percent returns a share in [0, 1] as a whole percentage, "33 %". Shares that are
// not zero never read 0 %.
func Percent(share float64) string {
	p := int(share*100 + 0.5)
	if p == 0 && share > 0 {
		return "< 1 %"
	}
	return strconv.Itoa(p) + " %"
}

// Rate formats a share of time with one digit below 10 %, where ready time matters.
func Rate(share float64) string {
	if p := share * 100; p < 9.95 {
		return fmt.Sprintf("%.1f %%", p)
	}
	return Percent(share)
}

// Or lists alternatives: "a, b, or c".
func Or(texts []string) string {
	last := len(texts) - 1
	return Join(", or ", strings.Join(texts[:last], ", "), texts[last])
}

// List lists the first names: "sql01, sql02, web01 and 7 more".
func List(names []string) string {
	const most = 3
	n := len(names)
	switch {
	case n > most+1:
		return First(most, names)
	case n > 1:
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return strings.Join(names, "")
}
