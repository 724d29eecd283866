package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"homenode/capture"
	"homenode/numa"
	"homenode/rules/finding"
	"homenode/rules/rule"
)

// verdict answers the question of a capture in one sentence: was it NUMA? rest says what
// that leaves open, and what it rests on.
func (c *captured) verdict() (verdict, rest string) {
	if c.sim == nil {
		return c.answer()
	}
	if c.sim.Watched == nil {
		return c.sim.summary()
	}
	verdict, rest = c.answer()
	return c.simulatedVerdict(verdict, rest)
}

// answer judges what was recorded or simulated.
func (c *captured) answer() (verdict, rest string) {
	if len(c.vms) == 0 {
		return "Nothing can be said about NUMA: no VM was " + c.words().seen + ".", c.howToGet()
	}
	var lost, hurt []*capturedVM
	for _, v := range slices.SortedStableFunc(slices.Values(c.vms), byWeight) {
		if _, ok := v.lost(); ok {
			lost = append(lost, v)
		} else if c.harm(v.findings) != nil {
			hurt = append(hurt, v)
		}
	}
	hosts := 0
	for _, findings := range c.hosts {
		if c.harm(findings) != nil {
			hosts++
		}
	}
	where := c.stretch()
	none := c.nobodyLost() != ""
	switch open := c.withheld(lost); {
	case len(lost) > 0:
		verdict = fmt.Sprintf("%d of %s lost locality%s %s; most remote memory over time: %s.", countVMs(lost), plural(countVMs(c.vms), "VM"), c.moreLost(lost), where, c.worstText(lost))
	case len(hurt) > 0:
		though := ""
		if none {
			though = ", though none lost locality"
		}
		verdict = fmt.Sprintf("NUMA had a part in it: %d of %s had trouble with it %s%s: first of all %s: %s.",
			countVMs(hurt), plural(countVMs(c.vms), "VM"), where, though, hurt[0].label, c.findingText(c.harm(hurt[0].findings)))
	case hosts > 0:
		though := ""
		if none {
			though = "no VM lost locality, but "
		}
		verdict = fmt.Sprintf("NUMA had a part in it %s: %s%s.", where, though, c.hostText())
	case !c.judgeable():
		return "Nothing can be said about NUMA: " + c.words().the + " has none of its counters.", "A host of one NUMA node has none; else they are there when it is recorded with esxtop -b -a."
	case len(open) > 0:
		verdict = fmt.Sprintf("NUMA cannot be ruled out %s: %s.", where, strings.Join(open, "; "))
	case c.momentary():
		verdict = fmt.Sprintf("NUMA cannot be ruled out: %s, but %s.", c.sawText(), c.momentsText())
	case c.tooShort():
		verdict = fmt.Sprintf("NUMA cannot be ruled out: %s %s, but that is too short: rules look for minutes.", c.sawText(), where)
	case c.lacksLocality():
		verdict = fmt.Sprintf("NUMA cannot be ruled out %s: nothing was found, but %s lacks what would show it.", where, c.words().the)
	case c.mostlyLow() != nil:
		v := c.mostlyLow()
		verdict = fmt.Sprintf("NUMA cannot be ruled out %s: N%%L of %s was below %s most of the time, though no rule counts it as a finding.",
			where, v.label, rule.NL(v.rec.Options.Locality))
	case c.innocence() == "":
		verdict = fmt.Sprintf("NUMA cannot be ruled out %s: nothing was found, but neither N%%L nor the load of the nodes was judged.", where)
	default:
		verdict = fmt.Sprintf("NUMA was not the cause %s: %s.", where, c.innocence())
	}
	return verdict, c.rest(lost, hurt, hosts)
}

func (c *captured) rest(lost, hurt []*capturedVM, hosts int) string {
	var parts []string
	if n := countVMs(hurt); len(lost) > 0 && n > 0 {
		parts = append(parts, fmt.Sprintf("%s had trouble of another kind, first of all %s: %s.", plural(n, "more VM"), hurt[0].label, c.findingText(c.harm(hurt[0].findings))))
	}
	if hosts > 0 && (len(lost) > 0 || len(hurt) > 0) {
		parts = append(parts, fmt.Sprintf("%s findings of medium or high severity.", verb(hosts, "host itself has", "hosts themselves have")))
	}
	parts = append(parts, c.besideText())
	if len(lost) == 0 && len(hurt) == 0 && hosts == 0 {
		if n := len(c.Findings) - c.AtLeast(finding.Medium); n > 0 {
			parts = append(parts, fmt.Sprintf("%s of low severity or for information.", plural(n, "finding")))
		}
		parts = append(parts, c.lookedAt(), c.tooShortText(), c.spreadText())
	} else if open := c.withheld(lost); len(open) > 0 {
		parts = append(parts, "Not counted: "+strings.Join(open, "; ")+".")
	}
	if off := c.rulesOff(); len(off) > 0 {
		parts = append(parts, fmt.Sprintf("Switched off by %s: %s.", c.Policy.File, strings.Join(off, ", ")))
	}
	parts = slices.DeleteFunc(append(parts, c.howToGet()), func(s string) bool { return s == "" })
	return strings.Join(parts, " ")
}

// mostlyLow returns a VM whose N%L was low most of the time and that no finding is about: a
// capture can be too short for one. It is nil when there is none.
func (c *captured) mostlyLow() *capturedVM {
	for _, v := range c.vms {
		if len(v.findings) == 0 && v.Low.Count > 0 && 2*v.Low.Time >= v.Managed {
			return v
		}
	}
	return nil
}

