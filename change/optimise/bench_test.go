package optimise

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// cluster returns a cluster of 32 VMs a host, on average, of two nodes with 24 cores and
// 512 GB: hosts are filled to about 85 %, unevenly, so that about every third has
// memory on other nodes.
func cluster(vms, hosts int, nplus1 bool) *Problem {
	r := rand.New(rand.NewPCG(5, 6))
	p := &Problem{NPlus1: nplus1}
	for h := range hosts {
		p.Hosts = append(p.Hosts, Host{ID: fmt.Sprintf("h%03d", h), Name: fmt.Sprintf("esx%03d", h), Memory: 1024 << 10,
			Nodes: []Node{{0, 0, 24, 512 << 10}, {1, 1, 24, 512 << 10}}})
	}
	used := make([]int64, hosts)
	for i := range vms {
		vcpus := []int{2, 2, 4, 4, 4, 8, 8, 16, 32}[r.IntN(9)]
		v := VM{ID: fmt.Sprintf("v%05d", i), Name: fmt.Sprintf("vm%05d", i), VCPUs: vcpus, Memory: int64(vcpus*(1+r.IntN(6))) << 10,
			Demand: int64(500 + r.IntN(2500)), Allowed: all(hosts)}
		f := Fit{OK: true, Managed: true, Clients: []int{vcpus}}
		v.Shapes = []Shape{{Fits: []Fit{f}}}
		if vcpus == 32 {
			v.Shapes[0].Fits[0] = Fit{OK: true, Managed: true, Clients: []int{16, 16}, Far: v.Memory / 2 * int64(r.IntN(2))}
			v.Shapes = append(v.Shapes, Shape{Fits: []Fit{{OK: true, Managed: true, Clients: []int{16, 16}}}})
		}
		for {
			v.Host = min(r.IntN(hosts), r.IntN(hosts))
			if used[v.Host]+v.Memory <= 1000<<10 {
				break
			}
		}
		used[v.Host] += v.Memory
		p.VMs = append(p.VMs, v)
	}
	return p
}

func BenchmarkSolve(b *testing.B) {
	for _, bb := range []struct {
		vms, hosts int
		nplus1     bool
	}{{100, 4, false}, {200, 7, false}, {400, 13, false}, {700, 22, false}, {1000, 32, false}, {1500, 48, false}, {2000, 64, false},
		{2400, 77, false}, {3000, 96, false}, {3200, 100, false}, {1000, 32, true}, {3200, 100, true}} {
		p := cluster(bb.vms, bb.hosts, bb.nplus1)
		b.Run(fmt.Sprintf("vms=%d/hosts=%d/nplus1=%v", bb.vms, bb.hosts, bb.nplus1), func(b *testing.B) {
			b.ReportAllocs()
			var got *Proposal
			for b.Loop() {
				got = solve(b, p, Options{})
			}
			b.ReportMetric(float64(got.Before.Total), "before")
			b.ReportMetric(float64(got.After.Total), "after")
			b.ReportMetric(float64(got.Bound.Total), "bound")
			b.ReportMetric(float64(len(got.Steps)), "steps")
		})
	}
}

// BenchmarkPlace is the inner loop: the clients of one host.
func BenchmarkPlace(b *testing.B) {
	m := newModel(cluster(1000, 32, false))
	s := newState(m)
	clients := 0
	b.ReportAllocs()
	for b.Loop() {
		for h := range m.hosts {
			s.hostCost(h, s.On[h])
			clients += len(s.On[h])
		}
	}
	b.ReportMetric(float64(clients)/b.Elapsed().Seconds(), "VMs/s")
}
