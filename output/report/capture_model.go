package report

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"homenode/capture"
	"homenode/numa"
	"homenode/rules"
	"homenode/rules/finding"
	"homenode/rules/rule"
)

// captured is a judged set of recordings as the forms show it.
type captured struct {
	*rules.Watched
	sim    *simulated // nil for what was recorded
	judged *judged
	vms    []*capturedVM                             // by host and name
	hosts  map[*capture.Recording][]*finding.Finding // about the host itself
	clock  clock
	first  time.Time
	last   time.Time

	byKey  map[string]*capturedVM        // by vmKey
	byHost map[string]*capture.Recording // by the host of findings; nil for one that was not recorded
}

// A capturedVM is one life of a VM on a recorded host, with what was found about it.
type capturedVM struct {
	*capture.VM
	rec      *capture.Recording
	label    string // its name, with what tells it from others of that name on the host
	findings []*finding.Finding
	inFleet  *rule.VM // what the inventory says; nil when it does not hold the VM
	blind    bool     // N%L and remote memory mean nothing: the memory is interleaved
}

// newCaptured finds the subjects of the findings.
func newCaptured(w *rules.Watched) *captured {
	c := &captured{Watched: w, hosts: map[*capture.Recording][]*finding.Finding{}, byKey: map[string]*capturedVM{}, byHost: map[string]*capture.Recording{}}
	for _, rec := range w.Recordings {
		names := map[string]int{}
		for i := range rec.VMs {
			names[rec.VMs[i].Name]++
		}
		for i := range rec.VMs {
			v := &rec.VMs[i]
			one := &capturedVM{VM: v, rec: rec, label: v.Name, inFleet: w.Joined[v]}
			if names[v.Name] > 1 {
				one.label = distinct(v)
			}
			c.vms = append(c.vms, one)
			c.byKey[vmKey(rec.Host, v.Name, v.GID, v.Nth)] = one
		}
		if c.first.IsZero() || rec.First.Before(c.first) {
			c.first = rec.First
		}
		if rec.Last.After(c.last) {
			c.last = rec.Last
		}
	}
	c.clock = newClock(c.first, c.last)
	for i := range w.Findings {
		f := &w.Findings[i]
		if v := c.vmOf(f); v != nil {
			v.findings = append(v.findings, f)
		} else if rec := c.recordingOf(f); rec != nil && f.VM == "" {
			c.hosts[rec] = append(c.hosts[rec], f)
		}
	}
	c.markBlind()
	c.judged = c.judgement()
	return c
}

func vmKey(host, name string, gid int64, nth int) string {
	return strings.Join([]string{host, name, strconv.FormatInt(gid, 10), strconv.Itoa(nth)}, "\x00")
}

// distinct names a VM that is not the only one of its name.
func distinct(v *capture.VM) string {
	name := v.Name
	if v.GID >= 0 {
		name += fmt.Sprintf(" (gid %d)", v.GID)
	}
	if v.Nth > 0 {
		name += fmt.Sprintf(" #%d", v.Nth+1)
	}
	return name
}

// recordingOf returns the recording of the finding's host, which the inventory can name
// otherwise.
func (c *captured) recordingOf(f *finding.Finding) *capture.Recording {
	rec, known := c.byHost[f.Host]
	if !known {
		rec = c.recording(f.Host)
		c.byHost[f.Host] = rec
	}
	return rec
}

// vmOf returns the VM that the finding is about; nil when it is about none.
func (c *captured) vmOf(f *finding.Finding) *capturedVM {
	rec := c.recordingOf(f)
	if rec == nil || f.VM == "" {
		return nil
	}
	return c.byKey[vmKey(rec.Host, f.VM, f.GID, f.Nth)]
}

func (c *captured) recording(name string) *capture.Recording {
	for _, same := range []func(string) bool{
		func(host string) bool { return host == name },
		func(host string) bool { return numa.SameHost(host, name) },
	} {
		if i := slices.IndexFunc(c.Recordings, func(rec *capture.Recording) bool { return same(rec.Host) }); i >= 0 {
			return c.Recordings[i]
		}
	}
	return nil
}

