package move

import (
	"strings"
	"testing"

	"example.org/homenode/change/move"
	"example.org/homenode/change/move/pack"
	"example.org/homenode/change/move/plan"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/source/scenario"
)

// TestPlanNotes checks that the notes of a plan are whole sentences: what is left, what one empty host would not take, and which pages
// are to be reserved.
func TestPlanNotes(t *testing.T) {
	f, err := scenario.Read("fleet", []byte(`release 8.0U3
host esx01 nodes=2 cores=16 memory=512GB mhz=2500
vm sql01 host=esx01 vcpus=16 coresPerSocket=16 memory=64GB sched.mem.lpage.enable1GPage=TRUE reserveAll=on
vm web01 host=esx01 vcpus=16 coresPerSocket=16 memory=64GB
vm web02 host=esx01 vcpus=16 coresPerSocket=16 memory=64GB
vm web03 host=esx01 vcpus=16 coresPerSocket=16 memory=64GB
vm web04 host=esx01 vcpus=16 coresPerSocket=16 memory=64GB
`))
	if err != nil {
		t.Fatal(err)
	}
	r := rules.Run(f, rules.Options{})
	var hosts []pack.Host
	for _, name := range []string{"kvm1", "kvm2"} {
		hosts = append(hosts, pack.Host{Name: name, Nodes: []pack.Node{{ID: 0, Cores: 16, Threads: 16, Memory: 256 * numa.GiB}, {ID: 1, Cores: 16, Threads: 16, Memory: 256 * numa.GiB}}})
	}
	p, err := plan.Make(t.Context(), r, []*move.Platform{move.PlatformOf("libvirt")}, move.Options{}, hosts, plan.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	a := Fleet(nil, &Planned{Plan: p, Whole: r, Notes: []string{"a note of a reader"}}, "", func(*move.Move) []string { return nil })
	var notes []string
	for _, n := range a.Notes {
		notes = append(notes, n.Text)
	}
	all := strings.Join(notes, "\n")
	if strings.Contains(all, "%") {
		t.Errorf("found formats in the notes:\n%s", all)
	}
	for _, want := range []string{"a note of a reader", "1 more host like kvm1 would take 1 VM for which there is no room.", "by node: node 0 of kvm1 64 of 1 GB"} {
		if !strings.Contains(all, want) {
			t.Errorf("no note %q in\n%s", want, all)
		}
	}
}
