// Package capture records the NUMA behaviour of a host: it processes the ticks of a source one
// by one, in memory that does not grow with their number. The result is a Recording, which
// rules assess and reports draw. Recordings of one host merge.
//
//	ticks ──► Recorder ──► Recording ─┐
//	ticks ──► Recorder ──► Recording ─┴─ Merge ──► one Recording a host
//
// All sums are integers (bytes × milliseconds, hundredths of a percent), so parts merge to the
// same Recording however a stretch was cut.
package capture

import (
	"fmt"
	"time"

	"example.org/homenode/numa"
)

// Options are the limits that a Recording counts by. They must be known before the first tick,
// and only Recordings of equal Options merge. The rules that read the counts declare them as
// thresholds, so the zero value is of no use.
type Options struct {
	Locality  float64       `json:"locality"`        // share below which memory counts as far away: M001
	Remote    numa.Bytes    `json:"remote"`          // remote memory that counts by itself: M005
	BusyNode  float64       `json:"busyNode"`        // share of a node's cores above which it is overloaded: M004, M009
	IdleNode  float64       `json:"idleNode"`        // share below which it is idle: M004, M009
	Ready     float64       `json:"ready"`           // ready time per vCPU that counts, in seconds a second: M009
	SpillFree numa.Bytes    `json:"spillFree"`       // free memory on a home node while memory goes remote: M008
	SpillStep numa.Bytes    `json:"spillStep"`       // new remote memory between two ticks that counts: M008
	Lopsided  float64       `json:"lopsided"`        // share of a VM's memory on one of its several home nodes: M010
	Window    time.Duration `json:"window"`          // window of Bursts: M002, M003
	Gap       time.Duration `json:"gap"`             // longest time between linked ticks
	Buckets   int           `json:"buckets"`         // maximum number of buckets of a Timeline
	Needs     bool          `json:"needs,omitempty"` // record VM.Needs: a third more time for each tick, and up to some 8 KB a VM
}

// A Recording describes one host and its VMs over one stretch of time.
type Recording struct {
	Host    string    `json:"host"` // as the source names it
	Options Options   `json:"options"`
	Files   []File    `json:"files"` // source files, in time order
	First   time.Time `json:"first"` // time of the first tick
	Last    time.Time `json:"last"`
	Ticks   int       `json:"ticks"`
	// Covered is the time between ticks, without gaps longer than Options.Gap.
	Covered time.Duration `json:"covered"`

	MinFree   numa.Bytes                  `json:"minFree,omitempty"`   // the last stated value; 0 unknown
	States    [numa.Low + 1]time.Duration `json:"states"`              // time in each memory state
	HasStates bool                        `json:"hasStates,omitempty"` // the source states them
	Short     Spells                      `json:"short"`               // a memory state below high; Worst is the state
	Imbalance Spells                      `json:"imbalance"`           // a node above BusyNode while another is below IdleNode
	At        Uneven                      `json:"at"`                  // the most uneven moment of Imbalance
	Nodes     []Node                      `json:"nodes"`               // by ID
	VMs       []VM                        `json:"vms"`                 // by name, then GID
	Moves     Burst                       `json:"moves"`               // migrations of all VMs
	FirstTick *numa.Tick                  `json:"firstTick"`           // for Merge, which processes the pair of ticks at a seam as a Recorder would
	LastTick  *numa.Tick                  `json:"lastTick"`
	Lacks     []string                    `json:"lacks,omitempty"` // counters that no tick had, named as in esxtop, sorted
}

// A File is one file of a Recording.
type File struct {
	Name     string    `json:"name"`
	Format   string    `json:"format"` // "esxtop batch CSV"
	First    time.Time `json:"first"`
	Last     time.Time `json:"last"`
	Ticks    int       `json:"ticks"`
	Parts    int       `json:"parts,omitempty"`    // files read as one, such as a folder of outputs; 0 for one file
	Left     int       `json:"left,omitempty"`     // omitted rows of the whole file: damaged, or not in time order
	Cut      bool      `json:"cut,omitempty"`      // it could not be read completely, or ends within a row
	Warnings []string  `json:"warnings,omitempty"` // file:line:column: text; the first of each kind, with counts
}

