package plan_test

import (
	"testing"

	"example.org/homenode/esxi/plan"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
)

// TestRepaired: a host of the cluster, or the VM's own, that lacks memory modules on some nodes gets no VM another plan than the repaired host does.
func TestRepaired(t *testing.T) {
	machine := func(memory ...numa.Bytes) vnuma.Machine {
		h := numa.Host{Name: "h", Release: numa.ReadAt(numa.ESXi80+3, "test")}
		var list []numa.Node
		for i, m := range memory {
			list = append(list, numa.Node{ID: i, Cores: 16, Threads: 32, Memory: numa.ReadAt(m*numa.GiB, "test")})
		}
		h.Nodes = numa.ReadAt(list, "test")
		m, err := vnuma.NewMachine(&h)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	divided := false
	for _, hosts := range [][2]vnuma.Machine{
		{machine(128, 96), machine(128, 128)},
		{machine(256, 128, 128, 192), machine(256, 256, 256, 256)},
		{machine(256, 0), machine(256, 256)},
	} {
		bad, good := hosts[0], hosts[1]
		if got := bad.Repaired(); got.NodeMemory != good.NodeMemory || got.AllMemory != good.AllMemory || got.UnlikeMemory() || good.Repaired() != good {
			t.Errorf("%s is repaired to %s, want %s", bad.Shape(), got.Shape(), good.Shape())
		}
		for vcpus := int32(2); vcpus <= 40; vcpus += 2 {
			for memory := int64(32); memory <= 512; memory += 32 {
				g := vnuma.Guest{VCPUs: vcpus, CoresPerSocket: 1, AutoCPS: true, Hardware: 20, Memory: memory << 30}
				for _, pair := range [][2][]vnuma.Machine{{{bad}, {good}}, {{good, bad}, {good, good}}} {
					got, want := plan.Best(&g, pair[0], vnuma.Choices{}), plan.Best(&g, pair[1], vnuma.Choices{})
					if got.Edit != want.Edit {
						t.Errorf("%d vCPUs, %d GB on %s: %+v, and repaired %+v", vcpus, memory, bad.Shape(), got.Edit, want.Edit)
					}
					divided = divided || want.Better
				}
			}
		}
	}
	if !divided {
		t.Error("no plan is better: the VMs are too small")
	}
}
