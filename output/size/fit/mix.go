package fit

import (
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/numa/unit"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/size"
	"example.org/homenode/size/fit"
)

// mixVerdict names the first type, which is the cheapest, and the type with the fewest hosts.
func mixVerdict(c *Context, r *fit.Result) []string {
	vms, more := 0, 0
	for _, s := range r.Shapes {
		if s.VMs == nil {
			more += s.Count
		}
		vms += s.Count
	}
	first, fewest := &r.Types[0], r.Fewest()
	vcpus, memory := r.Held(first.Mix)
	size := fmt.Sprintf("%s (%d vCPUs, %s)", c.running(vms, more), vcpus, whole(memory))
	if first.Mix.VMs < vms {
		size = fmt.Sprintf("%d of ", first.Mix.VMs) + size
	}
	verb := map[bool]string{true: "needs", false: "need"}[vms == 1]
	if first.Mix.Bound < first.Mix.Hosts {
		verb = map[bool]string{true: "fits on", false: "fit on"}[vms == 1]
	}
	if all := r.Running; all != nil {
		size, verb = ofRows(all), "need at least"
		if more > 0 {
			size += fmt.Sprintf(" and %d of --vm", more)
		}
	}
	line := fmt.Sprintf("At %s, %s %s %s", c.ratio(), size, verb, hostsOf(first, r.Spare))
	if first.Mix.VMs == 0 && vms > 0 {
		fits := "such a host"
		if len(r.Types) > 1 {
			fits = "any of these hosts"
		}
		return []string{fmt.Sprintf("At %s, none of %s fits %s%s.", c.ratio(), c.running(vms, more), fits, lost(first.Mix))}
	}
	if first.Price > 0 {
		least := ", which cost "
		if priced, _ := r.Rivals(); len(priced) > 0 {
			least = ", which cost the least: "
		}
		line += least + money(first.Mix.Price)
	}
	if same := asGood(r); len(same) > 0 {
		line += fmt.Sprintf(", or as many of %s", words.Few(same))
	}
	if fewest != first {
		line += fmt.Sprintf("; the fewest are %s", hostsOf(fewest, r.Spare))
	}
	return append([]string{line + others(r, fewest) + lost(first.Mix) + "."}, c.uncounted(r.Spare, more)...)
}

// lost says why hosts do not hold some VMs.
func lost(m *fit.Mix) (text string) {
	off := m.Off()
	if n := m.Lost() - off; n > 0 && m.VMs > 0 {
		text = fmt.Sprintf("; %s no such host", words.Verb(n, "other fits", "others fit"))
	}
	if off > 0 {
		text += fmt.Sprintf("; %s not power on there as configured", words.Verb(off, "VM does", "VMs do"))
	}
	return text
}

// ofRows names the running VMs of an export that lists a part of them.
func ofRows(all *numa.Running) string {
	memory := "unknown memory"
	if all.Memory > 0 {
		memory = whole(all.Memory)
	}
	return fmt.Sprintf("%s (%d vCPUs, %s)", words.Plural(all.VMs, "running VM"), all.VCPUs, memory)
}

// running names a number of VMs, of which more are described: those of a source are the running ones.
func (c *Context) running(vms, more int) string {
	switch {
	case c.Cluster == nil:
		return words.Plural(vms, "VM")
	case more > 0:
		return fmt.Sprintf("%s and %d of --vm", words.Plural(vms-more, "running VM"), more)
	}
	return words.Plural(vms, "running VM")
}