// An Uneven is the load of two nodes at one moment, as shares of their cores.
type Uneven struct {
	Time    time.Time `json:"time,omitzero"`
	Busiest int       `json:"busiest"`
	Busy    float64   `json:"busy"`
	Idlest  int       `json:"idlest"`
	Idle    float64   `json:"idle"`
	Ready   float64   `json:"ready,omitempty"` // per vCPU, in seconds a second; VMs only
}

// A Node is one NUMA node of a Recording.
type Node struct {
	ID       int                  `json:"id"`
	Total    numa.Bytes           `json:"total"` // the last stated value; 0 unknown
	LeastAt  time.Time            `json:"leastAt,omitzero"`
	Least    numa.Bytes           `json:"least"`    // minimum of free memory; -1 unknown
	LastFree numa.Bytes           `json:"lastFree"` // -1 unknown
	Busy     Level                `json:"busy"`     // share of its cores: 10,000 is all of them
	Timeline Timeline[NodeBucket] `json:"timeline"`
}

// A Level is a share over time, in hundredths of a percent: 10,000 is the whole. The zero value
// means never stated.
type Level struct {
	Sum  int64         `json:"sum"`  // share × milliseconds
	Time time.Duration `json:"time"` // duration of Sum
	Most int64         `json:"most"`
	At   time.Time     `json:"at,omitzero"` // of the first Most
}

// Mean returns the mean over time as a share (1 is the whole). It reports false if no value lasted
// any time.
func (l *Level) Mean() (share float64, ok bool) {
	if l.Time <= 0 {
		return 0, false
	}
	return float64(l.Sum) / float64(l.Time.Milliseconds()) / Whole, true
}

// Peak returns the maximum as a share (1 is the whole). It reports false if it was never stated.
func (l *Level) Peak() (share float64, ok bool) {
	return float64(l.Most) / Whole, !l.At.IsZero()
}

// Whole is 100 % in hundredths of a percent.
const Whole = 10000

// A VM is one life of a VM on the host, from power-on or arrival to power-off or departure.
// Each life has its own GID.
type VM struct {
	GID   int64     `json:"gid"` // -1 unknown
	Name  string    `json:"name"`
	Nth   int       `json:"nth,omitempty"`   // index among the VMs of one name and GID in a tick, from 0
	VCPUs int       `json:"vcpus,omitempty"` // the last stated value; 0 unknown
	First time.Time `json:"first"`           // first tick that contains it
	Last  time.Time `json:"last"`
	Ticks int       `json:"ticks"`
	// Appeared: it was not in the first tick of the host, so it was powered on, or arrived by
	// vMotion, during the stretch. Left: it was gone before the last tick.
	Appeared bool          `json:"appeared,omitempty"`
	Left     bool          `json:"left,omitempty"`
	Present  time.Duration `json:"present"` // time it was there

	Size numa.Bytes `json:"size,omitempty"` // configured; 0 unknown

	// Locality: local and remote memory over the time that both were stated and there was some.
	Managed  time.Duration `json:"managed"`  // time with memory on a node
	Low      Spells        `json:"low"`      // N%L below Options.Locality; Worst is the lowest share
	Far      Spells        `json:"far"`      // remote memory of Options.Remote or more; Worst is the maximum, in bytes
	Local    Amount        `json:"local"`    // NLMEM
	Remote   Amount        `json:"remote"`   // NRMEM
	Apart    Amount        `json:"apart"`    // not on the node of the client that uses it, while that was stated
	Traced   time.Duration `json:"traced"`   // part of Managed with numa.HasFar
	Least    Locality      `json:"least"`    // the moment of the lowest N%L
	Percents Percents      `json:"percents"` // N%L as printed by the source

	// Home nodes.
	Homes    []HomeTime `json:"homes,omitempty"`    // time on each set of home nodes
	Changes  []Change   `json:"changes,omitempty"`  // changes of home nodes in time order; the first MaxChanges
	Changed  Burst      `json:"changed"`            // all changes of home nodes
	Returns  Burst      `json:"returns"`            // changes back to the set before the last change
	Moves    numa.Moves `json:"moves"`              // NUMA migrations, NMIG
	Migrated Burst      `json:"migrated"`           // NUMA migrations over time
	HasKinds bool       `json:"hasKinds,omitempty"` // kinds of Moves are known

	Spill    Spells              `json:"spill"`              // new memory goes remote while its home nodes have free memory; Worst is the growth between two ticks, in bytes
	Spilled  Spill               `json:"spilled"`            // the tick of most growth
	Lopsided Spells              `json:"lopsided"`           // nearly all memory on one of several home nodes; Worst is the share
	LastNode []numa.MemoryOnNode `json:"lastNode,omitempty"` // the last stated memory by node

	// CPU: per vCPU, 10,000 is all of its time; the sum for the whole VM if VCPUs is 0.
	Ready     Level  `json:"ready"`
	CoStop    Level  `json:"coStop"`
	Used      Level  `json:"used"`
	Starved   Spells `json:"starved"`   // ready on a busy home node while another node idles; Worst is the ready share
	StarvedAt Uneven `json:"starvedAt"` // the worst moment of Starved

	// The last stated values; 0 unknown or none.
	LastLocal  numa.Bytes   `json:"lastLocal"`
	LastRemote numa.Bytes   `json:"lastRemote"`
	LastHomes  numa.NodeSet `json:"lastHomes"`
	Large      numa.Bytes   `json:"large,omitempty"`
	Shared     numa.Bytes   `json:"shared,omitempty"`
	Active     numa.Bytes   `json:"active,omitempty"`
	HasMemory  bool         `json:"hasMemory,omitempty"` // the source states local and remote memory
	HasHomes   bool         `json:"hasHomes,omitempty"`
	HasMoves   bool         `json:"hasMoves,omitempty"`

	Needs *Needs `json:"needs,omitempty"` // only with Options.Needs

	Has  numa.Counters `json:"has"`  // union of the counters of its ticks
	Path Path          `json:"path"` // for Merge

	Timeline Timeline[VMBucket] `json:"timeline"`
}

