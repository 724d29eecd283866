package pack

import (
	"context"
	"fmt"
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
