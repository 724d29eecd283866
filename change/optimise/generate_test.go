package optimise

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// instance returns a small problem, the same for the same seed: VMs on hosts of two or
// three nodes, some of them wide, tight enough that most begin with remote memory or
// more demand than cores. It begins without a broken constraint.
func instance(seed uint64, vms, hosts int) *Problem {
	r := rand.New(rand.NewPCG(seed, 99))
	for {
		if p := tryInstance(r, vms, hosts); newState(newModel(p)).score().Broken == 0 {
			return p
		}
	}
}

func tryInstance(r *rand.Rand, vms, hosts int) *Problem {
	p := &Problem{NPlus1: r.IntN(3) == 0}
	for h := range hosts {
		host := Host{ID: fmt.Sprint("h", h), Name: fmt.Sprintf("esx%02d", h+1)}
		for n := range 2 {
			host.Nodes = append(host.Nodes, Node{ID: n, Cores: 8 + 2*r.IntN(3), Memory: int64(48+16*r.IntN(2)) << 10})
			host.Memory += host.Nodes[n].Memory
		}
		if p.NPlus1 {
			host.Memory = host.Memory * 7 / 4 // more than there is may be given away: room for a lost host
		}
		if r.IntN(4) == 0 {
			host.VCPUs = 48
		}
		p.Hosts = append(p.Hosts, host)
	}
	for v := range vms {
		p.VMs = append(p.VMs, someVM(r, v, hosts))
	}
	if r.IntN(2) == 0 && vms > 3 {
		p.Apart = [][]int{{0, 1}, {1, 2}}
	}
	if r.IntN(3) == 0 && vms > 5 {
		p.VMs[4].Host = p.VMs[5].Host
		p.VMs[4].Allowed, p.VMs[5].Allowed = all(hosts), all(hosts)
		p.Together = [][]int{{4, 5}}
	}
	return p
}

func someVM(r *rand.Rand, i, hosts int) VM {
	vcpus := []int{2, 4, 4, 6, 8, 12, 16}[r.IntN(7)]
	v := VM{ID: fmt.Sprintf("v%02d", i), Name: fmt.Sprintf("vm%02d", i), VCPUs: vcpus, Host: min(r.IntN(hosts), r.IntN(hosts)),
		Memory: int64(4+r.IntN(10*vcpus)) << 10 * 3 / 4, Demand: int64(2000 + 1000*r.IntN(9)), Allowed: all(hosts)}
	whole := Fit{OK: true, Managed: true, Clients: []int{vcpus}}
	half := Fit{OK: true, Managed: true, Clients: []int{vcpus / 2, vcpus / 2}}
	switch {
	case vcpus == 16:
		half.Far = v.Memory / 2 * int64(r.IntN(2)) // with CPU hot add
		v.Shapes = []Shape{{Fits: []Fit{half}}}
		if half.Far > 0 {
			half.Far = 0
			v.Shapes = append(v.Shapes, Shape{Fits: []Fit{half}})
		}
	case r.IntN(3) == 0:
		v.Shapes = []Shape{{Fits: []Fit{whole}}, {Fits: []Fit{half}}}
	case r.IntN(8) == 0:
		v.Shapes = []Shape{{Fits: []Fit{{OK: true, Clients: []int{vcpus}, Far: v.Memory / 2}}}}
	default:
		v.Shapes = []Shape{{Fits: []Fit{whole}}}
	}
	if r.IntN(8) == 0 {
		v.Allowed = []int{v.Host}
	}
	return v
}

func all(n int) (out []int) {
	for i := range n {
		out = append(out, i)
	}
	return out
}

// shuffled returns the same problem in another order of hosts, VMs and groups.
func shuffled(p *Problem, r *rand.Rand) *Problem {
	hosts, vms := r.Perm(len(p.Hosts)), r.Perm(len(p.VMs))
	out := &Problem{NPlus1: p.NPlus1, Weights: p.Weights, Hosts: make([]Host, len(hosts)), VMs: make([]VM, len(vms))}
	for i, to := range hosts {
		out.Hosts[to] = p.Hosts[i]
	}
	for i, to := range vms {
		v := p.VMs[i]
		v.Host = hosts[v.Host]
		v.Allowed = slices.Clone(v.Allowed)
		for k := range v.Allowed {
			v.Allowed[k] = hosts[v.Allowed[k]]
		}
		slices.Sort(v.Allowed)
		out.VMs[to] = v
	}
	groups := func(in [][]int) (out [][]int) {
		for _, g := range in {
			g = slices.Clone(g)
			for i := range g {
				g[i] = vms[g[i]]
			}
			r.Shuffle(len(g), func(i, j int) { g[i], g[j] = g[j], g[i] })
			out = append(out, g)
		}
		return out
	}
	out.Apart, out.Together = groups(p.Apart), groups(p.Together)
	return out
}

// solve is Solve without an error.
func solve(t testing.TB, p *Problem, o Options) *Proposal {
	t.Helper()
	out, err := Solve(t.Context(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
