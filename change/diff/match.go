package diff

import "homenode/numa"

// pairs are the objects that are in both fleets.
type pairs struct {
	pairs      [][2]int          // indexes in A and B
	b          map[string]string // ID in B of an ID in A
	a          map[string]string
	hasA, hasB []bool
}

// An identity is what objects are matched by.
type identity struct{ id, uuid, name string }

// match pairs objects by ID, then UUID, then name, each where it is unique in both.
// IDs of two vCenters may coincide: where the UUIDs are known and differ, the IDs do
// not count.
func match(a, b []identity) *pairs {
	p := &pairs{a: map[string]string{}, b: map[string]string{}, hasA: make([]bool, len(a)), hasB: make([]bool, len(b))}
	for round, by := range []func(*identity) string{
		func(i *identity) string { return i.id },
		func(i *identity) string { return i.uuid },
		func(i *identity) string { return i.name },
	} {
		left, right := unique(a, p.hasA, by), unique(b, p.hasB, by)
		for i := range a {
			j, ok := right[by(&a[i])]
			if k, once := left[by(&a[i])]; !ok || !once || k != i {
				continue
			}
			if round == 0 && a[i].uuid != "" && b[j].uuid != "" && a[i].uuid != b[j].uuid {
				continue
			}
			p.pairs = append(p.pairs, [2]int{i, j})
			p.hasA[i], p.hasB[j] = true, true
			p.b[a[i].id], p.a[b[j].id] = b[j].id, a[i].id
		}
	}
	return p
}

// unique returns the index of each key that one of the unmatched objects alone has.
func unique(all []identity, matched []bool, by func(*identity) string) map[string]int {
	out := make(map[string]int, len(all))
	twice := map[string]bool{}
	for i := range all {
		key := by(&all[i])
		if matched[i] || key == "" {
			continue
		}
		if _, has := out[key]; has {
			twice[key] = true
		}
		out[key] = i
	}
	for key := range twice {
		delete(out, key)
	}
	return out
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
	return match(of(a), of(b))
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
	return match(of(a), of(b))
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
