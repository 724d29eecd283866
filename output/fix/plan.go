// Package fix has the answers about a plan of changes and about the result of applying it.
package fix

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/change/fix"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/keyed"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/fix/script"
	"example.org/homenode/rules/rule"
)

// Plan returns the answer of a plan. file is the file of the plan, "" for a new plan. typed is the input that the user typed to make it, for the next
// commands. live means that the source is a vCenter, to which the plan can be applied.
func Plan(p *fix.Plan, file string, live bool, typed ...string) *answer.Answer {
	a := &answer.Answer{Command: "fix", Format: fix.Format, Title: "Plan " + p.ID, Result: p, Tables: changes(p)}
	a.Verdict = planVerdict(p)
	if p.Unjudged > 0 {
		a.Verdict = append(a.Verdict, words.Plural(p.Unjudged, "VM")+" could not be judged: see the notes.")
	}
	if p.NotKnown != "" {
		a.Verdict = append(a.Verdict, p.NotKnown)
	}
	a.Facts = []answer.Fact{{Name: "plan", Text: p.ID}, {Name: "source", Text: p.Source}, {Name: "made", Text: p.Made}, {Name: "batches", Text: fmt.Sprint(p.Batches())}}
	for _, n := range p.Notes {
		a.Notes = append(a.Notes, answer.Note{Text: n})
	}
	if nodes := vnuma.AssumedNodes.Texts()[0]; slices.ContainsFunc(p.Changes, func(c fix.Change) bool { return slices.Contains(c.Assumes, nodes) }) {
		a.Notes = append(a.Notes, answer.Note{Text: "The source states no NUMA nodes of the hosts: 1 per package is assumed. Check it before you apply the plan (esxcli hardware memory get), and state another number with --nodes-per-socket."})
	}
	for _, t := range []answer.Table{
		texts(p, "guests", "Effects on guests, licences and the next power-on", noticed),
		texts(p, "brings", "New findings after a change", func(c *fix.Change) []string { return c.Brings }),
		texts(p, "assumes", "Assumptions about the layout after a change", func(c *fix.Change) []string { return c.Assumes }),
		texts(p, "lost", "Not restored by a rollback", func(c *fix.Change) []string { return c.Lost }),
	} {
		if len(t.Rows) > 0 {
			a.Tables = append(a.Tables, t)
		}
	}
	a.Tables = append(a.Tables, leftTables(p)...)
	a.Next = next(p, file, live, typed)
	return a
}

// next returns the commands that go on from a plan.
func next(p *fix.Plan, file string, live bool, typed []string) []string {
	if len(p.Changes) == 0 {
		return nil
	}
	if live && file != "" {
		return []string{Apply(p, typed[0], file)}
	}
	if live {
		return []string{"homenode fix " + words.Command(typed...) + " -o plan.json", Apply(p, typed[0], "plan.json")}
	}
	tool, ending := script.Best(p)
	if tool == "" {
		return nil
	}
	return []string{"homenode fix " + words.Command(typed...) + " --format " + tool + " -o fix." + ending}
}

// planVerdict says how many objects the plan changes, what it cures and which VMs have downtime.
func planVerdict(p *fix.Plan) []string {
	if len(p.Changes) == 0 {
		if p.Asked.Set != nil {
			return []string{"Nothing to change: every setting has the requested value already, or stays for the reason given."}
		}
		if len(p.Left) == 0 {
			return []string{"Nothing to change: there are no findings."}
		}
		return []string{"Nothing to change: " + left(p) + "."}
	}
	vms, hosts, rules, off := 0, 0, 0, 0
	for i := range p.Changes {
		c := &p.Changes[i]
		switch {
		case c.Cluster != nil:
			rules += len(c.Edits)
		case c.VM == nil:
			hosts++
		default:
			vms++
			if stops(c) {
				off++
			}
		}
	}
	var parts []string
	for _, n := range []struct {
		n    int
		noun string
	}{{vms, "VM"}, {hosts, "host"}, {rules, "rule of DRS"}} {
		if n.n > 0 {
			parts = append(parts, strings.Replace(words.Plural(n.n, n.noun), "rule of DRSs", "rules of DRS", 1))
		}
	}
	eased := ""
	if n := count(p, func(c *fix.Change) []string { return c.Eases }); n > 0 {
		eased = fmt.Sprintf(" and makes %d less severe", n)
	}
	if n := count(p, func(c *fix.Change) []string { return c.Brings }); n > 0 {
		eased += fmt.Sprintf(", and brings %d", n)
	}
	does := fmt.Sprintf(" and cures %s; %s", words.Plural(count(p, func(c *fix.Change) []string { return c.Findings }), "finding")+eased, left(p))
	if vms+hosts == 0 {
		does = ", and cures no finding: homenode assess lists them"
	}
	verdict := []string{fmt.Sprintf("The plan changes %s%s. Nothing was written.", words.List(parts), does)}
	if p.Undoes != "" {
		verdict = []string{fmt.Sprintf("The rollback of plan %s changes %s.", p.Undoes, words.List(parts))}
	}
	if off == 1 {
		verdict = append(verdict, "1 VM that runs has downtime: a power cycle, a reboot of the guest is not enough.")
	} else if off > 1 {
		verdict = append(verdict, fmt.Sprintf("%d VMs that run have downtime: a power cycle each, a reboot of the guest is not enough.", off))
	}
	return verdict
}

