//go:build !(goexperiment.simd && amd64)

package esxtop

func seek(b []byte, p, end, width, quotes, commas int) int {
	return seekPlain(b, p, end, width, quotes, commas)
}
