package recording

import (
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/capture"
	"example.org/homenode/internal/words"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/policy"
)

// Statements of the verdict about the absence of findings. They must not contradict findings
// that the configuration accepts, switches off or lowers, or that are not shown.

// denied reports whether the configuration hides, or may hide, a finding of medium or high
// severity of the rule, or whether one is not shown.
func (j *Judged) denied(id string) bool {
	return slices.ContainsFunc(j.Muted, func(m rules.Muted) bool { return m.Rule == id }) || j.Policy != nil && (j.Policy.Off[id] ||
		slices.ContainsFunc(j.Suppressed, func(s policy.Suppressed) bool { return s.Rule == id && s.Severity >= finding.Medium }) ||
		slices.ContainsFunc(j.Laxer, func(text string) bool { return strings.HasPrefix(text, id+".") }))
}

// noneLost states that no VM lost locality, as far as that is known; "" if no rule checked it.
func (j *Judged) noneLost() string {
	if j.denied("M001") || j.denied("M005") {
		return ""
	}
	var with, low []*VM
	short := false
	for _, v := range j.VMs {
		if _, ok := v.LeastLocality(); !ok {
			continue
		}
		with = append(with, v)
		if _, ok := v.lostFrom(finding.Info); ok {
			low = append(low, v)
		}
		short = short || v.Low.Count > 0
	}
	n, all := CountVMs(with), CountVMs(j.VMs)
	if n == 0 {
		return ""
	}
	text := fmt.Sprintf("none of %s lost locality", words.Plural(n, "VM"))
	if n < all {
		text = fmt.Sprintf("none of %s with N%%L lost locality (%d without)", words.Plural(n, "VM"), all-n)
	}
	switch {
	case len(low) > 0:
		text += fmt.Sprintf(", except %s with findings of low severity", words.Plural(CountVMs(low), "VM"))
	case short:
		text += " for long"
	}
	return text
}

// noneOverloaded states that no node was overloaded, as far as that is known; "" if no rule
// checked it, or the load of a node is unknown.
func (j *Judged) noneOverloaded() string {
	if j.denied("M004") || j.denied("M009") {
		return ""
	}
	text := "no node was overloaded while another one idled"
	for _, rec := range j.Recordings {
		if len(rec.Nodes) < 2 || slices.ContainsFunc(rec.Nodes, unstated) ||
			slices.ContainsFunc(j.OfHost[rec], func(f *finding.Finding) bool { return f.Rule == unevenNodes }) {
			return "" // unknown, or a finding of low severity
		}
		if rec.Imbalance.Count > 0 {
			text = "no node was overloaded for long while another one idled"
		}
	}
	return text
}

func unstated(n capture.Node) bool { _, ok := n.Busy.Peak(); return !ok }

// innocence describes the problems that did not occur; "" if nothing can be stated.
func (j *Judged) innocence() string {
	return words.Join(", and ", j.noneLost(), j.noneOverloaded())
}

// withheld lists the findings of medium or high severity that the configuration or the filter
// hides: "3 accepted findings (M004, M009)". VMs that lost locality are counted with the lost
// ones.
func (j *Judged) withheld(lost []*VM) (parts []string) {
	var accepted []string
	for _, s := range j.Suppressed {
		if s.Severity < finding.Medium || len(lost) > 0 && j.lostBy(&s.Finding) {
			continue
		}
		accepted = append(accepted, s.Rule)
	}
	muted := map[string][]string{}
	for _, m := range j.Muted {
		if m.Severity >= finding.Medium {
			muted[m.Why] = append(muted[m.Why], m.Rule)
		}
	}
	for _, one := range []struct {
		ids  []string
		noun string
	}{
		{accepted, "accepted finding"}, {muted[rules.MutedOff], "finding of rules that are off"},
		{muted[rules.MutedSeverity], "finding that a lower severity is set for"}, {muted[rules.MutedThresholds], "finding by the default thresholds alone"},
		{muted[rules.MutedFilter], "finding excluded by the filter"},
	} {
		if n := len(one.ids); n > 0 {
			first, rest, _ := strings.Cut(one.noun, "finding")
			text := fmt.Sprintf("%s%s (%s)", words.Plural(n, first+"finding"), rest, strings.Join(slices.Compact(slices.Sorted(slices.Values(one.ids))), ", "))
			parts = append(parts, text)
		}
	}
	return append(parts, j.Laxer...)
}

// lostBy reports whether the finding means that its VM lost locality.
func (j *Judged) lostBy(f *finding.Finding) bool {
	v := j.VMOf(f)
	return v != nil && v.lostAt(f) != nil
}

// moreLost counts the VMs that lost locality according to accepted findings: " (2 more
// accepted)".
func (j *Judged) moreLost(lost []*VM) string {
	var more []*VM
	for i := range j.Suppressed {
		f := &j.Suppressed[i].Finding
		if v := j.VMOf(f); v != nil && f.Severity >= finding.Medium && v.lostAt(f) != nil && !slices.Contains(lost, v) && !slices.Contains(more, v) {
			more = append(more, v)
		}
	}
	if len(more) == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d more accepted)", CountVMs(more))
}

// lostBefore counts the VMs whose memory was remote when the recording began: ", 2 of them before the capture began".
func (j *Judged) lostBefore(lost []*VM) string {
	var early []*VM
	for _, v := range lost {
		if spell, ok := v.lost(); ok && spell.From.Equal(v.Rec.First) {
			early = append(early, v)
		}
	}
	switch n := CountVMs(early); {
	case n == 0:
		return ""
	case n == CountVMs(lost):
		return ", before " + j.Words.The + " began"
	default:
		return fmt.Sprintf(", %d of them before %s began", n, j.Words.The)
	}
}

// rulesOff names the rules for recordings that are switched off.
func (j *Judged) rulesOff() []string {
	return slices.DeleteFunc(j.OffRules(), func(id string) bool {
		one := j.Rule(id)
		return one == nil || one.Watch == nil
	})
}