// Apply returns the command that applies the plan in a file to the vCenter with this address.
func Apply(p *fix.Plan, address, file string) string {
	line := "homenode fix " + words.Command(address) + " --plan " + words.Command(file) + " --apply"
	if slices.ContainsFunc(p.Changes, func(c fix.Change) bool { return stops(&c) }) {
		line += " --power guest"
	}
	return line
}

// stops reports whether the change requires a running VM to be powered off.
func stops(c *fix.Change) bool { return c.VM != nil && c.VM.Runs && c.Needs() != numa.NeedsNothing }

func count(p *fix.Plan, what func(*fix.Change) []string) (n int) {
	for i := range p.Changes {
		n += len(what(&p.Changes[i]))
	}
	return n
}

// cures lists the fixed findings: "N001 N022, N033 high → low".
func cures(c *fix.Change) string {
	list := c.Eases
	if len(c.Findings) > 0 {
		list = append([]string{strings.Join(c.Findings, " ")}, list...)
	}
	return strings.Join(list, ", ")
}

// left states the numbers of remaining findings, and of VMs and hosts that the user excluded.
func left(p *fix.Plan) string {
	n, kept := 0, 0
	for i := range p.Left {
		switch {
		case p.Left[i].Rule == "":
			kept++
		case p.Left[i].Severity != "info":
			n++
		}
	}
	text := "nothing above INFO remains"
	if count(p, func(c *fix.Change) []string { return c.Brings }) > 0 {
		text = "nothing else above INFO remains"
	}
	if n > 0 {
		text = words.Plural(n, "finding") + " above INFO " + map[bool]string{true: "remains", false: "remain"}[n == 1]
	}
	switch {
	case p.Asked.Filter != "":
		text += " of those asked about (" + p.Asked.Filter + ")"
	case p.Asked.Set != nil: // nothing is said of the other VMs
		text += " of those asked about"
	}
	if kept > 0 {
		text += fmt.Sprintf("; %d left as %s", kept, map[bool]string{true: "it is", false: "they are"}[kept == 1])
	}
	return text
}

// changes lists the changes. The short table merges similar VMs; the table for pages and spreadsheets has each change with all details.
func changes(p *fix.Plan) []answer.Table {
	short := answer.Table{Name: "changes", Title: "Changes", Columns: answer.Columns(">batches", "cluster", "object", "change", "layout", "cures", "downtime")}
	full := answer.Table{Name: "changes", Title: "Changes", Long: true, First: true, Columns: answer.Columns("object", "change", "cures", "downtime", "before", "after", "cluster", ">batch")}
	hosts := answer.Table{Name: "hosts", Title: "Layout of each VM on every host, before and after", Long: true, Columns: answer.Columns("VM", "on", "before", "after")}
	type key struct{ cluster, change, layout, cures, downtime string }
	var of keyed.Lists[key, *fix.Change]
	for i := range p.Changes {
		c := &p.Changes[i]
		before, after := answer.Cell{}, answer.Cell{}
		if len(c.Layout) > 0 {
			before, after = sides(&c.Layout[0])
		}
		full.Rows = append(full.Rows, []answer.Cell{{Text: c.Target().Name, To: page(c)}, {Text: edits(c.Edits)}, {Text: cures(c)}, {Text: c.Downtime}, before, after, {Text: c.Target().Cluster, To: answer.Cluster(c.Target().Cluster)}, {Text: fmt.Sprint(c.Batch)}})
		for i := range c.Layout {
			before, after := sides(&c.Layout[i])
			hosts.Rows = append(hosts.Rows, []answer.Cell{{Text: c.VM.Name, To: page(c)}, {Text: where(&c.Layout[i], strings.Join(c.Layout[i].Hosts, ", "))}, before, after})
		}
		of.Add(key{c.Target().Cluster, edits(c.Edits), shortLayout(c), cures(c), c.Downtime}, c)
	}
	for k, list := range of.All() {
		name, batches := list[0].Target().Name, fmt.Sprint(list[0].Batch)
		if n := len(list); n > 1 {
			name += fmt.Sprintf(" +%d", n-1)
			if last := fmt.Sprint(list[n-1].Batch); last != batches {
				batches += "–" + last
			}
		}
		short.Add(batches, k.cluster, name, k.change, k.layout, k.cures, k.downtime)
	}
	for _, t := range []*answer.Table{&short, &full, &hosts} {
		t.Explain(rule.ShortLegend(t.Texts()...))
	}
	if slices.ContainsFunc(p.Changes, func(c fix.Change) bool { return c.Better != nil }) {
		const more = "Some VMs have optional improvements too, which cure no finding: --allow better includes them."
		short.Explain(more)
		full.Explain(more)
	}
	short.Plain = &full
	return []answer.Table{short, full, hosts}
}

