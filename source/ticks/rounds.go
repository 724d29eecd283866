package ticks

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"example.org/homenode/numa"
	"example.org/homenode/source/fact"
	"example.org/homenode/source/hostcmd"
)

// rounds converts outputs of host commands to ticks. A round is the output of one pass of a loop
// for one host: each format once. Its time is, in this order: the date line before it; the date of
// memstats or the clock of the screen in it; that of Options; the name of the file; its
// modification time. It is an error if there is none.
//
//	date ─┬─ numa-clients ─┐
//	      ├─ numa-cnode    ├─ one round ──► one Tick
//	      └─ numa-pnode   ─┘
//	date ─── …
type rounds struct {
	j     *job
	hosts map[string]*hostRounds
	order []*hostRounds
	kinds fact.Kinds              // of one file
	told  map[string]bool         // warnings given once for all files
	nodes map[string][]numa.Bytes // memory of the nodes, by the name of a host that is not named in the outputs

	// State of the current file.
	name     string
	stamp    stamp
	date     hostcmd.Moment // last date line
	dated    bool           // date is set
	dates    bool           // there is a date line further down
	used     bool           // an output followed it
	early    int            // line of the first output before the first date
	visited  bool           // an output that counts for a tick
	host     string         // of outputs without a name; empty when it is that of the job
	compared bool           // the nodes of its first output with nodes were compared with those of the earlier files
}

// A hostRounds is the rounds of one host.
type hostRounds struct {
	name string
	open *round
	last time.Time // of the previous tick; zero before the first
	n    int       // rounds without a time, for Options.Interval
	here int       // of them in this file
	// vms is set when a round lists VMs. Rounds without are held back until then: a tick without
	// VMs would mean that all are gone.
	vms   bool
	held  []numa.Tick
	names map[int64]groupName
	clock clockDays
	tick  numa.Tick
}

// A round collects outputs.
type round struct {
	line    int
	time    time.Time // zero until it is known
	outputs []*hostcmd.Output
}

func newRounds(j *job) *rounds {
	return &rounds{j: j, hosts: map[string]*hostRounds{}, told: map[string]bool{}, nodes: map[string][]numa.Bytes{}}
}

// counted are the formats used for a tick.
var counted = []string{hostcmd.NUMAClients, hostcmd.NUMACNode, hostcmd.NUMAPNode, hostcmd.EsxtopMemory, hostcmd.Memstats}

// counts reports whether the output is used for a tick.
func counts(o *hostcmd.Output) bool {
	if m, ok := o.Result.(*hostcmd.MemoryStats); ok && !strings.HasPrefix(m.Kind, "VIRTUAL MACHINE") {
		return false
	}
	return slices.Contains(counted, o.Format)
}

// read parses the outputs of one file; dates is true if it contains date lines. With more the next
// file is of the same moment.
func (r *rounds) read(name string, in io.Reader, at stamp, dates, more bool) error {
	r.name, r.stamp, r.kinds, r.host, r.compared = name, at, fact.Kinds{}, "", false
	r.date, r.dated, r.dates, r.used, r.early, r.visited = hostcmd.Moment{}, false, dates, false, 0, false
	for _, h := range r.order {
		h.here, h.clock = 0, clockDays{}
	}
	err := hostcmd.Each(name, in, r.output)
	switch {
	case err != nil:
	case r.early > 0 && r.dated && !r.used:
		err = &numa.SyntaxError{File: name, Line: r.early, Msg: "found outputs before the first date and a date behind the last output: each date has to stand before its outputs"}
	case !r.visited:
		err = &numa.SyntaxError{File: name, Line: 1, Msg: "found no output that shows where VMs or their memory are: want sched-stats -t numa-clients, numa-cnode or numa-pnode, memstats -r vm-stats, or the esxtop memory screen"}
	}
	for _, h := range r.order {
		if err == nil && !more {
			err = r.close(h)
		}
	}
	r.j.file.Left += r.kinds.Count("twice", "order", "early", "held")
	for _, w := range r.kinds.All() {
		r.j.warn(name, w)
	}
	return err
}

