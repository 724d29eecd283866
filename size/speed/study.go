package speed

import (
	"cmp"
	"context"
	"slices"

	"example.org/homenode/numa"
	"example.org/homenode/numa/unit"
)

// A Result is the result of size speed.
type Result struct {
	Asked     *Ask                    `json:"asked"`
	Guarantee unit.Figure[unit.Share] `json:"guarantee"`
	Kernel    unit.Figure[unit.Share] `json:"kernel"`
	HostText  string                  `json:"host"`
	Release   numa.Release            `json:"release"`
	Touched   numa.Bytes              `json:"touched"` // memory of each VM in the simulation
	Terms     Terms                   `json:"terms"`
	Share     unit.Share              `json:"share"` // of a core, by vCPU
	Held      unit.Share              `json:"held"`  // of a vCPU that demands a whole core
	Admission Admission               `json:"admission"`
	// Local is how many VMs fit a host's memory with each local; nil when unknown.
	Local *int `json:"local,omitempty"`
	// SpeedForVMs is the highest vCPU speed at which the requested number of VMs is admitted on a
	// host; 0 when any is.
	SpeedForVMs unit.Hz     `json:"speedForVMs,omitempty"`
	Limited     []Load      `json:"limited"`
	Free        []Load      `json:"free"` // without limit and reservation
	SCA         []Mitigated `json:"sca"`
	Changes     []Change    `json:"changes"`

	Acts bool `json:"-"` // the limit causes wait at some demand of the simulation
}

// A Change is the result of an alternative.
type Change struct {
	If        string     `json:"if"`
	Terms     Terms      `json:"terms"`
	Held      unit.Share `json:"held"`
	Admission Admission  `json:"admission"`
	VMs       int        `json:"vms"`  // running on a host
	Full      Load       `json:"full"` // at full demand; zero without VMs
}

// demands are the simulated demands: 5 % to 100 %, and the one at which the limit begins to act.
func demands(share unit.Share) []unit.Share {
	all := []unit.Share{share}
	for percent := 5; percent <= 100; percent += 5 {
		if s := unit.Share(percent) / 100; s != share {
			all = append(all, s)
		}
	}
	slices.Sort(all)
	return all
}

// Study computes everything that the answer shows.
func Study(ctx context.Context, a *Ask, guarantee, kernel unit.Figure[unit.Share]) (*Result, error) {
	r := &Result{
		Asked: a, Guarantee: guarantee, Kernel: kernel, Release: a.Host.Release.Value, Touched: a.Touched(),
		Terms: a.Terms(), Share: a.Share(), Held: Held(1, a.Share()), Admission: a.Admit(), Local: a.Local(),
	}
	r.SpeedForVMs, _ = a.SpeedFor(a.VMs)
	all := demands(r.Share)
	var e1, e2, e3, e4 error
	r.Limited, e1 = a.Simulate(ctx, all, true)
	r.Free, e2 = a.Simulate(ctx, all, false)
	r.SCA, e3 = a.SideChannels(ctx)
	r.Changes, e4 = changes(ctx, a)
	r.Acts = slices.ContainsFunc(r.Limited, func(l Load) bool { return l.Limited > 0 })
	return r, cmp.Or(e1, e2, e3, e4)
}

// changes computes the alternatives.
func changes(ctx context.Context, a *Ask) ([]Change, error) {
	var out []Change
	for _, c := range []struct {
		name   string
		change func(*Ask) bool
	}{
		{"vCPU speed twice as high", func(b *Ask) bool { b.Speed *= 2; return true }},
		{"half the vCPUs, twice the speed", func(b *Ask) bool { b.VCPUs /= 2; b.Speed *= 2; return a.VCPUs%2 == 0 }},
		{"guarantee 50 %", func(b *Ask) bool { b.Guarantee = 0.5; return a.Guarantee != 0.5 }},
		{"guarantee 100 %", func(b *Ask) bool { b.Guarantee = 1; return a.Guarantee != 1 }},
		{"one host fewer", func(b *Ask) bool {
			b.Hosts--
			b.VMs = (a.VMs*a.Hosts + b.Hosts - 1) / max(1, b.Hosts) // the fullest host
			return b.Hosts > 0
		}},
	} {
		b := *a
		if !c.change(&b) || a.Model == ReservationPool {
			continue
		}
		one := Change{If: c.name, Terms: b.Terms(), Held: Held(1, b.Share()), Admission: b.Admit(), VMs: b.Running()}
		if one.VMs > 0 {
			full, err := b.Simulate(ctx, []unit.Share{1}, true)
			if err != nil {
				return nil, err
			}
			one.Full = full[0]
		}
		out = append(out, one)
	}
	return out, nil
}
