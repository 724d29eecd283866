package esxtop

import (
	"bytes"
	"math/bits"
	"runtime"
)

// seek returns the place after the target quote, the given number of quotes after p, with the
// given number of commas before it. It returns -1 when a line or b[:end] ends before, and when the
// number of commas differs. width is its expected distance.
func seek(b []byte, p, end, width, wantQuotes, wantCommas int) int {
	// Phase 1: count over the distance of the previous row.
	at := min(p+width, end)
	quotes, commas, whole := tally(b[p:at])
	if !whole { // beyond the end of a row that is shorter than the previous one
		quotes, commas, whole, at = 0, 0, true, p
	}
	// Phase 2: in a row unlike the previous one the target may be far.
	for whole && wantQuotes-quotes > 16 && at < end {
		next := min(at+2*(wantQuotes-quotes), end)
		q, c, w := tally(b[at:next])
		quotes, commas, whole, at = quotes+q, commas+c, w, next
	}
	if !whole {
		return -1
	}
	// Phase 3: step to the target quote.
	for quotes < wantQuotes {
		if at == end {
			return -1
		}
		switch b[at] {
		case '"':
			quotes++
		case ',':
			commas++
		case '\n':
			return -1
		}
		at++
	}
	for quotes > wantQuotes || b[at-1] != '"' {
		at--
		switch b[at] {
		case '"':
			quotes--
		case ',':
			commas--
		}
	}
	if commas != wantCommas {
		return -1
	}
	return at
}

// tally counts the quotes and commas in b; whole is false when a line ends in it. Package bytes counts by vector instructions, each byte three
// times. It has none for WebAssembly.
func tally(b []byte) (quotes, commas int, whole bool) {
	if runtime.GOARCH == "wasm" {
		return tallyWords(b)
	}
	return bytes.Count(b, quoteMark), bytes.Count(b, commaMark), bytes.IndexByte(b, '\n') < 0
}

var quoteMark, commaMark = []byte{'"'}, []byte{','}

// tallyWords is tally by words of eight bytes.
func tallyWords(b []byte) (q, c int, whole bool) {
	lines := uint64(0)
	for ; len(b) >= 8; b = b[8:] {
		x := word(b, 0)
		q += bits.OnesCount64(equalBytes(x, quotes))
		c += bits.OnesCount64(equalBytes(x, ','*ones))
		lines |= equalBytes(x, '\n'*ones)
	}
	for _, one := range b {
		switch one {
		case '"':
			q++
		case ',':
			c++
		case '\n':
			lines = 1
		}
	}
	return q, c, lines == 0
}

// equalBytes returns the highest bit of each byte that is equal in x and y.
func equalBytes(x, y uint64) uint64 {
	const lows = 0x7f * ones
	x ^= y
	return ^(x&lows + lows | x | lows)
}
