package optimise

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.org/homenode/numa"
)

// light makes moves and power cycles cheap, so that the optimum is seen at once.
var light = Weights{Remote: 1, Far: 1, Ready: 1, Move: 1, Cycle: 5}

// esx returns a host of equal nodes. Its memory is that of the nodes.
func esx(name string, nodes, cores int, memory int64) Host {
	h := Host{ID: name, Name: name, Memory: int64(nodes) * memory}
	for i := range nodes {
		h.Nodes = append(h.Nodes, Node{i, i, cores, memory})
	}
	return h
}

// busy returns a VM of one client whose vCPUs are busy.
func busy(name string, host, vcpus int, memory int64, hosts int) VM {
	return VM{ID: name, Name: name, Host: host, VCPUs: vcpus, Memory: memory, Demand: wholeCore, Allowed: all(hosts),
		Shapes: []Shape{{Fits: []Fit{{OK: true, Managed: true, Clients: []int{vcpus}}}}}}
}

// steps writes the steps as "vm: from > to", with "~" for a temporary one and "vm: shape
// n" for a change of shape.
func steps(p *Problem, got *Proposal) string {
	var out []string
	for _, s := range got.Steps {
		switch {
		case s.Shape >= 0:
			out = append(out, fmt.Sprintf("%s: shape %d", p.VMs[s.VM].Name, s.Shape))
		case s.Temporary:
			out = append(out, fmt.Sprintf("%s: %s ~ %s", p.VMs[s.VM].Name, p.Hosts[s.From].Name, p.Hosts[s.To].Name))
		default:
			out = append(out, fmt.Sprintf("%s: %s > %s", p.VMs[s.VM].Name, p.Hosts[s.From].Name, p.Hosts[s.To].Name))
		}
	}
	return strings.Join(out, ", ")
}

