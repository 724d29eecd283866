package binpack

import "slices"

// A Model is bins, and things that go to them. It does not change.
type Model struct {
	Bins   []Size // what each offers; math.MaxInt64/2 of what does not count
	Things []Size
	Groups [][]int32 // by thing: those that it is of; no two things of one group share a bin
}

// groups returns how many there are.
func (m *Model) groups() (n int32) {
	for _, list := range m.Groups {
		for _, g := range list {
			n = max(n, g+1)
		}
	}
	return n
}

// A Packing says which bin each thing is in. It may begin with bins that have too much.
type Packing struct {
	*Model
	In   []int32   // by thing: its bin; -1 for none
	On   [][]int32 // by bin: its things, ascending
	Left []Size    // by bin

	// Back takes back what Try tried: the thing was there, and lay there so.
	Back func(thing int32, bin int, how int32)

	count  [][]int16 // by bin and group: things
	seen   []int16   // scratch of Over, by group
	tries  int
	moves  []move
	values []value
}

// A move is where a thing was.
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

// Put moves a thing to a bin, -1 for none. how is what Back is told of the place that it leaves.
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

// Set changes a number that belongs to the packing.
func (p *Packing) Set(at *int64, to int64) {
	if p.tries > 0 {
		p.values = append(p.values, value{at, *at})
	}
	*at = to
}

// Trying reports whether what is done now may be taken back.
func (p *Packing) Trying() bool { return p.tries > 0 }

// Try does something. Where it reports false, all that it Put and Set is taken back, the last first. It returns what do does.
func (p *Packing) Try(do func() bool) bool {
	moves, values := len(p.moves), len(p.values)
	p.tries++
	ok := do()
	tries := p.tries
	p.tries = 0 // what is taken back is not noted
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

// Apart reports whether a bin has nothing that a thing is to be apart from, out aside.
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

// Room reports whether a bin has room for the things in after those of out have left it. A bin that has too much may have as
// much as it has.
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
	return left.CPU >= min(0, p.Left[bin].CPU) && left.Mem >= min(0, p.Left[bin].Mem)
}

// Over returns what a bin with these things has too much, and how many pairs of them are not apart.
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
	return Size{max(0, -left.CPU), max(0, -left.Mem)}, pairs
}

// Emptiest returns the bin that has most memory left, of those that take a thing and have left what it takes; -1 for none.
func Emptiest(left []Size, thing Size, takes func(bin int) bool) int {
	best := -1
	for b, l := range left {
		if l.CPU >= thing.CPU && l.Mem >= thing.Mem && (best < 0 || l.Mem > left[best].Mem) && takes(b) {
			best = b
		}
	}
	return best
}

// Plus returns the sum of two sizes.
func (s Size) Plus(o Size) Size { return Size{s.CPU + o.CPU, s.Mem + o.Mem} }

// Less returns the rest of a size.
func (s Size) Less(o Size) Size { return Size{s.CPU - o.CPU, s.Mem - o.Mem} }

// Times returns so many of a size.
func (s Size) Times(n int) Size { return Size{s.CPU * int64(n), s.Mem * int64(n)} }
