package demo

import (
	"fmt"
	"math"
	"strings"

	"example.org/homenode/numa/unit"
)

// Parameters of the generated benchmarks, in the range of published results.
const (
	BenchmarkHosts = 4
	BenchmarkCores = 32      // of each host
	BenchmarkCore  = 2.8e9   // Hz
	benchmarkCPU   = 0.65    // share of a host that the I/O uses, approximately
	benchmarkIdle  = 1.5e9   // Hz
	benchmarkStart = 1.731e9 // seconds since 1970, 7 November 2024
)

// Benchmark returns the text of three rounds of seven HCIBench tests, and the table of the host
// load during them. The results are generated, not measured.
func Benchmark() (results, loads string) {
	var text, table strings.Builder
	table.WriteString("# What each host used during the test, the mean of four. Invented.\ntest,hosts,cpu GHz,idle GHz,tx Gb/s,rx Gb/s\n")
	start := int64(benchmarkStart)
	for round := range 3 {
		for i, k := range []struct {
			kib, read, random int
			cycles            float64 // per I/O
			traffic           float64 // network bits per bit of I/O
		}{
			{4, 100, 100, 372e3, 0.75}, {32, 100, 100, 655e3, 0.75}, {256, 100, 100, 2870e3, 0.75},
			{4, 0, 100, 1095e3, 3}, {32, 0, 100, 1560e3, 3}, {256, 0, 100, 5410e3, 3}, {1024, 100, 0, 14900e3, 0.75},
		} {
			start += 1800
			// A ripple of up to 2 % in the load and, with another phase, in the cost of an I/O.
			load := benchmarkCPU * (1 + 0.02*math.Sin(float64(3*round+2*i)))
			cost := k.cycles * (1 + 0.02*math.Sin(float64(5*round+3*i+1)))
			net := load * BenchmarkCores * BenchmarkCore
			iops := net * BenchmarkHosts / cost
			name := fmt.Sprintf("fio-8vmdk-90ws-%dk-%drdpct-%drandompct-4th-%d", k.kib, k.read, k.random, start)
			latency := 16 * 8 * 4 / iops * 1000 // with the outstanding I/Os of 16 VMs
			read, write := latency, 0.0
			if k.read == 0 {
				read, write = 0, latency
			}
			fmt.Fprintf(&text, "Test Case Name: %s\nDatastore: vsanDatastore\n=============================\nJOB_NAME: job0\nNumber of VMs: 16\n", name)
			fmt.Fprintf(&text, "I/O per Second: %s IO/S\nThroughput: %s MB/s\n", unit.Grouped(iops, 2), unit.Grouped(iops*float64(k.kib)/1024, 2))
			fmt.Fprintf(&text, "Read Latency: %.2f ms\nWrite Latency: %.2f ms\n\n", read, write)
			traffic := iops / BenchmarkHosts * float64(k.kib) * 8192 * k.traffic / 1e9
			fmt.Fprintf(&table, "%s,%d,%.1f,%.1f,%.1f,%.1f\n", name, BenchmarkHosts, (net+benchmarkIdle)/1e9, benchmarkIdle/1e9, traffic, traffic)
		}
	}
	return text.String(), table.String()
}
