package effect

import (
	"fmt"
	"math/rand/v2"
	"time"

	"example.org/homenode/measure/quantity"
)

// A fleet is the generator that docs/evidence/effect.md describes: normal VM levels, days and common days of which the number is the
// standard deviation, and episodes that take points off on some days. All in points; values are shares.
type fleet struct {
	changed, controls int
	days              int     // before, and as many after
	effect            float64 // points, of the changed VMs after the change
	times             float64 // by how much more the changed VMs vary from day to day; 0 is 1
	lasting           int     // days of an episode; 0 is 1
	chosenBad         bool    // the changed VMs are those that were worst in the days before
}

const (
	levels, everyDay, common = 12.0, 2.5, 2.0
	episode, often           = -15.0, 0.08
)

var first = time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC)

func date(day int) Date { return DateOf(first.AddDate(0, 0, day), nil) }

// changeDay returns when the change was: the day between the days before and after.
func (f fleet) changeDay() time.Time { return first.AddDate(0, 0, f.days).Add(12 * time.Hour) }

func (f fleet) vms(seed uint64) []VM {
	rng := rand.New(rand.NewPCG(seed, 9))
	all := make([]float64, 2*f.days+1)
	for t := range all {
		all[t] = common * rng.NormFloat64()
	}
	vms := make([]VM, f.changed+f.controls)
	worst := make([]float64, len(vms))
	for i := range vms {
		v := &vms[i]
		*v = VM{ID: fmt.Sprintf("vm-%03d", i), Name: fmt.Sprintf("app%03d", i), Cluster: "c1", VCPUs: 8}
		level, times := 70+levels*rng.NormFloat64(), 1.0
		if i < f.changed && f.times > 0 {
			times = f.times
		}
		days := make([]Day, len(all))
		lasting, until := max(1, f.lasting), -1
		for t := -lasting; t < len(days); t++ {
			if t > until && rng.Float64() < often/float64(lasting) {
				until = t + lasting - 1
			}
			if t < 0 {
				continue
			}
			off := everyDay * rng.NormFloat64()
			if t <= until {
				off += episode
			}
			if t < f.days {
				worst[i] += off
			}
			days[t] = Day{Date: date(t), Mean: (level + all[t] + times*off) / 100, Ran: 24 * time.Hour, Host: "esx01", Kind: "2x16"}
		}
		v.Days = map[string][]Day{quantity.LocalPercent.Name: days}
	}
	for n := range f.changed {
		i := n
		if f.chosenBad {
			i = -1
			for j := range vms {
				if vms[j].Changed.IsZero() && (i < 0 || worst[j] < worst[i]) {
					i = j
				}
			}
		}
		vms[i].Changed, vms[i].Effective = f.changeDay(), f.changeDay()
		for t := f.days; t < len(all); t++ {
			vms[i].Days[quantity.LocalPercent.Name][t].Mean += f.effect / 100
		}
	}
	return vms
}

// A tally is what so many fleets were judged.
type tally struct{ helped, worse, held float64 }

func (f fleet) tally(fleets int) (t tally) {
	for seed := range fleets {
		r := Judge(f.vms(uint64(seed)), quantity.LocalPercent, nil)
		one := 1 / float64(fleets)
		switch r.Answer {
		case Helped:
			t.helped += one
		case Worse:
			t.worse += one
		}
		if r.Test != nil && 100*r.Low <= f.effect && f.effect <= 100*r.High {
			t.held += one
		}
	}
	return t
}

func (f fleet) String() string {
	return fmt.Sprintf("%d changed of %d, %d days, %+.0f points", f.changed, f.changed+f.controls, f.days, f.effect)
}
