package cost

import (
	"fmt"

	"example.org/homenode/numa"
)

// An entry is one published measurement of a host type. A zero is not published.
type entry struct {
	id, name string
	source   string
	ns       [distances]float64
	mb       [distances]float64 // bandwidth in MB/s of 1,000,000 bytes, as MLC prints it
	// These values were computed from printed figures: Derived, not Read.
	nsComputed, mbComputed [distances]bool
}

var all = [distances]bool{true, true, true}

// The table: rule book A-10, and values computed from the experiments and from published runs of Intel MLC.
var (
	xeonV4 = &entry{
		id: "xeon-v4", name: "two Xeon E5 v4",
		source: "Denneman 2022/11/03 (A-10); bandwidth computed from Denneman's MLC runs of 2016 with and without node interleaving, taken to be of his Xeon v4 hosts",
		ns:     [distances]float64{Local: 73, Far: 130},
		// Interleaved: each of two nodes reads half of its bytes from the other, so a quarter of
		// the total crosses in each direction.
		mb:         [distances]float64{Local: mlcNUMA / 2, Far: mlcInterleaved / 4},
		mbComputed: all,
	}
	skylake = &entry{
		id: "skylake", name: "two Xeon Scalable of the first generation (Skylake)",
		source: "Denneman 2022/09/21, quoting a thesis (A-10)",
		ns:     [distances]float64{Local: 80.8, Far: 138.9},
		mb:     [distances]float64{Local: 111083, Far: 34451},
	}
	skylakeSNC = &entry{
		id: "skylake-snc", name: "two Xeon Scalable of the first generation (Skylake) with SNC",
		source:     "Denneman 2022/09/21, quoting a thesis (A-10); far latency is the middle of 132.0 and 144.5 ns",
		ns:         [distances]float64{Local: 74.2, Near: 81.5, Far: (132.0 + 144.5) / 2},
		nsComputed: [distances]bool{Far: true},
		mb:         [distances]float64{Local: 58087, Near: 58123, Far: 34250},
	}
	skylake2022 = &entry{
		id: "skylake-2022", name: "two Skylake, another measurement",
		source: "Denneman 2022/11/03 (A-10)",
		ns:     [distances]float64{Local: 89, Far: 139},
	}
	skylakeCSIT = &entry{
		id: "skylake-csit", name: "two Skylake of a network test bed",
		source:     "FD.io CSIT, calibration of the Xeon Skylake test beds, MLC 3.5, mean of both directions",
		ns:         [distances]float64{Local: (81.4 + 81.3) / 2, Far: 131.1},
		mb:         [distances]float64{Local: (107947.7 + 108183.4) / 2, Far: (50951.5 + 50834.6) / 2},
		nsComputed: all, mbComputed: all,
	}
	dram2019 = &entry{
		id: "dram-2019", name: "a host of two packages, not named",
		source: "Denneman 2019/10/14 (A-10)",
		ns:     [distances]float64{Local: 75, Far: 130},
	}
	epyc = &entry{
		id: "epyc", name: "two EPYC, generation not named",
		source: "Denneman 2022/11/03 (A-10)",
		ns:     [distances]float64{Local: 129, Far: 205},
	}
	// experimentD is the host of the workloads' calibration. 25 ns and 22 % more at once give the
	// local latency (d-latency). Interleaving makes half of the accesses far, so far is twice 25 ns
	// more. Half of the bytes of the threaded test cross too, a quarter of the total in each
	// direction (d-memory).
	experimentD = &entry{
		id: "experiment-d", name: "two Intel of 8 cores, seen from a guest",
		source:     "experiments d-latency and d-memory (memory threaded)",
		ns:         [distances]float64{Local: idleRise / idleRiseShare, Far: idleRise/idleRiseShare + 2*idleRise},
		mb:         [distances]float64{Local: threadedOff / 2, Far: threadedOn / 4},
		nsComputed: all, mbComputed: all,
	}
	entries = []*entry{xeonV4, skylake, skylakeSNC, skylake2022, skylakeCSIT, dram2019, epyc, experimentD}
)

// Measurements grouped by family: each group shares an interval.
var (
	likeSkylake = []*entry{skylake, skylake2022, skylakeCSIT}
	likeIntel   = []*entry{skylake, skylake2022, skylakeCSIT, xeonV4, dram2019, experimentD}
	likeAny     = []*entry{skylake, skylake2022, skylakeCSIT, xeonV4, dram2019, experimentD, epyc}
)

