package text

import (
	"fmt"
	"strconv"
	"strings"

	"example.org/homenode/numa/pattern"
)

// blanks are the separators of words; no-break spaces, which some web pages contain, are
// already replaced by blanks.
const blanks = " \t\v\f"

// A Line is a line of a file, or a part of one, without surrounding blanks.
type Line struct {
	N, Col int // place of Text, from 1; Col in bytes
	Text   string
}

// Trim returns line n of a file without surrounding blanks.
func Trim(n int, raw string) Line {
	raw = strings.ReplaceAll(raw, "\u00a0", " ")
	return Line{n, 1, raw}.After(0)
}

// After returns the text after the first skip bytes, without surrounding blanks.
func (l Line) After(skip int) Line {
	rest := l.Text[skip:]
	trimmed := strings.TrimLeft(rest, blanks)
	return Line{l.N, l.Col + skip + len(rest) - len(trimmed), strings.TrimRight(trimmed, blanks)}
}

// Part returns the bytes from low to high of l.
func (l Line) Part(low, high int) Line { return Line{l.N, l.Col + low, l.Text[low:high]} }

// End returns the column after l.
func (l Line) End() int { return l.Col + len(l.Text) }

// Fields cuts l at blanks.
func (l Line) Fields() []Line {
	var out []Line
	for l.Text != "" {
		end := strings.IndexAny(l.Text, blanks)
		if end < 0 {
			end = len(l.Text)
		}
		out = append(out, l.Part(0, end))
		l = l.After(end)
	}
	return out
}

// Split cuts l at each separator; the parts have no surrounding blanks.
func (l Line) Split(separator string) []Line {
	var out []Line
	for {
		part, _, more := strings.Cut(l.Text, separator)
		out = append(out, l.Part(0, len(part)).After(0))
		if !more {
			return out
		}
		l = l.Part(len(part)+len(separator), len(l.Text))
	}
}

// Match matches l without surrounding blanks and returns the groups; nil if it does not match.
// A group without a match is empty.
func (l Line) Match(re *pattern.Pattern) []Line {
	l = l.After(0)
	at := re.FindStringSubmatchIndex(l.Text)
	if at == nil {
		return nil
	}
	groups := make([]Line, len(at)/2)
	for i := range groups {
		if at[2*i] >= 0 {
			groups[i] = l.Part(at[2*i], at[2*i+1])
		}
	}
	return groups
}

// Numbers parses a list such as "0-3,8" of at most most numbers, each below a bound.
func Numbers(s string, below, most int) (list []int, ok bool) {
	list = []int{}
	for part := range strings.SplitSeq(s, ",") {
		lowText, highText, isRange := strings.Cut(strings.TrimSpace(part), "-")
		if !isRange {
			highText = lowText
		}
		low, err1 := strconv.Atoi(lowText)
		high, err2 := strconv.Atoi(highText)
		if err1 != nil || err2 != nil || low < 0 || high < low || high >= below || len(list)+high-low >= most {
			return nil, false
		}
		for n := low; n <= high; n++ {
			list = append(list, n)
		}
	}
	return list, true
}

// Short shortens a quotation for a message.
func Short(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// Where returns a place in a file in the form of origins: "line 3:13", or "line 3" if col is 0.
func Where(n, col int) string {
	if col == 0 {
		return fmt.Sprintf("line %d", n)
	}
	return fmt.Sprintf("line %d:%d", n, col)
}
