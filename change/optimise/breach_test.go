package optimise

import (
	"reflect"
	"testing"
)

func TestBreach(t *testing.T) {
	p := &Problem{
		Hosts: []Host{{Memory: 100, VCPUs: 4}, {Memory: 100}},
		VMs:   []VM{{Memory: 90, VCPUs: 3}, {Memory: 50, VCPUs: 3}, {Memory: 20, VCPUs: 1}, {Host: 1, Memory: 10, VCPUs: 1}},
		Apart: [][]int{{0, 1, 2, 2}}, Together: [][]int{{2, 3}},
	}
	want := Breach{Hosts: []HostBreach{{0, 60, 3, 0}}, Apart: 3, Spread: 1}
	if got := p.Breach(nil); !reflect.DeepEqual(got, want) {
		t.Errorf("at the beginning %+v, want %+v", got, want)
	}
	want = Breach{Hosts: []HostBreach{{0, 20, 1, 0}}, Apart: 1}
	if got := p.Breach([]Step{{VM: 1, To: 1}, {VM: 3, To: 0}}); !reflect.DeepEqual(got, want) {
		t.Errorf("after the steps %+v, want %+v", got, want)
	}
}

// TestBreachSum checks that the parts are what the search counts.
func TestBreachSum(t *testing.T) {
	broken := 0
	for seed := range uint64(60) {
		p := instance(3000+seed, 8, 2)
		for i := range p.Hosts { // so little memory that most begin with broken constraints
			p.Hosts[i].Memory /= 4
			p.Hosts[i].VCPUs = 8
		}
		got := solve(t, p, Options{})
		for _, one := range []struct {
			steps []Step
			want  int64
		}{{nil, got.Before.Broken}, {got.Steps, got.After.Broken}} {
			b := p.Breach(one.steps)
			sum := b.Apart + b.Spread
			for _, h := range b.Hosts {
				sum += h.Memory + h.VCPUs
			}
			if sum != one.want {
				t.Errorf("seed %d: %+v sums up to %d, want %d", seed, b, sum, one.want)
			}
			if sum > 0 {
				broken++
			}
		}
	}
	if broken < 30 {
		t.Errorf("%d broken: too few to show anything", broken)
	}
}
