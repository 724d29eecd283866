package recording

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/capture"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

// Verdict answers in one sentence whether NUMA was the cause. rest contains the open questions, and the basis of the
// answer.
func (j *Judged) Verdict() (verdict, rest string) {
	if len(j.VMs) == 0 {
		return "Nothing can be said about NUMA: no VM was " + j.Words.Seen + ".", j.howToGet()
	}
	lost, hurt := j.Harmed()
	hosts := 0
	for _, findings := range j.OfHost {
		if j.harm(findings) != nil {
			hosts++
		}
	}
	where := j.stretch()
	low := j.someLow()
	none := j.noneLost() != "" && low == ""
	switch open := j.withheld(lost); {
	case len(lost) > 0:
		verdict = fmt.Sprintf("%d of %s lost locality%s %s%s; most remote memory over time: %s.", CountVMs(lost), words.Plural(CountVMs(j.VMs), "VM"), j.moreLost(lost), where, j.lostBefore(lost), j.worstText(lost))
	case len(hurt) > 0:
		though := ""
		if none {
			though = ", though none lost locality"
		} else if low != "" {
			though = ", and " + low
		}
		verdict = fmt.Sprintf("NUMA had a part in it: %d of %s had trouble with it %s%s: the worst is %s: %s.",
			CountVMs(hurt), words.Plural(CountVMs(j.VMs), "VM"), where, though, hurt[0].Label, j.findingText(j.harm(hurt[0].Findings)))
	case hosts > 0:
		though := ""
		if none {
			though = "no VM lost locality, but "
		} else if low != "" {
			though = low + ", and "
		}
		verdict = fmt.Sprintf("NUMA had a part in it %s: %s%s.", where, though, j.hostText())
	case j.percentAlone() != nil:
		v := j.percentAlone()
		return fmt.Sprintf("NUMA cannot be ruled out %s: the recording has N%%L (lowest: %d %%, of %s), but no local and remote memory, so N%%L was not assessed.",
			where, v.Percents.Alone, v.Label), j.howToGet()
	case !j.Judgeable():
		return j.blindText()
	case j.unmanaged():
		return fmt.Sprintf("Nothing can be said about NUMA %s: no VM has a home node, and local and remote memory are 0 throughout.", where),
			"So it is on a host of one NUMA node, which has nothing to lose, and with node interleaving in the BIOS, which hides the nodes."
	case len(open) > 0:
		verdict = fmt.Sprintf("NUMA cannot be ruled out %s: %s.", where, strings.Join(open, "; "))
	case j.cut() != "":
		verdict = fmt.Sprintf("NUMA cannot be ruled out: nothing was found %s, but %s could not be read completely.", where, j.cut())
	case j.momentary():
		verdict = fmt.Sprintf("NUMA cannot be ruled out: %s, but %s.", j.sawText(), j.momentsText())
	case j.tooShort():
		verdict = fmt.Sprintf("NUMA cannot be ruled out: %s %s, but that is too short: rules look for minutes.", j.sawText(), where)
	case j.lacksLocality():
		verdict = fmt.Sprintf("NUMA cannot be ruled out %s: nothing was found, but %s lacks the counters that show it.", where, j.Words.The)
	case j.oftenLow() != "":
		verdict = fmt.Sprintf("NUMA cannot be ruled out %s: %s.", where, j.oftenLow())
	case j.innocence() == "":
		verdict = fmt.Sprintf("NUMA cannot be ruled out %s: nothing was found, but neither N%%L nor the load of the nodes was judged.", where)
	case j.hiding() != "":
		verdict = fmt.Sprintf("NUMA cannot be ruled out %s: %s.", where, j.hiding())
	default:
		verdict = fmt.Sprintf("NUMA was not the cause %s: %s.", where, j.innocence())
	}
	return verdict, j.rest(lost, hurt, hosts)
}

// Harmed returns the VMs that lost locality, and those with other important findings, in the order of their events.
func (j *Judged) Harmed() (lost, hurt []*VM) {
	for _, v := range slices.SortedStableFunc(slices.Values(j.VMs), byWeight) {
		if _, ok := v.lost(); ok {
			lost = append(lost, v)
		} else if j.harm(v.Findings) != nil {
			hurt = append(hurt, v)
		}
	}
	order := map[*VM]int{}
	for i, s := range j.Stories(j.Findings, finding.Low) {
		for _, f := range s.Findings {
			if v := j.VMOf(f); order[v] == 0 && j.harm([]*finding.Finding{f}) != nil {
				order[v] = i + 1
			}
		}
	}
	slices.SortStableFunc(hurt, func(a, b *VM) int { return cmp.Compare(order[a], order[b]) })
	return lost, hurt
}

