// Package calibrate computes costs per I/O from the user's own benchmark results and the CPU use of
// the hosts during them:
//
//	cycles per I/O = (CPU − idle) × hosts ÷ IOPS
//	of which network = (transmitted × cost + received × cost) × hosts ÷ IOPS
//
// Repetitions give the 95 % interval, by Student's t; sizes of one kind give a line, cycles = a + b
// × block. Impossible values are excluded and reported, never used.
package calibrate

import (
	"fmt"
	"math"

	"example.org/homenode/numa/unit"
	"example.org/homenode/size/iocost"
)

// A Scope is the level at which CPU use was measured.
type Scope string

// The scopes, the widest first.
const (
	Host    Scope = "host"    // of the host: everything that the I/O uses
	Guest   Scope = "guest"   // as the guest sees it: without the hypervisor's part
	Process Scope = "process" // of the benchmark's process: not even the guest's interrupts
)

// A Reading is a number as printed.
type Reading[T ~float64] struct {
	Value T `json:"value"`
	// Half is half a unit of its last digit: the true number was within ± Half.
	Half T `json:"half,omitempty"`
}

// A Trial is one run of a benchmark with the load of the hosts.
type Trial struct {
	Test    string // the test case, with its time when it states one
	Place   string // file:line
	Line    int    // the line of Place, for sorting
	Source  string // file name without folders
	Started string // as the file states it; "" when missing
	Kind    iocost.Kind
	IOPS    Reading[unit.IORate]   // of all VMs together
	Traffic *Reading[unit.BitRate] // printed beside IOPS; nil unknown
	Limit   unit.IORate            // allowed for all disks together; 0 for none
	Load    *Load                  // nil when its CPU is unknown
	// Unusable is the reason, found by its reader, why the trial cannot be used; else "".
	Unusable string
}

// A Load is the load of one host during a trial, the mean over the hosts.
type Load struct {
	Scope    Scope
	Hosts    int // sharing the I/O; 1 for a guest
	CPU      Reading[unit.Hz]
	Idle     *Reading[unit.Hz] // CPU use without any I/O; nil when unknown, and then not subtracted
	Capacity unit.Hz           // of the host or guest; 0 unknown
	Transmit *Reading[unit.BitRate]
	Receive  *Reading[unit.BitRate] // both or none
	Source   string                 // file and line, or a flag
}

// net returns the CPU used for I/O by one host, with the uncertainty of the printed digits.
func (l *Load) net() Reading[unit.Hz] {
	net := l.CPU
	if l.Idle != nil {
		net.Value -= l.Idle.Value
		net.Half += l.Idle.Half
	}
	return net
}

// impossible returns the reason why a trial cannot be used; "" when it can.
func (t *Trial) impossible() string {
	l := t.Load
	switch {
	case t.Unusable != "":
		return t.Unusable
	case !(t.IOPS.Value > 0) || math.IsInf(float64(t.IOPS.Value), 0):
		return "0 I/Os a second: no I/O has no cost"
	case t.Kind.Block <= 0:
		return "the block size is not stated, or several are mixed"
	case l == nil:
		return "its CPU use is not known"
	case l.Hosts < 1:
		return "the number of hosts is not known (--host-count)"
	case l.Capacity > 0 && l.CPU.Value > l.Capacity:
		return fmt.Sprintf("%s of CPU is more than the %s has (%s)", l.CPU.Value, l.Scope, l.Capacity)
	case l.Idle != nil && l.CPU.Value <= l.Idle.Value:
		return fmt.Sprintf("%s of CPU is not more than the idle %s has (%s)", l.CPU.Value, l.Scope, l.Idle.Value)
	case !(l.CPU.Value > 0):
		return "it used no CPU"
	}
	return ""
}

// Tolerances of the checks.
const (
	// trafficTolerance is the allowed difference between IOPS × block and the printed throughput,
	// which is rounded; some tools also average it over other seconds.
	trafficTolerance = 0.02
	// limitTolerance is the distance at which a limit counts as reached: published runs against a
	// limit measured 100.2 and 100.3 % of it.
	limitTolerance = 0.02
	// spreadTolerance is the allowed distance of a run from the median of its repetitions.
	spreadTolerance = 0.10
)

// doubts returns warnings about a trial that is used.
func (t *Trial) doubts() []string {
	var out []string
	if t.Traffic != nil {
		is := t.IOPS.Value.Traffic(t.Kind.Block)
		if off := float64(t.Traffic.Value/is) - 1; math.Abs(off) > trafficTolerance {
			out = append(out, fmt.Sprintf("%s: %s of %s are %s, but printed are %s (%s): the block may be another",
				t.Place, t.IOPS.Value, iocost.Size(t.Kind.Block), is.Bytes(), t.Traffic.Value.Bytes(), percent(off)))
		}
	}
	if t.Limit > 0 && math.Abs(float64(t.IOPS.Value/t.Limit)-1) <= limitTolerance {
		out = append(out, fmt.Sprintf("%s: %s are the configured limit (%s), not what the cluster can do; their cost holds",
			t.Place, t.IOPS.Value, t.Limit))
	}
	return out
}

// cost returns the cycles of one I/O with the uncertainty of the printed digits.
func (t *Trial) cost() (value, low, high float64) {
	net, hosts := t.Load.net(), float64(t.Load.Hosts)
	value = float64(net.Value) * hosts / float64(t.IOPS.Value)
	low = max(0, float64(net.Value-net.Half)*hosts/float64(t.IOPS.Value+t.IOPS.Half))
	high = math.Inf(1)
	if t.IOPS.Value > t.IOPS.Half {
		high = float64(net.Value+net.Half) * hosts / float64(t.IOPS.Value-t.IOPS.Half)
	}
	return value, low, high
}

// network returns the TCP/IP part of the cost; false when the traffic is unknown.
func (t *Trial) network(o *Options) (value, low, high float64, ok bool) {
	l := t.Load
	if l.Transmit == nil || l.Receive == nil {
		return 0, 0, 0, false
	}
	per := float64(l.Hosts) / float64(t.IOPS.Value)
	tx, rx := l.Transmit, l.Receive
	value = float64(o.Transmit.Value.At(tx.Value)+o.Receive.Value.At(rx.Value)) * per
	low = float64(o.Transmit.Low.At(max(0, tx.Value-tx.Half))+o.Receive.Low.At(max(0, rx.Value-rx.Half))) * per
	high = float64(o.Transmit.High.At(tx.Value+tx.Half)+o.Receive.High.At(rx.Value+rx.Half)) * per
	return value, low, high, true
}
