package fleet

import (
	"strings"

	"example.org/homenode/internal/keyed"
	"example.org/homenode/output/answer"
	"example.org/homenode/rules/rule"
)

// planColumns are the columns of planRows, after the name of the VM.
var planColumns = []answer.Column{{Name: "plan"}, {Name: ""}}

// planRows describes a plan for all findings of a VM: its effects, its changes, and how to undo
// it.
func planRows(p *rule.Proposal) (rows [][2]string) {
	add := func(name string, texts ...string) {
		if text := strings.Join(texts, ", "); text != "" {
			rows = append(rows, [2]string{name, text})
		}
	}
	needed := "needed"
	switch {
	case p.Later: // as a plan of changes leaves it out
		needed = "not urgent"
	case !p.Urgent: // a plan of changes has it, since it costs no downtime
		needed = "included"
	}
	if p.Instead != "" {
		add("either", p.Instead)
		needed = "or"
	}
	add(needed, p.Needed...)
	if p.Wider != nil {
		add("or", "to suit all hosts: "+strings.Join(p.Wider, ", "))
	}
	better := "better"
	if p.Free { // a plan of changes includes it too
		better = "included"
	}
	add(better, p.Better...)
	add("for", p.Findings...)
	add("left out", p.LeftOut)
	var hosts keyed.Lists[string, string] // by text
	for _, e := range p.Effect {
		text := e.Before
		if p.Needed != nil {
			text += " → " + e.Needed
		}
		if e.Wider != "" {
			text += ", or → " + e.Wider
		}
		if p.Better != nil && e.All != e.Needed {
			text += " → " + e.All
		}
		if text == e.Before {
			text += ", and other sockets at most"
		}
		hosts.Add(text, e.Hosts...)
	}
	for text, names := range hosts.All() {
		add("effect", strings.Join(names, ", ")+": "+text)
	}
	add("downtime", p.Downtime)
	add("notice", p.Notice)
	add("undo", p.Undo...)
	add("remove afterwards", p.Afterwards)
	return rows
}

// planTable has the plan of the explained VM.
func planTable(p *rule.Proposal) answer.Table {
	t := answer.Table{Name: "plan", Title: "one plan: all changes of settings together", Columns: planColumns, First: true}
	for _, row := range planRows(p) {
		t.Add(row[:]...)
	}
	t.Explain(rule.ShortLegend(t.Texts()...))
	return t
}

// plansTable has the plans of all VMs that have one.
func (x *index) plansTable() answer.Table {
	t := answer.Table{Name: "plans", Title: "one plan for each VM: all changes of its settings together", Columns: append([]answer.Column{{Name: "VM"}}, planColumns...)}
	vms, plans := x.Proposals()
	for i, plan := range plans {
		name := vms[i].Name
		for _, row := range planRows(plan) {
			t.Add(name, row[0], row[1])
			name = ""
		}
	}
	t.Explain(rule.ShortLegend(t.Texts()...))
	return t
}
