package calibrate

import (
	"strings"

	"example.org/homenode/numa/unit"
	"example.org/homenode/size/iocost"
)

// A Verdict is the result of comparing an own cost with the published one of the same kind.
type Verdict string

// The verdicts.
const (
	Agrees  Verdict = "agrees"                       // the ranges overlap
	Differs Verdict = "differs: outside both ranges" // on the same hardware, or on hardware that is not stated
	Other   Verdict = "other hardware"               // outside both ranges, as expected on other hardware
)

// A Comparison is an own cost with the published one of the same kind.
type Comparison struct {
	iocost.Kind
	Scope     Scope                    `json:"scope"`
	Own       unit.Figure[unit.Cycles] `json:"own"`
	Published unit.Figure[unit.Cycles] `json:"published"`
	Deviation unit.Share               `json:"deviation"` // own ÷ published − 1
	Verdict   Verdict                  `json:"verdict"`
}

// PublishedScope returns the scope of the published costs of a path: b-nvme measured the CPU of the
// guest, b-vsan that of the hosts.
func PublishedScope(path iocost.Path) Scope {
	if path == iocost.NVMe {
		return Guest
	}
	return Host
}

// Compare pairs each cost with the published one of its kind and scope. Unpublished kinds and lower
// bounds have no comparison.
func Compare(costs []Cost, published []iocost.Point) []Comparison {
	var out []Comparison
	for i := range costs {
		c := &costs[i]
		for j := range published {
			p := &published[j]
			if c.Scope != PublishedScope(p.Path) || p.Kind != c.Kind || !(p.PerIO.Value > 0) {
				continue
			}
			out = append(out, Comparison{
				Kind: c.Kind, Scope: c.Scope, Own: c.PerIO, Published: p.PerIO,
				Deviation: unit.Share(c.PerIO.Value/p.PerIO.Value - 1), Verdict: verdict(&c.PerIO, &p.PerIO),
			})
			break
		}
	}
	return out
}

func verdict(own, published *unit.Figure[unit.Cycles]) Verdict {
	switch {
	case own.Low <= published.High && published.Low <= own.High:
		return Agrees
	case own.Hardware != "" && published.Hardware != "" && !sameModel(own.Hardware, published.Hardware):
		return Other
	}
	return Differs
}

// sameModel reports whether two descriptions of hardware name the same processor model:
// "2 x Intel(R) Xeon(R) Gold 6544Y" and "Xeon Gold 6544Y" do.
func sameModel(a, b string) bool {
	for m := range models(a) {
		if models(b)[m] {
			return true
		}
	}
	return false
}

// models returns the words that can be a processor model: those with four digits in a row, such as
// 6544Y, E5-2620 and 9654. Names of servers have fewer, builds have more.
func models(s string) map[string]bool {
	out := map[string]bool{}
	for _, word := range strings.FieldsFunc(strings.ToUpper(s), func(r rune) bool { return strings.ContainsRune(" ,;()×@/", r) }) {
		digits, most := 0, 0
		for _, r := range word {
			if digits++; r < '0' || r > '9' {
				digits = 0
			}
			most = max(most, digits)
		}
		if most == 4 && !strings.HasSuffix(word, "HZ") {
			out[word] = true
		}
	}
	return out
}
