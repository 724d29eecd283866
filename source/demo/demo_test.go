package demo

import (
	"strings"
	"testing"

	"homenode/numa"
)

// TestFleet holds the numbers that the documents and the film name.
func TestFleet(t *testing.T) {
	f, err := Fleet()
	if err != nil {
		t.Fatal(err)
	}
	clusters := map[string]int{} // hosts of each
	for _, h := range f.Hosts {
		clusters[f.ClusterName(h.Cluster)]++
		if !h.Nodes.Known() || !h.Memory.Known() || !h.Release.Known() {
			t.Errorf("host %s: nodes, memory or release is unknown", h.Name)
		}
	}
	templates := 0
	for _, v := range f.VMs {
		if v.Template.Value {
			templates++
		}
		if v.Host == "" || !v.VCPUs.Known() || !v.Memory.Known() || !v.Hardware.Known() {
			t.Errorf("VM %s: host, vCPUs, memory or hardware is unknown", v.Name)
		}
	}
	if len(f.Clusters) != 3 || len(f.Hosts) != 24 || len(f.VMs) != 300 || templates != 1 {
		t.Errorf("%d clusters, %d hosts, %d VMs, %d of them templates; want 3, 24, 300, 1", len(f.Clusters), len(f.Hosts), len(f.VMs), templates)
	}
	if clusters["prod-a"] != 8 || clusters["mixed"] != 8 || clusters["epyc"] != 6 || clusters[""] != 2 {
		t.Errorf("hosts of the clusters: %v", clusters)
	}
	if !strings.HasPrefix(Text, "The demo fleet: three clusters and two standalone hosts, 24 hosts and 300 VMs.") {
		t.Errorf("the text says %s", strings.SplitN(Text, "\n", 2)[0])
	}
}

// TestCapture holds that the captured hosts and VMs are those of the fleet, with its vCPUs
// and memory.
func TestCapture(t *testing.T) {
	f, err := Fleet()
	if err != nil {
		t.Fatal(err)
	}
	in, err := Capture()
	if err != nil {
		t.Fatal(err)
	}
	fleet := map[string]*numa.VM{}
	for i := range f.VMs {
		fleet[f.VMs[i].Name] = &f.VMs[i]
	}
	ticks := map[string]int{}
	err = in.Ticks(func(k *numa.Tick) error {
		ticks[k.Host]++
		for _, v := range k.VMs {
			one := fleet[v.Name]
			if one == nil || one.VCPUs.Value != v.VCPUs || one.Memory.Value != v.Size || v.Local+v.Remote > v.Size {
				t.Fatalf("VM %s on %s at %s: %d vCPUs, %s of %s; the fleet has %+v", v.Name, k.Host, k.Time, v.VCPUs, v.Local+v.Remote, v.Size, one)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	const want = 4*3600/20 + 1
	if len(ticks) != 2 || ticks["esx02.demo"] != want || ticks["epyc01.demo"] != want {
		t.Errorf("ticks %v, want %d of each", ticks, want)
	}
}
