package report

import (
	"fmt"
	"slices"
	"strings"

	"homenode/capture"
	"homenode/rules"
	"homenode/rules/finding"
	"homenode/rules/policy"
	"homenode/rules/rule"
)

// What the verdict may say of what was not found, and what it must not deny: findings that
// the configuration accepts, switches off or lowers.

// denied reports whether the configuration takes away a finding of medium or high severity
// of the rule, or may do so.
func (c *captured) denied(id string) bool {
	return c.Policy != nil && (c.Policy.Off[id] ||
		slices.ContainsFunc(c.Suppressed, func(s policy.Suppressed) bool { return s.Rule == id && s.Severity >= finding.Medium }) ||
		slices.ContainsFunc(c.Muted, func(m rules.Muted) bool { return m.Rule == id }) ||
		slices.ContainsFunc(c.Laxer, func(text string) bool { return strings.HasPrefix(text, id+".") }))
}

// nobodyLost says that no VM lost locality, as far as it is so; "" when no rule looked.
func (c *captured) nobodyLost() string {
	if c.denied("M001") || c.denied("M005") {
		return ""
	}
	var with, low []*capturedVM
	short := false
	for _, v := range c.vms {
		if !v.HasMemory {
			continue
		}
		with = append(with, v)
		if _, ok := v.lostFrom(finding.Info); ok {
			low = append(low, v)
		}
		short = short || v.Low.Count > 0
	}
	n, all := countVMs(with), countVMs(c.vms)
	if n == 0 {
		return ""
	}
	text := fmt.Sprintf("none of %s lost locality", plural(n, "VM"))
	if n < all {
		text = fmt.Sprintf("none of %s with N%%L lost locality (%d without)", plural(n, "VM"), all-n)
	}
	switch {
	case len(low) > 0:
		text += fmt.Sprintf(", except %s with findings of low severity", plural(countVMs(low), "VM"))
	case short:
		text += " for long"
	}
	return text
}

// noneOverloaded says that no node was overloaded, as far as it is so; "" when no rule
// looked, or the load of a node is not known.
func (c *captured) noneOverloaded() string {
	if c.denied("M004") || c.denied("M009") {
		return ""
	}
	text := "no node was overloaded while another one idled"
	for _, rec := range c.Recordings {
		if len(rec.Nodes) < 2 || slices.ContainsFunc(rec.Nodes, unstated) ||
			slices.ContainsFunc(c.hosts[rec], func(f *finding.Finding) bool { return f.Rule == unevenNodes }) {
			return "" // not known, or a finding of low severity
		}
		if rec.Imbalance.Count > 0 {
			text = "no node was overloaded for long while another one idled"
		}
	}
	return text
}

func unstated(n capture.Node) bool { _, ok := n.Busy.Peak(); return !ok }

// innocence says what did not happen; "" when nothing can be said.
func (c *captured) innocence() string {
	claims := slices.DeleteFunc([]string{c.nobodyLost(), c.noneOverloaded()}, func(s string) bool { return s == "" })
	return strings.Join(claims, ", and ")
}

// withheld says which findings of medium or high severity the configuration takes away:
// "3 accepted findings (M004, M009)". VMs that lost locality are counted beside the lost.
func (c *captured) withheld(lost []*capturedVM) (parts []string) {
	var accepted []string
	for _, s := range c.Suppressed {
		if s.Severity < finding.Medium || len(lost) > 0 && c.lostBy(&s.Finding) {
			continue
		}
		accepted = append(accepted, s.Rule)
	}
	muted := map[string][]string{}
	for _, m := range c.Muted {
		muted[m.Why] = append(muted[m.Why], m.Rule)
	}
	for _, one := range []struct {
		ids  []string
		noun string
	}{
		{accepted, "accepted finding"}, {muted[rules.MutedOff], "finding of rules that are off"},
		{muted[rules.MutedSeverity], "finding that a lower severity is set for"}, {muted[rules.MutedThresholds], "finding by the default thresholds alone"},
	} {
		if n := len(one.ids); n > 0 {
			first, rest, _ := strings.Cut(one.noun, "finding")
			text := fmt.Sprintf("%s%s (%s)", plural(n, first+"finding"), rest, strings.Join(distinctTexts(one.ids), ", "))
			parts = append(parts, text)
		}
	}
	return append(parts, c.Laxer...)
}

// distinctTexts returns the texts in order, each once.
func distinctTexts(texts []string) []string {
	out := slices.Clone(texts)
	slices.Sort(out)
	return slices.Compact(out)
}

// lostBy reports whether the finding says that its VM lost locality.
func (c *captured) lostBy(f *finding.Finding) bool {
	v := c.vmOf(f)
	return v != nil && v.lostAt(f) != nil
}

// moreLost counts the VMs that lost locality by findings that are accepted:
// " (2 more accepted)".
func (c *captured) moreLost(lost []*capturedVM) string {
	var more []*capturedVM
	for i := range c.Suppressed {
		f := &c.Suppressed[i].Finding
		if v := c.vmOf(f); v != nil && f.Severity >= finding.Medium && v.lostAt(f) != nil && !slices.Contains(lost, v) && !slices.Contains(more, v) {
			more = append(more, v)
		}
	}
	if len(more) == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d more accepted)", countVMs(more))
}

// rulesOff names the rules for recordings that are switched off.
func (c *captured) rulesOff() []string {
	return slices.DeleteFunc(c.OffRules(), func(id string) bool {
		one := c.Rule(id)
		return one == nil || one.Watch == nil
	})
}

// lostAt returns the longest stretch of low N%L or of much remote memory when the finding
// is about it and says that locality was lost, else nil.
func (v *capturedVM) lostAt(f *finding.Finding) *capture.Spell {
	if f.Rule != "M001" && f.Rule != "M005" {
		return nil
	}
	for _, s := range []*capture.Spells{&v.Low, &v.Far} {
		if s.Count > 0 && f.From.Equal(s.Longest.From) && f.To.Equal(s.Longest.To) {
			return &s.Longest
		}
	}
	return nil
}

// blind returns the VMs of which N%L and remote memory mean nothing, for drawings.
func (c *captured) blind() func(*capture.VM) bool {
	blind := map[*capture.VM]bool{}
	for _, v := range c.vms {
		blind[v.VM] = v.blind
	}
	return func(v *capture.VM) bool { return blind[v] }
}

// markBlind finds the VMs that M006 tells of for certain; that the finding is accepted or
// the rule is off changes nothing of it.
func (c *captured) markBlind() {
	mark := func(f *finding.Finding) {
		if f.Rule != "M006" || f.VMID == "" {
			return
		}
		if v := c.vmOf(f); v != nil {
			v.blind = true
		}
	}
	for i := range c.Findings {
		mark(&c.Findings[i])
	}
	for i := range c.Suppressed {
		mark(&c.Suppressed[i].Finding)
	}
	for i := range c.Muted {
		mark(&c.Muted[i].Finding)
	}
}

// severalHomes reports whether the VM had several home nodes at once.
func (v *capturedVM) severalHomes() bool {
	homes, _, ok := rule.Homes(v.VM)
	return ok && homes.Len() > 1
}
