package recording

import (
	"fmt"
	"slices"
	"time"

	"example.org/homenode/internal/words"
	"example.org/homenode/rules/check/lowlocality"
	"example.org/homenode/rules/rule"
)

// oftenLow describes a VM whose N%L was low most of the time, or on average over a window in which one spell that is no finding cannot explain it,
// although no spell lasted; "" if there is none.
func (j *Judged) oftenLow() string {
	for _, v := range slices.SortedStableFunc(slices.Values(j.VMs), byWeight) {
		limit := rule.NL(v.Rec.Options.Locality)
		if _, said := v.lostFrom(0); said || v.Low.Count == 0 || j.harmless(v) {
			continue
		}
		if 2*v.Low.Time >= v.Managed {
			return fmt.Sprintf("N%%L of %s was below %s most of the time, though no rule counts it as a finding", v.Label, limit)
		}
		if share, from, to := j.leastMean(v); !from.IsZero() {
			return fmt.Sprintf("N%%L of %s was %s on average from %s, below %s again and again (%s, the longest %s), though no rule counts it as a finding",
				v.Label, rule.NL(share), j.Clock.Span(from, to), limit, words.Plural(v.Low.Count, "time"), words.Duration(v.Low.Longest.Length()))
		}
	}
	return ""
}

// harmless reports whether low N%L of the VM would be of low severity in M001.
func (j *Judged) harmless(v *VM) bool {
	idle, little := lowlocality.Harmless(v.VM, func(name string) float64 { return j.Threshold(lowLocality, name) })
	return idle || little
}

// leastMean returns the mean N%L of the VM over the window with the most remote memory, and its period; no period if it is not low. A spell of the minutes that M001 accepts,
// even without any local memory, leaves the mean of minutes ÷ (1 − limit), with the defaults 25 minutes, at the limit.
func (j *Judged) leastMean(v *VM) (share float64, from, to time.Time) {
	limit, line := v.Rec.Options.Locality, &v.Timeline
	accepted := j.Threshold(lowLocality, "minutes") * float64(time.Minute)
	if limit >= 1 {
		return 0, from, to
	}
	window := accepted / (1 - limit)
	var local, remote int64
	buckets := line.Buckets()
	worst := 0.0 // the time that the remote share amounts to
	for first, last := 0, 0; last < len(buckets); last++ {
		local, remote = local+buckets[last].Local, remote+buckets[last].Remote
		for float64(last-first)*float64(line.Width) >= window && first < last {
			local, remote = local-buckets[first].Local, remote-buckets[first].Remote
			first++
		}
		start, end := line.Time(first), line.Time(last+1)
		if start.Before(v.First) {
			start = v.First
		}
		if end.After(v.Last) {
			end = v.Last
		}
		whole := float64(end.Sub(start))
		mean := float64(local) / float64(max(local+remote, 1))
		if away := (1 - mean) * whole; local+remote > 0 && away > max(worst, (1-limit)*max(whole, window)) {
			worst, share, from, to = away, mean, start, end
		}
	}
	return share, from, to
}
