package pack

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"example.org/homenode/numa"
)

// fleet returns VMs and about as many hosts as they need: two nodes of 32 cores and 512 GB. A tenth of the
// VMs is wide, some are exclusive, some have huge pages.
func fleet(vms, hosts int) *Problem {
	r := rand.New(rand.NewPCG(3, 4))
	p := &Problem{Policy: Policy{Overcommit: map[string]float64{"": 3}, Spare: 1}}
	for h := range hosts {
		host := Host{Name: fmt.Sprintf("kvm%05d", h), Distance: [][]int{{10, 21}, {21, 10}}}
		for n := range 2 {
			host.Nodes = append(host.Nodes, Node{ID: n, Cores: 32, Threads: 64, Memory: 512 * numa.GiB, KeptMemory: 8 * numa.GiB, KeptCores: 1})
		}
		p.Hosts = append(p.Hosts, host)
	}
	for i := range vms {
		vcpus := []int{1, 2, 2, 2, 4, 4, 4, 8, 8, 16}[r.IntN(10)]
		v := VM{Name: fmt.Sprintf("vm%06d", i), Wave: i / 100}
		cells := 1
		if r.IntN(10) == 0 {
			cells, vcpus = 2, 6+2*r.IntN(9)
		}
		for range cells {
			v.Cells = append(v.Cells, Cell{vcpus, numa.Bytes(vcpus*(2+r.IntN(8))) * numa.GiB})
		}
		if r.IntN(50) == 0 {
			v.Exclusive = true
		}
		if r.IntN(20) == 0 {
			v.Page = numa.GiB
		}
		p.VMs = append(p.VMs, v)
	}
	return p
}

// BenchmarkMake packs fleets; those that are short have too few hosts.
func BenchmarkMake(b *testing.B) {
	for _, bb := range []struct {
		vms, hosts int
		name       string
	}{{1000, 60, "fits"}, {10000, 500, "fits"}, {10000, 350, "short"}, {50000, 2500, "fits"}} {
		p := fleet(bb.vms, bb.hosts)
		b.Run(fmt.Sprintf("vms=%d/hosts=%d/%s", bb.vms, bb.hosts, bb.name), func(b *testing.B) {
			b.ReportAllocs()
			var plan *Plan
			for b.Loop() {
				var err error
				if plan, err = Make(b.Context(), p); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(plan.Tightest), "hosts")
			b.ReportMetric(float64(plan.Bound.Hosts), "bound")
			b.ReportMetric(float64(plan.VCPUs), "vcpus")
			b.ReportMetric(float64(plan.Bound.VCPUs), "bound-vcpus")
			b.ReportMetric(float64(plan.Left), "left")
		})
	}
}
