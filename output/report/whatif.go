package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"homenode/change/diff"
	"homenode/change/whatif"
	"homenode/internal/texttab"
	"homenode/rules/rule"
)

// WhatIf writes today's fleet beside the changed one for a terminal.
func WhatIf(w io.Writer, d *diff.Drift, effects []whatif.Effect, capacity []whatif.Capacity, o DriftOptions) error {
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

// verdicts returns the summary in one line; VMs that cannot run any more come first:
// "3 VMs cannot run, 0 better, 1 worse, 289 unchanged".
func verdicts(d *diff.Drift) string {
	s := rule.Plural(d.Better, "VM") + " better"
	if d.Stopped > 0 {
		s = fmt.Sprintf("%s cannot run, %d better", rule.Plural(d.Stopped, "VM"), d.Better)
	}
	s += fmt.Sprintf(", %d worse", d.Worse-d.Stopped)
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
	if e.VMs > 0 && e.Hosts > 0 && strings.HasPrefix(e.Change, "--lose-host") {
		return text + " have to power on elsewhere: judged where it suits them worst"
	}
	if all := e.Hosts + e.VMs; e.Changed == 0 {
		text += ": nothing changes"
	} else if e.Changed < all {
		text += fmt.Sprintf(": %d change", e.Changed)
	}
	return text
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
	switch {
	case s.Unreserved > 0 && s.Reserved == 0:
		return "unknown"
	case s.Unreserved > 0:
		return fmt.Sprintf("%s + %s unknown", s.Reserved, rule.Plural(s.Unreserved, "VM"))
	case s.Reserved == 0:
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
	case c.After.Configured > c.After.Memory && c.After.Unreserved > 0:
		return fmt.Sprintf("%s more than there is: ballooning or swapping once all is touched; reservations of %s are unknown: they may not power on",
			c.After.Configured-c.After.Memory, rule.Plural(c.After.Unreserved, "VM"))
	case c.After.Configured > c.After.Memory:
		return fmt.Sprintf("%s more than there is: ballooning or swapping once all is touched", c.After.Configured-c.After.Memory)
	case !known:
		return fmt.Sprintf("fits, as far as sizes are known (%d unknown)", c.After.Unknown)
	}
	return "fits"
}
