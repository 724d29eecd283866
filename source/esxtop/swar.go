package esxtop

import "math/bits"

// Numbers of up to eight characters are read as one word of eight bytes. For 12.50:
//
//	memory    '1' '2' '.' '5' '0' '"' …       load, find the quote
//	          000 000 000 '1' '2' '.' '5' '0'  shift the rest out
//	          '0' '0' '0' '0' '1' '2' '5' '0'  close the gap of the point, fill with zeros
//	          1250 ÷ 100                       three multiplications, one division
//
// Both operands are exact, so that the quotient is the float64 nearest to the number, as
// strconv.ParseFloat has it. Source of the multiplications: D. Lemire, "Quickly parsing
// eight digits", 2018.

const (
	ones   = 0x0101010101010101
	highs  = 0x80 * ones
	zeros  = '0' * ones
	quotes = '"' * ones
)

// quoteIn returns the place of the first quote in the eight bytes of x; 8 when it has none.
func quoteIn(x uint64) int {
	q := x ^ quotes
	return bits.TrailingZeros64((q-ones)&^q&highs) / 8
}

// swarNumber reads the first n bytes of x, n from 0 to 8: digits, or digits, a point and
// two digits. It returns -1 for any other form. It does not branch on what the number looks
// like, which a processor could not predict.
func swarNumber(x uint64, n int) float64 {
	const nibbles = 0xf0 * ones
	const mask = 0x000000ff000000ff
	x <<= (64 - 8*n) & 63
	point := uint64(0)
	if x>>40&0xff == '.' {
		point = 1
	}
	closed := x&0xffff000000000000 | x&0x000000ffffffffff<<8
	x ^= (x ^ closed) & -point
	digits := n - int(point)
	x |= zeros >> (4 * digits & 63) >> (4 * digits & 63)
	if x&nibbles|(x+6*ones)&nibbles>>4 != 0x33*ones || digits <= 2*int(point) {
		return -1
	}
	x -= zeros
	x = x*10 + x>>8
	whole := (x&mask*(100+1000000<<32) + x>>16&mask*(1+10000<<32)) >> 32
	return float64(uint32(whole)) / divisors[point]
}

var divisors = [2]float64{1, 100}
