package site

import (
	"testing"

	"example.org/homenode/numa"
	"example.org/homenode/output/draw/topo"
)

// TestLocalityResident checks that memory on no node does not lower the share of local memory.
func TestLocalityResident(t *testing.T) {
	n := topo.Node{Clients: []topo.Client{{Memory: 100 * numa.GiB, Remote: 10 * numa.GiB, Nowhere: 60 * numa.GiB}}}
	if share, ok := locality(&n); !ok || share != 0.75 {
		t.Errorf("N%%L is %v, %v; want 0.75", share, ok)
	}
}
