package diff

import (
	"homenode/internal/match"
	"homenode/numa"
)

// pairs are the objects that are in both fleets.
type pairs struct {
	pairs      [][2]int          // indexes in A and B
	b          map[string]string // ID in B of an ID in A
	a          map[string]string
	hasA, hasB []bool
}

// An identity is what objects are matched by.
type identity struct{ id, uuid, name string }

// pair pairs objects by ID, then UUID, then name, each where it is unique in both.
// IDs of two vCenters may coincide: where the UUIDs are known and differ, the IDs do
// not count.
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

// name returns one name for an object of side 0 (A) or 1 (B) that both sides share.
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

// inB returns the ID that the object of A has in B; "" when it is not there.
func (p *pairs) inB(id string) string { return p.b[id] }

// same reports whether both IDs mean the same object, or none.
func (p *pairs) same(a, b string) bool {
	return a == "" && b == "" || a != "" && b != "" && p.b[a] == b
}

func matchVMs(a, b *numa.Fleet) *pairs {
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

// alone returns the names of the objects that the other fleet does not have; those without a
// name do not count.
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
