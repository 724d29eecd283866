package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"homenode/drift"
	"homenode/finding"
	"homenode/internal/texttab"
	"homenode/numa"
	"homenode/rule"
	"homenode/rules"
	"homenode/whatif"
)

// DriftOptions say how WhatIf and Diff write.
type DriftOptions struct {
	Colour  bool
	Details bool // every VM in a row of its own
	FailOn  finding.Severity
}

// WhatIf writes today's fleet beside the changed one for a terminal.
func WhatIf(w io.Writer, d *drift.Drift, effects []whatif.Effect, capacity []whatif.Capacity, o DriftOptions) error {
	p := &printer{w: w, colour: o.Colour}
	p.printf("%s\n\n", p.paint(bold, verdicts(d)))
	t := texttab.Table{}
	for _, e := range effects {
		t.Row("change", e.Change, effectText(&e))
	}
	p.table(&t)
	p.settings(d.Hosts, nil, o, "TODAY", "CHANGED")
	p.differences(d, o, "TODAY", "CHANGED")
	p.capacity(capacity)
	p.newNotes(d)
	worse := worsened(d, o)
	if whatif.Short(capacity) {
		worse = append(worse, "capacity is short")
	}
	if worse != nil {
		p.printf("\nexit 1: %s\n", strings.Join(worse, "; "))
	}
	return p.err
}

// verdicts returns the summary in one line.
func verdicts(d *drift.Drift) string {
	s := fmt.Sprintf("%s better, %d worse", rule.Plural(d.Better, "VM"), d.Worse)
	if d.Other > 0 {
		s += fmt.Sprintf(", %d other", d.Other)
	}
	return s + fmt.Sprintf(", %d unchanged", d.Unchanged)
}

func effectText(e *whatif.Effect) string {
	var parts []string
	if e.Hosts > 0 {
		parts = append(parts, rule.Plural(e.Hosts, "host"))
	}
	if e.VMs > 0 {
		parts = append(parts, rule.Plural(e.VMs, "VM"))
	}
	text := strings.Join(parts, ", ")
	if all := e.Hosts + e.VMs; e.Changed == 0 {
		text += ": nothing changes"
	} else if e.Changed < all {
		text += fmt.Sprintf(": %d change", e.Changed)
	}
	return text
}

// Diff writes what differs between two fleets for a terminal.
func Diff(w io.Writer, d *drift.Drift, o DriftOptions) error {
	p := &printer{w: w, colour: o.Colour}
	p.printf("%s\n\n", p.paint(bold, diffLine(d)))
	t := texttab.Table{}
	for _, side := range []struct {
		name string
		r    *rules.Result
	}{{"A", d.A}, {"B", d.B}} {
		f := side.r.Fleet
		t.Row(side.name, fmt.Sprintf("%s · %s · %s", f.Source, rule.Plural(len(f.Hosts), "host"), rule.Plural(len(f.VMs), "VM")), f.Collected)
	}
	p.table(&t)
	p.comings(d)
	p.differences(d, o, "A", "B")
	p.settings(d.Hosts, d.VMs, o, "A", "B")
	p.newNotes(d)
	if d.OneSided > 0 {
		p.printf("\nnote   %s known on one side only: not compared\n", rule.Plural(d.OneSided, "fact"))
	}
	var reasons []string
	if d.Differs() {
		reasons = append(reasons, "drift")
	}
	if reasons = append(reasons, worsened(d, o)...); reasons != nil {
		p.printf("\nexit 1: %s\n", strings.Join(reasons, "; "))
	}
	return p.err
}

// worsened says what counts for the exit code, in words.
func worsened(d *drift.Drift, o DriftOptions) []string {
	var out []string
	findings, vms := d.Worsens(o.FailOn)
	if findings > 0 {
		out = append(out, fmt.Sprintf("%s new or worse at or above %s (--fail-on)", rule.Plural(findings, "finding"), o.FailOn))
	}
	if vms > 0 {
		out = append(out, rule.Plural(vms, "VM")+" cannot run")
	}
	return out
}

// diffLine returns the summary of a comparison in one line.
func diffLine(d *drift.Drift) string {
	if !d.Differs() && len(d.Findings) == 0 {
		return "no drift"
	}
	layouts, settings := 0, 0
	for i := range d.VMs {
		if d.VMs[i].Layout {
			layouts++
		}
		if len(d.VMs[i].Settings) > 0 {
			settings++
		}
	}
	for i := range d.Hosts {
		if len(d.Hosts[i].Settings) > 0 {
			settings++
		}
	}
	added, gone := 0, 0
	for i := range d.Findings {
		switch f := &d.Findings[i]; {
		case f.A == nil:
			added++
		case f.B == nil:
			gone++
		}
	}
	return fmt.Sprintf("%s with another layout (%d better, %d worse), %d new and %d gone, %s with other settings, %d new and %d gone",
		rule.Plural(layouts, "VM"), d.Better, d.Worse, len(d.NewVMs), len(d.GoneVMs), rule.Plural(settings, "object"), added, gone) + " findings"
}

