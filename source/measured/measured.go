// Package measured defines the file that homenode measure writes inside a guest: the measurements of processors, memory and calls, and the missing
// ones with the reasons.
package measured

import (
	"time"

	"example.org/homenode/source/machine"
)

// Format and Version are at the start of every file.
const (
	Format  = "homenode-measure"
	Version = 1
)

// A Result is one run of homenode measure. It names no machine, user or address unless the user gave a name. A part that did not run is nil and
// listed in Missing.
type Result struct {
	Format   string    `json:"format"`
	Version  int       `json:"version"`
	Name     string    `json:"name,omitempty"`     // the user's name for the guest: --name
	Homenode string    `json:"homenode,omitempty"` // the version that ran
	Profile  Profile   `json:"profile"`
	Started  time.Time `json:"started"`
	Seconds  float64   `json:"seconds"`

	Machine *machine.Machine `json:"machine"` // as the guest sees it
	Clock   *Clock           `json:"clock,omitempty"`

	Levels    []Level     `json:"levels,omitempty"` // caches and RAM, derived from latencies
	Rungs     []Rung      `json:"rungs,omitempty"`  // latency by working set
	Latency   *Matrix     `json:"latencyMatrix,omitempty"`
	Bandwidth *Matrix     `json:"bandwidthMatrix,omitempty"`
	Threads   []Rate      `json:"bandwidthByThreads,omitempty"`
	Loaded    []LoadPoint `json:"loaded,omitempty"`
	Cores     *Cores      `json:"cores,omitempty"`
	Hidden    *Hidden     `json:"hidden,omitempty"`
	// HiddenByNode is the answer for each node of the guest with processors, when it sees several; Hidden combines them.
	HiddenByNode []Hidden `json:"hiddenByNode,omitempty"`
	Lost         *Lost    `json:"lost,omitempty"`
	Steps        []Step   `json:"steps,omitempty"` // from the system call to the remote procedure call

	// Compared is the prediction for this guest beside the measurements, when a prediction was given: --predicted.
	Compared []Compared `json:"compared,omitempty"`

	Trust   Trust             `json:"trust"`
	Missing []machine.Missing `json:"missing,omitempty"`
}

// A Profile is the thoroughness of a measurement.
type Profile string

// The profiles: seconds, or up to a minute.
const (
	Quick   Profile = "quick"
	Default Profile = "default"
)

// Stats summarize samples of one quantity, in its unit.
type Stats struct {
	N      int     `json:"n"`
	Median float64 `json:"median"`
	Low    float64 `json:"low"` // of the 95 % interval of the median, by order statistics
	High   float64 `json:"high"`
	Min    float64 `json:"min"`
	P25    float64 `json:"p25"`
	P75    float64 `json:"p75"`
	P99    float64 `json:"p99"`
	// Drift is the trend (Theil–Sen) over the time of measuring ÷ the median; Drifting is true above 5 %.
	Drift    float64 `json:"drift,omitempty"`
	Drifting bool    `json:"drifting,omitempty"`
	// Disturbed names a disturbance that took time; "" when none was seen.
	Disturbed string `json:"disturbed,omitempty"`
}

// A Clock describes the clock of the measurement.
type Clock struct {
	Counter   string  `json:"counter"`   // "TSC", "CNTVCT", or the clock of the operating system
	CounterHz float64 `json:"counterHz"` // against the monotonic clock
	// CoreHz is the clock of the core during the measurement: the lowest and the highest of several readings.
	CoreHzLow  float64 `json:"coreHzLow,omitempty"`
	CoreHzHigh float64 `json:"coreHzHigh,omitempty"`
}

// Pages are the size of the pages of measured memory.
type Pages string

// The sizes.
const (
	Small Pages = "small" // 4 KiB on most machines
	Huge  Pages = "huge"  // 2 MiB on most machines
)

// A Rung is the latency of dependent random loads in a working set.
type Rung struct {
	Pages   Pages `json:"pages"`
	Bytes   int64 `json:"bytes"`
	Latency Stats `json:"latencyNs"`
	// Level is the Level of the rung; "" on the slope between two.
	Level string `json:"level,omitempty"`
}

