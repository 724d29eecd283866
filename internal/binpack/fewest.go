package binpack

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// A Size is the demand of a thing, or the capacity of a bin: CPU, memory, and reserved CPU, which the bounds do not need.
type Size struct{ CPU, Mem, Reserved int64 }

// A Kind is a set of equal bins.
type Kind struct {
	Nodes []Size
	Bins  int // Endless without a limit
}

// Endless is the number of bins of a kind without a limit.
const Endless = math.MaxInt

// A Batch is a set of equal things.
type Batch struct {
	Parts  []Size // each is on one node
	Things int
	Spills bool    // the memory may be on any nodes of the bin
	Groups []int32 // groups whose things may not share a bin
	On     []bool  // by kind of bin: whether it may hold the things; nil for all
}

func (b *Batch) sum() (all Size) {
	for _, p := range b.Parts {
		all = all.Plus(p)
	}
	return all
}

// Fewest returns a lower bound of the bins for the things, wherever their parts are. It is the largest of
//
//	the sum of the things ÷ the size of the largest bins, of both resources
//	things that are alike ÷ the most of them in a bin
//	parts of more than half a node, which share none, and the need of the others beside
//	them (least), of both resources, by the nodes of the largest bins
//	things of one group, each of which has its own bin
//	the need of things that only one kind of bin may hold, summed over the kinds
func Fewest(kinds []Kind, things []Batch) int {
	only := 0
	for k := range kinds {
		var list []Batch
		for _, b := range things {
			if b.On != nil && b.On[k] && !slices.Contains(b.On[:k], true) && !slices.Contains(b.On[k+1:], true) {
				list = append(list, b)
			}
		}
		only += fewest(kinds[k:k+1], list)
	}
	return max(only, fewest(kinds, things))
}

func fewest(kinds []Kind, things []Batch) (bound int) {
	var all, largest Size
	var cpu, mem, anywhere []weight // anywhere: parts that need no node with cores
	groups := map[int32]int{}
	for i := range things {
		b := &things[i]
		all = all.Plus(b.sum().Times(b.Things))
		for _, g := range b.Groups {
			groups[g] += b.Things
			bound = max(bound, min(groups[g], bins(kinds)))
		}
		for _, p := range b.Parts {
			if p.CPU > 0 {
				cpu = append(cpu, weight{p.CPU, b.Things})
			}
			if p.Mem > 0 && !b.Spills {
				anywhere = append(anywhere, weight{p.Mem, b.Things})
				if p.CPU > 0 {
					mem = append(mem, weight{p.Mem, b.Things})
				}
			}
		}
		if !b.Spills {
			bound = max(bound, need(kinds, int64(b.Things), func(k *Kind) int64 { return int64(k.Most(b)) }))
		}
	}
	core := Size{}
	for i := range kinds {
		for _, n := range kinds[i].Nodes {
			if largest.CPU, largest.Mem = max(largest.CPU, n.CPU), max(largest.Mem, n.Mem); n.CPU > 0 {
				core.Mem = max(core.Mem, n.Mem)
			}
		}
	}
	withCores := func(k *Kind) (n int64) {
		for _, one := range k.Nodes {
			n += min(1, one.CPU)
		}
		return n
	}
	return max(bound,
		need(kinds, all.CPU, func(k *Kind) int64 { return k.sum().CPU }), need(kinds, all.Mem, func(k *Kind) int64 { return k.sum().Mem }),
		need(kinds, int64(least(cpu, largest.CPU)), withCores), need(kinds, int64(least(mem, core.Mem)), withCores),
		need(kinds, int64(least(anywhere, largest.Mem)), func(k *Kind) int64 { return int64(len(k.Nodes)) }))
}

func (k *Kind) sum() Size { b := Batch{Parts: k.Nodes}; return b.sum() }

// bins returns the number of bins.
func bins(kinds []Kind) (n int) {
	for i := range kinds {
		n = max(n, n+min(kinds[i].Bins, Endless-n))
	}
	return n
}

// need returns how many bins, the largest first, offer so much together; all bins if they do not.
func need(kinds []Kind, so int64, of func(*Kind) int64) (n int) {
	list := slices.Clone(kinds)
	slices.SortStableFunc(list, func(a, b Kind) int { return cmp.Compare(of(&b), of(&a)) })
	for i := range list {
		each := of(&list[i])
		if so <= 0 || each <= 0 {
			break
		}
		k := min(Ceil(so, each), int64(list[i].Bins))
		so, n = so-k*each, n+int(k)
	}
	if so > 0 {
		return bins(kinds)
	}
	return n
}

// Most returns an upper bound of the number of the batch's things in a bin. m things of k parts, each on another node, put
// at most m of the smallest parts on a node, as far as they fit; all nodes together must hold k·m.
func (k *Kind) Most(b *Batch) int {
	least := Size{CPU: math.MaxInt64, Mem: math.MaxInt64}
	for _, p := range b.Parts {
		least = Size{CPU: min(least.CPU, p.CPU), Mem: min(least.Mem, p.Mem)}
	}
	var room Size
	var holds []int64 // by node: the smallest parts
	for _, n := range k.Nodes {
		if n.CPU > 0 || least.CPU == 0 {
			room = room.Plus(n)
			holds = append(holds, n.over(least))
		}
	}
	parts := int64(len(b.Parts))
	apart := len(b.Parts) <= len(holds)
	most := int(min(int64(b.Things), room.over(b.sum())))
	return sort.Search(most, func(i int) bool {
		m, sum := int64(i+1), int64(0)
		for _, n := range holds {
			if apart {
				n = min(n, m)
			}
			sum += min(n, parts*m) // more are useless
		}
		return sum < parts*m
	})
}

// over returns how often o fits into s.
func (s Size) over(o Size) int64 {
	n := int64(math.MaxInt64)
	if o.CPU > 0 {
		n = s.CPU / o.CPU
	}
	if o.Mem > 0 {
		n = min(n, s.Mem/o.Mem)
	}
	return n
}
