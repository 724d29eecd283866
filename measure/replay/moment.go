package replay

import (
	"time"

	"example.org/homenode/numa"
)

// close creates a moment from the last tick and the accumulated counts.
func (r *Recorder) close() {
	m := moment{at: r.tick.at, nodes: append([]nodeSeen(nil), r.tick.nodes...), vms: append([]seen(nil), r.tick.vms...)}
	for i := range m.vms {
		v := &m.vms[i]
		p := &r.pending[v.life]
		if p.wantedOver > 0 {
			v.has, v.wanted = v.has|numa.HasRun, p.wanted/p.wantedOver
		}
		if p.readyOver > 0 {
			v.has, v.ready = v.has|numa.HasReady, p.ready/p.readyOver
		}
		if p.counted == p.ticks {
			v.has, v.moves = v.has|numa.HasMoves, p.moves
		}
	}
	clear(r.pending)
	r.moments = append(r.moments, m)
	r.kept += len(m.vms)
	for r.kept > r.Cells && len(r.moments) > 1 {
		r.thin()
	}
}

// thin doubles the window: in each window the last moment stays, with the counts of the others
// added.
func (r *Recorder) thin() {
	if r.window < numa.MostLength { // then one moment is left
		r.window *= 2
	}
	before, out := time.Duration(0), r.moments[:0]
	var open *moment
	from := time.Duration(0) // start of open's counts
	for i := range r.moments {
		m := r.moments[i]
		if open != nil {
			m.merge(open, from, before)
		} else {
			from = before
		}
		before = m.at
		last := time.Duration(0)
		if len(out) > 0 {
			last = out[len(out)-1].at
		}
		if m.at/r.window > last/r.window || i == len(r.moments)-1 {
			out = append(out, m)
			open = nil
			continue
		}
		open = &m
	}
	r.kept = 0
	for i := range out {
		r.kept += len(out[i].vms)
	}
	clear(r.moments[len(out):])
	r.moments = out
}

// merge adds the counts of an earlier moment, which covers the time from from to between.
func (m *moment) merge(earlier *moment, from, between time.Duration) {
	a, b := (between - from).Seconds(), (m.at - between).Seconds()
	at := 0
	for k := range m.vms {
		v := &m.vms[k]
		i := earlier.find(v.life, at)
		if i < 0 {
			continue
		}
		at = i + 1
		e := &earlier.vms[i]
		mean(v, e, numa.HasRun, &v.wanted, e.wanted, a, b)
		mean(v, e, numa.HasReady, &v.ready, e.ready, a, b)
		v.moves += e.moves
		v.has &= e.has | ^numa.HasMoves
	}
}

// find returns the index of a life, which is usually near that of another moment; -1 if it is
// missing.
func (m *moment) find(life int32, near int) int {
	if near < len(m.vms) && m.vms[near].life == life {
		return near
	}
	for i := range m.vms {
		if m.vms[i].life == life {
			return i
		}
	}
	return -1
}

// mean computes the mean of a rate over a and b seconds, of which one may be unknown.
func mean(v, e *seen, bit numa.Counters, rate *float64, earlier, a, b float64) {
	switch {
	case e.has&bit == 0:
	case v.has&bit == 0:
		v.has |= bit
		*rate = earlier
	default:
		*rate = (float64(earlier*a) + float64(*rate*b)) / (a + b)
	}
}