// A Level is a cache, or RAM, as a run of working sets with one latency.
type Level struct {
	Name    string  `json:"name"` // L1, L2, L3, RAM
	Pages   Pages   `json:"pages"`
	Latency float64 `json:"latencyNs"`        // median of its rungs
	Cycles  float64 `json:"cycles,omitempty"` // of the core clock at that moment
	From    int64   `json:"fromBytes"`        // least working set of it
	To      int64   `json:"toBytes"`          // greatest
	// Told is the size reported to the guest, in bytes; 0 when none was reported, and for RAM.
	Told int64 `json:"toldBytes,omitempty"`
}

// A Matrix is measured from each node with CPUs to each node with memory.
type Matrix struct {
	Unit  string   `json:"unit"` // "ns" or "MB/s" (10^6 bytes)
	From  []int    `json:"from"` // nodes, by the guest's numbers
	To    []int    `json:"to"`
	Cells [][]Cell `json:"cells"` // by From, then To
	Pages Pages    `json:"pages"`
	Bytes int64    `json:"bytes"` // working set of a cell
	// Placed reports that the operating system confirmed the placement of the pages.
	Placed bool `json:"placed"`
}

// A Cell is one figure of a matrix; Stats is nil without a measurement.
type Cell struct {
	Stats *Stats `json:"stats,omitempty"`
}

// A Rate is the bandwidth of a number of threads together.
type Rate struct {
	Node    int     `json:"node"` // of threads and memory
	Threads int     `json:"threads"`
	Mix     string  `json:"mix"` // "read", "copy", "2:1", "3:1" (reads : writes)
	MBps    float64 `json:"mbPerSecond"`
	Knee    bool    `json:"knee,omitempty"` // more threads add less than 5 %
}

// A LoadPoint is the latency seen by one vCPU while the others load memory.
type LoadPoint struct {
	DelayNs float64 `json:"delayNs"` // pause of the loading threads between lines
	MBps    float64 `json:"mbPerSecond"`
	Latency Stats   `json:"latencyNs"`
}

// Cores is the latency of a cache line between logical processors.
type Cores struct {
	Method string `json:"method"` // figures of different methods are never compared
	CPUs   []int  `json:"cpus"`   // logical processors, in the order of Groups
	Pairs  []Pair `json:"pairs"`
	// Levels are the groups derived from the latencies, from the closest: threads of a core, L3, package.
	Levels []GroupLevel `json:"levels,omitempty"`
	Note   string       `json:"note,omitempty"` // limits of the groups
}

// A Pair is two logical processors. Guessed pairs were not measured: their figure is the median of their groups.
type Pair struct {
	A       int       `json:"a"`
	B       int       `json:"b"`
	Latency PairStats `json:"latencyNs"`
	States  []State   `json:"states,omitempty"` // more than one when the hypervisor moved a vCPU meanwhile
	Changes float64   `json:"changesPerMinute,omitempty"`
	Guessed bool      `json:"guessed,omitempty"`
}

// PairStats summarize the samples of a pair, in ns. The median is that of the samples below the 75th percentile: an interrupted one is up to 10,000
// times too long.
type PairStats struct {
	N      int     `json:"n"`
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	P25    float64 `json:"p25"`
	P75    float64 `json:"p75"`
}

// A State is one latency that a pair had for a share of the time.
type State struct {
	Nanoseconds float64 `json:"ns"`
	Share       float64 `json:"share"`
}

// A GroupLevel is one way to group the logical processors.
type GroupLevel struct {
	Name   string  `json:"name"`
	Groups [][]int `json:"groups"` // of logical processors
	Ratio  float64 `json:"ratio"`  // latency between ÷ within
}

// An Answer is the conclusion from latencies about hidden nodes.
type Answer string

// The answers.
const (
	SeveralNodes Answer = "several nodes" // vCPUs or pages of a node of the guest are on several nodes of the host
	FarPages     Answer = "far pages"     // two kinds of memory, and one kind of vCPUs
	OneKind      Answer = "one kind"      // all near, all far, or one node: indistinguishable from inside
	NotKnown     Answer = "not known"     // too little was measured, or it contradicts itself
)

