package scheduler

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/homenode/numa"
)

// What always holds, on random stories.

// conserved returns what of the memory of a host does not add up, to the page. What a
// client has touched is the sum of what is on nodes, saved, ballooned and swapped;
// TestTwin compares it with the plain model, which counts it.
func (h *host) conserved(taken []numa.NodeUse) error {
	used := make([]int64, len(h.cap))
	for _, u := range taken {
		for n := range h.cap {
			if u.Host == h.facts.ID && u.Node == h.id(n) {
				used[n] = min(used[n]+int64(u.Memory/numa.PageSize), h.mem[n])
			}
		}
	}
	for i := range h.vms {
		v := &h.vms[i]
		for c, end := v.clientsOf(); c < end; c++ {
			st, out := h.strainOf(c), int64(0)
			for n, p := range h.at(c) {
				used[n] += p
				if v.homes != 0 && !v.homes.Has(n) {
					out += p
				}
				if p < 0 || p > 0 && h.home[c] >= 0 && !v.facts.allowed.Has(n) {
					return fmt.Errorf("VM %d has %d pages on node %d, of %b allowed", v.index, p, n, v.facts.allowed)
				}
			}
			if st.saved < 0 || st.ballooned < 0 || st.swapped < 0 || st.hot < 0 || st.hot > out || out != h.outside(c) {
				return fmt.Errorf("VM %d: %+v with %d pages outside, %d noted", v.index, st, out, h.outside(c))
			}
			if h.home[c] >= 0 && (!v.facts.allowed.Has(int(h.home[c])) || h.cores[h.home[c]] == 0) {
				return fmt.Errorf("VM %d is at home on node %d, of %b allowed", v.index, h.home[c], v.facts.allowed)
			}
		}
	}
	for n := range used {
		if used[n] != h.used[n] || used[n] > h.mem[n] {
			return fmt.Errorf("node %d: %d of %d pages in use, want %d", n, h.used[n], h.mem[n], used[n])
		}
	}
	return nil
}

// believable returns what of a tick cannot be.
func believable(t *numa.Tick) error {
	for i := range t.Nodes {
		n := &t.Nodes[i]
		if n.Util < 0 || n.Util > 1 || n.Free < 0 || n.Free > n.Total {
			return fmt.Errorf("%+v", *n)
		}
	}
	for i := range t.VMs {
		v := &t.VMs[i]
		sum := numa.Bytes(0)
		for _, m := range v.OnNode {
			sum += m.Guest
		}
		share, ok := v.Locality()
		switch {
		case sum != v.Consumed || v.Homes != 0 && sum != v.Local+v.Remote:
			return fmt.Errorf("%s: %d on nodes, local %d, remote %d, consumed %d", v.Name, sum, v.Local, v.Remote, v.Consumed)
		case ok && (share < 0 || share > 1) || v.Percent < 0 || v.Percent > 100:
			return fmt.Errorf("%s: locality %v, %d %%", v.Name, share, v.Percent)
		case v.Run < 0 || v.Ready < 0 || v.CoStop < 0 || v.Run+v.Ready+v.CoStop > float64(v.VCPUs)+1e-9:
			return fmt.Errorf("%s: runs %v, ready %v, co-stop %v of %d vCPUs", v.Name, v.Run, v.Ready, v.CoStop, v.VCPUs)
		}
	}
	return nil
}

// TestConserved checks that memory is conserved to the page, that no client is outside its
// nodes, no node above its memory and no share outside [0, 1], in every step.
func TestConserved(t *testing.T) {
	for seed := range 5 * stories() {
		s := randomStory(seed)
		s.Every = numa.Step
		out, err := Run(t.Context(), s, Options{Choices: vnumaChoices(seed), Observe: func(_ int, tick *numa.Tick, look *Look) {
			err := look.h.conserved(s.Used)
			if err == nil {
				err = believable(tick)
			}
			if err != nil && !t.Failed() {
				t.Errorf("seed %d, host %s at %s: %v", seed, tick.Host, tick.Time.Sub(s.Start), err)
			}
		}})
		if err != nil || t.Failed() {
			t.Fatal(err)
		}
		var all VMOutcome
		for i := range out.VMs {
			all.Add(&out.VMs[i])
			if share, _ := all.FarShare(); share > 1 {
				t.Fatalf("seed %d: with VM %d, %.0f %% of the memory is far", seed, i, 100*share)
			}
		}
	}
}

// runAll runs a story in pieces and returns all that it shows.
func runAll(tb testing.TB, s *numa.Story, workers int, ends ...time.Duration) simRun {
	tb.Helper()
	r := simRun{ticks: make([][]*numa.Tick, len(s.Fleet.Hosts))}
	w, err := New(s, Options{Workers: workers, Log: true, Observe: func(host int, t *numa.Tick, _ *Look) {
		r.ticks[host] = append(r.ticks[host], cloneTick(t))
	}})
	if err != nil {
		tb.Fatal(err)
	}
	for _, at := range append(ends, s.Length) {
		if err := w.RunTo(context.Background(), at); err != nil {
			tb.Fatal(err)
		}
	}
	r.out = w.Outcome()
	return r
}

