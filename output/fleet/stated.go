package fleet

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/draw/topo"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
	verdict "example.org/homenode/rules/verdict/stated"
)

// showStated adds the parts about KVM hosts to an answer.
func (x *index) showStated(a *answer.Answer, _ *Options) {
	a.Format, a.Version, a.Verdict, a.Result = "homenode-assessment-kvm", 1, verdict.Verdict(x.Result), func() any { return statedResult(x.Result) }
	hosts := x.Fleet.Hosts
	if len(hosts) > 0 {
		a.Tables = append(a.Tables, answer.Screen(answer.Table{Name: "hosts"}, answer.Of(stated, hostFields), x.hostRows()))
	}
	whole := cmp.Or(x.Whole, x.Result) // hosts are drawn with all their VMs
	for i := range hosts[:min(mostHosts, len(hosts))] {
		h := &hosts[i]
		d := drawing(h.Name, func() *topo.Drawing { return topo.OfStatedHost(whole, h) })
		if i == 0 {
			d.Heading, d.Lead = "Hosts", "Each box is a NUMA node, each block the vCPUs that are pinned to it. The column is the memory of the node."
		}
		if cut := len(hosts) - mostHosts; i == mostHosts-1 && cut > 0 {
			d.Cut = words.Verb(cut, "more host is", "more hosts are") + " not drawn here."
		}
		a.Drawings = append(a.Drawings, d)
	}
}

// noHost is the name of a host without known capabilities.
const noHost = "unknown host"

func hostName(v *rule.StatedVM) string {
	if v.Host == nil {
		return noHost
	}
	return v.Host.Name
}

// mostStatedRows is the maximum number of VMs on a terminal.
const mostStatedRows = 40

// statedShape describes the nodes that the guest sees: "2 nodes, 2 × 12".
func statedShape(v *rule.StatedVM) string {
	if n := len(v.Stated.Cells); n > 1 {
		return fmt.Sprintf("%d nodes, %s", n, v.Sizes())
	}
	if v.Flat() && v.Stated.Partial {
		return "not stated"
	}
	return "1 node"
}

// runsOn lists the allowed nodes of a cell's vCPUs.
func runsOn(v *rule.StatedVM, cell int) string {
	if v.Host == nil {
		return "unknown"
	}
	if nodes := v.Stated.RunsOn(cell, v.Host); nodes != nil {
		return rule.NodeList(nodes)
	}
	return "any node"
}

// memoryFrom lists the nodes of a cell's memory.
func memoryFrom(v *rule.StatedVM, cell int) string {
	if b := &v.Stated.Bound[cell]; b.Nodes != nil {
		return b.Mode + " " + rule.NodeList(b.Nodes)
	}
	if v.Flat() && v.Stated.Partial {
		return "not stated"
	}
	return "any node"
}

// perCell returns the text of each cell, merging equal ones.
func perCell(v *rule.StatedVM, of func(v *rule.StatedVM, cell int) string) string {
	var out []string
	for i := range v.Stated.Cells {
		out = append(out, of(v, i))
	}
	if len(slices.Compact(slices.Clone(out))) == 1 {
		return out[0]
	}
	const most = 4
	if len(out) > most {
		out = append(out[:most], "…")
	}
	return strings.Join(out, "; ")
}

// A statedVM is a VM in JSON.
type statedVM struct {
	VM          string              `json:"vm"`
	ID          string              `json:"id"`
	Host        string              `json:"host,omitempty"`
	At          string              `json:"at"`
	Shape       *numa.Shape         `json:"shape"`
	Running     bool                `json:"running"`
	RunsOn      [][]int             `json:"runsOn,omitempty"` // host nodes of each cell; null for all
	Memory      []statedBound       `json:"memoryFrom"`       // by cell
	Seen        []numa.MemoryOnNode `json:"seen,omitempty"`   // from numastat
	RemoteBytes *numa.Bytes         `json:"remoteBytes,omitempty"`
}

type statedBound struct {
	Mode  string `json:"mode,omitempty"`
	Nodes []int  `json:"nodes"` // null for all
	At    string `json:"at,omitempty"`
}

func statedOf(v *rule.StatedVM) statedVM {
	s := v.Stated
	out := statedVM{VM: v.Name, ID: v.ID, At: s.At, Shape: &s.Shape, Running: s.Running}
	if v.Host != nil {
		out.Host = v.Host.Name
	}
	for i := range s.Cells {
		out.RunsOn = append(out.RunsOn, s.RunsOn(i, v.Host))
		out.Memory = append(out.Memory, statedBound(s.Bound[i]))
	}
	if o := v.MemoryOn(); o != nil {
		out.Seen = o.OnNode.Value
		if far, _, _, ok := s.RemoteOf(v.Host, o); ok {
			out.RemoteBytes = &far
		}
	}
	return out
}

func statedResult(r *rules.Result) any {
	out := struct {
		Source string     `json:"source"`
		Hosts  int        `json:"hosts"`
		VMs    int        `json:"vms"`
		Judged int        `json:"judged"`
		Stated []statedVM `json:"layouts"`
	}{r.Fleet.Source, len(r.Fleet.Hosts), len(r.Fleet.VMs), r.VMs, []statedVM{}}
	for _, v := range r.Stated {
		out.Stated = append(out.Stated, statedOf(v))
	}
	return &out
}

