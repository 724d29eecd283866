package esxtop

import (
	"bytes"
	"math"
	"slices"
	"strconv"

	"example.org/homenode/numa"
)

// A verdict is the kind of content of a cell.
type verdict uint8

const (
	number verdict = iota
	nothing
	ambiguous // has two interpretations, such as 1,234
	wrong
)

// pow10 are the powers of ten that a float64 represents exactly and that fractions need.
var pow10 = [16]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// decimals is the way in which a file writes fractions.
type decimals struct {
	comma bool // with decimal commas
	sure  bool // other cells of the file show it, so that 65.536 and 65,536 have one reading
}

// decimalsOf finds in rows how the file writes fractions. Excel separates by semicolons where it writes decimal commas, but in Switzerland it does not.
func (h *Header) decimalsOf(rows []byte, end byte) decimals {
	points, commas := 0, 0
	var fields []field
	for line := range bytes.SplitSeq(rows, []byte{end}) {
		fields = split(line, h.comma, fields)
		for i, f := range fields[1:] { // after the time
			if _, homes := slices.BinarySearch(h.homeColumns, i); homes || !f.clear {
				continue
			}
			switch decimalOf(trim(line[f.text.lo:f.text.hi])) {
			case '.':
				points++
			case ',':
				commas++
			}
		}
	}
	return decimals{comma: commas > 0, sure: (points == 0) != (commas == 0)}
}

// decimalOf returns the decimal separator that the form of a number proves; 0 if it proves none.
func decimalOf(cell []byte) byte {
	if i := bytes.IndexAny(cell, "0123456789"); i > 0 && (cell[0] == '-' || cell[0] == '+') {
		cell = cell[i:]
	}
	points, commas := bytes.Count(cell, []byte(".")), bytes.Count(cell, []byte(","))
	last := bytes.LastIndexAny(cell, ".,")
	if last < 0 || len(bytes.Trim(cell, "0123456789.,'’ \u00a0\u202f")) > 0 {
		return 0
	}
	c := cell[last]
	switch {
	case points > 0 && commas > 0:
		return c
	case points+commas > 1: // groups
		return '.' + ',' - c
	case couldGroup(cell, c):
		return 0
	}
	return c
}

// parseNumber parses a cell.
func parseNumber(cell []byte, d decimals) (float64, verdict) {
	cell = trim(cell)
	if len(cell) == 0 || len(cell) == 1 && cell[0] == '-' {
		return Missing, nothing
	}
	if v, ok := plainNumber(cell, d.comma); ok {
		return v, number
	}
	return localNumber(cell, d)
}

// plainNumber parses digits with at most one decimal point. Up to 15 digits are an exact whole
// number, and dividing it by an exact power of ten rounds once: the result equals that of
// strconv.ParseFloat.
func plainNumber(cell []byte, comma bool) (float64, bool) {
	negative := cell[0] == '-'
	if negative {
		cell = cell[1:]
	}
	whole, fraction, digits := int64(0), -1, 0
	for _, c := range cell {
		switch {
		case c-'0' <= 9:
			whole = whole*10 + int64(c-'0')
			if digits++; fraction >= 0 {
				fraction++
			}
		case c == '.' && fraction < 0 && !comma:
			fraction = 0
		default:
			return 0, false
		}
		if digits > 15 {
			return 0, false
		}
	}
	if digits == 0 || fraction == digits || fraction == 0 {
		return 0, false // ".5" and "5." are left to localNumber
	}
	v := float64(whole) / pow10[max(fraction, 0)]
	if negative {
		v = -v
	}
	return v, true
}

// localNumber parses numbers as other programs write them: 12,5 and 1.234,56 and 1 234,56 and
// 1.2E+05. It accepts only unambiguous forms.
func localNumber(cell []byte, d decimals) (float64, verdict) {
	body, sign := cell, ""
	if body[0] == '-' || body[0] == '+' {
		sign, body = string(body[:1]), body[1:]
	}
	mantissa, exponent := body, ""
	if i := bytes.IndexAny(body, "eE"); i >= 0 {
		mantissa, exponent = body[:i], string(body[i:])
	}
	plain, v := delocalise(mantissa, d)
	if v != number {
		return Missing, v
	}
	f, err := strconv.ParseFloat(sign+plain+exponent, 64)
	if err != nil || math.IsInf(f, 0) {
		return Missing, wrong
	}
	return f, number
}

