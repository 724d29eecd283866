package fetchstats

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"time"

	"example.org/homenode/numa"
)

// A Writer writes the ticks of one host as answers of the service "Esxtop", which a Series converts
// back to ticks. It is for a simulated vCenter. Sizes below 1 KiB, times below 1 µs and values
// without a field are lost.
type Writer struct {
	// Machine has the number of PCPUs of each node; nil writes none.
	Machine *numa.Host
	// Boot is the start of the host, and of its clock.
	Boot time.Time

	pcpus []pcpu
	vms   map[int64]*written
}

// A written holds the current counters of a VM.
type written struct {
	begin time.Time
	moves [3]int64
	vcpu  vcpu // of one vCPU: all have the same share
}

// writtenTypes are the rows of an answer and their fields, in the order of writing.
const writtenTypes = `|Server|MinFetchIntervalInUsec,U64|IsVMVisor,B|TimeStampInUsec,U64|Time,S64|
|PCPU|NumOfLCPUs,U32|NumOfCores,U32|NumOfPackages,U32|
|LCPU|LCPUID,U32|UsedTimeInUsec,U64|HaltTimeInUsec,U64|CoreHaltTimeInUsec,U64|ElapsedTimeInUsec,U64|
|PMem|PhysicalMemInKB,U32|FreeMemInKB,U32|SchedMinFreeInKB,U32|SchedStateStr,CSTR|NumOfNUMANodes,U32|
|NUMANode|NodeID,U32|TotalInPages,U32|FreeInPages,U32|
|Sched|NumOfSchedGroups,U32|
|SchedGroup|GroupID,U32|GroupName,STR|IsValid,B|IsVM,B|VMName,STR|IsNUMAValid,B|HomeNodes,U32|NumOfBalanceMigrations,U32|NumOfLocalitySwap,U32|NumOfLoadSwap,U32|RemoteMemoryInKB,U32|LocalMemoryInKB,U32|LocalityPct,U32|
|VMNUMANodeMem|NodeID,U32|IsValid,B|GuestMemInKB,U32|OverheadMemInKB,U32|
|CPUClient|CPUClientID,U32|IsValid,B|NumOfVCPUs,U32|
|VCPU|VCPUID,U32|WorldName,STR|IsValid,B|UpTimeInUsec,U64|UsedTimeInUsec,U64|RunTimeInUsec,U64|CoStopTimeInUsec,U64|ReadyTimeInUsec,U64|
|VMem|MemClientID,U32|IsValid,B|CurrentSwapInKB,U32|ClientTouchedInKB,U32|ClientSizeInKB,U32|MappedInKB,U32|SharedInKB,U32|ZeroInKB,U32|BalloonSizeInKB,U32|UsedCacheInKB,U32|
`

// Info returns the CounterInfo of the host.
func (w *Writer) Info() string { return writtenTypes }

// Answer returns the FetchStats for a tick. The ticks of a host come in the order of time.
func (w *Writer) Answer(t *numa.Tick) string {
	var b bytes.Buffer
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	up := t.Time.Sub(w.Boot).Microseconds()
	p("%s\n|Server|PCPU,1|PMem,1|Sched,1|\n%s", objects, values)
	p("|Server|2000000|1|%d|%d|", up, t.Time.Unix())
	w.writePCPUs(t, up, p)
	var memory numa.Bytes
	for i := range t.Nodes {
		memory += t.Nodes[i].Total
	}
	state := ""
	if t.Has&numa.HasState != 0 {
		state = t.State.String()
	}
	p("|PMem|%d|%d|%d|%s|%d|", kib32(memory), kib32(t.Free), kib32(t.MinFree), state, len(t.Nodes))
	for i := range t.Nodes {
		n := &t.Nodes[i]
		p("|NUMANode|%d|%d|%d|", n.ID, n.Total/numa.PageSize, n.Free/numa.PageSize)
	}
	p("|Sched|%d|", 1+2*len(t.VMs))
	p("|SchedGroup|1|system|1|0|system|0|0|0|0|0|0|0|0|")
	gone := w.vms
	w.vms = map[int64]*written{}
	for i := range t.VMs {
		v := &t.VMs[i]
		at := gone[v.GID]
		if at == nil {
			at = &written{begin: t.Time.Add(-t.Since)}
		}
		w.vms[v.GID] = at
		at.writeVM(v, t, p)
	}
	return b.String()
}

