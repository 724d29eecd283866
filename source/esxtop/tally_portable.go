//go:build !(goexperiment.simd && amd64)

package esxtop

func tally(b []byte) (quotes, commas int, whole bool) { return tallyPlain(b) }
