package capture

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"example.org/homenode/numa"
)

// TestCalm checks that ticks in which VMs stand still are recorded alike whether the source says so or not, also where it says so of some ticks alone, where a
// tick is refused, and where VMs stand still for longer than stretches are.
func TestCalm(t *testing.T) {
	calm := 0
	for seed := range uint64(16) {
		w := newWorld(seed)
		ticks := standing(w, 60)
		if seed == 0 {
			ticks = append(ticks, repeated(w, ticks[len(ticks)-1], 3*mostCalm)...)
		}
		markStill(w, ticks)
		for _, o := range []Options{some, tight} {
			o.Needs = false
			told, untold := NewRecorder(o), NewRecorder(o)
			for _, one := range ticks {
				told.Add(one)
				for _, l := range told.there {
					if l.calm.on {
						calm++
					}
				}
				one.Still = nil
				untold.Add(one)
			}
			markStill(newWorld(seed+1000), ticks)
			same(t, fmt.Sprintf("seed %d", seed), told.Recording(), untold.Recording())
		}
	}
	if calm < 5_000 {
		t.Errorf("%d calm VMs in ticks, want more: the stories test nothing", calm)
	}
}

// standing returns ticks of which some are repeated many times.
func standing(w *world, n int) (ticks []*numa.Tick) {
	for range n {
		ticks = append(ticks, clone(w.next()))
		if w.one(2) {
			ticks = append(ticks, repeated(w, ticks[len(ticks)-1], w.IntN(60))...)
		}
		if w.one(20) {
			ticks = append(ticks, clone(ticks[len(ticks)-1])) // of the same time: refused
		}
		w.t.Time = ticks[len(ticks)-1].Time
	}
	return ticks
}

// repeated returns the ticks after one, in which most VMs stand still.
func repeated(w *world, last *numa.Tick, n int) (ticks []*numa.Tick) {
	for range n {
		next := clone(last)
		next.Since = time.Duration(1+w.IntN(6000)) * time.Millisecond
		next.Time = last.Time.Add(next.Since)
		next.Nodes = slices.Clone(last.Nodes)
		for i := range next.Nodes {
			next.Nodes[i].Util = w.Float64()
		}
		for i := range next.VMs {
			v := &next.VMs[i]
			v.Moves = numa.Moves{}
			v.Used, v.Run = w.Float64()*float64(v.VCPUs), w.Float64()
			if w.one(200) {
				v.Local += numa.GiB
			}
			if w.one(200) {
				v.Used = -1 // damaged
			}
			if w.one(3) && v.Ready > 0.04 {
				v.Ready = 0
			}
		}
		ticks, last = append(ticks, next), next
	}
	return ticks
}

// markStill sets Still of ticks as it is defined, and leaves some out.
func markStill(w *world, ticks []*numa.Tick) {
	for n := 1; n < len(ticks); n++ {
		a, b := ticks[n-1], ticks[n]
		b.Still = nil
		if len(a.VMs) != len(b.VMs) || w.one(50) {
			continue
		}
		b.Still = make([]bool, len(b.VMs))
		for i := range b.VMs {
			x, y := a.VMs[i], b.VMs[i]
			rates := a.Since > 0 && b.Since > 0 && x.Has&y.Has&numa.HasUsed != 0
			x.Used, x.Run = y.Used, y.Run
			b.Still[i] = rates && y.Moves == numa.Moves{} && reflect.DeepEqual(x, y) && !w.one(50)
		}
	}
}
