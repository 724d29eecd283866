// Package guest measures the machine that it runs on, which may be a guest of any hypervisor: its topology as shown by the
// kernel, cache and memory latency, bandwidth, latency between logical processors, nodes of the host that the guest does
// not see, and delays of a request beyond memory.
//
//	Options ──► MakePlan ──► Plan ──► Run ──► measured.Result
//	             memory, pinned processors, tasks and their durations
//
// It changes no system settings, needs no privileges, and leaves nothing behind.
package guest

import (
	"slices"
	"time"

	"example.org/homenode/measure/guest/steps"
	"example.org/homenode/source/measured"
)

// A Part can be requested separately.
type Part string

// The parts.
const (
	Topology Part = "topology" // as shown by the kernel
	Memory   Part = "memory"   // caches and RAM: latency and bandwidth
	Cores    Part = "cores"    // latency between logical processors
	Hidden   Part = "hidden"   // nodes that the guest does not see
	Ladder   Part = "ladder"   // from system calls to remote procedure calls
)

// Parts are all parts, in the order in which they run.
var Parts = []Part{Topology, Hidden, Memory, Cores, Ladder}

// Paging selects the page size for memory measurements.
type Paging string

// The choices: huge pages if available, huge pages or nothing, small pages only.
const (
	PagingAuto Paging = "auto"
	PagingHuge Paging = "yes"
	PagingNone Paging = "no"
)

// Options control the measurement. The zero value measures everything in the default profile.
type Options struct {
	Parts   []Part // nil for all
	Profile measured.Profile
	Time    time.Duration // limit; 0 for that of the profile
	Memory  int64         // limit in bytes; 0 for 512 MiB
	CPUs    []int         // logical processors to measure; nil for all allowed ones
	Nodes   []int         // nodes to measure; nil for all
	Paging  Paging        // "" for PagingAuto
	Dir     string        // for writes that reach the disk; "" skips them
	Loaded  bool          // also measure latency under load
	Force   bool          // measure even on a busy machine
	Name    string        // the guest's name in the result

	// Requests are HTTP and remote procedure calls, of package request; nil in a program without them.
	Requests []steps.Step

	// Progress is called before each task, from the goroutine of Run; nil for none.
	Progress func(Progress)
}

// A Progress is the state of a run.
type Progress struct {
	Task     string
	Done     time.Duration // part of the planned time
	Planned  time.Duration
	Finished bool
}

// asks reports whether a part is requested.
func (o *Options) asks(p Part) bool {
	if len(o.Parts) == 0 {
		return true
	}
	return slices.Contains(o.Parts, p)
}

// quick reports whether the run must finish within seconds.
func (o *Options) quick() bool { return o.Profile == measured.Quick }
