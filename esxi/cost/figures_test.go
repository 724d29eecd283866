package cost

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"example.org/homenode/numa"
)

// A Purpose is what a published figure was used for.
type Purpose uint8

// The purposes. What was fitted says nothing about how good the model is; a check does.
const (
	Fitted  Purpose = iota // a number of the machine or the workload is computed from it
	Ranging                // it decides how wide the interval is, not the value
	Check                  // it decides nothing
)

// String returns the word used in reports.
func (p Purpose) String() string { return [...]string{"fitted", "range", "check"}[min(p, Check)] }

// A Row is one published figure beside what the model says.
type Row struct {
	ID       string // of the experiment or the statement of the rule book
	What     string
	Figures  string  // as published: the worse and the better of two
	Observed float64 // performance as a share of the better one
	// Modelled is false for a figure that cannot be modelled; Why says why not.
	Modelled bool
	Machine  string // ID of the table's entry
	Workload string // its class
	Model    Estimate
	Purpose  Purpose
	Why      string // what explains a miss, or what was assumed
}

// Deviation returns the model minus the observation, both shares of full performance:
// above 0 the model is too kind.
func (r *Row) Deviation() float64 { return r.Model.Value - r.Observed }

// A Verdict says how a row came out.
type Verdict uint8

// The verdicts.
const (
	Fits  Verdict = iota // the observation lies in the interval
	Close                // outside, but no further from the value than like runs from each other
	Miss
	NotModelled
)

// String returns the words used in reports.
func (v Verdict) String() string {
	return [...]string{"fits", "within noise", "miss", "not modelled"}[min(v, NotModelled)]
}

// Verdict compares the observation with the estimate.
func (r *Row) Verdict() Verdict {
	switch {
	case !r.Modelled:
		return NotModelled
	case r.Observed >= r.Model.Low-rounding && r.Observed <= r.Model.High+rounding:
		return Fits
	case math.Abs(r.Deviation()) <= Noise+rounding:
		return Close
	}
	return Miss
}

// Noise is how far two runs of the same placement lay apart (a-sockets: 16 vCPUs in one
// node with 1 and with 2 cores per socket). A smaller deviation means nothing.
const Noise = 1 - 13410.0/14039

// A figure is published; machine, workload and use say how to model it.
type figure struct {
	id, what      string
	worse, better float64 // for times the worse is the larger
	unit          string
	machine       *Machine // nil: it cannot be modelled
	workload      string
	use           Use
	purpose       Purpose
	why           string
}

// slower reports whether the figure is a time, of which less is better.
func (f *figure) slower() bool { return f.worse > f.better }

// Hosts of the experiments.
var (
	onD       = machineOf(experimentD.twoNodes())
	onV4      = machineOf(xeonV4.twoNodes())
	onSkylake = machineOf(skylake.twoNodes())
	onA       = machineOf(For(&numa.Host{
		CPUModel: numa.ReadAt("Intel Xeon Gold 6354", "article A"),
		Packages: numa.ReadAt(2, "article A"),
		Cores:    numa.ReadAt(36, "article A"),
	}))
	onE = machineOf(For(&numa.Host{})) // not named
)

func machineOf(m Machine) *Machine { return &m }

// Placements of the experiments on two nodes; only proportions count.
var (
	wideD       = []Client{{Node: 0, VCPUs: 8}, {Node: 1, VCPUs: 8}}
	interleaved = Use{Clients: shared([]numa.Bytes{1, 1}, wideD...)}
	onOneNode   = Use{Clients: shared([]numa.Bytes{1, 0}, wideD...)}
	allLocal    = Use{Clients: []Client{{Node: 0, VCPUs: 16}}}
	otherNode   = Use{Clients: []Client{{Node: 0, VCPUs: 1, Memory: []numa.Bytes{0, 1}}}}

	wideE   = []Client{{Node: 0, VCPUs: 12}, {Node: 1, VCPUs: 12}}
	crowded = Use{Clients: []Client{{Node: 0, VCPUs: 24}}, Best: wideE}
)

// megabytesE is the wide VM of article E with so much on its nodes: a benchmark that
// every vCPU runs over all memory.
func megabytesE(mb ...numa.Bytes) Use { return Use{Clients: shared(mb, wideE...)} }

// Reasons that several rows share.
const (
	whyHostE   = "The host of article E is not named: Skylake is assumed."
	whyNoise   = "The layout is the same, so the model says 1: this is how far like runs lie apart."
	whyMeasure = "A second measurement of the same family: hosts of one family differ by as much. The interval of a Skylake host covers all three."
)

