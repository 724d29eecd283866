// Package recording summarises the findings in recordings, either captures or the run of a
// simulation: whether NUMA was the cause, the VMs that lost locality, the limits of certainty,
// and the most important VMs. Package simulation adds the facts that only a simulation has.
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
	"example.org/homenode/numa/pattern"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
	"example.org/homenode/rules/simulate"
)

// Judged is a set of recordings with the subjects of its findings.
type Judged struct {
	*rules.Watched
	Words  Words
	VMs    []*VM                                     // by host and name
	OfHost map[*capture.Recording][]*finding.Finding // findings about the host itself
	Clock  Clock
	First  time.Time
	Last   time.Time

	on     map[*capture.Recording][]*VM
	byKey  map[string]*VM                // by vmKey
	byHost map[string]*capture.Recording // by the host of findings; nil for a host without a recording
}

// A VM is one life of a VM on a recorded host, with its findings.
type VM struct {
	*capture.VM
	Rec      *capture.Recording
	Label    string             // its name, made unique among those on the host
	Findings []*finding.Finding // highest severity first
	InFleet  *rule.VM           // its assessment in the inventory; nil if that does not contain the VM
	Blind    bool               // N%L and remote memory are meaningless: the memory is interleaved
}

// Of finds the subjects of the findings in captures.
func Of(w *rules.Watched) *Judged { return With(w, ofCapture) }

// With is Of with other words than those for captures.
func With(w *rules.Watched, words Words) *Judged {
	j := &Judged{Watched: w, Words: words, OfHost: map[*capture.Recording][]*finding.Finding{}, on: map[*capture.Recording][]*VM{}, byKey: map[string]*VM{}, byHost: map[string]*capture.Recording{}}
	for _, rec := range w.Recordings {
		names := map[string]int{}
		for i := range rec.VMs {
			names[rec.VMs[i].Name]++
		}
		for i := range rec.VMs {
			v := &rec.VMs[i]
			one := &VM{VM: v, Rec: rec, Label: v.Name, InFleet: w.Joined[v]}
			if names[v.Name] > 1 {
				one.Label = v.Distinct()
			}
			j.VMs, j.on[rec] = append(j.VMs, one), append(j.on[rec], one)
			j.byKey[vmKey(rec.Host, v.Name, v.GID, v.Nth)] = one
		}
		if j.First.IsZero() || rec.First.Before(j.First) {
			j.First = rec.First
		}
		if rec.Last.After(j.Last) {
			j.Last = rec.Last
		}
	}
	j.Clock = NewClock(j.First, j.Last)
	for i := range w.Findings {
		f := &w.Findings[i]
		if v := j.VMOf(f); v != nil {
			v.Findings = append(v.Findings, f)
		} else if rec := j.RecordingOf(f); rec != nil && f.VM == "" {
			j.OfHost[rec] = append(j.OfHost[rec], f)
		}
	}
	j.markBlind()
	return j
}

func vmKey(host, name string, gid int64, nth int) string {
	return strings.Join([]string{host, name, strconv.FormatInt(gid, 10), strconv.Itoa(nth)}, "\x00")
}

// RecordingOf returns the recording of the finding's host, which may have another name in the
// inventory; nil if there is none.
func (j *Judged) RecordingOf(f *finding.Finding) *capture.Recording {
	rec, known := j.byHost[f.Host]
	if !known {
		rec = j.recording(f.Host)
		j.byHost[f.Host] = rec
	}
	return rec
}

// VMOf returns the VM of the finding; nil if there is none.
func (j *Judged) VMOf(f *finding.Finding) *VM {
	rec := j.RecordingOf(f)
	if rec == nil || f.VM == "" {
		return nil
	}
	return j.byKey[vmKey(rec.Host, f.VM, f.GID, f.Nth)]
}

func (j *Judged) recording(name string) *capture.Recording {
	for _, same := range []func(string) bool{
		func(host string) bool { return host == name },
		func(host string) bool { return numa.SameHost(host, name) },
	} {
		if i := slices.IndexFunc(j.Recordings, func(rec *capture.Recording) bool { return same(rec.Host) }); i >= 0 {
			return j.Recordings[i]
		}
	}
	return nil
}

// On returns the VMs of a recording.
func (j *Judged) On(rec *capture.Recording) []*VM { return j.on[rec] }

// Subject names the subject of a finding, with its host if several were recorded.
func (j *Judged) Subject(f *finding.Finding) string {
	name := cmp.Or(f.VM, f.Host)
	if v := j.VMOf(f); v != nil {
		name = v.Label
	}
	if f.VM != "" && len(j.Recordings) > 1 {
		return f.Host + "/" + name
	}
	return name
}