// TestSameRun checks that a run shows and comes to the same again, with any number of
// workers, and cut anywhere: off the grid, twice at one time, back in time.
func TestSameRun(t *testing.T) {
	for seed := range stories() / 2 {
		s := randomStory(seed)
		r := rand.New(rand.NewPCG(seed, 2))
		want := runAll(t, s, 1)
		cuts := make([]time.Duration, r.IntN(12))
		for i := range cuts {
			cuts[i] = time.Duration(r.Int64N(int64(s.Length)))
		}
		if r.IntN(2) == 0 {
			slices.Sort(cuts)
		}
		for name, got := range map[string]simRun{
			"again": runAll(t, s, 1), "two workers": runAll(t, s, 2), "three workers, cut": runAll(t, s, 3, cuts...),
			fmt.Sprint("cut at ", cuts): runAll(t, s, 1, cuts...),
		} {
			if !reflect.DeepEqual(got.ticks, want.ticks) || !reflect.DeepEqual(got.out, want.out) {
				t.Fatalf("seed %d, %s: another run", seed, name)
			}
		}
		if unseen, err := Run(t.Context(), s, Options{Log: true}); err != nil || !reflect.DeepEqual(unseen, want.out) {
			t.Fatalf("seed %d, not observed: another run, %v", seed, err)
		}
	}
}

// oneByOne makes of a story one in which the order of VMs does not matter by itself: VMs
// are powered on one after the other, nothing moves all VMs of a host, and no noise is
// drawn, which depends on the index of a VM.
func oneByOne(s *numa.Story) {
	still := func(l *numa.Load) { l.CPU.Noise = 0 }
	still(&s.Unstated.Value)
	for i := range s.Loads {
		still(&s.Loads[i].Load)
	}
	s.Seen = nil
	for i := range s.Fleet.Hosts { // enough memory: who asks first gets no more
		for n := range s.Fleet.Hosts[i].Nodes.Value {
			s.Fleet.Hosts[i].Nodes.Value[n].Memory.Value *= 16
		}
	}
	var events []numa.Event
	for i := range s.Fleet.VMs {
		s.Fleet.VMs[i].Power = numa.ReadAt(numa.PoweredOff, "")
		events = append(events, numa.Event{At: time.Duration(i) * numa.Step, Kind: numa.PowerOn, VM: s.Fleet.VMs[i].ID})
	}
	for _, e := range s.Events {
		if e.Kind != numa.Maintenance && e.Kind != numa.Fail && e.At >= time.Duration(len(s.Fleet.VMs))*numa.Step {
			events = append(events, e)
		}
		if e.Load != nil {
			still(e.Load)
		}
	}
	s.Events = events
	s.Length = max(s.Length, time.Duration(len(s.Fleet.VMs))*numa.Step)
}

// shownByName returns the lines of a run, VMs by name.
func shownByName(s *numa.Story, r *simRun) string {
	var b strings.Builder
	for host := range r.ticks {
		for _, t := range r.ticks[host] {
			lines := showTick(t)
			slices.Sort(lines[1:])
			b.WriteString(strings.Join(lines, "\n") + "\n")
		}
	}
	var sums []string
	for i := range r.out.VMs {
		sums = append(sums, fmt.Sprintf("%s %+v", s.Fleet.VMs[i].Name, r.out.VMs[i]))
	}
	slices.Sort(sums)
	return b.String() + strings.Join(sums, "\n")
}

// TestOrderOfVMs checks that the order of VMs changes nothing but ties. The stories are
// those in which the plain simulation never chose between equal clients and in which no memory
// was asked for that its first choice did not have: then who comes first does not matter.
func TestOrderOfVMs(t *testing.T) {
	done, moves := 0, int64(0)
	for seed := range stories() {
		s := randomStory(seed)
		oneByOne(s)
		_, plain := runPlain(s, vnumaChoices(seed))
		if plain.tied || len(s.Fleet.VMs) < 2 {
			continue
		}
		done++
		for _, v := range plain.vms {
			moves += v.sums.Moves.All
		}
		first := runKernel(t, s, vnumaChoices(seed), 1)
		want := shownByName(s, &first)
		r := rand.New(rand.NewPCG(seed, 3))
		r.Shuffle(len(s.Fleet.VMs), func(i, j int) { s.Fleet.VMs[i], s.Fleet.VMs[j] = s.Fleet.VMs[j], s.Fleet.VMs[i] })
		r.Shuffle(len(s.Loads), func(i, j int) { s.Loads[i], s.Loads[j] = s.Loads[j], s.Loads[i] })
		second := runKernel(t, s, vnumaChoices(seed), 1)
		if got := shownByName(s, &second); got != want {
			t.Fatalf("seed %d: the order of VMs matters:\n%s", seed, firstDifference(got, want))
		}
	}
	if done < int(stories())/10 || moves < int64(stories())/5 {
		t.Errorf("%d stories without ties with %d migrations: this shows little", done, moves)
	}
	t.Log(done, "stories without ties,", moves, "migrations")
}

// firstDifference returns the first lines that differ.
func firstDifference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return a[i] + "\nwant\n" + b[i]
		}
	}
	return "another length"
}
