package recording

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"homenode/capture"
	"homenode/internal/words"
	"homenode/numa"
	"homenode/rules"
	"homenode/rules/finding"
	"homenode/rules/rule"
)

// What keeps a verdict from being certain: findings that are not about harm, captures that
// are too short, counters that are not there.

// harm returns the worst of findings about harm that NUMA did, of medium severity or more;
// nil when there is none.
func (j *Judged) harm(findings []*finding.Finding) *finding.Finding {
	for _, f := range findings {
		if f.Severity >= finding.Medium && !j.beside(f) {
			return f
		}
	}
	return nil
}

func (j *Judged) beside(f *finding.Finding) bool {
	one := j.Rule(f.Rule)
	return one != nil && one.Beside
}

// besideText tells of findings that are about something else than harm that NUMA did.
func (j *Judged) besideText() string {
	var first *finding.Finding
	n := 0
	for i := range j.Findings {
		if f := &j.Findings[i]; f.Severity >= finding.Medium && j.beside(f) {
			if n++; first == nil {
				first = f
			}
		}
	}
	switch n {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("Also, on %s: %s.", j.Subject(first), j.findingText(first))
	}
	return fmt.Sprintf("Also %d findings; the most important is on %s: %s.", n, j.Subject(first), j.findingText(first))
}

// momentary reports whether no host has two ticks that hang together.
func (j *Judged) momentary() bool {
	return !slices.ContainsFunc(j.Recordings, func(rec *capture.Recording) bool { return rec.Covered > 0 })
}

func least(v *VM) float64 { share, _ := v.LeastLocality(); return share }

// sawText says what stands out in a capture that is too short for findings.
func (j *Judged) sawText() string {
	var low []*VM
	for _, v := range j.VMs {
		if v.Low.Count > 0 {
			low = append(low, v)
		}
	}
	if len(low) == 0 {
		return "nothing was found"
	}
	worst := slices.MinFunc(low, func(a, b *VM) int { return cmp.Compare(least(a), least(b)) })
	return fmt.Sprintf("N%%L of %s was below %s, lowest %s of %s with %s remote", words.Plural(CountVMs(low), "VM"), rule.NL(worst.Rec.Options.Locality), rule.NL(least(worst)), worst.Label, worst.Least.Remote)
}

// momentsText says why nothing in a momentary capture lasts.
func (j *Judged) momentsText() string {
	where := "each host"
	if len(j.Recordings) == 1 {
		where = j.Recordings[0].Host
	}
	for _, rec := range j.Recordings {
		if rec.Ticks > 1 {
			return fmt.Sprintf("the ticks on %s are more than %s apart: shorter episodes are not seen", where, words.Duration(rec.Options.Gap))
		}
	}
	return "what was " + j.Words.Seen + " on " + where + " is a single moment"
}

// tooShort reports whether no host was recorded for as long as low locality has to last.
func (j *Judged) tooShort() bool {
	return !slices.ContainsFunc(j.Recordings, func(rec *capture.Recording) bool {
		return !slices.ContainsFunc(j.TooShort(rec), func(one *rule.Rule) bool { return one.ID == lowLocality })
	})
}

// The rules that a verdict names what they would have found.
const (
	lowLocality = "M001"
	unevenNodes = "M004"
)

// tooShortText names the rules that the longest recording is too short for.
func (j *Judged) tooShortText() string {
	if j.momentary() { // the verdict says it
		return ""
	}
	longest := slices.MaxFunc(j.Recordings, func(a, b *capture.Recording) int { return cmp.Compare(a.Covered, b.Covered) })
	if text := j.shortText(longest); text != "" {
		return "T" + j.Words.The[1:] + " is " + text + "."
	}
	return ""
}

// shortText says which rules a recording is too short for; "" for none.
func (j *Judged) shortText(rec *capture.Recording) string {
	short := j.TooShort(rec)
	if len(short) == 0 {
		return ""
	}
	var least, most time.Duration
	for i, one := range short {
		d, _ := j.Lasting(one)
		if i == 0 || d < least {
			least = d
		}
		most = max(most, d)
	}
	text := words.Duration(least)
	if most > least {
		text += " to " + words.Duration(most)
	}
	return fmt.Sprintf("too short for %s, which need at least %s", ruleList(short), text)
}

func ruleList(all []*rule.Rule) string {
	return strings.Join(words.Texts(all, func(one *rule.Rule) string { return one.ID }), ", ")
}

