//go:build linux

package main

import (
	"fmt"
	"io"
	"runtime"

	"example.org/homenode/cmd/bench/contest"
)

// write prints a table for each group, then the targets.
func write(w io.Writer, s *settings, all []*contender) error {
	fmt.Fprintf(w, "%s, %d cores, %s. Median of %d rounds, of the large fleet and beside CloudSim Plus %d.\n",
		contest.CPUModel(), runtime.NumCPU(), runtime.Version(), s.rounds, s.slowRounds)
	titles := [groups]string{
		kernel: fmt.Sprintf("A day, %d VMs on %d hosts", kernelVMs, kernelHosts),
		fleet:  fmt.Sprintf("%d VMs on %d hosts, %d hours", s.vms, s.hosts, s.hours),
		traced: fmt.Sprintf("A typical day, %d VMs on %d hosts, traced", kernelVMs, kernelHosts),
		sparse: fmt.Sprintf("%d VMs on %d hosts, a day", sharedVMs, sharedHosts),
		dense:  fmt.Sprintf("%d VMs on %d hosts, %d hours", sharedVMs, sharedHosts, denseHours),
	}
	for g := range groups {
		t := contest.Table{Markdown: s.markdown}
		if g == sparse || g == dense {
			t.Row("", "VM-updates", "seconds", "VM-updates/s", "mean utilisation", "setup", "its CPU time", "memory")
		} else {
			t.Row("", "cores", "million client-ticks/s", "slowest to fastest", "seconds", "setup", "its CPU time", "bytes per VM", "memory")
		}
		for _, c := range all {
			if c.group == g && len(c.runs) > 0 {
				t.Row(c.row()...)
			}
		}
		if err := t.Write(w, titles[g]); err != nil {
			return err
		}
	}
	return writeTargets(w, s, all)
}

// row returns the table cells of c.
func (c *contender) row() []string {
	m := c.median()
	end := []string{fmt.Sprintf("%.2f s", m.Setup), fmt.Sprintf("%.2f s", m.cpu.Seconds())}
	memory := fmt.Sprintf("%d MB", m.rss/1e6)
	if c.group == sparse || c.group == dense {
		cells := []string{c.name, fmt.Sprint(m.updates), contest.Figure(m.Seconds), fmt.Sprintf("%.0f", float64(m.updates)/m.Seconds), fmt.Sprintf("%.9f", m.Utilisation)}
		return append(append(cells, end...), memory)
	}
	slowest, fastest := c.speed(c.runs[0]), c.speed(c.runs[0])
	for _, r := range c.runs {
		slowest, fastest = min(slowest, c.speed(r)), max(fastest, c.speed(r))
	}
	cells := []string{c.name, fmt.Sprint(c.cores), contest.Figure(c.speed(m)), contest.Figure(slowest) + " to " + contest.Figure(fastest), contest.Figure(m.Seconds)}
	return append(append(cells, end...), fmt.Sprint(m.StateBytes/int64(m.VMs)), memory)
}

// speed returns millions of client steps per second.
func (c *contender) speed(m measured) float64 { return float64(m.ClientTicks) / m.Seconds / 1e6 }

// writeTargets prints each target with the measured figure.
func writeTargets(w io.Writer, s *settings, all []*contender) error {
	find := func(g group, name string, cores int) *contender {
		for _, c := range all {
			if c.group == g && c.name == name && c.cores == cores && len(c.runs) > 0 {
				return c
			}
		}
		return nil
	}
	t := contest.Table{Markdown: s.markdown}
	t.Row("", "target", "measured", "")
	row := func(text, want string, got float64, unit string, reached bool) {
		verdict := "missed"
		if reached {
			verdict = "reached"
		}
		t.Row(text, want, contest.Figure(got)+" "+unit, verdict)
	}
	if one, two := find(kernel, "typical", 1), find(kernel, "typical", 2); one != nil && two != nil {
		m := one.median()
		speed := one.speed(m)
		row("a typical day, one core", "at least 150", speed, "million client-ticks/s", speed >= 150)
		times := two.speed(two.median()) / speed
		row("two cores to one", "at least 1.80", times, "times", times >= 1.8)
	}
	if bare, whole := find(traced, "no trace", 1), find(traced, judged, 1); bare != nil && whole != nil {
		times := bare.median().cpu.Seconds() / whole.median().cpu.Seconds()
		row("CPU time of the scheduler alone to that with everything judged", "at least 0.50", times, "times", times >= 0.5)
	}
	if one, two := find(fleet, "a large fleet", 1), find(fleet, "a large fleet", 2); one != nil && two != nil {
		m := two.median()
		row("the large fleet, two cores", "at most 30", m.Seconds, "s", m.Seconds <= 30)
		times := one.median().Seconds / m.Seconds
		row("the same, two cores to one", "at least 1.80", times, "times", times >= 1.8)
		memory := float64(m.StateBytes) / float64(m.VMs)
		row("the same, state of the simulation", "at most 200", memory, "bytes a VM", memory <= 200)
	}
	for _, g := range []group{sparse, dense} {
		own := find(g, "homenode, steps of 2 s", 1)
		for _, c := range all {
			if c.group == g && c != own && own != nil && len(c.runs) > 0 {
				a, b := own.median(), c.median()
				t.Row(fmt.Sprintf("the same time simulated, against %s (%s)", c.name, b.version), "–", contest.Figure(b.Seconds/a.Seconds)+" times", "")
			}
		}
	}
	return t.Write(w, "Targets")
}
