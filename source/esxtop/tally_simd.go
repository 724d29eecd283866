//go:build goexperiment.simd && amd64

package esxtop

import (
	"math/bits"
	"simd/archsimd"
)

// wide reports whether the processor compares 64 bytes at once, and packs them.
var wide = archsimd.X86.AVX512() && archsimd.X86.AVX512VBMI2()

// places are the places of the bytes of a block.
var places = func() (p [64]uint8) {
	for i := range p {
		p[i] = uint8(i)
	}
	return p
}()

// seek is seekPlain in one pass over each byte, without an expected distance:
//
//	,"0.00","1.25",…   block of 64 bytes
//	.x....x.x....x.    its quotes, as bits: fewer than are due, so take them off and go on,
//	 1    6 8    13    or pack their places and take the one that is due
//
// It gives up not only at a line end but at any byte below one.
func seek(b []byte, p, end, width, quotes, commas int) int {
	if !wide {
		return seekPlain(b, p, end, width, quotes, commas)
	}
	const block = 64
	quote, comma, line := archsimd.BroadcastUint8x64('"'), archsimd.BroadcastUint8x64(','), archsimd.BroadcastUint8x64('\n')
	least := quote
	// Phase 1: pairs of blocks without the target.
	for p+2*block <= end {
		v, w := archsimd.LoadUint8x64((*[block]uint8)(b[p:p+block])), archsimd.LoadUint8x64((*[block]uint8)(b[p+block:p+2*block]))
		n := bits.OnesCount64(v.Equal(quote).ToBits()) + bits.OnesCount64(w.Equal(quote).ToBits())
		if n >= quotes {
			break
		}
		quotes -= n
		commas -= bits.OnesCount64(v.Equal(comma).ToBits()) + bits.OnesCount64(w.Equal(comma).ToBits())
		least = least.Min(v).Min(w)
		p += 2 * block
	}
	// Phase 2: the block with the target.
	for ; p < end; p += block {
		v := archsimd.LoadUint8x64((*[block]uint8)(b[p : p+block]))
		q, c := v.Equal(quote), v.Equal(comma).ToBits()
		n := bits.OnesCount64(q.ToBits())
		if n < quotes {
			quotes -= n
			commas -= bits.OnesCount64(c)
			least = least.Min(v)
			continue
		}
		var at [block]uint8
		archsimd.LoadUint8x64(&places).Compress(q).Store(&at)
		last := int(at[(quotes-1)&(block-1)])
		upto := ^uint64(0) >> (block - 1 - last)
		ends := least.LessEqual(line).ToBits() | v.LessEqual(line).ToBits()&upto
		if commas != bits.OnesCount64(c&upto) || ends != 0 || p+last >= end {
			return -1
		}
		return p + last + 1
	}
	return -1
}
