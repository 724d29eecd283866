package benchmark

import (
	"bytes"
	"example.org/homenode/internal/golden"
	"fmt"
	"strings"
	"testing"
)

// BenchmarkRead reads an MLC result, a fio document with 100,000 histogram bins,
// and a PassMark text with a test on each of 20,000 lines: time grows with size.
func BenchmarkRead(b *testing.B) {
	mlc := golden.Read(b, "testdata/mlc-whole.txt")
	var bins, tests strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&bins, "%q : 1,\n", fmt.Sprint(i))
	}
	for i := range 20_000 {
		fmt.Fprintf(&tests, "  Test %d   %d Things/s\n", i, i)
	}
	fio := "{\n\"fio version\" : \"fio-3.36\", \"jobs\" : [ { \"jobname\" : \"a\", \"read\" : { \"iops\" : 1.5, \"bw_bytes\" : 100, \"total_ios\" : 9,\n" +
		"\"clat_ns\" : { \"mean\" : 2.5, \"N\" : 9, \"bins\" : {\n" + bins.String() + "\"x\" : 1 } } } } ] }\n"
	for _, tt := range []struct {
		name    string
		in      []byte
		metrics int
	}{
		{"mlc", mlc, 21},
		{"fio=100000bins", []byte(fio), 3},
		{"passmark=20000lines", []byte("CPU Mark:   1\n" + tests.String()), 20_001},
	} {
		b.Run(tt.name, func(b *testing.B) {
			b.SetBytes(int64(len(tt.in)))
			b.ReportAllocs()
			for b.Loop() {
				res, err := Read("f", bytes.NewReader(tt.in))
				if err != nil || len(res.Runs) != 1 || len(res.Runs[0].Metrics) != tt.metrics {
					b.Fatal(res, err)
				}
			}
		})
	}
}