// comings prints the VMs and hosts of one fleet alone.
func (p *printer) comings(d *drift.Drift) {
	t := texttab.Table{}
	names := func(word, noun string, n int, name func(int) string) {
		if n == 0 {
			return
		}
		const most = 6
		var list []string
		for i := range min(n, most) {
			list = append(list, name(i))
		}
		if n > most {
			list = append(list, fmt.Sprintf("%d more", n-most))
		}
		t.Row(word, rule.Plural(n, noun), strings.Join(list, ", "))
	}
	names("new", "host", len(d.NewHosts), func(i int) string { return d.NewHosts[i].Name })
	names("gone", "host", len(d.GoneHosts), func(i int) string { return d.GoneHosts[i].Name })
	names("new", "VM", len(d.NewVMs), func(i int) string { return d.NewVMs[i].Name })
	names("gone", "VM", len(d.GoneVMs), func(i int) string { return d.GoneVMs[i].Name })
	if d.Moved > 0 {
		t.Row("moved", rule.Plural(d.Moved, "VM"), "to another host, without other consequence")
	}
	p.table(&t)
}

// differences prints the VMs that get another layout or other findings, and the
// findings.
func (p *printer) differences(d *drift.Drift, o DriftOptions, from, to string) {
	rows := changedRows(d, o.Details)
	if len(rows) > 0 {
		t := texttab.Table{}
		t.Row("", "VM", from, to, "WHY")
		for _, r := range rows {
			t.Row(r.verdict.String(), r.Subjects(), r.from, r.to, r.why)
			if p.colour {
				t.Paint(0, map[drift.Verdict]string{drift.Worse: severityCode[finding.High], drift.Better: "32", drift.Other: severityCode[finding.Low]}[r.verdict])
			}
		}
		p.printf("\n")
		p.table(&t)
		p.printf("%s\n", p.paint(faint, shortLegend))
	}
	groups := findingGroups(d)
	if len(groups) == 0 {
		return
	}
	p.printf("\n")
	t := texttab.Table{Right: map[int]bool{1: true}}
	for _, g := range groups {
		t.Row(g.change, strconv.Itoa(len(g.findings)), severityWord(g.severity), g.rule.ID, g.rule.Title, subjects(g.findings))
		if p.colour {
			t.Paint(2, severityCode[g.severity])
		}
	}
	p.table(&t)
}

// shortLegend explains the short form of layouts.
const shortLegend = "2×16: 2 clients of 16 vCPU; blind: the guest sees 1 node; sees: other nodes than clients; +50 %: memory on another node"

// A changedRow is one VM, or several of a cluster that change alike.
type changedRow struct {
	verdict        drift.Verdict
	vms            []*drift.VM
	from, to, why  string
	cluster, first string
}

// Subjects returns "prod-a/sql01 +4".
func (r *changedRow) Subjects() string {
	if len(r.vms) == 1 {
		return r.first
	}
	return fmt.Sprintf("%s +%d", r.first, len(r.vms)-1)
}

// changedRows returns the VMs with a verdict, those that change alike in one row.
func changedRows(d *drift.Drift, each bool) []changedRow {
	var out []changedRow
	for i := range d.VMs {
		v := &d.VMs[i]
		if v.Verdict == drift.Unchanged {
			continue
		}
		r := changedRow{v.Verdict, []*drift.VM{v}, placeText(&v.From), toText(v), strings.Join(v.Why, ", "), v.Cluster, v.Subject()}
		k := slices.IndexFunc(out, func(o changedRow) bool {
			return o.verdict == r.verdict && o.cluster == r.cluster && o.from == r.from && o.to == r.to && o.why == r.why
		})
		if k < 0 || each {
			out = append(out, r)
			continue
		}
		out[k].vms = append(out[k].vms, v)
	}
	return out
}

func placeText(p *drift.Place) string {
	l := p.Layout()
	if l == nil {
		return "–"
	}
	return rule.Short(l)
}

// toText is placeText of the changed place; a VM that does not run has no shape there.
func toText(v *drift.VM) string {
	if v.Stops() {
		return "–"
	}
	return placeText(&v.To)
}

// A findingGroup is the findings of a rule that changed alike.
type findingGroup struct {
	change   string // new, gone, or "was high"
	severity finding.Severity
	rule     *rule.Rule
	findings []*finding.Finding
}

func findingGroups(d *drift.Drift) []findingGroup {
	var out []findingGroup
	for i := range d.Findings {
		f := d.Findings[i].Of()
		change := changeWord(&d.Findings[i])
		k := slices.IndexFunc(out, func(g findingGroup) bool {
			return g.change == change && g.severity == f.Severity && g.rule.ID == f.Rule
		})
		if k < 0 {
			k = len(out)
			out = append(out, findingGroup{change, f.Severity, d.B.Rule(f.Rule), nil})
		}
		out[k].findings = append(out[k].findings, f)
	}
	rank := func(g *findingGroup) int { return slices.Index([]string{"new", g.change, "gone"}, g.change) } // the others between
	slices.SortStableFunc(out, func(a, b findingGroup) int {
		return cmp.Or(cmp.Compare(rank(&a), rank(&b)), cmp.Compare(b.severity, a.severity))
	})
	return out
}

