package fit

import (
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/homenode/esxi/placement"
	"example.org/homenode/numa"
)

// fewest searches all distributions of the items over hosts and all nodes of their
// clients for the fewest hosts.
func fewest(r *room, items []item, most int) int {
	var list []*item
	for i := range items {
		for range items[i].count {
			list = append(list, &items[i])
		}
	}
	for hosts := 1; hosts < most; hosts++ {
		bins := make([]*bin, hosts)
		for i := range bins {
			bins[i] = newBin(r)
		}
		if search(bins, list) {
			return hosts
		}
	}
	return most
}

// search places the first of the list in every way.
func search(bins []*bin, list []*item) bool {
	if len(list) == 0 {
		return true
	}
	for i, b := range bins {
		if len(b.placed) == 0 && i > 0 && len(bins[i-1].placed) == 0 {
			break // empty hosts are alike
		}
		b.placed = append(b.placed, list[0].shape)
		if homes(bins, b, list, 0, 0) {
			return true
		}
		b.placed = b.placed[:len(b.placed)-1]
	}
	return false
}

// homes places the clients of the first of the list from number c on, on nodes that are
// not in used.
func homes(bins []*bin, b *bin, list []*item, c int, used numa.NodeSet) bool {
	it := list[0]
	if c == len(it.clients) {
		return search(bins, list[1:])
	}
	one := it.clients[c]
	for n := range b.Load {
		if used&(1<<n) != 0 || int(b.Load[n])+one.vcpus > b.r.vcpus[n] || int64(one.memory) > b.Free[n] {
			continue
		}
		b.Load[n] += int64(one.vcpus)
		b.Free[n] -= int64(one.memory)
		found := homes(bins, b, list, c+1, used|1<<n)
		b.Load[n] -= int64(one.vcpus)
		b.Free[n] += int64(one.memory)
		if found {
			return true
		}
	}
	return false
}

// On small cases, where all distributions can be tried: bound ≤ fewest ≤ free ≤ … and how
// often each is met.
func TestPackIsNearFewest(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	cases, exactBound, exactFree, exactPlaced := 0, 0, 0, 0
	for range 400 {
		host := []string{"2x8c/64GB", "1x12c/96GB", "2x6c/48GB", "4x4c/64GB"}[rng.IntN(4)]
		a := &Ask{Types: []Type{typeOf(t, host)}, Options: Options{PerCore: []float64{1, 4}[rng.IntN(2)], Overhead: Overhead{Base: 100 * numa.MiB}}}
		for range 2 + rng.IntN(3) {
			s := NewShape(1+rng.IntN(9), numa.Bytes(1+rng.IntN(20))*numa.GiB)
			s.Count = 1 + rng.IntN(3)
			a.Shapes = append(a.Shapes, s)
		}
		vms := 0
		for _, s := range a.Shapes {
			vms += s.Count
		}
		if vms > 7 {
			continue // takes the search too long
		}
		res, err := Fit(t.Context(), a)
		if err != nil {
			t.Fatal(err)
		}
		m := res.Types[0].Mix
		r := roomOf(t, a.Types[0], a.Options)
		items, _, _ := r.items(a.Shapes, &a.Options)
		if slices.ContainsFunc(items, func(it item) bool { return it.spills }) || len(items) == 0 {
			continue
		}
		best := fewest(r, items, m.Free)
		if m.Bound > best || m.Free < best || m.Hosts < m.Free {
			t.Errorf("%s, %v: bound %d, fewest %d, free %d, placed %d: want this order", host, a.Shapes, m.Bound, best, m.Free, m.Hosts)
		}
		cases++
		for _, hit := range []struct {
			n     *int
			exact bool
		}{{&exactBound, m.Bound == best}, {&exactFree, m.Free == best}, {&exactPlaced, m.Hosts == best}} {
			if hit.exact {
				*hit.n++
			}
		}
	}
	t.Logf("%d cases: bound exact in %d, free in %d, as placed in %d", cases, exactBound, exactFree, exactPlaced)
	if cases < 200 || exactFree*100 < cases*95 || exactPlaced*100 < cases*80 || exactBound*100 < cases*75 {
		t.Errorf("%d cases: bound exact in %d, free in %d, as placed in %d", cases, exactBound, exactFree, exactPlaced)
	}
}

// What is packed is what placement.Place makes of it: every VM on some host, all memory local.
func TestPackIsPlaced(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		host := []string{"2x16c/256GB", "2x32c/1TB/snc2", "4x18c/1TB", "2x64c/2TB/nps4"}[rng.IntN(4)]
		o := plain()
		o.PerCore = []float64{1, 2.5}[rng.IntN(2)]
		r := roomOf(t, typeOf(t, host), o)
		var shapes []Shape
		for range 1 + rng.IntN(5) {
			s := NewShape(1+rng.IntN(40), numa.Bytes(1+rng.IntN(150))*numa.GiB)
			s.Count = 1 + rng.IntN(12)
			shapes = append(shapes, s)
		}
		items, _, never := r.items(shapes, &o)
		for _, take := range []taker{byESXi, byHand} {
			bins := r.pack(t.Context(), items, take, r.leastHosts(items))
			packed := make([]int, len(shapes))
			for _, b := range bins {
				for _, s := range b.placed {
					packed[s]++
				}
			}
			for i := range shapes {
				out := slices.ContainsFunc(never, func(m Misfit) bool { return m.Shape == shapes[i].Name })
				if !out && packed[i] != shapes[i].Count {
					t.Errorf("%s, %v: %d of shape %d are packed", host, shapes, packed[i], i)
				}
			}
		}
		for _, b := range r.pack(t.Context(), items, byESXi, r.leastHosts(items)) {
			checkBin(t, r, items, b, host)
		}
	}
}

