package fleet

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/change/gate"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/output/answer"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
)

// gated is the JSON of planned VMs.
type gated struct {
	Source  string     `json:"source"`
	Planned []*gate.VM `json:"planned"`
}

// showGate adds to an answer what is about planned VMs.
func (x *index) showGate(a *answer.Answer, _ *Options) {
	vms := gate.Judge(x.Result)
	a.Format, a.Title, a.Verdict = "homenode-gate", "NUMA of planned VMs in "+x.Fleet.Source, gateVerdict(x.Result, vms)
	a.Result = gated{x.Fleet.Source, vms}
	plan := answer.Table{Name: "planned", Title: "planned VMs", Columns: answer.Columns("VM", "at", ">vCPUs", ">memory", "hosts", "nodes of a host", "guest sees", ">remote")}
	changes := answer.Table{Name: "changes", Title: "lines to change", Columns: answer.Columns("VM", "at", "line")}
	shown := vms
	if len(vms) > mostPlanned {
		shown = slices.DeleteFunc(slices.Clone(vms), func(v *gate.VM) bool { return v.Worst < finding.Medium && len(v.On) > 0 })
		shown = shown[:min(len(shown), mostPlanned)]
		plan.Cut = fmt.Sprintf("%s of %s; --format json has all", words.Plural(len(shown), "VM"), words.Thousands(len(vms)))
	}
	for _, v := range shown {
		addPlanned(&plan, v)
		for _, why := range v.Cannot {
			changes.Foot = append(changes.Foot, v.Name+": "+why)
		}
	}
	lines, conflicts := gate.Changes(shown)
	for _, l := range lines {
		changes.Add(words.Few(l.VMs), l.At, l.Text)
	}
	changes.Foot = append(changes.Foot, conflicts...)
	a.Tables = append(a.Tables, plan)
	if len(changes.Rows)+len(changes.Foot) > 0 {
		a.Tables = append(a.Tables, changes)
	}
}

// mostPlanned is how many VMs a table shows: a page of code review has fewer.
const mostPlanned = 100

// addPlanned adds rows of a planned VM: one for each thing that its guest may see.
func addPlanned(t *answer.Table, v *gate.VM) {
	first := []string{v.Name, v.At, "unknown", "unknown"}
	if v.VCPUs > 0 {
		first[2] = strconv.Itoa(v.VCPUs)
	}
	if v.Memory > 0 {
		first[3] = v.Memory.String()
	}
	if len(v.On) == 0 {
		t.Add(append(first, "", "", "unknown", "")...)
	}
	done := map[string]bool{}
	for _, p := range v.On {
		key := p.Sees + words.Percent(p.Far)
		if done[key] {
			continue
		}
		done[key] = true
		var sites, nodes []string
		for _, o := range v.On {
			if o.Sees+words.Percent(o.Far) != key {
				continue
			}
			sites = words.Once(sites, o.Site)
			if !slices.Contains(nodes, o.Nodes) {
				nodes = append(nodes, o.Nodes)
			}
		}
		kinds := strings.Join(nodes, "; ")
		if len(nodes) > 2 {
			kinds = fmt.Sprintf("%d kinds", len(nodes))
		}
		t.Add(append(first, words.Few(sites), kinds, p.Sees, words.Percent(p.Far))...)
		first = []string{"", "", "", ""}
	}
}

// gateVerdict says how many planned VMs would have a poor layout, which, and what depends on the host.
func gateVerdict(r *rules.Result, vms []*gate.VM) (out []string) {
	var bad, unjudged, depends []string
	for _, v := range vms {
		switch {
		case len(v.On) == 0:
			unjudged = append(unjudged, v.Name)
		case v.Worst >= finding.Medium:
			bad = append(bad, v.Name)
		}
		if text := v.Depends(); text != "" {
			depends = append(depends, v.Name+" depends on the host: "+text+".")
		}
	}
	all := words.Plural(len(vms), "planned VM")
	switch {
	case len(vms) == 0:
		return []string{r.Nothing()}
	case len(unjudged) == len(vms):
		return []string{"No planned VM could be judged: " + unjudgedWhy(r) + "."}
	case bad == nil && len(vms) == 1:
		out = append(out, "The planned VM has no NUMA problem of medium or high severity: "+vms[0].Name+".")
	case bad == nil:
		out = append(out, fmt.Sprintf("None of %s has a NUMA problem of medium or high severity.", all))
	case len(vms) == 1:
		out = append(out, "The planned VM is wrong: "+bad[0]+".")
	default:
		out = append(out, fmt.Sprintf("%d of %s %s wrong: %s.", len(bad), all, isAre(len(bad)), words.Few(bad)))
	}
	if unjudged != nil {
		out = append(out, "Not judged: "+words.Few(unjudged)+": "+unjudgedWhy(r)+".")
	}
	const most = 3
	return append(out, depends[:min(most, len(depends))]...)
}

func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// unjudgedWhy says why planned VMs are not judged.
func unjudgedWhy(r *rules.Result) string {
	_, why := r.Missed()
	return strings.Join(why, "; ")
}

// gateAt returns where the file of a planned VM has what the first cure of a finding changes; else where it describes the VM.
func gateAt(v *numa.VM, f *finding.Finding) string {
	for _, w := range f.Ways {
		for i := range w.Edits {
			if at := gate.At(v, &w.Edits[i]); at != "" {
				return at
			}
		}
	}
	return v.At
}

// planned counts the VMs of plans; one that is judged on several sites is one.
func planned(f *numa.Fleet) int {
	ids := map[string]bool{}
	for i := range f.VMs {
		if p := f.VMs[i].Planned; p != nil {
			ids[p.File+"\x00"+p.ID] = true
		}
	}
	return len(ids)
}

// placeIn divides file:line:column.
func placeIn(at string) (file string, line, col int) {
	parts := strings.Split(at, ":")
	n := len(parts)
	if n < 3 {
		return "", 0, 0
	}
	line, errLine := strconv.Atoi(parts[n-2])
	col, errCol := strconv.Atoi(parts[n-1])
	if errLine != nil || errCol != nil {
		return "", 0, 0
	}
	return strings.Join(parts[:n-2], ":"), line, col
}