// kib32 returns a size in KiB as in a field of 32 bits; beyond 4 TiB it overflows, as on a real host.
func kib32(b numa.Bytes) uint32 { return uint32(max(0, b) / numa.KiB) }

func (w *Writer) writePCPUs(t *numa.Tick, up int64, p func(string, ...any)) {
	if w.Machine == nil {
		return
	}
	nodes := w.Machine.Nodes.Value
	var threads, cores int
	for _, n := range nodes {
		threads, cores = threads+n.Threads, cores+n.Cores
	}
	if w.pcpus == nil {
		for i := range threads {
			w.pcpus = append(w.pcpus, pcpu{id: int64(i), halted: up - t.Since.Microseconds(), coreHalted: up - t.Since.Microseconds()})
		}
	}
	p("|PCPU|%d|%d|%d|", threads, cores, max(1, w.Machine.Packages.Value))
	next := 0
	for _, n := range nodes {
		var used, util, core float64
		for i := range t.Nodes {
			if x := &t.Nodes[i]; x.ID == n.ID {
				used, util, core = x.Used, x.Util, x.Core
				if x.Has&numa.HasUsed == 0 {
					used = util
				}
				if x.Has&numa.HasCore == 0 {
					core = util
				}
			}
		}
		for range n.Threads {
			c := &w.pcpus[next]
			next++
			c.elapsed = up
			c.used += share(used, t.Since)
			c.halted += t.Since.Microseconds() - share(util, t.Since)
			c.coreHalted += t.Since.Microseconds() - share(core, t.Since)
			p("|LCPU|%d|%d|%d|%d|%d|", c.id, c.used, c.halted, c.coreHalted, c.elapsed)
		}
	}
}

// share returns a part of a time, in microseconds.
func share(part float64, of time.Duration) int64 { return int64(part*float64(of.Microseconds()) + 0.5) }

func (at *written) writeVM(v *numa.VMTick, t *numa.Tick, p func(string, ...any)) {
	// Free text is unescaped: a | in a name stays, a line end becomes a blank.
	name := strings.NewReplacer("\n", " ", "\r", " ").Replace(v.Name)
	bit := map[bool]int{true: 1}
	at.moves[0] += v.Moves.All - v.Moves.LocalitySwap - v.Moves.LoadSwap
	at.moves[1] += v.Moves.LocalitySwap
	at.moves[2] += v.Moves.LoadSwap
	// The odd IDs are those of the groups vmm.
	cartel := 2 * v.GID
	p("|SchedGroup|%d|vm.%d|1|1|%s|%d|%d|%d|%d|%d|%d|%d|%d|", v.GID, cartel, name, bit[v.Homes != 0], uint32(v.Homes),
		at.moves[0], at.moves[1], at.moves[2], kib32(v.Remote), kib32(v.Local), v.Percent)
	for _, m := range v.OnNode {
		p("|VMNUMANodeMem|%d|1|%d|%d|", m.Node, kib32(m.Guest), kib32(m.Overhead))
	}
	if n := float64(v.VCPUs); n > 0 {
		c := &at.vcpu
		c.used += share(v.Used/n, t.Since)
		c.run += share(v.Run/n, t.Since)
		c.coStop += share(v.CoStop/n, t.Since)
		c.ready += share(v.Ready/n, t.Since)
	}
	p("|CPUClient|%d|1|%d|", cartel, v.VCPUs)
	for i := range v.VCPUs {
		c := at.vcpu
		p("|VCPU|%d|vmx-vcpu-%d:%s|1|%d|%d|%d|%d|%d|", cartel+int64(i), i, name, t.Time.Sub(at.begin).Microseconds(), c.used, c.run, c.coStop, c.ready)
	}
	p("|SchedGroup|%d|vmm.%d|1|0|%s|0|0|0|0|0|0|0|0|", 1<<31+v.GID, cartel, name)
	stated := func(bit numa.Counters, b numa.Bytes) uint32 {
		if v.Has&bit == 0 {
			return math.MaxUint32 // unknown
		}
		return kib32(b)
	}
	p("|VMem|%d|1|%d|%d|%d|%d|%d|%d|%d|%d|", cartel, stated(numa.HasSwapped, v.Swapped), stated(numa.HasActive, v.Active), stated(numa.HasSize, v.Size), stated(numa.HasGranted, v.Granted),
		stated(numa.HasShared, v.Shared), stated(numa.HasZero, v.Zero), stated(numa.HasBalloon, v.Balloon), stated(numa.HasCompressed, v.Compressed))
}
