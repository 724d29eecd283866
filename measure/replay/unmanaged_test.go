package replay_test

import (
	"testing"

	"example.org/homenode/measure/replay"
	"example.org/homenode/source/story"
)

// TestUnmanaged checks that VMs which the NUMA scheduler does not manage take their memory
// of all nodes, so that what is free there is as observed. Pages are rounded for each VM
// and node.
func TestUnmanaged(t *testing.T) {
	s, err := story.Read("pinned", []byte(`release 7.0U3
host esx01 nodes=2 cores=16 memory=256GB
vm pinned01 host=esx01 vcpus=8 memory=40GB cpuAffinity=0-7
vm db01 host=esx01 vcpus=8 memory=64GB
vm pinned02 host=esx01 vcpus=4 memory=20GB cpuAffinity=8-11
vm db02 host=esx01 vcpus=8 memory=24GB
run 1h every=20s
used esx01 node=0 memory=20GB
load * cpu=10..40% active=30%
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, all := range [][]*replay.Recorder{recorded(t, s, 0), throughFiles(t, s)} {
		res := results(t, all, s.Fleet)[0]
		for _, n := range res.Nodes {
			if e := n.Errors[replay.NodeFree]; e.Compared != 180 || e.Missed/float64(e.Compared) > 64*4096 {
				t.Errorf("node %d: free memory off by %g bytes in %d moments", n.ID, e.Missed/float64(e.Compared), e.Compared)
			}
		}
		for i := range res.VMs {
			if e := &res.VMs[i].Errors[replay.NHN]; e.Compared != 180 || e.Missed != 0 {
				t.Errorf("%s: homes %+v", res.VMs[i].Name, *e)
			}
		}
	}
}
