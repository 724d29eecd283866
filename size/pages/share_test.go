package pages

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"example.org/homenode/numa"
	"example.org/homenode/numa/unit"
)

// TestShare divides 1 GiB of pages alike among VMs of 4 GiB on a host of two nodes.
func TestShare(t *testing.T) {
	vm := func(salt string, node int) Member {
		m := Member{Salt: salt, Image: "win", OnNode: make([]numa.Bytes, 2), Alike: 0.25}
		m.OnNode[node] = 4 * gib
		return m
	}
	for _, tt := range []struct {
		what    string
		vms     []Member
		salting Salting
		perNode bool
		want    Saving
	}{
		{"two on one node, one copy stays", []Member{vm("", 0), vm("", 0)}, AllShare, true, Saving{Alike: 1 * gib}},
		{"two on two nodes: a copy each", []Member{vm("", 0), vm("", 1)}, AllShare, true, Saving{}},
		{"one copy a host", []Member{vm("", 0), vm("", 1)}, AllShare, false, Saving{Alike: 1 * gib}},
		{"four on two nodes", []Member{vm("", 0), vm("", 0), vm("", 1), vm("", 1)}, AllShare, true, Saving{Alike: 2 * gib}},
		{"four on a host", []Member{vm("", 0), vm("", 0), vm("", 1), vm("", 1)}, AllShare, false, Saving{Alike: 3 * gib}},
		{"without salt, 1", []Member{vm("", 0), vm("", 0), vm("a", 0)}, EqualSalt, true, Saving{Alike: 1 * gib}},
		{"without salt, 2", []Member{vm("", 0), vm("", 0)}, ExplicitSalts, true, Saving{}},
		{"salts, 2", []Member{vm("a", 0), vm("a", 0), vm("b", 0)}, ExplicitSalts, true, Saving{Alike: 1 * gib}},
		{"another image", []Member{vm("", 0), {Image: "lin", OnNode: []numa.Bytes{4 * gib, 0}, Alike: 0.25}}, AllShare, true, Saving{}},
		{"zeros within a VM", []Member{{OnNode: []numa.Bytes{4 * gib, 4 * gib}, Zero: 0.25}}, ExplicitSalts, true, Saving{Zero: 2 * gib}},
		{"large pages are not shared", []Member{{OnNode: []numa.Bytes{4 * gib}, Zero: 0.25, Large: 0.75}}, AllShare, true, Saving{Zero: 256 * mib}},
	} {
		if got := Share(tt.vms, tt.salting, tt.perNode); got != tt.want {
			t.Errorf("%s: found %+v, want %+v", tt.what, got, tt.want)
		}
	}
}

// TestShareMonotone holds for any VMs: salting 0 saves no less than 1, 1 no less than 2, one
// copy a host no less than one a node; more alike saves no less, more large pages no more,
// and nothing saves more than is touched.
func TestShareMonotone(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 3000 {
		var vms []Member
		touched := numa.Bytes(0)
		for range 1 + r.IntN(6) {
			m := Member{
				Salt: []string{"", "", "a", "b"}[r.IntN(4)], Image: []string{"", "x", "y"}[r.IntN(3)],
				OnNode: []numa.Bytes{numa.Bytes(r.IntN(3)) * gib, numa.Bytes(r.IntN(3)) * gib},
				Zero:   unit.Share(r.Float64() / 2), Alike: unit.Share(r.Float64() / 2), Large: unit.Share(r.Float64()),
			}
			touched += m.OnNode[0] + m.OnNode[1]
			vms = append(vms, m)
		}
		at := func(s Salting, perNode bool) numa.Bytes { return Share(vms, s, perNode).All() }
		zero, one, two := at(AllShare, true), at(EqualSalt, true), at(ExplicitSalts, true)
		what := fmt.Sprintf("%+v", vms)
		if zero < one || one < two || two < 0 || zero > touched {
			t.Fatalf("%s: salting 0, 1, 2 save %v, %v, %v of %v", what, zero, one, two, touched)
		}
		if whole := at(AllShare, false); whole < zero || whole > touched {
			t.Fatalf("%s: one copy a host %v, a node %v", what, whole, zero)
		}
		i := r.IntN(len(vms))
		vms[i].Alike *= 1.1
		more := at(AllShare, true)
		if more < zero {
			t.Fatalf("%s: more alike saves %v, less %v", what, more, zero)
		}
		vms[i].Large = (1 + vms[i].Large) / 2
		if less := at(AllShare, true); less > more {
			t.Fatalf("%s: more large pages save %v, fewer %v", what, less, more)
		}
	}
}
