package optimise

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// TestKept holds on generated problems what a proposal promises: no step breaks a
// constraint or lacks room, the scores are those of the steps, nothing gets worse, the
// bound is none above it, and order and number of processors change nothing.
func TestKept(t *testing.T) {
	steps, temporary, reshapes := 0, 0, 0
	for seed := range uint64(300) {
		p := instance(seed, 4+int(seed%9), 2+int(seed%2))
		o := Options{Seed: seed, Starts: 2, Rounds: 60}
		got := solve(t, p, o)
		follow(t, seed, p, got)
		if got.After.Total > got.Before.Total || got.Bound.Total > got.After.Total || got.Bound.Gap != got.After.Total-got.Bound.Total {
			t.Errorf("seed %d: before %d, after %d, bound %+v", seed, got.Before.Total, got.After.Total, got.Bound)
		}
		if again := solve(t, p, o); !reflect.DeepEqual(again, got) {
			t.Errorf("seed %d: a second run proposes something else", seed)
		}
		other := solve(t, shuffled(p, rand.New(rand.NewPCG(seed, 3))), o)
		if other.Before != got.Before || other.After != got.After || other.Bound != got.Bound || len(other.Steps) != len(got.Steps) {
			t.Errorf("seed %d: in another order %+v, %+v; want %+v, %+v", seed, other.Before, other.After, got.Before, got.After)
		}
		steps += len(got.Steps)
		moves := 0
		for _, s := range got.Steps {
			if s.Shape >= 0 {
				reshapes++
			} else {
				moves++
			}
			if s.Temporary {
				temporary++
			}
		}
		note := fmt.Sprintf("%d of the %d vMotions only make room", moves-int(got.After.Moves), moves)
		if strings.Contains(strings.Join(got.Notes, "\n"), note) != (moves > int(got.After.Moves)) {
			t.Errorf("seed %d: %d vMotions, %d of them counted: %q", seed, moves, got.After.Moves, got.Notes)
		}
	}
	if steps < 300 || temporary == 0 || reshapes == 0 {
		t.Errorf("%d steps, %d of them temporary, %d reshapes: too few to show anything", steps, temporary, reshapes)
	}
}

// TestKeptWide does the same on larger problems, which begin with broken constraints:
// none is broken more after any step.
func TestKeptWide(t *testing.T) {
	mended := 0
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 7))
		p := tryInstance(r, 40, 6)
		p.NPlus1 = false
		p.Apart = [][]int{{0, 1, 2, 3}, {3, 6, 7}}
		got := solve(t, p, Options{Seed: seed, Starts: 2, Rounds: 100})
		last := got.Before.Broken
		for i, s := range got.Steps {
			// A group that comes together may be apart on the way.
			if s.After.Broken > last+1 {
				t.Errorf("seed %d: step %d breaks %d, before it %d", seed, i, s.After.Broken, last)
			}
			last = s.After.Broken
		}
		if got.After.Broken > got.Before.Broken || got.After.Broken == got.Before.Broken && got.After.Total > got.Before.Total {
			t.Errorf("seed %d: before %s, after %s", seed, got.Before, got.After)
		}
		if got.After.Broken < got.Before.Broken {
			mended++
		}
		other := solve(t, shuffled(p, r), Options{Seed: seed, Starts: 2, Rounds: 100})
		if other.After != got.After {
			t.Errorf("seed %d: in another order %s, want %s", seed, other.After, got.After)
		}
	}
	if mended != 30 {
		t.Errorf("%d of 30 problems are mended in part or in whole, want 30", mended)
	}
}

