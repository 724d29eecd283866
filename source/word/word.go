// Package word parses the key=value words that describe VMs and hosts in scenarios and in
// what-ifs.
package word

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/internal/alike"
	"example.org/homenode/numa/pattern"
	"example.org/homenode/source/text"
)

// A Word is one blank-separated part of a line with its column.
type Word struct {
	Key, Value string
	HasValue   bool
	Col        int // from 1, in bytes
}

// Short shortens a quotation of the input for a message: a line can be as long as the file.
func Short(s string) string { return text.Short(s) }

// abbreviations maps keywords to other spellings that people use.
var abbreviations = map[string][]string{
	"cps": {"coresPerSocket"}, "cpus": {"vcpus"}, "cpu": {"vcpus"}, "ram": {"memory"}, "mem": {"memory"},
	"sockets": {"packages", "coresPerSocket"}, "socket": {"packages", "coresPerSocket"}, "nps": {"nodesPerSocket", "nodes"}, "snc": {"nodesPerSocket", "nodes"},
	"hyperthreading": {"ht"}, "esxi": {"release"}, "version": {"release", "hw"}, "hardware": {"hw"}, "os": {"guest"},
}

// Meant returns the known word that was probably intended by an unknown one: by abbreviation or
// by similar spelling.
func Meant(key string, known []string) (near string, ok bool) {
	for _, long := range abbreviations[strings.ToLower(key)] {
		if slices.Contains(known, long) {
			return long, true
		}
	}
	near, _ = alike.Of(key, known)
	return near, near != ""
}

// NoValue returns the error for a word without its value.
func (w Word) NoValue() error {
	return Errorf(w.Col, "found %q without a value, want WORD=VALUE, such as memory=512GB", Short(w.Key))
}

// Unknown returns the error for an unknown word in a line, with the known words.
func (w Word) Unknown(line string, known []string) error {
	if slices.Contains(known, w.Key) && !w.HasValue {
		return w.NoValue()
	}
	if near, ok := Meant(w.Key, known); ok {
		return Errorf(w.Col, "found %q, which no %s line knows; is %s meant?", Short(w.Key), line, near)
	}
	if len(known) == 0 {
		return Errorf(w.Col, "found %q, want nothing more after %s", Short(w.Key), line)
	}
	return Errorf(w.Col, "found %q, which no %s line knows; want %s", Short(w.Key), line, strings.Join(known, ", "))
}

// Split splits a line into words; values may be in double quotes, and # begins a comment.
func Split(text string) ([]Word, error) {
	var out []Word
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
		w := Word{Key: text[start:i], Col: start + 1}
		if i < len(text) && text[i] == '=' {
			w.HasValue = true
			var err error
			if w.Value, i, err = value(text, i+1); err != nil {
				return nil, err
			}
		}
		if w.Key == "" {
			return nil, Errorf(w.Col, "found %q, want key=value", Short(text[w.Col-1:i]))
		}
		if key := strings.ToLower(w.Key); w.HasValue {
			if seen[key] {
				return nil, Errorf(w.Col, "found %s twice", Short(w.Key))
			}
			seen[key] = true
		}
		out = append(out, w)
	}
	return out, nil
}

// value returns the value that begins at text[i], and its end.
func value(text string, i int) (v string, end int, err error) {
	if i < len(text) && text[i] == '"' {
		n := strings.IndexByte(text[i+1:], '"')
		if n < 0 {
			return "", 0, Errorf(i+1, "found no closing quote")
		}
		end = i + n + 2
		if end < len(text) && text[end] != ' ' && text[end] != '\t' {
			return "", 0, Errorf(end+1, "found %q after the closing quote, want a blank", text[end:end+1])
		}
		return text[i+1 : i+1+n], end, nil
	}
	end = i
	for end < len(text) && text[end] != ' ' && text[end] != '\t' {
		end++
	}
	return text[i:end], end, nil
}

// mostName is the maximum length of a name in bytes: the name of a VM has up to 80 characters,
// of which some are stored as three bytes.
const mostName = 240

// MostNames is the maximum number of names in a range: sufficient for benchmarks, and too small
// to exhaust memory.
const MostNames = 200_000

// digits matches the ends of a range.
var digits = pattern.Of(`^\d{1,9}$`)

// Range matches a name with one range of numbers, such as esx[01-08].
var Range = pattern.Of(`^[^\[\]]*\[\d{1,9}-\d{1,9}\][^\[\]]*$`)

// Expand returns the names in a range such as "esx[01-08]" at the column.
func Expand(name string, col int) ([]string, error) {
	if len(name) > mostName {
		return nil, Errorf(col, "found a name of %d bytes, want at most %d", len(name), mostName)
	}
	before, rest, ok := strings.Cut(name, "[")
	if !ok {
		return []string{name}, nil
	}
	body, after, _ := strings.Cut(rest, "]")
	lo, hi, _ := strings.Cut(body, "-")
	if !digits.MatchString(lo) || !digits.MatchString(hi) || !strings.Contains(rest, "]") || strings.ContainsAny(after, "[]") {
		return nil, Errorf(col, "found %q, want a range such as esx[01-08]", Short(name))
	}
	from, _ := strconv.Atoi(lo) // digits
	to, _ := strconv.Atoi(hi)
	if from > to {
		return nil, Errorf(col, "found %q, want a range that ascends", Short(name))
	}
	if to-from >= MostNames {
		return nil, Errorf(col, "found a range of %d, want at most %d", to-from+1, MostNames)
	}
	names := make([]string, 0, to-from+1)
	for i := from; i <= to; i++ {
		names = append(names, fmt.Sprintf("%s%0*d%s", before, len(lo), i, after))
	}
	return names, nil
}