func checkBin(t *testing.T, r *room, items []item, b *bin, host string) {
	t.Helper()
	var list []placement.Request
	var spills []bool
	for _, s := range b.placed {
		i := slices.IndexFunc(items, func(it item) bool { return it.shape == s })
		list = append(list, items[i].request)
		spills = append(spills, items[i].spills)
	}
	placed, unplaced := placement.Place(&r.host, list)
	if len(unplaced) > 0 {
		t.Errorf("%s: %d VMs are not placed", host, len(unplaced))
	}
	for i := range placed {
		p := &placed[i]
		if p.VCPUs > r.vcpus[i] || p.VCPUs != int(b.Load[i]) {
			t.Errorf("%s: node %d has %d vCPUs, packed are %d of %d", host, i, p.VCPUs, b.Load[i], r.vcpus[i])
		}
		if free, _ := p.Free(); int64(free) != b.Free[i] {
			t.Errorf("%s: node %d has %v free, packed for %v", host, i, free, numa.Bytes(b.Free[i]))
		}
		for _, c := range p.Clients {
			if c.Nowhere > 0 || c.Remote > 0 && !spills[c.Request] {
				t.Errorf("%s: client of %s has %v remote, %v nowhere", host, list[c.Request].Name, c.Remote, c.Nowhere)
			}
		}
	}
}

// First fit in every order puts a VM of 54 GB beside each of 100 GB, where no small one has room then: 5 hosts.
func TestPackLeavesLittle(t *testing.T) {
	a := &Ask{Types: []Type{typeOf(t, "1x16c/160GB")}, Options: Options{PerCore: 1}}
	for _, s := range []struct{ vcpus, memory, count int }{{8, 100, 2}, {6, 54, 4}, {2, 13, 12}} {
		shape := NewShape(s.vcpus, numa.Bytes(s.memory)*numa.GiB)
		shape.Count = s.count
		a.Shapes = append(a.Shapes, shape)
	}
	res, err := Fit(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	if m := res.Types[0].Mix; m.Hosts != 4 || m.Bound != 4 {
		t.Errorf("%d hosts, at least %d: want 4, 4", m.Hosts, m.Bound)
	}
}

// First fit in every order packs these VMs worse where a host has more memory.
func TestMoreIsNoWorse(t *testing.T) {
	a := &Ask{Types: []Type{typeOf(t, "2x18c/384GB"), typeOf(t, "2x18c/768GB"), typeOf(t, "2x18c/1152GB")}, Options: Options{Reserve: 1, PerCore: 464.0 / 264, Overhead: PublishedOverhead}}
	for _, s := range []struct{ vcpus, memory, count int }{{40, 512, 2}, {24, 384, 4}, {16, 128, 6}, {8, 64, 24}} {
		shape := NewShape(s.vcpus, numa.Bytes(s.memory)*numa.GiB)
		shape.Count = s.count
		a.Shapes = append(a.Shapes, shape)
	}
	was, whatIf := map[string]int{}, map[string]int{}
	for a.Spare = range 5 {
		r, err := Fit(t.Context(), a)
		if err != nil {
			t.Fatal(err)
		}
		total := map[string]int{}
		for _, o := range r.Types {
			total[o.Name] = o.Mix.Total
			if o.Mix.Total < was[o.Name] || a.Spare > 0 && whatIf[o.Name] != o.Mix.Total {
				t.Errorf("%d spare: %d hosts of %s; with one less %d, and its alternative %d", a.Spare, o.Mix.Total, o.Name, was[o.Name], whatIf[o.Name])
			}
		}
		if total["2x18c/1152GB"] > total["2x18c/768GB"] {
			t.Errorf("%d spare: %v: more where hosts have more memory", a.Spare, total)
		}
		was, whatIf = total, map[string]int{"2x18c/384GB": total["2x18c/384GB"], "2x18c/768GB": total["2x18c/768GB"], "2x18c/1152GB": total["2x18c/1152GB"]}
		for i, c := range Changes(t.Context(), a, r) {
			for _, m := range c.Moved {
				if i == 0 {
					whatIf[m.Type] = m.After
				}
				if c.If == "hosts with half as much memory again" && m.Type != "2x18c/384GB" && m.After > m.Before { // these hold further VMs then
					t.Errorf("%d spare: %s: %+v", a.Spare, c.If, m)
				}
			}
		}
	}
}
