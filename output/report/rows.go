package report

import (
	"slices"
	"strings"

	"homenode/numa"
	"homenode/output/table"
	"homenode/rules"
	"homenode/rules/finding"
)

// column returns a column of a table; width is in letters.
func column(name string, width int) table.Column { return table.Column{Name: name, Width: width} }

// mib returns an amount in MiB, the unit of RVTools.
func mib(b numa.Bytes) table.Cell { return table.Number(float64(b) / float64(numa.MiB)) }

// percentOf returns a share as a percentage with two decimals, as esxtop's N%L.
func percentOf(share float64) table.Cell { return table.Number(float64(int(share*10000+0.5)) / 100) }

// cellOf returns the cell of a fact; unknown stays unknown.
func cellOf[T any](f numa.Fact[T], cell func(T) table.Cell) table.Cell {
	if !f.Known() {
		return table.Cell{}
	}
	return cell(f.Value)
}

func joined(texts []string) table.Cell { return table.Text(strings.Join(texts, "; ")) }

// TableNames lists the tables that Tables returns, in their order.
func TableNames() []string {
	return table.Names(Tables(&rules.Result{Fleet: &numa.Fleet{}}, ""))
}

// Tables returns the judged fleet as tables. version is that of homenode.
func Tables(r *rules.Result, version string) []table.Table {
	x := newIndex(r)
	j := judgedFleet(x)
	return []table.Table{findingTable(j), vmTable(x), hostTable(x), clusterTable(x), observationTable(x), suppressedTable(j), ruleTable(j), noteTable(j), aboutTable(x, j, version)}
}

// index finds what was said about a VM or host.
type index struct {
	*rules.Result
	byVM   map[string][]*finding.Finding // by ID of the VM
	byHost map[string][]*finding.Finding // about the host itself, by its ID
	at     map[string]string             // where a VM or host was read, by "vm " or "host " and its ID
	notes  map[string][]string           // by where they were read
	shared map[string]int                // VMs and hosts that were read at one place
}

func newIndex(r *rules.Result) *index {
	x := &index{Result: r, byVM: map[string][]*finding.Finding{}, byHost: map[string][]*finding.Finding{},
		at: map[string]string{}, notes: map[string][]string{}, shared: map[string]int{}}
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.VMID != "" {
			x.byVM[f.VMID] = append(x.byVM[f.VMID], f)
		} else {
			x.byHost[f.HostID] = append(x.byHost[f.HostID], f)
		}
	}
	for i := range r.Fleet.Hosts {
		h := &r.Fleet.Hosts[i]
		x.at["host "+h.ID] = h.At
		x.shared[h.At]++
	}
	for i := range r.Fleet.VMs {
		v := &r.Fleet.VMs[i]
		x.at["vm "+v.ID] = v.At
		x.shared[v.At]++
	}
	for _, n := range slices.Concat(r.Fleet.Notes, r.Unjudged, r.PolicyNotes) {
		x.notes[n.At] = append(x.notes[n.At], n.Text)
	}
	return x
}

// notesAt returns the notes about the one object that was read at this place.
func (x *index) notesAt(at string) []string {
	if at == "" || x.shared[at] > 1 {
		return nil
	}
	return x.notes[at]
}

// findingAt returns where the subject of the finding was read.
func (x *index) findingAt(f *finding.Finding) string {
	if f.VMID != "" {
		return x.at["vm "+f.VMID]
	}
	return x.at["host "+f.HostID]
}

// gidOf returns the scheduler group of a VM, unknown when it is below 0.
func gidOf(gid int64, vm bool) table.Cell {
	if !vm || gid < 0 {
		return table.Cell{}
	}
	return table.Number(float64(gid))
}

// paragraph joins the lines of a text.
func paragraph(s string) string { return strings.Join(strings.Fields(s), " ") }
