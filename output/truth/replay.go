// Package truth has the answers of commands that compare predictions with observations,
// published figures or measurements.
package truth

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"example.org/homenode/internal/words"
	"example.org/homenode/measure/replay"
	"example.org/homenode/numa"
	"example.org/homenode/output/answer"
)

// mostVMs is the default maximum number of VMs per host.
const mostVMs = 15

// Replay returns the answer of replays of hosts. With details it lists every VM that was
// compared.
func Replay(results []*replay.Result, details bool) *answer.Answer {
	a := &answer.Answer{Command: "simulate", Format: "homenode-replay", Version: 2, Result: struct {
		Hosts []*replay.Result `json:"hosts"`
	}{results}}
	counters := answer.Table{Name: "counters", Columns: answer.Columns("host", "counter", ">compared", ">observed", ">simulated", ">error", ">relative", ">persistence", ">skill", "worst")}
	vms := answer.Table{Name: "vms", Title: "VMs by their errors",
		Columns: answer.Columns("host", "VM", ">NHN error", ">persistence", ">N%L error", ">persistence", ">NRMEM error", ">persistence", ">NMIG observed", ">simulated")}
	vms.Plain = &answer.Table{Columns: vms.Columns}
	left := 0
	for _, r := range results {
		a.Verdict = append(a.Verdict, headline(r))
		a.Facts = append(a.Facts, answer.Fact{Name: r.Host, Text: fmt.Sprintf("%s to %s UTC, %s (ticks within %s are one), %s",
			clock(r.Start), clock(r.End), words.Plural(r.Moments, "moment"), words.Duration(r.Window), words.Plural(len(r.VMs), "VM"))})
		for _, c := range replay.Counters() {
			if e := &r.Totals[c]; e.Compared > 0 {
				counters.Add(counterRow(r, c, e)...)
			}
		}
		wrong := 0
		for _, v := range worstFirst(r) {
			row := vmRow(r, v)
			vms.Plain.Add(row...)
			if off(v) {
				wrong++
			}
			switch {
			case details || off(v) && wrong <= mostVMs:
				vms.Add(row...)
			case off(v):
				left++
			}
		}
		if wrong == 0 {
			a.Note(r.Host + ": the homes, migrations and N%L of all VMs are as observed")
		}
		a.NotesFrom("capture", r.Notes...)
	}
	if left > 0 {
		vms.Cut = words.Plural(left, "VM") + " more with errors (--details shows all)"
	}
	a.Tables = []answer.Table{counters}
	if len(vms.Rows) > 0 {
		a.Tables = append(a.Tables, vms)
	}
	return a
}

// headline states the error of the run in memory, compared with the forecast that nothing
// changes.
func headline(r *replay.Result) string {
	e := &r.Totals[replay.Locality]
	if e.Compared == 0 {
		return r.Host + ": N%L could not be compared"
	}
	return fmt.Sprintf("%s: N%%L is off by %s on average, and by %s if nothing changed", r.Host, missed(replay.Locality, e.Mean), missed(replay.Locality, e.Persistence))
}

// counterRow returns the row of a counter.
func counterRow(r *replay.Result, c replay.Counter, e *replay.Error) []string {
	f := e.Figures(c)
	observed, simulated, relative, skill := "", "", "", "no change"
	if f.Observed != nil {
		observed, simulated = value(c, *f.Observed), value(c, *f.Simulated)
	}
	if f.Relative != nil && (c == replay.NRMEM || c == replay.NLMEM || c == replay.NodeFree) {
		relative = percent(*f.Relative)
	}
	if f.Skill != nil {
		skill = skillText(*f.Skill)
	} else if e.Missed == 0 {
		skill = "both exact"
	}
	return []string{r.Host, c.String(), words.Plural(int(e.Compared), compared(c)), observed, simulated, missed(c, e.Mean), relative, missed(c, e.Persistence), skill, worst(r, c)}
}

// compared returns the unit of comparison of a counter.
func compared(c replay.Counter) string {
	switch c {
	case replay.NMIG:
		return "VM"
	case replay.NodeFree:
		return "node-tick"
	}
	return "VM-tick"
}

// value formats a value of a counter in esxtop's unit.
func value(c replay.Counter, x float64) string {
	switch c {
	case replay.Locality:
		return fmt.Sprintf("%.1f %%", x*100)
	case replay.Ready:
		return fmt.Sprintf("%.2f %%", x*100)
	case replay.NMIG:
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return numa.Bytes(math.Round(x)).String()
}

// missed formats a mean error.
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

// skillText formats a skill. Values far below 0 have no decimals.
func skillText(s float64) string {
	switch {
	case s < -99:
		return "below -99"
	case math.Abs(s) < 0.005:
		return "0.00"
	}
	return fmt.Sprintf("%+.2f", s)
}

// worst returns the VM or node with the largest error of a counter.
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
		look(fmt.Sprintf("node %d", r.Nodes[i].ID), &r.Nodes[i].Errors[c])
	}
	return name
}

// worstFirst returns the compared VMs: those with the largest errors of N%L first, then those
// with the largest errors of home nodes.
func worstFirst(r *replay.Result) []*replay.VM {
	var order []*replay.VM
	for i := range r.VMs {
		if r.VMs[i].Errors[replay.NHN].Compared > 0 {
			order = append(order, &r.VMs[i])
		}
	}
	slices.SortStableFunc(order, func(a, b *replay.VM) int {
		return cmp.Or(byMean(&a.Errors[replay.Locality], &b.Errors[replay.Locality]), byMean(&a.Errors[replay.NHN], &b.Errors[replay.NHN]), cmp.Compare(a.Name, b.Name))
	})
	return order
}

// off reports whether home nodes, N%L or migrations of the VM differ from the observation.
func off(v *replay.VM) bool {
	e := &v.Errors
	return e[replay.NHN].Missed > 0 || e[replay.Locality].Missed > 0 || e[replay.NMIG].Missed > 0
}

func vmRow(r *replay.Result, v *replay.VM) []string {
	e := &v.Errors
	observed, simulated := "", ""
	if m := &e[replay.NMIG]; m.Compared > 0 {
		observed, simulated = value(replay.NMIG, m.Observed), value(replay.NMIG, m.Simulated)
	}
	row := []string{r.Host, v.Name}
	for _, c := range []replay.Counter{replay.NHN, replay.Locality, replay.NRMEM} {
		row = append(row, missed(c, e[c].Mean), missed(c, e[c].Persistence))
	}
	return append(row, observed, simulated)
}

// byMean sorts the larger error first.
func byMean(a, b *replay.Error) int {
	x, _ := a.Mean()
	y, _ := b.Mean()
	return cmp.Compare(y, x)
}

func clock(t time.Time) string { return t.Format("2006-01-02 15:04:05") }
