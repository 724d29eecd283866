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

// A memory is what the numbers of the row before were, by wanted column: most do not
// change from row to row, and then neither have to be read again nor searched for their
// end.
type memory struct {
	words  []uint64 // as they stood in the file, with what followed
	sizes  []uint8  // in bytes
	values []float64
}

// numbers reads cells from p on into values: each of one to eight characters, digits
// or digits, a point and two digits, with "," in quotes behind it. It stops before the
// first of another form, and returns how many it read and the place behind them. at is
// the place of values in the memory. But for whether a number has changed it does not
// branch on what it looks like, which a processor could not predict.
func (m *memory) numbers(b []byte, p int, values []float64, at int) (n, next int) {
	const separator = '"' | ','<<8 | '"'<<16
	words := m.words[at : at+len(values)]
	sizes := m.sizes[at : at+len(values)]
	known := m.values[at : at+len(values)]
	last := len(b) - 24
	for i := range values {
		if p > last {
			return i, p
		}
		x := word(b, p)
		size := int(sizes[i] & 15)
		after := uint64(half(b, p+size)&0xffffff ^ separator)
		if (x^words[i])<<((64-8*size)&63)|after == 0 {
			values[i] = known[i]
			p += size + 3
			continue
		}
		size = quoteIn(x)
		v := swarNumber(x, size)
		if half(b, p+size)&0xffffff != separator || v < 0 {
			return i, p
		}
		values[i], known[i] = v, v
		words[i], sizes[i] = x, uint8(size)
		p += size + 3
	}
	return len(values), p
}

// skip passes over at most n cells of up to seven characters, with "," in quotes behind
// them, and returns how many and the place behind.
func skip(b []byte, p, n int) (skipped, next int) {
	const separator = '"' | ','<<8 | '"'<<16
	for i := range n {
		if p > len(b)-24 {
			return i, p
		}
		x := word(b, p)
		size := quoteIn(x)
		// No line may end before the quote. Higher bytes can look so when a lower one does.
		line := x ^ '\n'*ones
		if half(b, p+size)&0xffffff != separator || (line-ones)&^line&highs<<(64-8*size&63) != 0 && size > 0 {
			return i, p
		}
		p += size + 3
	}
	return n, p
}

// quoteIn returns the place of the first quote in the eight bytes of x; 8 when it has none.
func quoteIn(x uint64) int {
	q := x ^ quotes
	return bits.TrailingZeros64((q-ones)&^q&highs) / 8
}

// word returns the eight bytes at p, the first as the lowest.
func word(b []byte, p int) uint64 {
	_ = b[p+7]
	return uint64(b[p]) | uint64(b[p+1])<<8 | uint64(b[p+2])<<16 | uint64(b[p+3])<<24 |
		uint64(b[p+4])<<32 | uint64(b[p+5])<<40 | uint64(b[p+6])<<48 | uint64(b[p+7])<<56
}

// half returns the four bytes at p.
func half(b []byte, p int) uint32 {
	_ = b[p+3]
	return uint32(b[p]) | uint32(b[p+1])<<8 | uint32(b[p+2])<<16 | uint32(b[p+3])<<24
}

// swarNumber reads the first n bytes of x, n from 0 to 8. It returns -1 for another form.
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
	return float64(uint32(whole)) / divisors[point&1]
}

var divisors = [2]float64{1, 100}
