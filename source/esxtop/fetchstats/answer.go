package fetchstats

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"example.org/homenode/numa"
)

// An answer is one FetchStats: a host at one moment, its counters since its start.
type answer struct {
	line  int
	stamp int64     // microseconds of the host's clock that begins at its start
	time  time.Time // to the second
	size  numa.Bytes
	lcpus int64 // 0 when not stated
	cores int64

	has     numa.Counters
	free    numa.Bytes
	minFree numa.Bytes
	state   numa.MemoryState
	shared  numa.Bytes
	common  numa.Bytes
	nodes   []numa.NodeTick
	pcpus   []pcpu

	groups int64 // stated by Sched; -1 when it states none
	seen   int64 // groups
	vms    []vm
	byGID  map[int64]int     // index of vms
	sizes  map[string]vmSize // by cartel
	vcpus  []vcpu            // of all VMs, each VM's together
}

// A pcpu is one row LCPU, in microseconds since the start of the host.
type pcpu struct{ id, used, halted, coreHalted, elapsed int64 }

// A vm is a group with IsVM.
type vm struct {
	tick   numa.VMTick
	line   int
	cartel string // "13713826" of vm.13713826
	leader int64  // world of the vmx; -1 when not stated
	moves  [3]int64
	onNode numa.Bytes // guest memory on all nodes
	from   int        // of answer.vcpus
	to     int
	broken bool // a row of a vCPU could not be parsed
}

// A vcpu is one world vmx-vcpu, in microseconds since its start.
type vcpu struct{ id, up, used, run, ready, coStop int64 }

// A vmSize holds the values of the group vmm.<cartel>: the guest's memory, without that of the vmx
// process, which the group vm.<cartel> includes.
type vmSize struct {
	has                                                 numa.Counters
	size, granted, active, shared, zero, balloon, swaps numa.Bytes
	saved, hint, compressed                             numa.Bytes
}

// A place is the object of a row: rows follow the group that owns them.
type place struct {
	vm    int    // index of answer.vms; -1 for a group that is no VM
	vmm   string // cartel of a group vmm.<cartel>
	owner row    // the row SchedGroup
}

// reset clears a for the next answer and keeps its memory.
func (a *answer) reset() {
	nodes, pcpus, vms, vcpus, byGID, sizes := a.nodes[:0], a.pcpus[:0], a.vms[:0], a.vcpus[:0], a.byGID, a.sizes
	clear(byGID)
	clear(sizes)
	*a = answer{groups: -1, nodes: nodes, pcpus: pcpus, vms: vms, vcpus: vcpus, byGID: byGID, sizes: sizes}
	if byGID == nil {
		a.byGID, a.sizes = map[int64]int{}, map[string]vmSize{}
	}
}

// read parses the rows of one answer. The error names a missing or malformed row that makes the
// answer unusable: without it an existing object would seem to be gone.
func (a *answer) read(s *schema, rows []row, warn func(kind string, line int, text string)) error {
	a.reset()
	var c record
	at := place{vm: -1}
	for _, r := range rows {
		var take func(*record)
		must := true
		switch r.name {
		case "Server":
			a.line, take = r.line, a.server
		case "PCPU":
			take, must = a.counts, false
		case "LCPU":
			take, must = a.lcpu, false
		case "PMem":
			take = a.memory
		case "NUMANode":
			take = a.node
		case "Sched":
			take = func(c *record) { a.groups, _ = c.whole("NumOfSchedGroups") }
		case "SchedGroup":
			at = place{vm: -1, owner: r}
			take = func(c *record) { a.group(c, &at) }
		case "VMNUMANodeMem":
			take = func(c *record) { a.onNode(c, &at) }
		case "VCPU":
			take, must = func(c *record) { a.vcpu(c, &at) }, false
		case "VMem":
			take, must = func(c *record) { a.guest(c, &at) }, false
		default:
			continue
		}
		if c.open(s, r) {
			take(&c)
		}
		if c.bad == "" {
			continue
		}
		if must {
			return fmt.Errorf("line %d: %s", r.line, c.bad)
		}
		if r.name == "VCPU" && at.vm >= 0 {
			a.vms[at.vm].broken = true
		}
		warn("row "+r.name, r.line, c.bad+": the row is left out")
	}
	return a.check(warn)
}

// check completes the values that depend on several rows.
func (a *answer) check(warn func(kind string, line int, text string)) error {
	switch {
	case a.line == 0:
		return fmt.Errorf("found no row Server")
	case a.stamp <= 0 || a.time.Unix() <= 0:
		return fmt.Errorf("line %d: found no time in the row Server", a.line)
	case a.groups >= 0 && a.seen < a.groups:
		return fmt.Errorf("cut off: found %d of %d groups", a.seen, a.groups)
	}
	for i := range a.vms {
		v := &a.vms[i]
		if size, ok := a.sizes[v.cartel]; ok && v.cartel != "" {
			size.give(&v.tick)
		}
		t := &v.tick
		if sum := t.Local + t.Remote; t.Has&numa.HasMemory != 0 && a.nodesTotal() >= maxKiB32 && v.onNode != sum {
			t.Has &^= numa.HasMemory // its 32 bits have overflowed, or may have
			warn("memory beyond 32 bits", v.line, fmt.Sprintf("VM %s: local and remote memory add up to %d KiB but that on the nodes to %d KiB: not used",
				t.Name, sum/numa.KiB, v.onNode/numa.KiB))
		}
		if v.to > v.from {
			v.tick.VCPUs = v.to - v.from
		}
		if v.broken {
			v.tick.VCPUs, v.to = 0, v.from
		}
	}
	return nil
}

