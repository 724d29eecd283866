package esxtop

import "bytes"

// seekPlain returns the place after the quote that is due: so many quotes after p, with so
// many commas before it. It returns -1 when a line or b[:end] ends before, and when the
// commas are of another number. width is how far off it is expected to be.
func seekPlain(b []byte, p, end, width, wantQuotes, wantCommas int) int {
	// Phase 1: count as far as it went in the row before.
	at := min(p+width, end)
	quotes, commas, whole := tally(b[p:at])
	if !whole { // beyond the end of a row that is shorter than the one before
		quotes, commas, whole, at = 0, 0, true, p
	}
	// Phase 2: a row unlike the one before may be far off.
	for whole && wantQuotes-quotes > 16 && at < end {
		next := min(at+2*(wantQuotes-quotes), end)
		q, c, w := tally(b[at:next])
		quotes, commas, whole, at = quotes+q, commas+c, w, next
	}
	if !whole {
		return -1
	}
	// Phase 3: to the quote that is due.
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

// tally counts the quotes and commas in b; whole is not set when a line ends in it.
// It looks at each byte three times, by the vector instructions behind package bytes.
func tally(b []byte) (quotes, commas int, whole bool) {
	return bytes.Count(b, quoteMark), bytes.Count(b, commaMark), bytes.IndexByte(b, '\n') < 0
}

var quoteMark, commaMark = []byte{'"'}, []byte{','}
