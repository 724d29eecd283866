package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"homenode/capture"
	"homenode/numa"
	"homenode/rules/finding"
	"homenode/rules/rule"
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
	percents := wholePercents(homes, all)
	for i, h := range homes {
		if i == most {
			parts = append(parts, "…")
			break
		}
		text := nodesText(h.Homes)
		if len(homes) > 1 {
			text += " for " + percents[i]
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

// wholePercents returns the shares of times in whole percent that add up to 100: what
// rounding down takes goes to those that lose most by it. What is not nothing is never 0 %.
func wholePercents(homes []capture.HomeTime, all time.Duration) []string {
	percents, rests := make([]int, len(homes)), make([]int, len(homes))
	left := 100
	for i, h := range homes {
		share := float64(h.Time) / float64(all) * 100
		percents[i], rests[i] = int(share), i
		left -= percents[i]
	}
	rest := func(i int) float64 { return float64(homes[i].Time)/float64(all)*100 - float64(percents[i]) }
	slices.SortStableFunc(rests, func(a, b int) int { return cmp.Compare(rest(b), rest(a)) })
	for _, i := range rests[:min(max(left, 0), len(rests))] {
		percents[i]++
	}
	out := make([]string, len(homes))
	for i, h := range homes {
		switch {
		case h.Time > 0 && float64(h.Time)/float64(all) < 0.01:
			out[i] = "< 1 %"
		case h.Time < all && percents[i] == 100:
			out[i] = "> 99 %"
		default:
			out[i] = strconv.Itoa(percents[i]) + " %"
		}
	}
	return out
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

// leastText, meanText and remoteText say nothing of a VM whose N%L means nothing.
func (v *capturedVM) leastText() string {
	if v.Least.Local+v.Least.Remote <= 0 || v.blind {
		return ""
	}
	return rule.NL(leastLocality(v.VM))
}

// meanText returns N%L over the whole time, which weighs each moment by its memory.
func (v *capturedVM) meanText() string {
	share, ok := rule.MeanLocality(v.VM)
	if !ok || v.blind {
		return ""
	}
	return rule.NL(share)
}

func (v *capturedVM) remoteText() string {
	switch {
	case !v.HasMemory || v.blind:
		return ""
	case v.Remote.Most == 0:
		return "none"
	}
	return v.Remote.Most.String()
}

// footnotes say what the columns of locality mean, and for which VMs nothing.
func footnotes(vms []*capturedVM) (notes []string) {
	var blind, several []string
	mean := false
	for _, v := range vms {
		switch {
		case v.blind:
			blind = append(blind, v.label)
		case v.HasMemory && v.severalHomes() && v.inFleet == nil:
			several = append(several, v.label)
		}
		mean = mean || v.meanText() != ""
	}
	if mean {
		notes = append(notes, "MEAN is N%L over the whole time, by memory: local ÷ (local + remote), both added up over time.")
	}
	if len(blind) > 0 {
		notes = append(notes, namesText(blind)+": N%L and remote memory are not measurable, the memory is interleaved over the home nodes (M006).")
	}
	if len(several) > 0 {
		notes = append(notes, namesText(several)+": N%L counts all home nodes as local; with --fleet homenode knows whether the guest can place its memory.")
	}
	return notes
}

// namesText lists names, the first few of many.
func namesText(names []string) string {
	const most = 5
	if n := len(names); n > most+1 {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", n-most)
	}
	return strings.Join(names, ", ")
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