func (a *answer) server(c *record) {
	a.stamp, _ = c.whole("TimeStampInUsec")
	seconds, _ := c.whole("Time")
	a.time = time.Unix(seconds, 0).UTC()
}

func (a *answer) counts(c *record) {
	a.lcpus, _ = c.whole("NumOfLCPUs")
	a.cores, _ = c.whole("NumOfCores")
}

func (a *answer) lcpu(c *record) {
	p := pcpu{id: -1, used: -1, halted: -1, coreHalted: -1, elapsed: -1}
	for i, to := range []*int64{&p.id, &p.used, &p.halted, &p.coreHalted, &p.elapsed} {
		if n, ok := c.whole(pcpuFields[i]); ok {
			*to = n
		}
	}
	a.pcpus = append(a.pcpus, p)
}

var pcpuFields = [...]string{"LCPUID", "UsedTimeInUsec", "HaltTimeInUsec", "CoreHaltTimeInUsec", "ElapsedTimeInUsec"}

// kib returns an amount stated in KiB. A field of 32 bits cannot count more than 4 TiB: it is
// ignored on a larger host.
func (a *answer) kib(c *record, name string) (b numa.Bytes, ok bool) {
	n, ok := c.whole(name)
	if !ok || c.fields[c.at[name]].kind == "U32" && a.nodesTotal() >= maxKiB32 {
		return 0, false
	}
	return numa.Bytes(n) * numa.KiB, true
}

// An amount is a field in KiB with its destination.
type amount struct {
	name string
	to   *numa.Bytes
	bit  numa.Counters
}

// amounts parses the fields that are present, and records which.
func (a *answer) amounts(c *record, has *numa.Counters, list []amount) {
	for _, m := range list {
		if b, ok := a.kib(c, m.name); ok {
			*m.to, *has = b, *has|m.bit
		}
	}
}

// maxKiB32 is the largest amount in 32 bits of KiB.
const maxKiB32 = numa.Bytes(1<<32) * numa.KiB

func (a *answer) nodesTotal() (sum numa.Bytes) {
	for i := range a.nodes {
		sum += a.nodes[i].Total
	}
	return sum
}

// memory parses the row PMem, which comes before the nodes: on a host of 4 TiB or more its sizes
// are dropped once the nodes are known.
func (a *answer) memory(c *record) {
	a.amounts(c, &a.has, []amount{
		{"PhysicalMemInKB", &a.size, numa.HasTotal}, {"FreeMemInKB", &a.free, numa.HasFree}, {"SchedMinFreeInKB", &a.minFree, numa.HasMinFree},
		{"PShareSharedInKB", &a.shared, numa.HasShared}, {"PShareCommonInKB", &a.common, numa.HasCommon},
	})
	var state numa.MemoryState
	if err := state.UnmarshalText(c.word("SchedStateStr")); err == nil {
		a.state, a.has = state, a.has|numa.HasState
	}
}

func (a *answer) node(c *record) {
	id, ok1 := c.whole("NodeID")
	total, ok2 := c.whole("TotalInPages")
	free, ok3 := c.whole("FreeInPages")
	if !ok1 || !ok2 || !ok3 || id >= numa.MaxNodes {
		c.spoil("NodeID", "a node below 64 with its memory")
		return
	}
	a.nodes = append(a.nodes, numa.NodeTick{
		ID: int(id), Has: numa.HasTotal | numa.HasFree,
		Total: numa.Bytes(total) * numa.PageSize, Free: numa.Bytes(free) * numa.PageSize,
	})
	if a.nodesTotal() >= maxKiB32 {
		a.has &^= numa.HasFree | numa.HasTotal | numa.HasShared | numa.HasCommon // 32 bits have overflowed
	}
}

func (a *answer) group(c *record, at *place) {
	a.seen++
	cartel, isVMM := strings.CutPrefix(string(c.word("GroupName")), "vmm.")
	if isVMM {
		at.vmm = cartel
	}
	isVM, _ := c.flag("IsVM")
	if valid, ok := c.flag("IsValid"); !isVM || ok && !valid {
		return
	}
	v := vm{line: c.row.line, from: len(a.vcpus), to: len(a.vcpus), leader: -1}
	v.cartel, _ = strings.CutPrefix(string(c.word("GroupName")), "vm.")
	v.tick.GID = -1
	if id, ok := c.whole("GroupID"); ok {
		v.tick.GID = id
	}
	if v.tick.Name = numa.ShortName(c.word("VMName")); v.tick.Name == "" {
		v.tick.Name = numa.ShortName(c.word("GroupName"))
	}
	a.placement(c, &v)
	if i, twice := a.byGID[v.tick.GID]; twice && v.tick.GID >= 0 {
		c.bad = fmt.Sprintf("found group %d again, first on line %d", v.tick.GID, a.vms[i].line)
		return
	}
	at.vm = len(a.vms)
	a.byGID[v.tick.GID] = at.vm
	a.vms = append(a.vms, v)
}