// page returns the object of a changed VM, host or cluster, for the link to its page.
func page(c *fix.Change) answer.Object {
	switch {
	case c.VM != nil:
		return answer.Object{Kind: "vm", ID: c.VM.ID}
	case c.Host != nil:
		return answer.Object{Kind: "host", ID: c.Host.ID}
	}
	return answer.Cluster(c.Cluster.Name)
}

// noticed returns the noticeable effects of a change.
func noticed(c *fix.Change) []string {
	return slices.DeleteFunc(slices.Clone(c.Notices), func(text string) bool { return text == rule.NoNotice })
}

// ownLayout returns the layout on the VM's own hosts, before and after.
func ownLayout(c *fix.Change) string {
	if len(c.Layout) == 0 {
		return ""
	}
	return pair(&c.Layout[0])
}

// sides returns the layouts before and after a change: one that hides nodes from the guest, or has memory on another node, is marked, and both
// are faint if the change keeps the layout.
func sides(e *fix.Effect) (before, after answer.Cell) {
	side := func(l *fix.Layout) answer.Cell {
		c := answer.Cell{Text: l.Text}
		switch {
		case l.Text == e.Now.Text && l.Text == e.After.Text:
			c.Tone = answer.Faint
		case l.FarShare > 0 || len(l.PPDs) > 1 && len(l.VPDs) <= 1:
			c.Tone = answer.Bad
		}
		return c
	}
	return side(&e.Now), side(&e.After)
}

// where names the hosts of a layout that a VM has there at a power-on, or after a vMotion.
func where(e *fix.Effect, hosts string) string {
	if e.Moved {
		return "after a vMotion to " + hosts
	}
	return hosts
}

func pair(e *fix.Effect) string {
	if e.Now.Text == e.After.Text {
		return e.Now.Text + ", stays"
	}
	return e.Now.Text + " → " + e.After.Text
}

// shortLayout is ownLayout plus the other kinds of hosts on which the layout changes differently.
func shortLayout(c *fix.Change) string {
	text := ownLayout(c)
	for i := range c.Layout {
		if e := &c.Layout[i]; i > 0 && pair(e) != text && e.Now.Text != e.After.Text {
			text += "; " + where(e, e.Hosts[0]) + " " + pair(e)
		}
	}
	return text
}

// edits returns "CPU hot add on → off, numa.vcpu.min absent → 8".
func edits(list []numa.Edit) string {
	return strings.Join(words.Texts(list, numa.Edit.Text), ", ")
}

// texts lists the remarks about changes, without duplicates, with their VMs.
func texts(p *fix.Plan, name, title string, said func(*fix.Change) []string) answer.Table {
	t := answer.Table{Name: name, Title: title, Columns: answer.Columns("note", "of")}
	var of keyed.Lists[string, string]
	for i := range p.Changes {
		for _, text := range said(&p.Changes[i]) {
			of.Add(text, p.Changes[i].Target().Name)
		}
	}
	for text, names := range of.All() {
		t.Add(text, words.List(names))
	}
	return t
}

// mostLeft is the maximum number of remaining findings that a terminal shows per rule and reason.
const mostLeft = 3

// leftTables lists the remaining findings: those above info with their reason, merged by rule and reason.
func leftTables(p *fix.Plan) []answer.Table {
	t := answer.Table{Name: "left", Title: "Remaining findings, and why", Columns: answer.Columns("rule", "severity", "object", "why")}
	type key struct{ rule, severity, why string }
	var of keyed.Lists[key, string]
	info := 0
	full := t
	full.Plain, full.Rows = nil, nil
	for _, l := range p.Left {
		name := l.VM
		name = cmp.Or(name, l.Host)
		full.Add(l.Rule, l.Severity, name, l.Why)
		if l.Severity == "info" {
			info++
			continue
		}
		of.Add(key{l.Rule, l.Severity, l.Why}, name)
	}
	for k, list := range of.All() {
		names := words.List(list)
		if len(list) > mostLeft {
			names = fmt.Sprintf("%s and %d more", strings.Join(list[:mostLeft], ", "), len(list)-mostLeft)
		}
		t.Add(k.rule, k.severity, names, k.why)
	}
	if info > 0 {
		t.Foot = append(t.Foot, words.Plural(info, "finding")+" of the severity info not shown: JSON and CSV have them.")
	}
	if len(p.Left) == 0 {
		return nil
	}
	t.Plain = &full
	return []answer.Table{t}
}
