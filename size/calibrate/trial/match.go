package trial

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"example.org/homenode/size/calibrate"
	"example.org/homenode/size/iocost"
	"example.org/homenode/source/benchmark/hostload"
)

// names3 are the names by which a row may refer to a test: its test case with the time, without it, and its file.
type names3 [3]string

// exactly reports whether s is one of the names.
func (n *names3) exactly(s string) bool {
	for _, name := range n {
		if name != "" && (strings.EqualFold(name, s) || strings.EqualFold(name, base(s))) {
			return true
		}
	}
	file := n[2]
	if dot := strings.LastIndexByte(file, '.'); dot > 0 {
		return strings.EqualFold(file[:dot], s)
	}
	return false
}

// partly reports whether s is a delimited part of the name of the test case: "4k" is no part of "64k".
func (n *names3) partly(s string) bool {
	name := strings.ToLower(n[0])
	s = strings.ToLower(s)
	for at := 0; at+len(s) <= len(name); {
		i := strings.Index(name[at:], s)
		if i < 0 || s == "" {
			return s == ""
		}
		i += at
		before, _ := utf8.DecodeLastRuneInString(name[:i])
		after, _ := utf8.DecodeRuneInString(name[i+len(s):])
		if (i == 0 || !word(before)) && (i+len(s) == len(name) || !word(after)) {
			return true
		}
		at = i + 1
	}
	return false
}

func word(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// fits are the rows of a table by trial.
type fits struct {
	row  []*hostload.Row // by trial; nil for none
	used map[int]bool    // by row
}

// assign finds the row of each trial: the one with its name, else one whose name is a part of its
// name. A part must match tests of one kind only.
func assign(rows []hostload.Row, trials []calibrate.Trial, names []names3) (*fits, error) {
	f := &fits{row: make([]*hostload.Row, len(trials)), used: map[int]bool{}}
	exact := make([]bool, len(trials))
	for _, fit := range []func(*names3, string) bool{(*names3).exactly, (*names3).partly} {
		for i := range rows {
			row := &rows[i]
			var kind *iocost.Kind
			for j := range trials {
				if exact[j] || !fit(&names[j], row.Test) {
					continue
				}
				f.used[i] = true
				switch first := f.row[j]; {
				case first != nil && first != row:
					return nil, fmt.Errorf("%s: %q is the test of %s, too (%s): one row must say which", row.Place(), row.Test, first.Place(), trials[j].Test)
				case trials[j].Kind.Block == 0: // unusable anyway
				case kind != nil && *kind != trials[j].Kind:
					return nil, fmt.Errorf("%s: %q fits tests of several kinds (%s; %s): write more of the name",
						row.Place(), row.Test, calibrate.KindText(*kind), calibrate.KindText(trials[j].Kind))
				default:
					kind = &trials[j].Kind
				}
				f.row[j] = row
			}
		}
		for j := range exact {
			exact[j] = f.row[j] != nil
		}
	}
	return f, nil
}
