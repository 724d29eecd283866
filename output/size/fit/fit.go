// Package fit has the answers about the number of hosts or VMs that fit.
package fit

import (
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/numa/unit"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/size"
	"example.org/homenode/size/fit"
)

// A Context is the basis of an answer about fitting, in addition to the calculation.
type Context struct {
	Given   map[string]bool // flags that the user gave
	Source  string          // of the fleet; "" for none
	Words   []string        // the source and the flags for reading it, as given
	Notes   []numa.Note     // of the source
	Cluster *fit.Cluster    // nil without a source
	Today   *fit.Today      // of the cluster
	Release string          // of host types that are only described; "" if there are none
	Newest  bool            // Release is the newest of the hosts of the source
	Filled  int             // number of hosts in the source without a release, which have Release instead
	fit.Options
	Details bool
}

// A result is the JSON of an answer about fitting.
type result struct {
	*fit.Result
	PerCore float64      `json:"vcpusPerCore"`
	Today   *fit.Today   `json:"today,omitempty"`
	Changes []fit.Change `json:"changes"`
}

// Answer returns the answer how many VMs of each shape fit on a host of each type or, if shapes
// have counts, how many hosts of each type are needed.
func Answer(c *Context, r *fit.Result, changes []fit.Change) *answer.Answer {
	out := &answer.Answer{Command: "size fit", Result: result{r, c.PerCore, c.Today, changes}}
	out.Question = "size fit: " + question(c, r)
	out.Assumed = append(c.assumed(r.Shapes, r.Types), answer.Assumption{What: "memory of VMs", Value: "as configured", Origin: unit.Assumed, Note: "all of it counts, as if touched; none is shared, ballooned or swapped"})
	mixed := r.Types[0].Mix != nil
	if mixed {
		out.Verdict = mixVerdict(c, r)
		if c.Cluster == nil || c.Cluster.Part == nil && c.Cluster.Away == 0 {
			out.Note(addNote(r)...)
		}
		r = c.useful(r, out)
		out.Note(mixNotes(c, r)...)
		out.Tables = append(out.Tables, mixTable(r))
		out.Drawings = c.mixed(r, strings.Join(out.Verdict, " "))
		if c.Details {
			out.Tables = append(out.Tables, shapesTable(r.Shapes), steps(r))
		}
	} else {
		if r.Hosts > 0 {
			out.Assumed = append(out.Assumed, answer.Assumption{What: "cluster", Value: fmt.Sprintf("%d hosts, %d spare", r.Hosts, r.Spare), Origin: c.origin("host-count"), Source: "--host-count, --spare"})
		}
		out.Verdict = verdict(c, r)
		out.Note(notes(r)...)
		out.Tables = append(out.Tables, counts(r))
		if anyPrice(r) {
			out.Tables = append(out.Tables, prices(r))
		}
		out.Tables = append(out.Tables, steps(r))
		out.Drawings = c.counted(r, strings.Join(out.Verdict, " "))
	}
	out.Note(wideNotes(r)...)
	for _, c := range changes {
		out.Changes = append(out.Changes, change(r, c))
	}
	c.sourceNotes(out)
	out.Note(r.Left...)
	return out
}

// sourceNotes adds the notes of the source and of its cluster.
func (c *Context) sourceNotes(out *answer.Answer) {
	if c.Cluster != nil {
		out.Note(c.Cluster.Notes...)
		out.NotesFrom("source", c.Notes...)
	}
}

