package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"homenode/capture"
	"homenode/finding"
	"homenode/numa"
	"homenode/rule"
)

// What text, HTML and Markdown say of a recorded VM or node; "" is unknown.

func numberText(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func bytesText(b numa.Bytes) string {
	if b <= 0 {
		return ""
	}
	return b.String()
}

// homesOf returns the home nodes with their share of the time, the longest first:
// "0 72 %, 1 28 %".
func homesOf(v *capture.VM) string {
	if !v.HasHomes {
		return ""
	}
	homes := slices.Clone(v.Homes)
	slices.SortStableFunc(homes, func(a, b capture.HomeTime) int { return cmp.Compare(b.Time, a.Time) })
	var all time.Duration
	for _, h := range homes {
		all += h.Time
	}
	if all <= 0 {
		return nodesText(v.LastHomes)
	}
	const most = 3
	var parts []string
	for i, h := range homes {
		if i == most {
			parts = append(parts, "…")
			break
		}
		text := nodesText(h.Homes)
		if len(homes) > 1 {
			text += " for " + shareText(float64(h.Time)/float64(all))
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

// nodesText writes home nodes as esxtop does, or what no home node means.
func nodesText(s numa.NodeSet) string {
	if s == 0 {
		return "not managed"
	}
	return s.String()
}

// shareText writes a share in whole percent; what is not nothing is never 0 %.
func shareText(share float64) string {
	if share > 0 && share < 0.01 {
		return "< 1 %"
	}
	return strconv.Itoa(int(share*100+0.5)) + " %"
}

func leastText(v *capture.VM) string {
	if v.Least.Local+v.Least.Remote <= 0 {
		return ""
	}
	return rule.NL(leastLocality(v))
}

func meanText(v *capture.VM) string {
	share, ok := rule.MeanLocality(v)
	if !ok {
		return ""
	}
	return rule.NL(share)
}

func remoteText(v *capture.VM) string {
	switch {
	case !v.HasMemory:
		return ""
	case v.Remote.Most == 0:
		return "none"
	}
	return v.Remote.Most.String()
}

func migratedText(v *capture.VM) string {
	if !v.HasMoves {
		return ""
	}
	return strconv.FormatInt(v.Moves.All, 10)
}

// rateText writes a share of time with one digit below 10 %, where ready time matters.
func rateText(share float64) string {
	if p := share * 100; p < 9.95 {
		return fmt.Sprintf("%.1f %%", p)
	}
	return shareText(share)
}

func levelMean(l *capture.Level) string {
	share, ok := l.Mean()
	if !ok {
		return ""
	}
	return rateText(share)
}

func levelPeak(l *capture.Level) string {
	share, ok := l.Peak()
	if !ok {
		return ""
	}
	return rateText(share)
}

func leastFree(n *capture.Node) string {
	if n.Least < 0 {
		return ""
	}
	return n.Least.String()
}

// predicted says what the inventory lets expect: "2 clients on 2 nodes; guest sees 1 node".
func (v *capturedVM) predicted() string {
	if v.inFleet == nil || len(v.inFleet.On) == 0 {
		return ""
	}
	l := &v.inFleet.On[0].Layout
	if !l.Managed {
		return "not managed"
	}
	text := rule.Plural(l.PPDs.Len(), "client") + " on " + rule.Plural(l.HomeNodes, "node")
	if l.Wide() {
		text += "; guest sees " + guestSees(l)
	}
	return text
}

// ruleIDs returns the rules of findings, each once, in their order.
func ruleIDs(findings []*finding.Finding) []string {
	var ids []string
	for _, f := range findings {
		if !slices.Contains(ids, f.Rule) {
			ids = append(ids, f.Rule)
		}
	}
	return ids
}
