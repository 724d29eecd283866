package scenario

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// A word is one blank-separated part of a line with its column.
type word struct {
	key, value string
	hasValue   bool
	col        int
}

// words splits a line; values may stand in double quotes.
func (p *parser) words(text string) ([]word, error) {
	var out []word
	seen := map[string]bool{}
	for i := 0; i < len(text); {
		if text[i] == ' ' || text[i] == '\t' {
			i++
			continue
		}
		if text[i] == '#' {
			break
		}
		start := i
		for i < len(text) && text[i] != ' ' && text[i] != '\t' && text[i] != '=' && text[i] != '#' {
			i++
		}
		w := word{key: text[start:i], col: start + 1}
		if i < len(text) && text[i] == '=' {
			w.hasValue = true
			i++
			if i < len(text) && text[i] == '"' {
				end := strings.IndexByte(text[i+1:], '"')
				if end < 0 {
					return nil, p.errorf(i+1, "found no closing quote")
				}
				w.value = text[i+1 : i+1+end]
				i += end + 2
				if i < len(text) && text[i] != ' ' && text[i] != '\t' {
					return nil, p.errorf(i+1, "found %q after the closing quote, want a blank", text[i:i+1])
				}
			} else {
				start = i
				for i < len(text) && text[i] != ' ' && text[i] != '\t' {
					i++
				}
				w.value = text[start:i]
			}
		}
		if w.key == "" {
			return nil, p.errorf(w.col, "found %q, want key=value", text[w.col-1:i])
		}
		if key := strings.ToLower(w.key); w.hasValue {
			if seen[key] {
				return nil, p.errorf(w.col, "found %s twice", w.key)
			}
			seen[key] = true
		}
		out = append(out, w)
	}
	return out, nil
}

// mostName is the length of the longest name, in bytes: a VM's has 80 characters, of
// which some are stored as three bytes.
const mostName = 240

// digits is what the ends of a range consist of.
var digits = regexp.MustCompile(`^\d{1,9}$`)

// expand returns the names that "esx[01-08]" stands for.
func (p *parser) expand(w word) ([]string, error) {
	if len(w.key) > mostName {
		return nil, p.errorf(w.col, "found a name of %d bytes, want at most %d", len(w.key), mostName)
	}
	before, rest, ok := strings.Cut(w.key, "[")
	if !ok {
		return []string{w.key}, nil
	}
	body, after, _ := strings.Cut(rest, "]")
	lo, hi, _ := strings.Cut(body, "-")
	if !digits.MatchString(lo) || !digits.MatchString(hi) || !strings.Contains(rest, "]") || strings.ContainsAny(after, "[]") {
		return nil, p.errorf(w.col, "found %q, want a range such as esx[01-08]", w.key)
	}
	from, _ := strconv.Atoi(lo) // digits
	to, _ := strconv.Atoi(hi)
	if from > to {
		return nil, p.errorf(w.col, "found %q, want a range that ascends", w.key)
	}
	if to-from >= maxObjects {
		return nil, p.errorf(w.col, "found a range of %d, want at most %d", to-from+1, maxObjects)
	}
	names := make([]string, 0, to-from+1)
	for i := from; i <= to; i++ {
		names = append(names, fmt.Sprintf("%s%0*d%s", before, len(lo), i, after))
	}
	return names, nil
}
