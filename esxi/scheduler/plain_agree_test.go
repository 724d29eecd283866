package scheduler

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
)

// A simRun is what a run of the kernel showed.
type simRun struct {
	ticks [][]*numa.Tick // by host
	out   *Outcome
}

// runKernel runs a story, cut at these times.
func runKernel(tb testing.TB, s *numa.Story, choices vnuma.Choices, workers int, cuts ...time.Duration) simRun {
	tb.Helper()
	r := simRun{ticks: make([][]*numa.Tick, len(s.Fleet.Hosts))}
	w, err := New(s, Options{Choices: choices, Workers: workers, Observe: func(host int, t *numa.Tick, _ *Look) {
		if n := len(r.ticks[host]); n > 0 {
			checkStill(tb, r.ticks[host][n-1], t)
		}
		r.ticks[host] = append(r.ticks[host], cloneTick(t))
	}})
	if err != nil {
		tb.Fatal(err)
	}
	for _, at := range append(cuts, s.Length) {
		if err := w.RunTo(context.Background(), at); err != nil {
			tb.Fatal(err)
		}
	}
	r.out = w.Outcome()
	return r
}

// checkStill checks that VMs of which a tick says so are as in the tick before.
func checkStill(tb testing.TB, before, t *numa.Tick) {
	tb.Helper()
	for i, still := range t.Still {
		if !still {
			continue
		}
		a, b := before.VMs[i], t.VMs[i]
		if a.Used, a.Run = b.Used, b.Run; before.Since == 0 || t.Since == 0 || b.Moves != (numa.Moves{}) || !reflect.DeepEqual(a, b) {
			tb.Errorf("%s at %s: %s is said to stand still, and is %+v after %+v", t.Host, t.Time, b.Name, b, a)
		}
	}
}

// cloneTick returns a copy that shares nothing with the tick.
func cloneTick(t *numa.Tick) *numa.Tick {
	c := *t
	c.Nodes, c.VMs = slices.Clone(t.Nodes), slices.Clone(t.VMs)
	for i := range c.VMs {
		c.VMs[i].OnNode = slices.Clone(c.VMs[i].OnNode)
	}
	return &c
}

// runPlain runs a story in the plain simulation.
func runPlain(s *numa.Story, choices vnuma.Choices) (ticks [][]*numa.Tick, w *plainWorld) {
	ticks = make([][]*numa.Tick, len(s.Fleet.Hosts))
	w = newPlain(s, choices)
	w.onTick = func(host int, t *numa.Tick) { ticks[host] = append(ticks[host], t) }
	w.runTo(s.Length)
	return ticks, w
}

// TestTwin checks that the kernel does what the page says, to the page and the part.
func TestTwin(t *testing.T) {
	for seed := range stories() {
		if diff := plainDiff(t, randomStory(seed), vnumaChoices(seed)); diff != "" {
			t.Fatalf("seed %d: %s", seed, diff)
		}
	}
}

func FuzzTwin(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		if diff := plainDiff(t, randomStory(seed), vnumaChoices(seed)); diff != "" {
			t.Fatal(diff)
		}
	})
}

// plainDiff returns the first difference between the kernel and the plain simulation.
func plainDiff(tb testing.TB, s *numa.Story, choices vnuma.Choices) string {
	tb.Helper()
	kernel := runKernel(tb, s, choices, 1)
	ticks, plain := runPlain(s, choices)
	for host := range ticks {
		if len(kernel.ticks[host]) != len(ticks[host]) {
			return fmt.Sprintf("host %d: %d ticks, plain %d", host, len(kernel.ticks[host]), len(ticks[host]))
		}
	}
	for i := range int(s.Length/s.Every) + 1 {
		for host := range ticks {
			if i >= len(ticks[host]) {
				continue // not simulated
			}
			got, want := showTick(kernel.ticks[host][i]), showTick(ticks[host][i])
			for line := range min(len(got), len(want)) {
				if got[line] != want[line] {
					return fmt.Sprintf("host %d at %s:\n%s, plain\n%s", host, time.Duration(i)*s.Every, got[line], want[line])
				}
			}
			if len(got) != len(want) {
				return fmt.Sprintf("host %d at %s:\n%s, plain\n%s", host, time.Duration(i)*s.Every, got, want)
			}
		}
	}
	for i, v := range plain.vms {
		if got, want := kernel.out.VMs[i], VMOutcome(v.sums); got != want {
			return fmt.Sprintf("%s: %+v, plain\n%+v", v.vm.Name, got, want)
		}
	}
	if kernel.out.ClientTicks != plain.steps {
		return fmt.Sprintf("%d steps of clients, plain %d", kernel.out.ClientTicks, plain.steps)
	}
	return ""
}

// showTick writes all of a tick that the page describes, a line for the host and for each
// node and VM.
func showTick(t *numa.Tick) (lines []string) {
	page := func(b numa.Bytes) string {
		if b%numa.PageSize != 0 {
			return fmt.Sprintf("%d bytes", int64(b))
		}
		return fmt.Sprint(int64(b / numa.PageSize))
	}
	lines = append(lines, fmt.Sprintf("%s %s free=%s minfree=%s state=%s", t.Host, t.Time.Format(time.RFC3339), page(t.Free), page(t.MinFree), t.State))
	for _, n := range t.Nodes {
		lines = append(lines, fmt.Sprintf("node %d total=%s free=%s util=%.9f", n.ID, page(n.Total), page(n.Free), n.Util))
	}
	for i := range t.VMs {
		v := &t.VMs[i]
		line := fmt.Sprintf("%s vcpus=%d homes=%s local=%s remote=%s n%%l=%d moves=%+v run=%.9f ready=%.9f costop=%.9f",
			v.Name, v.VCPUs, v.Homes, page(v.Local), page(v.Remote), v.Percent, v.Moves, v.Run, v.Ready, v.CoStop)
		line += fmt.Sprintf(" size=%s granted=%s consumed=%s active=%s shared=%s large=%s balloon=%s swapped=%s on",
			page(v.Size), page(v.Granted), page(v.Consumed), page(v.Active), page(v.Shared), page(v.Large), page(v.Balloon), page(v.Swapped))
		for _, m := range v.OnNode {
			if m.Guest != 0 {
				line += fmt.Sprintf(" %d:%s", m.Node, page(m.Guest))
			}
		}
		lines = append(lines, line)
	}
	return lines
}
