package latency

import (
	"math"

	"homenode/numa/unit"
)

// Checks returns the published figures on latency beside what they come to.
func Checks() []unit.Check {
	const (
		ram, call, ethernet, rdma = 100.0, 370.0, 480.0, 3000.0 // ns, as published
		remote                    = 280e6
		faster                    = 10 // of C++, a claim
	)
	inMS := func(what, printed string, ns float64) unit.Check {
		return unit.Check{ID: "B-15", What: what, Quantity: "ms", Printed: printed, Computed: ns * 1e-6}
	}
	perIO := func(what, printed string, iops float64) unit.Check {
		return unit.Check{ID: "B-1", What: what, Quantity: "ms: 1 ÷ IOPS, one I/O at a time", Printed: printed, Computed: 1e3 / iops}
	}
	const hot, cold = 139.0, 114.0 // ns, with and without CPU hot add
	return []unit.Check{
		inMS("RAM access", "0.0001", ram), inMS("function call, Python", "0.00037", call),
		inMS("25 GE Ethernet", "0.00048", ethernet), inMS("RDMA over Converged Ethernet", "0.003", rdma),
		inMS("gRPC call, fastest", "40", 40e6), inMS("gRPC call, slowest", "300", 300e6),
		{ID: "B-15", What: "25 GE Ethernet ÷ RAM", Quantity: "times", Printed: "~5", Computed: ethernet / ram},
		{ID: "B-15", What: "25 GE Ethernet", Quantity: "ns: 1,500 B ÷ 25 Gb/s", Printed: "~480", Computed: 1500 * 8 / 25.0},
		{ID: "B-15", What: "remote call, Python ÷ local call", Quantity: "power of ten", Printed: "6", Computed: math.Log10(remote / call)},
		{ID: "B-15", What: "remote call, C++ ÷ local call, Python", Quantity: "power of ten", Printed: "5", Computed: math.Log10(remote / faster / call)},
		{ID: "D-4", What: "idle latency, CPU hot add, from 114 to 139 ns", Quantity: "ns more", Printed: "25", Computed: hot - cold},
		{ID: "D-4", What: "idle latency, CPU hot add, from 114 to 139 ns", Quantity: "% more", Printed: "22", Computed: 100 * (hot/cold - 1)},
		perIO("local NVMe, 512 B read random", "0.25", 4040), perIO("local NVMe, 512 B write random", "0.2", 4874),
		perIO("local NVMe, 4 KiB read random", "0.26", 3813), perIO("local NVMe, 4 KiB write random", "0.23", 4413),
		perIO("local NVMe, 32 KiB read random", "0.39", 2568), perIO("local NVMe, 32 KiB write random", "0.35", 2873),
	}
}
