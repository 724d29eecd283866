package demo

import (
	"strings"
	"testing"
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
