package matrix_test

import (
	"testing"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/rules"
	"example.org/homenode/rules/verdict/fleet"
	"example.org/homenode/rules/verdict/matrix"
	"example.org/homenode/source/scenario/given"
)

const mixed = `release 7.0U3
cluster mixed
host esx[01-02] nodes=2 cores=20 memory=768GB
host esx03 nodes=4 cores=10 memory=768GB
host old01 release=6.7 nodes=2 cores=20 memory=768GB
vm erp[1-2] host=esx01 vcpus=36 coresPerSocket=2 memory=256GB stored=18
vm mart host=esx03 vcpus=20 memory=96GB
vm bw host=esx02 vcpus=20 memory=96GB stored=20 hw=14
vm web[1-5] host=esx01 vcpus=4 memory=16GB
vm lost cluster=mixed vcpus=16 memory=64GB
`

// TestMatrixHome checks that each cell of home is the VM's layout, and that every VM is
// in a row or counted.
func TestMatrixHome(t *testing.T) {
	f := given.Demo(t)
	for _, c := range rules.Run(f, rules.Options{}).Clusters {
		for _, o := range []matrix.Options{{}, {Hosts: true}, {All: true}, {Event: vnuma.VMotionIn}} {
			m := matrix.Of(c, o)
			vms := m.Same
			for _, r := range m.Rows {
				vms += len(r.VMs)
				for i, cell := range r.Cells {
					home := r.VMs[0].On[0].Layout
					if home.Refused.Any() {
						if i == r.Home && cell.Mark != matrix.Absent {
							t.Errorf("%s, %s does not power on: cell %d: %s", m.Title, r.Label, i, cell.Label())
						}
					} else if (cell.Mark == matrix.Home) != (i == r.Home) || i == r.Home && *cell.Layout != home {
						t.Errorf("%s, %s: cell %d, home %d: %s", m.Title, r.Label, i, r.Home, cell.Label())
					}
				}
			}
			if vms != len(c.VMs) {
				t.Errorf("%s: %d VMs of %d", m.Title, vms, len(c.VMs))
			}
		}
	}
}

// TestMatrixAgrees: the overview counts the VMs that the matrix shows with a
// difference.
func TestMatrixAgrees(t *testing.T) {
	f := given.Demo(t)
	small := given.Fleet(t, "mixed.txtar", []byte(mixed))
	for _, r := range []*rules.Result{rules.Run(f, rules.Options{}), rules.Run(small, rules.Options{})} {
		for _, s := range fleet.Clusters(r) {
			n := 0
			for _, row := range matrix.Of(s.Of, matrix.Options{}).Rows {
				if row.Changes() {
					n += len(row.VMs)
				}
			}
			if n != s.Differing {
				t.Errorf("cluster %s: %d VMs differ by host, the matrix shows %d", s.Name, s.Differing, n)
			}
		}
	}
}
