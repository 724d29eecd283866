package tables

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// minusOne reports whether a cell contains the -1 that stands for no value or no limit, which programs that save a file again write as -1.0 or -1,00.
func minusOne(s string) bool {
	rest, ok := strings.CutPrefix(s, "-1")
	return ok && (rest == "" || strings.IndexAny(rest, ".,") == 0 && len(rest) > 1 && strings.Trim(rest[1:], "0") == "")
}

// twoWays returns the separator of an ambiguous number such as 8.000 or 511,698, which may be a fraction or have thousands.
func twoWays(s string) (separator byte, ok bool) {
	i := strings.IndexAny(s, ".,")
	if i < 1 || i > 3 || len(s) != i+4 || s[0] == '0' || strings.Trim(s[:i]+s[i+1:], "0123456789") != "" {
		return 0, false
	}
	return s[i], true
}

// pointOf returns the decimal point proved by the form of a number; 0 if it is ambiguous.
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

// numberAt parses the number s in a cell of the column f; fits reports whether a value is plausible in a unit. An ambiguous
// number is interpreted with the help of the whole column; problem is set if it stays ambiguous, or if s is not a number.
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

// contradicts reports whether ambiguous numbers of a column have both separators in one unit, or are mixed with numbers that
// prove both decimal points: files in two languages that were concatenated.
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

// readings returns both values of an ambiguous number.
func readings(s string) (fraction, thousands float64) {
	thousands, _ = strconv.ParseFloat(strings.NewReplacer(".", "", ",", "").Replace(s), 64) // only digits are left
	return thousands / 1000, thousands
}

// point returns the decimal point of a column whose numbers have this separator; 0 if it stays ambiguous. It checks the form of
// other cells, then the plausibility of values, then the field separator of the file.
func (t *table) point(f string, separator byte, fits func(v float64, unit string) bool) byte {
	key := f + string(separator)
	if p, ok := t.points[key]; ok {
		return p
	}
	if t.points == nil {
		t.points = map[string]byte{}
	}
	proved := map[byte]bool{}
	undivided := false                               // thousands are not separated in some cells
	fraction, thousands, rounded := true, true, true // plausible for each cell; rounded: a fraction of GB that is no whole MB is, too
	t.eachNumber(f, func(s, unit string) {
		if p := pointOf(s); p != 0 {
			proved[p] = true
		} else if len(s) > 3 && strings.Trim(s, "0123456789") == "" {
			undivided = true
		}
		if of, both := twoWays(s); both && of == separator {
			small, large := readings(s)
			whole := fits(small, unit)
			rounded = rounded && (whole || fits(math.Ceil(small), unit) && units[cmp.Or(unit, t.place(f).unit)] >= units["gb"])
			fraction, thousands = fraction && whole, thousands && fits(large, unit)
		}
	})
	other := byte('.' + ',' - separator)
	proved[separator] = proved[separator] || undivided && rounded && !proved[other] // people copy rows together
	p := byte(0)
	switch {
	case proved[separator] && proved[other]:
	case proved[separator]:
		p = separator
	case proved[other]:
		p = other
	case rounded && !fraction && separator == t.rows.decimal(): // 4.096 GB
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

// eachNumber calls do for each non-empty cell of a column, without its unit.
func (t *table) eachNumber(f string, do func(s, unit string)) {
	rows, err := t.open()
	if err != nil {
		return // it was opened before: no result
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

// plausibleFrom are the smallest plausible amounts of columns that are never empty.
var plausibleFrom = map[string]float64{"Memory": 64 << 20, "# Memory": 1 << 30, "Speed": 100e6}

// plausible returns a function that reports whether an amount is plausible in a column: neither tiny nor larger than any machine,
// and for VMs a multiple of step.
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

// maxPlausible is the maximum memory of a machine in bytes and, much higher than any, the maximum frequency: no vSphere host has
// more than 24 TB.
const maxPlausible = 64 << 40
