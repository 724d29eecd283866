// Package capture keeps what NUMA did on a host while someone looked: it takes the ticks
// of a source one by one, in memory that does not grow with their number, and gives a
// Recording that rules judge and reports draw. Recordings of one host merge.
//
//	ticks ──► Recorder ──► Recording ─┐
//	ticks ──► Recorder ──► Recording ─┴─ Merge ──► one Recording a host
//
// Everything that is added up is a whole number (bytes × milliseconds, hundredths of a
// percent), so that parts merge to the same Recording in whatever way a stretch was cut.
package capture

import (
	"fmt"
	"time"

	"homenode/numa"
)

// Options are the limits that a Recording counts by. They have to be known before the
// first tick; only Recordings of equal Options merge. The rules that read the counts
// declare them as thresholds, so the zero value is of no use.
type Options struct {
	Locality  float64       `json:"locality"`        // share below which memory counts as far away: M001
	Remote    numa.Bytes    `json:"remote"`          // remote memory that counts by itself: M005
	BusyNode  float64       `json:"busyNode"`        // share of a node's cores above which it is overloaded: M004, M009
	IdleNode  float64       `json:"idleNode"`        // share below which it is idle: M004, M009
	Ready     float64       `json:"ready"`           // ready time of each vCPU that counts, in seconds a second: M009
	SpillFree numa.Bytes    `json:"spillFree"`       // free on a home node while memory goes remote: M008
	SpillStep numa.Bytes    `json:"spillStep"`       // new memory that went remote between two ticks and counts: M008
	Lopsided  float64       `json:"lopsided"`        // share of a VM's memory on one of its several home nodes: M010
	Window    time.Duration `json:"window"`          // over which Bursts count: M002, M003
	Gap       time.Duration `json:"gap"`             // longest time between ticks that still hang together
	Buckets   int           `json:"buckets"`         // most buckets of a Timeline
	Needs     bool          `json:"needs,omitempty"` // keep VM.Needs: a third more time for each tick, and up to some 8 KB a VM
}

// A Recording is what one host and its VMs did in one stretch of time.
type Recording struct {
	Host    string    `json:"host"` // as the source names it
	Options Options   `json:"options"`
	Files   []File    `json:"files"` // that it comes from, in the order of time
	First   time.Time `json:"first"` // tick
	Last    time.Time `json:"last"`
	Ticks   int       `json:"ticks"`
	// Covered is the time between ticks, without gaps longer than Options.Gap.
	Covered time.Duration `json:"covered"`

	MinFree   numa.Bytes                  `json:"minFree,omitempty"`   // the last one stated; 0 unknown
	States    [numa.Low + 1]time.Duration `json:"states"`              // time in each memory state
	HasStates bool                        `json:"hasStates,omitempty"` // the source states them
	Short     Spells                      `json:"short"`               // a memory state below high; Worst is the state
	Imbalance Spells                      `json:"imbalance"`           // a node above BusyNode while another is below IdleNode
	At        Uneven                      `json:"at"`                  // the most uneven moment of Imbalance
	Nodes     []Node                      `json:"nodes"`               // by ID
	VMs       []VM                        `json:"vms"`                 // by name, then GID
	Moves     Burst                       `json:"moves"`               // migrations of all VMs
	FirstTick *numa.Tick                  `json:"firstTick"`           // kept for Merge, which looks at the pair of ticks at a seam as a Recorder would
	LastTick  *numa.Tick                  `json:"lastTick"`
	Lacks     []string                    `json:"lacks,omitempty"` // counters that no tick had, in esxtop's words, sorted
}

// A File is one file of a Recording.
type File struct {
	Name     string    `json:"name"`
	Format   string    `json:"format"` // "esxtop batch CSV"
	First    time.Time `json:"first"`
	Last     time.Time `json:"last"`
	Ticks    int       `json:"ticks"`
	Parts    int       `json:"parts,omitempty"`    // files that were read as one, such as a folder of outputs; 0 for one file
	Left     int       `json:"left,omitempty"`     // rows of the whole file that were left out: damaged, or not in the order of time
	Cut      bool      `json:"cut,omitempty"`      // it could not be read to its end, or ends within a row
	Warnings []string  `json:"warnings,omitempty"` // file:line:column: text; the first of each kind, with counts
}

// An Uneven is the load of two nodes at one moment, as shares of their cores.
type Uneven struct {
	Time    time.Time `json:"time,omitzero"`
	Busiest int       `json:"busiest"`
	Busy    float64   `json:"busy"`
	Idlest  int       `json:"idlest"`
	Idle    float64   `json:"idle"`
	Ready   float64   `json:"ready,omitempty"` // of each vCPU, in seconds a second; only of a VM
}

// A Node is one NUMA node of a Recording.
type Node struct {
	ID       int                  `json:"id"`
	Total    numa.Bytes           `json:"total"` // the last one stated; 0 unknown
	LeastAt  time.Time            `json:"leastAt,omitzero"`
	Least    numa.Bytes           `json:"least"`    // least free memory; -1 when unknown
	LastFree numa.Bytes           `json:"lastFree"` // -1 when unknown
	Busy     Level                `json:"busy"`     // of its cores: 10,000 is all of them
	Timeline Timeline[NodeBucket] `json:"timeline"`
}

