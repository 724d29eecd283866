// Package guest measures the machine that it runs on, which may be a guest of any hypervisor: its topology as the kernel
// shows it, caches and memory by latency, bandwidth, the way from one logical processor to another, nodes of the host that
// the guest was not told of, and what a request waits for beyond memory.
//
//	Options ──► MakePlan ──► Plan ──► Run ──► measured.Result
//	             what is allocated, pinned and run, and for how long
//
// It changes no setting of the system, needs no rights, and leaves nothing behind.
package guest

import (
	"slices"
	"time"

	"homenode/measure/guest/steps"
	"homenode/source/measured"
)

// A Part is what can be asked for by itself.
type Part string

// The parts.
const (
	Topology Part = "topology" // as the kernel shows it
	Memory   Part = "memory"   // caches and RAM: latency and bandwidth
	Cores    Part = "cores"    // from one logical processor to another
	Hidden   Part = "hidden"   // nodes that the guest was not told of
	Ladder   Part = "ladder"   // from the system call to the remote procedure call
)

// Parts are all parts, in the order in which they run.
var Parts = []Part{Topology, Hidden, Memory, Cores, Ladder}

// Paging says which pages memory is measured with.
type Paging string

// The choices: huge pages where the system gives them, huge pages or nothing, small pages alone.
const (
	PagingAuto Paging = "auto"
	PagingHuge Paging = "yes"
	PagingNone Paging = "no"
)

// Options say what is measured. The zero value measures everything in the default profile.
type Options struct {
	Parts   []Part // nil for all
	Profile measured.Profile
	Time    time.Duration // at most; 0 for what the profile takes
	Memory  int64         // bytes at most; 0 for 512 MiB
	CPUs    []int         // logical processors that are measured; nil for all that are allowed
	Nodes   []int         // nodes that are measured; nil for all
	Paging  Paging        // "" for PagingAuto
	Dir     string        // for writes that reach the disk; "" leaves them out
	Loaded  bool          // measures latency under load too
	Force   bool          // measures on a busy machine
	Name    string        // what the result calls the guest

	// Requests are HTTP and remote procedure calls, of package request; nil in a program without them.
	Requests []steps.Step

	// Progress is called before each task, from the goroutine of Run; nil for none.
	Progress func(Progress)
}

// A Progress says how far a run is.
type Progress struct {
	Task     string
	Done     time.Duration // of the planned time
	Planned  time.Duration
	Finished bool
}

// asks reports whether a part was asked for.
func (o *Options) asks(p Part) bool {
	if len(o.Parts) == 0 {
		return true
	}
	return slices.Contains(o.Parts, p)
}

// quick reports whether seconds must do.
func (o *Options) quick() bool { return o.Profile == measured.Quick }
