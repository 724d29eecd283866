package esxtop

import "bytes"

// seekPlain returns the place after the target quote, the given number of quotes after p, with the
// given number of commas before it. It returns -1 when a line or b[:end] ends before, and when the
// number of commas differs. width is its expected distance.
func seekPlain(b []byte, p, end, width, wantQuotes, wantCommas int) int {
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

// tally counts the quotes and commas in b; whole is false when a line ends in it. It processes each
// byte three times, by the vector instructions behind package bytes.
func tally(b []byte) (quotes, commas int, whole bool) {
	return bytes.Count(b, quoteMark), bytes.Count(b, commaMark), bytes.IndexByte(b, '\n') < 0
}

var quoteMark, commaMark = []byte{'"'}, []byte{','}