// Sizes returns the answer which VMs fit the nodes of each type of host; flags are those that affect it, for the next commands.
func Sizes(c *Context, r *fit.Result, flags []string) *answer.Answer {
	out := &answer.Answer{Command: "size fit", Result: result{Result: r, PerCore: c.PerCore, Changes: []fit.Change{}}}
	names := words.Texts(r.Types, func(t fit.Outcome) string { return t.Name })
	out.Question = "size fit: sizes of VMs for " + strings.Join(names, ", ")
	out.Assumed = c.assumed(nil, r.Types)
	for i := range r.Types {
		t := &r.Types[i]
		if len(t.Steps) == 0 {
			out.Verdict = append(out.Verdict, t.Name+": a node has no room for a VM.")
			continue
		}
		out.Verdict = append(out.Verdict, fmt.Sprintf("%s: a VM of up to %s and %s fits a NUMA node with all memory local, at %s.", t.Name, words.Plural(t.Steps[0].VCPUs, "vCPU"), whole(t.Steps[0].Memory), c.ratio()))
		name := sizeText(&t.Steps[min(1, len(t.Steps)-1)])
		out.Next = append(out.Next, "homenode size fit "+words.Command(append([]string{"--vm", name}, flags...)...))
	}
	out.Next = out.Next[:min(1, len(out.Next))]
	out.Tables = []answer.Table{steps(r)}
	out.Note("A larger VM is divided into clients, so give it a number of vCPUs that its nodes divide evenly: --vm names its size.")
	out.Note(wideNotes(r)...)
	out.Note(r.Left...)
	return out
}

func question(c *Context, r *fit.Result) string {
	var shapes, types []string
	for i := range r.Shapes {
		s := &r.Shapes[i]
		if s.Count > 0 {
			shapes = append(shapes, fmt.Sprintf("%s of %s", words.Plural(s.Count, "VM"), s))
		} else {
			shapes = append(shapes, "VMs of "+s.String())
		}
	}
	for _, t := range r.Asked() {
		types = append(types, t.Name)
	}
	what := strings.Join(shapes, ", ")
	if c.Cluster != nil {
		what = fmt.Sprintf("the VMs of %s, %s", c.Cluster.Name, c.Source)
	}
	return what + " on " + strings.Join(types, ", ")
}

func (c *Context) origin(flag string) unit.Origin { return size.Origin(c.Given, flag) }

// assumed lists the assumptions of every answer about fitting.
func (c *Context) assumed(shapes []fit.Shape, types []fit.Outcome) []answer.Assumption {
	var out []answer.Assumption
	if c.Release != "" {
		release := answer.Assumption{What: "release", Value: c.Release, Origin: c.origin("release"), Source: "--release"}
		if c.Newest {
			release.Note = "the newest of the hosts of " + c.Cluster.Name
		}
		if c.Filled > 0 {
			release.Origin, release.Note = unit.Assumed, fmt.Sprintf("for %s of the source that state none", words.Plural(c.Filled, "host"))
		}
		out = append(out, release)
	}
	reserve := answer.Assumption{What: "free on each node", Value: fmt.Sprintf("%g × the soft reserve", c.Reserve), Origin: c.origin("reserve"), Source: "--reserve", Note: "for the host C-23, for each node inferred (C-15)"}
	if c.Reserve > 0 {
		var each []numa.Bytes
		for _, t := range types {
			each = append(each, t.Reserve)
		}
		reserve.Value = spread(each)
	}
	overhead := answer.Assumption{What: "overhead of a VM", Origin: c.origin("overhead"), Source: "--overhead"}
	var each []numa.Bytes
	for _, x := range shapes {
		each = append(each, c.Overhead.Of(x.VCPUs, x.Memory))
	}
	if overhead.Value = spread(each); len(shapes) == 0 {
		overhead.Value = "by size"
	}
	if !c.Given["overhead"] {
		overhead.Note = "VMware's table to 8 vCPUs and 16 GB, extrapolated"
	}
	return append(out, reserve, overhead, c.perCore())
}

