package sizing

import (
	"fmt"
	"strings"

	"homenode/capacity"
	"homenode/capacity/fit"
	"homenode/numa"
)

// Fit returns the answer how many VMs of each shape fit a host of each type.
func Fit(a *fit.Ask, r *fit.Result, changes []fit.Change, given map[string]bool, release numa.Release) *Answer {
	out := &Answer{Command: "size fit", Question: fitQuestion(r), Result: struct {
		*fit.Result
		Changes []fit.Change `json:"changes"`
	}{r, changes}}
	out.Assumed = fitAssumed(a, r, given, release)
	out.Verdict = fitVerdict(r)
	out.Tables = append(out.Tables, fitCounts(r), fitDrawing(r), fitSteps(r))
	for _, c := range changes {
		out.If = append(out.If, fitChange(r, c))
	}
	out.Notes = append(out.Notes, r.Left...)
	return out
}

func fitQuestion(r *fit.Result) string {
	var shapes, types []string
	for _, s := range r.Shapes {
		shapes = append(shapes, s.String())
	}
	for _, t := range r.Types {
		types = append(types, t.Name)
	}
	return fmt.Sprintf("size fit: VMs of %s on %s", strings.Join(shapes, ", "), strings.Join(types, ", "))
}

// origin is how a value of a flag came to be: given, or assumed when it is the default.
func origin(given map[string]bool, flag string) capacity.Origin {
	if given[flag] {
		return capacity.Given
	}
	return capacity.Assumed
}

func fitAssumed(a *fit.Ask, r *fit.Result, given map[string]bool, release numa.Release) []Assumption {
	var reserves []string
	for _, t := range r.Types {
		reserves = append(reserves, t.Reserve.String())
	}
	out := []Assumption{{What: "release", Value: release.String(), Origin: origin(given, "release"), Source: "--release"}}
	out = append(out, Assumption{What: "reserve of a node", Value: strings.Join(reserves, ", "), Origin: origin(given, "reserve"),
		Source: fmt.Sprintf("--reserve %g", a.Reserve), Note: "4 × minFree of the host (C-23); for each node it is inferred (C-15)"})
	var overheads []string
	for _, s := range r.Shapes {
		overheads = append(overheads, a.Overhead.Of(s.VCPUs, s.Memory).String())
	}
	note := "VMware's table up to 8 vCPUs and 16 GB, extrapolated"
	if given["overhead"] {
		note = ""
	}
	out = append(out,
		Assumption{What: "overhead of a VM", Value: strings.Join(overheads, ", "), Origin: origin(given, "overhead"), Source: "--overhead", Note: note},
		Assumption{What: "vCPUs per core", Value: fmt.Sprintf("%g", a.PerCore), Origin: origin(given, "vcpus-per-core"), Source: "--vcpus-per-core"})
	if r.Hosts > 0 {
		out = append(out, Assumption{What: "cluster", Value: fmt.Sprintf("%d hosts, %d spare", r.Hosts, r.Spare), Origin: origin(given, "count"), Source: "--count, --spare"})
	}
	return out
}

func fitVerdict(r *fit.Result) []string {
	var out []string
	for j := range r.Shapes {
		var parts []string
		for i := range r.Types {
			t := &r.Types[i]
			parts = append(parts, fmt.Sprintf("%d a host of %s", t.Counts[j].VMs, t.Name))
		}
		out = append(out, fmt.Sprintf("%s: %s, every client local.", r.Shapes[j].Name, strings.Join(parts, ", ")))
	}
	return out
}

