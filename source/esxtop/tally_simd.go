//go:build goexperiment.simd && amd64

package esxtop

import (
	"math/bits"
	"simd/archsimd"
)

// wide reports whether the processor compares 64 bytes at once and counts what is equal.
var wide = archsimd.X86.AVX512()

// tally is tallyPlain in one look at each byte.
func tally(b []byte) (quotes, commas int, whole bool) {
	const width = 64
	if !wide || len(b) < width {
		return tallyPlain(b)
	}
	quote, comma, end := archsimd.BroadcastUint8x64('"'), archsimd.BroadcastUint8x64(','), archsimd.BroadcastUint8x64('\n')
	ends := uint64(0)
	rest := b
	for ; len(rest) >= 2*width; rest = rest[2*width:] {
		v, w := archsimd.LoadUint8x64Slice(rest), archsimd.LoadUint8x64Slice(rest[width:])
		quotes += bits.OnesCount64(v.Equal(quote).ToBits()) + bits.OnesCount64(w.Equal(quote).ToBits())
		commas += bits.OnesCount64(v.Equal(comma).ToBits()) + bits.OnesCount64(w.Equal(comma).ToBits())
		ends |= v.Equal(end).ToBits() | w.Equal(end).ToBits()
	}
	if len(rest) >= width {
		v := archsimd.LoadUint8x64Slice(rest)
		quotes += bits.OnesCount64(v.Equal(quote).ToBits())
		commas += bits.OnesCount64(v.Equal(comma).ToBits())
		ends |= v.Equal(end).ToBits()
		rest = rest[width:]
	}
	if len(rest) > 0 { // the last 64 bytes once more, without those that are counted
		v, seen := archsimd.LoadUint8x64Slice(b[len(b)-width:]), width-len(rest)
		quotes += bits.OnesCount64(v.Equal(quote).ToBits() >> seen)
		commas += bits.OnesCount64(v.Equal(comma).ToBits() >> seen)
		ends |= v.Equal(end).ToBits() >> seen
	}
	return quotes, commas, ends == 0
}