// Source describes the files.
func (j *Judged) Source() string {
	var names []string
	for _, rec := range j.Recordings {
		for _, f := range rec.Files {
			names = words.Once(names, f.Name)
		}
	}
	return words.First(3, names)
}

// FileAt returns the file that contains the start time of a finding; "" if unknown.
func (j *Judged) FileAt(f *finding.Finding) string {
	rec := j.RecordingOf(f)
	if rec == nil {
		return ""
	}
	if len(rec.Files) == 1 {
		return rec.Files[0].Name
	}
	for _, one := range rec.Files {
		if one.Ticks > 0 && !f.From.Before(one.First) && !f.From.After(one.Last) {
			return one.Name
		}
	}
	return ""
}

// moreFiles matches the text after the first file in the name of a source.
var moreFiles = pattern.Of(` and \d+ more$`)

// Place returns the file of the finding's host that contains its start time, with the line if
// the recording has it; "" if there is no such file.
func (j *Judged) Place(f *finding.Finding) (name string, line int) {
	rec := j.RecordingOf(f)
	if rec == nil || len(rec.Files) == 0 {
		return "", 0
	}
	file, line := &rec.Files[0], 1
	for i := range rec.Files {
		if one := &rec.Files[i]; one.Ticks > 0 && !one.First.After(f.From) {
			file = one
		}
	}
	if v := j.VMOf(f); v != nil && f.From.Equal(v.Percents.At) && v.Percents.File == file.Name && v.Percents.Line > 0 {
		line = v.Percents.Line
	}
	name = file.Name
	if file.Parts > 1 {
		name, line = moreFiles.ReplaceAllString(name, ""), 1 // the first of them: the exact one is unknown
	}
	if file.Format == "invented" || file.Format == simulate.Format || name == "standard input" {
		return "", 0
	}
	return name, line
}

// Judgeable reports whether the recording contains data for rules.
func (j *Judged) Judgeable() bool { return slices.ContainsFunc(j.VMs, (*VM).States) }

// States reports whether the recording contains NUMA data of the VM.
func (v *VM) States() bool { return v.HasMemory || v.HasHomes || v.HasMoves }

// Worst returns the severity of the worst finding about the VM; false if there is none.
func (v *VM) Worst() (finding.Severity, bool) {
	if len(v.Findings) == 0 {
		return 0, false
	}
	return v.Findings[0].Severity, true
}

// lost reports whether the VM lost locality: there is a finding of medium or high severity
// about its longest period of low N%L or of much remote memory. spell is that period.
func (v *VM) lost() (spell *capture.Spell, ok bool) { return v.lostFrom(finding.Medium) }

// lostFrom is lost with another minimum severity.
func (v *VM) lostFrom(least finding.Severity) (spell *capture.Spell, ok bool) {
	f := v.loss()
	if f == nil || f.Severity < least {
		return nil, false
	}
	return v.lostAt(f), true
}

// loss returns the worst finding that the VM lost locality; nil if there is none.
func (v *VM) loss() *finding.Finding {
	if i := slices.IndexFunc(v.Findings, func(f *finding.Finding) bool { return v.lostAt(f) != nil }); i >= 0 {
		return v.Findings[i]
	}
	return nil
}

// lostAt returns the longest period of low N%L or of much remote memory if the finding is about
// it and means that locality was lost, otherwise nil.
func (v *VM) lostAt(f *finding.Finding) *capture.Spell {
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

// markBlind marks the VMs of certain M006 findings, even if the finding is accepted or the rule
// is off.
func (j *Judged) markBlind() {
	mark := func(f *finding.Finding) {
		if f.Rule != "M006" || f.VMID == "" {
			return
		}
		if v := j.VMOf(f); v != nil {
			v.Blind = true
		}
	}
	for i := range j.Findings {
		mark(&j.Findings[i])
	}
	for i := range j.Suppressed {
		mark(&j.Suppressed[i].Finding)
	}
	for i := range j.Muted {
		mark(&j.Muted[i].Finding)
	}
}

// SeveralHomes reports whether the VM had several home nodes at once.
func (v *VM) SeveralHomes() bool {
	homes, _, ok := rule.Homes(v.VM)
	return ok && homes.Len() > 1
}

// LeastLocality returns the minimum N%L as a share in [0, 1].
func (v *VM) LeastLocality() (share float64, ok bool) {
	if v.Least.Local+v.Least.Remote <= 0 {
		return 0, false
	}
	return float64(v.Least.Local) / float64(v.Least.Local+v.Least.Remote), true
}