// follow does the steps one by one with arithmetic of its own.
func follow(t *testing.T, seed uint64, p *Problem, got *Proposal) {
	t.Helper()
	host, shape := make([]int, len(p.VMs)), make([]int, len(p.VMs))
	for v := range p.VMs {
		host[v] = p.VMs[v].Host
	}
	kept := survivors(p, host, shape)
	for i, s := range got.Steps {
		if s.From != host[s.VM] {
			t.Fatalf("seed %d: step %d leaves host %d, but the VM is on %d", seed, i, s.From, host[s.VM])
		}
		host[s.VM] = s.To
		if s.Shape >= 0 {
			shape[s.VM] = s.Shape
		}
		last := i == len(got.Steps)-1
		if text := brokenBy(p, host, shape, last); text != "" {
			t.Errorf("seed %d: after step %d of %d: %s", seed, i, len(got.Steps), text)
		}
		for h, ok := range survivors(p, host, shape) {
			if p.NPlus1 && kept[h] && !ok {
				t.Errorf("seed %d: after step %d the loss of host %d is not survived any more", seed, i, h)
			}
		}
	}
	if n := len(got.Steps); n > 0 && got.Steps[n-1].After != got.After {
		t.Errorf("seed %d: the last step reaches %+v, want %+v", seed, got.Steps[n-1].After, got.After)
	}
	m := newModel(p)
	s := newState(m)
	for i, v := range m.vmAt {
		for h, at := range m.hostAt {
			if at == host[v] {
				s.set(int32(i), h, int16(shape[v]))
			}
		}
	}
	s.recount()
	if score := s.score(); score != got.After || score.Total != s.total {
		t.Errorf("seed %d: the steps reach %+v (%d), want %+v", seed, score, s.total, got.After)
	}
}

// brokenBy says which constraint a distribution breaks; together is asked at the end.
func brokenBy(p *Problem, host, shape []int, end bool) string {
	for h := range p.Hosts {
		memory, vcpus := int64(0), int64(0)
		for v := range p.VMs {
			if host[v] != h {
				continue
			}
			memory += p.VMs[v].Memory
			vcpus += int64(p.VMs[v].VCPUs)
			allowed := false
			for _, a := range p.VMs[v].Allowed {
				allowed = allowed || a == h
			}
			if !allowed || !p.VMs[v].Shapes[shape[v]].Fits[p.Hosts[h].Kind].OK {
				return "a VM is where it may not be"
			}
		}
		if memory > p.Hosts[h].Memory || p.Hosts[h].VCPUs > 0 && vcpus > p.Hosts[h].VCPUs {
			return "a host has too much"
		}
	}
	for _, g := range p.Apart {
		for _, a := range g {
			for _, b := range g {
				if a != b && host[a] == host[b] {
					return "VMs are not apart"
				}
			}
		}
	}
	for _, g := range p.Together {
		for _, v := range g {
			if end && host[v] != host[g[0]] {
				return "VMs are not together"
			}
		}
	}
	return ""
}

// survivors reports for each host whether its VMs find room on the others, by trying
// all ways.
func survivors(p *Problem, host, shape []int) []bool {
	out := make([]bool, len(p.Hosts))
	for x := range p.Hosts {
		memory, vcpus := make([]int64, len(p.Hosts)), make([]int64, len(p.Hosts))
		var lost []int
		for v := range p.VMs {
			if host[v] == x {
				lost = append(lost, v)
			} else {
				memory[host[v]] += p.VMs[v].Memory
				vcpus[host[v]] += int64(p.VMs[v].VCPUs)
			}
		}
		var fill func(i int) bool
		fill = func(i int) bool {
			if i == len(lost) {
				return true
			}
			v := &p.VMs[lost[i]]
			for _, h := range v.Allowed {
				if h == x || memory[h]+v.Memory > p.Hosts[h].Memory || p.Hosts[h].VCPUs > 0 && vcpus[h]+int64(v.VCPUs) > p.Hosts[h].VCPUs {
					continue
				}
				memory[h] += v.Memory
				vcpus[h] += int64(v.VCPUs)
				if fill(i + 1) {
					return true
				}
				memory[h] -= v.Memory
				vcpus[h] -= int64(v.VCPUs)
			}
			return false
		}
		out[x] = fill(0)
	}
	return out
}