// spreadText tells of VMs of several home nodes whose memory may lie unevenly without that
// the capture could show it.
func (j *Judged) spreadText() string {
	var wide []*VM
	for _, v := range j.VMs {
		if len(v.LastNode) == 0 && slices.ContainsFunc(v.VM.Homes, func(h capture.HomeTime) bool { return h.Homes.Len() > 1 }) {
			wide = append(wide, v)
		}
	}
	if len(wide) == 0 {
		return ""
	}
	return fmt.Sprintf("%s had several home nodes: N%%L counts all of them as local, and how the memory is spread over them is not in %s (GST_NDx, M010).", words.Plural(CountVMs(wide), "VM"), j.Words.The)
}

// lacksText says which counters the capture does not have, which rules could not judge
// for that and, of counters that esxtop would write, how to get them.
func lacksText(rec *capture.Recording, inventory bool) string {
	if len(rec.Lacks) == 0 {
		return ""
	}
	text := "the capture lacks " + strings.Join(rec.Lacks, ", ")
	if blind := rules.Blind(rec); len(blind) > 0 {
		text += " (not judged for that: " + ruleList(blind) + ")"
	}
	switch {
	case !inventory && ofAnswers(rec) && slices.Contains(rec.Lacks, nodeLoad):
		text += ": FetchStats does not say which PCPU is on which node: name the inventory with --fleet"
	case oneAnswer(rec):
		text += ": it takes two answers to show a rate"
	case slices.ContainsFunc(rec.Lacks, inBatch):
		text += ": record with esxtop -b -a, or switch the fields on with f, save with W and record with esxtop -b"
	}
	return text
}

// nodeLoad is what answers of FetchStats lack without an inventory.
const nodeLoad = "Numa Node % Util Time"

// oneAnswer reports whether a recording was made of one answer of FetchStats, which has counters and no rates.
func oneAnswer(rec *capture.Recording) bool { return rec.Ticks == 1 && ofAnswers(rec) }

// ofAnswers reports whether recordings were made of answers of FetchStats alone.
func ofAnswers(all ...*capture.Recording) bool {
	for _, rec := range all {
		if len(rec.Files) == 0 || slices.ContainsFunc(rec.Files, func(f capture.File) bool { return !strings.HasSuffix(f.Format, "FetchStats") }) {
			return false
		}
	}
	return len(all) > 0
}

// sumsText tells of VMs whose rates are those of all vCPUs together, as it is unknown how many
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
	return fmt.Sprintf("how many vCPUs %s had is not in the capture: ready, co-stop and used of these are sums over all vCPUs, not of each", words.Plural(n, "VM"))
}

// inBatch reports whether a batch file can hold the counter: memory by node is on the
// screen of esxtop alone.
func inBatch(counter string) bool { return counter != "GST_NDx" }

// Doubts returns what keeps recordings from being judged in full.
func (j *Judged) Doubts() (notes []numa.Note) {
	hosts := map[string][]string{} // of a text
	for _, rec := range j.Recordings {
		short := j.shortText(rec)
		if rec.Covered == 0 && rec.Ticks > 1 {
			short = fmt.Sprintf("its ticks are more than %s apart, so nothing is known to have lasted: record oftener", words.Duration(rec.Options.Gap))
		}
		texts := []string{short}
		if j.Words.Lacks != "" {
			texts = []string{lacksText(rec, j.Fleet != nil), sumsText(rec), short}
		}
		for _, text := range texts {
			if text == "" {
				continue
			}
			if hosts[text] == nil {
				notes = append(notes, numa.Note{Text: text})
			}
			hosts[text] = append(hosts[text], rec.Host)
		}
	}
	for i := range notes {
		notes[i].At = words.Few(hosts[notes[i].Text])
	}
	if j.Fleet == nil && len(j.VMs) > 0 {
		notes = append(notes, numa.Note{Text: "no inventory (--fleet): M011 is not judged, nor is M006 for certain: whether a guest sees its nodes is not known"})
	}
	return notes
}

// Warnings returns what the readers of the files warned of, each once.
func (j *Judged) Warnings() (notes []numa.Note) {
	for _, rec := range j.Recordings {
		for _, f := range rec.Files {
			for _, text := range f.Warnings {
				if n := (numa.Note{Text: text}); !slices.Contains(notes, n) {
					notes = append(notes, n)
				}
			}
		}
	}
	return notes
}

// Nothing says why nothing could be judged; "" when something was.
func (j *Judged) Nothing() string {
	if j.Judgeable() {
		return ""
	}
	if j.percentAlone() != nil {
		return j.Words.The + " has N%L, but no local and remote memory, so N%L was not assessed"
	}
	return j.Words.The + " holds nothing about NUMA"
}
