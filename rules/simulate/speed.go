package simulate

import (
	"slices"
	"time"

	"example.org/homenode/esxi/cost"
	"example.org/homenode/esxi/scheduler"
	"example.org/homenode/numa"
)

// A Speed is the speed of a VM's work, as a share of the speed with all memory local and no
// wait: the performance index of package cost.
type Speed struct {
	Workload string `json:"workload"` // class of the cost model
	// Mean over the computed moments, of the value and of its interval.
	Mean    float64   `json:"mean"`
	Low     float64   `json:"low"`
	High    float64   `json:"high"`
	Worst   float64   `json:"worst"`
	WorstAt time.Time `json:"worstAt"`
	// Far is the mean share of memory accesses to another node than the vCPU's.
	Far float64 `json:"farAccesses"`
	// Extrapolated: some of it is outside of the measured range; Why contains the details.
	Extrapolated bool         `json:"extrapolated"`
	Why          []string     `json:"why,omitempty"`
	Points       []SpeedPoint `json:"points,omitempty"` // in the order of time
	moments      int
	reasons      []cost.Reason // become Why
	// Unpriced is the number of moments without a speed: memory was swapped or ballooned, which
	// package cost does not model.
	Unpriced int `json:"-"`
	// Swapped and Balloon are the values at the moment, of all ticks, with the largest sum.
	Swapped numa.Bytes `json:"-"`
	Balloon numa.Bytes `json:"-"`
	TakenAt time.Time  `json:"-"` // zero if there never was any
}

// Taken returns the maximum amount of memory that was swapped or ballooned at one time.
func (s *Speed) Taken() numa.Bytes { return s.Swapped + s.Balloon }

// take updates the maximum of swapped and ballooned memory.
func (s *Speed) take(swapped, balloon numa.Bytes, at time.Time) {
	if swapped+balloon > s.Taken() {
		s.Swapped, s.Balloon, s.TakenAt = swapped, balloon, at
	}
}

// unpricedShare is the share of its memory that a VM may miss and still have a speed: the
// guest's idle pages are reclaimed first, and an index has two digits.
const unpricedShare = 0.01

// misses reports whether too much memory of a VM is swapped or ballooned for a known speed.
func misses(v *numa.VMTick) bool {
	gone := v.Swapped + v.Balloon
	return float64(gone) > unpricedShare*float64(v.Granted+gone)
}

// A SpeedPoint is the performance index at one moment.
type SpeedPoint struct {
	Time  time.Time `json:"time"`
	Value float64   `json:"value"`
	Low   float64   `json:"low"`
	High  float64   `json:"high"`
	Far   float64   `json:"-"` // share of memory accesses to another node than the vCPU's
}

// Known reports whether the speed was ever computed.
func (s *Speed) Known() bool { return len(s.Points) > 0 }

// price adds the speed of the i-th VM of a tick. Its placement is priced once until its memory or its homes change.
func (w *watcher) price(t *numa.Tick, i int, l *life, look *scheduler.Look) {
	if !l.known {
		_, load := look.VM(i)
		work, err := cost.ParseWorkload(load.Workload)
		if err != nil { // not stated: mixed
			work = cost.Workloads[len(cost.Workloads)-1]
		}
		clients := w.clients(i, l, look)
		l.placed, l.err = w.machine.Index(work, cost.Use{Clients: clients})
		l.workload, l.known, l.told = work.Name, true, false
	}
	ready, coStop, ok := cost.Waits(l.run, l.ready, l.coStop)
	if !ok || l.err != nil {
		return // it had no demand, or at the start it is not known yet: without work there is no speed
	}
	s := w.speed(l)
	if misses(&t.VMs[i]) {
		s.Unpriced++
		return
	}
	e := l.placed.Waiting(ready, coStop)
	if s.Points == nil {
		s.Points = make([]SpeedPoint, 0, w.prices)
	}
	if s.add(t.Time, l.workload, &e); l.told {
		return
	}
	if l.told = true; s.reasons == nil {
		for _, why := range w.machine.Why {
			s.reasons = append(s.reasons, cost.Reason{Text: why})
		}
	}
	s.because(e.Why)
}

