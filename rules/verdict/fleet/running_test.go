package fleet

import (
	"testing"

	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/source/scenario/given"
)

// TestRunningOn counts the vCPUs that run, on cores and on active threads.
func TestRunningOn(t *testing.T) {
	f := given.Fleet(t, "f", []byte(`release 8.0U3
cluster a
host h1 nodes=2 cores=16 threads=32 memory=512GB
host h2 nodes=2 cores=16 ht=off memory=512GB
vm v1 host=h1 vcpus=48
vm v2 host=h1 vcpus=16 power=off
vm v3 host=h2 vcpus=16
`))
	r := rules.Run(f, rules.Options{})
	want := map[string]Running{"h1": {48, 32, 64, 1.5, 0.75, false}, "h2": {16, 32, 32, 0.5, 0.5, false}}
	for _, h := range r.Clusters[0].Hosts {
		if got := RunningOn(r.Clusters[0], h); got != want[h.Name] {
			t.Errorf("%s: %+v, want %+v", h.Name, got, want[h.Name])
		}
	}
	if got, want := Clusters(r)[0].Running, (Running{64, 64, 96, 1, 0.67, false}); got != want {
		t.Errorf("cluster: %+v, want %+v", got, want)
	}
	f.Clusters[0].Part = &numa.Running{VMs: 9, Listed: 3}
	r = rules.Run(f, rules.Options{})
	if got := Clusters(r)[0].Running; !got.Unknown || got.PerCore != 0 {
		t.Errorf("of a part of an export: %+v", got)
	}
	c := r.Clusters[0]
	if room := c.RoomFor(c.VMs[2], &c.VMs[2].On[0]); len(room) > 0 {
		t.Errorf("of a part of an export a host has room")
	}
}