func (j *Judged) rest(lost, hurt []*VM, hosts int) string {
	var parts []string
	if len(lost) > 0 {
		if worst := j.worst(lost); len(worst.loss().Because) > 0 {
			parts = append(parts, fmt.Sprintf("%s: %s.", worst.Label, strings.Join(worst.loss().Because, "; ")))
		}
	}
	if n := CountVMs(hurt); len(lost) > 0 && n > 0 {
		parts = append(parts, fmt.Sprintf("%s had other problems of medium or high severity; the worst is %s: %s.", words.Plural(n, "more VM"), hurt[0].Label, j.findingText(j.harm(hurt[0].Findings))))
	}
	harmed := len(lost) > 0 || len(hurt) > 0
	if on := j.hostsFrom(finding.Medium); harmed && len(on) > 0 {
		parts = append(parts, fmt.Sprintf("%s of medium or high severity: %s.", words.Verb(len(on), "host has findings of its own", "hosts have findings of their own"), words.Few(on)))
	}
	parts = append(parts, j.besideText(!harmed))
	if len(lost) == 0 && len(hurt) == 0 && hosts == 0 {
		if n := len(j.Findings) - j.AtLeast(finding.Medium); n > 0 {
			parts = append(parts, fmt.Sprintf("%s of low severity or for information.", words.Plural(n, "finding")))
		}
		parts = append(parts, j.lookedAt(), j.tooShortText(), j.spreadText())
	} else if open := j.withheld(lost); len(open) > 0 {
		parts = append(parts, "Not counted: "+strings.Join(open, "; ")+".")
	}
	if off := j.rulesOff(); len(off) > 0 {
		parts = append(parts, fmt.Sprintf("Switched off by %s: %s.", j.Policy.File, strings.Join(off, ", ")))
	}
	return words.Join(" ", append(parts, j.howToGet())...)
}

// someLow reports VMs whose N%L was low at times in a capture that is too short for a finding about it.
func (j *Judged) someLow() string {
	if !j.tooShort() {
		return ""
	}
	var low []*VM
	for _, v := range j.VMs {
		if v.Low.Count > 0 {
			low = append(low, v)
		}
	}
	if len(low) == 0 {
		return ""
	}
	return fmt.Sprintf("N%%L of %s was below %s at times", words.Plural(CountVMs(low), "VM"), rule.NL(low[0].Rec.Options.Locality))
}

// stretch returns "in 4 h 10 min on esx07".
func (j *Judged) stretch() string {
	if j.momentary() {
		return fmt.Sprintf("in what was %s on %s", j.Words.Seen, words.Plural(len(j.Recordings), "host"))
	}
	if len(j.Recordings) == 1 {
		rec := j.Recordings[0]
		return fmt.Sprintf("in %s on %s", words.Duration(rec.Covered), rec.Host)
	}
	covered := slices.MaxFunc(j.Recordings, func(a, b *capture.Recording) int { return cmp.Compare(a.Covered, b.Covered) }).Covered
	if whole := j.Last.Sub(j.First); covered >= whole-whole/10 {
		return fmt.Sprintf("in %s on %s", words.Duration(whole), words.Plural(len(j.Recordings), "host"))
	}
	return fmt.Sprintf("in up to %s on each of %s", words.Duration(covered), words.Plural(len(j.Recordings), "host"))
}

// worstText names the VM with the most remote memory over time, and its worst time: "kafka01, 46 GB on average over 4 h with a home node, up to
// 37 % of its memory from 01:00 to 05:00".
func (j *Judged) worstText(lost []*VM) string {
	worst := j.worst(lost)
	spell, _ := worst.lost()
	name := worst.Label
	if len(j.Recordings) > 1 {
		name += " on " + worst.Rec.Host
	}
	if mean, ok := worst.Remote.Mean(worst.Managed); ok {
		name += fmt.Sprintf(", %s on average over %s with a home node", mean-mean%numa.MiB, words.Duration(worst.Managed))
	}
	from := spell.From
	for _, f := range worst.Findings { // of the same event
		if f.From.Before(from) && spell.From.Sub(f.From) <= together && f.Severity > finding.Info {
			from = f.From
		}
	}
	when := j.Clock.Span(from, spell.To)
	if spell == &worst.Far.Longest {
		return fmt.Sprintf("%s, up to %s from %s", name, numa.Bytes(spell.Worst), when)
	}
	return fmt.Sprintf("%s, up to %s of its memory from %s", name, rule.NLRest(spell.Worst), when)
}

// worst returns the VM with the most remote memory over time.
func (j *Judged) worst(lost []*VM) *VM {
	return slices.MaxFunc(lost, func(a, b *VM) int { return compareSums(&a.Remote.Sum, &b.Remote.Sum) })
}

// hostsFrom names the hosts with findings about themselves of at least this severity.
func (j *Judged) hostsFrom(least finding.Severity) (names []string) {
	for _, rec := range j.Recordings {
		if slices.ContainsFunc(j.OfHost[rec], func(f *finding.Finding) bool { return f.Severity >= least }) {
			names = append(names, rec.Host)
		}
	}
	return names
}

// findingText is the text of a finding, for the middle of a sentence.
func (j *Judged) findingText(f *finding.Finding) string {
	text := f.Title
	if !f.From.IsZero() && f.From.Before(f.To) {
		text += ", " + j.Clock.Span(f.From, f.To)
	}
	return text
}

