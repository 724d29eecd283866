package demo

import (
	"math"
	"strings"
	"testing"

	"example.org/homenode/source/benchmark"
	"example.org/homenode/source/benchmark/hostload"
)

// TestBenchmark checks that the readers take the demo's results whole, and that its
// figures fit each other: IOPS × block is the throughput, and each test has its load.
func TestBenchmark(t *testing.T) {
	text, table := Benchmark()
	res, err := benchmark.Read("demo", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := hostload.Read("demo", strings.NewReader(table))
	if err != nil {
		t.Fatal(err)
	}
	if len(res.AllWarnings()) > 0 || len(res.Runs) != 21 || len(rows) != 21 {
		t.Fatalf("%d runs, %d rows, %v; want 21, 21 and no warnings", len(res.Runs), len(rows), res.AllWarnings())
	}
	for i, run := range res.Runs {
		io, ok := run.IO()
		if !ok || io.Test != rows[i].Test {
			t.Errorf("run %d is %s, its row %s", i, io.Test, rows[i].Test)
		}
		if off := io.IOPS.Value*io.Block.Value/io.Throughput.Value - 1; math.Abs(off) > 0.001 {
			t.Errorf("%s: IOPS × block is %v off the throughput", io.Test, off)
		}
		if cpu := rows[i].CPU.Value; cpu > BenchmarkCores*BenchmarkCore || cpu < benchmarkIdle {
			t.Errorf("%s: a host uses %v Hz", io.Test, cpu)
		}
	}
}
