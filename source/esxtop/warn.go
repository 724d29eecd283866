package esxtop

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/numa"
	"example.org/homenode/source/text"
)

// The kinds of warnings: of each, the first is kept.
const (
	kindJunk = iota
	kindHeader
	kindFused
	kindTail
	kindCount
	kindShort // too few fields; kindCut where it is the last line
	kindStamp
	kindNUL
	kindNumber
	kindAmbiguous
	kindHomes
	kindCut
	kindLastCell
	kindDate
	kindMinute
	kindDates
	kindEmpty
	kindBlind
	kindOrder
	kindVMs
	kindNodes
	kindState
	kindRange
	kindShrunk
	kindAddUp
	kindWidth
	kinds
)

// plural describes the further warnings of a kind.
var plural = [kinds]string{
	kindCount: "rows", kindShort: "rows", kindStamp: "rows", kindNUL: "lines", kindNumber: "cells", kindAmbiguous: "cells",
	kindHomes: "cells", kindHeader: "headers", kindFused: "columns", kindTail: "headers", kindMinute: "rows", kindDates: "rows", kindOrder: "rows", kindCut: "rows",
	kindState: "rows", kindRange: "cells", kindLastCell: "cells", kindJunk: "pieces", kindDate: "rows", kindVMs: "groups", kindAddUp: "VMs", kindNodes: "columns", kindBlind: "headers", kindWidth: "headers",
}

// A warning is the first of its kind.
type warning struct {
	line, col, count int
	msg              string
}

// warnings are all kinds.
type warnings [kinds]warning

// add counts a warning; msg is called for the first of its kind only.
func (w *warnings) add(kind, line, col int, msg func() string) {
	if w[kind].count++; w[kind].count == 1 {
		w[kind].line, w[kind].col, w[kind].msg = line, col, msg()
	}
}

// merge adds those of a later part, whose lines are counted from base.
func (w *warnings) merge(later *warnings, base int) {
	for k := range later {
		l := later[k]
		if l.count == 0 {
			continue
		}
		if w[k].count == 0 {
			w[k] = l
			w[k].line += base
			continue
		}
		w[k].count += l.count
	}
}

func (w *warnings) list(name string) []error {
	var found []int
	for k := range w {
		if w[k].count > 0 {
			found = append(found, k)
		}
	}
	slices.SortStableFunc(found, func(a, b int) int {
		return cmp.Or(cmp.Compare(w[a].line, w[b].line), cmp.Compare(w[a].col, w[b].col))
	})
	var out []error
	for _, k := range found {
		msg := w[k].msg
		if n := w[k].count - 1; n > 0 {
			msg += fmt.Sprintf(" (and %d more such %s)", n, plural[k])
		}
		out = append(out, &numa.SyntaxError{File: name, Line: w[k].line, Col: w[k].col, Msg: msg})
	}
	return out
}

// left returns the number of rows that were omitted completely.
func (w *warnings) left() int {
	return w[kindCount].count + w[kindShort].count + w[kindStamp].count + w[kindCut].count + w[kindOrder].count
}

// descending describes a file whose omitted rows are all earlier than the one before.
func (w *warnings) descending(left, rows int) {
	w[kindOrder].count = 1
	w[kindOrder].msg = fmt.Sprintf("rows are not in the order of time (descending): sort the file by its first column; %d of %d rows left out", left, rows)
}

// quoted returns b for a message, truncated.
func quoted(b []byte) string {
	return fmt.Sprintf("%q", text.Short(strings.ToValidUTF8(string(b[:min(len(b), 200)]), "?")))
}
