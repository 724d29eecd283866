package metrics

import (
	"runtime"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"example.org/homenode/internal/version"
)

// process has what every exporter says of its process.
var process = func() *prometheus.Registry {
	r := prometheus.NewRegistry()
	//lint:ignore SA1019 the package that is named instead links database/sql
	r.MustRegister(prometheus.NewProcessCollector(prometheus.ProcessCollectorOpts{}))
	return r
}()

// Process adds which homenode this is, and the process_* metrics of Prometheus's client library.
func Process(add Add) {
	add("homenode_build_info", "gauge", "", "1, with the version of homenode and the Go that built it", 1, "version", version.String(), "commit", version.Commit(), "goversion", runtime.Version(), "goos", runtime.GOOS, "goarch", runtime.GOARCH)
	families, _ := process.Gather() // what the system does not tell is left out
	for _, f := range families {
		help := strings.TrimSuffix(f.GetHelp(), ".")
		for _, m := range f.Metric {
			if c := m.Counter; c != nil {
				add(strings.TrimSuffix(f.GetName(), "_total"), "counter", "", help, c.GetValue())
			} else if g := m.Gauge; g != nil {
				add(f.GetName(), "gauge", "", help, g.GetValue())
			}
		}
	}
}
