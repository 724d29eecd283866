package pack

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/homenode/numa"
)

// TestSpread: hosts are filled evenly where all VMs find room, spare hosts stay empty, VMs that are kept apart stay apart, and the fewest
// hosts that would do are stated.
func TestSpread(t *testing.T) {
	vms := func(n, vcpus int, memory numa.Bytes, groups ...string) (out []VM) {
		for i := range n {
			out = append(out, VM{Name: fmt.Sprintf("vm%d-%d", vcpus, i), Cells: []Cell{{vcpus, memory}}, Groups: groups})
		}
		return out
	}
	hosts := func(n int) (out []Host) {
		for i := range n {
			node := Node{Cores: 32, Threads: 64, Memory: 256 * numa.GiB}
			second := node
			second.ID = 1
			out = append(out, Host{Name: fmt.Sprintf("kvm%d", i+1), Nodes: []Node{node, second}})
		}
		return out
	}
	for _, tt := range []struct {
		name            string
		p               Problem
		tightest, spare int
		least, most     int // vCPUs of a host that is not spare
		left            int
	}{
		{"40 small VMs on 8 hosts", Problem{VMs: vms(40, 2, 4*numa.GiB), Hosts: hosts(8)}, 2, 0, 10, 10, 0},
		{"one host may fail", Problem{VMs: vms(40, 2, 4*numa.GiB), Hosts: hosts(8), Policy: Policy{Spare: 1}}, 2, 1, 10, 12, 0},
		{"kept apart", Problem{VMs: vms(8, 2, 4*numa.GiB, "dc"), Hosts: hosts(8)}, 8, 0, 2, 2, 0},
		{"by memory", Problem{VMs: append(vms(4, 4, 128*numa.GiB), vms(8, 8, 8*numa.GiB)...), Hosts: hosts(4)}, 2, 0, 20, 20, 0},
		{"one VM finds no host", Problem{VMs: append(vms(16, 2, 4*numa.GiB), vms(1, 32, 300*numa.GiB)...), Hosts: hosts(4)}, 1, 0, 8, 8, 1},
		{"a third VM of a group finds no room", Problem{VMs: append(vms(3, 8, 16*numa.GiB, "sql"), vms(16, 2, 4*numa.GiB)...), Hosts: hosts(2)}, 0, 0, 24, 24, 1},
		{"large and small", Problem{VMs: append(vms(1, 32, 8*numa.GiB), vms(16, 2, 4*numa.GiB)...), Hosts: hosts(2)}, 1, 0, 32, 32, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			plan, err := Make(context.Background(), &tt.p)
			if err != nil {
				t.Fatal(err)
			}
			if faults := recheck(&tt.p, plan); len(faults) > 0 {
				t.Fatal(faults)
			}
			if plan.Tightest != tt.tightest || plan.Left != tt.left || len(plan.Spare) != tt.spare {
				t.Errorf("at least %d hosts, %d VMs left, %d spare: want %d, %d, %d", plan.Tightest, plan.Left, len(plan.Spare), tt.tightest, tt.left, tt.spare)
			}
			empty := 0
			for _, h := range plan.Hosts {
				vcpus := 0
				for _, n := range h.Nodes {
					vcpus += n.VCPUs
				}
				if vcpus == 0 {
					empty++
				} else if vcpus < tt.least || vcpus > tt.most {
					t.Errorf("%s has %d vCPUs, want %d to %d", h.Host, vcpus, tt.least, tt.most)
				}
			}
			if empty != tt.spare {
				t.Errorf("%d hosts are empty, want %d", empty, tt.spare)
			}
		})
	}
}

// TestEvenNodes: almost no VM of one cell lies on a node with more vCPUs than CPUs while another node of its host has the CPUs and the memory for it.
func TestEvenNodes(t *testing.T) {
	random := rand.New(rand.NewPCG(17, 30))
	over, checked := 0, 0
	for range 40 {
		host := Host{Name: "kvm1"}
		for id := range 4 {
			host.Nodes = append(host.Nodes, Node{ID: id, Cores: 12, Threads: 12, Memory: 256 * numa.GiB})
		}
		p := Problem{Hosts: []Host{host}, Policy: Policy{Overcommit: map[string]float64{"": 3}}}
		for vcpus := 0; vcpus < 44; {
			c := Cell{1 + random.IntN(10), numa.Bytes(1+random.IntN(90)) * numa.GiB}
			vcpus += c.VCPUs
			p.VMs = append(p.VMs, VM{Name: fmt.Sprint("vm", len(p.VMs)), Cells: []Cell{c}})
		}
		plan, err := Make(context.Background(), &p)
		if err != nil {
			t.Fatal(err)
		}
		vcpus, left := make([]int, 4), slices.Repeat([]numa.Bytes{256 * numa.GiB}, 4)
		for i, v := range plan.VMs {
			if v.Host == 0 {
				vcpus[v.Cells[0].Node] += p.VMs[i].Cells[0].VCPUs
				left[v.Cells[0].Node] -= p.VMs[i].Cells[0].Memory
			}
		}
		for i, v := range plan.VMs {
			for n := range 4 {
				if c := p.VMs[i].Cells[0]; v.Host == 0 && vcpus[v.Cells[0].Node] > 12 && vcpus[n]+c.VCPUs <= 12 && left[n] >= c.Memory {
					over++
					t.Logf("%v of node %d, of %v vCPUs, would fit node %d with %v left", c, v.Cells[0].Node, vcpus, n, left[n])
				}
			}
		}
		checked += len(plan.VMs)
	}
	if over > 2 || checked < 200 { // 35 without shift
		t.Errorf("%d of %d VMs would fit a node with free CPUs", over, checked)
	}
}