// A Level is how high a share was over time, in hundredths of a percent: 10,000 is the
// whole. The zero value was never stated.
type Level struct {
	Sum  int64         `json:"sum"`  // share × milliseconds
	Time time.Duration `json:"time"` // that Sum is over
	Most int64         `json:"most"`
	At   time.Time     `json:"at,omitzero"` // of the first Most
}

// Mean returns the mean over time as a share, 1 being the whole; false when it was never
// stated over any time.
func (l *Level) Mean() (share float64, ok bool) {
	if l.Time <= 0 {
		return 0, false
	}
	return float64(l.Sum) / float64(l.Time.Milliseconds()) / Whole, true
}

// Peak returns the highest as a share, 1 being the whole.
func (l *Level) Peak() (share float64, ok bool) {
	return float64(l.Most) / Whole, !l.At.IsZero()
}

// Whole is 100 % in hundredths of a percent.
const Whole = 10000

// A VM is one life of a VM on the host: from its power-on or arrival to its end or
// departure, each life with a GID of its own.
type VM struct {
	GID   int64     `json:"gid"` // -1 when unknown
	Name  string    `json:"name"`
	Nth   int       `json:"nth,omitempty"`   // of the VMs of one name and GID in a tick, from 0
	VCPUs int       `json:"vcpus,omitempty"` // when last stated; 0 unknown
	First time.Time `json:"first"`           // tick that shows it
	Last  time.Time `json:"last"`
	Ticks int       `json:"ticks"`
	// Appeared: it was not there at the first tick of the host, so its power-on, or its
	// arrival by vMotion, lies in the stretch. Left: it was gone before the last one.
	Appeared bool          `json:"appeared,omitempty"`
	Left     bool          `json:"left,omitempty"`
	Present  time.Duration `json:"present"` // time it was there

	Size numa.Bytes `json:"size,omitempty"` // configured; 0 unknown

	// Locality: local and remote memory over the time that both were stated and there was some.
	Managed  time.Duration `json:"managed"`  // time with memory on a node
	Low      Spells        `json:"low"`      // N%L below Options.Locality; Worst is the least share
	Far      Spells        `json:"far"`      // remote memory of Options.Remote or more; Worst is the most, in bytes
	Local    Amount        `json:"local"`    // NLMEM
	Remote   Amount        `json:"remote"`   // NRMEM
	Apart    Amount        `json:"apart"`    // not on the node of the client that uses it: numa.HasFar
	Least    Locality      `json:"least"`    // the moment of the least N%L
	Percents Percents      `json:"percents"` // what the source prints as N%L

	// Home nodes.
	Homes    []HomeTime `json:"homes,omitempty"`    // how long on which nodes, by set
	Changes  []Change   `json:"changes,omitempty"`  // of the home nodes, in the order of time; the first MaxChanges
	Changed  Burst      `json:"changed"`            // all changes of home nodes
	Returns  Burst      `json:"returns"`            // changes back to the set before the last change
	Moves    numa.Moves `json:"moves"`              // NUMA migrations, NMIG
	Migrated Burst      `json:"migrated"`           // NUMA migrations over time
	HasKinds bool       `json:"hasKinds,omitempty"` // kinds of Moves are known

	Spill    Spells              `json:"spill"`              // new memory goes remote while its home nodes have free memory; Worst is the growth between two ticks in bytes
	Spilled  Spill               `json:"spilled"`            // the tick of most growth
	Lopsided Spells              `json:"lopsided"`           // nearly all memory on one of several home nodes; Worst is the share
	LastNode []numa.MemoryOnNode `json:"lastNode,omitempty"` // memory by node when last stated

	// CPU: of each vCPU, 10,000 is all of its time; of the whole VM when VCPUs is 0.
	Ready     Level  `json:"ready"`
	CoStop    Level  `json:"coStop"`
	Used      Level  `json:"used"`
	Starved   Spells `json:"starved"`   // ready on a busy home node while another node idles; Worst is the ready share
	StarvedAt Uneven `json:"starvedAt"` // the worst moment of Starved

	// The last ones stated; 0 unknown or none.
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

	Has  numa.Counters `json:"has"`  // what any of its ticks states
	Path Path          `json:"path"` // for Merge

	Timeline Timeline[VMBucket] `json:"timeline"`
}

// Distinct names a VM that is not the only one of its name.
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

// A Sum is KiB × milliseconds, as Hi × 2^64 + Lo: a VM of 24 TiB fills 63 bits in four
// days.
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