// placement parses the NUMA scheduler's values of a VM.
func (a *answer) placement(c *record, v *vm) {
	managed, ok := c.flag("IsNUMAValid")
	if !ok {
		return
	}
	t := &v.tick
	t.Has |= numa.HasHomes
	if !managed {
		return
	}
	if homes, ok := c.whole("HomeNodes"); ok {
		t.Homes = numa.NodeSet(homes)
	} else {
		t.Has &^= numa.HasHomes
	}
	local, ok1 := c.whole("LocalMemoryInKB")
	remote, ok2 := c.whole("RemoteMemoryInKB")
	if ok1 && ok2 {
		t.Local, t.Remote, t.Has = numa.Bytes(local)*numa.KiB, numa.Bytes(remote)*numa.KiB, t.Has|numa.HasMemory
	}
	if pct, ok := c.whole("LocalityPct"); ok && pct <= 100 {
		t.Percent, t.Has = int(pct), t.Has|numa.HasPercent
	}
	for i, name := range []string{"NumOfBalanceMigrations", "NumOfLocalitySwap", "NumOfLoadSwap"} {
		n, ok := c.whole(name)
		if !ok {
			t.Has &^= numa.HasMoves
			break
		}
		v.moves[i], t.Has = n, t.Has|numa.HasMoves
	}
}

func (a *answer) onNode(c *record, at *place) {
	id, ok := c.whole("NodeID")
	guest, ok2 := c.whole("GuestMemInKB")
	valid, stated := c.flag("IsValid")
	if at.vm < 0 || !ok || !ok2 || id >= numa.MaxNodes || stated && !valid {
		return
	}
	v := &a.vms[at.vm]
	m := numa.MemoryOnNode{Node: int(id), Guest: numa.Bytes(guest) * numa.KiB, Overhead: -1}
	if over, ok := c.whole("OverheadMemInKB"); ok {
		m.Overhead = numa.Bytes(over) * numa.KiB
	}
	v.onNode += m.Guest
	v.tick.OnNode = append(v.tick.OnNode, m)
}

func (a *answer) vcpu(c *record, at *place) {
	if at.vm < 0 || !bytes.HasPrefix(c.word("WorldName"), []byte("vmx-vcpu")) {
		return
	}
	if valid, ok := c.flag("IsValid"); ok && !valid {
		return
	}
	p := vcpu{id: -1, up: -1, used: -1, run: -1, ready: -1, coStop: -1}
	for i, to := range []*int64{&p.id, &p.up, &p.used, &p.run, &p.ready, &p.coStop} {
		if n, ok := c.whole(vcpuFields[i]); ok {
			*to = n
		}
	}
	a.vcpus = append(a.vcpus, p)
	a.vms[at.vm].to = len(a.vcpus)
}

var vcpuFields = [...]string{"VCPUID", "UpTimeInUsec", "UsedTimeInUsec", "RunTimeInUsec", "ReadyTimeInUsec", "CoStopTimeInUsec"}

// guest parses the memory of a group vmm.<cartel>.
func (a *answer) guest(c *record, at *place) {
	if valid, ok := c.flag("IsValid"); at.vmm == "" || ok && !valid {
		return
	}
	var s vmSize
	a.amounts(c, &s.has, []amount{
		{"ClientSizeInKB", &s.size, numa.HasSize}, {"MappedInKB", &s.granted, numa.HasGranted},
		{"ClientTouchedInKB", &s.active, numa.HasActive}, {"SharedInKB", &s.shared, numa.HasShared},
		{"ZeroInKB", &s.zero, numa.HasZero}, {"BalloonSizeInKB", &s.balloon, numa.HasBalloon},
		{"CurrentSwapInKB", &s.swaps, numa.HasSwapped}, {"SavedBySharingInKB", &s.saved, numa.HasSaved},
		{"COWHintInKB", &s.hint, numa.HasHint}, {"UsedCacheInKB", &s.compressed, numa.HasCompressed},
	})
	a.sizes[at.vmm] = s
}

func (s *vmSize) give(t *numa.VMTick) {
	t.Has |= s.has
	t.Size, t.Granted, t.Active, t.Shared = s.size, s.granted, s.active, s.shared
	t.Zero, t.Balloon, t.Swapped, t.Saved, t.Hint = s.zero, s.balloon, s.swaps, s.saved, s.hint
	t.Compressed = s.compressed
}