// Hidden is the evidence in latencies for nodes that the guest does not see.
type Hidden struct {
	Node   *int   `json:"node,omitempty"` // of the guest whose vCPUs and pages were examined; nil for all
	Answer Answer `json:"answer"`
	Says   string `json:"says"` // in a sentence, with its limits
	Method string `json:"method"`
	// Probability is how often an answer like this one is right: the share of right answers among simulated guests with as many vCPUs and pages,
	// answered by the same method with as many groups and such a step. FalseAlarms is the share of simulated guests of this size with one node that
	// were answered with several nodes or far pages. They are the lower and the upper end of 95 % intervals: "at least" and "at most". Both are 0
	// when no similar guest was simulated. docs/evidence/measure-power.md has the runs.
	Probability float64      `json:"probability,omitempty"`
	FalseAlarms float64      `json:"falseAlarms,omitempty"`
	Groups      [][]int      `json:"groups,omitempty"` // logical processors by node of the host
	Unplaced    []int        `json:"unplaced,omitempty"`
	Pages       int          `json:"pages"`
	Blocks      int          `json:"blocks"` // number of 2 MiB blocks that contain the pages
	Delta       float64      `json:"deltaNs,omitempty"`
	Shares      []Share      `json:"shares,omitempty"`
	Checks      []Check      `json:"checks,omitempty"`
	Why         string       `json:"why,omitempty"` // why not known
	Modes       *Modes       `json:"modes,omitempty"`
	Histogram   []HistoCount `json:"histogram,omitempty"` // of the medians of pages
}

// A Share is the part of the memory that is far from the measuring vCPUs.
type Share struct {
	Of     string  `json:"of"`   // "fresh" (placed now), "page cache" (placed in the past), "all"
	From   []int   `json:"from"` // logical processors that measured
	Pages  int     `json:"pages"`
	Remote float64 `json:"remote"` // of 0 to 1
	Low    float64 `json:"low"`    // of its 95 % interval (Wilson)
	High   float64 `json:"high"`
}

// Modes are two normal distributions with equal spread, fitted to the latencies of pages.
type Modes struct {
	Near   float64 `json:"nearNs"`
	Far    float64 `json:"farNs"`
	Spread float64 `json:"spreadNs"`
	Share  float64 `json:"farShare"`
}

// A HistoCount is the number of pages in one latency bin.
type HistoCount struct {
	Nanoseconds float64 `json:"ns"` // the middle of the bin
	Pages       int     `json:"pages"`
}

// Lost is time that the guest did not get although its threads were ready.
type Lost struct {
	Seconds float64 `json:"seconds"` // watched time, of all logical processors together
	// ByHost is the share of gaps without a switch by the guest: ready time, co-stop or interrupts. It is a lower bound.
	ByHost  float64 `json:"byHost"`
	ByGuest float64 `json:"byGuest"` // share of gaps in which the guest ran something else
	Steal   float64 `json:"steal"`   // as the kernel counts it; 0 on ESXi proves nothing
	Longest float64 `json:"longestSeconds"`
	Gaps    int     `json:"gaps"`
}

// A Step is one rung of the ladder from the system call to the remote procedure call.
type Step struct {
	Name    string `json:"name"`            // syscall, switch, unix, tcp, http, rpc-like, fsync, …
	Where   string `json:"where,omitempty"` // "one vCPU", "same L3", "other node", a folder's kind of file system
	Latency Stats  `json:"latencyNs"`
	About   string `json:"about,omitempty"` // the measured operation
}

// A Compared is one predicted quantity beside its measurement.
type Compared struct {
	Name      string `json:"name"` // in the field's words: "virtual nodes (VPDs)"
	Predicted string `json:"predicted"`
	Measured  string `json:"measured,omitempty"`
	Verdict   string `json:"verdict"`       // Agrees, Differs or NotSeen
	Why       string `json:"why,omitempty"` // why it cannot be measured
}

// The verdicts of a Compared.
const (
	Agrees  = "agrees"
	Differs = "differs"
	NotSeen = "cannot be seen from inside"
)

// A Trust reports whether the figures can be used.
type Trust struct {
	OK      bool     `json:"ok"`
	Reasons []string `json:"reasons,omitempty"` // why not, or their limitations
	Checks  []Check  `json:"checks,omitempty"`
}

// A Check is one comparison of figures that should agree.
type Check struct {
	Name  string `json:"name"`
	Found string `json:"found"`
	Want  string `json:"want"`
	OK    bool   `json:"ok"`
}