// uncounted says which VMs of the source the answer leaves out and how to count them, which more that are described may do, and that clusters are pooled.
func (c *Context) uncounted(spare, more int) (lines []string) {
	if c.Cluster == nil {
		return nil
	}
	switch part := c.Cluster.Part; {
	case c.Cluster.Running != nil:
		lines = append(lines, fmt.Sprintf("It is a lower bound, from the vCPUs and memory that the rows of hosts state: %s.", part))
	case part != nil:
		lines = append(lines, fmt.Sprintf("Only the listed VMs are counted: %s.", part))
	}
	if n := c.Cluster.Away; n > 0 && len(c.Cluster.Hosts) > 0 {
		lines = append(lines, fmt.Sprintf("%s on hosts that the source does not describe.", words.Verb(n, "of them runs", "of them run")))
	}
	if n := len(c.Cluster.Off); n > 0 {
		how := ", unless --vm stands for " + map[bool]string{true: "it", false: "them"}[n == 1]
		if more == 0 {
			how = "; to count them, add " + flagsOf(c.Cluster.Off)
		}
		lines = append(lines, fmt.Sprintf("%s not counted%s.", words.Verb(n, "powered-off VM is", "powered-off VMs are"), how))
	}
	if n, alone := c.Cluster.Apart, c.Cluster.Alone; n+alone > 1 {
		var of []string
		if n > 0 {
			of = append(of, words.Plural(n, "cluster"))
		}
		if alone > 0 {
			of = append(of, words.Plural(alone, "standalone host"))
		}
		lines = append(lines, fmt.Sprintf("%s are sized together, with %s for all of them. Sized alone (--cluster NAME), each rounds up and has its own spare, so the sum is usually larger.", strings.Join(of, " and "), words.Plural(spare, "spare host")))
	}
	return lines
}

// flagsOf returns the flags that add these VMs, whole, or what to add where they have too many sizes for a line.
func flagsOf(vms []*numa.VM) string {
	const most = 8
	var flags []string
	count := map[string]int{}
	shapes := (&fit.Cluster{VMs: vms}).Shapes()
	for _, s := range shapes {
		count[s.Name] += s.Count
	}
	for _, s := range shapes {
		if n := count[s.Name]; n > 0 {
			flags = append(flags, fmt.Sprintf("--vm '%s*%d'", s.Name, n))
		}
		delete(count, s.Name)
	}
	if n := len(flags); n > most {
		return fmt.Sprintf("--vm for each of their %d sizes, such as %s", n, flags[0])
	}
	return strings.Join(flags, " ")
}

// useful returns the result without the rows that are no answer: types of the source that do not hold all VMs, or that
// equal a requested type. It adds a note about the former.
func (c *Context) useful(r *fit.Result, out *answer.Answer) *fit.Result {
	if c.Details || r.Types[0].InSource > 0 || r.Types[0].Mix.Lost() > 0 {
		return r
	}
	short := *r
	short.Types = nil
	var left []string
	for i := range r.Types {
		switch t := &r.Types[i]; {
		case t.InSource == 0:
			short.Types = append(short.Types, *t)
		case t.Mix.Lost() > 0:
			left = append(left, fmt.Sprintf("%s (%d not held)", t.Name, t.Mix.Lost()))
		case !slices.ContainsFunc(r.Asked(), func(a fit.Outcome) bool {
			return strings.HasPrefix(t.Name, a.Name+" (has ") && a.Mix.Hosts == t.Mix.Hosts
		}):
			short.Types = append(short.Types, *t)
		}
	}
	if left != nil {
		out.Note("host types of the source that do not hold all VMs are left out, --details shows them: " + strings.Join(left, ", "))
	}
	return &short
}

// priceNotes lists types that could still be cheaper than the first.
func priceNotes(r *fit.Result) []string {
	var out []string
	if r.Types[0].Price == 0 {
		return nil
	}
	priced, unknown := r.Rivals()
	for _, t := range priced {
		if m := t.Mix; t.MayCostLess(&r.Types[0]) {
			out = append(out, fmt.Sprintf("%s: could cost less, were %d + %d hosts enough, which is not decided", t.Name, m.Bound, m.Total-m.Hosts))
		}
	}
	if len(unknown) > 0 {
		out = append(out, "of unknown price, so not compared: "+strings.Join(unknown, ", "))
	}
	return out
}

// asGood returns the types that need as many hosts for as many VMs as the first, if prices do not distinguish them.
func asGood(r *fit.Result) (names []string) {
	first := &r.Types[0]
	for i := range r.Asked()[1:] {
		if t := &r.Types[1+i]; first.Price == 0 && t.Price == 0 && t.Mix.Total == first.Mix.Total && t.Mix.Lost() == first.Mix.Lost() {
			names = append(names, t.Name)
		}
	}
	return names
}

