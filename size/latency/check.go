package latency

import (
	"embed"
	"math"

	"homenode/numa/unit"
)

// published are the ladder, and what the articles compute from their figures.
//
//go:embed *.txt
var published embed.FS

// Checks returns the published figures on latency beside what they come to.
func Checks() []unit.Check {
	const (
		ram, call, ethernet, rdma = 100.0, 370.0, 480.0, 3000.0 // ns, as published
		remote                    = 280e6
		faster                    = 10           // of C++, a claim
		hot, cold                 = 139.0, 114.0 // ns, with and without CPU hot add
	)
	ms := func(ns float64) float64 { return ns * 1e-6 }
	computed := map[string][]float64{
		"b-ladder": {
			ms(ram), ms(call), ms(ethernet), ms(rdma), 40, 300, ethernet / ram, 1500 * 8 / 25.0,
			math.Log10(remote / call), math.Log10(remote / faster / call),
		},
		"d-latency": {hot - cold, 100 * (hot/cold - 1)},
	}
	// 512 B to 256 KiB random, read and write; 256 KiB and 1 MiB sequential.
	for _, iops := range []float64{4040, 4874, 3813, 4413, 2568, 2873, 1826, 2242, 735, 703, 2784, 1042, 966, 286} {
		computed["b-nvme"] = append(computed["b-nvme"], 1e3/iops)
	}
	return unit.Checks(published, computed)
}
