package unit

import (
	"math"
	"strconv"
	"strings"
)

// A Check is one figure of an article with the value recomputed from the article's own raw figures and formulas.
type Check struct {
	ID       string // experiment, such as "b-vsan"
	What     string // such as "32 KiB read random"
	Quantity string // with its unit: "Hz per b/s"
	Printed  string // as the article prints it: "~2.5", "1,825"
	Computed float64
	// Kind is empty for a figure that follows from others of the article by its formulas.
	Kind CheckKind
	// Within is the allowed deviation when the article rounds more coarsely than its last digit
	// shows ("60 %", to tens; 47,650), or its raw figures do; Note has the reason. 0: half its last digit.
	Within float64
	// Inconsistency is the id in the record's list ("I-8") when the article contradicts its own
	// arithmetic here; Note explains it.
	Inconsistency string
	Note          string
}

// A CheckKind marks a Check that is weaker evidence than a computed one.
type CheckKind string

// The weaker kinds.
const (
	UnitChange CheckKind = "unit"     // the same figure of the article in another unit
	Circular   CheckKind = "circular" // not printed, or an input of the computation
)

// number returns the first number of the printed text, and half a unit of its last digit. "+21%" is
// 21 by 0.5; signs count.
func (p *Check) number() (v, half float64, ok bool) {
	s := strings.NewReplacer(",", "", "~", "", "−", "-", "+", "", " ", "").Replace(p.Printed)
	end := 0
	for end < len(s) && (s[end] >= '0' && s[end] <= '9' || s[end] == '.' || end == 0 && s[end] == '-') {
		end++
	}
	v, err := strconv.ParseFloat(s[:end], 64)
	if err != nil {
		return 0, 0, false
	}
	digits := 0
	if _, after, found := strings.Cut(s[:end], "."); found {
		digits = len(after)
	}
	return v, math.Pow(10, -float64(digits)) / 2, true
}

// Reproduced reports whether the computed figure rounds to the printed one: it lies within half a
// unit of its last digit. A figure marked "~" may be off by a whole unit; Within allows more.
func (p *Check) Reproduced() bool {
	v, half, ok := p.number()
	if strings.Contains(p.Printed, "~") {
		half *= 2
	}
	return ok && math.Abs(p.Computed-v) <= max(half, p.Within)*(1+1e-9)
}

// Deviation returns computed ÷ printed − 1; false if nothing, or 0, is printed.
func (p *Check) Deviation() (Share, bool) {
	v, _, ok := p.number()
	if !ok || v == 0 {
		return 0, false
	}
	return Share(p.Computed/v - 1), true
}

// Verdict returns "restated" for a figure that is reproduced, since it follows from other figures
// of its article and predicts nothing; "unit" and "circular" for the weaker kinds; the
// inconsistency of the article; or "MISSED": a figure that is neither reproduced nor explained.
func (p *Check) Verdict() string {
	switch {
	case p.Kind == Circular:
		return string(Circular)
	case p.Reproduced() && p.Kind != "":
		return string(p.Kind)
	case p.Reproduced():
		return "restated"
	case p.Inconsistency != "":
		return p.Inconsistency
	}
	return "MISSED"
}
