package pack

import (
	"fmt"
	"math/rand/v2"

	"example.org/homenode/numa"
)

// instance returns a small problem, the same for the same seed: hosts of one or two kinds with
// two or four nodes, a fifth of the VMs wide. Every third has too few hosts for its VMs.
func instance(seed uint64) *Problem {
	r := rand.New(rand.NewPCG(seed, 7))
	p := &Problem{}
	vms := 10 + r.IntN(11)
	for v := range vms {
		p.VMs = append(p.VMs, someVM(r, v))
	}
	if r.IntN(3) == 0 {
		p.Policy.Overcommit = map[string]float64{"": 1, "test": []float64{1.5, 2, 4}[r.IntN(3)]}
	}
	if r.IntN(3) == 0 {
		for v := range min(vms, 2+r.IntN(2)) {
			p.VMs[v].Groups = []string{"dc"}
		}
	}
	nodes, distance := 2, [][]int(nil)
	if r.IntN(4) == 0 {
		nodes, distance = 4, [][]int{{10, 12, 20, 20}, {12, 10, 20, 20}, {20, 20, 10, 12}, {20, 20, 12, 10}}
	}
	cores, memory := 16, 256
	if nodes == 4 {
		cores, memory = 10, 128
	}
	need, mem := 0, numa.Bytes(0)
	for i := range p.VMs {
		for _, c := range p.VMs[i].Cells {
			need, mem = need+c.VCPUs, mem+c.Memory
		}
	}
	hosts := max(need/(cores*nodes), int(mem/(numa.Bytes(memory*nodes)*numa.GiB)))
	if r.IntN(3) == 0 {
		hosts = max(1, hosts*2/3)
	} else {
		hosts += 2
	}
	kinds := 1 + r.IntN(2)
	for h := range hosts {
		host := Host{Name: fmt.Sprintf("kvm%02d", h+1), Distance: distance}
		for n := range nodes {
			node := Node{ID: n, Cores: cores, Threads: 2 * cores, Memory: numa.Bytes(memory) * numa.GiB, KeptMemory: 4 * numa.GiB}
			if h%2 == 1 && kinds == 2 {
				node.Cores, node.Threads, node.Memory = cores+4, 2*cores+8, node.Memory*3/4
			}
			if n == 0 && r.IntN(4) == 0 {
				node.KeptCores = 1
			}
			if r.IntN(3) == 0 {
				node.Pages = []numa.Pool{{Size: numa.GiB, Count: 16 * r.IntN(4)}}
			}
			host.Nodes = append(host.Nodes, node)
		}
		p.Hosts = append(p.Hosts, host)
	}
	if r.IntN(6) == 0 {
		p.Policy.Spare = 1
	}
	return p
}

func someVM(r *rand.Rand, i int) VM {
	v := VM{Name: fmt.Sprintf("vm%02d", i), Wave: r.IntN(3)}
	vcpus := []int{1, 2, 2, 4, 4, 6, 8, 8, 10, 12}[r.IntN(10)]
	cells := 1
	if r.IntN(5) == 0 {
		cells, vcpus = 2, 5+r.IntN(6)
	}
	memory := numa.Bytes(vcpus*(4+r.IntN(20))) * numa.GiB
	for range cells {
		v.Cells = append(v.Cells, Cell{vcpus, memory})
	}
	switch r.IntN(8) {
	case 0:
		v.Exclusive = true
	case 1, 2:
		v.Class = "test"
	}
	if r.IntN(5) == 0 {
		v.Page = numa.GiB
	}
	if cells == 2 && r.IntN(3) == 0 {
		v.Cells[1].VCPUs-- // uneven
	}
	return v
}
