package esxtop

import "math/bits"

// Numbers of up to eight characters are parsed as one word of eight bytes. For 12.50:
//
//	memory    '1' '2' '.' '5' '0' '"' …       load, find the quote
//	          000 000 000 '1' '2' '.' '5' '0'  shift the rest out
//	           0   0   0   1   2   0   5   0   take '0' off the digits, '.' off the point
//	             0      1      20     50       pairs, of which the third counts 10 here
//	          1250 ÷ 100                       three multiplications, one division
//
// Both operands are exact, so the quotient is the float64 nearest to the number, as in
// strconv.ParseFloat. Source of the multiplications: D. Lemire, "Quickly parsing eight digits", 2018.

const (
	ones   = 0x0101010101010101
	highs  = 0x80 * ones
	zeros  = '0' * ones
	quotes = '"' * ones

	separator = '"' | ','<<8 | '"'<<16 // between two cells
)

// A memory is a cache of the previous row's numbers, by wanted column: most do not change from row
// to row, and then need neither parsing nor a search for their end.
//
// Where most do change, as in columns of busy disks, it costs more than it saves: after such a row,
// the next ones are parsed without it.
type memory struct {
	words  []uint64 // as in the file, with the bytes that followed
	sizes  []uint8  // in bytes
	values []float64

	changed int // in the current row
	without int // rows left to parse without the cache
	age     int // rows since the last of those, up to 2
}

// row begins a row.
func (m *memory) row() {
	const rest = 15 // rows without the cache, for two that check it again
	switch {
	case m.without > 0:
		if m.without--; m.without == 0 {
			m.age = 1 // this row renews the cache
		}
	case m.age < 2:
		m.age++
	case 2*m.changed > len(m.values):
		m.without, m.age = rest, 0
	}
	m.changed = 0
}

// numbers parses cells from p on into values: each of one to eight characters, digits or digits, a
// point and two digits, with "," in quotes after it. It stops before the first of another form, and
// returns their number and the place after them. at is the place of values in the memory. Apart
// from whether a number has changed it does not branch on the data, which a processor could not predict.
func (m *memory) numbers(b []byte, p int, values []float64, at int) (n, next int) {
	if m.without > 0 {
		return fresh(b, p, values)
	}
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
		m.changed++
		values[i], known[i] = v, v
		words[i], sizes[i] = x, uint8(size)
		p += size + 3
	}
	return len(values), p
}

// fresh is numbers without the cache.
func fresh(b []byte, p int, values []float64) (n, next int) {
	last := len(b) - 24
	for i := range values {
		if p > last {
			return i, p
		}
		x := word(b, p)
		size := quoteIn(x)
		v := swarNumber(x, size)
		if half(b, p+size)&0xffffff != separator || v < 0 {
			return i, p
		}
		values[i] = v
		p += size + 3
	}
	return len(values), p
}

// skip skips at most n cells of up to eight characters, with "," in quotes after them, and returns
// their number and the place after them.
func skip(b []byte, p, n int) (skipped, next int) {
	for i := range n {
		if p > len(b)-24 {
			return i, p
		}
		x := word(b, p)
		size := quoteIn(x)
		// No line may end before the quote. Higher bytes can produce a false match when a lower one matches.
		line := x ^ '\n'*ones
		if half(b, p+size)&0xffffff != separator || (line-ones)&^line&highs<<((64-8*size)&63) != 0 && size > 0 {
			return i, p
		}
		p += size + 3
	}
	return n, p
}

// quoteIn returns the place of the first quote in the eight bytes of x; 8 when it has none.
func quoteIn(x uint64) int { return markIn(x, quotes) }

// markIn is quoteIn for eight bytes of any mark.
func markIn(x, marks uint64) int {
	q := x ^ marks
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

// swarNumber parses the first n bytes of x, n from 0 to 8. It returns -1 for another form.
func swarNumber(x uint64, n int) float64 {
	const nibbles = 0xf0 * ones
	const mask = 0x000000ff000000ff
	shift := (64 - 8*n) & 63
	x <<= shift
	point := 0
	if x>>40&0xff == '.' {
		point = 1
	}
	w := &weights[point]
	x ^= zeros<<shift ^ w.point // the digits, and 0 for the point and before the number
	if (x|(x+6*ones))&nibbles != 0 || n <= 3*point {
		return -1
	}
	x = x*10 + x>>8
	return float64(uint32((x&mask*w.odd+x>>16&mask*w.even)>>32)) / w.divisor
}

// weights are the factors of the pairs of digits, without and with a point: in a pair with the
// point the first digit counts ten.
var weights = [2]struct {
	point, odd, even uint64 // odd of the first and third pair, even of the others
	divisor          float64
}{
	{0, 100 + 1000000<<32, 1 + 10000<<32, 1},
	{('0' ^ '.') << 40, 10 + 100000<<32, 1 + 1000<<32, 100},
}
