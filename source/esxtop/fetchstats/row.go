package fetchstats

import (
	"bytes"
	"fmt"
	"math"
	"strconv"

	"example.org/homenode/source/text"
)

// A row is one raw line of an answer: "|Type|value|…|".
type row struct {
	name string // type
	line int
	text []byte
}

// A record is a row split by its schema. It is valid until the next one.
type record struct {
	row    row
	fields []field
	at     map[string]int
	cells  [][]byte // one for each field
	bad    string   // the first field that could not be parsed, and why
}

// open splits a row. The field separator is not escaped: when a name contains it, there are more
// cells than fields. The surplus then belongs to the free-text field that leaves valid values for
// all other fields.
func (c *record) open(s *schema, r row) bool {
	c.row, c.fields, c.at, c.bad = r, s.types[r.name], s.at[r.name], ""
	c.cells = cut(r.text, c.cells)
	if len(c.cells) == 0 {
		return false
	}
	cells := c.cells[1:]
	surplus := len(cells) - len(c.fields)
	if surplus < 0 {
		c.bad = fmt.Sprintf("found %d fields, want %d", len(cells), len(c.fields))
		return false
	}
	if surplus == 0 {
		c.cells = cells
		return true
	}
	// The last one that fits: the user's name comes after that of the group.
	for i := len(c.fields) - 1; i >= 0; i-- {
		if c.fields[i].kind == "STR" && c.fits(cells, i, surplus) {
			low := bytes.Join(cells[i:i+surplus+1], []byte("|"))
			c.cells = append(append(append([][]byte(nil), cells[:i]...), low), cells[i+surplus+1:]...)
			return true
		}
	}
	c.bad = fmt.Sprintf("found %d fields, want %d, and no name that holds the rest", len(cells), len(c.fields))
	return false
}

// fits reports whether all fields have valid values when field name spans surplus cells more than one.
func (c *record) fits(cells [][]byte, name, surplus int) bool {
	for i, f := range c.fields {
		if i == name {
			continue
		}
		cell := cells[i]
		if i > name {
			cell = cells[i+surplus]
		}
		if !f.takes(cell) {
			return false
		}
	}
	return true
}

// takes reports whether the cell is a valid value of the field.
func (f field) takes(cell []byte) bool {
	switch f.kind {
	case "B":
		return len(cell) == 1 && (cell[0] == '0' || cell[0] == '1')
	case "U32", "U64", "S32", "S64":
		_, ok := number(cell, f.kind)
		return ok
	}
	return true
}

// number parses an integer of this kind.
func number(cell []byte, kind string) (n int64, ok bool) {
	bits := 64
	if kind == "U32" || kind == "S32" {
		bits = 32
	}
	if kind[0] == 'S' {
		n, err := strconv.ParseInt(string(cell), 10, bits)
		return n, err == nil
	}
	u, err := strconv.ParseUint(string(cell), 10, bits)
	return int64(min(u, math.MaxInt64)), err == nil && u <= math.MaxInt64
}

// whole returns a number; false when the schema lacks it, when it is the largest of its kind, which
// means none, or when it is no number, which marks the record as bad.
func (c *record) whole(name string) (n int64, ok bool) {
	i, ok := c.at[name]
	if !ok {
		return 0, false
	}
	f := c.fields[i]
	if string(c.cells[i]) == "18446744073709551615" && f.kind == "U64" {
		return 0, false
	}
	n, ok = number(c.cells[i], f.kind)
	if !ok {
		c.spoil(name, "a number of type "+f.kind)
	}
	return n, ok && !(f.kind == "U32" && n == math.MaxUint32)
}

// flag returns a field of type B; false when the schema lacks it.
func (c *record) flag(name string) (yes, ok bool) {
	i, ok := c.at[name]
	if !ok {
		return false, false
	}
	if cell := c.cells[i]; len(cell) != 1 || cell[0] != '0' && cell[0] != '1' {
		c.spoil(name, "0 or 1")
		return false, false
	}
	return c.cells[i][0] == '1', true
}

// word returns a text; empty when the schema lacks it.
func (c *record) word(name string) []byte {
	if i, ok := c.at[name]; ok {
		return c.cells[i]
	}
	return nil
}

func (c *record) spoil(name, want string) {
	if c.bad == "" {
		c.bad = fmt.Sprintf("%s.%s: found %q, want %s", c.row.name, name, text.Short(string(c.cells[c.at[name]])), want)
	}
}
