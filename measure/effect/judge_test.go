package effect

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/homenode/measure/quantity"
)

var sample = fleet{changed: 4, controls: 16, days: 7, effect: 10}

func TestAnswers(t *testing.T) {
	helps := sample.vms(1)
	for _, tt := range []struct {
		name   string
		edit   func([]VM) []VM
		answer Answer
		why    string // part of it
	}{
		{"helped", func(vms []VM) []VM { return vms }, Helped, ""},
		{"worse", func([]VM) []VM { f := sample; f.effect = -10; return f.vms(1) }, Worse, ""},
		{"a placebo", func([]VM) []VM { f := sample; f.effect = 0; return f.vms(1) }, NotKnown, "such a difference is also there without a change"},
		{"one alone", func(vms []VM) []VM { return vms[3:] }, NotKnown, "one VM alone cannot be tested"},
		{"few controls", func(vms []VM) []VM { return vms[:13] }, NotKnown, `9 VMs of cluster "c1" can be compared with, want 10`},
		{"no change", func(vms []VM) []VM { return vms[4:] }, NotKnown, "no VM was changed"},
		{"no VM", func([]VM) []VM { return nil }, NotKnown, "no VM was changed"},
		{"other measure", func(vms []VM) []VM {
			for i := range vms {
				vms[i].Days = map[string][]Day{quantity.Ready.Name: vms[i].Days[quantity.LocalPercent.Name]}
			}
			return vms
		}, NotKnown, "no day before the change counts"},
		{"not in effect", func(vms []VM) []VM {
			for i := range vms {
				vms[i].Effective = time.Time{}
			}
			return vms
		}, NotKnown, "the change is not in effect"},
		{"no day after", func(vms []VM) []VM { return until(vms, sample.days) }, NotKnown, "no day after the change counts yet"},
		{"controls too large", func(vms []VM) []VM {
			for i := range vms[4:] {
				vms[4+i].VCPUs = 17
			}
			return vms
		}, NotKnown, "0 VMs of cluster"},
		{"of no consequence", func(vms []VM) []VM {
			for i := range vms {
				for t := range vms[i].Days[quantity.LocalPercent.Name] {
					d := &vms[i].Days[quantity.LocalPercent.Name][t]
					d.Mean = 0.9
					if i < 4 && t > sample.days {
						d.Mean += 0.004
					}
				}
			}
			return vms
		}, NotKnown, "below 1.0 points, which is of no consequence"},
		{"nothing varies but what the changed VMs gained, up and down", func(vms []VM) []VM {
			for i := range vms {
				for t := range vms[i].Days[quantity.LocalPercent.Name] {
					d := &vms[i].Days[quantity.LocalPercent.Name][t]
					d.Mean = 0.5
					if i < 4 && t > sample.days {
						d.Mean += []float64{0.25, -0.125, 0.25, 0.25}[i]
					}
				}
			}
			return vms
		}, NotKnown, "p is 0."},
		{"nothing differs", func(vms []VM) []VM {
			for i := range vms {
				for t := range vms[i].Days[quantity.LocalPercent.Name] {
					vms[i].Days[quantity.LocalPercent.Name][t].Mean = 1
				}
			}
			return vms
		}, NotKnown, "p is 1.00"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := Judge(tt.edit(clone(helps)), quantity.LocalPercent, nil)
			if r.Answer != tt.answer || !strings.Contains(r.Why, tt.why) || tt.why == "" && r.Why != "" {
				t.Errorf("%s, %q; want %s, %q", r.Answer, r.Why, tt.answer, tt.why)
			}
			if _, err := json.Marshal(r); err != nil {
				t.Error(err)
			}
		})
	}
	alone := Judge(clone(helps)[3:], quantity.LocalPercent, nil).VMs
	if len(alone) != 1 || alone[0].Gain == nil || math.Abs(100**alone[0].Gain-10) > 8 || alone[0].DaysAfter != 7 {
		t.Errorf("the numbers of one VM alone are %+v, want a gain of about 10 points", alone)
	}
}

func clone(vms []VM) []VM {
	out := slices.Clone(vms)
	for i := range out {
		days := map[string][]Day{}
		for name, list := range out[i].Days {
			days[name] = slices.Clone(list)
		}
		out[i].Days = days
	}
	return out
}

// until leaves out the days from one on.
func until(vms []VM, day int) []VM {
	for i := range vms {
		vms[i].Days[quantity.LocalPercent.Name] = vms[i].Days[quantity.LocalPercent.Name][:day]
	}
	return vms
}

