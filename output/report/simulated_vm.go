package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"homenode/internal/texttab"
	"homenode/rules/rule"
	"homenode/rules/simulate"
	"homenode/rules/verdict/recording"
)

// SimulatedVM writes all of the life of one VM: what it came to, every decision about it
// with its reason, what it did on each host, and what was found.
func SimulatedVM(w io.Writer, r *simulate.Result, name string, o CaptureOptions) error {
	c := newSimulated(r)
	v, err := c.sim.One(name)
	if err != nil {
		return err
	}
	p := &printer{w: w, colour: o.Colour}
	p.simulatedVM(c, v)
	if err := p.decided(c, v, o); err != nil {
		return err
	}
	for _, l := range v.Lives {
		p.printf("\n")
		p.life(c, l)
		if o.Details {
			p.printf("\n")
			p.unfound(c, l)
		}
	}
	if len(v.Lives) > 0 {
		p.printf("\nnext   homenode simulate %s --vm %s --format svg -o %s\n", quoted(o.SourceWords), shellQuote(drawnLife(v)), shellQuote(v.Name+".svg"))
	}
	if o.FailOn > 0 {
		if n := atLeast(v.Lives, o.FailOn); n > 0 {
			p.printf("exit 1: %s about it at or above %s (--fail-on)\n", rule.Plural(n, "finding"), o.FailOn)
		}
	}
	return p.err
}

// drawn names the life with the worst finding, else the first one, as a drawing wants it.
func drawnLife(v *recording.SimulatedVM) string {
	if len(v.Lives) == 1 {
		return v.Name
	}
	worst := slices.MaxFunc(v.Lives, func(a, b *recording.VM) int { return cmp.Compare(len(a.Findings), len(b.Findings)) })
	return worst.Rec.Host + "/" + worst.Label
}

func (p *printer) simulatedVM(c *captured, v *recording.SimulatedVM) {
	p.printf("%s\n\n", p.paint(bold, "Simulated: "+v.Name+" in "+c.sim.Story.Name))
	t := texttab.Table{}
	row := func(name, text string) {
		if text != "" {
			t.Row(name, text)
		}
	}
	if v.Out.Steps == 0 {
		p.printf("It never ran.\n")
		return
	}
	row("ran", fmt.Sprintf("%s of %s, on %s", rule.Duration(v.Ran()), rule.Duration(c.sim.Story.Length), strings.Join(v.Hosts(), " → ")))
	far, hasFar := v.Far()
	row("memory", joinTexts(labelled("N%L mean", simMeanText(v), ""), labelled("least", simLeastText(v), c.leastAt(v)), labelled("far", rateOf(far, hasFar), "")))
	ready, hasReady := v.Waited()
	stopped, hasStopped := v.Stopped()
	row("waiting", joinTexts(labelled("ready", rateOf(ready, hasReady), ""), labelled("co-stop", rateOf(stopped, hasStopped), "")))
	m := &v.Out.Moves
	row("migrations", fmt.Sprintf("%d: %d for load, %d for locality, %d for fairness", m.All, m.Balance+m.LoadSwap, m.Locality+m.LocalitySwap, m.Fairness))
	row("taken", labelled("at the most", v.TakenText(), c.takenAt(v)))
	if v.Missing() > 0 {
		row("performance", c.unpricedText(v))
	} else if s := v.Speed; s != nil {
		row("performance", fmt.Sprintf("%s of 1 · worst %.2f at %s · workload %s · %s of accesses far", speedText(v), s.Worst, c.Clock.At(s.WorstAt), s.Workload, recording.Rate(s.Far)))
		for i, why := range s.Why {
			name := ""
			if i == 0 {
				name = "  extrapolated"
			}
			row(name, why)
		}
	}
	if text := assumedText(c.sim); text != "" && !c.sim.Stated(v) {
		row("assumed", "its load: "+c.sim.Story.Unstated.Origin.Where)
	}
	p.table(&t)
}

func joinTexts(parts ...string) string {
	var out []string
	for _, s := range parts {
		if s != "" {
			out = append(out, s)
		}
	}
	return strings.Join(out, " · ")
}

// takenAt returns when most memory was swapped or ballooned.
func (c *captured) takenAt(v *recording.SimulatedVM) string {
	if v.Took == nil {
		return ""
	}
	return c.Clock.At(v.Took.TakenAt)
}

// unpricedText says why a VM has no performance index, and what is known of the rest of
// the time.
func (c *captured) unpricedText(v *recording.SimulatedVM) string {
	const why = "not priced while memory is swapped or ballooned: nobody published what that costs"
	s := v.Speed
	if s == nil {
		return why
	}
	priced := recording.Rate(float64(len(s.Points)) / float64(len(s.Points)+v.Took.Unpriced))
	return fmt.Sprintf("%s; in the other %s of the moments %s", why, priced, recording.Index(s))
}

// leastAt returns when N%L was least.
func (c *captured) leastAt(v *recording.SimulatedVM) string {
	if life := v.Least(); life != nil {
		return c.Clock.At(life.Least.Time)
	}
	return ""
}

// A decided is one row of what was decided about a VM, or what the story says of it.
type decided struct {
	at                     time.Duration
	host, what, why, rules string
}

// mostDecided is how many decisions the story of a VM lists.
const mostDecided = 40

// decided lists every decision about the VM.
func (p *printer) decided(c *captured, v *recording.SimulatedVM, o CaptureOptions) error {
	chosen, err := c.sim.Decisions(v.ID, "")
	if err != nil || len(chosen) == 0 {
		return err
	}
	var rows []decided
	for i := range c.sim.Story.Events {
		if e := &c.sim.Story.Events[i]; e.VM == v.ID || e.Talk != nil && (e.Talk.A == v.ID || e.Talk.B == v.ID) {
			rows = append(rows, decided{e.At, "", "story: " + cmp.Or(e.Text, e.Kind.String()), e.Note, ""})
		}
	}
	for _, d := range chosen {
		what := d.Kind.String()
		if d.Client >= 0 && c.sim.Clients(v) > 1 {
			what += fmt.Sprintf(" (client %d)", d.Client)
		}
		if d.VM != v.Index {
			what += " in turn for " + c.sim.VMs[d.VM].Name
		}
		rows = append(rows, decided{d.At, c.sim.Story.Fleet.Hosts[d.Host].Name, what, d.Why(c.sim.Story.Fleet), strings.Join(d.Kind.Rules(), " ")})
	}
	slices.SortStableFunc(rows, func(a, b decided) int { return cmp.Compare(a.at, b.at) })
	t := texttab.Table{Indent: "  "}
	several := len(v.Hosts()) > 1
	for i := range rows {
		r := &rows[i]
		if i == mostDecided && !o.Details && len(rows) > mostDecided+1 {
			break
		}
		row := []string{moment(c.sim, r.at), r.what, dash(r.why), r.rules}
		if several {
			row = slices.Insert(row, 1, r.host)
		}
		t.Row(row...)
	}
	p.printf("\nwhat was decided, and why\n")
	p.table(&t)
	if n := len(rows) - t.Len(); n > 0 {
		p.printf("  %s: --details, or --why --vm %s\n", plural(n, "more decision"), v.Name)
	}
	return nil
}
