// Package speed answers what vCPU speed and guarantees leave of a host.
package speed

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"homenode/internal/words"
	"homenode/numa/unit"
	"homenode/output/answer"
	"homenode/output/draw/chart"
	"homenode/output/size"
	"homenode/size/speed"
)

// Answer turns the result into an answer; details adds all columns.
func Answer(r *speed.Result, details bool) *answer.Answer {
	a := r.Asked
	out := &answer.Answer{
		Command: "size speed",
		Question: fmt.Sprintf("size speed: %s of %d vCPU and %s on a host, at %v a vCPU, %s; %s, cores of %v",
			words.Plural(a.VMs, "VM"), a.VCPUs, a.Memory, a.Speed, a.Model.Name(), r.HostText, a.Core),
		Result: r,
	}
	size.AddCharts(out, charts(r)...)
	out.Assumed = []answer.Assumption{
		{What: "limit, reservation", Value: a.Model.Name(), Origin: r.Terms.Origin, Source: r.Terms.Source},
		answer.Figure("guarantee", r.Guarantee, unit.Share.String),
		answer.Figure("kernel", r.Kernel, unit.Share.String),
		{What: "demand", Value: "constant, all alike", Origin: unit.Assumed, Note: fmt.Sprintf("30 min in the simulation, %s of memory touched a VM; %s", r.Touched, r.Release)},
	}
	if len(r.SCA) > 0 && r.SCA[0].Gain > 0 {
		gains, names := make([]string, len(r.SCA)), make([]string, len(r.SCA))
		for i, m := range r.SCA {
			names[i] = m.Name
			gains[i] = fmt.Sprintf("+%s %%", unit.Digits(100*float64(m.Gain), 3))
		}
		out.Assumed = append(out.Assumed, answer.Assumption{What: "second thread", Value: strings.Join(gains, ", "), Origin: unit.Assumed,
			Note: fmt.Sprintf("of a core: %s; VMware: SCAv1 costs up to %v of a full host", strings.Join(names, ", "), speed.Loss.High)})
	}
	out.Verdict = verdict(r)
	out.Tables = []answer.Table{loads(r, details)}
	if details {
		out.Tables = append(out.Tables, sCA(r))
	}
	for _, c := range r.Changes {
		out.Changes = append(out.Changes, answer.Change{If: c.If, Result: otherwise(&c, a.Running()), Change: change(c.Admission, r.Admission)})
	}
	for i := range r.SCA {
		if m, none := &r.SCA[i], &r.SCA[0]; i > 0 {
			out.Changes = append(out.Changes, answer.Change{If: m.Name, Result: sCAText(m, none), Change: fmt.Sprintf("host %+.0f %%", 100*(float64(m.Capacity/none.Capacity)-1))})
		}
	}
	out.Note(r.Notes...)
	return out
}

func verdict(r *speed.Result) []string {
	a, t := r.Asked, &r.Terms
	var out []string
	switch {
	case t.Limit == 0:
		out = append(out, fmt.Sprintf("%s sets no limit on the VM: a vCPU can use its whole core.", a.Model.Name()))
	case r.Held == 0:
		beside := map[bool]string{true: "more than", false: "as much as"}[r.AboveCores]
		out = append(out, fmt.Sprintf("The limit of %v is %s %d cores of %v give: it does not act (turbo not counted).", t.Limit, beside, a.VCPUs, a.Core))
	case r.Acts:
		out = append(out, fmt.Sprintf("Limit %v: each vCPU gets %v of a core; one that wants all of it is held back %v of the time if cores are free.", t.Limit, r.Share, r.Held))
	default:
		full := r.Limited[len(r.Limited)-1]
		out = append(out, fmt.Sprintf("When all %d VMs want CPU the limit of %v never acts: cores run out at %v a VM.", a.Running(), t.Limit, full.Used),
			fmt.Sprintf("While cores are free a vCPU gets %v of one; if it wants all of it, it is held back %v of the time (%%MLMTD).", r.Share, r.Held))
	}
	out = append(out, admitted(r)...)
	if t.Limit == 0 {
		return append(out, "vNUMA stays as it is: it follows the vCPU count, not the speed.")
	}
	return append(out, "vNUMA stays as it is. The limit goes by the vCPU count: every vCPU more raises it, needed or not.")
}

