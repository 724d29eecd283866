package speed

import (
	"context"
	"errors"
	"fmt"
	"time"

	"example.org/homenode/esxi/scheduler"
	"example.org/homenode/numa"
	"example.org/homenode/numa/unit"
)

// simulated is the simulated time. Demand is constant: once the balancer has divided the VMs, which
// takes minutes, nothing changes.
const simulated = 30 * time.Minute

// A Load is the demand of VMs and the CPU they got, as a mean of all of them, in the simulation of
// the scheduler. Shares are of the time of each vCPU, as in esxtop's columns by vCPU.
type Load struct {
	Demand unit.Share `json:"demand"` // of a core, by vCPU
	Used   unit.Hz    `json:"used"`   // by VM
	Ready  unit.Share `json:"ready"`  // %RDY, including time taken by the limit
	// Limited is the part of Ready caused by the limit (%MLMTD) for VMs that reach it, Contended
	// the part without a free core.
	Limited   unit.Share `json:"limited"`
	Contended unit.Share `json:"contended"`
	CoStop    unit.Share `json:"coStop"` // %CSTP
	// Local is the share of memory on the home nodes (N%L), of VMs that have one.
	Local unit.Share `json:"local"`
	// Expected is Used by the closed form: the demand up to the limit, if every core were free.
	Expected unit.Hz `json:"expected"`
}

// Simulate runs the VMs in the simulated scheduler at each demand, with the limit and reservation
// of the model or without both.
func (a *Ask) Simulate(ctx context.Context, demands []unit.Share, limited bool) ([]Load, error) {
	var t Terms
	if limited {
		t = a.Terms()
	}
	out := make([]Load, len(demands))
	for i, d := range demands {
		if !(d > 0 && d <= 1) {
			return nil, fmt.Errorf("demand: found %v, want more than 0 up to 100 %%", d)
		}
		var err error
		if out[i], err = a.run(ctx, d, t); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// run simulates one demand.
func (a *Ask) run(ctx context.Context, demand unit.Share, t Terms) (Load, error) {
	if a.Running() == 0 {
		return Load{}, fmt.Errorf("a host admits no VM: %v are reserved for one, %v is what a host has for VMs", a.Terms().Reservation, a.reservable())
	}
	got, err := scheduler.Run(ctx, a.story(demand, t), scheduler.Options{})
	if err != nil {
		return Load{}, err
	}
	share := ShareOf(t.Limit, a.VCPUs, a.Core)
	var steps, run, ready, coStop, local, remote int64
	var limited float64
	for i := range got.VMs {
		v := &got.VMs[i]
		steps, run, ready, coStop = steps+v.Steps, run+v.Run, ready+v.Ready, coStop+v.CoStop
		local, remote = local+v.Local, remote+v.Remote
		limited += a.limited(v, demand, share)
	}
	if steps == 0 {
		err := errors.New("the simulation ran no VM")
		if len(got.Problems) > 0 {
			err = fmt.Errorf("the simulation ran no VM: %s", got.Problems[0].Text)
		}
		return Load{}, err
	}
	time := float64(steps) * wholeCore
	of := func(x int64) unit.Share { return unit.Share(float64(x) / (time * float64(a.VCPUs))) }
	l := Load{
		Demand: demand, Used: unit.Hz(float64(run) / time * float64(a.Core)),
		Ready: of(ready), Limited: unit.Share(limited / (time * float64(a.VCPUs))), CoStop: of(coStop),
		Expected: unit.Hz(float64(min(demand, share)) * float64(a.VCPUs) * float64(a.Core)),
	}
	if l.Limited = min(l.Limited, l.Ready); l.Ready-l.Limited > rounding {
		l.Contended = l.Ready - l.Limited
	}
	if local+remote > 0 {
		l.Local = unit.Share(float64(local) / float64(local+remote))
	}
	return l, nil
}

// reached is the part of the limit that a VM must use for the limit to stop it: a VM that gets less
// of a core never uses up its allowance.
const reached = 0.99

// limited returns the ready time of a VM, in hundredths of a percent of a core, that its limit causes.
func (a *Ask) limited(v *scheduler.VMOutcome, demand, share unit.Share) float64 {
	time := float64(v.Steps) * wholeCore * float64(a.VCPUs)
	if float64(v.Run) < reached*float64(share)*time-rounding*time {
		return 0
	}
	return min(float64(v.Ready), float64(Held(demand, share))*time)
}

// rounding is the resolution of the simulation: it counts hundredths of a percent of a core, and
// limits in whole MHz.
const rounding = 5e-4

// wholeCore is a core in the simulation's unit of CPU: hundredths of a percent.
const wholeCore = 10_000

// story returns the VMs on one host, alike and with a constant load.
func (a *Ask) story(demand unit.Share, t Terms) *numa.Story {
	const at = "size speed"
	host := a.Host
	host.Cluster, host.CoreMHz = "", numa.ReadAt(mhz(a.Core), at)
	vms := make([]numa.VM, a.Running())
	loads := make([]numa.VMLoad, len(vms))
	for i := range vms {
		name := fmt.Sprintf("vm%04d", i+1)
		v := &vms[i]
		*v = numa.VM{ID: name, Name: name, Host: host.ID, At: at}
		v.Power, v.VCPUs, v.Memory = numa.ReadAt(numa.PoweredOn, at), numa.ReadAt(a.VCPUs, at), numa.ReadAt(a.Memory, at)
		v.CoresPerSocket, v.Settings = numa.AssumedFor(1, at), numa.AssumedFor(numa.Settings(nil), at)
		v.CPULimit, v.CPUReservation = numa.ReadAt(-1, at), numa.ReadAt(0, at)
		if t.Limit > 0 {
			v.CPULimit.Value = max(1, mhz(t.Limit))
		}
		if t.Reservation > 0 && !t.InPool { // the simulation has no pools
			v.CPUReservation.Value = mhz(t.Reservation)
		}
		loads[i] = numa.VMLoad{VM: name, Load: numa.Load{
			CPU:    numa.Demand{Low: float64(demand), High: float64(demand)},
			Memory: a.Touched(), Active: 0.25,
		}}
	}
	return &numa.Story{
		Name: at, Fleet: &numa.Fleet{Source: at, Hosts: []numa.Host{host}, VMs: vms},
		Start: time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC), Length: simulated, Every: simulated, Seed: 1, Loads: loads,
		Unstated: numa.AssumedFor(numa.Load{}, at),
	}
}

// mhz returns whole MHz, as in vSphere; the small share keeps 8 × 1.1 GHz whole.
func mhz(h unit.Hz) int { return int(float64(h/unit.MHz)*(1+1e-12) + 1e-9) }

// Touched is the memory that each VM of the simulation touches: all its memory, or less so that all
// fit on the host and only CPU is short.
func (a *Ask) Touched() numa.Bytes {
	all := a.Host.Memory.Value
	if !a.Host.Memory.Known() {
		return a.Memory
	}
	room := (all - numa.SoftReserve(all, a.Host.Release.Value)) * 8 / 10 / numa.Bytes(max(1, a.Running()))
	return max(numa.PageSize, min(a.Memory, room)/numa.PageSize*numa.PageSize)
}
