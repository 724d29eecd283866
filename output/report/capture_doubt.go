package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"homenode/capture"
	"homenode/numa"
	"homenode/rules"
	"homenode/rules/finding"
	"homenode/rules/rule"
)

// What keeps a verdict from being certain: findings that are not about harm, captures that
// are too short, counters that are not there.

// harm returns the worst of findings about harm that NUMA did, of medium severity or more;
// nil when there is none.
func (c *captured) harm(findings []*finding.Finding) *finding.Finding {
	for _, f := range findings {
		if f.Severity >= finding.Medium && !c.beside(f) {
			return f
		}
	}
	return nil
}

func (c *captured) beside(f *finding.Finding) bool {
	one := c.Rule(f.Rule)
	return one != nil && one.Beside
}

// besideText tells of findings that are about something else than harm that NUMA did.
func (c *captured) besideText() string {
	var first *finding.Finding
	n := 0
	for i := range c.Findings {
		if f := &c.Findings[i]; f.Severity >= finding.Medium && c.beside(f) {
			if n++; first == nil {
				first = f
			}
		}
	}
	switch n {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("Beside it, on %s: %s.", c.judged.subject(first), c.findingText(first))
	}
	return fmt.Sprintf("Beside it %d findings, first of all on %s: %s.", n, c.judged.subject(first), c.findingText(first))
}

// momentary reports whether no host has two ticks that hang together.
func (c *captured) momentary() bool {
	return !slices.ContainsFunc(c.Recordings, func(rec *capture.Recording) bool { return rec.Covered > 0 })
}

// sawText says what stands out in a capture that is too short for findings.
func (c *captured) sawText() string {
	var low []*capturedVM
	for _, v := range c.vms {
		if v.Low.Count > 0 {
			low = append(low, v)
		}
	}
	if len(low) == 0 {
		return "nothing was found"
	}
	worst := slices.MinFunc(low, func(a, b *capturedVM) int { return cmp.Compare(leastLocality(a.VM), leastLocality(b.VM)) })
	return fmt.Sprintf("N%%L of %s was below %s, at the least %s of %s with %s remote", plural(countVMs(low), "VM"), rule.NL(worst.rec.Options.Locality), rule.NL(leastLocality(worst.VM)), worst.label, worst.Least.Remote)
}

// momentsText says why nothing in a momentary capture lasts.
func (c *captured) momentsText() string {
	where := "each host"
	if len(c.Recordings) == 1 {
		where = c.Recordings[0].Host
	}
	for _, rec := range c.Recordings {
		if rec.Ticks > 1 {
			return fmt.Sprintf("the ticks on %s are more than %s apart: nobody knows what was between them", where, rule.Duration(rec.Options.Gap))
		}
	}
	return "what was " + c.words().seen + " on " + where + " is a single moment"
}

// tooShort reports whether no host was recorded for as long as low locality has to last.
func (c *captured) tooShort() bool {
	return !slices.ContainsFunc(c.Recordings, func(rec *capture.Recording) bool {
		return !slices.ContainsFunc(c.TooShort(rec), func(one *rule.Rule) bool { return one.ID == lowLocality })
	})
}

// The rules that a verdict names what they would have found.
const (
	lowLocality = "M001"
	unevenNodes = "M004"
)

// tooShortText names the rules that the longest recording is too short for.
func (c *captured) tooShortText() string {
	if c.momentary() { // the verdict says it
		return ""
	}
	longest := slices.MaxFunc(c.Recordings, func(a, b *capture.Recording) int { return cmp.Compare(a.Covered, b.Covered) })
	if text := c.shortText(longest); text != "" {
		return "T" + c.words().the[1:] + " is " + text + "."
	}
	return ""
}