// others returns the number of hosts of a few other requested types, and of how many more the table has it.
func others(r *fit.Result, fewest *fit.Outcome) (text string) {
	asked, good, more := r.Asked(), asGood(r), 0
	for i := range asked {
		t := &asked[i]
		switch {
		case i == 0 || t == fewest || slices.Contains(good, t.Name):
			continue
		case i > 3:
			more++
			continue
		case t.Mix.VMs != asked[0].Mix.VMs:
			text += fmt.Sprintf("; hosts of %s hold %d of them", t.Name, t.Mix.VMs)
			continue
		}
		if text += "; " + hostsOf(t, r.Spare); t.Price > 0 {
			text += " cost " + money(t.Mix.Price)
		}
	}
	if more > 0 {
		text += "; see " + words.Plural(more, "more host type") + " below"
	}
	return text
}

// hostsOf formats a number of hosts, with the lower bound where it differs: "8 + 1 spare hosts of 2x32c/1TB (at least 7 + 1)".
func hostsOf(t *fit.Outcome, spare int) string {
	n, least, with := fmt.Sprint(t.Mix.Hosts), "", ""
	if spare > 0 {
		with = fmt.Sprintf(" + %d", spare)
		n += with + " spare"
	}
	if t.Mix.Bound < t.Mix.Hosts {
		least = fmt.Sprintf(" (at least %d%s)", t.Mix.Bound, with)
	}
	return fmt.Sprintf("%s hosts of %s%s", n, t.Name, least)
}

// mixTable returns the table of hosts to buy.
func mixTable(r *fit.Result) answer.Table {
	t := answer.Table{Name: "hosts", Columns: size.Columns("host type", "nodes", ">hosts", ">at least", ">spare", ">cores", ">GB", ">vCPU %", ">memory %", ">wide", ">remote")}
	priced, lost := false, false
	for i := range r.Types {
		priced, lost = priced || r.Types[i].Price > 0, lost || r.Types[i].Mix.Lost() > 0
	}
	if lost {
		t.Columns = append(t.Columns, answer.Column{Name: "not held", Right: true})
	}
	if priced {
		t.Columns = append(t.Columns, answer.Column{Name: "price", Right: true})
	}
	t.Foot = []string{
		"HOSTS are those that hold all VMs, SPARE ones come to them; no placement needs fewer than AT LEAST.",
		"VCPU % and MEMORY % are used of the HOSTS; CORES and GB are those of all hosts, the SPARE ones too.",
		"WIDE: VMs that ESXi divides over several nodes. REMOTE: VMs with memory on other nodes, → with virtual NUMA nodes.",
	}
	if r.Running == nil && slices.ContainsFunc(r.Types, func(o fit.Outcome) bool { return o.Mix.Bound < o.Mix.Hosts }) {
		t.Foot = append(t.Foot, "HOSTS are filled with one VM after the other, each on the nodes that ESXi chooses (C-4), in several orders by memory and vCPUs, of which the one with the fewest hosts counts. AT LEAST counts the sizes and their sums alone.")
	}
	if r.Running != nil {
		t.Foot[0] = "HOSTS, without the SPARE ones, are the least number for the vCPUs and memory that the rows of hosts state, and for the listed VMs."
		t.Foot[1] = "VCPU % and MEMORY % are the shares of the HOSTS that the listed VMs use; CORES and GB are those of all hosts, the SPARE ones too."
	}
	for i := range r.Types {
		o := &r.Types[i]
		m := o.Mix
		name := o.Name
		if has := fmt.Sprintf("(has %d)", o.InSource); o.InSource > 0 && !strings.HasSuffix(name, has) {
			name += fmt.Sprintf(", has %d", o.InSource)
		}
		if n := len(o.Releases); n > 1 {
			name += fmt.Sprintf(", of %s, counted as %s", words.List(words.Texts(o.Releases, numa.Release.String)), o.Releases[n-1])
		}
		row := []string{
			name, nodesText(o), fmt.Sprint(m.Hosts), fmt.Sprint(m.Bound), fmt.Sprint(m.Total - m.Hosts), fmt.Sprint(m.Cores), fmt.Sprint(int64(m.Memory / numa.GiB)),
			percent(m.VCPUsUsed), percent(m.MemoryUsed), fmt.Sprint(m.Wide), remoteText(m),
		}
		if lost {
			row = append(row, fmt.Sprint(m.Lost()))
		}
		if priced {
			row = append(row, money(m.Price))
		}
		t.Add(row...)
	}
	return t
}

