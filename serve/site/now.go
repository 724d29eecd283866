package site

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/output/answer"
	answers "example.org/homenode/output/fleet"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
	"example.org/homenode/serve/board"
	"example.org/homenode/serve/held"
)

// A present is the state of the hosts of one vCenter, or of all hosts, at a moment.
type present struct {
	vcenter string
	hosts   int
	waiting int          // hosts whose first counters have not arrived
	unseen  answer.Table // hosts whose counters cannot be read
	low     []board.VMNow
	known   int // VMs whose locality is known
	vms     int
}

// low reports whether much of the memory of a VM is remote now.
func (l *Live) low(v *board.VMNow) bool {
	return v.Locality != nil && *v.Locality < l.Board.LowLocality() && v.Remote >= numa.Bytes(rule.LowRemote*float64(numa.GiB))
}

// present returns the state now.
func (l *Live) present(vcenter string, at time.Time) *present {
	p := &present{vcenter: vcenter}
	p.unseen, p.hosts, p.waiting = l.unseen(vcenter, at)
	for _, v := range l.Board.VMsOf(func(h *board.Host, _ string) bool { return vcenter == "" || h.VCenter == vcenter }) {
		if p.vms++; v.Locality != nil {
			p.known++
		}
		if l.low(&v) {
			p.low = append(p.low, v)
		}
	}
	return p
}

// reporting returns the number of hosts that report counters as text.
func (p *present) reporting() string {
	return fmt.Sprintf("%d of %s reporting", p.hosts-p.waiting-len(p.unseen.Rows), words.Plural(p.hosts, "host"))
}

// line lists the current problems in one line. While the first counters of some hosts are missing, it mentions that first and claims nothing about
// these hosts.
func (p *present) line() (c answer.Cell) {
	say := func(text string) { c.Parts = append(c.Parts, answer.Cell{Text: text}) }
	failing := len(p.unseen.Rows)
	if failing > 0 {
		defer func() { say(fmt.Sprintf("· %d of %s cannot be seen", failing, words.Plural(p.hosts, "host"))) }()
	}
	switch {
	case p.hosts == 0:
		say("waiting for the list of hosts")
		return c
	case p.waiting == p.hosts:
		say("waiting for the first counters of " + words.Plural(p.hosts, "host"))
		return c
	case p.waiting > 0:
		say(fmt.Sprintf("waiting for the first counters of %d of %s ·", p.waiting, words.Plural(p.hosts, "host")))
	case failing == p.hosts:
		say("nothing is known")
		return c
	}
	switch {
	case len(p.low) > 0:
		c.Parts = append(c.Parts, lowParts(p.low)...)
	case p.known == 0:
		say("nothing is known of the locality of " + words.Plural(p.vms, "VM"))
	case p.waiting > 0:
		say("none of the VMs seen so far runs with much remote memory")
	default:
		say("no VM runs with much remote memory")
	}
	return c
}

// lowParts names the VMs of which much memory is remote now.
func lowParts(low []board.VMNow) []answer.Cell {
	parts := []answer.Cell{{Text: words.Verb(len(low), "VM runs", "VMs run") + " with much remote memory:"}}
	for i := range low[:min(len(low), 5)] {
		v := &low[i]
		if i > 0 {
			parts = append(parts, answer.Cell{Text: "·"})
		}
		parts = append(parts, answer.Cell{Text: v.VM, To: vmObject(v)}, answer.Cell{Text: "(" + rule.NL(*v.Locality) + " local)"})
	}
	if n := len(low) - 5; n > 0 {
		parts = append(parts, answer.Cell{Text: "and " + words.Plural(n, "other")})
	}
	return parts
}

// vmObject returns the page of a VM; none for a VM that is not in the inventory.
func vmObject(v *board.VMNow) answer.Object {
	if v.VMID == "" {
		return answer.Object{}
	}
	return answer.Object{Kind: "vm", ID: v.VMID}
}

// statesOf returns the lines about now, the past and the settings. Each covers its own period only, so that they never contradict each other.
func statesOf(p *present, h *lately, settings *answer.Answer) []answer.State {
	said := answer.Cell{Text: "waiting for the inventory"}
	if settings != nil {
		said.Text = settings.Verdict[0]
	}
	past := h.line()
	return []answer.State{{Name: "now", Cell: p.line()}, {Name: h.over, Cell: past}, {Name: "settings", Cell: said}}
}

// textOf returns a line as plain text.
func textOf(s *answer.State) string {
	text := s.Cell.Text
	if s.Cell.Parts != nil {
		text = strings.Join(words.Texts(s.Cell.Parts, func(c answer.Cell) string { return c.Text }), " ")
	}
	return strings.ToUpper(s.Name[:1]) + s.Name[1:] + ": " + text
}

// sizeOf returns the name and size of a fleet.
func sizeOf(f *held.Fleet) string {
	return fmt.Sprintf("%s: %s, %s", f.Name, answers.Hosts(f.Result.Fleet), answers.VMs(f.Result.Fleet))
}

// firstNow limits the ongoing events among the things to do first; the others are settings.
const firstNow = 2

// firstTable lists the things to do first, with the cost of each problem and its cure.
func firstTable(h *lately, settings *answer.Answer) answer.Table {
	t := answer.Table{Name: "first", Title: "Do first", First: true, Columns: answer.Columns("Object", "Cost", "Cure", "Alike")}
	if h != nil {
		for i := range h.events {
			if e := &h.events[i]; e.open && e.Worst().Severity >= finding.Medium && len(t.Rows) < firstNow {
				t.Rows = append(t.Rows, []answer.Cell{subjectCell(e.Worst()), {Text: words.Join(": ", e.when(), e.Bad())}, {Text: e.Do()}, {}})
			}
		}
	}
	if settings == nil || settings.Findings == nil {
		return t
	}
	for _, one := range settings.Findings.First() {
		if len(t.Rows) == mostFirst {
			break
		}
		alike := answer.Cell{}
		if one.Alike > 0 {
			alike = answer.Cell{Text: words.Plural(one.Alike+1, "finding"), To: answer.Object{Kind: "findings", ID: one.Rule}}
		}
		t.Rows = append(t.Rows, []answer.Cell{subjectCell(one.Finding), {Text: one.Message}, {Text: one.FirstAdvice()}, alike})
	}
	return t
}

// mostFirst limits the things to do first.
const mostFirst = 5

// worstHosts returns the names of the hosts of events, the worst first: of ongoing events if last is true, else of all.
func (h *lately) worstHosts(last bool) (names []string) {
	for i := range h.events {
		if name := h.events[i].Worst().Host; name != "" && (h.events[i].open || !last) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
