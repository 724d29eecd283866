package recording

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"example.org/homenode/internal/keyed"
	"example.org/homenode/internal/words"
	"example.org/homenode/rules/check/interleavedlocality"
	"example.org/homenode/rules/finding"
)

// A Story is one event: findings about the same VM or host that overlap in time or follow each other closely.
type Story struct {
	Findings []*finding.Finding // the worst first
	From, To time.Time          // of all of them
}

// Stories groups the findings of at least this severity into events as the function Stories does. Of equally long ones, that of the VM that comes first by
// weight is the first.
func (j *Judged) Stories(findings []finding.Finding, least finding.Severity) []*Story {
	rank := map[*VM]int{}
	for i, v := range slices.SortedStableFunc(slices.Values(j.VMs), byWeight) {
		rank[v] = i + 1
	}
	var found []*finding.Finding
	for i := range findings {
		if f := &findings[i]; f.Severity >= least {
			found = append(found, f)
		}
	}
	slices.SortStableFunc(found, func(a, b *finding.Finding) int { return cmp.Compare(rank[j.VMOf(a)], rank[j.VMOf(b)]) })
	return Stories(found)
}

// Stories groups findings into events, sorted by severity, then by duration. A finding without a time is an event of its own.
func Stories(findings []*finding.Finding) (all []*Story) {
	var bySubject keyed.Lists[string, *finding.Finding]
	for _, f := range findings {
		bySubject.Add(subjectKey(f), f)
	}
	for _, same := range bySubject.All() {
		all = append(all, overlapping(same)...)
	}
	slices.SortStableFunc(all, func(a, b *Story) int {
		return cmp.Or(cmp.Compare(b.Worst().Severity, a.Worst().Severity), cmp.Compare(b.Length(), a.Length()), a.From.Compare(b.From))
	})
	return all
}

// subjectKey identifies a VM by its ID, regardless of its host, and a VM that is not in the inventory by its name on the host.
func subjectKey(f *finding.Finding) string {
	switch {
	case f.VMID != "":
		return "id " + f.VMID
	case f.VM != "":
		return "vm " + vmKey(f.Host, f.VM, f.GID, f.Nth)
	}
	return "host " + cmp.Or(f.HostID, f.Host) + f.Cluster
}

// together is the longest gap between two findings about the same subject that belong to one event.
const together = 5 * time.Minute

// overlapping groups the findings about one subject into events.
func overlapping(findings []*finding.Finding) (all []*Story) {
	byTime := slices.SortedStableFunc(slices.Values(findings), func(a, b *finding.Finding) int { return a.From.Compare(b.From) })
	for _, f := range byTime {
		to := f.To
		if to.Before(f.From) {
			to = f.From
		}
		if n := len(all); n > 0 && !f.From.IsZero() && !f.From.After(all[n-1].To.Add(together)) {
			s := all[n-1]
			s.Findings = append(s.Findings, f)
			if to.After(s.To) {
				s.To = to
			}
			continue
		}
		all = append(all, &Story{Findings: []*finding.Finding{f}, From: f.From, To: to})
	}
	for _, s := range all {
		slices.SortStableFunc(s.Findings, func(a, b *finding.Finding) int {
			return cmp.Or(cmp.Compare(b.Severity, a.Severity), cmp.Compare(a.Rule, b.Rule))
		})
	}
	return all
}

// Worst returns the most severe finding, which describes the event.
func (s *Story) Worst() *finding.Finding { return s.Findings[0] }

// Hosts returns the hosts of its findings in the order of time: those on which a VM ran.
func (s *Story) Hosts() []string {
	byTime := slices.SortedStableFunc(slices.Values(s.Findings), func(a, b *finding.Finding) int { return a.From.Compare(b.From) })
	return slices.Compact(words.Texts(byTime, func(f *finding.Finding) string { return f.Host }))
}

// Length returns the duration of the event.
func (s *Story) Length() time.Duration { return s.To.Sub(s.From) }

// Rules returns the IDs of the rules that found it, the worst first.
func (s *Story) Rules() (ids []string) {
	for _, f := range s.Findings {
		ids = words.Once(ids, f.Rule)
	}
	return ids
}

// Bad describes the effect of the event.
func (s *Story) Bad() string {
	return cmp.Or(s.Worst().Bad, s.Worst().Title)
}

// Why returns the observed cause; "" if there is none.
func (s *Story) Why() string {
	for _, f := range s.Findings {
		if len(f.Because) > 0 {
			return strings.Join(f.Because, "; ")
		}
	}
	return ""
}

// Do returns the first action; "" for none.
func (s *Story) Do() string {
	for _, f := range s.Findings {
		if f.Advice != "" {
			return f.FirstAdvice()
		}
	}
	return ""
}

// State reports whether it is a permanent state instead of an event: the effect of a setting for as long as the VM runs.
func (s *Story) State() bool {
	return !slices.ContainsFunc(s.Findings, func(f *finding.Finding) bool { return f.Rule != interleavedlocality.Rule.ID })
}

// Alike groups stories with the same time, rules, severity, effect and cause; stories of VMs and of hosts stay apart.
func Alike(all []*Story, clock func(*Story) string) (groups [][]*Story) {
	at := map[string]int{}
	for _, s := range all {
		k := fmt.Sprint(clock(s), s.Rules(), s.Worst().Severity, s.Worst().VM == "", s.Worst().Bad, s.Why(), s.Do())
		if i, ok := at[k]; ok {
			groups[i] = append(groups[i], s)
			continue
		}
		at[k] = len(groups)
		groups = append(groups, []*Story{s})
	}
	return groups
}