// perCore describes the limit of vCPUs per core, and states the mean of the cluster today.
func (c *Context) perCore() answer.Assumption {
	ratio := answer.Assumption{What: "vCPUs per core", Value: unit.Digits(c.PerCore, 3), Origin: c.origin("vcpus-per-core"), Source: "--vcpus-per-core"}
	if c.Cluster == nil || c.Given["vcpus-per-core"] {
		return ratio
	}
	today, _, _ := c.Cluster.PerCore()
	if c.Cluster.Running != nil {
		today = c.Cluster.Running.PerCore()
	}
	of := c.Cluster.Name
	if c.Cluster.Away > 0 && c.Cluster.Running == nil {
		of += fmt.Sprintf(" (the %s that the source describes)", words.Plural(len(c.Cluster.Hosts), "host"))
	}
	if n := words.Count(c.Cluster.Hosts, func(h *numa.Host) bool { return h.Connected() && !h.Ready() }); n > 0 {
		of += fmt.Sprintf(", with the cores of %s in maintenance,", words.Plural(n, "host"))
	}
	ratio.Origin, ratio.Note = unit.Assumed, fmt.Sprintf("at most, VMware's example of a limit: %s has %s today", of, unit.Digits(today, 3))
	if c.PerCore > fit.MostPerCore {
		ratio.Origin, ratio.Note = unit.Derived, fmt.Sprintf("at most, the ratio of %s when its largest host has failed (%s today)", of, unit.Digits(today, 3))
	}
	return ratio
}

// spread lists a few values in ascending order, or the least and most of many.
func spread(values []numa.Bytes) string {
	slices.Sort(values)
	out := slices.Compact(words.Texts(values, numa.Bytes.String))
	if len(out) > 4 {
		return out[0] + " … " + out[len(out)-1]
	}
	return strings.Join(out, ", ")
}

// wideNotes lists further requirements of large VMs in the answer, besides cores and memory.
func wideNotes(r *fit.Result) []string {
	most := 0
	for i := range r.Shapes {
		most = max(most, r.Shapes[i].VCPUs)
	}
	for i := range r.Types {
		for _, s := range r.Types[i].Steps {
			most = max(most, s.VCPUs)
		}
	}
	if !vnuma.NeedsIOMMU(most) {
		return nil
	}
	return []string{"a VM of more than 127 vCPUs needs EFI firmware and the virtual IOMMU (B-32)"}
}

// notes lists remarks that the counts do not show.
func notes(r *fit.Result) []string {
	var out []string
	for i := range r.Types {
		for j := range r.Types[i].Counts {
			c := &r.Types[i].Counts[j]
			at := fmt.Sprintf("%s on %s: ", c.Shape, r.Types[i].Name)
			switch {
			case c.LocalAs != nil:
				out = append(out, at+fmt.Sprintf("local as %s (%s); 0 by default: %s; %s", c.LocalAs, c.LocalAs.Rule, c.Why, strings.Join(c.LocalAs.Steps, ", ")))
			case c.Why != "":
				out = append(out, at+c.Why)
			}
			if c.VMs > 0 && c.Bound > c.VMs {
				out = append(out, at+fmt.Sprintf("cores and memory divide to %d, ESXi's placement (C-4, inferred) comes to %d", c.Bound, c.VMs))
			}
			if n := len(c.Clients); n > 1 && c.Clients[0] != c.Clients[n-1] {
				out = append(out, at+fmt.Sprintf("its clients are uneven: %s", vnuma.SizesText(c.Clients)))
			}
		}
	}
	return out
}

func verdict(c *Context, r *fit.Result) []string {
	var out []string
	for j := range r.Shapes {
		var parts []string
		for i := range r.Types {
			t := &r.Types[i]
			n := &t.Counts[j]
			part := fmt.Sprintf("%d on %s", n.VMs, t.Name)
			if n.Binds == fit.Cores || n.Binds == fit.Memory {
				part += map[fit.Limit]string{fit.Cores: " (cores bind)", fit.Memory: " (memory binds)"}[n.Binds]
			}
			if n.LocalAs != nil {
				part += fmt.Sprintf(" as %s (%s), 0 by default", n.LocalAs, n.LocalAs.Rule)
			}
			parts = append(parts, part)
		}
		out = append(out, fmt.Sprintf("%s, all memory local, at %s: %s.", r.Shapes[j].Name, c.ratio(), strings.Join(parts, ", ")))
	}
	return out
}