// ExplainStated returns the answer about the definition of a KVM VM: its settings, their places, and its
// findings.
func ExplainStated(r *rules.Result, v *rule.StatedVM) *answer.Answer {
	s := v.Stated
	one := &rules.Judgement{Policy: r.Policy}
	var found []*finding.Finding
	for i := range r.Findings {
		if r.Findings[i].VMID == v.ID {
			one.Findings = append(one.Findings, r.Findings[i])
		}
	}
	for i := range one.Findings {
		found = append(found, &one.Findings[i])
	}
	sees, verdict := statedVerdict(v, found)
	x := statedOf(v)
	a := &answer.Answer{
		Command: "explain", Format: "homenode-explanation-kvm", Version: 1, Result: &x,
		Question: fmt.Sprintf("%s on %s (KVM), as its definition states it", v.Name, hostName(v)),
		Verdict:  []string{sees + " " + verdict},
		Facts: []answer.Fact{
			{Name: "guest sees", Text: fmt.Sprintf("%s · %s · %s", statedShape(v), words.Plural(s.VCPUs, "vCPU"), s.Topology())},
			{Name: "stated at", Text: s.At},
		},
		Findings: &answer.Findings{
			Judgement: one, Source: v.Name, Kind: "explain/", NoExit: true, Rules: answer.RulesWhere(func(one *rule.Rule) bool { return one.Stated != nil }),
			Subject: func(f *finding.Finding) answer.Subject {
				return answer.Subject{Name: f.VM, Short: f.VM, Group: f.Host, Key: "vm\x00" + f.VMID, ID: f.VMID, At: v.At}
			},
			Suites: []answer.Suite{{Name: hostName(v), Cases: []answer.Case{{Name: v.Name, ID: v.ID, Findings: found}}}},
		},
	}
	a.Tables = append(a.Tables, cellTable(v), statedFacts(v))
	if seen := statedSeen(v); seen != nil {
		a.Tables = append(a.Tables, answer.Screen(answer.Table{Name: "observed", Title: "observed"}, answer.Of(stated, observationFields), slices.Values(seen)))
	}
	if d := topo.OfStated(v); d != nil {
		a.Drawings = []answer.Drawing{drawing(d.Title, func() *topo.Drawing { return d })}
	}
	for _, n := range r.Unjudged {
		if n.At == v.At {
			a.Notes = append(a.Notes, answer.Note{Text: n.Text, From: "judgement"})
		}
	}
	return a
}

// statedVerdict says what the guest sees, and how bad the findings are.
func statedVerdict(v *rule.StatedVM, found []*finding.Finding) (sees, verdict string) {
	verdict = "Nothing to do."
	switch n := len(found); {
	case n == 1:
		verdict = "1 finding of " + found[0].Severity.String() + " severity."
	case n > 1:
		verdict = fmt.Sprintf("%s, the worst of %s severity.", words.Plural(n, "finding"), found[0].Severity)
	case v.Host == nil || !v.Host.Nodes.Known():
		verdict = "Nothing found in its definition, by itself."
	}
	if v.Host == nil || !v.Host.Nodes.Known() {
		verdict += " Not known: the nodes of the host."
	} else if v.MemoryOn() == nil {
		verdict += " Where its memory is was not seen (numastat)."
	}
	sees = fmt.Sprintf("The guest sees %s: stated, not predicted.", statedShape(v))
	if v.Flat() && v.Stated.Partial {
		sees = "The nodes that the guest sees are not stated."
	}
	return sees, verdict
}

// cellTable has one row for each node that the guest sees.
func cellTable(v *rule.StatedVM) answer.Table {
	s := v.Stated
	t := answer.Table{Name: "cells", Title: "guest nodes", Columns: []answer.Column{{Name: "node", Right: true}, {Name: "vCPUs"}, {Name: "memory", Right: true}, {Name: "runs on"}, {Name: "memory from"}, {Name: "read at"}}}
	for i := range s.Cells {
		c := &s.Cells[i]
		t.Add(strconv.Itoa(i), cmp.Or(words.Ranges(c.CPUs), "none"), c.Memory.String(), runsOn(v, i), memoryFrom(v, i), c.At)
	}
	return t
}

// statedFacts lists the other settings and their places.
func statedFacts(v *rule.StatedVM) answer.Table {
	s := v.Stated
	t := answer.Table{Name: "facts", Title: "facts", Columns: []answer.Column{{Name: "fact"}, {Name: "value"}, {Name: "read at"}}}
	add := func(name, value, at string) { t.Add(name, value, cmp.Or(at, "not stated")) }
	add("vCPUs", strconv.Itoa(s.VCPUs), s.VCPUsAt)
	if s.Most() > s.VCPUs {
		add("vCPUs with those that can be added", strconv.Itoa(s.Most()), s.VCPUsAt)
	}
	add("memory", s.Shape.Memory.String(), s.MemoryAt)
	add("topology", s.Topology(), s.TopologyAt)
	add("NUMA nodes of the guest", strconv.Itoa(len(s.Cells)), s.CellsAt)
	if s.Page > 0 {
		add("huge pages", s.Page.String(), s.At)
	}
	if s.ACPI.Known() {
		t.Add("ACPI", fmt.Sprint(s.ACPI.Value), s.ACPI.Origin.String())
	}
	if n := len(s.Pins); n > 0 {
		add("vCPUs with pins of their own", strconv.Itoa(n), s.Pins[0].At)
	}
	for i := range s.Helpers {
		h := &s.Helpers[i]
		add("CPUs of "+h.What, words.Ranges(h.CPUs), h.At)
	}
	if s.Auto {
		t.Add("placement", "numad chooses the nodes at each start", s.VCPUsAt)
	}
	return t
}
