package report

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"homenode/change/diff"
	"homenode/change/whatif"
)

// WhatIfMarkdown is WhatIf as GitHub Flavored Markdown.
func WhatIfMarkdown(w io.Writer, d *diff.Drift, effects []whatif.Effect, capacity []whatif.Capacity, o DriftOptions) error {
	b := bufio.NewWriterSize(w, 64<<10) // keeps the first error until Flush
	fmt.Fprintf(b, "# What if\n\n**%s**\n\n", mark(verdicts(d)))
	for _, e := range effects {
		fmt.Fprintf(b, "- %s: %s\n", code(e.Change), mark(effectText(&e)))
	}
	markDrift(b, d, o, "Today", "Changed")
	if len(capacity) > 0 {
		fmt.Fprint(b, "\n## Capacity\n\n")
		t := markTable{b, []string{"Cluster", "Hosts", "Memory of VMs / hosts", "Reserved", "vCPUs per core", ""}, make([]bool, 6)}
		t.head()
		for i := range capacity {
			c := &capacity[i]
			t.row(code(c.Cluster), arrow(strconv.Itoa(c.Before.Hosts), strconv.Itoa(c.After.Hosts)), memoryUse(c), reserved(&c.After), arrow(load(&c.Before), load(&c.After)), mark(capacityText(c)))
		}
	}
	return b.Flush()
}

// DiffMarkdown is Diff as GitHub Flavored Markdown.
func DiffMarkdown(w io.Writer, d *diff.Drift, o DriftOptions) error {
	b := bufio.NewWriterSize(w, 64<<10)
	fmt.Fprintf(b, "# Drift from %s to %s\n\n**%s**\n", mark(d.A.Fleet.Source), mark(d.B.Fleet.Source), mark(diffLine(d)))
	for _, one := range []struct {
		what  string
		names []string
	}{
		{"New hosts", hostNames(d.NewHosts)}, {"Gone hosts", hostNames(d.GoneHosts)},
		{"New VMs", vmSubjects(d.B.Fleet, d.NewVMs)}, {"Gone VMs", vmSubjects(d.A.Fleet, d.GoneVMs)},
	} {
		if len(one.names) > 0 {
			fmt.Fprintf(b, "\n%s: %s\n", one.what, code(strings.Join(one.names, ", ")))
		}
	}
	markDrift(b, d, o, "A", "B")
	if rows := settingRows(d.Hosts, d.VMs, o); len(rows) > 0 {
		fmt.Fprint(b, "\n## Settings\n\n")
		t := markTable{b, []string{"Setting", "A", "B", "Of"}, make([]bool, 4)}
		t.head()
		for _, r := range rows {
			t.row(code(r.name), mark(r.from), mark(r.to), code(r.of()))
		}
	}
	return b.Flush()
}

// markDrift writes the VMs and findings that differ.
func markDrift(b *bufio.Writer, d *diff.Drift, o DriftOptions, from, to string) {
	if rows := changedRows(d, o.Details); len(rows) > 0 {
		fmt.Fprint(b, "\n## VMs\n\n")
		t := markTable{b, []string{"", "VM", from, to, "Why"}, make([]bool, 5)}
		t.head()
		for _, r := range rows {
			t.row(r.word(), code(r.Subjects()), mark(r.from), mark(r.to), mark(r.why))
		}
		fmt.Fprintf(b, "\n%s.\n", mark(shortLegend))
	}
	for _, part := range []struct {
		title    string
		findings []diff.Finding
	}{{"Findings", d.Findings}, {"No drift: " + toldText(d), d.Told}} {
		groups := findingGroups(d, part.findings)
		if len(groups) == 0 {
			continue
		}
		fmt.Fprintf(b, "\n## %s\n\n", mark(part.title))
		t := markTable{b, []string{"", "Count", "Severity", "Rule", "What", "Where"}, []bool{1: true, 5: false}}
		t.head()
		for _, g := range groups {
			t.row(g.change, strconv.Itoa(len(g.findings)), severityOf(g.severity), g.rule.ID, mark(g.rule.Title), code(subjects(g.findings, clusterOf, clusterAndName)))
		}
	}
	if notes := newNotes(d); len(notes) > 0 {
		fmt.Fprint(b, "\n## Notes\n\n")
		for _, n := range notes {
			fmt.Fprintf(b, "- %s\n", mark(n.String()))
		}
	}
}