func TestWhoIsCompared(t *testing.T) {
	vms := sample.vms(3)
	vms[5].VCPUs = 4
	vms[6].VCPUs = 3
	vms[7].VCPUs = 16
	vms[8].Cluster = "c2"
	vms[9].Days[quantity.LocalPercent.Name][2].Out = "ran 2h"
	vms[10].Days[quantity.LocalPercent.Name][sample.days].Out = "the day of the change does not matter"
	for d := sample.days; d < 2*sample.days; d++ {
		vms[11].Days[quantity.LocalPercent.Name][d].Kind = "4x8"
		vms[0].Days[quantity.LocalPercent.Name][d].Kind = "4x8"
	}
	for d := range 4 {
		vms[1].Days[quantity.LocalPercent.Name][d].Out = "vMotion"
	}
	r := Judge(vms, quantity.LocalPercent, nil)
	var left []string
	for _, l := range r.Left {
		left = append(left, l.Name+": "+l.Why)
	}
	want := []string{"app006: 3 vCPUs: not of similar size", "app009: 13 of 14 days count", "app011: ran on several kinds of hosts"}
	if !slices.Equal(left, want) {
		t.Errorf("left out are %q, want %q", left, want)
	}
	if len(r.Controls) != 12 || r.Tested != 3 || r.After != 7 || r.Before != 7 {
		t.Errorf("%d controls, %d tested, %d and %d days; want 12, 3, 7 and 7", len(r.Controls), r.Tested, r.Before, r.After)
	}
	if r.VMs[0].Note == "" || r.VMs[1].Alone != "3 of 7 days before the change count, fewer than half" {
		t.Errorf("note %q, alone %q", r.VMs[0].Note, r.VMs[1].Alone)
	}
}

