package diff

import (
	"slices"

	"example.org/homenode/internal/match"
	"example.org/homenode/numa"
)

// pairs are the objects that are in both fleets.
type pairs struct {
	pairs      [][2]int          // indexes in A and B
	b          map[string]string // ID in B of an ID in A
	a          map[string]string
	hasA, hasB []bool
}

// An identity contains the keys for matching objects.
type identity struct{ id, uuid, name string }

// pair matches objects by ID, then UUID, then name, each where it is unique in both. IDs of two
// vCenters may coincide: IDs are ignored if the UUIDs are known and differ.
func pair(a, b []identity) *pairs {
	keys := func(all []identity) [][]string {
		out := make([][]string, len(all))
		for i, one := range all {
			out[i] = []string{one.id, one.uuid, one.name}
		}
		return out
	}
	p := &pairs{a: map[string]string{}, b: map[string]string{}, hasA: make([]bool, len(a)), hasB: make([]bool, len(b))}
	p.pairs = match.Pairs(keys(a), keys(b), func(round, i, j int) bool {
		return round == 0 && a[i].uuid != "" && b[j].uuid != "" && a[i].uuid != b[j].uuid
	})
	for _, one := range p.pairs {
		i, j := one[0], one[1]
		p.hasA[i], p.hasB[j] = true, true
		p.b[a[i].id], p.a[b[j].id] = b[j].id, a[i].id
	}
	return p
}

// name returns a name for an object of side 0 (A) or 1 (B) that is the same on both sides.
func (p *pairs) name(id string, side int) string {
	if side == 0 {
		if b, ok := p.b[id]; ok {
			return "both " + b
		}
		return "a " + id
	}
	if _, ok := p.a[id]; ok {
		return "both " + id
	}
	return "b " + id
}

// inB returns the ID in B of the object of A; "" if B does not have it.
func (p *pairs) inB(id string) string { return p.b[id] }

// same reports whether both IDs refer to the same object, or to none.
func (p *pairs) same(a, b string) bool {
	return a == "" && b == "" || a != "" && b != "" && p.b[a] == b
}

// inOrder pairs the objects of two states of one fleet: each has the same ID and UUID as the one at its place. nil if not all have.
func inOrder(a, b []identity) *pairs {
	if !slices.Equal(a, b) {
		return nil
	}
	p := &pairs{a: make(map[string]string, len(a)), hasA: slices.Repeat([]bool{true}, len(a))}
	p.b, p.hasB = p.a, p.hasA
	for i := range a {
		p.pairs, p.a[a[i].id] = append(p.pairs, [2]int{i, i}), a[i].id
	}
	return p
}

func matchVMs(a, b *numa.Fleet) *pairs {
	ids := func(f *numa.Fleet) []identity {
		out := make([]identity, len(f.VMs))
		for i := range f.VMs {
			out[i] = identity{id: f.VMs[i].ID, uuid: f.VMs[i].UUID}
		}
		return out
	}
	if p := inOrder(ids(a), ids(b)); p != nil {
		return p
	}
	of := func(f *numa.Fleet) []identity {
		out := make([]identity, len(f.VMs))
		for i := range f.VMs {
			v := &f.VMs[i]
			out[i] = identity{v.ID, v.UUID, f.ClusterName(v.Cluster) + "/" + v.Name}
		}
		return out
	}
	return pair(of(a), of(b))
}

func matchHosts(a, b *numa.Fleet) *pairs {
	of := func(f *numa.Fleet) []identity {
		out := make([]identity, len(f.Hosts))
		for i := range f.Hosts {
			h := &f.Hosts[i]
			out[i] = identity{h.ID, "", f.ClusterName(h.Cluster) + "/" + h.Name}
		}
		return out
	}
	return pair(of(a), of(b))
}

// alone returns the names of the objects that the other fleet does not have. Objects without a
// name are ignored.
func alone[T any](matched []bool, all []T, name func(*T) string) (out []string) {
	for i := range all {
		if matched[i] {
			continue
		}
		if s := name(&all[i]); s != "" {
			out = append(out, s)
		}
	}
	return out
}
