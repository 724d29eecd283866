package report

import (
	"io"
	"strconv"
	"strings"

	"homenode/internal/texttab"
	"homenode/rules/rule"
)

// RulePage writes the page of a rule.
func RulePage(w io.Writer, r *rule.Rule, colour bool) error {
	p := &printer{w: w, colour: colour}
	p.printf("%s  %s  (%s, up to %s)\n", p.paint(bold, r.ID), r.Title, r.Name, r.Severity)
	if r.Watch != nil {
		p.printf("  judges recordings (homenode capture)\n")
	}
	for _, part := range []struct{ name, text string }{{"why", r.Why}, {"fix", r.Fix}, {"when it is wrong", r.Limits}} {
		p.printf("\n%s\n", p.paint(bold, part.name))
		for line := range strings.Lines(part.text) {
			p.printf("  %s\n", strings.TrimSpace(line))
		}
	}
	if len(r.Thresholds) > 0 {
		p.printf("\n%s\n", p.paint(bold, "thresholds (homenode.yaml)"))
	}
	for i := range r.Thresholds {
		t := &r.Thresholds[i]
		p.printf("  %s.%s: %s, from %s to %s\n    %s\n", r.ID, t.Name, t.Write(t.Default), t.Write(t.Least), t.Write(t.Most), t.Text)
	}
	p.printf("\n%s\n", p.paint(bold, "sources"))
	for _, s := range r.Sources {
		p.printf("  %s\n", s)
	}
	p.printf("  rule book: %s\n", strings.Join(r.Book, ", "))
	return p.err
}

// RuleList writes one line a rule.
func RuleList(w io.Writer, rs []*rule.Rule, colour bool) error {
	p := &printer{w: w, colour: colour}
	t := texttab.Table{}
	for _, r := range rs {
		t.Row(r.ID, severityWord(r.Severity), r.About(), r.Title)
		if p.colour {
			t.Paint(1, severityCode[r.Severity])
		}
	}
	p.table(&t)
	p.printf("\n%s: homenode rules ID\n", "one of "+strconv.Itoa(len(rs))+" in full")
	return p.err
}
