package recording

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.org/homenode/capture"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/output/answer"
	"example.org/homenode/rules/rule"
	verdict "example.org/homenode/rules/verdict/recording"
)

// text returns a cell with s; "–" if it is empty.
func text(s string) answer.Cell { return answer.Cell{Text: cmp.Or(s, "–")} }

// number returns a cell with sort key n. An unknown value (empty s) sorts below all others.
func number(n float64, s string) answer.Cell {
	if s == "" {
		n = -1
	}
	return answer.Cell{Text: cmp.Or(s, "–"), Sort: strconv.FormatFloat(n, 'f', -1, 64)}
}

// share returns a cell with a share of time.
func share(n float64, ok bool) answer.Cell {
	if !ok {
		return number(0, "")
	}
	return number(n, words.Rate(n))
}

// count returns a cell with a number; 0 is unknown.
func count(n int) answer.Cell {
	if n == 0 {
		return number(0, "")
	}
	return number(float64(n), words.Thousands(n))
}

// memory returns a cell with an amount; 0 is unknown.
func memory(b numa.Bytes) answer.Cell {
	if b <= 0 {
		return number(0, "")
	}
	return number(float64(b), b.String())
}

// homeNodes formats home nodes as esxtop does; for no home node it states that the VM is not
// managed.
func homeNodes(s numa.NodeSet) string {
	if s == 0 {
		return "not managed"
	}
	return s.String()
}

// homes lists the home nodes with their share of the time, the longest first: "0 for 72 %; 1
// for 28 %".
func homes(v *capture.VM) string {
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
		return homeNodes(v.LastHomes)
	}
	const most = 3
	var parts []string
	percents := wholePercents(homes, all)
	for i, h := range homes {
		if i == most {
			parts = append(parts, "…")
			break
		}
		text := homeNodes(h.Homes)
		if len(homes) > 1 {
			text += " for " + percents[i]
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

// wholePercents returns the shares of times in whole percent. They add up to 100: the remainder
// of rounding down goes to the shares with the largest fractions. A positive share is never 0
// %.
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

// Texts about memory are empty for a VM whose N%L is meaningless.

func leastText(v *verdict.VM) string {
	share, ok := v.LeastLocality()
	if !ok || v.Blind {
		return ""
	}
	return rule.NL(share)
}

// meanText returns N%L over the whole time, weighted by memory.
func meanText(v *verdict.VM) string {
	share, ok := v.VM.MeanLocality()
	if !ok || v.Blind {
		return ""
	}
	return rule.NL(share)
}

func remoteText(v *verdict.VM) string {
	switch {
	case !v.HasMemory || v.Blind:
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

// predicted returns the prediction from the inventory: "2 clients on 2 nodes; guest sees 1
// node".
func predicted(v *verdict.VM) string {
	if v.InFleet == nil || len(v.InFleet.On) == 0 {
		return ""
	}
	l := &v.InFleet.On[0].Layout
	if !l.Managed {
		return "not managed"
	}
	text := words.Plural(l.PPDs.Len(), "client") + " on " + words.Plural(l.HomeNodes, "node")
	switch {
	case !l.Wide():
	case l.GuestSeesNUMA():
		text += "; guest sees " + words.Plural(l.VPDs.Len(), "node")
	default:
		text += "; guest sees 1 node"
	}
	return text
}

// moves returns the number of NUMA migrations on a host; "" if the recording lacks it.
func moves(rec *capture.Recording) string {
	if !slices.ContainsFunc(rec.VMs, func(v capture.VM) bool { return v.HasMoves }) {
		return ""
	}
	return words.Thousands(int(rec.Moves.Total))
}

// states lists the memory states of the host with their durations: "high, soft for 15 min".
func states(rec *capture.Recording) string {
	if !rec.HasStates {
		return ""
	}
	var parts []string
	for i, d := range rec.States {
		if d == 0 {
			continue
		}
		text := numa.MemoryState(i).String()
		if numa.MemoryState(i) > numa.High {
			text += " for " + words.Duration(d)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

// without returns the duration without ticks: the recording time minus the covered time.
func without(rec *capture.Recording) string {
	if gap := rec.Last.Sub(rec.First) - rec.Covered; gap >= time.Second {
		return words.Duration(gap)
	}
	return ""
}

// every returns the mean time between two ticks.
func every(rec *capture.Recording) string {
	if rec.Ticks < 2 || rec.Covered <= 0 {
		return ""
	}
	d := rec.Covered / time.Duration(rec.Ticks-1)
	if d < 10*time.Second {
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
	}
	return words.Duration(d.Round(time.Second))
}
