package propose

import (
	"context"
	"testing"

	"example.org/homenode/change/optimise"
	"example.org/homenode/change/sweep"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
	"example.org/homenode/rules/simulate"
	"example.org/homenode/source/story"
)

// TestOutcomeIsOfSweep checks that far, speed and the other shares of a run are the figures
// that a sweep shows of it, on VMs of unlike size: weighing by vCPUs or by VM differs there.
func TestOutcomeIsOfSweep(t *testing.T) {
	s, err := story.Read("story.txt", []byte(`
release 7.0U3
host esx01 nodes=2 cores=8 nodeMemory=64GB
vm big vcpus=12 memory=100GB hotAdd=on
vm hot vcpus=4 memory=16GB
vm small vcpus=1 memory=4GB
run 2h every=20s
load * cpu=80% memory=90% workload=database
`))
	if err != nil {
		t.Fatal(err)
	}
	p, err := sweep.New(t.Context(), s, nil, sweep.Options{})
	if err != nil {
		t.Fatal(err)
	}
	grid, err := p.Run(context.Background(), sweep.How{})
	if err != nil {
		t.Fatal(err)
	}
	run, err := simulate.Run(context.Background(), s, simulate.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, want := outcomeOf(run), grid.Today().Measured
	for _, one := range []struct {
		name    string
		got     float64
		measure int
	}{{"N%L", *got.Locality, sweep.Locality}, {"far", got.Far, sweep.Far}, {"ready", got.Ready, sweep.Ready}, {"co-stop", got.CoStop, sweep.CoStop}, {"speed", *got.Speed, sweep.Speed}} {
		if w := want[one.measure]; !w.Known || one.got != w.Mean {
			t.Errorf("%s is %g in a proposal, %+v in a sweep", one.name, one.got, w)
		}
	}
	if a, b := run.Speeds[0].Mean, run.Speeds[2].Mean; got.Far == 0 || a == b {
		t.Errorf("far %g, speeds %g and %g: the story tells nothing apart", got.Far, a, b)
	}
}

// TestUnknownOutcome checks that what no VM has is not written as a number.
func TestUnknownOutcome(t *testing.T) {
	if known(0, false) != nil || *known(0, true) != 0 {
		t.Error("an unknown figure is a number")
	}
	p := &optimise.Problem{VMs: []optimise.VM{{Memory: 1 << 20}}}
	if differs(p, &optimise.Score{}, &Outcome{}) {
		t.Error("a run without memory at home differs from its estimate")
	}
}

// TestRoomOfAssess checks that a proposal counts the VMs that the story powers on, and that a host has the memory for VMs that assess gives it.
func TestRoomOfAssess(t *testing.T) {
	s, err := story.Read("story.txt", []byte(`
release 7.0U3
host esx01 cluster=c nodes=2 cores=8 nodeMemory=64GB
host esx02 cluster=c nodes=2 cores=8 nodeMemory=64GB
vm early host=esx01 vcpus=4 memory=16GB
vm late host=esx01 vcpus=4 memory=16GB power=off
vm never host=esx01 vcpus=4 memory=16GB power=off
run 2h every=20s
load * cpu=80% memory=90%
at 1h power-on late host=esx02
`))
	if err != nil {
		t.Fatal(err)
	}
	p, _, err := optimise.FromFleet(t.Context(), awake(s).Fleet, "c", demandIn(s), optimise.Constraints{})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.VMs) != 2 || p.VMs[1].Name != "late" || p.Hosts[p.VMs[1].Host].Name != "esx02" {
		t.Errorf("found %+v, want early, and late on esx02", p.VMs)
	}
	m, err := vnuma.NewMachine(&s.Fleet.Hosts[0])
	if want := m.ForVMs() / int64(numa.MiB); err != nil || p.Hosts[0].Memory != want || want >= 128<<10 {
		t.Errorf("esx01 has %d MB for VMs, want %d", p.Hosts[0].Memory, want)
	}
}