// delocalise returns a number with a decimal point and no grouping.
func delocalise(m []byte, d decimals) (string, verdict) {
	for _, group := range []string{"\u00a0", "\u202f", "\u2019", "'"} {
		m = bytes.ReplaceAll(m, []byte(group), []byte(" "))
	}
	dots, commas, blanks := bytes.Count(m, []byte(".")), bytes.Count(m, []byte(",")), bytes.Count(m, []byte(" "))
	for _, c := range m {
		if c-'0' > 9 && c != '.' && c != ',' && c != ' ' {
			return "", wrong
		}
	}
	decimal := byte('.')
	switch {
	case dots == 0 && commas == 0:
		decimal = 0
	case dots > 0 && commas > 0:
		decimal = m[bytes.LastIndexAny(m, ".,")]
		if blanks > 0 || bytes.Count(m, []byte{decimal}) > 1 {
			return "", wrong
		}
	case dots+commas > 1:
		decimal = 0 // all of them are group separators
		if blanks > 0 {
			return "", wrong
		}
	case commas == 1:
		decimal = ','
		if !d.comma && blanks == 0 && couldGroup(m, ',') {
			decimal = 0
		}
	case d.comma && blanks == 0 && couldGroup(m, '.'):
		decimal = 0
	}
	if decimal == 0 && dots+commas == 1 && !d.sure {
		return "", ambiguous
	}
	whole, fraction := m, []byte(nil)
	if decimal != 0 {
		i := bytes.LastIndexByte(m, decimal)
		whole, fraction = m[:i], m[i+1:]
	}
	whole, ok := ungroup(whole)
	if !ok || len(whole)+len(fraction) == 0 || bytes.ContainsAny(fraction, "., ") {
		return "", wrong
	}
	return string(whole) + "." + string(fraction), number
}

// couldGroup reports whether m, which contains the separator once, can also be read with it between thousands.
func couldGroup(m []byte, separator byte) bool {
	i := bytes.IndexByte(m, separator)
	return len(m)-i-1 == 3 && i >= 1 && i <= 3 && m[0] != '0'
}

// ungroup removes the separators of a whole number whose groups have three digits.
func ungroup(m []byte) ([]byte, bool) {
	i := bytes.IndexAny(m, "., ")
	if i < 0 {
		return m, true
	}
	separator := m[i : i+1]
	groups := bytes.Split(m, separator)
	for n, g := range groups {
		if bytes.ContainsAny(g, "., ") || len(g) != 3 && (n > 0 || len(g) == 0 || len(g) > 3) {
			return nil, false
		}
	}
	return bytes.Join(groups, nil), true
}

// parseHomes parses a list of home nodes: "0", "0,1", "0 1" or "0;1". "-" is the empty set. It
// rejects "0-1", which could be a range or a list.
func parseHomes(cell []byte) (numa.NodeSet, verdict) {
	cell = trim(cell)
	switch string(cell) {
	case "":
		return 0, nothing
	case "-":
		return 0, number
	}
	var set numa.NodeSet
	for len(cell) > 0 {
		i := bytes.IndexAny(cell, ",; ")
		token := cell
		if i < 0 {
			cell = nil
		} else {
			token, cell = cell[:i], trim(cell[i+1:])
			if len(cell) == 0 {
				return 0, wrong
			}
		}
		node, ok := smallNumber(token)
		if !ok || node >= numa.MaxNodes {
			return 0, wrong
		}
		set |= 1 << node
	}
	return set, number
}

// smallNumber parses one to four digits.
func smallNumber(b []byte) (int, bool) {
	if len(b) == 0 || len(b) > 4 {
		return 0, false
	}
	n := 0
	for _, c := range b {
		if c-'0' > 9 {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}

// trim removes blanks at both ends, including no-break spaces.
func trim(b []byte) []byte {
	if len(b) > 0 && b[0] > ' ' && b[0] < 0x7f && b[len(b)-1] > ' ' && b[len(b)-1] < 0x7f {
		return b
	}
	for {
		b = bytes.Trim(b, " \t\r")
		switch {
		case bytes.HasPrefix(b, []byte("\u00a0")):
			b = b[2:]
		case bytes.HasSuffix(b, []byte("\u00a0")):
			b = b[:len(b)-2]
		default:
			return b
		}
	}
}
