// Package many compares the results of homenode measure from many guests with each other and with the findings about their VMs.
package many

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"homenode/numa"
	"homenode/rules"
	"homenode/rules/finding"
	"homenode/source/machine"
	"homenode/source/measured"
)

// A Class summarises the latencies of a guest. The classes are ordered from worst to best.
type Class string

// The classes.
const (
	Remote    Class = "several nodes or far pages"
	NotKnown  Class = "not known" // hidden nodes were not searched for, or the data is insufficient
	Untrusted Class = "not trustworthy"
	OneKind   Class = "one kind" // all near, all far, or one node
)

var classes = []Class{Remote, NotKnown, Untrusted, OneKind}

// A Report has the measurements of many guests, worst first.
type Report struct {
	Guests []Guest  `json:"guests"`
	Broken []Broken `json:"broken,omitempty"`
	// Source is the fleet in which the guests were looked up; "" for none.
	Source string `json:"source,omitempty"`
	// Notes are about the use of results as evidence for VMs of the fleet.
	Notes []numa.Note `json:"notes,omitempty"`
}

// A Broken is a file that could not be read completely.
type Broken struct {
	File string `json:"file"`
	Why  string `json:"why"` // with the position
}

// A Guest is the newest result of one guest.
type Guest struct {
	Name  string    `json:"name"` // as stated in the result, else the name of the file
	At    string    `json:"at"`   // position of the result
	Time  time.Time `json:"started,omitzero"`
	Class Class     `json:"class"`

	OS         string `json:"os,omitempty"`
	Hypervisor string `json:"hypervisor,omitempty"`
	NoGuest    bool   `json:"noGuest,omitempty"` // the machine reports that it is not virtual
	VCPUs      int    `json:"vcpus"`
	Nodes      int    `json:"nodes"` // visible in the guest; 0 without NUMA

	Hidden measured.Answer `json:"hidden,omitempty"` // "" if it was not examined
	Why    string          `json:"why,omitempty"`    // reason if it is unknown
	// Share is the remote share of the memory; nil if unknown.
	Share *measured.Share `json:"share,omitempty"`
	// Local and Far are RAM latencies in ns; nil if not measured. FromInside means that they belong to two kinds of pages, otherwise to
	// the nodes that the guest sees.
	Local      *Range   `json:"localNs,omitempty"`
	Far        *Range   `json:"remoteNs,omitempty"`
	FromInside bool     `json:"fromInside,omitempty"`
	Lost       *float64 `json:"lostByHost,omitempty"` // share of the watched time; a lower bound

	Trusted bool              `json:"trusted"`
	Reasons []string          `json:"reasons,omitempty"`
	Missing []machine.Missing `json:"missing,omitempty"`

	Older []Older `json:"older,omitempty"` // results of the same guest that do not count
	VM    *VM     `json:"vm,omitempty"`    // nil if the result matches none
}

// An Older is a result of a guest that has a newer one.
type Older struct {
	At   string    `json:"at"`
	Time time.Time `json:"started,omitzero"`
}

// A Range is the minimum and maximum of several latencies.
type Range struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// A VM is the VM of the fleet that a result is evidence for.
type VM struct {
	Name    string `json:"name"`
	ID      string `json:"id"`
	Cluster string `json:"cluster,omitempty"`
	Host    string `json:"host,omitempty"`
	// Compared is the comparison with the prediction: agrees, differs, not compared; "" if the VM was not assessed.
	Compared string             `json:"compared,omitempty"`
	Findings []*finding.Finding `json:"findings"`
}

// Of combines results. Of several results of one guest, by its case-insensitive name, the newest counts. A result without time counts as
// the newest, as in evidence. judged is the fleet that was assessed with the same files as evidence; nil for none.
func Of(docs []*measured.Document, judged *rules.Result) *Report {
	r := &Report{Guests: []Guest{}}
	place, seen := map[string]int{}, map[string]bool{}
	for _, d := range sorted(docs) {
		g := guestOf(d)
		if seen[g.At] { // the file was given twice
			continue
		}
		seen[g.At] = true
		key := strings.ToLower(g.Name)
		if i, ok := place[key]; ok {
			old := &r.Guests[i]
			g.Older = append(old.Older, Older{old.At, old.Time})
			*old = g
			continue
		}
		place[key] = len(r.Guests)
		r.Guests = append(r.Guests, g)
	}
	if judged != nil {
		r.join(judged)
	}
	slices.SortStableFunc(r.Guests, worse)
	return r
}

// sorted returns the results, oldest first; results of one time, or without one, keep their order.
func sorted(docs []*measured.Document) []*measured.Document {
	out := slices.Clone(docs)
	slices.SortStableFunc(out, func(a, b *measured.Document) int {
		switch {
		case a.Started.IsZero() == b.Started.IsZero():
			return a.Started.Compare(b.Started)
		case a.Started.IsZero():
			return 1
		}
		return -1
	})
	return out
}

// worse orders guests, worst first: by class, the remote share, and the name.
func worse(a, b Guest) int {
	share := func(g *Guest) float64 {
		if g.Class == Remote && g.Share != nil {
			return g.Share.Remote
		}
		return 0
	}
	return cmp.Or(cmp.Compare(slices.Index(classes, a.Class), slices.Index(classes, b.Class)), cmp.Compare(share(&b), share(&a)),
		strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)), strings.Compare(a.At, b.At))
}

