package openmetrics

import (
	"math"
	"strconv"
	"strings"

	"example.org/homenode/capture/export/series"
)

// FamilyName returns the name of the family of a counter, by its number in series.All. The set of home nodes becomes one metric
// for each node, because bit masks are of no use in PromQL.
func FamilyName(counter int, name string) string {
	if counter == series.HomeNodes {
		name = strings.TrimSuffix(name, "s")
	}
	return "homenode_" + name
}

// HeadOf returns the type and the help of a counter. since names the start of event counts.
func HeadOf(c *series.Counter, counter int, since string) (kind, help string) {
	kind, help = "gauge", c.Help
	if c.Events {
		kind, help = "counter", help+", since "+since
	}
	if counter == series.HomeNodes {
		help = "Whether the node is a home node of the VM, 1 or 0"
	}
	return kind, help
}

// AppendHead appends the description of a family; unit is empty for a plain number.
func AppendHead(b []byte, name, kind, unit, help string) []byte {
	b = append(append(append(append(append(b, "# TYPE "...), name...), ' '), kind...), '\n')
	if unit != "" {
		b = append(append(append(append(append(b, "# UNIT "...), name...), ' '), unit...), '\n')
	}
	b = append(append(append(append(b, "# HELP "...), name...), ' '), escaper.Replace(help)...)
	return append(b, ".\n"...)
}

// escaper escapes quoted text as the format requires.
var escaper = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// text returns a name with U+FFFD for bytes that are not UTF-8, which the format does not allow.
func text(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// AppendLabel appends a label, after a comma unless it is the first.
func AppendLabel(b []byte, name, value string) []byte {
	if len(b) > 0 {
		b = append(b, ',')
	}
	b = append(append(b, name...), `="`...)
	b = append(b, escaper.Replace(text(value))...)
	return append(b, '"')
}

// AppendNumber appends a value.
func AppendNumber(b []byte, number float64) []byte {
	if number == math.Trunc(number) && math.Abs(number) <= 1<<53 {
		return strconv.AppendInt(b, int64(number), 10)
	}
	return strconv.AppendFloat(b, number, 'g', -1, 64)
}

// appendPoint appends value and time: "2147483648 1795089600.25".
func appendPoint(b []byte, p point) []byte {
	b = AppendNumber(b, p.number)
	b = strconv.AppendInt(append(b, ' '), p.at/1000, 10)
	if ms := p.at % 1000; ms != 0 {
		b = append(b, '.', byte('0'+ms/100), byte('0'+ms/10%10), byte('0'+ms%10))
	}
	return b
}
