package numa

import "regexp"

// frontSideBus matches the Xeons from before 2009, which have no memory controller of their own: those with TM in their name, the 3000
// to 3300, 5000 to 5400, and 7000 to 7400 series.
var frontSideBus = regexp.MustCompile(`Xeon(\(TM\)|™|(\(R\)|®)? +(MP +)?(CPU +)?(5[01][0-8]\d|70[2-4]\d|71[1-5]\d[MN]|30[4-7]\d|[ELX](3[0-3]|5[1-4]|7[34])\d\d)\b)`)

// FrontSideBus reports whether the processors share memory over a front-side bus, by their name: then no node is nearer to memory than
// another (HP, Technologies in ProLiant G6 servers: the Xeon 5500 is the first with a memory controller). IBM joins chassis of such
// processors to hosts with nodes (x3950).
func (h *Host) FrontSideBus() bool { return frontSideBus.MatchString(h.CPUModel.Value) }

// dies are the dies of a package, each with memory of its own, by the name of the processor.
var dies = []struct {
	model *regexp.Regexp
	dies  int
}{
	{regexp.MustCompile(`Opteron.* 6[123]\d\d\b`), 2}, // Denneman, AMD Magny-Cours and ESX, 2011
	{regexp.MustCompile(`EPYC 7[2-6]\d1P?\b`), 4},     // Dell EMC, NUMA configuration for AMD EPYC (Naples) processors, 2018
}

// Dies returns how many dies with memory of their own a package has, each a NUMA node unless memory is interleaved over them: 2 in an
// Opteron 6100 to 6300, 4 in an EPYC 7001, else 1.
func (h *Host) Dies() int {
	for _, d := range dies {
		if d.model.MatchString(h.CPUModel.Value) {
			return d.dies
		}
	}
	return 1
}
