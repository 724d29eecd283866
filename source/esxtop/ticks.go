package esxtop

import (
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"example.org/homenode/numa"
)

// Ticks reads a file as ticks: one for each host of its header and each of its rows, in the style of bufio.Scanner.
//
// The counters of groups are sums over their members, so that 100 % is one vCPU. Kernel State is
// interpreted as ESXi 6.0 and later write it (0 high, 1 clear, 2 soft, 3 hard, 4 low); a batch file
// does not state its release, so any state in between causes a warning. A VM that is gone keeps its
// columns with zeros: it is omitted. A row without data of a host is no tick of it. After another
// header, which begins a separate capture, the interval of rates is unknown, as on the first row.
type Ticks struct {
	rows *Reader
	plan *plan
	host int // of plan.hosts, next
	tick numa.Tick
	last map[string]time.Time
	// begun are the hosts with a tick after the last header, which begins a capture.
	begun  map[string]bool
	begins int // as Reader.begins
	warns  warnings
	// outside are warnings about cells before Options.From and after Options.To: they are not reported.
	outside warnings
	// The number of rows, and of rows earlier than the one before.
	rowCount, back int
	before         time.Time
	orderLine      int // of the last row omitted as earlier
}

// NewTicks returns the ticks of r after parsing its header. The errors are those of NewReader.
// Options.Want has no effect.
func NewTicks(name string, r io.Reader, opt Options) (*Ticks, error) {
	rows, err := newReader(name, r, opt, wants)
	if err != nil {
		return nil, err
	}
	t := &Ticks{rows: rows, last: map[string]time.Time{}, begun: map[string]bool{}}
	t.replan()
	return t, nil
}

func (t *Ticks) replan() {
	t.plan = newPlan(t.rows.Header(), &t.warns)
	t.host = len(t.plan.hosts)
}

// Scan advances to the next tick. It returns false at the end of the file and after an
// error.
func (t *Ticks) Scan() bool {
	for {
		for t.host < len(t.plan.hosts) {
			t.host++
			if t.fill(t.plan.hosts[t.host-1]) {
				return true
			}
		}
		if !t.rows.Scan() {
			if t.rowCount == 0 && t.rows.warns.left() == 0 && t.rows.err == nil {
				t.warns.add(kindEmpty, t.Header().Line+1, 1, func() string { return "found the end of the file behind the header, want rows" })
			}
			return false
		}
		row := t.rows.Row()
		if row.Header != t.plan.header {
			t.replan()
		}
		if row.begins != t.begins {
			t.begins = row.begins
			clear(t.begun)
		}
		if t.rowCount++; t.rowCount > 1 && row.Time.Before(t.before) {
			t.back++
		}
		t.before = row.Time
		t.host = 0
	}
}

// Tick returns the current tick. It is valid until the next Scan.
func (t *Ticks) Tick() *numa.Tick { return &t.tick }

// Header returns the header in effect.
func (t *Ticks) Header() *Header { return t.rows.Header() }

// Err returns the first error other than the end of the file.
func (t *Ticks) Err() error { return t.rows.Err() }

// Warnings returns the warnings of the Reader without the one that Cut reports.
func (t *Ticks) Warnings() []error {
	all := t.all()
	all[kindCut], all[kindLastCell], all[kindWidth] = warning{}, warning{}, warning{}
	if left := all[kindOrder].count; left > 1 && left == t.back {
		all.descending(left, t.rowCount)
	}
	return all.list(t.rows.name)
}

// Left returns how many rows were omitted so far: damaged ones, and those earlier than the one before.
func (t *Ticks) Left() int {
	all := t.all()
	return all.left()
}

// Cut returns an error when the file ends within a row, as during writing, or a spreadsheet cut its columns off; nil otherwise.
func (t *Ticks) Cut() error {
	var cut warnings
	for _, kind := range []int{kindWidth, kindCut, kindLastCell} {
		cut[kind] = t.rows.warns[kind]
	}
	return errors.Join(cut.list(t.rows.name)...)
}

func (t *Ticks) all() warnings {
	all := t.rows.warns
	all.merge(&t.warns, 0)
	return all
}

// Close ends the goroutines of Options.Workers, as that of a Reader.
func (t *Ticks) Close() { t.rows.Close() }