// Percents checks what a source prints as N%L.
type Percents struct {
	Ticks int       `json:"ticks"`           // that print one and have memory
	Full  int       `json:"full"`            // of them, that print 100
	Wrong int       `json:"wrong"`           // of them, that contradict local and remote memory by more than rounding
	Alone int       `json:"alone,omitempty"` // the least above 0 that stands without local and remote memory, and so is not judged; 0 for none
	To    time.Time `json:"to,omitzero"`     // of the last wrong one
	// The first wrong one.
	At     time.Time  `json:"at,omitzero"`
	File   string     `json:"file,omitempty"`
	Line   int        `json:"line,omitempty"`
	Shown  int        `json:"shown,omitempty"`
	Local  numa.Bytes `json:"local,omitempty"`
	Remote numa.Bytes `json:"remote,omitempty"`
}

// A HomeTime is how long a VM had this set of home nodes.
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

// A Path is where the changes of home nodes of a VM began and ended. Ticks without home
// nodes do not count.
type Path struct {
	First  numa.NodeSet `json:"first"` // the first home nodes
	At     time.Time    `json:"at,omitzero"`
	Last   numa.NodeSet `json:"last"`
	Before numa.NodeSet `json:"before"` // those before the last change; empty without one
}

// MaxChanges is how many Changes a VM keeps; more are counted only.
const MaxChanges = 200

// A Spill is memory that went remote although all home nodes had free memory.
type Spill struct {
	Time   time.Time  `json:"time,omitzero"`
	Node   int        `json:"node"`   // the home node with the least free memory
	Free   numa.Bytes `json:"free"`   // on it, before
	Grown  numa.Bytes `json:"grown"`  // remote memory since the tick before
	Remote numa.Bytes `json:"remote"` // after
}

// Spells are the times for which something held without a break.
type Spells struct {
	Count   int           `json:"count"`
	Time    time.Duration `json:"time"` // of all together
	Ticks   int           `json:"ticks"`
	Longest Spell         `json:"longest"` // the first of the longest
	Last    Spell         `json:"last"`    // the one that began last
	// Head holds at the first tick (of the VM, for those of a VM), Tail at the last one:
	// Merge joins them with those of the neighbours. They are counted above.
	Head Spell `json:"head"`
	Tail Spell `json:"tail"`
}

// Formats of what homenode serve has seen: what goes on is not the end.
const (
	FromBoard = "FetchStats" // the last hour
	FromStore = "samples"    // what is kept
)

// A Spell is one of them. It goes from its first tick to the first tick at which it no
// longer held, or to the last tick at which it did when none followed within
// Options.Gap. The zero value is none.
type Spell struct {
	From  time.Time `json:"from,omitzero"`
	To    time.Time `json:"to,omitzero"`
	Ticks int       `json:"ticks"`
	Worst float64   `json:"worst"`       // what Spells say of it
	At    time.Time `json:"at,omitzero"` // of Worst
}

// Length returns how long the spell was.
func (s *Spell) Length() time.Duration { return s.To.Sub(s.From) }

// A Burst counts events, and how many of them fell into one window of Options.Window.
// Windows begin at whole multiples of it since 1970.
type Burst struct {
	Total int64     `json:"total"`
	Most  int64     `json:"most"`        // in one window
	At    time.Time `json:"at,omitzero"` // where the first window with Most begins
	// The windows that touch the ends of the stretch, for Merge.
	HeadAt time.Time `json:"headAt,omitzero"`
	Head   int64     `json:"head"`
	TailAt time.Time `json:"tailAt,omitzero"`
	Tail   int64     `json:"tail"`
}

// A Timeline is what happened over time, in at most Options.Buckets buckets of equal
// width. Buckets begin at whole multiples of Width since 1970 and widths are powers of two
// seconds, so that two Timelines merge without loss. Ticks can be farther apart than
// buckets are wide: a bucket with 0 ticks is a gap only when they are farther apart than
// Options.Gap.
type Timeline[B any] struct {
	Width   time.Duration `json:"width"`
	Start   int64         `json:"start"` // the first bucket begins at Start × Width since 1970
	Buckets []B           `json:"-"`     // Encode writes them otherwise
}

// Time returns when bucket i begins.
func (t *Timeline[B]) Time(i int) time.Time {
	return time.Unix(0, (t.Start+int64(i))*int64(t.Width)).UTC()
}

// A VMBucket is a VM over the width of its Timeline.
type VMBucket struct {
	Ticks     int32
	Memory    int32 // ticks with memory on a node
	Local     int64 // KiB, added up over them
	Remote    int64
	Least     int32        // least N%L in hundredths of a percent; of no meaning when Memory is 0
	Homes     numa.NodeSet // all home nodes in it
	Moves     int64        // migrations
	Rates     int32        // ticks that state ready
	Ready     int64        // of each vCPU, hundredths of a percent, added up over Rates
	MostReady int32
	CoStop    int64 // as Ready
}

// A NodeBucket is a node over the width of its Timeline.
type NodeBucket struct {
	Ticks    int32
	Frees    int32 // ticks that state free memory
	Free     int64 // KiB, added up over them
	Least    int64 // KiB
	Loads    int32 // ticks that state the load
	Busy     int64 // hundredths of a percent, added up over them
	MostBusy int32
}
