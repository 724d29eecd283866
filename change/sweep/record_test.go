package sweep

import (
	"context"
	"reflect"
	"testing"

	"example.org/homenode/numa"
	"example.org/homenode/rules/simulate"
)

// TestRecord checks a record against the run that it is of, host by host: esx02 has more
// memory given out than it has.
func TestRecord(t *testing.T) {
	s := read(t, small+"vm hog[1-2] host=esx02 vcpus=4 memory=60GB\n")
	want := make([]HostRecord, len(s.Fleet.Hosts))
	sim, err := simulate.Run(context.Background(), s, simulate.Options{Tick: func(host int, tick *numa.Tick) {
		h := &want[host]
		h.ID, h.Name = s.Fleet.Hosts[host].ID, tick.Host
		h.Ticks++
		if tick.State > h.Worst {
			h.Worst = tick.State
		}
		for _, v := range tick.VMs {
			h.Local += int64(v.Local) / 4096
			h.Remote += int64(v.Remote) / 4096
			h.Moves += v.Moves.Balance + v.Moves.LoadSwap + v.Moves.Locality + v.Moves.LocalitySwap + v.Moves.Fairness
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range sim.Watched.Findings {
		for i := range want {
			if want[i].Name == f.Host {
				want[i].Findings++
			}
		}
	}
	p, err := New(t.Context(), s, nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := do(t, p, How{}).Points[0].Runs[0].Record
	if !reflect.DeepEqual(got.Hosts, want) {
		t.Errorf("hosts %+v\nwant  %+v", got.Hosts, want)
	}
	if want[1].Worst == numa.High || want[0].Remote == 0 || want[0].Moves == 0 || want[0].Findings == 0 {
		t.Errorf("the story has too little to hold: %+v", want)
	}
	worst := 0
	var total Sums
	priced := 0 // hogs and others that are swapped out all the time have no speed
	for i := range got.VMs {
		v := &got.VMs[i]
		if o := &sim.Outcome.VMs[i]; v.ID != s.Fleet.VMs[i].ID || v.Far != o.Far || v.Moves != o.Moves || v.CoStop != o.CoStop || v.Run != o.Run {
			t.Errorf("VM %s is %+v, want %+v", v.Name, v, o)
		}
		if sim.Speeds[i].Known() {
			priced++
		}
		if sim.Speeds[i].Known() && sim.Speeds[i].Worst < sim.Speeds[worst].Worst {
			worst = i
		}
		total.Swapped += v.Swapped
		total.Far += v.Far
	}
	if f := &got.Fleet; f.WorstVM != s.Fleet.VMs[worst].Name || f.Worst != millionths(sim.Speeds[worst].Worst) || f.Swapped != total.Swapped || f.Far != total.Far || f.Priced != priced || priced == len(got.VMs) || priced == 0 {
		t.Errorf("the fleet is %+v; want %s the slowest, %+v", f, s.Fleet.VMs[worst].Name, total)
	}
}

// TestSilent checks that a fleet that is not judged has no speed and no findings, and the
// same sums.
func TestSilent(t *testing.T) {
	s := read(t, small)
	loud := do(t, newPlan(t), How{})
	p, err := New(t.Context(), s, nil, Options{Silent: true})
	if err != nil {
		t.Fatal(err)
	}
	quiet := do(t, p, How{})
	a, b := loud.Today(), quiet.Today()
	for k, m := range Measures {
		known := k != Speed && k != SpeedLow && k != SpeedHigh && k != Worst && k != Findings
		if b.Measured[k].Known != known || known && b.Measured[k].Mean != a.Measured[k].Mean {
			t.Errorf("%s is %+v, judged %+v", m.Key, b.Measured[k], a.Measured[k])
		}
	}
	if quiet.Points[0].Runs[0].Record.Hosts != nil {
		t.Error("hosts are there, want none")
	}
}