// shortText says which rules a recording is too short for; "" for none.
func (c *captured) shortText(rec *capture.Recording) string {
	short := c.TooShort(rec)
	if len(short) == 0 {
		return ""
	}
	var least, most time.Duration
	for i, one := range short {
		d, _ := c.Lasting(one)
		if i == 0 || d < least {
			least = d
		}
		most = max(most, d)
	}
	text := rule.Duration(least)
	if most > least {
		text += " to " + rule.Duration(most)
	}
	return fmt.Sprintf("too short for %s, which look for %s at the least", ruleList(short), text)
}

func ruleList(all []*rule.Rule) string {
	var ids []string
	for _, one := range all {
		ids = append(ids, one.ID)
	}
	return strings.Join(ids, ", ")
}

// spreadText tells of VMs of several home nodes whose memory may lie unevenly without that
// the capture could show it.
func (c *captured) spreadText() string {
	var wide []*capturedVM
	for _, v := range c.vms {
		if len(v.LastNode) == 0 && slices.ContainsFunc(v.VM.Homes, func(h capture.HomeTime) bool { return h.Homes.Len() > 1 }) {
			wide = append(wide, v)
		}
	}
	if len(wide) == 0 {
		return ""
	}
	return fmt.Sprintf("%s had several home nodes: N%%L counts all of them as local, and how the memory is spread over them is not in %s (GST_NDx, M010).", plural(countVMs(wide), "VM"), c.words().the)
}

// lacksText says which counters the capture does not have, which rules could not judge
// for that and, of counters that esxtop would write, how to get them.
func lacksText(rec *capture.Recording) string {
	if len(rec.Lacks) == 0 {
		return ""
	}
	text := "the capture lacks " + strings.Join(rec.Lacks, ", ")
	if blind := rules.Blind(rec); len(blind) > 0 {
		text += " (not judged for that: " + ruleList(blind) + ")"
	}
	if slices.ContainsFunc(rec.Lacks, inBatch) {
		text += ": record with esxtop -b -a, or switch the fields on with f, save with W and record with esxtop -b"
	}
	return text
}

// sumsText tells of VMs whose rates are those of all vCPUs together, as nobody says how many
// they have: beside those of other VMs, which are of each vCPU, they would mislead.
func sumsText(rec *capture.Recording) string {
	n := 0
	for i := range rec.VMs {
		v := &rec.VMs[i]
		if v.VCPUs == 0 && v.Has&(numa.HasReady|numa.HasCoStop|numa.HasUsed) != 0 {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("how many vCPUs %s had is not in the capture: ready, co-stop and used of these are sums over all vCPUs, not of each", plural(n, "VM"))
}

// inBatch reports whether a batch file can hold the counter: memory by node is on the
// screen of esxtop alone.
func inBatch(counter string) bool { return counter != "GST_NDx" }

// grouped returns notes with those that many VMs or hosts share as one.
func (c *captured) grouped(notes []numa.Note) []numa.Note {
	var hosts []string
	for _, rec := range c.Recordings {
		hosts = append(hosts, rec.Host)
	}
	return perHost(grouped(notes), hosts)
}

// captureNotesOf returns what keeps recordings from being judged in full.
func (c *captured) captureNotesOf() (notes []numa.Note) {
	for _, rec := range c.Recordings {
		short := c.shortText(rec)
		if rec.Covered == 0 && rec.Ticks > 1 {
			short = fmt.Sprintf("its ticks are more than %s apart, so nothing is known to have lasted: record oftener", rule.Duration(rec.Options.Gap))
		}
		if c.sim != nil { // what the model does not have is in its documentation
			if short != "" {
				notes = append(notes, numa.Note{At: rec.Host, Text: short})
			}
			continue
		}
		for _, text := range []string{lacksText(rec), sumsText(rec), short} {
			if text != "" {
				notes = append(notes, numa.Note{At: rec.Host, Text: text})
			}
		}
	}
	if c.Fleet == nil && len(c.vms) > 0 {
		notes = append(notes, numa.Note{Text: "no inventory (--fleet): M011 is not judged, nor is M006 for certain: whether a guest sees its nodes is not known"})
	}
	return notes
}