// output adds the next output to its round.
func (r *rounds) output(o *hostcmd.Output) error {
	if m, ok := o.Result.(hostcmd.Moment); ok {
		if m.Foreign {
			return &numa.SyntaxError{File: r.name, Line: o.Line, Msg: fmt.Sprintf("found a date in the time zone %s, which stands for several or changes with the season: print dates with date -u", m.Zone)}
		}
		if m.Zone == "" {
			r.once("zone", o.Line, "the date states no time zone: UTC is assumed")
		}
		r.date, r.dated, r.used = m, true, false
		return nil
	}
	for _, w := range o.File().Warnings {
		r.kinds.Warn(kindOf(w.Text), w.Line, w.Col, "%s", w.Text)
	}
	if !counts(o) {
		return nil
	}
	if !r.dated && r.early == 0 {
		r.early = o.Line
	}
	h := r.hostOf(o)
	if h.open != nil && (r.dated && !h.open.time.Equal(r.date.Time) || h.open.has(o.Format)) {
		if r.dated && h.open.time.Equal(r.date.Time) {
			r.kinds.Warn("twice", o.Line, 0, "found %s twice behind one date: the second is left out; outputs of several hosts have to be in files of their own, or behind prompts that name the host", o.Format)
			return nil
		}
		if err := r.close(h); err != nil {
			return err
		}
	}
	r.used, r.visited = true, true
	if h.open == nil {
		h.open = &round{line: o.Line}
		if r.dated {
			h.open.time = r.date.Time
		}
	}
	h.open.outputs = append(h.open.outputs, o)
	return nil
}

// kindOf returns a warning without its numbers and quotations.
func kindOf(text string) string {
	kind := strings.Map(func(c rune) rune {
		if c >= '0' && c <= '9' {
			return -1
		}
		return c
	}, text)
	return kind[:min(len(kind), 20)]
}

// once adds a warning that applies to all files of a series.
func (r *rounds) once(kind string, line int, format string, args ...any) {
	if !r.told[kind] {
		r.told[kind] = true
		r.kinds.Warn(kind, line, 0, format, args...)
	}
}

func (r *round) has(format string) bool {
	return slices.ContainsFunc(r.outputs, func(o *hostcmd.Output) bool { return o.Format == format })
}

// close ends the open round of a host.
func (r *rounds) close(h *hostRounds) error {
	o := h.open
	if o == nil {
		return nil
	}
	h.open = nil
	if o.time.IsZero() {
		if ok, err := r.timeOf(h, o); !ok || err != nil {
			return err
		}
	}
	if len(r.hosts) > 1 && r.j.opt.Host != "" {
		return &numa.SyntaxError{File: r.name, Line: o.line, Msg: fmt.Sprintf("found outputs of a second host, which cannot be called %s too", r.j.opt.Host)}
	}
	if !h.last.IsZero() && !o.time.After(h.last) {
		r.kinds.Warn("order", o.line, 0, "the outputs of %s are no later than those before: left out", o.time.Format(time.RFC3339))
		return nil
	}
	t := &h.tick
	r.fill(h, o, t)
	if !h.last.IsZero() {
		t.Since = o.time.Sub(h.last)
	}
	h.last = o.time
	return r.emit(h, o, t)
}

// maxHeld bounds the ticks of a host that are held back: a week with one a minute.
const maxHeld = 10_080

// emit passes a tick on, or holds it back while no VMs were listed.
func (r *rounds) emit(h *hostRounds, o *round, t *numa.Tick) error {
	lists := false
	for _, out := range o.outputs {
		lists = lists || out.Format != hostcmd.NUMAPNode
	}
	switch {
	case lists:
		if h.vms = true; len(h.held) > 0 {
			r.kinds.Warn("no VMs", h.held[0].Line, 0, "the outputs up to line %d list no VMs, those behind do: left out", h.held[len(h.held)-1].Line)
			h.held = nil
		}
		return r.j.tick(t)
	case h.vms:
		r.kinds.Warn("no VMs", o.line, 0, "the outputs of %s list no VMs, others do: left out", o.time.Format(time.RFC3339))
	case len(h.held) == maxHeld:
		r.kinds.Warn("held", o.line, 0, "found more than %d rounds without VMs: left out", maxHeld)
	default:
		c := *t
		c.Nodes = append([]numa.NodeTick(nil), t.Nodes...)
		h.held = append(h.held, c)
	}
	return nil
}

