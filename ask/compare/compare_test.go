package compare

import (
	"math"
	"testing"

	"example.org/homenode/measure/compare"
)

// TestPublishedComparisons checks that compare finds what two articles found by
// hand (measure/compare/testdata): the percentages, and no verdict, as they published a
// figure for each side.
func TestPublishedComparisons(t *testing.T) {
	const dir = "../../measure/compare/testdata/"
	for _, tt := range []struct {
		source, a, b string
		want         map[string]float64 // metric: published share of B in A, rounded to percent or as recomputed
	}{
		{"experiment d-latency and d-memory", "hotadd-off", "hotadd-on", map[string]float64{
			"idle latency node 0 → node 0": 1.22, // 22 % slower
			// The article gives off in percent of on: 119, 105, 117, 100, 129, 185, 79 %.
			"Memory Mark": 1 / 1.194, "Database Operations": 1 / 1.046, "Memory Read Uncached": 1 / 1.174, "Memory Read Cached": 1 / 1.001,
			"Memory Write": 1 / 1.290, "Memory Threaded": 1 / 1.847, "Memory Latency": 1 / 0.791,
		}},
		{"experiment a-sockets, 2 cores per socket", "cps1", "cps2", map[string]float64{"CPU Mark": 1 - 0.0448, "Memory Mark": 1 - 0.0192}},
		{"experiment a-sockets, 16 cores per socket", "cps1", "cps16", map[string]float64{"CPU Mark": 1 - 0.0236, "Memory Mark": 1 - 0.0229}},
	} {
		t.Run(tt.source, func(t *testing.T) {
			report, err := compareFiles(t.Context(), []string{dir + tt.a}, []string{dir + tt.b})
			if err != nil {
				t.Fatal(err)
			}
			if len(report.Notes) > 0 || len(report.Singles) > 0 || len(report.Metrics) != len(tt.want) {
				t.Errorf("%d metrics, want %d; notes %v, singles %v", len(report.Metrics), len(tt.want), report.Notes, report.Singles)
			}
			for i := range report.Metrics {
				m := &report.Metrics[i]
				want, ok := tt.want[m.Name]
				got, known := m.Relative(m.Difference)
				if !ok || !known || math.Abs(1+got-want) > 0.001 || m.Verdict != compare.TooFew {
					t.Errorf("%s: %+.4f, %s; want %+.4f, too few runs", m.Name, got, m.Verdict, want-1)
				}
			}
		})
	}
}
