package replay

import (
	"cmp"
	"math"
	"time"

	"example.org/homenode/numa"
)

// A loaded is a load from a time on.
type loaded struct {
	at   time.Duration
	load numa.Load
}

// mostPieces limits the number of straight lines for the memory of one life.
const mostPieces = 200

// tolerance is the minimum tolerance for the memory of the story: esxtop rounds to hundredths
// of a MB.
const tolerance = numa.MiB

// loads returns the load of a life from its beginning on, and after each change of the growth
// of its touched memory. The VM gets the memory of its first moment at once, like a VM that
// arrives by vMotion.
func (p *plan) loads(index int) []loaded {
	l := &p.rec.lives[index]
	t := p.trackOf(index)
	base := numa.Load{CPU: p.options.Unstated.Value.CPU, Active: p.options.Unstated.Value.Active}
	if points := demand(t.intervals); points != nil {
		base.CPU = numa.Demand{Points: points}
	}
	if t.activeOf > 0 {
		base.Active = min(1, t.active/t.activeOf)
	}
	first := loaded{load: base}
	first.load.Memory = t.memory[0].touched
	if l.first >= 0 {
		first.at = p.at(l.first - 1)
	}
	out := []loaded{first}
	for within := max(tolerance, l.most/1000/numa.PageSize*numa.PageSize); ; within *= 2 {
		pieces := lines(t.memory, float64(within))
		if len(pieces) > mostPieces {
			continue
		}
		for _, piece := range pieces {
			next := loaded{at: piece.from, load: base}
			next.load.Memory, next.load.Over = piece.to, piece.until-piece.from
			out = append(out, next)
		}
		return out
	}
}

// A track has the observations of one life.
type track struct {
	intervals        []interval
	memory           []amount // never decreasing
	active, activeOf float64
}

// An interval is the CPU demand of each vCPU of a VM over some time, as a share of a core.
type interval struct {
	from, to time.Duration
	wanted   float64
}

type amount struct {
	at      time.Duration
	touched numa.Bytes
}

// trackOf collects the moments of a life.
func (p *plan) trackOf(index int) *track {
	l := &p.rec.lives[index]
	t := &track{}
	gone := numa.Bytes(0) // reclaimed before the start: the model does not give it back
	if l.first < 0 {
		v := &p.rec.first.VMs[index]
		gone = reclaimed(v)
		t.grow(0, touched(v)-gone)
		t.use(v.Has, v.Active, touched(v))
	}
	near := 0
	for i := max(0, l.first); i <= l.end; i++ {
		m := &p.rec.moments[i]
		k := m.find(int32(index), near)
		if k < 0 {
			continue
		}
		near = k
		v := &m.vms[k]
		if v.has&numa.HasRun != 0 {
			t.intervals = append(t.intervals, interval{p.at(i - 1), m.at, v.wanted / float64(p.vcpus(index, p.at(i-1)))})
		}
		t.grow(m.at, v.touched-gone)
		t.use(v.has, v.active, v.touched)
	}
	return t
}

func (t *track) grow(at time.Duration, touched numa.Bytes) {
	if n := len(t.memory); n > 0 {
		touched = max(touched, t.memory[n-1].touched)
	}
	t.memory = append(t.memory, amount{at, max(0, touched)})
}

func (t *track) use(has numa.Counters, active, touched numa.Bytes) {
	if has&numa.HasActive != 0 && active >= 0 && touched > 0 {
		t.active += float64(active)
		t.activeOf += float64(touched)
	}
}

// vcpus returns the vCPUs of a life at a time; those of the inventory if the capture does not
// state them.
func (p *plan) vcpus(index int, at time.Duration) int {
	l := &p.rec.lives[index]
	n := l.shapes[0].vcpus
	for _, s := range l.shapes[1:] {
		if s.at <= at {
			n = s.vcpus
		}
	}
	return max(1, cmp.Or(n, p.fleet.VMs[p.guestOf[index]].VCPUs.Value))
}

// demand returns the demand of each vCPU, on the time grid of the model's draws: a draw over
// several intervals has their mean. It is nil without an interval.
func demand(of []interval) (points []numa.DemandPoint) {
	last := -1.0
	add := func(at time.Duration, share float64) {
		if share != last {
			points = append(points, numa.DemandPoint{At: at, Share: share})
			last = share
		}
	}
	for i, at := 0, time.Duration(0); i < len(of); {
		at = max(at, of[i].from/numa.Draw*numa.Draw)
		end, sum, over := at+numa.Draw, 0.0, 0.0
		for k := i; k < len(of) && of[k].from < end; k++ {
			s := (min(end, of[k].to) - max(at, of[k].from)).Seconds()
			sum += float64(of[k].wanted * s)
			over += s
		}
		if over > 0 {
			add(at, min(1, sum/over))
		}
		if at >= of[i].from && end < of[i].to { // the draws within one interval are equal
			end = of[i].to / numa.Draw * numa.Draw
		}
		at = end
		for i < len(of) && of[i].to <= at {
			i++
		}
	}
	return points
}

// A piece is memory that grows in a straight line.
type piece struct {
	from, until time.Duration
	to          numa.Bytes
}

// lines returns straight lines that are nowhere farther from the amounts than within, each as
// long as possible. Constant amounts need none.
func lines(of []amount, within float64) (out []piece) {
	for i := 0; i < len(of)-1; {
		from := of[i]
		low, high, end := math.Inf(-1), math.Inf(1), i
		for k := i + 1; k < len(of); k++ {
			t := (of[k].at - from.at).Seconds()
			rise := float64(of[k].touched - from.touched)
			if slope := rise / t; slope >= low && slope <= high {
				end = k
			}
			low, high = max(low, (rise-within)/t), min(high, (rise+within)/t)
			if low > high {
				break
			}
		}
		if of[end].touched > from.touched {
			out = append(out, piece{from.at, of[end].at, of[end].touched})
		}
		i = end
	}
	return out
}