// speed returns the sums of the VM of a life.
func (w *watcher) speed(l *life) *Speed {
	if l.speed == nil {
		if w.sums[l.index] == nil {
			w.sums[l.index] = &Speed{}
		}
		l.speed = w.sums[l.index]
	}
	return l.speed
}

func (s *Speed) add(at time.Time, workload string, e *cost.Estimate) {
	s.Workload = workload
	if s.moments == 0 || e.Value < s.Worst {
		s.Worst, s.WorstAt = e.Value, at
	}
	s.moments++
	s.Mean += e.Value
	s.Low += e.Low
	s.High += e.High
	s.Far += 1 - e.Access[cost.Local]
	s.Extrapolated = s.Extrapolated || e.Extrapolated
	s.Points = append(s.Points, SpeedPoint{at, e.Value, e.Low, e.High, 1 - e.Access[cost.Local]})
}

// because adds reasons. Of those that differ only in their number, the one with the largest is kept, in its original position: the remote share differs at
// every moment.
func (s *Speed) because(reasons []cost.Reason) {
	for _, why := range reasons {
		i := slices.IndexFunc(s.reasons, func(known cost.Reason) bool { return known.Text == why.Text })
		switch {
		case i < 0:
			s.reasons = append(s.reasons, why)
		case why.Number > s.reasons[i].Number:
			s.reasons[i] = why
		}
	}
}

// clients returns the memory accesses of the clients of the i-th VM of a tick.
func (w *watcher) clients(i int, l *life, look *scheduler.Look) []cost.Client {
	var all []cost.Client
	interleaved := false
	look.Clients(i, func(c *scheduler.ClientState) {
		client := cost.Client{Node: c.Home, VCPUs: float64(c.VCPUs), Memory: slices.Clone(c.OnNode)}
		if w.hidden > 1 { // its only node consists of all packages, interleaved by cache line
			client.Node, client.Memory = -1, nil
			for range w.hidden {
				client.Memory = append(client.Memory, c.OnNode[0]/numa.Bytes(w.hidden))
			}
		}
		all = append(all, client)
		interleaved = interleaved || c.Interleaved
	})
	l.interleaved = l.interleaved || interleaved
	return w.machine.Accessed(all, interleaved)
}

// speeds adds the results of a host to the VMs of the fleet; a VM that ran on several hosts has
// the points of all.
func (w *watcher) speeds(into []Speed) {
	for index, s := range w.sums {
		to := &into[index]
		to.Unpriced += s.Unpriced
		if s.Taken() > 0 {
			to.take(s.Swapped, s.Balloon, s.TakenAt)
		}
		if s.moments == 0 {
			continue
		}
		if to.moments == 0 || s.Worst < to.Worst {
			to.Worst, to.WorstAt = s.Worst, s.WorstAt
		}
		to.Workload = s.Workload
		to.moments += s.moments
		to.Mean += s.Mean
		to.Low += s.Low
		to.High += s.High
		to.Far += s.Far
		to.Extrapolated = to.Extrapolated || s.Extrapolated
		to.because(s.reasons)
		if to.Points == nil {
			to.Points = slices.Clip(s.Points)
		} else {
			to.Points = append(to.Points, s.Points...)
		}
	}
}

// finish converts sums to means.
func (s *Speed) finish() {
	if s.moments == 0 {
		return
	}
	n := float64(s.moments)
	s.Mean, s.Low, s.High, s.Far = s.Mean/n, s.Low/n, s.High/n, s.Far/n
	s.Mean = max(s.Mean, s.Worst) // a sum of equal numbers has a rounding error
	for _, why := range s.reasons {
		s.Why = append(s.Why, why.String())
	}
	slices.SortStableFunc(s.Points, func(a, b SpeedPoint) int { return a.Time.Compare(b.Time) })
}
