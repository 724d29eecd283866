package openmetrics

import (
	"math"
	"strconv"
	"strings"

	"homenode/capture/export/series"
)

// familyName returns the name of a counter's family. The one set of nodes is a metric for each
// node: bit masks are no use in PromQL.
func familyName(counter int, name string) string {
	if counter == series.HomeNodes {
		name = strings.TrimSuffix(name, "s")
	}
	return "homenode_" + name
}

// appendHead appends the description of a family.
func appendHead(b []byte, name string, c *series.Counter, counter int) []byte {
	kind, help := "gauge", c.Help
	if c.Events {
		kind, help = "counter", help+", since the capture began"
	}
	if counter == series.HomeNodes {
		help = "Whether the node is a home node of the VM, 1 or 0"
	}
	b = append(append(append(append(append(b, "# TYPE "...), name...), ' '), kind...), '\n')
	if c.Unit != "" {
		b = append(append(append(append(append(b, "# UNIT "...), name...), ' '), c.Unit...), '\n')
	}
	b = append(append(append(append(b, "# HELP "...), name...), ' '), escaper.Replace(help)...)
	return append(b, ".\n"...)
}

// escaper is for texts in quotes; all that the format wants escaped.
var escaper = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// text returns a name with U+FFFD for bytes that are not UTF-8: the format knows no others.
func text(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// appendLabel appends a label, after a comma when there is one before.
func appendLabel(b []byte, name, value string) []byte {
	if len(b) > 0 {
		b = append(b, ',')
	}
	b = append(append(b, name...), `="`...)
	b = append(b, escaper.Replace(value)...)
	return append(b, '"')
}

// appendPoint appends value and time: "2147483648 1795089600.25".
func appendPoint(b []byte, p point) []byte {
	if p.number == math.Trunc(p.number) && math.Abs(p.number) <= 1<<53 {
		b = strconv.AppendInt(b, int64(p.number), 10)
	} else {
		b = strconv.AppendFloat(b, p.number, 'g', -1, 64)
	}
	b = strconv.AppendInt(append(b, ' '), p.at/1000, 10)
	if ms := p.at % 1000; ms != 0 {
		b = append(b, '.', byte('0'+ms/100), byte('0'+ms/10%10), byte('0'+ms%10))
	}
	return b
}