// ratio formats the vCPUs per core, which determine most counts.
func (c *Context) ratio() string {
	noun := "vCPUs"
	if c.PerCore == 1 {
		noun = "vCPU"
	}
	return fmt.Sprintf("%s %s per core", unit.Digits(c.PerCore, 3), noun)
}

// anyPrice reports whether any price is known.
func anyPrice(r *fit.Result) bool {
	return slices.ContainsFunc(r.Types, func(t fit.Outcome) bool { return t.Price > 0 })
}

// prices returns the table of prices per VM.
func prices(r *fit.Result) answer.Table {
	t := answer.Table{Name: "prices", Title: "price of one VM", Columns: size.Columns("host type", "VM", ">host", ">host ÷ its VMs")}
	if r.Spare > 0 {
		t.Columns = append(t.Columns, answer.Column{Name: fmt.Sprintf("%s ÷ VMs with %d failed", words.Plural(r.Hosts, "host"), r.Spare), Right: true})
	}
	for i := range r.Types {
		o := &r.Types[i]
		for j := range o.Counts {
			n := &o.Counts[j]
			each, failed := "none fits", "none fits"
			if n.VMs > 0 {
				each, failed = money(n.Price), money(n.PriceFailed)
			}
			row := []string{o.Name, r.Shapes[j].Name, money(o.Price), each}
			if r.Spare > 0 {
				row = append(row, failed)
			}
			t.Add(row...)
		}
	}
	return t
}

const bindsFoot = "BINDS is the limit that one more VM would exceed first."

// counts returns the table of VMs per host.
func counts(r *fit.Result) answer.Table {
	t := answer.Table{Name: "fit", Columns: size.Columns("host type", "nodes", "VM", "clients", ">VMs", "binds", ">cores %", ">memory %", "left on a node")}
	if r.Hosts > 0 {
		t.Columns = append(t.Columns, answer.Column{Name: words.Plural(r.Hosts, "host"), Right: true})
	}
	t.Foot = []string{bindsFoot}
	if r.Hosts > 0 && r.Spare > 0 {
		t.Columns = append(t.Columns, answer.Column{Name: fmt.Sprintf("%d failed", r.Spare), Right: true})
	}
	for i := range r.Types {
		o := &r.Types[i]
		for j := range o.Counts {
			c := &o.Counts[j]
			cores, memory := used(c)
			binds := string(c.Binds)
			if c.VMs == 0 {
				binds = "none fits"
			}
			clients := clientsText(c.Clients)
			if c.LocalAs != nil {
				clients += " set"
			}
			row := []string{
				o.Name, nodesText(o), r.Shapes[j].Name, clients, fmt.Sprint(c.VMs), binds,
				percent(cores), percent(memory), restText(c),
			}
			if r.Hosts > 0 {
				row = append(row, fmt.Sprint(c.InCluster(r.Hosts)))
			}
			if r.Hosts > 0 && r.Spare > 0 {
				row = append(row, fmt.Sprint(c.InCluster(r.Hosts-r.Spare)))
			}
			t.Add(row...)
		}
	}
	return t
}

func nodesText(o *fit.Outcome) string {
	if o.Each != nil {
		return strings.Join(o.Each, " + ")
	}
	return fmt.Sprintf("%d × %dc/%s", o.Nodes, o.NodeCores, short(o.NodeMemory))
}

// short formats memory without a space.
func short(b numa.Bytes) string { return strings.ReplaceAll(b.String(), " ", "") }

func clientsText(sizes []int) string {
	if len(sizes) == 1 {
		return "1"
	}
	return vnuma.SizesText(sizes)
}