// stretch returns "in 4 h 10 min on esx07".
func (c *captured) stretch() string {
	if c.momentary() {
		return fmt.Sprintf("in what was %s on %s", c.words().seen, plural(len(c.Recordings), "host"))
	}
	if len(c.Recordings) == 1 {
		rec := c.Recordings[0]
		return fmt.Sprintf("in %s on %s", rule.Duration(rec.Covered), rec.Host)
	}
	return fmt.Sprintf("in %s on %s", rule.Duration(c.last.Sub(c.first)), plural(len(c.Recordings), "host"))
}

// worstText names the VM that had the most remote memory over time, and when it was worst:
// "kafka01, 46 GB on average, up to 37 % of its memory from 01:00 to 05:00".
func (c *captured) worstText(lost []*capturedVM) string {
	worst := slices.MaxFunc(lost, func(a, b *capturedVM) int { return compareSums(&a.Remote.Sum, &b.Remote.Sum) })
	spell, _ := worst.lost()
	name := worst.label
	if len(c.Recordings) > 1 {
		name += " on " + worst.rec.Host
	}
	if mean, ok := worst.Remote.Mean(worst.Managed); ok {
		name += fmt.Sprintf(", %s on average in %s", mean-mean%numa.MiB, rule.Duration(worst.Managed))
	}
	when := c.clock.span(spell.From, spell.To)
	if spell == &worst.Far.Longest {
		return fmt.Sprintf("%s, up to %s from %s", name, numa.Bytes(spell.Worst), when)
	}
	return fmt.Sprintf("%s, up to %d %% of its memory from %s", name, 100-percentLocal(spell.Worst), when)
}

// percentLocal returns N%L as esxtop shows it: whole percent, truncated.
func percentLocal(share float64) int { return int(share*100 + 1e-9) }

// findingText is what a finding says, in the middle of a sentence.
func (c *captured) findingText(f *finding.Finding) string {
	text := f.Title
	if !f.From.IsZero() && f.From.Before(f.To) {
		text += ", " + c.clock.span(f.From, f.To)
	}
	return text
}

// hostText says what was found about the first host with findings that matter.
func (c *captured) hostText() string {
	for _, rec := range c.Recordings {
		if f := c.harm(c.hosts[rec]); f != nil {
			return "on " + rec.Host + " " + c.findingText(f)
		}
	}
	return ""
}

// lacksLocality reports whether N%L of no VM is known.
func (c *captured) lacksLocality() bool {
	return !slices.ContainsFunc(c.vms, func(v *capturedVM) bool { return v.HasMemory })
}

// lookedAt says what the verdict rests on when nothing was found.
func (c *captured) lookedAt() string {
	var parts []string
	var memory []*capturedVM
	homes, ready := 0, 0
	moves := int64(0)
	moved := false
	var least *capturedVM
	for _, v := range c.vms {
		if v.HasMemory {
			memory = append(memory, v)
			if v.Least.Local+v.Least.Remote > 0 && (least == nil || leastLocality(v.VM) < leastLocality(least.VM)) {
				least = v
			}
		}
		if v.HasHomes {
			homes++
		}
		if v.HasMoves {
			moved = true
			moves += v.Moves.All
		}
		if _, ok := v.Ready.Peak(); ok {
			ready++
		}
	}
	if len(memory) > 0 {
		text := fmt.Sprintf("N%%L of %s", plural(countVMs(memory), "VM"))
		if least != nil {
			text += fmt.Sprintf(" (least %s, %s at %s)", rule.NL(leastLocality(least.VM)), least.label, c.clock.at(least.Least.Time))
		}
		parts = append(parts, text)
	}
	if homes > 0 {
		parts = append(parts, "home nodes")
	}
	if moved {
		parts = append(parts, plural(int(moves), "NUMA migration"))
	}
	if ready > 0 {
		parts = append(parts, "ready time")
	}
	nodes := 0
	for _, rec := range c.Recordings {
		nodes += len(rec.Nodes)
	}
	if nodes > 0 {
		parts = append(parts, plural(nodes, "node"))
	}
	if len(parts) == 0 {
		return ""
	}
	return "Looked at: " + strings.Join(parts, ", ") + "."
}

func leastLocality(v *capture.VM) float64 {
	return float64(v.Least.Local) / float64(v.Least.Local+v.Least.Remote)
}

// howToGet names the counters about NUMA that are lacking, and how to record them.
func (c *captured) howToGet() string {
	var lacks []string
	for _, rec := range c.Recordings {
		for _, name := range rec.Lacks {
			if aboutNUMA(name) && !slices.Contains(lacks, name) {
				lacks = append(lacks, name)
			}
		}
	}
	if len(lacks) == 0 || c.sim != nil {
		return ""
	}
	slices.Sort(lacks)
	return "The capture lacks " + strings.Join(lacks, ", ") + ": record with esxtop -b -a."
}

// aboutNUMA reports whether a verdict is weaker without the counter. N%L follows from
// local and remote memory.
func aboutNUMA(counter string) bool {
	return strings.HasPrefix(counter, "Numa ") && counter != "Numa % Local" || counter == "% Ready"
}

// gapText says how much time has no ticks: the stretch without what is covered.
func gapText(rec *capture.Recording) string {
	if gap := rec.Last.Sub(rec.First) - rec.Covered; gap >= time.Second {
		return rule.Duration(gap)
	}
	return ""
}

// intervalOf returns the time between two ticks, on average.
func intervalOf(rec *capture.Recording) string {
	if rec.Ticks < 2 || rec.Covered <= 0 {
		return ""
	}
	d := rec.Covered / time.Duration(rec.Ticks-1)
	if d < 10*time.Second {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return rule.Duration(d.Round(time.Second))
}