func (c *captured) judgement() *judged {
	subject := func(f *finding.Finding) string {
		name := cmp.Or(f.VM, f.Host)
		if v := c.vmOf(f); v != nil {
			name = v.label
		}
		if f.VM != "" && len(c.Recordings) > 1 {
			return f.Host + "/" + name
		}
		return name
	}
	return &judged{
		Judgement: &c.Judgement, source: c.source(), kind: c.words().kind, watched: true,
		nothing: c.nothing(),
		rules:   rulesWhere(func(one *rule.Rule) bool { return one.Watch != nil }),
		open:    c.open(),
		subject: subject, group: subject,
		// A power-on gives another group: the name is what stays.
		key: func(f *finding.Finding) string { return "watched\x00" + f.Host + "\x00" + f.VM },
		id: func(f *finding.Finding) string {
			if f.VM != "" && f.VMID == "" && f.GID > 0 {
				return "gid " + strconv.FormatInt(f.GID, 10)
			}
			return subjectID(f)
		},
		at:    func(f *finding.Finding) string { return c.fileAt(c.recordingOf(f), f.From) },
		place: c.placeOf,
	}
}

// source names the files.
func (c *captured) source() string {
	var names []string
	for _, rec := range c.Recordings {
		for _, f := range rec.Files {
			if !slices.Contains(names, f.Name) {
				names = append(names, f.Name)
			}
		}
	}
	const most = 3
	if n := len(names); n > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", n-most)
	}
	return strings.Join(names, ", ")
}

// fileAt returns the file of a recording that holds the time; "" when nobody says.
func (c *captured) fileAt(rec *capture.Recording, at time.Time) string {
	if rec == nil {
		return ""
	}
	if len(rec.Files) == 1 {
		return rec.Files[0].Name
	}
	for _, f := range rec.Files {
		if f.Ticks > 0 && !at.Before(f.First) && !at.After(f.Last) {
			return f.Name
		}
	}
	return ""
}

// moreFiles is what the name of a source has behind that of its first file.
var moreFiles = regexp.MustCompile(` and \d+ more$`)

// placeOf returns the file of the finding's host that holds the time from which it held,
// with the line where the recording knows it; "" when there is no such file.
func (c *captured) placeOf(f *finding.Finding) (string, int) {
	rec := c.recordingOf(f)
	if rec == nil || len(rec.Files) == 0 || c.sim != nil {
		return "", 0
	}
	file, line := &rec.Files[0], 1
	for i := range rec.Files {
		if one := &rec.Files[i]; one.Ticks > 0 && !one.First.After(f.From) {
			file = one
		}
	}
	if v := c.vmOf(f); v != nil && f.From.Equal(v.Percents.At) && v.Percents.File == file.Name && v.Percents.Line > 0 {
		line = v.Percents.Line
	}
	name := file.Name
	if file.Parts > 1 {
		name, line = moreFiles.ReplaceAllString(name, ""), 1 // the first of them: which one it was, nobody says
	}
	if file.Format == "invented" || name == "standard input" {
		return "", 0
	}
	return name, line
}

// open returns what the capture lacks, what its reader warned of and what was not judged.
func (c *captured) open() []openNotes {
	var warnings []numa.Note
	for _, rec := range c.Recordings {
		for _, f := range rec.Files {
			for _, text := range f.Warnings {
				if n := (numa.Note{Text: text}); !slices.Contains(warnings, n) {
					warnings = append(warnings, n)
				}
			}
		}
	}
	// What the inventory says of itself is for those who judge it: homenode assess.
	if c.sim != nil {
		return []openNotes{{"simulation", slices.Concat(c.sim.Outcome.Problems, c.captureNotesOf())}, {"judgement", c.sim.reworded(c.Notes)}, {"configuration", c.PolicyNotes}}
	}
	return []openNotes{{"capture", slices.Concat(c.captureNotesOf(), warnings)}, {"judgement", c.Notes}, {"configuration", c.PolicyNotes}}
}

// nothing says why nothing could be judged; "" when something was.
func (c *captured) nothing() string {
	if c.judgeable() {
		return ""
	}
	return c.words().the + " holds nothing about NUMA"
}

// judgeable reports whether anything was recorded that rules judge.
func (c *captured) judgeable() bool {
	for _, one := range c.vms {
		if one.HasMemory || one.HasHomes || one.HasMoves {
			return true
		}
	}
	return false
}

// worst returns the severity of the worst finding about the VM; false without one.
func (v *capturedVM) worst() (finding.Severity, bool) {
	if len(v.findings) == 0 {
		return 0, false
	}
	return v.findings[0].Severity, true // highest first
}