// TestSame checks that what does not matter changes nothing: the order of the VMs, a constant that all have, what all have in common on a
// day, the unit.
func TestSame(t *testing.T) {
	was := Judge(sample.vms(5), quantity.LocalPercent, nil)
	text := func(r *Result) string {
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	shuffled := sample.vms(5)
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	if a, b := text(was), text(Judge(shuffled, quantity.LocalPercent, nil)); a != b {
		t.Errorf("in another order:\n%s\n%s", a, b)
	}
	for name, f := range map[string]func(x float64, vm, day int) float64{
		"a constant":          func(x float64, _, _ int) float64 { return x + 0.17 },
		"a level of each VM":  func(x float64, vm, _ int) float64 { return x + float64(vm) },
		"a bad day for all":   func(x float64, _, day int) float64 { return x - float64(day%3)*0.2 },
		"a trend of all":      func(x float64, _, day int) float64 { return x + 0.05*float64(day) },
		"a unit 1,000 as big": func(x float64, _, _ int) float64 { return 1000 * x },
	} {
		vms, by := sample.vms(5), 1.0
		if strings.HasPrefix(name, "a unit") {
			by = 1000
		}
		for i := range vms {
			for d := range vms[i].Days[quantity.LocalPercent.Name] {
				m := &vms[i].Days[quantity.LocalPercent.Name][d].Mean
				*m = f(*m, i, d)
			}
		}
		got := Judge(vms, quantity.LocalPercent, nil)
		for i, pair := range [][2]float64{{was.Effect, got.Effect / by}, {was.Low, got.Low / by}, {was.High, got.High / by}, {was.P, got.P}, {was.Spread.Changed, got.Spread.Changed / by}} {
			if math.Abs(pair[0]-pair[1]) > 1e-9 {
				t.Errorf("%s: number %d is %v, want %v", name, i, pair[1], pair[0])
			}
		}
		if got.Answer != was.Answer {
			t.Errorf("%s: %s", name, got.Answer)
		}
	}
}

// TestBatches has two clusters, two days of change and VMs of which days do not count, and nothing by chance: the effect
// is exact.
func TestBatches(t *testing.T) {
	var vms []VM
	for c := range 2 {
		for i := range 14 {
			v := VM{ID: fmt.Sprintf("vm-%d-%02d", c, i), Cluster: fmt.Sprintf("c%d", c), VCPUs: 8}
			change := 8 + 3*(i%2)
			if i < 4 {
				v.Changed = first.AddDate(0, 0, change)
				v.Effective = v.Changed
			}
			var days []Day
			for d := range 20 {
				x := float64(i) + 5*math.Sin(float64(d)) + float64(c*d)
				if i < 4 && d > change {
					x += 3 + float64(c)
				}
				day := Day{Date: date(d), Mean: x}
				if i == 2 && (d == 3 || d > 14) {
					day.Mean, day.Out = -99, "ran 1h"
				}
				days = append(days, day)
			}
			v.Days = map[string][]Day{quantity.RemoteBytes.Name: days}
			vms = append(vms, v)
		}
	}
	r := Judge(vms, quantity.RemoteBytes, nil)
	for _, v := range r.VMs {
		want := 3.0
		if v.Cluster == "c1" {
			want = 4
		}
		if v.Gain == nil || math.Abs(*v.Gain-want) > 1e-9 || v.Alone != "" {
			t.Errorf("%s gained %v, want %v (%d days after, alone %q)", v.ID, v.Gain, want, v.DaysAfter, v.Alone)
		}
	}
	if r.Test == nil || math.Abs(r.Effect-3.5) > 1e-9 || r.Answer != Worse || r.All {
		t.Errorf("%+v, want an effect of 3.5 bytes that is worse", r.Test)
	}
}

func TestSpread(t *testing.T) {
	s := Spread{Changed: 0.05, Controls: 0.05, VMs: 4, Others: 16, Before: 7}
	last := math.Inf(1)
	for days := 1; days < 30; days++ {
		least, ok := s.Visible(7, days)
		if !ok || least >= last {
			t.Fatalf("%v after %d days, %v the day before", least, days, last)
		}
		last = least
	}
	for _, few := range []Spread{{Changed: 0.05, Controls: 0.05, VMs: 1, Others: 50}, {Changed: 0.05, Controls: 0.05, VMs: 2, Others: 4}} {
		if least, ok := few.Visible(7, 7); ok {
			t.Errorf("%d VMs beside %v show %v", few.VMs, few.Others, least)
		}
	}
	// Before the change: nothing after it yet.
	r := Judge(until(sample.vms(1), sample.days), quantity.LocalPercent, nil)
	least, _ := r.Spread.Visible(7, 5)
	if got, want := r.CouldSee(5), "with 4 changed VMs an effect of "+quantity.LocalPercent.AtLeast(least)+" or more would be seen after 5 days"; got != want || least < 0.03 || least > 0.08 {
		t.Errorf("%q, want %q", got, want)
	}
	f := sample
	f.days = 1
	if got := Judge(f.vms(1), quantity.LocalPercent, nil); !strings.HasSuffix(got.CouldSee(5), "says nothing of how days differ") || got.Daily == 0 {
		t.Errorf("%q, p %v", got.CouldSee(5), got.Daily)
	}
}

// TestHarm changes VMs so that they wait more and VMs beside them have more remote memory.
func TestHarm(t *testing.T) {
	vms := sample.vms(7)
	gb := float64(1 << 30)
	for i := range vms {
		for d := range vms[i].Days[quantity.LocalPercent.Name] {
			day := &vms[i].Days[quantity.LocalPercent.Name][d]
			day.Host = fmt.Sprintf("esx%02d", i%10) // of ten hosts those of 0 to 3 have a changed VM
			after, wobble := d > sample.days, math.Sin(float64(37*i+11*d*d))
			ready, remote := *day, *day
			ready.Mean, remote.Mean = 0.05+0.01*wobble, gb*(10+wobble)
			if after && i < 4 {
				ready.Mean += 0.04
			}
			if after && i >= 4 && i%10 < 4 {
				remote.Mean += 5 * gb
			}
			vms[i].Days[quantity.Ready.Name] = append(vms[i].Days[quantity.Ready.Name], ready)
			vms[i].Days[quantity.RemoteBytes.Name] = append(vms[i].Days[quantity.RemoteBytes.Name], remote)
		}
	}
	r := Of(vms, quantity.LocalPercent, nil)
	answers := func(list []*Result) (out []string) {
		for _, one := range list {
			out = append(out, fmt.Sprintf("%s %d %s", one.Measure.Name, one.Tested, one.Answer))
		}
		return out
	}
	if got, want := answers(r.Others), []string{"ready 4 worse", "coStop 0 not known yet"}; !slices.Equal(got[:2], want) || r.Main.Answer != Helped {
		t.Errorf("main %s, others %q, want %q", r.Main.Answer, got, want)
	}
	if got, want := answers(r.Beside), []string{"ready 4 not known yet", "coStop 0 not known yet", "remoteBytes 4 worse"}; !slices.Equal(got, want) {
		t.Errorf("beside %q, want %q", got, want)
	}
	if len(r.Worse()) != 2 || math.Abs(r.ByChance-5*Level/2) > 1e-12 {
		t.Errorf("%d are worse, %v by chance", len(r.Worse()), r.ByChance)
	}
	if e := r.Beside[2].Measure.Text(r.Beside[2].Effect); !strings.HasSuffix(e, " GB") {
		t.Errorf("the effect is %s", e)
	}
}