// admitted says how many VMs CPU reservations admit, and for how many there is memory.
func admitted(r *speed.Result) (out []string) {
	a, t, ad := r.Asked, &r.Terms, &r.Admission
	switch {
	case a.Model == speed.ReservationPool:
	case !ad.Bounded:
		out = append(out, "No CPU is reserved: CPU admits any number of VMs.")
	default:
		where := "the VM"
		if t.InPool {
			where = "its pool"
		}
		line := fmt.Sprintf("Reserved on %s: %v. CPU admits %s a host, %s vCPUs a core", where, t.Reservation, words.Plural(ad.PerHost, "VM"), unit.Digits(ad.PerCore.VCPUs, 2))
		if a.Hosts > 1 {
			line += fmt.Sprintf("; %d on %d hosts, %d with one host fewer", ad.All, a.Hosts, ad.NPlus1)
		}
		out = append(out, line+".")
		if n := a.Running(); n < a.VMs {
			out = append(out, fmt.Sprintf("%d VMs are more than that: the simulation runs %d. All are admitted at %s MHz a vCPU or less.", a.VMs, n,
				unit.Grouped(math.Floor(float64(r.SpeedForVMs/unit.MHz)), 0)))
		}
	}
	if n := ad.InMemory; ad.MemoryBinds() {
		local := ""
		if r.Local != nil {
			local = fmt.Sprintf(" (%d with each local, size fit)", *r.Local)
		}
		out = append(out, fmt.Sprintf("Memory binds first: a host of %s has it for %d of them%s; more need it overcommitted.", a.Host.Memory.Value, *n, local))
	}
	return out
}

// loads is what the VMs get of what they want.
func loads(r *speed.Result, details bool) answer.Table {
	t := answer.Table{Name: "demand", Title: "in the simulation, a VM; shares by vCPU", Columns: size.Columns(">demand", ">used", ">ready", ">by limit", ">no core free", ">co-stop", ">without limit: used", ">ready")}
	if details {
		t.Columns = append(t.Columns, answer.Column{Name: "co-stop", Right: true}, answer.Column{Name: "N%L", Right: true}, answer.Column{Name: "N%L without", Right: true}, answer.Column{Name: "closed form", Right: true})
	}
	for i, l := range r.Limited {
		f := r.Free[i]
		if !details && math.Mod(float64(l.Demand)*100, 25) > 0.01 {
			continue
		}
		row := []string{l.Demand.String(), l.Used.String(), waiting(l.Ready), waiting(l.Limited), waiting(l.Contended), waiting(l.CoStop), f.Used.String(), waiting(f.Ready)}
		if details {
			row = append(row, waiting(f.CoStop), l.Local.String(), f.Local.String(), l.Expected.String())
		}
		t.Add(row...)
	}
	return t
}

// sCA is what side-channel aware schedulers leave.
func sCA(r *speed.Result) answer.Table {
	t := answer.Table{Name: "sca", Title: "side-channel aware schedulers", Columns: size.Columns("scheduler", ">vCPUs at once", ">of this shape", ">capacity", ">not wide up to", ">with preferHT", ">used at 100 %", ">ready")}
	for _, m := range r.SCA {
		preferHT := strconv.Itoa(m.PreferHT)
		if m.AtOnce < m.PreferHT {
			preferHT += fmt.Sprintf(" (%d run)", m.AtOnce)
		}
		t.Add(m.Name, strconv.Itoa(m.Places), strconv.Itoa(m.OfShape), m.Capacity.String(), strconv.Itoa(m.NonWide), preferHT,
			m.Full.Used.String(), waiting(m.Full.Ready))
	}
	return t
}

// otherwise says what a change comes to; vms ran before.
func otherwise(c *speed.Change, vms int) string {
	s := "no limit"
	if c.Terms.Limit > 0 {
		s = fmt.Sprintf("limit %v", c.Terms.Limit)
	}
	if c.VMs == 0 {
		return s + "; admits none"
	}
	s += fmt.Sprintf(", at 100 %%: %v used, %v ready", c.Full.Used, waiting(c.Full.Ready))
	if c.Admission.Bounded {
		s += fmt.Sprintf("; admits %d", c.Admission.All)
	}
	if c.VMs != vms {
		s += fmt.Sprintf("; %d run", c.VMs)
	}
	return s
}

// waiting writes a share of the time; less than the simulation can tell is none.
func waiting(s unit.Share) string {
	if s < 0.0005 {
		s = 0
	}
	return s.String()
}

// sCAText says what runs at once under a scheduler.
func sCAText(m, none *speed.Mitigated) string {
	s := fmt.Sprintf("%d vCPUs run at once, not %d", m.OfShape, none.OfShape)
	switch {
	case m.OfShape == 0:
		s = fmt.Sprintf("no VM runs whole, %d vCPUs at once", m.Places)
	case m.OfShape == none.OfShape:
		s = fmt.Sprintf("%d vCPUs run at once, as before", m.OfShape)
	}
	return s + fmt.Sprintf("; at 100 %%: %v used, %v ready", m.Full.Used, waiting(m.Full.Ready))
}