// fitCounts is the table of VMs per host.
func fitCounts(r *fit.Result) Table {
	t := Table{Name: "fit", Columns: []Column{
		{Name: "host type"}, {Name: "nodes"}, {Name: "VM"}, {Name: "clients"}, {Name: "VMs", Right: true}, {Name: "binds"},
		{Name: "cores used", Right: true}, {Name: "memory used", Right: true}, {Name: "left on a node"},
	}}
	if r.Hosts > 0 {
		t.Columns = append(t.Columns, Column{Name: fmt.Sprintf("%d hosts", r.Hosts), Right: true}, Column{Name: fmt.Sprintf("%d failed", r.Spare), Right: true})
	}
	for i := range r.Types {
		o := &r.Types[i]
		for j := range o.Counts {
			c := &o.Counts[j]
			cores, memory := used(c)
			binds := string(c.Binds)
			if c.VMs == 0 {
				binds = c.Why
			}
			row := []string{
				o.Name, nodesText(o), r.Shapes[j].Name, clientsText(c.Clients), fmt.Sprint(c.VMs), binds,
				cores.String(), memory.String(), restText(c),
			}
			if r.Hosts > 0 {
				row = append(row, fmt.Sprint(c.InCluster(r.Hosts)), fmt.Sprint(c.InCluster(r.Hosts-r.Spare)))
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

func nodesText(o *fit.Outcome) string {
	s := fmt.Sprintf("%d × %dc/%s", o.Nodes, o.NodeCores, short(o.NodeMemory))
	if o.Uneven {
		s = "uneven, " + s
	}
	return s
}

// short writes memory without a blank.
func short(b numa.Bytes) string { return strings.ReplaceAll(b.String(), " ", "") }

func clientsText(sizes []int) string {
	if len(sizes) == 1 {
		return "1"
	}
	return fmt.Sprintf("%d × %d", len(sizes), sizes[0])
}

// used returns what share of the cores and of the memory the VMs take.
func used(c *fit.Count) (cores, memory capacity.Share) {
	takes, vcpus, all, taken := 0, 0, numa.Bytes(0), numa.Bytes(0)
	for _, n := range c.Nodes {
		takes, all = takes+n.VCPUs, all+n.Memory
		for _, cl := range n.Clients {
			vcpus, taken = vcpus+cl.VCPUs, taken+cl.Memory
		}
	}
	return capacity.Share(float64(vcpus) / float64(takes)), capacity.Share(float64(taken) / float64(all))
}

// restText says what is left on the nodes: once where all are alike.
func restText(c *fit.Count) string {
	var parts []string
	for _, n := range c.Nodes {
		s := fmt.Sprintf("%d vCPU, %s", n.RestVCPUs, whole(n.RestMemory))
		if len(parts) == 0 || parts[len(parts)-1] != s {
			parts = append(parts, s)
		}
	}
	if len(parts) > 2 {
		parts = append(parts[:2], "…")
	}
	return strings.Join(parts, "; ")
}

// whole writes memory in whole GB, rounded down, where it is more than ten.
func whole(b numa.Bytes) string {
	if b >= 10*numa.GiB {
		return fmt.Sprintf("%d GB", b/numa.GiB)
	}
	return b.String()
}

// fitSteps is the table of the largest shapes.
func fitSteps(r *fit.Result) Table {
	t := Table{Name: "shapes", Title: "largest VM of which 1, 2, 3 … fit a node (* leaves no core)", Columns: []Column{{Name: "host type"}}}
	const most = 5
	for n := 1; n <= most; n++ {
		t.Columns = append(t.Columns, Column{Name: fmt.Sprint(n)})
	}
	for i := range r.Types {
		row := []string{r.Types[i].Name}
		for n := range most {
			cell := "-"
			if n < len(r.Types[i].Steps) {
				s := r.Types[i].Steps[n]
				cell = fmt.Sprintf("%dx%s", s.VCPUs, strings.ReplaceAll(whole(s.Memory), " ", ""))
				if s.Aligned {
					cell += "*"
				}
			}
			row = append(row, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// fitChange says what a change does to each type.
func fitChange(r *fit.Result, c fit.Change) Change {
	out := Change{If: c.If, Result: "no change"}
	var parts []string
	for _, m := range c.Moved {
		name := m.Type
		if len(r.Shapes) > 1 {
			name += " " + m.Shape
		}
		parts = append(parts, fmt.Sprintf("%s %d (%+d)", name, m.After, m.After-m.Before))
	}
	if len(parts) > 0 {
		out.Result = strings.Join(parts, ", ")
	}
	return out
}
