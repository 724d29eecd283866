// Package deviation writes how far the replay of a capture was from what was observed, as
// text and JSON. Every figure is that of package replay.
package deviation

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"homenode/internal/texttab"
	"homenode/measure/replay"
	"homenode/numa"
)

// Options of the text.
type Options struct {
	// Details shows every VM and every note.
	Details bool
}

// Unless Options.Details is set, so many VMs and notes are shown of a host.
const (
	mostVMs   = 15
	mostNotes = 12
)

// Text writes the results of hosts as tables.
func Text(w io.Writer, results []*replay.Result, o Options) error {
	p := printer{w: w}
	for i, r := range results {
		if i > 0 {
			p.printf("\n")
		}
		p.host(r, o)
	}
	return p.err
}

type printer struct {
	w   io.Writer
	err error
}

func (p *printer) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}

func (p *printer) table(t *texttab.Table) {
	if p.err == nil {
		_, p.err = t.WriteTo(p.w)
	}
}

func (p *printer) host(r *replay.Result, o Options) {
	p.printf("%s: %s to %s UTC, %s (ticks within %s are one), %s\n\n", texttab.Clean(r.Host), clock(r.Start), clock(r.End), plural(r.Moments, "moment"), span(r.Window), plural(len(r.VMs), "VM"))
	t := texttab.Table{Right: map[int]bool{2: true, 3: true, 4: true, 5: true, 6: true, 7: true}}
	t.Row("COUNTER", "COMPARED", "OBSERVED", "SIMULATED", "ERROR", "RELATIVE", "PERSISTENCE", "SKILL", "WORST")
	for _, c := range replay.Counters() {
		if e := &r.Totals[c]; e.Compared > 0 {
			t.Row(counterRow(r, c, e)...)
		}
	}
	p.table(&t)
	p.vms(r, o)
	p.notes(r, o)
}

// counterRow returns the row of a counter.
func counterRow(r *replay.Result, c replay.Counter, e *replay.Error) []string {
	observed, simulated, relative, skill := "", "", "", "no change"
	if c != replay.NHN {
		n := float64(e.Compared)
		if c == replay.NMIG {
			n = 1 // all of them
		}
		observed, simulated = value(c, e.Observed/n), value(c, e.Simulated/n)
	}
	if share, ok := e.Relative(); ok && (c == replay.NRMEM || c == replay.NLMEM || c == replay.NodeFree) {
		relative = percent(share)
	}
	if s, ok := e.Skill(); ok {
		skill = signed(s)
	} else if e.Missed == 0 {
		skill = "both exact"
	}
	return []string{c.String(), plural(int(e.Compared), compared(c)), observed, simulated, missed(c, e.Mean), relative, missed(c, e.Persistence), skill, worst(r, c)}
}

// compared is what a counter is compared of.
func compared(c replay.Counter) string {
	switch c {
	case replay.NMIG:
		return "VM"
	case replay.NodeFree:
		return "node-tick"
	}
	return "VM-tick"
}

