package lab_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/source/demo"
	"example.org/homenode/source/vsphere"
	"example.org/homenode/source/vsphere/lab"
)

// TestDemo serves the demo fleet and judges what vsphere reads from it: the same
// findings as of the scenario, word by word. Only positions and origins may
// differ, for the one was read from a file and the other over the API.
func TestDemo(t *testing.T) {
	want, err := demo.Fleet()
	if err != nil {
		t.Fatal(err)
	}
	for i := range want.VMs {
		want.VMs[i].Observed = nil // an inventory holds no observations
	}
	vc, err := lab.Start(want)
	if err != nil {
		t.Fatal(err)
	}
	defer vc.Close()
	got, err := vsphere.Read(t.Context(), vc.URL, vsphere.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Hosts) != len(want.Hosts) || len(got.VMs) != len(want.VMs) || len(got.Clusters) != len(want.Clusters) || got.Notes != nil {
		t.Errorf("read %d hosts, %d VMs, %d clusters; want %d, %d, %d; notes %v",
			len(got.Hosts), len(got.VMs), len(got.Clusters), len(want.Hosts), len(want.VMs), len(want.Clusters), got.Notes)
	}
	g, w := judged(got), judged(want)
	if len(w) == 0 {
		t.Fatal("the demo has no findings")
	}
	for i := range max(len(g), len(w)) {
		if i >= len(g) || i >= len(w) || g[i] != w[i] {
			t.Fatalf("finding %d of %d and %d:\n got %s\nwant %s", i+1, len(g), len(w), line(g, i), line(w, i))
		}
	}
}

// judged returns the findings of the rules as lines, without positions and origins.
// A message that names the first VMs names them in the order of the source, which
// is by ID for a vCenter.
func judged(f *numa.Fleet) []string {
	slices.SortFunc(f.VMs, func(a, b numa.VM) int { return cmp.Compare(a.ID, b.ID) })
	r := rules.Run(f, rules.Options{})
	var out []string
	for _, f := range r.Findings {
		s := fmt.Sprintf("%s %s %s (host %s): %s | %s | %s | assumes %q |", f.Rule, f.Severity, f.Subject(), f.Host, f.Message, f.Advice, f.Notice, f.Assumes)
		for _, e := range f.Evidence {
			s += fmt.Sprintf(" %s = %s,", e.Name, e.Value)
		}
		out = append(out, s)
	}
	for _, n := range r.Unjudged {
		out = append(out, "not judged: "+n.Text)
	}
	slices.Sort(out)
	return append(out, fmt.Sprintf("%d VMs, %d predictions", r.VMs, r.Pairs))
}