// change is what a change does to the number of VMs that are admitted.
func change(now, before speed.Admission) string {
	switch {
	case !before.Bounded || !now.Bounded || before.All == 0:
		return ""
	case now.All == before.All:
		return "same"
	}
	return fmt.Sprintf("%+.0f %% VMs", 100*(float64(now.All)/float64(before.All)-1))
}

func percent(v float64) string { return unit.Digits(v, 3) + " %" }

// charts draws used and ready by demand, and the schedulers.
func charts(r *speed.Result) []chart.Chart {
	series := func(name string, loads []speed.Load, y func(*speed.Load) unit.Share) chart.Series {
		s := chart.Series{Name: name}
		for i := range loads {
			s.Points = append(s.Points, chart.Point{X: 100 * float64(loads[i].Demand), Y: 100 * float64(y(&loads[i]))})
		}
		return s
	}
	whole := unit.Hz(r.Asked.VCPUs) * r.Asked.Core
	used := func(l *speed.Load) unit.Share { return l.Used.Of(whole) }
	ready := func(l *speed.Load) unit.Share { return l.Ready }
	lines := &chart.Lines{
		X:      chart.Axis{Label: "demand of each vCPU, % of a core", Text: percent},
		Y:      chart.Axis{Label: "% of the time of a vCPU", Text: percent},
		Series: []chart.Series{series("used", r.Limited, used), series("ready", r.Limited, ready)},
	}
	if r.Acts { // else the curves without it are the same
		lines.Series = append(lines.Series, series("used without limit", r.Free, used), series("ready without limit", r.Free, ready))
	}
	if r.Terms.Limit > 0 && r.Share < 1 {
		name := fmt.Sprintf("limit: %v of a core", r.Share)
		if !r.Acts {
			name += ", never acts"
		}
		lines.Marks = []chart.Mark{{Name: name, Value: 100 * float64(r.Share)}}
	}
	bars := &chart.Bars{X: chart.Axis{Label: "vCPUs that run at once on a host", Text: func(v float64) string { return unit.Grouped(v, 0) }}}
	for _, m := range r.SCA {
		bars.Rows = append(bars.Rows, chart.Row{Name: m.Name, Value: strconv.Itoa(m.OfShape), Segments: []chart.Segment{
			{Kind: "of this shape", Value: float64(m.OfShape)}, {Kind: "too little for one VM more, or idle", Value: float64(m.Places - m.OfShape), Soft: true},
		}})
	}
	out := []chart.Chart{{
		ID: "speed-demand", Title: fmt.Sprintf("%s of %d vCPU at %v a vCPU on cores of %v", words.Plural(r.Asked.Running(), "VM"), r.Asked.VCPUs, r.Asked.Speed, r.Asked.Core),
		Note: "mean of all VMs in the simulated scheduler, 30 minutes of constant demand", Lines: lines,
	}}
	if len(bars.Rows) > 1 {
		out = append(out, capacity(r.SCA), chart.Chart{ID: "speed-sca", Title: "What side-channel aware schedulers leave", Note: "rule book E-2, E-3", Bars: bars})
	}
	return out
}

// capacity draws what the schedulers leave of a host's CPU.
func capacity(all []speed.Mitigated) chart.Chart {
	bars := &chart.Bars{X: chart.Axis{Label: "CPU of a host with its second threads, GHz", Text: func(v float64) string { return unit.Grouped(v, 0) }}}
	for i := range all {
		m, none := &all[i], &all[0]
		lost := none.Capacity - m.Capacity
		row := chart.Row{Name: m.Name, Value: m.Capacity.String(), Segments: []chart.Segment{{Kind: "left", Value: float64(m.Capacity / unit.GHz)}}}
		if lost > 0 {
			row.Value += fmt.Sprintf(", %+.0f %%", -100*float64(lost/none.Capacity))
			row.Segments = append(row.Segments, chart.Segment{Kind: "lost", Value: float64(lost / unit.GHz), Soft: true})
		}
		bars.Rows = append(bars.Rows, row)
	}
	return chart.Chart{ID: "speed-capacity", Title: "What side-channel aware schedulers leave of a host's CPU", Note: "assumed: the second thread gives +25 %, +0 % and +12.5 % of a core", Bars: bars}
}