// Distinct returns a unique name for a VM that shares its name with others.
func (v *VM) Distinct() string {
	name := v.Name
	if v.GID >= 0 {
		name += fmt.Sprintf(" (gid %d)", v.GID)
	}
	if v.Nth > 0 {
		name += fmt.Sprintf(" #%d", v.Nth+1)
	}
	return name
}

// An Amount is memory over time.
type Amount struct {
	Sum  Sum        `json:"sum"` // over VM.Managed
	Most numa.Bytes `json:"most"`
	At   time.Time  `json:"at,omitzero"` // of the first Most
}

// A Sum is KiB × milliseconds, as Hi × 2^64 + Lo: a VM of 24 TiB fills 63 bits in four days.
type Sum struct {
	Hi uint64 `json:"hi,omitempty"`
	Lo uint64 `json:"lo"`
}

// A Locality is local and remote memory at one moment.
type Locality struct {
	Time   time.Time    `json:"time,omitzero"`
	Local  numa.Bytes   `json:"local"`
	Remote numa.Bytes   `json:"remote"`
	Homes  numa.NodeSet `json:"homes"`
}

// Percents checks N%L as the source prints it.
type Percents struct {
	Ticks int       `json:"ticks"`           // ticks that print N%L and have memory
	Full  int       `json:"full"`            // ticks that print 100
	Wrong int       `json:"wrong"`           // ticks where N%L contradicts local and remote memory by more than rounding
	Alone int       `json:"alone,omitempty"` // the lowest N%L above 0 without local and remote memory, which is not assessed; 0 for none
	To    time.Time `json:"to,omitzero"`     // of the last wrong one
	// The first wrong one.
	At     time.Time  `json:"at,omitzero"`
	File   string     `json:"file,omitempty"`
	Line   int        `json:"line,omitempty"`
	Shown  int        `json:"shown,omitempty"`
	Local  numa.Bytes `json:"local,omitempty"`
	Remote numa.Bytes `json:"remote,omitempty"`
}

// A HomeTime is the time that a VM had this set of home nodes.
type HomeTime struct {
	Homes numa.NodeSet  `json:"homes"`
	Time  time.Duration `json:"time"`
}

// A Change is one change of home nodes.
type Change struct {
	Time time.Time    `json:"time"`
	From numa.NodeSet `json:"from"`
	To   numa.NodeSet `json:"to"`
}

// A Path is the start and the end of the changes of a VM's home nodes. Ticks without home nodes
// do not count.
type Path struct {
	First  numa.NodeSet `json:"first"` // the first home nodes
	At     time.Time    `json:"at,omitzero"`
	Last   numa.NodeSet `json:"last"`
	Before numa.NodeSet `json:"before"` // home nodes before the last change; empty without one
}