// used returns the shares of the cores and of the memory that the VMs use.
func used(c *fit.Count) (cores, memory unit.Share) {
	takes, vcpus, all, taken := 0, 0, numa.Bytes(0), numa.Bytes(0)
	for _, n := range c.Nodes {
		takes, all = takes+n.VCPUs, all+n.Memory
		for _, cl := range n.Clients {
			vcpus, taken = vcpus+cl.VCPUs, taken+cl.Memory
		}
	}
	return unit.Share(float64(vcpus) / float64(takes)), unit.Share(float64(taken) / float64(all))
}

// restText describes the free resources of the nodes, once if all are equal.
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

// whole formats memory of 10 GB or more in whole GB, rounded down.
func whole(b numa.Bytes) string {
	if b >= 10*numa.GiB {
		return fmt.Sprintf("%d GB", b/numa.GiB)
	}
	return b.String()
}

// steps returns the table of the largest shapes.
func steps(r *fit.Result) answer.Table {
	t := answer.Table{Name: "shapes", Title: "largest VM of which 1, 2, 3 … fit a node (* leaves no core)", Columns: size.Columns("host type")}
	const most = 5
	for n := 1; n <= most; n++ {
		t.Columns = append(t.Columns, answer.Column{Name: fmt.Sprint(n)})
	}
	for i := range r.Types {
		row := []string{r.Types[i].Name}
		for n := range most {
			cell := "-"
			if n < len(r.Types[i].Steps) {
				s := r.Types[i].Steps[n]
				cell = sizeText(&s)
				if s.Aligned {
					cell += "*"
				}
			}
			row = append(row, cell)
		}
		t.Add(row...)
	}
	return t
}

// sizeText formats a size as users type it, with memory rounded down.
func sizeText(s *fit.Step) string {
	return fmt.Sprintf("%dx%s", s.VCPUs, strings.ReplaceAll(whole(s.Memory), " ", ""))
}

// widestChange is the maximum length of a line of changes. JSON has all of them.
const widestChange = 72

// change describes the effect of a change on each type.
func change(r *fit.Result, c fit.Change) answer.Change {
	out := answer.Change{If: c.If, Result: "no change"}
	var parts []string
	named := map[string]bool{}
	for i, m := range c.Moved {
		if !slices.ContainsFunc(r.Types, func(t fit.Outcome) bool { return t.Name == m.Type }) {
			continue // left out
		}
		name := m.Type
		if len(r.Shapes) > 1 && m.Shape != "" {
			name += " " + m.Shape
		}
		of := ""
		switch m.Of {
		case "cluster":
			of = " in the cluster"
		case "wide":
			of = " wide"
		case "hold":
			of = strings.TrimPrefix(words.Plural(m.After, "VM"), words.Thousands(m.After)) + " held"
		}
		part := fmt.Sprintf("%s: %d%s (%+d)", name, m.After, of, m.After-m.Before)
		if m.Of == "hosts" {
			part = fmt.Sprintf("%s: %d + %d (%+d)", name, m.After-m.Spare, m.Spare, m.After-m.Before)
		}
		if i > 0 && m.Of == "wide" && c.Moved[i-1].Type == m.Type {
			part = fmt.Sprintf("%d%s (%+d)", m.After, of, m.After-m.Before)
		}
		if len(strings.Join(parts, ", "))+len(part) > widestChange && !named[m.Type] {
			more := map[string]bool{}
			for _, rest := range c.Moved[i:] {
				if slices.ContainsFunc(r.Types, func(t fit.Outcome) bool { return t.Name == rest.Type }) && !named[rest.Type] {
					more[rest.Type] = true
				}
			}
			parts = append(parts, words.Plural(len(more), "more host type"))
			break
		}
		named[m.Type] = true
		parts = append(parts, part)
	}
	if len(parts) > 0 {
		out.Result = strings.Join(parts, ", ")
		if slices.ContainsFunc(r.Types, func(t fit.Outcome) bool {
			return !slices.ContainsFunc(c.Moved, func(m fit.Moved) bool { return m.Type == t.Name })
		}) {
			out.Result += "; the others: no change"
		}
	}
	return out
}