// lost reports whether the VM lost locality: a finding of medium or high severity is about
// its longest stretch of low N%L or of much remote memory. spell is that stretch.
func (v *capturedVM) lost() (spell *capture.Spell, ok bool) { return v.lostFrom(finding.Medium) }

// lostFrom does so for findings of a severity or more.
func (v *capturedVM) lostFrom(least finding.Severity) (spell *capture.Spell, ok bool) {
	for _, f := range v.findings {
		if f.Severity < least {
			break
		}
		if spell := v.lostAt(f); spell != nil {
			return spell, true
		}
	}
	return nil, false
}

// byWeight orders VMs by their worst finding, then by remote memory over time.
func byWeight(a, b *capturedVM) int {
	weight := func(v *capturedVM) int {
		s, ok := v.worst()
		if !ok {
			return -1
		}
		return int(s)
	}
	return cmp.Or(cmp.Compare(weight(b), weight(a)), compareSums(&b.Remote.Sum, &a.Remote.Sum), cmp.Compare(a.rec.Host, b.rec.Host),
		cmp.Compare(a.Name, b.Name), cmp.Compare(a.GID, b.GID), cmp.Compare(a.Nth, b.Nth))
}

func compareSums(a, b *capture.Sum) int {
	return cmp.Or(cmp.Compare(a.Hi, b.Hi), cmp.Compare(a.Lo, b.Lo))
}

// weighted returns the VMs that matter: those with findings, the worst first; with least
// also others, up to that many, those with the most remote memory first.
func (c *captured) weighted(least int) []*capturedVM {
	vms := slices.SortedStableFunc(slices.Values(c.vms), byWeight)
	n := 0
	for n < len(vms) && (len(vms[n].findings) > 0 || n < least) {
		n++
	}
	return vms[:n]
}

// weightedHosts returns the hosts whose own or whose VMs' findings are the worst first.
func (c *captured) weightedHosts() []*capture.Recording {
	weight := map[*capture.Recording]int{}
	for i := range c.Findings {
		f := &c.Findings[i]
		if rec := c.recordingOf(f); rec != nil {
			weight[rec] = max(weight[rec], int(f.Severity)+1)
		}
	}
	return slices.SortedStableFunc(slices.Values(c.Recordings), func(a, b *capture.Recording) int { return cmp.Compare(weight[b], weight[a]) })
}

// handover is how long a VM that moves by vMotion is on both hosts at the most.
const handover = 5 * time.Minute

// countVMs returns how many VMs these lives belong to: lives of one name are one VM, but
// for as many as run at the same time, not counting the handover of one that moves.
func countVMs(lives []*capturedVM) int {
	type edge struct {
		at  time.Time
		add int
	}
	byName := map[string][]edge{}
	for _, v := range lives {
		end := v.Last.Add(-min(handover, v.Last.Sub(v.First)/2))
		if !end.After(v.First) { // a single tick
			end = v.First.Add(1)
		}
		byName[v.Name] = append(byName[v.Name], edge{v.First, 1}, edge{end, -1})
	}
	n := 0
	for _, edges := range byName {
		slices.SortFunc(edges, func(a, b edge) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.add, b.add)) })
		now, most := 0, 0
		for _, e := range edges {
			now += e.add
			most = max(most, now)
		}
		n += most
	}
	return n
}

// A clock writes the moments of a capture in UTC: with the date when it spans days, with
// seconds when it is short.
type clock struct{ form string }

func newClock(first, last time.Time) clock {
	form := "15:04"
	if last.Sub(first) < 15*time.Minute {
		form = "15:04:05"
	}
	if first.UTC().Format(time.DateOnly) != last.UTC().Format(time.DateOnly) {
		form = "2006-01-02 " + form
	}
	return clock{form}
}

func (c clock) at(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(c.form)
}

// span writes from when to when, with the date of the end only when it is another; without
// dates, midnight at the end of the day is 24:00.
func (c clock) span(from, to time.Time) string {
	end := c.form
	if from.UTC().Format(time.DateOnly) == to.UTC().Format(time.DateOnly) {
		end = strings.TrimPrefix(end, "2006-01-02 ")
	}
	if next := to.UTC(); !strings.HasPrefix(c.form, "2006") && next.Truncate(24*time.Hour).Equal(next) && from.Before(to) {
		return c.at(from) + " to " + strings.Replace(next.Format(c.form), "00:", "24:", 1)
	}
	return c.at(from) + " to " + to.UTC().Format(end)
}