var figuresPublished = []figure{
	{"d-latency", "MLC idle latency", idleRise/idleRiseShare + idleRise, idleRise / idleRiseShare, "ns",
		onD, "latency", interleaved, Fitted, "Gives the latencies of this host."},
	{"d-memory", "PassMark memory latency", latencyOn, latencyOff, "ns",
		onD, "latency", interleaved, Ranging, ""},
	{"d-memory", "PassMark memory read uncached", uncachedOn, uncachedOff, "MB/s",
		onD, "latency", interleaved, Ranging, "Reading ahead may hide part of the wait."},
	{"d-memory", "PassMark memory write", writeOn, writeOff, "MB/s",
		onD, "latency", interleaved, Ranging, "A written line is read first and written back later; the class knows one wait for each access."},
	{"d-memory", "PassMark memory read cached", cachedOn, cachedOff, "MB/s",
		onD, "cached", interleaved, Ranging, ""},
	{"d-memory", "PassMark memory threaded", threadedOn, threadedOff, "MB/s",
		onD, "bandwidth", interleaved, Fitted, "Gives the link of this host, if memory was interleaved (B-15, C-13)."},
	{"d-memory", "PassMark memory threaded, if all memory was on one node", threadedOn, threadedOff, "MB/s",
		onD, "bandwidth", onOneNode, Check, "The other reading of the same figure: the article does not say where the memory was."},
	{"d-memory", "PassMark database operations", databaseOn, databaseOff, "thousand/s",
		onD, "database", interleaved, Fitted, ""},
	{"d-database", "HammerDB batch requests", batchesOn, batchesOff, "/s",
		onD, "database", interleaved, Fitted, ""},
	{"d-database", "HammerDB server wait", waitOn, waitOff, "ms",
		onD, "database", interleaved, Check, "The sum of all waits of 100 users, not work done: waits grow faster than work shrinks."},
	{"d-memory", "PassMark memory mark", markOn, markOff, "",
		onD, "mixed", interleaved, Check, "A mark over memory tests alone: heavier on memory than the database that mixed is taken for."},
	{"e-wide", "wide VM, 16,220 MB on node 0, none on node 1", scoreOneNode, scoreEqual, "thousand",
		onE, "bandwidth", megabytesE(16220, 0), Ranging, whyHostE},
	{"e-wide", "the same, if the vCPUs were all on node 0 too", scoreOneNode, scoreEqual, "thousand",
		onE, "bandwidth", crowded, Ranging, whyHostE + " “All went to 1 node” may mean the clients; cores they lacked are ready time, which is not published."},
	{"e-cycle", "wide VM, 2,768 MB on node 1", scoreSomeMore, scoreEqual, "thousand",
		onE, "bandwidth", megabytesE(16220, 2768), Check, whyHostE + " The memory on node 0 is not printed: that of e-wide is assumed."},
	{"e-cycle", "wide VM, 16,722 and 8,418 MB", scoreOneNode, scoreEqual, "thousand",
		onE, "bandwidth", megabytesE(16722, 8418), Check, whyHostE + " The article does not explain why a third of the memory on the second node gained nothing (I-19); which of it the benchmark touched is not known."},
	{"e-stress", "wide VM after the second stress test", scoreThree, scoreEqual, "thousand",
		nil, "bandwidth", Use{}, Check, "The memory on each node is not published."},
	{"e-cure", "wide VM, equal on both nodes", scoreEqual, scoreEqual, "thousand",
		onE, "bandwidth", Use{Clients: wideE}, Fitted, "Index 1 by definition: the best score of the article."},
	{"a-sockets", "PassMark CPU mark, 2 cores per socket for 1", 13410, 14039, "",
		onA, "cached", allLocal, Check, whyNoise},
	{"a-sockets", "PassMark CPU mark, 16 cores per socket for 1", 13708, 14039, "",
		onA, "cached", allLocal, Check, whyNoise},
	{"a-sockets", "PassMark memory mark, 2 cores per socket for 1", 2704, 2757, "",
		onA, "mixed", allLocal, Check, whyNoise},
	{"a-sockets", "PassMark memory mark, 16 cores per socket for 1", 2694, 2757, "",
		onA, "mixed", allLocal, Check, whyNoise},
	{"a-preferht-speed", "PassMark database operations with preferHT, worst case", 100 - 12.31, 100, "%",
		onA, "database", allLocal, Check, "Memory is taken for local: where it was is not published. With preferHT two vCPUs share a core, and this index knows no hyper-threads."},
	{"a-preferht-speed", "PassMark CPU without preferHT, best case", 100, 199.67, "%",
		nil, "", Use{}, Check, "A gain of work on one cache instead of two; no figure says how much data it shared."},
	{"A-10", "Xeon v4, MLC idle latency, node interleaving", mlcIdleInterleaved, mlcIdleNUMA, "ns",
		onV4, "latency", interleaved, Check, ""},
	{"A-10", "Xeon v4, MLC bandwidth, node interleaving", mlcInterleaved, mlcNUMA, "MB/s",
		onV4, "bandwidth", interleaved, Fitted, "Gives the link of this family."},
	{"A-10", "Skylake of Denneman 2022/11/03, remote for local", 139, 89, "ns",
		onSkylake, "latency", otherNode, Check, whyMeasure},
	{"A-10", "Skylake of FD.io CSIT, remote for local", 131.1, 81.35, "ns",
		onSkylake, "latency", otherNode, Check, whyMeasure},
}

// Published returns every published figure that the model was fitted to or is checked
// against, with its estimate. Misses are among them.
func Published() []Row {
	rows := make([]Row, 0, len(figuresPublished))
	for i := range figuresPublished {
		rows = append(rows, figuresPublished[i].row())
	}
	return rows
}

func (f *figure) row() Row {
	r := Row{ID: f.id, What: f.what, Workload: f.workload, Purpose: f.purpose, Why: f.why, Observed: f.worse / f.better}
	between := "of"
	if f.slower() {
		r.Observed, between = f.better/f.worse, "for"
	}
	r.Figures = strings.TrimRight(fmt.Sprintf("%s %s %s %s", number(f.worse), between, number(f.better), f.unit), " ")
	if f.machine == nil {
		return r
	}
	w, err := ParseWorkload(f.workload)
	if err == nil {
		r.Model, err = f.machine.Index(w, f.use)
	}
	if err != nil {
		panic(err) // the table above is wrong
	}
	r.Modelled, r.Machine = true, f.machine.ID
	return r
}

// number prints a published figure with the digits it has.
func number(v float64) string {
	s := strings.TrimRight(strings.TrimRight(fmt.Sprintf("%.2f", v), "0"), ".")
	return cmp.Or(s, "0")
}
