package experiment

import (
	"math"
	"strconv"
	"strings"

	"example.org/homenode/numa"
	"example.org/homenode/numa/unit"
)

// A kind is the type of a value.
type kind uint8

const (
	kindNumber kind = iota
	kindBytes
	kindPercent
	kindNodes
)

func (k kind) String() string {
	return [...]string{"a number", "memory", "a share", "nodes"}[k]
}

func (k kind) example() string {
	return [...]string{"a number such as 2", "memory such as 7278MB", "a share such as 98%", "nodes such as 0,1 or - for none"}[k]
}

// A value is one side of a want: one number, its minimum and maximum over a stretch of time, or
// an estimate with its interval. Shares are in percent.
type value struct {
	kind      kind
	low, high float64
	middle    float64 // of an estimate
	estimate  bool
	nodes     []numa.NodeSet // all occurring values, in time order
	gigabytes bool           // the unit in the text
	unknown   string         // reason if it is unknown
}

func exactly(k kind, x float64) value { return value{kind: k, low: x, high: x, middle: x} }

// parseValue parses a value of the kind.
func parseValue(text string, k kind) (value, bool) {
	number := func(s string) (float64, bool) {
		x, err := strconv.ParseFloat(s, 64)
		return x, err == nil && !math.IsNaN(x) && math.Abs(x) < 1e15 && !strings.ContainsAny(s, "xX_")
	}
	v := value{kind: k}
	x, ok := 0.0, false
	switch k {
	case kindNumber:
		x, ok = number(text)
	case kindPercent:
		s, is := strings.CutSuffix(text, "%")
		x, ok = number(s)
		ok = ok && is
	case kindBytes:
		if text == "0" {
			return v, true
		}
		for unit, size := range map[string]numa.Bytes{"MB": numa.MiB, "GB": numa.GiB} {
			if s, is := strings.CutSuffix(text, unit); is {
				x, ok = number(s)
				x *= float64(size)
				v.gigabytes = unit == "GB"
			}
		}
	case kindNodes:
		var set numa.NodeSet
		if text != "-" {
			for s := range strings.SplitSeq(text, ",") {
				n, err := strconv.Atoi(s)
				if err != nil || n < 0 || n >= numa.MaxNodes {
					return v, false
				}
				set |= numa.SetOf(n)
			}
		}
		v.nodes = []numa.NodeSet{set}
		return v, true
	}
	v.low, v.high, v.middle = x, x, x
	return v, ok
}

// String returns the value as in tables.
func (v value) String() string {
	if v.unknown != "" {
		return "unknown: " + v.unknown
	}
	if v.kind == kindNodes {
		var parts []string
		for _, n := range v.nodes {
			if s := n.String(); len(parts) == 0 || parts[len(parts)-1] != s {
				parts = append(parts, s)
			}
		}
		return strings.Join(parts, " → ")
	}
	low, high := v.number(v.low), v.number(v.high)
	switch {
	case v.estimate:
		return v.number(v.middle) + " (" + low + " to " + high + ")"
	case low != high:
		return low + " to " + high
	}
	return low
}

func (v value) number(x float64) string {
	switch v.kind {
	case kindBytes:
		if v.gigabytes {
			return short(x/float64(numa.GiB), 1) + " GB"
		}
		return unit.Grouped(math.Round(x/float64(numa.MiB)), 0) + " MB"
	case kindPercent:
		return short(x, 1) + " %"
	}
	return short(x, 1)
}

// short formats at most so many digits after the point, without trailing zeros.
func short(x float64, digits int) string {
	s := strconv.FormatFloat(x, 'f', digits, 64)
	if s = strings.TrimSuffix(s, ".0"); s == "-0" {
		return "0"
	}
	return s
}

// combine returns a - b or a / b.
func combine(a value, op string, b value) value {
	if a.unknown != "" || op == "" {
		return a
	}
	if b.unknown != "" {
		return b
	}
	if op == "-" {
		a.low, a.middle, a.high = a.low-b.high, a.middle-b.middle, a.high-b.low
		a.estimate = a.estimate || b.estimate
		return a
	}
	if b.low <= 0 {
		return value{kind: kindPercent, unknown: "a share of nothing"}
	}
	return value{kind: kindPercent, low: 100 * a.low / b.high, middle: 100 * a.middle / b.middle, high: 100 * a.high / b.low, estimate: a.estimate || b.estimate}
}

// rounding is the tolerance for computed numbers.
const rounding = 1e-9

// holds reports whether the relation between the model's value and the published one is true.
// Over a stretch of time it must be true all the time. For an estimate the published value must
// lie in the interval; < and > compare its middle.
func holds(model value, relation string, published value, tolerance float64) bool {
	if model.unknown != "" || published.unknown != "" {
		return false
	}
	if model.kind == kindNodes {
		for _, a := range model.nodes {
			for _, b := range published.nodes {
				if (a == b) != (relation == "=") {
					return false
				}
			}
		}
		return true
	}
	slack := tolerance + rounding*max(1, math.Abs(published.low))
	low, high := model.low, model.high
	if model.estimate && relation != "=" {
		low, high = model.middle, model.middle
	}
	if published.estimate && relation != "=" {
		published.low, published.high = published.middle, published.middle
	}
	switch relation {
	case "=":
		if model.estimate {
			return published.low >= low-slack && published.high <= high+slack
		}
		return low >= published.high-slack && high <= published.low+slack
	case "!=":
		return high < published.low || low > published.high
	case "<":
		return high < published.low
	case "<=":
		return high <= published.low+slack
	case ">":
		return low > published.high
	}
	return low >= published.high-slack
}
