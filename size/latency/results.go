package latency

import (
	"fmt"
	"strconv"
	"strings"

	"example.org/homenode/numa"
	"example.org/homenode/source/benchmark"
)

// Measurements returns the measurements of the runs of a file, except for runs that mark their own figures as unreliable.
func Measurements(name string, results *benchmark.Results) []Measurement {
	var out []Measurement
	for _, run := range results.Runs {
		if run.Untrusted {
			continue
		}
		chased := 0.0
		for _, s := range run.Settings {
			if s.Name == "total_memory" {
				first, _, _ := strings.Cut(fmt.Sprint(s.Value), " ")
				if v, err := strconv.ParseFloat(first, 64); err == nil {
					chased = v
				}
			}
		}
		for _, m := range run.Metrics {
			out = append(out, Measurement{Tool: run.Tool, Case: run.Name, Metric: m.Name, Unit: m.Unit, Value: m.Value,
				Where: numa.Place(name, m.Line, 0), Chased: chased})
		}
	}
	return out
}
