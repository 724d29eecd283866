package fit

import (
	"fmt"
	"slices"
	"testing"

	"example.org/homenode/numa"
)

// ESXi balances vCPUs per core and then memory: of nodes of 8 and 12 cores the larger has
// four of six VMs of 3 vCPUs by the bound, but the sixth goes to the smaller, which has 6 of
// 8 taken.
func TestUnevenCores(t *testing.T) {
	ty := typeOf(t, "2x12c/384GB")
	ty.Host.Nodes.Value[0].Cores, ty.Host.Nodes.Value[0].Threads = 8, 16
	ty.Host.Cores.Value, ty.Host.Threads.Value = 20, 40
	o := Options{PerCore: 1}
	s := shapeOf(t, "3x16GB")
	// 0, 1, 1, 0, 1, and 0 again: 6/8 and 9/12 are alike, and node 0 has more memory free.
	c := roomOf(t, ty, o).count(&s, &o)
	if c.VMs != 5 || c.Bound != 6 || c.Binds != Cores {
		t.Errorf("found %d VMs, bound %d, limit %s; want 5, 6, cores", c.VMs, c.Bound, c.Binds)
	}
}

// Each failure is tried on the cluster as it is, not on what the one before left.
func TestFailuresApart(t *testing.T) {
	c := clusterOf(t, "release 8.0\ncluster a\nhost h[1-3] nodes=2 cores=16 memory=256GB\nvm v[1-4] host=h1 vcpus=8 memory=16GB\n", "a")
	r, err := c.Room(t.Context(), NewShape(8, 16*numa.GiB), 1, &Options{PerCore: 1})
	if err != nil {
		t.Fatal(err)
	}
	// Four of 8 vCPUs fit a host: two empty hosts take 8; with one host lost 8 places are
	// for 4 VMs that there are, and 4 more, whichever it is.
	if r.Total != 8 || r.WithFailed != 4 || !slices.Equal(r.Failed, []string{"h1"}) || r.Homeless != 0 {
		t.Errorf("found %d, %d without %v, %d homeless; want 8, 4 without h1, none", r.Total, r.WithFailed, r.Failed, r.Homeless)
	}
}

// VMs restart only on hosts of their cluster.
func TestFailuresWithinCluster(t *testing.T) {
	text := "release 8.0\ncluster a\nhost h[1-2] nodes=2 cores=16 memory=256GB\nvm u[1-4] host=h1 vcpus=8 memory=100GB\nvm v[1-4] host=h2 vcpus=8 memory=100GB\ncluster b\nhost k[1-4] nodes=2 cores=16 memory=256GB\nvm w host=k1 vcpus=8 memory=16GB\ncluster c\nhost m nodes=2 cores=16 memory=256GB\nvm x host=m vcpus=8 memory=16GB\n"
	var found []string
	for _, name := range []string{"a", All} {
		r, err := clusterOf(t, text, name).Room(t.Context(), NewShape(4, 16*numa.GiB), 1, &Options{PerCore: 4})
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, fmt.Sprintf("%d without %v, %d unspared", r.Homeless, r.Failed, r.Unspared))
	}
	if want := []string{"4 without [h1], 0 unspared", "4 without [h1], 1 unspared"}; !slices.Equal(found, want) {
		t.Errorf("found %q, want %q", found, want)
	}
}

// A VM that is bound to PCPUs of its host is not bound to them elsewhere.
func TestRestartUnbound(t *testing.T) {
	c := clusterOf(t, "release 8.0\ncluster a\nhost h[1-2] nodes=2 cores=16 memory=256GB\nvm pin host=h1 vcpus=8 memory=16GB cpuAffinity=0-7\n", "a")
	r, err := c.Room(t.Context(), NewShape(8, 16*numa.GiB), 1, &Options{PerCore: 1})
	if err != nil {
		t.Fatal(err)
	}
	// On h1 it takes 4 of each node, so that one more of 8 fits each; on h2 it has a node and
	// leaves three places.
	if r.WithFailed != 2 || !slices.Equal(r.Failed, []string{"h2"}) || r.Homeless != 0 {
		t.Errorf("found %d without %v, %d homeless; want 2 without h2, none", r.WithFailed, r.Failed, r.Homeless)
	}
}

// No host runs more VMs than the configuration maximum, however small they are.
func TestMostVMs(t *testing.T) {
	m := resultOf(t, askOf(t, "2x32c/1TB", Options{PerCore: 20}, "1x1MB*2100")).Types[0].Mix
	if m.Hosts != 3 || m.Free != 3 || m.Bound != 3 || m.Fillings[0].Counts[0] != maxPerHost {
		t.Errorf("found %d hosts, by hand %d, at least %d, %v; want 3 each, the first of 1024 VMs", m.Hosts, m.Free, m.Bound, m.Fillings[0].Counts)
	}
}
