package recording

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"example.org/homenode/capture"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/check/interleavedlocality"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

// Limits of the certainty of a verdict: findings that are not about harm, short captures, missing counters.

// harm returns the worst finding about harm caused by NUMA, of medium severity or more; nil if there is none.
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

// besideText describes findings about anything else than harm caused by NUMA.
func (j *Judged) besideText(ofHosts bool) string {
	var first *finding.Finding
	n := 0
	for i := range j.Findings {
		if f := &j.Findings[i]; f.Severity >= finding.Medium && j.beside(f) && (ofHosts || f.VM != "") {
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

// cut names the files that could not be read completely, or end within a row; "" for none.
func (j *Judged) cut() string {
	var names []string
	for _, rec := range j.Recordings {
		for _, f := range rec.Files {
			if f.Cut && !slices.Contains(names, f.Name) {
				names = append(names, f.Name)
			}
		}
	}
	return words.Few(names)
}

// momentary reports whether no host has two connected ticks.
func (j *Judged) momentary() bool {
	return !slices.ContainsFunc(j.Recordings, func(rec *capture.Recording) bool { return rec.Covered > 0 })
}

func least(v *VM) float64 { share, _ := v.LeastLocality(); return share }

// sawText describes conspicuous values in a capture that is too short for findings.
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

// momentsText explains why a momentary capture shows no durations.
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

// tooShort reports whether no host was recorded for the minimum duration of low locality.
func (j *Judged) tooShort() bool {
	return !slices.ContainsFunc(j.Recordings, func(rec *capture.Recording) bool {
		return !slices.ContainsFunc(j.TooShort(rec), func(one *rule.Rule) bool { return one.ID == lowLocality })
	})
}

// The rules for which a verdict describes the possible finding.
const (
	lowLocality = "M001"
	unevenNodes = "M004"
)

// tooShortText names the rules for which the longest recording is too short.
func (j *Judged) tooShortText() string {
	if j.momentary() { // part of the verdict
		return ""
	}
	longest := slices.MaxFunc(j.Recordings, func(a, b *capture.Recording) int { return cmp.Compare(a.Covered, b.Covered) })
	if text := j.shortText(longest); text != "" {
		return "T" + j.Words.The[1:] + " is " + text + "."
	}
	return ""
}

// shortText lists the rules for which a recording is too short; "" for none.
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

// hiding describes VMs whose N%L may hide remote memory, because no inventory tells whether their guests see their nodes; "" if there is none.
func (j *Judged) hiding() string {
	var vms []*VM
	for _, v := range j.VMs {
		if v.InFleet == nil && interleavedlocality.Unclear(v.VM, j.Threshold(interleavedlocality.Rule.ID, "full")) {
			vms = append(vms, v)
		}
	}
	if len(vms) == 0 || j.Words.Lacks == "" { // a simulation knows
		return ""
	}
	tells := "--fleet would tell"
	if j.Fleet != nil {
		tells = "the inventory does not hold them as recorded"
	}
	return fmt.Sprintf("N%%L of %s with several home nodes means nothing where the guest does not see them: %s", words.Plural(CountVMs(vms), "VM"), tells)
}

// spreadText reports VMs of several home nodes whose memory may be spread unevenly without evidence in the
// capture.
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

// lacksText lists the missing counters of the capture, the rules that could not run without them and, for
// counters of esxtop, how to record them.
func lacksText(rec *capture.Recording, inventory bool) string {
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

// nodeLoad is the counter that FetchStats responses lack without an inventory.
const nodeLoad = "Numa Node % Util Time"

// oneAnswer reports whether a recording consists of one FetchStats response, which has counters and no rates.
func oneAnswer(rec *capture.Recording) bool { return rec.Ticks == 1 && ofAnswers(rec) }

// ofAnswers reports whether recordings consist only of FetchStats responses.
func ofAnswers(all ...*capture.Recording) bool {
	for _, rec := range all {
		if len(rec.Files) == 0 || slices.ContainsFunc(rec.Files, func(f capture.File) bool { return !strings.HasSuffix(f.Format, "FetchStats") }) {
			return false
		}
	}
	return len(all) > 0
}

// sumsText reports VMs whose rates are totals of all vCPUs, because their number of vCPUs is unknown: they are
// not comparable with those of other VMs, which are per vCPU.
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

// inBatch reports whether a batch file can contain the counter: memory by node is only on the screen of
// esxtop.
func inBatch(counter string) bool { return counter != "GST_NDx" }

// Doubts returns the limits of the assessment of the recordings.
func (j *Judged) Doubts() (notes []numa.Note) {
	hosts := map[string][]string{} // by text
	for _, rec := range j.Recordings {
		short := j.shortText(rec)
		if rec.Covered == 0 && rec.Ticks > 1 {
			short = fmt.Sprintf("its ticks are more than %s apart, so nothing is known to have lasted: record more often", words.Duration(rec.Options.Gap))
		}
		texts := []string{short}
		if j.Words.Lacks != "" {
			texts = []string{sumsText(rec), short}
		}
		if j.Words.Lacks != "" && j.lacks(rec) != nil {
			texts = slices.Insert(texts, 0, lacksText(rec, j.Fleet != nil))
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

// Warnings returns the warnings of the file readers without duplicates.
func (j *Judged) Warnings() (notes []numa.Note) {
	for _, rec := range j.Recordings {
		for _, f := range rec.Files {
			for _, text := range f.Warnings {
				notes = words.Once(notes, numa.Note{Text: text})
			}
		}
	}
	return notes
}

// Nothing returns the reason why nothing could be assessed; "" if something was.
func (j *Judged) Nothing() string {
	if j.Judgeable() {
		return ""
	}
	if j.percentAlone() != nil {
		return j.Words.The + " has N%L, but no local and remote memory, so N%L was not assessed"
	}
	return j.Words.The + " holds nothing about NUMA"
}
