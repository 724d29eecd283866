//go:build !(goexperiment.simd && amd64)

package esxtop

import "bytes"

// tally counts the quotes and commas in b; whole is not set when a line ends in it.
func tally(b []byte) (quotes, commas int, whole bool) {
	return bytes.Count(b, quoteMark), bytes.Count(b, commaMark), bytes.IndexByte(b, '\n') < 0
}

var quoteMark, commaMark = []byte{'"'}, []byte{','}
