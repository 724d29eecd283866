package fact

import (
	"slices"
	"testing"

	"example.org/homenode/numa"
)

// TestOfFleet states values exactly, and where they come from.
func TestOfFleet(t *testing.T) {
	at := func(where string) string { return "vHost row 2 " + where }
	f := &numa.Fleet{
		Hosts: []numa.Host{{Name: "esx01", Packages: numa.ReadAt(2, at("# CPU")), HyperThreading: numa.ReadAt(true, at("HT Active")), Memory: numa.ReadAt(32764*numa.MiB, at("# Memory")),
			Nodes: numa.AssumedFor([]numa.Node{{ID: 0, Cores: 8, Threads: 16, Memory: numa.DerivedFrom(16382*numa.MiB, "")}}, "one node per package")}},
		VMs: []numa.VM{{Name: "db", Config: numa.Config{Settings: numa.ReadAt(numa.Settings{{Key: "numa.vcpu.min", Value: "4"}}, "line 3")}}},
	}
	got := OfFleet("export.xlsx", "RVTools export", f).Facts
	want := []Fact{
		{Subject: "host esx01", Name: "packages", Value: 2, Origin: "read: vHost row 2 # CPU"},
		{Subject: "host esx01", Name: "hyperThreading", Value: true, Origin: "read: vHost row 2 HT Active"},
		{Subject: "host esx01", Name: "memory", Value: int64(32764), Unit: "MiB", Origin: "read: vHost row 2 # Memory"},
		{Subject: "host esx01", Name: "node 0", Value: "8 cores, 16 threads, 16382 MiB", Origin: "assumed: one node per package"},
		{Subject: "VM db", Name: "numa.vcpu.min", Value: "4", Origin: "read: line 3"},
	}
	slices.SortStableFunc(got, func(a, b Fact) int { return index(want, a) - index(want, b) })
	if !slices.Equal(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
}

func index(list []Fact, f Fact) int {
	return slices.IndexFunc(list, func(w Fact) bool { return w.Name == f.Name })
}