// fill fills in the tick of a host. It returns false for an omitted one.
func (t *Ticks) fill(p *hostPlan) bool {
	row, tick := t.rows.Row(), &t.tick
	before, seen := t.last[p.name]
	if seen && row.Time.Before(before) {
		if t.orderLine == row.Line {
			return false
		}
		t.orderLine = row.Line
		t.warns.add(kindOrder, row.Line, 1, func() string {
			return fmt.Sprintf("found a row of %s after one of %s: it is left out, rows have to be in the order of time", row.Time.Format(time.DateTime), before.Format(time.DateTime))
		})
		return false
	}
	*tick = numa.Tick{Host: p.name, Time: row.Time, Line: row.Line, Nodes: tick.Nodes[:0], VMs: tick.VMs[:0]}
	if t.begun[p.name] {
		tick.Since = row.Time.Sub(before)
	}
	c := cells{row: row, warns: &t.warns, has: &tick.Has}
	if opt := &t.rows.opt; row.Time.Before(opt.From) || !opt.To.IsZero() && row.Time.After(opt.To) {
		c.warns = &t.outside
	}
	c.bytes(p.free, numa.HasFree, &tick.Free)
	c.bytes(p.minFree, numa.HasMinFree, &tick.MinFree)
	c.state(p.state, &tick.State)
	c.bytes(p.memory, numa.HasTotal, &tick.Memory)
	c.bytes(p.shared, numa.HasShared, &tick.Shared)
	c.bytes(p.common, numa.HasCommon, &tick.Common)
	for i := range p.nodes {
		tick.Nodes = append(tick.Nodes, numa.NodeTick{})
		c.node(&p.nodes[i], &tick.Nodes[i])
	}
	for i := range p.vms {
		n := len(tick.VMs)
		tick.VMs = extend(tick.VMs, 1)
		if !c.vm(&p.vms[i], &tick.VMs[n]) {
			tick.VMs = tick.VMs[:n]
		}
	}
	if !c.stated && len(tick.VMs) == 0 {
		return false // a file of several hosts, and a row of another one
	}
	t.last[p.name], t.begun[p.name] = row.Time, true
	return true
}

// cells parses numbers of a row.
type cells struct {
	row    *Row
	warns  *warnings
	has    *numa.Counters // of the object being filled
	stated bool           // a number was found
}

// value returns the number at a place of Header.Wanted.
func (c *cells) value(at int) (v float64, ok bool) {
	if at == none {
		return 0, false
	}
	v = c.row.Values[at]
	ok = !IsMissing(v)
	c.stated = c.stated || ok
	return v, ok
}

// mib returns a non-negative count of MiB, in bytes.
func (c *cells) mib(at int) (numa.Bytes, bool) {
	const most = float64(numa.MaxHostMemory / numa.MiB) // 4294967295 means none
	v, ok := c.value(at)
	if !ok {
		return 0, false
	}
	if v < 0 || v > most {
		c.outside(at, v)
		return 0, false
	}
	return numa.Bytes(v*float64(numa.MiB) + 0.5), true // the product is exact
}

func (c *cells) outside(at int, v float64) {
	h := c.row.Header
	c.warns.add(kindRange, c.row.Line, 0, func() string {
		return fmt.Sprintf("%s: found %v, which it cannot be: the cell is left out", &h.Columns[h.Wanted[at]], v)
	})
}

func (c *cells) bytes(at int, has numa.Counters, to *numa.Bytes) {
	if v, ok := c.mib(at); ok {
		*to = v
		*c.has |= has
	}
}

const (
	mostPercent = 100 * 4096 // all PCPUs of any host, and turbo
	mostMoves   = 1 << 30    // between two rows; 4294967295 means none
)

// share returns a non-negative percentage as a share.
func (c *cells) share(at int, has numa.Counters, to *float64) {
	v, ok := c.value(at)
	if !ok {
		return
	}
	if v < 0 || v > mostPercent {
		c.outside(at, v)
		return
	}
	*to = v / 100
	*c.has |= has
}

// whole returns a whole number from 0 to most.
func (c *cells) whole(at int, most float64) (n int64, ok bool) {
	v, ok := c.value(at)
	if !ok {
		return 0, false
	}
	if v < 0 || v > most || v != math.Trunc(v) {
		c.outside(at, v)
		return 0, false
	}
	return int64(v), true
}

func (c *cells) state(at int, to *numa.MemoryState) {
	v, ok := c.whole(at, float64(numa.Low))
	if !ok {
		return
	}
	*to = numa.MemoryState(v)
	*c.has |= numa.HasState
	if *to != numa.High && *to != numa.Low {
		c.warns.add(kindState, c.row.Line, 0, func() string {
			return fmt.Sprintf("Kernel State %d is read as %s, as ESXi 6.0 and later mean it; the file does not say its release", v, *to)
		})
	}
}

func (c *cells) node(p *nodePlan, n *numa.NodeTick) {
	n.ID = p.id
	c.has = &n.Has
	c.share(p.used, numa.HasUsed, &n.Used)
	c.share(p.util, numa.HasUtil, &n.Util)
	c.share(p.core, numa.HasCore, &n.Core)
	c.bytes(p.total, numa.HasTotal, &n.Total)
	c.bytes(p.free, numa.HasFree, &n.Free)
}

