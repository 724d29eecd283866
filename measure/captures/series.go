package captures

import (
	"maps"
	"slices"
	"time"

	"example.org/homenode/capture"
	"example.org/homenode/internal/stat"
	"example.org/homenode/numa"
	verdict "example.org/homenode/rules/verdict/recording"
)

// A moment is the data of one VM, or of several together, in one step of a timeline.
type moment struct {
	ticks  float64
	memory float64 // ticks with memory on a node
	local  float64 // bytes, summed over those ticks
	remote float64
	moves  float64
	rates  float64 // ticks that state ready; for several VMs their vCPUs
	ready  float64 // share per vCPU, summed over rates
	coStop float64
}

// A vm is a VM in one capture: its consecutive lives.
type vm []*verdict.VM

// A subject is a VM in one capture, or several together.
type subject struct {
	vms     []vm
	has     [counters]bool
	moments []moment // in time order, none without ticks
}

// The counters in their order.
const (
	locality = iota
	remote
	migrations
	ready
	coStop
	counters
)

// newSubject combines the moments of VMs in steps of their widest timeline. Memory is summed;
// ready and co-stop are means over all vCPUs.
func newSubject(vms ...vm) *subject {
	s := &subject{vms: vms}
	width := time.Second
	for _, one := range vms {
		for _, v := range one {
			width = max(width, v.Timeline.Width)
			s.has[locality] = s.has[locality] || v.HasMemory && !v.Blind
			s.has[migrations] = s.has[migrations] || v.HasMoves
			s.has[ready] = s.has[ready] || v.Has&numa.HasReady != 0
			s.has[coStop] = s.has[coStop] || v.Has&numa.HasCoStop != 0 && v.Has&numa.HasReady != 0
		}
	}
	s.has[remote] = s.has[locality]
	all := map[int64]*moment{}
	for _, one := range vms {
		steps := map[int64]moment{}
		vcpus := 1.0
		for _, v := range one {
			addSteps(steps, v, width)
			vcpus = max(vcpus, float64(v.VCPUs))
		}
		for step, m := range steps {
			if all[step] == nil {
				all[step] = &moment{}
			}
			all[step].take(&m, vcpus)
		}
	}
	for _, step := range slices.Sorted(maps.Keys(all)) {
		s.moments = append(s.moments, *all[step])
	}
	return s
}

// addSteps adds one life to the moments of its VM, by the number of the step since 1970.
func addSteps(steps map[int64]moment, v *verdict.VM, width time.Duration) {
	t := &v.Timeline
	for i, b := range t.All() {
		if b.Ticks == 0 {
			continue
		}
		step := (t.Start + int64(i)) / int64(width/t.Width)
		m := steps[step]
		m.ticks += float64(b.Ticks)
		if !v.Blind { // interleaved memory is local to no node, whatever is printed
			m.memory += float64(b.Memory)
			m.local += float64(b.Local) * float64(numa.KiB)
			m.remote += float64(b.Remote) * float64(numa.KiB)
		}
		m.moves += float64(b.Moves)
		m.rates += float64(b.Rates)
		m.ready += float64(b.Ready) / capture.Whole
		m.coStop += float64(b.CoStop) / capture.Whole
		steps[step] = m
	}
}

// take adds another VM in the same step, as means over its ticks because captures can have
// different tick times.
func (m *moment) take(one *moment, vcpus float64) {
	m.ticks = max(m.ticks, one.ticks)
	m.moves += one.moves
	if one.memory > 0 {
		m.memory = 1
		m.local += one.local / one.memory
		m.remote += one.remote / one.memory
	}
	if one.rates > 0 {
		m.rates += vcpus
		m.ready += vcpus * one.ready / one.rates
		m.coStop += vcpus * one.coStop / one.rates
	}
}

// values returns the values that enter the mean of a counter.
func (s *subject) values(counter int) []stat.Ratio {
	var out []stat.Ratio
	hours := s.hours()
	for i := range s.moments {
		m := &s.moments[i]
		var v stat.Ratio
		switch counter {
		case locality:
			v = stat.Ratio{Num: m.local, Den: m.local + m.remote}
		case remote:
			v = stat.Ratio{Num: m.remote, Den: m.memory}
		case migrations:
			v = stat.Ratio{Num: m.moves, Den: m.ticks * hours}
		case ready:
			v = stat.Ratio{Num: m.ready, Den: m.rates}
		case coStop:
			v = stat.Ratio{Num: m.coStop, Den: m.rates}
		}
		if v.Den > 0 {
			out = append(out, v)
		}
	}
	return out
}

// hours returns the duration of a tick.
func (s *subject) hours() float64 {
	var present time.Duration
	ticks := 0
	for _, one := range s.vms {
		for _, v := range one {
			present, ticks = present+v.Present, ticks+v.Ticks
		}
	}
	return present.Hours() / float64(max(1, ticks))
}

// mean returns the mean of a counter: for one VM the mean in its capture, for several the mean
// of their moments. It reports false if there is none.
func (s *subject) mean(counter int) (float64, bool) {
	if !s.has[counter] {
		return 0, false
	}
	if counter == migrations || len(s.vms) != 1 {
		return stat.Mean(s.values(counter))
	}
	var local, far, managed float64
	var wait, stop capture.Level
	for _, v := range s.vms[0] {
		if l, ok := v.Local.Mean(v.Managed); ok && !v.Blind {
			r, _ := v.Remote.Mean(v.Managed)
			local, far, managed = local+float64(l)*v.Managed.Hours(), far+float64(r)*v.Managed.Hours(), managed+v.Managed.Hours()
		}
		wait, stop = wait.Plus(v.Ready), stop.Plus(v.CoStop)
	}
	switch counter {
	case locality:
		return local / (local + far), local+far > 0
	case remote:
		return far / managed, managed > 0
	case ready:
		return wait.Mean()
	}
	return stop.Mean()
}

// memory returns the mean of all memory on nodes.
func (s *subject) memory() float64 {
	var all []stat.Ratio
	for i := range s.moments {
		m := &s.moments[i]
		all = append(all, stat.Ratio{Num: m.local + m.remote, Den: m.memory})
	}
	bytes, _ := stat.Mean(all)
	return bytes
}

// used returns the mean CPU that the VMs used, in vCPUs.
func (s *subject) used() (vcpus float64, ok bool) {
	for _, one := range s.vms {
		var level capture.Level
		for _, v := range one {
			level = level.Plus(v.Used)
		}
		if share, known := level.Mean(); known {
			vcpus, ok = vcpus+share*max(1, float64(one[len(one)-1].VCPUs)), true
		}
	}
	return vcpus, ok
}