// hostText describes the first host with important findings.
func (j *Judged) hostText() string {
	for _, rec := range j.Recordings {
		if f := j.harm(j.OfHost[rec]); f != nil {
			return "on " + rec.Host + " " + j.findingText(f)
		}
	}
	return ""
}

// blindText explains why nothing can be assessed: no VM has home nodes, N%L or migrations.
func (j *Judged) blindText() (verdict, rest string) {
	onNodes := 0 // with memory on several nodes
	for _, v := range j.VMs {
		if len(v.LastNode) > 1 {
			onNodes++
		}
	}
	if rest = "A host of one NUMA node has none; else they are there when it is recorded with esxtop -b -a."; j.Blind() {
		rest = "They are there when it is recorded with esxtop -b -a."
	}
	if onNodes == 0 {
		return "Nothing can be said about NUMA: " + j.Words.The + " has none of its counters.", rest
	}
	return fmt.Sprintf("Nothing can be said about NUMA: %s shows on which nodes the memory of %s is, but not their home nodes.", j.Words.The, words.Plural(onNodes, "VM")),
		"sched-stats -t numa-clients beside it, or esxtop -b -a, shows those and N%L."
}

// unmanaged reports whether, according to the counters, ESXi does not place any VM by NUMA node.
func (j *Judged) unmanaged() bool {
	return !slices.ContainsFunc(j.VMs, func(v *VM) bool {
		_, ok := v.LeastLocality()
		return ok || v.HasHomes || !v.HasMemory
	})
}

// lacksLocality reports whether N%L of no VM is known.
func (j *Judged) lacksLocality() bool {
	return !slices.ContainsFunc(j.VMs, func(v *VM) bool { return v.HasMemory })
}

// percentAlone returns the VM with the minimum N%L if no VM has the memory counters that it is calculated from; nil if
// none has N%L.
func (j *Judged) percentAlone() (least *VM) {
	for _, v := range j.VMs {
		if n := v.Percents.Alone; n > 0 && (least == nil || n < least.Percents.Alone) {
			least = v
		}
	}
	if !j.lacksLocality() {
		return nil
	}
	return least
}

// lookedAt describes the basis of the verdict if there are no findings.
func (j *Judged) lookedAt() string {
	var parts []string
	var memory []*VM
	homes, ready := 0, 0
	moves := int64(0)
	moved := false
	var lowest *VM
	for _, v := range j.VMs {
		if share, ok := v.LeastLocality(); ok {
			memory = append(memory, v)
			if lowest == nil || share < least(lowest) {
				lowest = v
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
		parts = append(parts, fmt.Sprintf("N%%L of %s (least %s, %s at %s)", words.Plural(CountVMs(memory), "VM"), rule.NL(least(lowest)), lowest.Label, j.Clock.At(lowest.Least.Time)))
	}
	if homes > 0 {
		parts = append(parts, "home nodes")
	}
	if moved {
		parts = append(parts, words.Plural(int(moves), "NUMA migration"))
	}
	if ready > 0 {
		parts = append(parts, "ready time")
	}
	nodes := 0
	for _, rec := range j.Recordings {
		nodes += len(rec.Nodes)
	}
	if nodes > 0 {
		parts = append(parts, words.Plural(nodes, "node"))
	}
	if len(parts) == 0 {
		return ""
	}
	return "Looked at: " + strings.Join(parts, ", ") + "."
}

// howToGet lists the missing NUMA counters, and how to record them.
func (j *Judged) howToGet() string {
	var lacks, hosts []string
	for _, rec := range j.Recordings {
		for _, name := range j.lacks(rec) {
			if aboutNUMA(name) {
				lacks, hosts = words.Once(lacks, name), words.Once(hosts, rec.Host)
			}
		}
	}
	if len(lacks) == 0 || j.Words.Lacks == "" {
		return ""
	}
	slices.Sort(lacks)
	list := strings.Join(lacks, ", ")
	if slices.ContainsFunc(j.Recordings, func(rec *capture.Recording) bool { return !slices.Contains(hosts, rec.Host) }) {
		list += " of " + words.List(hosts)
	}
	if j.Fleet == nil && slices.Contains(lacks, nodeLoad) && ofAnswers(j.Recordings...) {
		return j.Words.Lacks + list + ": name the inventory with --fleet."
	}
	if !slices.ContainsFunc(j.Recordings, func(rec *capture.Recording) bool { return !oneAnswer(rec) }) {
		return j.Words.Lacks + list + ": it takes two answers to show them."
	}
	return j.Words.Lacks + list + ": record with esxtop -b -a."
}

// lacks returns the missing counters of a recording; none of a host without VMs beside others that have some: its file cannot have the counters of VMs.
func (j *Judged) lacks(rec *capture.Recording) []string {
	if len(rec.VMs) == 0 && len(j.VMs) > 0 {
		return nil
	}
	return rec.Lacks
}

// aboutNUMA reports whether a verdict is weaker without the counter. N%L is calculated from local and remote memory.
func aboutNUMA(counter string) bool {
	return strings.HasPrefix(counter, "Numa ") && counter != "Numa % Local" || counter == "% Ready"
}