// TestKnown has problems whose best proposal is worked out by hand.
func TestKnown(t *testing.T) {
	// c is small: nothing should stay there. a has few cores, b little memory beside its
	// cores: each has what the other should, and neither has room for both.
	exchange := func() *Problem {
		p := &Problem{Weights: light, Hosts: []Host{esx("a", 1, 4, 100), esx("b", 1, 16, 50), esx("c", 1, 1, 40)},
			VMs: []VM{busy("cpu", 0, 8, 40, 3), busy("ram", 1, 2, 90, 3)}}
		p.Hosts[1].Memory = 100
		return p
	}
	// Without b the 80 of v2 fit c only, if c stays empty.
	nplus1 := func(want bool) *Problem {
		return &Problem{Weights: light, NPlus1: want, Hosts: []Host{esx("a", 1, 8, 100), esx("b", 1, 8, 100), esx("c", 1, 8, 100)},
			VMs: []VM{busy("v0", 0, 8, 40, 3), busy("v1", 0, 8, 40, 3), busy("v2", 1, 1, 80, 3)}}
	}
	// A host in maintenance is no room for a lost one.
	closed := nplus1(true)
	closed.Hosts = append(closed.Hosts, esx("d", 1, 8, 100))
	closed.Hosts[3].Closed = true
	// Without b the 12 vCPUs of v2 fit c only, of at most 16 a host.
	byVCPUs := nplus1(true)
	byVCPUs.VMs[2] = busy("v2", 1, 12, 10, 3)
	for h := range byVCPUs.Hosts {
		byVCPUs.Hosts[h].VCPUs = 16
	}
	for _, p := range []*Problem{closed, byVCPUs} {
		for v := range p.VMs {
			p.VMs[v].Allowed = all(len(p.Hosts))
		}
	}
	// Three of 60 on nodes of 100: 20 remote, and 6 cores short. Any one leaves.
	three := func(apart, together [][]int) *Problem {
		return &Problem{Weights: light, Apart: apart, Together: together, Hosts: []Host{esx("a", 2, 10, 100), esx("b", 2, 10, 100)},
			VMs: []VM{busy("v0", 0, 8, 60, 2), busy("v1", 0, 8, 60, 2), busy("v2", 0, 8, 60, 2), busy("v3", 1, 8, 60, 2)}}
	}
	wide := func(cycle int64) *Problem {
		p := &Problem{Weights: light, Hosts: []Host{esx("a", 2, 10, 100)}, VMs: []VM{busy("db", 0, 16, 120, 1)}}
		p.Weights.Cycle = cycle
		two := Fit{OK: true, Managed: true, Clients: []int{8, 8}, Far: 60}
		p.VMs[0].Shapes = []Shape{{Fits: []Fit{two}}, {Fits: []Fit{{OK: true, Managed: true, Clients: []int{8, 8}}}}}
		return p
	}
	// ESXi puts the first two on a node each, and 10 of the third beside it. Bound to one
	// node the first two leave the other to the third.
	bound := &Problem{Weights: light, Hosts: []Host{esx("a", 2, 12, 100)},
		VMs: []VM{busy("v0", 0, 4, 30, 1), busy("v1", 0, 4, 30, 1), busy("v2", 0, 4, 80, 1)}}
	to0 := bound.VMs[1].Shapes[0]
	to0.Nodes = numa.SetOf(0)
	bound.VMs[1].Shapes = append(bound.VMs[1].Shapes, to0)
	overfull := three(nil, nil)
	overfull.Hosts[0].Memory, overfull.VMs[1].Allowed, overfull.VMs[2].Allowed = 150, []int{0}, []int{0}
	for _, tt := range []struct {
		name    string
		problem *Problem
		want    string
		after   Score
		bound   Bound
	}{
		{"one leaves", three(nil, nil), "v0: a > b", Score{Moves: 1, Total: 1}, Bound{1, 0, true}},
		{"not to the one it is apart from", three([][]int{{0, 3}}, nil), "v1: a > b", Score{Moves: 1, Total: 1}, Bound{1, 0, true}},
		{"v0 and v1 together: the third leaves", three(nil, [][]int{{0, 1}}), "v2: a > b", Score{Moves: 1, Total: 1}, Bound{1, 0, true}},
		{"all three together: v3 has nowhere better", three(nil, [][]int{{0, 1, 2}}), "", Score{Remote: 20, Ready: 60000, Total: 60020}, Bound{1, 60019, false}},
		{"begins not apart", three([][]int{{0, 1}, {0, 2}}, nil), "v0: a > b", Score{Moves: 1, Total: 1}, Bound{1, 0, true}},
		{"begins split", three(nil, [][]int{{0, 3}}), "v0: a > b", Score{Moves: 1, Total: 1}, Bound{1, 0, true}},
		{"begins with 30 too much", overfull, "v0: a > b", Score{Moves: 1, Total: 1}, Bound{1, 0, true}},
		{"an exchange over a third host", exchange(), "cpu: a ~ c, ram: b > a, cpu: c > b", Score{Moves: 2, Total: 2}, Bound{2, 0, true}},
		{"v1 leaves", nplus1(false), "v0: a > c", Score{Moves: 1, Total: 1}, Bound{1, 0, true}},
		{"v1 may not, for N+1", nplus1(true), "", Score{Ready: 80000, Total: 80000}, Bound{1, 79999, false}},
		{"nor with a host in maintenance", closed, "", Score{Ready: 80000, Total: 80000}, Bound{1, 79999, false}},
		{"nor for N+1 by vCPUs", byVCPUs, "", Score{Ready: 120000, Total: 120000}, Bound{40001, 79999, false}},
		{"a power cycle pays", wide(5), "db: shape 1", Score{Cycles: 1, Total: 5}, Bound{5, 0, true}},
		{"node affinity", bound, "v1: shape 1", Score{Cycles: 1, Total: 5}, Bound{1, 4, false}},
		{"a power cycle is too dear", wide(61), "", Score{Far: 60, Total: 60}, Bound{60, 0, true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := solve(t, tt.problem, Options{})
			if s := steps(tt.problem, got); s != tt.want || got.After != tt.after || got.Bound != tt.bound {
				t.Errorf("%s, after %+v, bound %+v; want %s, %+v, %+v", s, got.After, got.Bound, tt.want, tt.after, tt.bound)
			}
		})
	}
	t.Run("an exchange without a third host", func(t *testing.T) {
		p := exchange()
		p.Hosts[2].Closed = true
		got := solve(t, p, Options{})
		want := []string{
			"no move and no shape was found that gains more than it costs",
			"a better distribution was found (0 B remote, 0 B far, 0.00 cores short, total 2), but the search found no order of moves to it in which each finds room: other limits, such as --stay, may find one",
		}
		if got.Steps != nil || !slices.Equal(got.Notes, want) || got.After.String() != "40 MB remote, 0 B far, 4.00 cores short, total 40040" {
			t.Errorf("%v, %q, %s; want no steps, %q", got.Steps, got.Notes, got.After, want)
		}
	})
	t.Run("why", func(t *testing.T) {
		got := solve(t, exchange(), Options{})
		for i, want := range []string{
			"it makes room and goes on with a later step; a goes from 4.00 to 0.00 cores short; c pays: from 0.00 to 7.00 cores short",
			"its memory away from its vCPUs goes from 40 MB to 0 B",
			"c goes from 7.00 to 0.00 cores short",
		} {
			if got.Steps[i].Why != want {
				t.Errorf("step %d: %s; want %s", i, got.Steps[i].Why, want)
			}
		}
	})
}
