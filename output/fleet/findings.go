package fleet

import (
	"cmp"
	"slices"
	"strings"

	"example.org/homenode/numa"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/table"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
	judged "example.org/homenode/rules/verdict/fleet"
)

// An index finds the findings and notes about a VM or host.
type index struct {
	*rules.Result
	clusters []judged.Cluster
	urgent   []drawnVM                     // with findings of high severity
	byVM     map[string][]*finding.Finding // by VM ID
	byHost   map[string][]*finding.Finding // about the host itself, by host ID
	vmAt     map[string]string             // place of a VM in the source, by ID
	hostAt   map[string]string             // the same of a host
	notes    map[string][]string           // by place
	shared   map[string]int                // number of VMs and hosts with the same place that notes are about
}

func newIndex(r *rules.Result) *index {
	x := &index{Result: r, clusters: judged.Clusters(r), urgent: drawnVMs(r), byVM: map[string][]*finding.Finding{}, byHost: map[string][]*finding.Finding{},
		vmAt: make(map[string]string, len(r.Fleet.VMs)), hostAt: make(map[string]string, len(r.Fleet.Hosts)), notes: map[string][]string{}, shared: map[string]int{}}
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.VMID != "" {
			x.byVM[f.VMID] = append(x.byVM[f.VMID], f)
		} else {
			x.byHost[f.HostID] = append(x.byHost[f.HostID], f)
		}
	}
	for _, n := range slices.Concat(r.Fleet.Notes, r.Unjudged, r.PolicyNotes) {
		x.notes[n.At] = append(x.notes[n.At], n.Text)
	}
	located := func(at map[string]string, id, place string) {
		at[id] = place
		if x.notes[place] != nil {
			x.shared[place]++
		}
	}
	for i := range r.Fleet.Hosts {
		located(x.hostAt, r.Fleet.Hosts[i].ID, r.Fleet.Hosts[i].At)
	}
	for i := range r.Fleet.VMs {
		located(x.vmAt, r.Fleet.VMs[i].ID, r.Fleet.VMs[i].At)
	}
	return x
}

// notesAt returns the notes about the object at this place; nil if several objects have this place.
func (x *index) notesAt(at string) []string {
	if at == "" || x.shared[at] > 1 {
		return nil
	}
	return x.notes[at]
}

// subjectKey identifies a subject by its ID, because names can change.
func subjectKey(f *finding.Finding) (kind, id string) {
	if f.VMID != "" {
		return "vm", f.VMID
	}
	return "host", f.HostID
}

// findings returns the assessment with its subjects.
func (x *index) findings() *answer.Findings {
	f := x.Fleet
	drawn, plans := map[string]string{}, map[string]*numa.VM{}
	for i := range f.VMs {
		if f.VMs[i].Planned != nil {
			plans[f.VMs[i].ID] = &f.VMs[i]
		}
	}
	for _, v := range x.urgent {
		drawn[v.ID] = v.drawing.ID
	}
	place, above := "Cluster", func(f *finding.Finding) string { return f.Cluster }
	applied := func(one *rule.Rule) bool { return one.Check != nil }
	if x.kind() == stated {
		place, above = "Host", func(f *finding.Finding) string { return f.Host }
		applied = func(one *rule.Rule) bool { return one.Stated != nil }
	}
	j := &answer.Findings{
		Judgement: &x.Judgement, Source: f.Source, Rules: append(answer.RulesWhere(applied), x.Own()...),
		Subject: func(f *finding.Finding) answer.Subject {
			kind, id := subjectKey(f)
			short, at := cmp.Or(f.VM, f.Host), x.hostAt[id]
			if kind == "vm" {
				at = x.vmAt[id]
			}
			var file string
			var line, col int
			if v := plans[id]; v != nil && kind == "vm" {
				at = gateAt(v, f)
				file, line, col = placeIn(at)
			}
			return answer.Subject{File: file, Line: line, Col: col, Name: strings.TrimPrefix(above(f)+"/"+short, "/"), Short: short, Group: above(f), Key: kind + "\x00" + id, ID: id, At: at,
				Place: above(f), Drawing: drawn[f.VMID]}
		},
		Suites: x.suites(), Place: place, Rest: "the VM table names all VMs, and --format json holds everything",
		Properties: map[string]any{"source": table.Clean(f.Source), "collected": table.Clean(f.Collected),
			"hosts": len(f.Hosts), "vms": len(f.VMs), "judged": x.VMs, "predictions": x.Pairs},
	}
	if x.VMs == 0 && len(f.VMs) > x.Templates {
		j.Nothing = "no VM could be judged"
	}
	named := map[string]bool{}
	for i := range x.Findings {
		named[above(&x.Findings[i])] = true
	}
	for _, s := range j.Suites {
		if named[s.Name] {
			j.Places = append(j.Places, s.Name)
		}
	}
	return j
}

// shows reports whether the host is in the filtered fleet.
func (x *index) shows(h *numa.Host) bool {
	_, ok := x.hostAt[h.ID]
	return ok
}

// nodesKnown reports whether the NUMA nodes of the host are known.
func nodesKnown(c *rule.Cluster, h *numa.Host) bool {
	return slices.ContainsFunc(c.Kinds, func(k *rule.Kind) bool { return slices.Contains(k.Hosts, h) })
}

// suites returns a suite for each cluster with its hosts and VMs, or for each KVM host with its VMs, and one for the VMs
// without an assessment.
func (x *index) suites() []answer.Suite {
	why := func(notes []string) string {
		return cmp.Or(strings.Join(notes, "; "), "not judged: see the notes of the source")
	}
	var all []answer.Suite
	done := map[string]bool{}
	for _, c := range x.Clusters {
		s := answer.Suite{Name: c.Title()}
		for _, h := range c.Hosts {
			if !x.shows(h) {
				continue
			}
			one := answer.Case{Name: "host " + h.Name, ID: h.ID, Findings: x.byHost[h.ID]}
			if !nodesKnown(c, h) {
				one.Skipped = why(x.notesAt(h.At))
			}
			s.Cases = append(s.Cases, one)
		}
		for _, v := range c.VMs {
			done[v.ID] = true
			s.Cases = append(s.Cases, answer.Case{Name: v.Name, ID: v.ID, Findings: x.byVM[v.ID]})
		}
		all = append(all, s)
	}
	index := map[string]int{}
	for _, v := range x.Stated {
		done[v.ID] = true
		i, ok := index[hostName(v)]
		if !ok {
			i = len(all)
			index[hostName(v)], all = i, append(all, answer.Suite{Name: hostName(v)})
		}
		all[i].Cases = append(all[i].Cases, answer.Case{Name: v.Name, ID: v.ID, Findings: x.byVM[v.ID]})
	}
	left := answer.Suite{Name: "not judged"}
	for i := range x.Fleet.VMs {
		v := &x.Fleet.VMs[i]
		switch {
		case done[v.ID]:
		case v.Template.Or(false) && len(x.byVM[v.ID]) > 0:
			left.Cases = append(left.Cases, answer.Case{Name: v.Name, ID: v.ID, Findings: x.byVM[v.ID]})
		case v.Template.Or(false):
			left.Cases = append(left.Cases, answer.Case{Name: v.Name, ID: v.ID, Skipped: "a template does not run"})
		default:
			left.Cases = append(left.Cases, answer.Case{Name: v.Name, ID: v.ID, Skipped: why(x.notesAt(v.At))})
		}
	}
	if len(left.Cases) > 0 {
		all = append(all, left)
	}
	return all
}