// nearRise is how much slower near memory is than local, from the only published case.
const nearRise = 81.5 / 74.2

// Table returns a machine of two nodes for each published measurement, in the order of the table, for reports.
func Table() []Machine {
	var out []Machine
	for _, e := range entries {
		out = append(out, e.twoNodes())
	}
	return out
}

// twoNodes is the machine of the measurement itself: two packages, or two of two nodes.
func (e *entry) twoNodes() Machine {
	parts := 1
	if e.ns[Near] != 0 {
		parts = 2
	}
	m := e.machine(parts)
	for i := range 2 * parts {
		m.Nodes = append(m.Nodes, numa.Node{ID: i, Package: i / parts})
	}
	m.Why = []string{"Figures: " + e.source + "."}
	m.span = spanOf([]*entry{e}, parts, true)
	return m
}

// machine returns the paths for packages of so many nodes.
func (e *entry) machine(parts int) Machine {
	m := Machine{ID: e.id, Name: e.name}
	for d := range m.Paths {
		m.Paths[d] = e.path(Distance(d), parts)
	}
	return m
}

func (e *entry) path(d Distance, parts int) (p Path) {
	fact := func(v float64, computed bool) numa.Fact[float64] {
		if computed {
			return numa.DerivedFrom(v, e.source)
		}
		return numa.ReadAt(v, e.source)
	}
	if e.ns[d] != 0 {
		p.Nanoseconds = fact(e.ns[d], e.nsComputed[d])
	} else { // near memory of a family that was measured without it
		p.Nanoseconds = numa.AssumedFor(e.ns[Local]*nearRise, "it is taken to be slower than local by as much as on Skylake with SNC")
	}
	if e.mb[d] != 0 && (parts == 1 || e.ns[Near] != 0) {
		p.BytesPerSecond = fact(e.mb[d]*1e6, e.mbComputed[d])
	}
	// A link belongs to a package, so with several nodes per package its share of a node's
	// bandwidth is higher. On Skylake the link is the same with and without SNC, 34 GB/s.
	scale := 1.0
	if e.ns[Near] == 0 {
		scale = float64(parts)
	}
	switch {
	case d == Local:
		p.Share = numa.DerivedFrom(1.0, "it is the measure")
	case d == Near && e.mb[d] == 0:
		p.Share = numa.AssumedFor(skylakeSNC.mb[Near]/skylakeSNC.mb[Local], "the share of Skylake with SNC is assumed")
	case e.mb[d] != 0:
		p.Share = numa.DerivedFrom(scale*e.mb[d]/e.mb[Local], e.source)
	default:
		share := skylake.mb[Far] / skylake.mb[Local]
		p.Share = numa.AssumedFor(scale*share, fmt.Sprintf("a link of %.0f%% of a package's own bandwidth is assumed, as on Skylake", 100*share))
	}
	return p
}

// spanOf lists the figures that an interval covers: each measurement, with the smallest and the
// largest published link where it has none. Near memory not measured on this family ranges from local to far.
func spanOf(alike []*entry, parts int, exact bool) (span []figures) {
	low, high := linkShares()
	for _, e := range alike {
		m := e.machine(parts)
		f := m.figures()
		versions := []figures{f}
		if e.mb[Far] == 0 {
			worse, better := f, f
			worse.share[Far], better.share[Far] = low*float64(parts), high*float64(parts)
			versions = []figures{worse, better}
		}
		for _, v := range versions {
			span = append(span, v)
			if parts > 1 && (e.ns[Near] == 0 || !exact) {
				good, bad := v, v
				good.ns[Near], good.share[Near] = v.ns[Local], v.share[Local]
				bad.ns[Near], bad.share[Near] = v.ns[Far], min(v.share[Far], v.share[Local])
				span = append(span, good, bad)
			}
		}
	}
	return span
}

// linkShares returns the smallest and the largest published bandwidth of a link between
// packages, as a share of a package's own.
func linkShares() (low, high float64) {
	low = 1
	for _, e := range entries {
		if e.mb[Far] != 0 && e.ns[Near] == 0 {
			low, high = min(low, e.mb[Far]/e.mb[Local]), max(high, e.mb[Far]/e.mb[Local])
		}
	}
	return low, high
}
