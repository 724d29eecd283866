package libvirt

import (
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/numa"
	"example.org/homenode/source/fact"
	"example.org/homenode/source/text"
)

// Limits for numbers. Values above them mean that the file is damaged.
const (
	maxCPU  = 1 << 16
	maxNode = 1 << 10
	maxList = 1 << 20 // CPUs in all lists of a file
)

// A reader converts elements to values and warns about invalid ones.
type reader struct {
	file *fact.File
	room *int // number of CPUs that further lists of the file may contain
}

func newReader(name, format string) *reader {
	room := maxList
	return &reader{&fact.File{Name: name, Format: format}, &room}
}

// quietly returns a reader that discards warnings.
func (r *reader) quietly() *reader { return &reader{&fact.File{}, r.room} }

// number parses a number from 0 to below-1; false if it is invalid.
func (r *reader) number(e *element, what, s string, below int) (n int, ok bool) {
	if s == "" {
		return 0, false
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n >= below {
		r.file.Warn(e.line, e.col, "%s: found %q, want a number below %d", what, text.Short(s), below)
		return 0, false
	}
	return n, true
}

// list parses an attribute with a list of CPUs or nodes such as "0-31,^5,64-95"; nil if it is absent. libvirt rejects an empty list,
// and a range behind ^ (virBitmapParse).
func (r *reader) list(e *element, attr string, below int) []int {
	if !e.has(attr) {
		return nil
	}
	return r.numbers(e, attr, e.attr(attr), below)
}

// numbers parses the text of a list, as list does.
func (r *reader) numbers(e *element, what, s string, below int) []int {
	out := []int{}
	for part := range strings.SplitSeq(s, ",") {
		part = strings.TrimSpace(part)
		bare, not := strings.CutPrefix(part, "^")
		numbers, ok := text.Numbers(bare, below, *r.room+1)
		if !ok || not && len(numbers) > 1 {
			r.file.Warn(e.line, e.col, "%s: found %q, want a list of numbers below %d such as 0-31,^5", what, text.Short(s), below)
			return nil
		}
		*r.room -= len(numbers)
		if not {
			out = slices.DeleteFunc(out, func(n int) bool { return n == numbers[0] })
		} else {
			out = append(out, numbers...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// units are those of libvirt, in bytes; the default is KiB.
var units = map[string]numa.Bytes{"": numa.KiB, "b": 1, "bytes": 1, "kb": 1e3, "k": numa.KiB, "kib": numa.KiB, "mb": 1e6, "m": numa.MiB, "mib": numa.MiB,
	"gb": 1e9, "g": numa.GiB, "gib": numa.GiB, "tb": 1e12, "t": numa.TiB, "tib": numa.TiB,
	"pb": 1e15, "p": 1 << 50, "pib": 1 << 50, "eb": 1e18, "e": 1 << 60, "eib": 1 << 60}

// bytes parses an amount of memory with its unit.
func (r *reader) bytes(e *element, what, s, unit string) numa.Fact[numa.Bytes] {
	if s == "" {
		return numa.Fact[numa.Bytes]{}
	}
	u, known := units[strings.ToLower(unit)]
	if !known {
		r.file.Warn(e.line, e.col, "%s: found the unit %q, want bytes, KiB, MiB, GiB or TiB", what, text.Short(unit))
		return numa.Fact[numa.Bytes]{}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 || n > int64(1<<60/u) {
		r.file.Warn(e.line, e.col, "%s: found %q, want a number of %s", what, text.Short(s), unit)
		return numa.Fact[numa.Bytes]{}
	}
	return numa.ReadAt(numa.Bytes(n)*u, text.Where(e.line, e.col))
}

// count parses a number as a fact, at least 1.
func (r *reader) count(e *element, what, s string, below int) numa.Fact[int] {
	n, ok := r.number(e, what, s, below)
	if !ok || n == 0 {
		return numa.Fact[int]{}
	}
	return numa.ReadAt(n, text.Where(e.line, e.col))
}

// distances reads <distances> of a cell, by node.
func (r *reader) distances(cell *element) map[int]int {
	var out map[int]int
	for _, e := range cell.child("distances").all("sibling") {
		id, ok1 := r.number(e, "sibling", e.attr("id"), maxNode)
		value, ok2 := r.number(e, "distance", e.attr("value"), 256)
		if ok1 && ok2 {
			if out == nil {
				out = map[int]int{}
			}
			out[id] = value
		}
	}
	return out
}
