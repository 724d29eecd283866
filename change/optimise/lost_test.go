package optimise

import (
	"strings"
	"testing"
)

// TestLostOrder: of the hosts whose failure is not survived, the one with the most memory without room is named first.
func TestLostOrder(t *testing.T) {
	p := &Problem{NPlus1: true}
	for i, name := range []string{"small", "big"} {
		memory := int64(60<<10 + i*30<<10)
		p.Hosts = append(p.Hosts, Host{ID: name, Name: name, Memory: 100 << 10, Nodes: []Node{{0, 0, 16, 100 << 10}}})
		p.VMs = append(p.VMs, VM{ID: name, Name: "of " + name, Host: i, VCPUs: 4, Memory: memory, Demand: 100, Allowed: []int{0, 1},
			Shapes: []Shape{{Fits: []Fit{{OK: true, Managed: true, Clients: []int{4}}}}}})
	}
	got := solve(t, p, Options{})
	if len(got.Unsurvived) != 2 || !strings.HasPrefix(got.Unsurvived[0], "without big ") {
		t.Errorf("%q", got.Unsurvived)
	}
}