// end passes on the ticks held back: no file listed VMs.
func (r *rounds) end() error {
	for _, h := range r.order {
		for i := range h.held {
			if err := r.j.tick(&h.held[i]); err != nil {
				return err
			}
		}
		h.held = nil
	}
	return nil
}

// timeOf finds the time of a round without a date line; false when the round is omitted.
func (r *rounds) timeOf(h *hostRounds, o *round) (ok bool, err error) {
	if r.dated || r.dates {
		r.kinds.Warn("early", o.line, 0, "found outputs before the first date: left out, as each date stands before its outputs")
		return false, nil
	}
	for _, out := range o.outputs {
		if m, ok := out.Result.(*hostcmd.MemoryStats); ok {
			if t, ok := m.Instant(); ok {
				o.time = t
				return true, nil
			}
		}
	}
	for _, out := range o.outputs {
		if s, ok := out.Result.(*hostcmd.Screen); ok {
			if clock, ok := clockOf(s.Time); ok {
				if o.time, ok, err = h.clock.at(r, o, clock); ok || err != nil {
					return ok, err
				}
			}
		}
	}
	return r.outside(h, o)
}

// outside finds the time of a round in which there is none.
func (r *rounds) outside(h *hostRounds, o *round) (ok bool, err error) {
	opt := &r.j.opt
	switch {
	case !opt.Start.IsZero() && h.n > 0 && opt.Interval == 0:
		return false, &numa.SyntaxError{File: r.name, Line: o.line, Msg: "found a second output without a time, and --start is that of the first alone: say how far apart they are (--interval 60s)"}
	case !opt.Start.IsZero():
		o.time = opt.Start.UTC().Add(time.Duration(h.n) * opt.Interval)
	case r.stamp.clock && (h.here == 0 || opt.Interval > 0):
		o.time = r.stamp.name.Add(time.Duration(h.here) * opt.Interval)
		r.once("name", o.line, "the time is that in the name of the file, read as UTC")
	case h.here == 0 && !r.stamp.written.IsZero():
		o.time = r.stamp.written
		r.once("written", o.line, "%s; a copy may have changed it", numa.Undated)
	default:
		return false, &numa.SyntaxError{File: r.name, Line: o.line, Msg: "found outputs without a time: print one with date -u before each round of commands, " +
			"put it into the name of the file (clients-20261121T203000Z.txt), or say when the first was taken and how far apart they are (--start '2026-11-21 20:30' --interval 60s)"}
	}
	h.n++
	h.here++
	return true, nil
}

// clockDays adds the date to the clock of the esxtop screen: it advances when the clock passes midnight.
type clockDays struct {
	day  time.Time // zero before the first
	last time.Duration
}

// at returns the time of a clock; false when the day is unknown.
func (c *clockDays) at(r *rounds, o *round, clock time.Duration) (t time.Time, ok bool, err error) {
	written := r.stamp.written
	if c.day.IsZero() {
		switch {
		case !r.j.opt.Start.IsZero():
			c.day = midnight(r.j.opt.Start.UTC())
		case !r.stamp.name.IsZero():
			c.day = midnight(r.stamp.name)
			r.once("clock", o.line, "the screen shows the time without a day: it is that in the name of the file; the clock is read as UTC")
		case !written.IsZero():
			if c.day = midnight(written); c.day.Add(clock).After(written.Add(time.Minute)) {
				c.day = c.day.Add(-day)
			}
			r.once("clock", o.line, "the screen shows the time without a day: it is the last one before the file was written; the clock is read as UTC")
		default:
			return time.Time{}, false, nil
		}
	} else if clock < c.last-day/2 {
		c.day = c.day.Add(day)
		if r.j.opt.Start.IsZero() && r.stamp.name.IsZero() && c.day.Add(clock).After(written.Add(time.Minute)) {
			return time.Time{}, false, &numa.SyntaxError{File: r.name, Line: o.line, Msg: "the clock of the screens passes midnight, so that the day of the first is not known: put it into the name of the file (screens-20261121.txt)"}
		}
	}
	c.last = clock
	return c.day.Add(clock), true, nil
}