func changeWord(f *drift.Finding) string {
	switch {
	case f.A == nil:
		return "new"
	case f.B == nil:
		return "gone"
	}
	return "was " + f.A.Severity.String()
}

// settings prints the settings that differ, hosts first.
func (p *printer) settings(hosts []drift.Host, vms []drift.VM, o DriftOptions, from, to string) {
	t := texttab.Table{}
	type row struct{ first, name, from, to string }
	var order []row
	count := map[row]int{}
	add := func(subject string, s []drift.Setting) {
		for _, one := range s {
			key := row{"", one.Name, one.From, one.To}
			if o.Details {
				key.first = subject
			}
			if count[key]++; count[key] == 1 {
				order = append(order, row{subject, one.Name, one.From, one.To})
			}
		}
	}
	for i := range hosts {
		add(hosts[i].B.Name, hosts[i].Settings)
	}
	for i := range vms {
		add(vms[i].Subject(), vms[i].Settings)
	}
	if len(order) == 0 {
		return
	}
	t.Row("SETTING", from, to, "OF")
	for _, r := range order {
		key := r
		if !o.Details {
			key.first = ""
		}
		of := r.first
		if n := count[key]; n > 1 {
			of += fmt.Sprintf(" +%d", n-1)
		}
		t.Row(r.name, r.from, r.to, of)
	}
	p.printf("\n")
	p.table(&t)
}

// newNotes prints the notes that B has and A has not.
func (p *printer) newNotes(d *drift.Drift) {
	notes := newNotes(d)
	if len(notes) == 0 {
		return
	}
	p.printf("\n")
	const most = 8
	for i, n := range notes {
		if i == most && len(notes) > most+1 {
			p.printf("note   %d more: see --format json\n", len(notes)-most)
			return
		}
		p.printf("note   %s\n", n)
	}
}

func newNotes(d *drift.Drift) []numa.Note {
	had := map[numa.Note]bool{}
	for _, n := range slices.Concat(d.A.Fleet.Notes, d.A.Unjudged) {
		had[n] = true
	}
	for i := range d.VMs { // those that stop have the reason in their row
		if v := &d.VMs[i]; v.Stops() {
			for _, why := range v.Why {
				had[numa.Note{At: v.B.At, Text: "VM " + v.B.Name + ": " + why}] = true
			}
		}
	}
	var out []numa.Note
	for _, n := range slices.Concat(d.B.Fleet.Notes, d.B.Unjudged) {
		if !had[n] {
			out = append(out, n)
		}
	}
	return out
}

// capacity prints what the hosts of each cluster have and the VMs want.
func (p *printer) capacity(all []whatif.Capacity) {
	if len(all) == 0 {
		return
	}
	t := texttab.Table{}
	t.Row("CAPACITY", "HOSTS", "MEMORY OF VMS / HOSTS", "RESERVED", "VCPUS PER CORE", "")
	for i := range all {
		c := &all[i]
		t.Row(c.Cluster, arrow(strconv.Itoa(c.Before.Hosts), strconv.Itoa(c.After.Hosts)),
			memoryUse(c),
			reserved(&c.After), arrow(load(&c.Before), load(&c.After)), capacityText(c))
	}
	p.printf("\n")
	p.table(&t)
}

// arrow returns "8 → 7", or one value when both are alike.
func arrow(a, b string) string {
	if a == b {
		return a
	}
	return a + " → " + b
}

func share(s *whatif.Supply) string {
	if s.Memory == 0 {
		return "–"
	}
	return rule.Percent(float64(s.Configured) / float64(s.Memory))
}

func memoryUse(c *whatif.Capacity) string {
	if c.After.Hosts == 0 {
		return "–"
	}
	return fmt.Sprintf("%s / %s (%s)", c.After.Configured, c.After.Memory, arrow(share(&c.Before), share(&c.After)))
}

func reserved(s *whatif.Supply) string {
	if s.Reserved == 0 {
		return "none"
	}
	return s.Reserved.String()
}

func load(s *whatif.Supply) string {
	if s.Cores == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f", float64(s.VCPUs)/float64(s.Cores))
}

func capacityText(c *whatif.Capacity) string {
	fits, known := c.Fits()
	switch {
	case c.After.Hosts == 0:
		return "no host is left"
	case !fits:
		return fmt.Sprintf("%s of reservations do not fit: VMs do not power on", c.After.Reserved-c.After.Memory)
	case c.After.Configured > c.After.Memory:
		return fmt.Sprintf("%s more than there is: ballooning or swapping once all is touched", c.After.Configured-c.After.Memory)
	case !known:
		return fmt.Sprintf("fits, as far as sizes are known (%d unknown)", c.After.Unknown)
	}
	return "fits"
}
