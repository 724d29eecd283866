package fleet

import (
	"testing"

	"example.org/homenode/numa"
)

// TestOneVM: the advice for a name of several VMs is one that works.
func TestOneVM(t *testing.T) {
	f := &numa.Fleet{Clusters: []numa.Cluster{{ID: "c", Name: "PROD"}, {ID: "d", Name: "TEST"}}, VMs: []numa.VM{{ID: "vm-1", Name: "app", Cluster: "c"}, {ID: "vm-2", Name: "app", Cluster: "c"}}}
	if _, err := oneVM(f, "app"); err == nil || err.Error() != `2 VMs are named "app": use an ID: vm-1 (PROD), vm-2 (PROD)` {
		t.Error(err)
	}
	f.VMs[1].Cluster = "d"
	if _, err := oneVM(f, "app"); err == nil || err.Error() != `2 VMs are named "app": use CLUSTER/NAME or an ID: vm-1 (PROD), vm-2 (TEST)` {
		t.Error(err)
	}
}
