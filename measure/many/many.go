// Package many puts the results of homenode measure from many guests beside each other, and beside what is judged of their VMs.
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

// A Class says what the latencies of a guest come to. The classes stand from the worst to the best.
type Class string

// The classes.
const (
	Remote    Class = "several nodes or far pages"
	NotKnown  Class = "not known" // hidden nodes were not looked for, or too little was measured
	Untrusted Class = "not trustworthy"
	OneKind   Class = "one kind" // all near, all far, or one node
)

var classes = []Class{Remote, NotKnown, Untrusted, OneKind}

// A Report is what many guests measured, the worst first.
type Report struct {
	Guests []Guest  `json:"guests"`
	Broken []Broken `json:"broken,omitempty"`
	// Source is the fleet that the guests were looked for in; "" for none.
	Source string `json:"source,omitempty"`
	// Notes say what became of results as evidence for VMs of the fleet.
	Notes []numa.Note `json:"notes,omitempty"`
}

// A Broken is a file that could not be read, or not to its end.
type Broken struct {
	File string `json:"file"`
	Why  string `json:"why"` // with the position
}

// A Guest is the newest result of one guest.
type Guest struct {
	Name  string    `json:"name"` // as the result states it, else the name of the file
	At    string    `json:"at"`   // where the result stands
	Time  time.Time `json:"started,omitzero"`
	Class Class     `json:"class"`

	OS         string `json:"os,omitempty"`
	Hypervisor string `json:"hypervisor,omitempty"`
	NoGuest    bool   `json:"noGuest,omitempty"` // it says that it ran on the machine itself
	VCPUs      int    `json:"vcpus"`
	Nodes      int    `json:"nodes"` // that the guest sees; 0 without NUMA

	Hidden measured.Answer `json:"hidden,omitempty"` // "" when it was not looked for
	Why    string          `json:"why,omitempty"`    // why it is not known
	// Share is how much of the memory is remote; nil when that is not known.
	Share *measured.Share `json:"share,omitempty"`
	// Local and Far are latencies of RAM in ns; nil for what was not measured. FromInside says that they are those of two kinds of
	// pages, else they are of the nodes that the guest sees.
	Local      *Range   `json:"localNs,omitempty"`
	Far        *Range   `json:"remoteNs,omitempty"`
	FromInside bool     `json:"fromInside,omitempty"`
	Lost       *float64 `json:"lostByHost,omitempty"` // share of the time that was watched; the least that it can have been

	Trusted bool              `json:"trusted"`
	Reasons []string          `json:"reasons,omitempty"`
	Missing []machine.Missing `json:"missing,omitempty"`

	Older []Older `json:"older,omitempty"` // results of the same guest that do not count
	VM    *VM     `json:"vm,omitempty"`    // nil when the result was joined to none
}

// An Older is a result of a guest that has a newer one.
type Older struct {
	At   string    `json:"at"`
	Time time.Time `json:"started,omitzero"`
}

// A Range is the least and the greatest of several latencies.
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
	// Compared is how the result stands beside the prediction: agrees, differs, not compared; "" when the VM was not judged.
	Compared string             `json:"compared,omitempty"`
	Findings []*finding.Finding `json:"findings"`
}

// Of puts results beside each other. Of several of one guest, by its name in any case, the newest counts; one that states no time counts
// as the newest, as it does among evidence. judged is the fleet that was judged with the same files as evidence; nil for none.
func Of(docs []*measured.Document, judged *rules.Result) *Report {
	r := &Report{Guests: []Guest{}}
	place, seen := map[string]int{}, map[string]bool{}
	for _, d := range sorted(docs) {
		g := guestOf(d)
		if seen[g.At] { // the file was named twice
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

// sorted returns the results, the oldest first; those of one time, or without one, in their order.
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

// worse orders guests, the worst first: by class, the remote share, and the name.
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

// guestOf returns what a result says of its guest.
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

// remote reports whether an answer says that some memory is far.
func remote(a measured.Answer) bool { return a == measured.SeveralNodes || a == measured.FarPages }

// nameOf returns the name of the guest, else that of the file less its last ending: sql01 for out/sql01.json.
func nameOf(d *measured.Document) string {
	if d.Name != "" {
		return d.Name
	}
	base := filepath.Base(d.Source)
	return cmp.Or(strings.TrimSuffix(base, filepath.Ext(base)), base)
}

// place says where a result stands, as the observation that it is evidence of has it.
func place(d *measured.Document) string { return numa.Place(d.Source, d.Line, 0) }

// shareOf returns the remote share of an answer that there is one: of all pages that were looked at, as all vCPUs together see
// them, else the greatest of the kinds of pages, else the greatest that a group of vCPUs sees.
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

// join adds what is judged of the VMs that the results are observations of.
func (r *Report) join(judged *rules.Result) {
	r.Source = judged.Fleet.Source
	at := map[string]int{} // guests by the place of their result
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

// Count returns how many guests are of a class.
func (r *Report) Count(c Class) (n int) {
	for i := range r.Guests {
		if r.Guests[i].Class == c {
			n++
		}
	}
	return n
}

// AtLeast counts the findings of severity s or more about the VMs of the guests, each finding once.
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