// guestOf returns the guest of a result.
func guestOf(d *measured.Document) Guest {
	id, t := &d.Machine.Identity, &d.Machine.Topology
	g := Guest{
		Name: nameOf(d), At: place(d), Time: d.Started, OS: id.OS, Hypervisor: id.Hypervisor.Value, Nodes: len(t.Nodes),
		NoGuest: id.Virtualised.Known() && !id.Virtualised.Value, Trusted: d.Trust.OK, Reasons: d.Trust.Reasons, Missing: d.Missing,
	}
	for _, p := range t.Processors {
		if p.Online {
			g.VCPUs++
		}
	}
	local, far := d.MemoryLatency()
	if h := d.Hidden; h != nil {
		g.Hidden, g.Why, g.Share = h.Answer, h.Why, shareOf(h)
		if m := h.Modes; m != nil && remote(h.Answer) {
			local, far, g.FromInside = []float64{m.Near}, []float64{m.Far}, true
		}
	}
	g.Local, g.Far = rangeOf(local), rangeOf(far)
	if d.Lost != nil {
		g.Lost = &d.Lost.ByHost
	}
	switch {
	case !g.Trusted:
		g.Class = Untrusted
	case remote(g.Hidden):
		g.Class = Remote
	case g.Hidden == measured.OneKind:
		g.Class = OneKind
	default:
		g.Class = NotKnown
	}
	return g
}

// remote reports whether an answer means that some memory is far.
func remote(a measured.Answer) bool { return a == measured.SeveralNodes || a == measured.FarPages }

// nameOf returns the name of the guest, else that of the file without its last extension: sql01 for out/sql01.json.
func nameOf(d *measured.Document) string {
	if d.Name != "" {
		return d.Name
	}
	base := filepath.Base(d.Source)
	return cmp.Or(strings.TrimSuffix(base, filepath.Ext(base)), base)
}

// place returns the position of a result, as in the observation that it is evidence for.
func place(d *measured.Document) string { return numa.Place(d.Source, d.Line, 0) }

// shareOf returns the remote share of an answer with remote memory: of all probed pages over all vCPUs, else the largest over the kinds
// of pages, else the largest over the groups of vCPUs.
func shareOf(h *measured.Hidden) *measured.Share {
	if !remote(h.Answer) {
		return nil
	}
	var best *measured.Share
	rank := func(s *measured.Share) int {
		switch {
		case len(s.From) > 0:
			return 0
		case s.Of != "all":
			return 1
		}
		return 2
	}
	for i := range h.Shares {
		s := &h.Shares[i]
		if best == nil || cmp.Or(cmp.Compare(rank(s), rank(best)), cmp.Compare(s.Remote, best.Remote)) > 0 {
			best = s
		}
	}
	return best
}

func rangeOf(ns []float64) *Range {
	if len(ns) == 0 {
		return nil
	}
	return &Range{slices.Min(ns), slices.Max(ns)}
}

// join adds the assessment of the VMs that the results are observations of.
func (r *Report) join(judged *rules.Result) {
	r.Source = judged.Fleet.Source
	at := map[string]int{} // guests by the position of their result
	for i := range r.Guests {
		at[r.Guests[i].At] = i
	}
	of := map[string][]int{} // guests by the ID of their VM
	for i := range judged.Fleet.VMs {
		v := &judged.Fleet.VMs[i]
		for _, o := range v.Observed {
			g, ok := at[o.At]
			if !ok || o.By != numa.ByMeasure || r.Guests[g].VM != nil {
				continue
			}
			r.Guests[g].VM = &VM{Name: v.Name, ID: v.ID, Findings: []*finding.Finding{}}
			of[v.ID] = append(of[v.ID], g)
		}
	}
	for _, c := range judged.Clusters {
		for _, v := range c.VMs {
			for _, g := range of[v.ID] {
				vm := r.Guests[g].VM
				vm.Cluster = c.Title()
				if v.Host != nil {
					vm.Host = v.Host.Name
				}
				for i := range v.Seen {
					if v.Seen[i].Observation.At == r.Guests[g].At {
						vm.Compared = v.Seen[i].Verdict()
					}
				}
			}
		}
	}
	for i := range judged.Findings {
		f := &judged.Findings[i]
		for _, g := range of[f.VMID] {
			if f.VMID != "" {
				r.Guests[g].VM.Findings = append(r.Guests[g].VM.Findings, f)
			}
		}
	}
	for _, n := range judged.Fleet.Notes {
		if _, ok := at[n.At]; ok {
			r.Notes = append(r.Notes, n)
		}
	}
}

// Count returns the number of guests in a class.
func (r *Report) Count(c Class) (n int) {
	for i := range r.Guests {
		if r.Guests[i].Class == c {
			n++
		}
	}
	return n
}

// AtLeast counts the findings of severity s or higher about the VMs of the guests, each finding once.
func (r *Report) AtLeast(s finding.Severity) int {
	found := map[*finding.Finding]bool{}
	for i := range r.Guests {
		if vm := r.Guests[i].VM; vm != nil {
			for _, f := range vm.Findings {
				if f.Severity >= s {
					found[f] = true
				}
			}
		}
	}
	return len(found)
}
