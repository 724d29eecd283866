package optimise

import (
	"context"
	"fmt"
	"testing"
	"time"

	"example.org/homenode/esxi/scheduler"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
	"example.org/homenode/source/scenario/given"
)

// TestEdited checks that the edited configuration of every shape of every VM of the demo
// is predicted as the edited Guest is.
func TestEdited(t *testing.T) {
	f := given.Demo(t)
	shapes := 0
	for _, c := range f.Clusters {
		p, _, err := FromFleet(t.Context(), f, c.Name, nil, Constraints{})
		if err != nil {
			t.Fatal(err)
		}
		vms := f.VMsByID()
		for i := range p.VMs {
			v := vms[p.VMs[i].ID]
			for _, s := range p.VMs[i].Shapes {
				edited := *v
				edited.Config = Edited(v, s.Edit)
				g, problems, err := vnuma.NewGuest(&edited)
				if err != nil || problems != nil {
					t.Fatal(err, problems)
				}
				want, _, _ := vnuma.NewGuest(v)
				want = s.Edit.Apply(want)
				want.AllowedNodes = g.AllowedNodes // Apply knows none
				for _, h := range f.Hosts {
					m, err := vnuma.NewMachine(&h)
					if err != nil {
						t.Fatal(err)
					}
					a, b := vnuma.Predict(&g, &m, &vnuma.Case{}), vnuma.Predict(&want, &m, &vnuma.Case{})
					a.Assumes, b.Assumes = 0, 0 // what is set is known
					if a != b {
						t.Errorf("%s, %+v on %s: %+v, want %+v", v.Name, s.Edit, h.Name, a, b)
					}
				}
				shapes++
			}
		}
	}
	if shapes < 350 {
		t.Errorf("%d shapes: too few to show anything", shapes)
	}
}

// TestTwin runs the simulated scheduler on the demo's clusters for ten minutes, all memory
// touched, before and after the proposal, and after its steps one by one: what is
// proposed on a static prediction is to hold where the balancer works, too.
func TestTwin(t *testing.T) {
	f := given.Demo(t)
	for _, cluster := range []string{"prod-a", "mixed", "epyc"} {
		p, _, err := FromFleet(t.Context(), f, cluster, func(*numa.VM) (float64, numa.Origin) { return 0.3, numa.Origin{Kind: numa.Assumed} }, Constraints{Reserve: 1})
		if err != nil {
			t.Fatal(err)
		}
		proposal := solve(t, p, Options{})
		before, after := lives(t, p, f, nil), lives(t, p, proposal.Fleet(p, f), nil)
		steps := lives(t, p, f, events(proposal, p, f, time.Minute, 2*time.Second))
		t.Logf("%s: before %s; after %s; while it is done %s", cluster, before, after, steps)
		// No exact figures: they are the simulation's, not this package's.
		if after.far > before.far/4 || after.swapped > before.swapped || steps.far >= before.far || steps.swapped > before.swapped {
			t.Errorf("%s: before %s; after %s; while it is done %s", cluster, before, after, steps)
		}
	}
}

// events returns the steps as events of a story, one every gap from at on. Steps of one VM
// follow each other; a change of shape powers it off and on.
func events(p *Proposal, of *Problem, f *numa.Fleet, at, gap time.Duration) []numa.Event {
	var out []numa.Event
	vms := f.VMsByID()
	for _, s := range p.Steps {
		v := &of.VMs[s.VM]
		e := numa.Event{At: at, Kind: numa.VMotion, VM: v.ID, Host: of.Hosts[s.To].ID, Note: s.Why}
		if s.Shape >= 0 {
			c := Edited(vms[v.ID], v.Shapes[s.Shape].Edit)
			e.Kind, e.Host, e.Config = numa.Resize, "", &c
		}
		out = append(out, e)
		at += gap
	}
	return out
}

// A life is what the VMs went through on average.
type life struct {
	far, swapped int64   // GB
	ready        float64 // share of the demand that waited
}

func (l life) String() string {
	return fmt.Sprintf("%d GB far, %d GB swapped, %.1f %% ready", l.far, l.swapped, 100*l.ready)
}

// lives returns what the VMs of the problem go through in ten minutes.
func lives(t *testing.T, p *Problem, f *numa.Fleet, events []numa.Event) life {
	t.Helper()
	story := &numa.Story{Fleet: f, Start: time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC), Length: 10 * time.Minute, Every: time.Minute,
		Unstated: numa.AssumedFor(numa.Load{CPU: numa.Demand{Low: 0.3, High: 0.3}, Memory: -1, Active: 1}, "test"), Events: events}
	out, err := scheduler.Run(context.Background(), story, scheduler.Options{})
	if err != nil {
		t.Fatal(err)
	}
	in := map[string]bool{}
	for i := range p.VMs {
		in[p.VMs[i].ID] = true
	}
	const steps = int64(10 * time.Minute / numa.Step)
	var far, swapped, demand, ready int64
	for i := range f.VMs {
		if o := &out.VMs[i]; in[f.VMs[i].ID] {
			far, swapped, demand, ready = far+o.Far/steps, swapped+o.Swapped/steps, demand+o.Demand, ready+o.Ready
		}
	}
	const pagesOfGB = int64(numa.GiB / numa.PageSize)
	return life{far / pagesOfGB, swapped / pagesOfGB, float64(ready) / float64(demand)}
}
