package overlap

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
	"example.org/homenode/rules/rule"
)

// TestGroups checks that groups joins what a plain search joins: VMs that reach each
// other over shared PCPUs, in the order of the fleet, and nothing else.
func TestGroups(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		var vms []*rule.VM
		for i := range r.IntN(12) {
			set := make([]int, r.IntN(5))
			for j := range set {
				set[j] = r.IntN(30)
			}
			v := &numa.VM{Name: fmt.Sprint(i), Config: numa.Config{CPUAffinity: numa.ReadAt(set, "")}}
			vms = append(vms, &rule.VM{VM: v, Guest: vnuma.Guest{VCPUs: 2}})
		}
		var got []string
		for _, g := range groups(vms) {
			names := ""
			for _, v := range g.vms {
				names += v.Name + " "
			}
			got = append(got, fmt.Sprint(names, g.pcpus, g.vcpus))
		}
		if want := plainGroups(vms); !slices.Equal(got, want) {
			t.Fatalf("groups:\n got %q\nwant %q", got, want)
		}
	}
}

// plainGroups widens each VM's PCPUs until nothing more touches them.
func plainGroups(vms []*rule.VM) []string {
	type found struct {
		first int
		text  string
	}
	var out []found
	done := map[*rule.VM]bool{}
	for _, v := range vms {
		pcpus := vnuma.PinnedPCPUs(v.VM)
		if done[v] || len(pcpus) == 0 {
			continue
		}
		in := map[*rule.VM]bool{v: true}
		for grown := true; grown; {
			grown = false
			for _, w := range vms {
				list := vnuma.PinnedPCPUs(w.VM)
				if in[w] || !slices.ContainsFunc(list, func(c int) bool { return slices.Contains(pcpus, c) }) {
					continue
				}
				in[w], grown = true, true
				pcpus = append(pcpus, list...)
			}
		}
		slices.Sort(pcpus)
		pcpus = slices.Compact(pcpus)
		names, n := "", 0
		for _, w := range vms {
			if in[w] {
				done[w] = true
				names, n = names+w.Name+" ", n+2
			}
		}
		out = append(out, found{pcpus[0], fmt.Sprint(names, pcpus, n)})
	}
	slices.SortFunc(out, func(a, b found) int { return a.first - b.first })
	var texts []string
	for _, f := range out {
		texts = append(texts, f.text)
	}
	return texts
}
