package policy

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"example.org/homenode/internal/glob"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
)

// Suppressed is an accepted finding.
type Suppressed struct {
	finding.Finding
	By Suppression `json:"suppressedBy"`
}

// Applied is the result of applying a policy to findings.
type Applied struct {
	Findings   []finding.Finding
	Suppressed []Suppressed
	Off        int // number of findings of rules that are switched off
	// Notes inform the owner of suppressions that have ended or suppress nothing.
	Notes []numa.Note
}

// Apply sets severities and removes suppressed findings from those about a fleet. today determines the suppressions that have ended;
// its location determines the day. The original findings are not modified.
func (p *Policy) Apply(all []finding.Finding, f *numa.Fleet, today time.Time) Applied {
	return p.apply(all, f, today, func(s *Suppression) bool {
		return s.Rules == nil || slices.ContainsFunc(s.Rules, func(id string) bool { return !p.watch[id] })
	})
}

// ApplyRecorded is Apply for findings about recordings. f is the inventory, which may be empty. A recording contains few hosts for a
// while: a suppression that matches nothing there may match elsewhere, so it is not noted.
func (p *Policy) ApplyRecorded(all []finding.Finding, f *numa.Fleet, today time.Time) Applied {
	return p.apply(all, f, today, func(*Suppression) bool { return false })
}

// apply applies p. told reports whether a suppression that matches no finding is noted.
func (p *Policy) apply(all []finding.Finding, f *numa.Fleet, today time.Time, told func(*Suppression) bool) Applied {
	vms := f.VMsByID()
	day := today.Format(time.DateOnly)
	matchers := make([]matcher, len(p.Suppress))
	for i := range p.Suppress {
		matchers[i] = newMatcher(&p.Suppress[i])
	}
	met := make([]int, len(p.Suppress))  // number of findings that each suppression matches
	open := make([]int, len(p.Suppress)) // number of these that no suppression accepts
	var a Applied
	for _, x := range all {
		if p.Off[x.Rule] {
			a.Off++
			continue
		}
		if s, ok := p.Severities[x.Rule]; ok {
			x.Severity = s
		}
		by := -1
		var mean []int
		for i := range matchers {
			if matchers[i].match(&x, vms[x.VMID]) {
				met[i]++
				mean = append(mean, i)
				if by < 0 && p.Suppress[i].Until >= day { // dates of one form compare as texts
					by = i
				}
			}
		}
		if by >= 0 {
			a.Suppressed = append(a.Suppressed, Suppressed{x, p.Suppress[by]})
			continue
		}
		for _, i := range mean {
			open[i]++
		}
		a.Findings = append(a.Findings, x)
	}
	a.Notes = p.notes(met, open, matchers, f, day, told)
	return a
}

// notes reports suppressions that have ended or match nothing. met is the number of findings that each matches, open the number of
// these that none accepts.
func (p *Policy) notes(met, open []int, matchers []matcher, f *numa.Fleet, day string, told func(*Suppression) bool) (notes []numa.Note) {
	for i := range p.Suppress {
		switch s := &p.Suppress[i]; {
		case s.Until < day && open[i] > 0:
			notes = append(notes, numa.Note{At: s.At, Text: fmt.Sprintf("the suppression of %s ended on %s; findings that count again: %d; renew or remove it (%s)", s.rules(), s.Until, open[i], s.Reason)})
		case !told(s):
		case s.Until < day:
			notes = append(notes, numa.Note{At: s.At, Text: fmt.Sprintf("the suppression of %s ended on %s and means no finding that counts: remove it (%s)", s.rules(), s.Until, s.Reason)})
		case met[i] == 0:
			text := "means no finding: remove it"
			if s.Rules == nil && len(p.watch) > 0 {
				text = "means no finding of the fleet: remove it, unless it is for recordings"
			}
			if names := strange(s, &matchers[i], f); names != nil {
				text = "means no finding, and the fleet has no " + strings.Join(names, ", ") + ": correct or remove it"
			}
			notes = append(notes, numa.Note{At: s.At, Text: fmt.Sprintf("the suppression of %s %s (%s)", s.rules(), text, s.Reason)})
		default:
			if names := strange(s, &matchers[i], f); names != nil {
				notes = append(notes, numa.Note{At: s.At, Text: fmt.Sprintf("the suppression of %s: the fleet has no %s (%s)", s.rules(), strings.Join(names, ", "), s.Reason)})
			}
		}
	}
	return notes
}

// strange returns the patterns that match nothing in the fleet, such as misspelt names: host "esx9*".
func strange(s *Suppression, m *matcher, f *numa.Fleet) []string {
	var vms, tags, folders, clusters, hosts []string
	for i := range f.VMs {
		v := &f.VMs[i]
		vms, tags, folders = append(vms, v.Name), append(tags, v.Tags...), append(folders, v.Folder)
	}
	for i := range f.Clusters {
		clusters = append(clusters, f.Clusters[i].Name)
	}
	for i := range f.Hosts {
		hosts = append(hosts, f.Hosts[i].Name)
	}
	var out []string
	for _, one := range []struct {
		noun     string
		texts    []string
		patterns glob.Patterns
		names    []string
	}{
		{"VM", s.VM, m.vm, vms}, {"tag", s.Tag, m.tag, tags}, {"folder", s.Folder, m.folder, folders},
		{"cluster", s.Cluster, m.cluster, clusters}, {"host", s.Host, m.host, hosts},
	} {
		for i, p := range one.patterns {
			if !slices.ContainsFunc(one.names, p.MatchString) {
				out = append(out, fmt.Sprintf("%s %q", one.noun, one.texts[i]))
			}
		}
	}
	return out
}

// rules lists the rules of the suppression.
func (s *Suppression) rules() string {
	if s.Rules == nil {
		return "all rules"
	}
	return strings.Join(s.Rules, ", ")
}

// matcher is a suppression with its patterns compiled.
type matcher struct {
	rules                          []string
	vm, tag, folder, cluster, host glob.Patterns
}

func newMatcher(s *Suppression) matcher {
	return matcher{s.Rules, glob.Compile(s.VM, ""), glob.Compile(s.Tag, ""), glob.Compile(s.Folder, glob.Below), glob.Compile(s.Cluster, ""), glob.Compile(s.Host, glob.Domain)}
}

// match reports whether the suppression matches the finding; v is its VM, or nil.
func (m *matcher) match(x *finding.Finding, v *numa.VM) bool {
	if m.rules != nil && !slices.Contains(m.rules, x.Rule) {
		return false
	}
	// A finding about several hosts names only the first: all have to match.
	if x.VMID == "" && m.host != nil && slices.ContainsFunc(x.About, func(name string) bool { return !m.host.Match(name) }) {
		return false
	}
	var folder, tags []string
	if v != nil {
		folder, tags = []string{v.Folder}, v.Tags
	}
	for _, c := range []struct {
		patterns glob.Patterns
		values   []string
	}{
		{m.vm, one(x.VM)}, {m.tag, tags}, {m.folder, folder}, {m.cluster, one(x.Cluster)}, {m.host, one(x.Host)},
	} {
		if !c.patterns.Allow(c.values...) {
			return false
		}
	}
	return true
}

// one returns a name as a list; a missing name matches no pattern.
func one(name string) []string {
	if name == "" {
		return nil
	}
	return []string{name}
}
