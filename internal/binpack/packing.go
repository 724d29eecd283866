package binpack

import "slices"

// A Model is a set of bins and of things to pack. It is immutable.
type Model struct {
	Bins   []Size // capacity of each; math.MaxInt64/2 for an ignored resource
	Things []Size
	Groups [][]int32 // by thing: its groups; no two things of one group share a bin
}

// groups returns the number of groups.
func (m *Model) groups() (n int32) {
	for _, list := range m.Groups {
		for _, g := range list {
			n = max(n, g+1)
		}
	}
	return n
}

// A Packing is the assignment of things to bins. Bins may be overfull at the start.
type Packing struct {
	*Model
	In   []int32   // by thing: its bin; -1 for none
	On   [][]int32 // by bin: its things, ascending
	Left []Size    // by bin

	// Back reverts a trial: the thing was in this bin with this how.
	Back func(thing int32, bin int, how int32)

	count  [][]int16 // by bin and group: things
	seen   []int16   // scratch of Over, by group
	tries  int
	moves  []move
	values []value
}

// A move records the former bin of a thing.
type move struct{ thing, bin, how int32 }

// A value is a number before a trial changed it.
type value struct {
	at  *int64
	was int64
}

// Packing returns the empty packing of the model.
func (m *Model) Packing() *Packing {
	p := &Packing{Model: m, In: make([]int32, len(m.Things)), On: make([][]int32, len(m.Bins)), Left: slices.Clone(m.Bins), count: make([][]int16, len(m.Bins))}
	groups := m.groups()
	p.seen = make([]int16, groups)
	for b := range p.count {
		p.count[b] = make([]int16, groups)
	}
	for i := range p.In {
		p.In[i] = -1
	}
	return p
}

// Put moves a thing to a bin, -1 for none. how is passed to Back to restore the place that it leaves.
func (p *Packing) Put(thing int32, bin int, how int32) {
	was, size := p.In[thing], p.Things[thing]
	if p.tries > 0 {
		p.moves = append(p.moves, move{thing, was, how})
	}
	if was >= 0 {
		on := p.On[was]
		i := 0
		for on[i] != thing {
			i++
		}
		p.On[was] = append(on[:i], on[i+1:]...)
		p.Left[was] = p.Left[was].Plus(size)
	}
	if p.In[thing] = int32(bin); bin >= 0 {
		on := append(p.On[bin], thing)
		for i := len(on) - 1; i > 0 && on[i-1] > thing; i-- {
			on[i-1], on[i] = thing, on[i-1]
		}
		p.On[bin] = on
		p.Left[bin] = p.Left[bin].Less(size)
	}
	for _, g := range p.Groups[thing] {
		if was >= 0 {
			p.count[was][g]--
		}
		if bin >= 0 {
			p.count[bin][g]++
		}
	}
}

// Set changes a number that belongs to the packing and is reverted with it.
func (p *Packing) Set(at *int64, to int64) {
	if p.tries > 0 {
		p.values = append(p.values, value{at, *at})
	}
	*at = to
}

// Trying reports whether changes may still be reverted.
func (p *Packing) Trying() bool { return p.tries > 0 }

// Try calls do and returns its result. If that is false, all its Put and Set calls are reverted, the last first.
func (p *Packing) Try(do func() bool) bool {
	moves, values := len(p.moves), len(p.values)
	p.tries++
	ok := do()
	tries := p.tries
	p.tries = 0 // reverting is not recorded
	for i := len(p.moves) - 1; i >= moves && !ok; i-- {
		m := p.moves[i]
		p.Back(m.thing, int(m.bin), m.how)
	}
	for i := len(p.values) - 1; i >= values && !ok; i-- {
		*p.values[i].at = p.values[i].was
	}
	if p.tries = tries - 1; p.tries == 0 || !ok {
		p.moves, p.values = p.moves[:moves], p.values[:values]
	}
	return ok
}

// Apart reports whether a bin, without the things of out, contains none that thing must be apart from.
func (p *Packing) Apart(bin int, thing int32, out []int32) bool {
	for _, g := range p.Groups[thing] {
		n := p.count[bin][g]
		for _, o := range out {
			if slices.Contains(p.Groups[o], g) {
				n--
			}
		}
		if n > 0 {
			return false
		}
	}
	return true
}

// Room reports whether a bin has room for the things of in after those of out have left it. An overfull bin may stay as full as it is.
func (p *Packing) Room(bin int, in, out []int32) bool {
	left := p.Left[bin]
	for _, o := range out {
		left = left.Plus(p.Things[o])
	}
	for _, i := range in {
		if left = left.Less(p.Things[i]); !p.Apart(bin, i, out) {
			return false
		}
	}
	has := p.Left[bin]
	return left.CPU >= min(0, has.CPU) && left.Mem >= min(0, has.Mem) && left.Reserved >= min(0, has.Reserved)
}

// Over returns the excess of a bin with these things, and how many pairs of them share a group.
func (p *Packing) Over(bin int, things []int32) (over Size, pairs int64) {
	left := p.Bins[bin]
	clear(p.seen)
	for _, t := range things {
		left = left.Less(p.Things[t])
		for _, g := range p.Groups[t] {
			pairs += int64(p.seen[g])
			p.seen[g]++
		}
	}
	return Size{max(0, -left.CPU), max(0, -left.Mem), max(0, -left.Reserved)}, pairs
}

// Emptiest returns the bin with the most memory left, among those that accept the thing and have room for it; -1 for none.
func Emptiest(left []Size, thing Size, takes func(bin int) bool) int {
	best := -1
	for b, l := range left {
		if l.CPU >= thing.CPU && l.Mem >= thing.Mem && l.Reserved >= thing.Reserved && (best < 0 || l.Mem > left[best].Mem) && takes(b) {
			best = b
		}
	}
	return best
}

// Plus returns the sum of two sizes.
func (s Size) Plus(o Size) Size { return Size{s.CPU + o.CPU, s.Mem + o.Mem, s.Reserved + o.Reserved} }

// Less returns the rest of a size.
func (s Size) Less(o Size) Size { return Size{s.CPU - o.CPU, s.Mem - o.Mem, s.Reserved - o.Reserved} }

// Times returns n times the size.
func (s Size) Times(n int) Size {
	return Size{s.CPU * int64(n), s.Mem * int64(n), s.Reserved * int64(n)}
}
