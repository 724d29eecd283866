package rules_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
	"example.org/homenode/source/scenario"
)

// A homed is a VM with an observed home node.
type homed struct {
	home   int
	memory numa.Bytes
}

// headroomOf returns the finding about the nodes of a host with these VMs.
func headroomOf(t *testing.T, nodes int, vms []homed) *finding.Finding {
	t.Helper()
	text := fmt.Sprintf("release 7.0U3\nhost h nodes=%d cores=%d memory=%dGB\n", nodes, 16*nodes, 128*nodes)
	for i, v := range vms {
		text += fmt.Sprintf("vm v%d host=h vcpus=4 memory=%dMB power=on\n", i, v.memory/numa.MiB)
	}
	f, err := scenario.Read("x", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for i := range vms {
		o := numa.Observation{By: "esxtop", Homes: numa.ReadAt([]int{vms[i].home}, "esxtop"), Local: numa.ReadAt(vms[i].memory, "esxtop"), Remote: numa.ReadAt(numa.Bytes(0), "esxtop")}
		f.VMs[i].Observed = append(f.VMs[i].Observed, o)
	}
	for _, one := range rules.Run(f, rules.Options{}).Findings {
		if one.Rule == "H007" {
			return &one
		}
	}
	return nil
}

var freeOn = regexp.MustCompile(`(\d+) (GB|MB) on node (\d+)`)

// cures returns the memory that the advice of a finding frees on each node.
func cures(t *testing.T, f *finding.Finding) map[int]numa.Bytes {
	t.Helper()
	out := map[int]numa.Bytes{}
	for _, m := range freeOn.FindAllStringSubmatch(f.Advice, -1) {
		amount, _ := strconv.Atoi(m[1])
		node, _ := strconv.Atoi(m[3])
		out[node] = numa.Bytes(amount) * map[string]numa.Bytes{"GB": numa.GiB, "MB": numa.MiB}[m[2]]
	}
	return out
}

// freed returns the VMs with less memory on the nodes.
func freed(vms []homed, on map[int]numa.Bytes) []homed {
	out := append([]homed(nil), vms...)
	rest := maps.Clone(on)
	for i := range out {
		part := min(rest[out[i].home], out[i].memory-numa.GiB)
		out[i].memory -= part
		rest[out[i].home] -= part
	}
	return out
}

// TestHeadroomCure obeys the advice about full nodes exactly: the finding is gone. Less than that on any node is not enough.
func TestHeadroomCure(t *testing.T) {
	spills, several := 0, 0
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 7))
		nodes := 2 + 2*r.IntN(2)
		vms := make([]homed, 3*nodes+r.IntN(8))
		for i := range vms {
			vms[i] = homed{r.IntN(nodes), numa.Bytes(4+r.IntN(45)) * numa.GiB}
		}
		f := headroomOf(t, nodes, vms)
		if f == nil || strings.Contains(f.Message, "do not fit the host at all") {
			continue
		}
		cure := cures(t, f)
		if len(cure) == 0 {
			t.Fatalf("seed %d: no amount in %q", seed, f.Advice)
		}
		if left := headroomOf(t, nodes, freed(vms, cure)); left != nil {
			t.Errorf("seed %d: %q is followed, then %q", seed, f.Advice, left.Advice)
		}
		for node, amount := range cure {
			unit := numa.GiB
			if amount < unit {
				unit = numa.MiB
			}
			less := maps.Clone(cure)
			less[node] = amount - unit
			if headroomOf(t, nodes, freed(vms, less)) == nil {
				t.Errorf("seed %d: less than %q on node %d is enough", seed, f.Advice, node)
			}
		}
		if strings.Contains(f.Message, "go to other nodes") {
			spills++
		}
		if len(cure) > 1 {
			several++
		}
	}
	if spills < 20 || several < 20 {
		t.Errorf("%d hosts with memory on other nodes, %d with several full nodes", spills, several)
	}
}