// percent formats a share as a whole number of percent, which a spreadsheet takes for a number.
func percent(s unit.Share) string { return fmt.Sprintf("%.0f", 100*float64(s)) }

// remoteText formats the number of VMs that are partly remote as configured and, if virtual NUMA nodes help, the number with
// them: "4 → 1".
func remoteText(m *fit.Mix) string {
	if m.RemoteCured == 0 {
		return fmt.Sprint(m.Remote)
	}
	return fmt.Sprintf("%d → %d", m.Remote, m.Remote-m.RemoteCured)
}

// money formats a price without currency.
func money(v float64) string {
	if v == 0 {
		return "unknown"
	}
	return unit.Grouped(v, 0)
}

// mixNotes lists VMs that do not fit, and remarks that the number of hosts does not show.
func mixNotes(c *Context, r *fit.Result) []string {
	var out []string
	var all grouped
	for i := range r.Types {
		o := &r.Types[i]
		cured, rest := parted(o.Mix.RemoteVMs)
		all.add(o.Name, "part remote as configured, local as several virtual NUMA nodes (N005), on %s: "+escaped(c.misfits(cured)), len(cured))
		all.add(o.Name, "part remote as configured, no even division into virtual NUMA nodes found that makes it local, on %s: "+escaped(c.misfits(rest)), len(rest))
		for _, e := range o.Mix.Edited {
			all.add(o.Name, fmt.Sprintf("%s: counted as %s (%s), part remote by default, on %%s", escaped(vmNames(e)), e.LocalAs, e.LocalAs.Rule), 1)
		}
		all.add(o.Name, "not held by %s, and not counted there: "+escaped(c.unfit(o.Mix.Never)), len(o.Mix.Never))
		if m := o.Mix; m.Free < m.Hosts {
			all.add(o.Name, "%s: "+words.Plural(m.Free, "host")+" would do were the node of each client chosen by hand", 1)
		}
	}
	out = append(out, all.lines()...)
	out = append(out, largerNotes(r)...)
	out = append(out, priceNotes(r)...)
	if t := c.Today; t != nil && t.VMs > 0 {
		out = append(out, fmt.Sprintf("today, on %s: %s of %s are remote, or do not fit beside the reserve (predicted)", words.Plural(t.Hosts, "host"), whole(t.Memory), words.Plural(t.VMs, "VM")))
	}
	if c.Cluster != nil {
		if n := c.Cluster.Bound(); n > 0 {
			out = append(out, fmt.Sprintf("bound to CPUs or nodes, counted as if not: %s", words.Plural(n, "VM")))
		}
	}
	return out
}

// largerNotes explains why more hosts are needed of a type than of one that has no more cores and memory.
func largerNotes(r *fit.Result) (out []string) {
	asked := r.Asked()
	for i := range asked {
		for j := range asked {
			a, b := &asked[i], &asked[j]
			if a.Nodes != b.Nodes || a.NodeCores < b.NodeCores || a.NodeMemory < b.NodeMemory || a.Mix.Hosts <= b.Mix.Hosts {
				continue
			}
			why := "no placement of these VMs needs fewer"
			if a.Mix.Bound < a.Mix.Hosts {
				why = fmt.Sprintf("this packing may not be the best, at least %d are needed", a.Mix.Bound)
			}
			if n := b.Mix.Wide - a.Mix.Wide; n > 0 {
				why = fmt.Sprintf("%s there and fewer clients here, which need more memory on one node each", words.Verb(n, "VM has several clients", "VMs have several clients"))
			}
			if n := a.Mix.VMs - b.Mix.VMs; n > 0 {
				why = fmt.Sprintf("they hold %s more", words.Plural(n, "VM"))
			}
			out = append(out, fmt.Sprintf("%s: more hosts than of %s, which have no more cores and memory: %s", a.Name, b.Name, why))
		}
	}
	return out
}

