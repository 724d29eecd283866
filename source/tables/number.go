package tables

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// twoWays returns the separator of a number such as 8.000 or 511,698, which is a fraction or has thousands.
func twoWays(s string) (separator byte, ok bool) {
	i := strings.IndexAny(s, ".,")
	if i < 1 || i > 3 || len(s) != i+4 || s[0] == '0' || strings.Trim(s[:i]+s[i+1:], "0123456789") != "" {
		return 0, false
	}
	return s[i], true
}

// pointOf returns the decimal point that the form of a number proves; 0 when it proves none.
func pointOf(s string) byte {
	commas, points := strings.Count(s, ","), strings.Count(s, ".")
	_, both := twoWays(s)
	switch {
	case both || commas+points == 0 || strings.Trim(s, "0123456789.,") != "":
		return 0
	case commas > 0 && points > 0:
		return s[strings.LastIndexAny(s, ".,")]
	case commas > 1 || points == 1:
		return '.'
	}
	return ','
}

// numberAt returns the number s of a cell in the column f; fits says which value is plausible in which unit. A number that can be
// read in two ways is read as the whole column shows; problem says that nothing does, or that s is no number.
func (t *table) numberAt(f, s string, fits func(v float64, unit string) bool) (n float64, problem string) {
	separator, both := twoWays(s)
	switch {
	case strings.ContainsAny(s, ".,") && t.contradicts(f):
		return 0, "but other rows of this column use a different decimal separator"
	case !both:
		n, ok := parseFloat(s, t.rows.decimal())
		if !ok {
			problem = "want a number"
		}
		return n, problem
	}
	fraction, thousands := readings(s)
	switch t.point(f, separator, fits) {
	case 0:
		return 0, fmt.Sprintf("which is %v or %v, and neither its column nor the file tells which", fraction, int(thousands))
	case separator:
		return fraction, ""
	}
	return thousands, ""
}

// contradicts reports whether numbers of a column that can be read in two ways have both separators, in one unit, or stand beside
// numbers that prove both decimal points: files of two languages that were put together.
func (t *table) contradicts(f string) bool {
	if known, ok := t.mixed[f]; ok {
		return known
	}
	proved, two := map[byte]bool{}, map[string]byte{} // by unit
	mixed := false
	t.eachNumber(f, func(s, unit string) {
		if p := pointOf(s); p != 0 {
			proved[p] = true
		}
		if separator, both := twoWays(s); both {
			mixed = mixed || two[unit] != 0 && two[unit] != separator
			two[unit] = separator
		}
	})
	if t.mixed == nil {
		t.mixed = map[string]bool{}
	}
	t.mixed[f] = mixed || len(two) > 0 && len(proved) > 1
	return t.mixed[f]
}

// readings returns both values of a number that can be read in two ways.
func readings(s string) (fraction, thousands float64) {
	thousands, _ = strconv.ParseFloat(strings.NewReplacer(".", "", ",", "").Replace(s), 64) // digits alone
	return thousands / 1000, thousands
}

// point returns the decimal point of a column whose numbers have this separator; 0 when nothing tells. The form of other cells
// tells, then which values are plausible, then what divides the columns of the file.
func (t *table) point(f string, separator byte, fits func(v float64, unit string) bool) byte {
	key := f + string(separator)
	if p, ok := t.points[key]; ok {
		return p
	}
	if t.points == nil {
		t.points = map[string]byte{}
	}
	proved := map[byte]bool{}
	fraction, thousands := true, true // plausible for each cell
	t.eachNumber(f, func(s, unit string) {
		if p := pointOf(s); p != 0 {
			proved[p] = true
		} else if len(s) > 3 && strings.Trim(s, "0123456789") == "" {
			proved[separator] = true // thousands are not separated
		}
		if of, both := twoWays(s); both && of == separator {
			small, large := readings(s)
			fraction, thousands = fraction && fits(small, unit), thousands && fits(large, unit)
		}
	})
	other := byte('.' + ',' - separator)
	p := byte(0)
	switch {
	case proved[separator] && proved[other]:
	case proved[separator]:
		p = separator
	case proved[other]:
		p = other
	case fraction != thousands:
		p = other
		if fraction {
			p = separator
		}
	case fraction && separator == t.rows.decimal():
		p = separator
	}
	t.points[key] = p
	return p
}

// eachNumber calls do for each cell of a column that is not empty, without its unit.
func (t *table) eachNumber(f string, do func(s, unit string)) {
	rows, err := t.open()
	if err != nil {
		return // it was opened before: nothing tells
	}
	i := t.place(f).index
	for {
		cells, _, err := rows.next()
		if err != nil {
			return
		}
		if i < len(cells) && len(cells[i]) < maxHeader {
			s, unit := splitUnit(strings.ToLower(strings.TrimSpace(cells[i])))
			do(strings.TrimSpace(s), unit)
		}
	}
}

// plausibleFrom are the least plausible amounts of columns that always have one.
var plausibleFrom = map[string]float64{"Memory": 64 << 20, "# Memory": 1 << 30, "Speed": 100e6}

// plausible returns whether an amount is plausible in a column: neither tiny nor larger than any machine, and for VMs in whole
// steps.
func (t *table) plausible(f string, most, step float64) func(v float64, unit string) bool {
	return func(v float64, unit string) bool {
		if units[unit] == 0 {
			unit = t.place(f).unit
		}
		v *= units[unit]
		whole := f == "# Memory" || f == "Speed" || v == math.Trunc(v/step)*step
		return whole && v >= plausibleFrom[f] && v <= min(most, maxPlausible)
	}
}

// maxPlausible bounds the memory of a machine in bytes and, much higher, a frequency: no vSphere host has more than 24 TB.
const maxPlausible = 64 << 40
