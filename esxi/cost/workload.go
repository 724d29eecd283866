package cost

import (
	"fmt"
	"slices"
	"strings"
)

// Published figures: the inputs of the table and the workloads.
const (
	// Experiment d-latency, MLC in the guest: idle latency with hot add, which interleaves.
	idleRise      = 25.0 // ns
	idleRiseShare = 0.22

	// Experiment d-memory, PassMark, mean of 20 runs: hot add on (interleaved) and off.
	markOn, markOff         = 1654.4, 1974.6
	databaseOn, databaseOff = 1207.0, 1262.8
	uncachedOn, uncachedOff = 7305.6, 8575.8
	cachedOn, cachedOff     = 15562.6, 15580.4
	writeOn, writeOff       = 6050.4, 7802.6
	threadedOn, threadedOff = 28661.8, 52926.8
	latencyOn, latencyOff   = 67.0, 53.0 // ns: less is better

	// Experiment d-database, HammerDB on SQL Server: hot add on and off.
	batchesOn, batchesOff = 5293.0, 5713.0   // a second
	waitOn, waitOff       = 13058.0, 11020.0 // ms: less is better

	// Experiment E, AIDA64 in a wide VM: thousands of a score.
	scoreOneNode, scoreEqual  = 24.0, 53.0
	scoreSomeMore, scoreThree = 28.0, 39.0

	// Denneman's MLC runs of 2016 on two Xeon v4, with NUMA and with node interleaving.
	mlcNUMA, mlcInterleaved         = 113083.7, 92409.7 // MB/s of all cores
	mlcIdleNUMA, mlcIdleInterleaved = 77.21, 108.04     // ns at the longest delay
)

// A Range is a value with the smallest and the largest that its rows allow.
type Range struct{ Low, Value, High float64 }

// A Workload is a VM's memory behaviour. Time per unit of work, with all local being 1, is
//
//	1 + Stall × (latency ÷ local latency − 1) + Stream × (bandwidth wanted ÷ had − 1)
//
// so each class has one number that is not zero: memory accesses are bound either by latency or by bandwidth.
type Workload struct {
	Name  string // as users type it
	Title string
	// Stall is the share of time that the vCPUs wait for memory, with all memory local.
	Stall Range
	// Stream is the share of time that is limited by bandwidth, with all memory local.
	Stream Range
	Why    string // sources of the numbers
}

// The excess time of a row on the host of article D divided by the rise of the latency there: the
// share of time spent waiting for memory.
const (
	stallUncached = (uncachedOff/uncachedOn - 1) / idleRiseShare
	stallWrite    = (writeOff/writeOn - 1) / idleRiseShare
	stallCached   = (cachedOff/cachedOn - 1) / idleRiseShare
	stallDatabase = (databaseOff/databaseOn - 1) / idleRiseShare
	stallBatches  = (batchesOff/batchesOn - 1) / idleRiseShare
	// All memory on one of two nodes halves the bandwidth: the time doubles. The score of e-wide
	// dropped by more than that.
	streamOneNode = (scoreEqual/scoreOneNode - 1) / (2 - 1)
)

// Workloads are the classes from the most to the least sensitive. Mixed is last, for a VM without a
// stated workload.
var Workloads = []Workload{
	{
		Name: "latency", Title: "Latency bound", Stall: Range{stallUncached, 1, stallWrite},
		Why: "Every access is waited for. No number is fitted; the range is that of three PassMark tests of one thread (d-memory: memory latency, read uncached, write).",
	},
	{
		Name: "bandwidth", Title: "Bandwidth bound, many threads", Stream: Range{1, 1, streamOneNode},
		Why: "Bandwidth decides all of the time. No number of the class is fitted: d-memory, memory threaded, gives the link of its host; the range reaches to e-wide.",
	},
	{
		Name: "database", Title: "Database in memory", Stall: Range{stallDatabase, (stallDatabase + stallBatches) / 2, stallBatches},
		Why: "One number for two tests, PassMark database operations (d-memory) and HammerDB batch requests (d-database); the range is the two.",
	},
	{
		Name: "cached", Title: "Fits the caches", Stall: Range{0, 0, stallCached},
		Why: "Memory is hardly accessed. No number is fitted; the range reaches to PassMark read cached (d-memory).",
	},
	{
		Name: "mixed", Title: "Not known", Stall: Range{0, (stallDatabase + stallBatches) / 2, stallWrite}, Stream: Range{0, 0, streamOneNode},
		Why: "How the VM uses memory is not stated: it is taken for a database, and the interval reaches from cached to latency and bandwidth bound.",
	},
}

// ParseWorkload returns the class with this name, ignoring case; an empty name is mixed.
func ParseWorkload(name string) (Workload, error) {
	if name == "" {
		name = "mixed"
	}
	i := slices.IndexFunc(Workloads, func(w Workload) bool { return strings.EqualFold(w.Name, name) })
	if i < 0 {
		var names []string
		for _, w := range Workloads {
			names = append(names, w.Name)
		}
		return Workload{}, fmt.Errorf("found workload %q, want one of %s", name, strings.Join(names, ", "))
	}
	return Workloads[i], nil
}
