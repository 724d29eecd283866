package vnuma

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Split is a division of a VM's vCPUs, in their order, into consecutive groups: the vSockets,
// VPDs or PPDs of a layout. It is a small value, so that a prediction allocates nothing. The zero
// value has no groups.
//
// The vCPUs form blocks (the VPDs of a release whose clients never cross one). Each block is filled
// with groups of one size; its last group gets the rest:
//
//	n=12 block=6 per=4   0 1 2 3 | 4 5 ‖ 6 7 8 9 | 10 11
type Split struct {
	n     int32 // vCPUs
	block int32 // vCPUs of a block; the last block may be shorter
	per   int32 // vCPUs of a group in a full block
	last  int32 // vCPUs of a group in the shorter last block
}

// fill divides n vCPUs into groups of per; the last gets the remainder. This is fill(N, s) of the rule book, B-6.
func fill(n, per int32) Split {
	if per <= 0 || per > n {
		per = n
	}
	return Split{n, n, per, per}
}

// evenShare returns the size of the groups when n vCPUs spread evenly over the
// fewest groups of at most limit: ceil(n / ceil(n / limit)), rule book B-5.
func evenShare(n, limit int32) int32 {
	if n <= 0 || limit <= 0 {
		return n
	}
	return ceilDiv(n, ceilDiv(n, limit))
}

// within divides each group of s evenly into the fewest groups of at most limit,
// so that no group crosses a border of s. s must be the result of fill.
func (s Split) within(limit int32) Split {
	if s.per <= limit {
		return s
	}
	rest := s.n % s.per
	return Split{s.n, s.per, evenShare(s.per, limit), evenShare(rest, limit)}
}

func ceilDiv(a, b int32) int32 { return (a + b - 1) / b }

// Len returns the number of groups.
func (s Split) Len() int {
	if s.n == 0 {
		return 0
	}
	full, rest := s.n/s.block, s.n%s.block
	k := full * ceilDiv(s.block, s.per)
	if rest > 0 {
		k += ceilDiv(rest, s.last)
	}
	return int(k)
}

// Group returns the first vCPU of group i and the number of its vCPUs.
func (s Split) Group(i int) (first, size int) {
	g := int32(i)
	perBlock := ceilDiv(s.block, s.per)
	b := min(g/perBlock, s.n/s.block)
	inBlock := g - b*perBlock
	start, length, per := b*s.block, s.block, s.per
	if b == s.n/s.block { // the shorter last block
		length, per = s.n%s.block, s.last
	}
	off := inBlock * per
	return int(start + off), int(min(per, length-off))
}

// Of returns the group of vCPU v.
func (s Split) Of(v int) int {
	b := int32(v) / s.block
	per := s.per
	if b == s.n/s.block {
		per = s.last
	}
	return int(b*ceilDiv(s.block, s.per) + int32(v)%s.block/per)
}

// Sizes returns the number of vCPUs of each group.
func (s Split) Sizes() []int {
	sizes := make([]int, s.Len())
	for i := range sizes {
		_, sizes[i] = s.Group(i)
	}
	return sizes
}

// Max returns the size of the largest group. It can be in the shorter last block:
// 22 vCPUs in VPDs of 12 + 10 and clients of at most 10 are 6 + 6 + 10.
func (s Split) Max() int {
	if s.n == 0 {
		return 0
	}
	most := int32(0)
	if s.n >= s.block {
		most = min(s.per, s.block)
	}
	if rest := s.n % s.block; rest > 0 {
		most = max(most, min(s.last, rest))
	}
	return int(most)
}

// divisor returns the largest number that divides the size of every group.
func (s Split) divisor() int {
	d := 0
	for i := range s.Len() {
		_, size := s.Group(i)
		for size > 0 {
			d, size = size, d%size
		}
	}
	return d
}

// Min returns the size of the smallest group.
func (s Split) Min() int {
	if s.n == 0 {
		return 0
	}
	least := s.n
	if s.n >= s.block {
		least = tail(s.block, s.per)
	}
	if rest := s.n % s.block; rest > 0 {
		least = min(least, tail(rest, s.last))
	}
	return int(least)
}

// tail returns the size of the last group when n vCPUs are filled in groups of per.
func tail(n, per int32) int32 {
	if r := n % per; r > 0 {
		return r
	}
	return per
}

// Even reports whether all groups have the same size.
func (s Split) Even() bool { return s.n == 0 || s.Max() == s.Min() }

// Unevenness returns the share by which the largest group exceeds an even share: 16 + 14 is 1/15 above 15.
func (s Split) Unevenness() float64 {
	return float64(s.Max()*s.Len())/float64(max(1, s.Sum())) - 1
}

// Equal reports whether s and t have the same borders.
func (s Split) Equal(t Split) bool {
	if s == t {
		return true
	}
	if s.n != t.n || s.Len() != t.Len() {
		return false
	}
	for i := range s.Len() {
		a, x := s.Group(i)
		b, y := t.Group(i)
		if a != b || x != y {
			return false
		}
	}
	return true
}

// Crosses reports whether a group of s contains vCPUs of two groups of t: a PPD that crosses a
// border of a VPD (rule book D-1).
func (s Split) Crosses(t Split) bool {
	for i := range s.Len() {
		first, size := s.Group(i)
		if t.Of(first) != t.Of(first+size-1) {
			return true
		}
	}
	return false
}

// String returns the sizes as reports print them: "16", "2 × 16" or "16 + 14".
func (s Split) String() string {
	switch {
	case s.Len() <= 1:
		return strconv.Itoa(int(s.n))
	case s.Even():
		return fmt.Sprintf("%d × %d", s.Len(), s.Max())
	}
	return SizesText(s.Sizes())
}

// SizesText formats the vCPUs of groups: "2 × 16", "16 + 14", "3 × 12 + 4"; runs of equal sizes are
// combined for readability.
func SizesText(sizes []int) string {
	var parts []string
	for i := 0; i < len(sizes); {
		j := i
		for j < len(sizes) && sizes[j] == sizes[i] {
			j++
		}
		if j-i > 1 {
			parts = append(parts, fmt.Sprintf("%d × %d", j-i, sizes[i]))
		} else {
			parts = append(parts, strconv.Itoa(sizes[i]))
		}
		i = j
	}
	if len(parts) > 6 {
		return fmt.Sprintf("%d groups of %d to %d", len(sizes), slices.Min(sizes), slices.Max(sizes))
	}
	return strings.Join(parts, " + ")
}

// Sum returns the number of vCPUs in all groups.
func (s Split) Sum() int { return int(s.n) }