// value writes a value of a counter as esxtop counts it.
func value(c replay.Counter, x float64) string {
	switch c {
	case replay.Locality:
		return fmt.Sprintf("%.1f %%", x)
	case replay.Ready:
		return fmt.Sprintf("%.2f %%", x*100)
	case replay.NMIG:
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return numa.Bytes(math.Round(x)).String()
}

// missed writes a mean error.
func missed(c replay.Counter, mean func() (float64, bool)) string {
	x, ok := mean()
	switch {
	case !ok:
		return ""
	case c == replay.NHN:
		return percent(x)
	case c == replay.Locality:
		return fmt.Sprintf("%.2f points", x)
	case c == replay.NMIG:
		return fmt.Sprintf("%.2f a VM", x)
	}
	return value(c, x)
}

func percent(share float64) string { return fmt.Sprintf("%.2f %%", share*100) }

// signed writes a skill; what is far below 0 needs no digits.
func signed(s float64) string {
	switch {
	case s < -99:
		return "below -99"
	case math.Abs(s) < 0.005:
		return "0.00"
	}
	return fmt.Sprintf("%+.2f", s)
}

// worst names the VM or node with the largest error of a counter.
func worst(r *replay.Result, c replay.Counter) string {
	best, name := 0.0, ""
	nothing := missed(c, func() (float64, bool) { return 0, true })
	look := func(who string, e *replay.Error) {
		if x, ok := e.Mean(); ok && x > best && missed(c, e.Mean) != nothing {
			best, name = x, who+" "+missed(c, e.Mean)
		}
	}
	for i := range r.VMs {
		look(r.VMs[i].Name, &r.VMs[i].Errors[c])
	}
	for i := range r.Nodes {
		if c == replay.NodeFree {
			look(fmt.Sprintf("node %d", r.Nodes[i].ID), &r.Nodes[i].Error)
		}
	}
	return name
}

// vms writes the VMs with the largest errors of N%L, then of home nodes.
func (p *printer) vms(r *replay.Result, o Options) {
	order := make([]*replay.VM, 0, len(r.VMs))
	for i := range r.VMs {
		if e := &r.VMs[i].Errors; e[replay.NHN].Compared > 0 && (o.Details || e[replay.NHN].Missed > 0 || e[replay.Locality].Missed > 0 || e[replay.NMIG].Missed > 0) {
			order = append(order, &r.VMs[i])
		}
	}
	if len(order) == 0 {
		p.printf("\nthe homes, migrations and N%%L of all VMs are as observed\n")
		return
	}
	slices.SortStableFunc(order, func(a, b *replay.VM) int {
		return cmp.Or(byMean(&a.Errors[replay.Locality], &b.Errors[replay.Locality]), byMean(&a.Errors[replay.NHN], &b.Errors[replay.NHN]), cmp.Compare(a.Name, b.Name))
	})
	t := texttab.Table{Right: map[int]bool{1: true, 2: true, 3: true, 4: true, 5: true, 6: true, 7: true, 8: true}}
	t.Row("VM", "NHN ERROR", "PERSISTENCE", "N%L ERROR", "PERSISTENCE", "NRMEM ERROR", "PERSISTENCE", "NMIG OBSERVED", "SIMULATED")
	shown := order
	if !o.Details {
		shown = order[:min(len(order), mostVMs)]
	}
	for _, v := range shown {
		e := &v.Errors
		observed, simulated := "", ""
		if m := &e[replay.NMIG]; m.Compared > 0 {
			observed, simulated = value(replay.NMIG, m.Observed), value(replay.NMIG, m.Simulated)
		}
		t.Row(v.Name, missed(replay.NHN, e[replay.NHN].Mean), missed(replay.NHN, e[replay.NHN].Persistence),
			missed(replay.Locality, e[replay.Locality].Mean), missed(replay.Locality, e[replay.Locality].Persistence),
			missed(replay.NRMEM, e[replay.NRMEM].Mean), missed(replay.NRMEM, e[replay.NRMEM].Persistence), observed, simulated)
	}
	p.printf("\n")
	p.table(&t)
	if n := len(order) - len(shown); n > 0 {
		p.printf("%s more with errors (--details shows all)\n", plural(n, "VM"))
	}
}

// byMean puts the larger error first.
func byMean(a, b *replay.Error) int {
	x, _ := a.Mean()
	y, _ := b.Mean()
	return cmp.Compare(y, x)
}

func (p *printer) notes(r *replay.Result, o Options) {
	if len(r.Notes) == 0 {
		return
	}
	p.printf("\n")
	shown := r.Notes
	if !o.Details {
		shown = r.Notes[:min(len(r.Notes), mostNotes)]
	}
	for _, n := range shown {
		text := n.Text
		if n.At != r.Host {
			text = n.String()
		}
		p.printf("note   %s\n", texttab.Clean(text))
	}
	if n := len(r.Notes) - len(shown); n > 0 {
		p.printf("note   %s more (--details shows all)\n", plural(n, "note"))
	}
}

func clock(t time.Time) string { return t.Format("2006-01-02 15:04:05") }

func plural(n int, word string) string {
	if n != 1 {
		word += "s"
	}
	return fmt.Sprintf("%d %s", n, word)
}

// span writes a time as people do: 20 s, 5 min 20 s, 2 h 40 min.
func span(d time.Duration) string {
	var parts []string
	for _, u := range []struct {
		of   time.Duration
		name string
	}{{time.Hour, "h"}, {time.Minute, "min"}, {time.Second, "s"}} {
		if n := d / u.of; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, u.name))
			d -= n * u.of
		}
	}
	return strings.Join(parts, " ")
}
