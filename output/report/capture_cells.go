package report

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"homenode/capture"
	"homenode/internal/words"
	"homenode/numa"
	"homenode/rules/finding"
	"homenode/rules/rule"
	"homenode/rules/verdict/recording"
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
		return recording.Nodes(v.LastHomes)
	}
	const most = 3
	var parts []string
	percents := wholePercents(homes, all)
	for i, h := range homes {
		if i == most {
			parts = append(parts, "…")
			break
		}
		text := recording.Nodes(h.Homes)
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

// leastText, meanText and remoteText say nothing of a VM whose N%L means nothing.
func leastText(v *recording.VM) string {
	share, ok := v.LeastLocality()
	if !ok || v.Blind {
		return ""
	}
	return rule.NL(share)
}

// meanText returns N%L over the whole time, which weighs each moment by its memory.
func meanText(v *recording.VM) string {
	share, ok := rule.MeanLocality(v.VM)
	if !ok || v.Blind {
		return ""
	}
	return rule.NL(share)
}

func remoteText(v *recording.VM) string {
	switch {
	case !v.HasMemory || v.Blind:
		return ""
	case v.Remote.Most == 0:
		return "none"
	}
	return v.Remote.Most.String()
}

// footnotes say what the columns of locality mean, and for which VMs nothing.
func footnotes(vms []*recording.VM) (notes []string) {
	var blind, several []string
	mean := false
	for _, v := range vms {
		switch {
		case v.Blind:
			blind = append(blind, v.Label)
		case v.HasMemory && v.SeveralHomes() && v.InFleet == nil:
			several = append(several, v.Label)
		}
		mean = mean || meanText(v) != ""
	}
	if mean {
		notes = append(notes, "MEAN is N%L over the whole time, by memory: local ÷ (local + remote), both added up over time.")
	}
	if len(blind) > 0 {
		notes = append(notes, words.Few(blind)+": N%L and remote memory are not measurable, the memory is interleaved over the home nodes (M006).")
	}
	if len(several) > 0 {
		notes = append(notes, words.Few(several)+": N%L counts all home nodes as local; with --fleet homenode knows whether the guest can place its memory.")
	}
	return notes
}

func migratedText(v *capture.VM) string {
	if !v.HasMoves {
		return ""
	}
	return strconv.FormatInt(v.Moves.All, 10)
}

func levelMean(l *capture.Level) string {
	share, ok := l.Mean()
	if !ok {
		return ""
	}
	return recording.Rate(share)
}

func levelPeak(l *capture.Level) string {
	share, ok := l.Peak()
	if !ok {
		return ""
	}
	return recording.Rate(share)
}

func leastFree(n *capture.Node) string {
	if n.Least < 0 {
		return ""
	}
	return n.Least.String()
}

// predicted says what the inventory lets expect: "2 clients on 2 nodes; guest sees 1 node".
func predictedText(v *recording.VM) string {
	if v.InFleet == nil || len(v.InFleet.On) == 0 {
		return ""
	}
	l := &v.InFleet.On[0].Layout
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