// MaxChanges is the number of Changes stored for a VM; further changes are only counted.
const MaxChanges = 200

// A Spill is memory that went remote although all home nodes had free memory.
type Spill struct {
	Time   time.Time  `json:"time,omitzero"`
	Node   int        `json:"node"`   // the home node with the least free memory
	Free   numa.Bytes `json:"free"`   // on it, before
	Grown  numa.Bytes `json:"grown"`  // remote memory since the previous tick
	Remote numa.Bytes `json:"remote"` // after
}

// Spells are the times for which a condition was true without a break.
type Spells struct {
	Count   int           `json:"count"`
	Time    time.Duration `json:"time"` // total
	Ticks   int           `json:"ticks"`
	Longest Spell         `json:"longest"` // the first of the longest
	Last    Spell         `json:"last"`    // the one that began last
	// Head is the spell at the first tick (of the VM, for VM spells), Tail the one at the last
	// tick. Merge joins them with those of the neighbours. Both are included in the counts
	// above.
	Head Spell `json:"head"`
	Tail Spell `json:"tail"`
}

// Formats of data seen by homenode serve: a spell that continues has not ended.
const (
	FromBoard = "FetchStats" // the last hour
	FromStore = "samples"    // stored samples
)

// A Spell is one of them, from its first tick to the first tick at which the condition was
// false. If no tick followed within Options.Gap, it ends at the last tick at which the
// condition was true. The zero value means none.
type Spell struct {
	From  time.Time `json:"from,omitzero"`
	To    time.Time `json:"to,omitzero"`
	Ticks int       `json:"ticks"`
	Worst float64   `json:"worst"`       // as documented at each Spells field
	At    time.Time `json:"at,omitzero"` // time of Worst
}

// Length returns the duration of the spell.
func (s *Spell) Length() time.Duration { return s.To.Sub(s.From) }

// A Burst counts events, and the most events within one window of Options.Window. Windows begin
// at whole multiples of it since 1970.
type Burst struct {
	Total int64     `json:"total"`
	Most  int64     `json:"most"`        // in one window
	At    time.Time `json:"at,omitzero"` // start of the first window with Most
	// The windows at both ends of the stretch, for Merge.
	HeadAt time.Time `json:"headAt,omitzero"`
	Head   int64     `json:"head"`
	TailAt time.Time `json:"tailAt,omitzero"`
	Tail   int64     `json:"tail"`
}

// A Timeline has the values over time, in at most Options.Buckets buckets of equal width.
// Buckets begin at whole multiples of Width since 1970 and widths are powers of two seconds, so
// two Timelines merge without loss. Ticks can be farther apart than a bucket is wide: buckets
// with 0 ticks are a gap only if the ticks are farther apart than Options.Gap.
type Timeline[B any] struct {
	Width  time.Duration `json:"width"`
	Start  int64         `json:"start"` // the first bucket begins at Start × Width since 1970
	n      int           // buckets; Encode writes them separately
	packed []byte        // all but the last
	last   numbers       // of the last packed one with ticks
	open   B             // the last bucket
}

// Time returns the start time of bucket i.
func (t *Timeline[B]) Time(i int) time.Time {
	return time.Unix(0, (t.Start+int64(i))*int64(t.Width)).UTC()
}

// A VMBucket is a VM over the width of its Timeline.
type VMBucket struct {
	Ticks     int32
	Memory    int32 // ticks with memory on a node
	Local     int64 // KiB, summed over those ticks
	Remote    int64
	Least     int32        // minimum of N%L in hundredths of a percent; undefined if Memory is 0
	Homes     numa.NodeSet // union of home nodes
	Moves     int64        // migrations
	Rates     int32        // ticks that state ready
	Ready     int64        // per vCPU, hundredths of a percent, summed over Rates
	MostReady int32
	CoStop    int64 // like Ready
}

// A NodeBucket is a node over the width of its Timeline.
type NodeBucket struct {
	Ticks    int32
	Frees    int32 // ticks that state free memory
	Free     int64 // KiB, summed over those ticks
	Least    int64 // KiB
	Loads    int32 // ticks that state the load
	Busy     int64 // hundredths of a percent, summed over those ticks
	MostBusy int32
}