// addNote states how many hosts of the source's own kinds must be added to the existing ones.
func addNote(r *fit.Result) []string {
	var parts []string
	for i := range r.Types {
		if o := &r.Types[i]; o.InSource > 0 && o.Mix.Lost() == 0 {
			name := strings.TrimSuffix(o.Name, fmt.Sprintf(" (has %d)", o.InSource))
			add := fmt.Sprint(o.Mix.Add)
			if fewer := max(0, o.Mix.Add-(o.Mix.Hosts-o.Mix.Bound)); fewer < o.Mix.Add {
				add += fmt.Sprintf(" (at least %d)", fewer)
			}
			part := fmt.Sprintf("%s: %s beside your %d", name, add, o.InSource)
			if o.Mix.Add == 0 {
				part = fmt.Sprintf("%s: none, your %d are enough", name, o.InSource)
			}
			parts = append(parts, part)
		}
	}
	if parts == nil {
		return nil
	}
	return []string{"hosts to add, were all of one kind that you have (spare included): " + strings.Join(parts, "; ")}
}

// grouped merges equal notes about several types.
type grouped struct {
	texts []string // with %s for the types
	types [][]string
}

// add adds a text about n objects of the type, unless n is 0.
func (g *grouped) add(name, text string, n int) {
	if n == 0 {
		return
	}
	i := slices.Index(g.texts, text)
	if i < 0 {
		i = len(g.texts)
		g.texts, g.types = append(g.texts, text), append(g.types, nil)
	}
	g.types[i] = append(g.types[i], name)
}

func (g *grouped) lines() []string {
	var out []string
	for i, text := range g.texts {
		out = append(out, fmt.Sprintf(text, strings.Join(g.types[i], ", ")))
	}
	return out
}

// escaped escapes text for use in a format string.
func escaped(s string) string { return strings.ReplaceAll(s, "%", "%%") }

// parted splits misfits into those that virtual NUMA nodes make local, and the others.
func parted(all []fit.Misfit) (cured, rest []fit.Misfit) {
	for _, f := range all {
		if f.LocalAs != nil {
			cured = append(cured, f)
		} else {
			rest = append(rest, f)
		}
	}
	return cured, rest
}

// misfits names VMs: a few, or all with reasons.
func (c *Context) misfits(all []fit.Misfit) string { return c.named(all, c.Details) }

// unfit is misfits with the reasons of all that are named.
func (c *Context) unfit(all []fit.Misfit) string { return c.named(all, true) }

func (c *Context) named(all []fit.Misfit, why bool) string {
	var parts []string
	for i, f := range all {
		if c.Details || why && i < mostMisfits {
			text := vmNames(f) + ": " + f.Why
			if f.LocalAs != nil {
				text += fmt.Sprintf(", local as %s (%s)", f.LocalAs, strings.Join(f.LocalAs.Steps, ", "))
			}
			parts = append(parts, text)
		} else if i < mostMisfits {
			parts = append(parts, vmNames(f))
		}
	}
	if !c.Details && len(all) > mostMisfits {
		parts = append(parts, words.Plural(len(all)-mostMisfits, "shape")+" more (--details)")
	}
	return strings.Join(parts, "; ")
}

// mostMisfits is the maximum number of shapes in a note without --details.
const mostMisfits = 3

// vmNames names the VMs of a misfit: the first three, or the shape.
func vmNames(f fit.Misfit) string {
	if len(f.VMs) == 0 {
		return fmt.Sprintf("%d of %s", f.Count, f.Shape)
	}
	return fmt.Sprintf("%s (%s)", words.First(3, f.VMs), f.Shape)
}

// shapesTable lists the shapes.
func shapesTable(shapes []fit.Shape) answer.Table {
	t := answer.Table{Name: "vms", Title: "VMs", Columns: size.Columns("shape", ">count", "VMs")}
	for _, s := range shapes {
		names := s.VMs
		if len(names) > 4 {
			names = append(append([]string{}, names[:4]...), "…")
		}
		t.Add(s.Name, fmt.Sprint(s.Count), strings.Join(names, ", "))
	}
	return t
}