// vm fills v. It returns false for a VM that does not run.
func (c *cells) vm(p *vmPlan, v *numa.VMTick) bool {
	*v = numa.VMTick{GID: p.gid, Name: p.name, VCPUs: p.vcpus, OnNode: v.OnNode[:0]}
	c.has = &v.Has
	if !c.runs(p) {
		return false
	}
	c.share(p.used, numa.HasUsed, &v.Used)
	c.share(p.run, numa.HasRun, &v.Run)
	c.share(p.ready, numa.HasReady, &v.Ready)
	c.share(p.coStop, numa.HasCoStop, &v.CoStop)
	c.bytes(p.size, numa.HasSize, &v.Size)
	c.bytes(p.granted, numa.HasGranted, &v.Granted)
	c.bytes(p.consumed, numa.HasConsumed, &v.Consumed)
	c.bytes(p.active, numa.HasActive, &v.Active)
	c.bytes(p.shared, numa.HasShared, &v.Shared)
	c.bytes(p.saved, numa.HasSaved, &v.Saved)
	c.bytes(p.zero, numa.HasZero, &v.Zero)
	c.bytes(p.hint, numa.HasHint, &v.Hint)
	c.bytes(p.balloon, numa.HasBalloon, &v.Balloon)
	c.bytes(p.swapped, numa.HasSwapped, &v.Swapped)
	c.bytes(p.compressed, numa.HasCompressed, &v.Compressed)
	c.numa(p, v)
	return !p.unproven || v.Local+v.Remote > 0 || v.PercentAlone() > 0
}

// runs reports whether a VM runs. One that is gone has no members and no memory, as far as the file
// states them; one without data does not run either.
func (c *cells) runs(p *vmPlan) bool {
	members, ok := c.value(p.members)
	present, also := c.value(p.present)
	if ok || also {
		return members > 0 || present > 0
	}
	known, any := false, false
	for _, at := range [...]int{p.size, p.granted, p.consumed, p.used, p.run} {
		v, ok := c.value(at)
		known = known || ok && at != p.used && at != p.run
		any = any || v > 0
	}
	if known {
		return any
	}
	_, homes := c.homes(p)
	for _, at := range [...]int{p.used, p.run, p.ready, p.coStop, p.local, p.remote, p.percent, p.moves, p.active, p.shared, p.zero, p.balloon, p.swapped, p.saved, p.hint} {
		if _, ok := c.value(at); ok {
			return true
		}
	}
	return homes
}

// homes returns the home nodes of a VM.
func (c *cells) homes(p *vmPlan) (numa.NodeSet, bool) {
	if p.homes == none {
		return 0, false
	}
	return c.row.Homes(p.homes)
}

// numa sets the NUMA scheduler's values of a VM.
func (c *cells) numa(p *vmPlan, v *numa.VMTick) {
	local, ok := c.mib(p.local)
	remote, both := c.mib(p.remote)
	if ok && both {
		v.Local, v.Remote = local, remote
		v.Has |= numa.HasMemory
	}
	if n, ok := c.whole(p.percent, 100); ok {
		v.Percent = int(n)
		v.Has |= numa.HasPercent
	}
	if n, ok := c.whole(p.moves, mostMoves); ok {
		v.Moves.All = n
		v.Has |= numa.HasMoves
	}
	// A VM that the NUMA scheduler does not manage shows node 0 and no memory: that 0 is not
	// a home.
	if homes, ok := c.homes(p); ok && (homes != numa.SetOf(0) || v.Has&numa.HasMemory == 0 || v.Local+v.Remote > 0) {
		v.Homes = homes
		v.Has |= numa.HasHomes
	}
	for _, on := range p.onNode {
		m := numa.MemoryOnNode{Node: on.node, Overhead: -1}
		if m.Guest, ok = c.mib(on.guest); !ok { // the other nodes alone would seem to have everything
			v.OnNode = v.OnNode[:0]
			break
		}
		if overhead, ok := c.mib(on.overhead); ok {
			m.Overhead = overhead
		}
		v.OnNode = append(v.OnNode, m)
	}
	c.addUp(p, v)
	if len(v.OnNode) == 0 {
		v.OnNode = nil
	}
}

// addUp drops the memory by node when it does not add up to all of the VM's: a column was not
// recorded, or its meaning differs from its name.
func (c *cells) addUp(p *vmPlan, v *numa.VMTick) {
	if len(v.OnNode) == 0 || v.Has&numa.HasMemory == 0 {
		return
	}
	all := v.Local + v.Remote
	off := -all
	for _, m := range v.OnNode {
		off += m.Guest
	}
	if max(off, -off) <= max(all/100, numa.MiB/10) {
		return
	}
	v.OnNode = v.OnNode[:0]
	c.warns.add(kindAddUp, c.row.Line, 0, func() string {
		return fmt.Sprintf("VM %s: the memory on its nodes does not add up to local and remote memory: left out", p.name)
	})
}
