package capture

import (
	"time"

	"example.org/homenode/numa"
)

// Methods of one VM of a Recording: tick records a single tick, pair two consecutive ticks, and join merges two stretches. A
// Recorder calls pair and tick in turn; Merge calls pair for the seam and then join. Nothing else changes a VM, so a stretch that
// was cut and merged equals the uncut one.

// tick records the VM at one moment.
func (v *VM) tick(m *moment, t *numa.VMTick) {
	at := m.tick.Time
	if v.Ticks == 0 {
		v.First = at
	}
	v.Last = at
	v.Ticks++
	v.Has |= t.Has
	if t.VCPUs > 0 {
		v.VCPUs = t.VCPUs
	}
	var s shares
	s.set(t)
	place(&v.Timeline, at.Unix(), m.options.Buckets).add(t, &s)
	v.memory(m, t, &s)
	v.homes(m, t)
	v.cpu(m, t, &s)
	v.lopsided(m, t)
	v.stated(t.Has, t.Size, t.Large, t.Shared, t.Active)
	if m.options.Needs {
		if v.Needs == nil {
			v.Needs = &Needs{}
		}
		v.Needs.tick(m, t, &s)
	}
}

// shares are those of a tick: its locality, and its rates as each returns them. They are 0 where they are not stated.
type shares struct {
	local               float64
	managed             bool // local is stated
	ready, coStop, used int64
}

// set sets all of them, in place: a copy of what was just written would wait for it.
func (s *shares) set(t *numa.VMTick) {
	s.local, s.managed = t.Locality()
	if t.Has&numa.HasReady != 0 {
		s.ready = each(t, t.Ready)
	}
	if t.Has&numa.HasCoStop != 0 {
		s.coStop = each(t, t.CoStop)
	}
	if t.Has&numa.HasUsed != 0 {
		s.used = each(t, t.Used)
	}
}

// add adds a tick.
func (b *VMBucket) add(t *numa.VMTick, s *shares) {
	b.Ticks++
	if s.managed {
		b.least(int32(hundredths(s.local)))
		b.Memory++
		b.Local += int64(t.Local / numa.KiB)
		b.Remote += int64(t.Remote / numa.KiB)
	}
	if t.Has&numa.HasHomes != 0 {
		b.Homes |= t.Homes
	}
	if t.Has&numa.HasMoves != 0 {
		b.Moves += t.Moves.All
	}
	if t.Has&numa.HasReady != 0 {
		b.Rates++
		b.Ready += s.ready
		b.MostReady = max(b.MostReady, int32(s.ready))
	}
	b.CoStop += s.coStop
}

func (v *VM) memory(m *moment, t *numa.VMTick, s *shares) {
	if t.Has&numa.HasMemory != 0 {
		v.LastLocal, v.LastRemote = t.Local, t.Remote
	}
	at, o := m.tick.Time, m.options
	if !s.managed {
		v.Percents.alone(t.PercentAlone())
		v.Low.cut()
		v.Far.cut()
		return
	}
	if s.local < o.Locality {
		v.Low.hold(at, at, v.First, s.local, less)
	} else {
		v.Low.cut()
	}
	if t.Remote > 0 && t.Remote >= o.Remote {
		v.Far.hold(at, at, v.First, float64(t.Remote), more)
	} else {
		v.Far.cut()
	}
	v.Local.see(t.Local, at)
	v.Remote.see(t.Remote, at)
	if t.Has&numa.HasFar != 0 {
		v.Apart.see(t.Far, at)
	}
	if v.Least.Time.IsZero() || s.local < v.Least.share() {
		v.Least = Locality{Time: at, Local: t.Local, Remote: t.Remote, Homes: t.Homes}
	}
	v.Percents.see(m, t)
}

func (l *Locality) share() float64 { return float64(l.Local) / float64(l.Local+l.Remote) }

// percentMemory is the least memory for which N%L is checked. Local and remote memory have two decimals of a MB, which is half a
// percent of it.
const percentMemory = numa.MiB

func (p *Percents) see(m *moment, t *numa.VMTick) {
	if wrong := p.repeat(t, 1, m.tick.Time); wrong && p.Wrong == 1 {
		p.At, p.File, p.Line = m.tick.Time, m.file, m.tick.Line
		p.Shown, p.Local, p.Remote = t.Percent, t.Local, t.Remote
	}
}

// repeat counts n ticks of the same N%L, up to one at this time, and reports whether it contradicts local and remote memory.
func (p *Percents) repeat(t *numa.VMTick, n int, at time.Time) (wrong bool) {
	all := t.Local + t.Remote
	if t.Has&numa.HasPercent == 0 || t.Has&numa.HasMemory == 0 || all < percentMemory {
		return false
	}
	p.Ticks += n
	if t.Percent == 100 {
		p.Full += n
	}
	// esxtop truncates; it may have sampled a moment earlier or later: one percent more or less.
	if off := 100*t.Local - numa.Bytes(t.Percent)*all; t.Percent <= 101 && -all <= off && off < 2*all {
		return false
	}
	p.Wrong += n
	p.To = at
	return true
}

// alone records an N%L that is printed without local and remote memory; 0 means none.
func (p *Percents) alone(percent int) {
	if percent > 0 && (p.Alone == 0 || percent < p.Alone) {
		p.Alone = percent
	}
}

func (p *Percents) join(next *Percents) {
	first := *p
	if p.Wrong == 0 {
		first = *next
	} else if next.Wrong > 0 {
		first.To = next.To
	}
	first.Ticks = p.Ticks + next.Ticks
	first.Full = p.Full + next.Full
	first.Wrong = p.Wrong + next.Wrong
	first.Alone = p.Alone
	first.alone(next.Alone)
	*p = first
}

// cpu records the rates. If the tick states their duration, they count for it.
func (v *VM) cpu(m *moment, t *numa.VMTick, s *shares) {
	at := m.tick.Time
	if t.Has&numa.HasReady != 0 {
		v.Ready.see(s.ready, at)
	}
	if t.Has&numa.HasCoStop != 0 {
		v.CoStop.see(s.coStop, at)
	}
	if t.Has&numa.HasUsed != 0 {
		v.Used.see(s.used, at)
	}
	v.rates(t, s, m.tick.Since)
	v.starved(m, t)
}

// rates adds the rates of a tick over a duration.
func (v *VM) rates(t *numa.VMTick, s *shares, over time.Duration) {
	if over <= 0 {
		return
	}
	v.waited(t, s, over)
	if t.Has&numa.HasUsed != 0 {
		v.Used.last(s.used, over)
	}
}

// waited adds the ready and co-stop time of a tick over a duration.
func (v *VM) waited(t *numa.VMTick, s *shares, over time.Duration) {
	if t.Has&numa.HasReady != 0 {
		v.Ready.last(s.ready, over)
	}
	if t.Has&numa.HasCoStop != 0 {
		v.CoStop.last(s.coStop, over)
	}
}

// each returns a rate per vCPU in hundredths of a percent, or the rate of the whole VM if its number of vCPUs is not stated.
func each(t *numa.VMTick, rate float64) int64 {
	return hundredths(rate / float64(max(1, t.VCPUs)))
}

// awaits reports whether a VM with home nodes waits so much for cores that it counts.
func awaits(o *Options, t *numa.VMTick) bool {
	const has = numa.HasHomes | numa.HasReady
	return t.Has&has == has && t.Homes != 0 && t.VCPUs != 0 && t.Ready >= o.Ready*float64(t.VCPUs)
}

// starved detects a VM whose vCPUs wait on its home nodes while another node idles.
func (v *VM) starved(m *moment, t *numa.VMTick) {
	o := m.options
	if !awaits(o, t) {
		v.Starved.cut()
		return
	}
	ready := t.Ready / float64(t.VCPUs)
	at := Uneven{Time: m.tick.Time, Ready: ready, Busiest: -1, Idlest: -1}
	homes := 0
	for i := range m.tick.Nodes {
		n := &m.tick.Nodes[i]
		busy, ok := n.Busy()
		switch home := t.Homes.Has(n.ID); {
		case !ok:
		case home && busy >= o.BusyNode:
			homes++
			if at.Busiest < 0 || busy > at.Busy {
				at.Busiest, at.Busy = n.ID, busy
			}
		case !home && busy <= o.IdleNode:
			if at.Idlest < 0 || busy < at.Idle {
				at.Idlest, at.Idle = n.ID, busy
			}
		}
	}
	if homes < t.Homes.Len() || at.Idlest < 0 {
		v.Starved.cut()
		return
	}
	v.Starved.hold(at.Time, at.Time, v.First, ready, more)
	v.StarvedAt.ready(&at)
}

// ready compares with another moment and keeps the one with more ready time.
func (u *Uneven) ready(next *Uneven) {
	if !next.Time.IsZero() && (u.Time.IsZero() || next.Ready > u.Ready) {
		*u = *next
	}
}

// lopsidedMemory is the least guest memory that should be spread over the home nodes: a guest that has touched less has hardly
// started.
const lopsidedMemory = numa.GiB

// lopsided detects a VM of several home nodes with nearly all memory on one of them.
func (v *VM) lopsided(m *moment, t *numa.VMTick) {
	if len(t.OnNode) > 0 {
		v.LastNode = append(v.LastNode[:0], t.OnNode...)
	}
	var all, top numa.Bytes
	if t.Has&numa.HasHomes != 0 && t.Homes.Len() >= 2 {
		for i := range t.OnNode {
			all += t.OnNode[i].Guest
			if t.Homes.Has(t.OnNode[i].Node) {
				top = max(top, t.OnNode[i].Guest)
			}
		}
	}
	if all < lopsidedMemory {
		v.Lopsided.cut()
		return
	}
	share := float64(top) / float64(all)
	if share < m.options.Lopsided {
		v.Lopsided.cut()
		return
	}
	v.Lopsided.hold(m.tick.Time, m.tick.Time, v.First, share, more)
}

// pair records the VM between two ticks. before or after is nil if the VM is absent.
func (v *VM) pair(p *pair, before, after *numa.VMTick) {
	if !p.linked || before == nil || after == nil {
		v.Low.cut()
		v.Far.cut()
		v.Lopsided.cut()
		v.Starved.cut()
		v.Spill.cut()
		return
	}
	to := p.after.Time
	v.Low.reach(to)
	v.Far.reach(to)
	v.Lopsided.reach(to)
	v.Starved.reach(to)
	v.spill(p, before, after)

	v.lasted(before, p.time)
	if over := p.rates(); over > 0 {
		var s shares
		s.set(after)
		v.rates(after, &s, over)
	}
	if v.Needs != nil {
		v.Needs.pair(p, before, after)
	}
}

// lasted records that the memory and home nodes of a tick lasted.
func (v *VM) lasted(t *numa.VMTick, d time.Duration) {
	v.Present += d
	if _, ok := t.Locality(); ok {
		v.Managed += d
		v.Local.Sum.add(int64(t.Local/numa.KiB), d.Milliseconds())
		v.Remote.Sum.add(int64(t.Remote/numa.KiB), d.Milliseconds())
		if t.Has&numa.HasFar != 0 {
			v.Traced += d
			v.Apart.Sum.add(int64(t.Far/numa.KiB), d.Milliseconds())
		}
	}
	if t.Has&numa.HasHomes != 0 {
		v.home(t.Homes, d)
	}
}

// spill detects memory that went remote between two ticks although every home node had free memory before and after. A node that
// filled up meanwhile spills correctly, and in a wide VM the growing client can be the one whose node is full.
func (v *VM) spill(p *pair, before, after *numa.VMTick) {
	const has = numa.HasHomes | numa.HasMemory
	// New memory only: memory that left the home nodes also increases remote memory, but does not use any free memory.
	grown := min(after.Remote-before.Remote, after.Local+after.Remote-before.Local-before.Remote)
	if before.Has&after.Has&has != has || grown < p.options.SpillStep ||
		after.Homes != before.Homes || after.Moves.All > 0 { // 0 if not stated
		v.Spill.cut()
		return
	}
	one := Spill{Time: p.after.Time, Node: -1, Grown: grown, Remote: after.Remote}
	var room numa.NodeSet
	for i := range p.before.Nodes {
		n := &p.before.Nodes[i]
		if !before.Homes.Has(n.ID) || n.Has&numa.HasFree == 0 || n.Free < p.options.SpillFree || freeOn(p.after, n.ID) < p.options.SpillFree {
			continue
		}
		room |= numa.SetOf(n.ID)
		if one.Node < 0 || n.Free < one.Free {
			one.Node, one.Free = n.ID, n.Free
		}
	}
	if room != before.Homes || one.Node < 0 {
		v.Spill.cut()
		return
	}
	v.Spill.hold(p.before.Time, p.after.Time, v.First, float64(grown), more)
	v.Spilled.see(&one)
}

// freeOn returns the free memory of a node; unknown if the tick does not state it.
func freeOn(t *numa.Tick, id int) numa.Bytes {
	for i := range t.Nodes {
		if n := &t.Nodes[i]; n.ID == id && n.Has&numa.HasFree != 0 {
			return n.Free
		}
	}
	return unknown
}

func (s *Spill) see(one *Spill) {
	if !one.Time.IsZero() && (s.Time.IsZero() || one.Grown > s.Grown) {
		*s = *one
	}
}

// join adds the next stretch, after pair has processed the seam.
func (v *VM) join(next *VM, o *Options) {
	v.Low.join(&next.Low, less)
	v.Far.join(&next.Far, more)
	v.Lopsided.join(&next.Lopsided, more)
	v.Starved.join(&next.Starved, more)
	if next.Ticks > 1 { // one tick has no interval
		v.Spill.join(&next.Spill, more)
	}
	v.StarvedAt.ready(&next.StarvedAt)
	v.Spilled.see(&next.Spilled)

	v.Last = next.Last
	v.Ticks += next.Ticks
	v.Present += next.Present
	v.Managed += next.Managed
	v.Local.join(&next.Local)
	v.Remote.join(&next.Remote)
	v.Apart.join(&next.Apart)
	v.Traced += next.Traced
	if !next.Least.Time.IsZero() && (v.Least.Time.IsZero() || next.Least.share() < v.Least.share()) {
		v.Least = next.Least
	}
	v.Percents.join(&next.Percents)
	v.joinHomes(next, o)
	v.Ready.join(&next.Ready)
	v.CoStop.join(&next.CoStop)
	v.Used.join(&next.Used)
	if v.Needs != nil {
		v.Needs.join(next.Needs)
	}
	join(&v.Timeline, &next.Timeline, o.Buckets)
	v.joinLast(next)
}

// joinLast copies the last stated values.
func (v *VM) joinLast(next *VM) {
	if next.VCPUs > 0 {
		v.VCPUs = next.VCPUs
	}
	if next.Has&numa.HasMemory != 0 {
		v.LastLocal, v.LastRemote = next.LastLocal, next.LastRemote
	}
	if next.Has&numa.HasHomes != 0 {
		v.LastHomes = next.LastHomes
	}
	if len(next.LastNode) > 0 {
		v.LastNode = append([]numa.MemoryOnNode(nil), next.LastNode...)
	}
	v.stated(next.Has, next.Size, next.Large, next.Shared, next.Active)
	v.Has |= next.Has
}

// stated stores the amounts that were stated, so the last value of each remains.
func (v *VM) stated(has numa.Counters, size, large, shared, active numa.Bytes) {
	if has&numa.HasSize != 0 {
		v.Size = size
	}
	if has&numa.HasLarge != 0 {
		v.Large = large
	}
	if has&numa.HasShared != 0 {
		v.Shared = shared
	}
	if has&numa.HasActive != 0 {
		v.Active = active
	}
}

// Hidden returns the mean share of memory that is not on the node of the client that uses it although N%L counts it as local. It
// reports false if the recording does not state it.
func (v *VM) Hidden() (share float64, ok bool) {
	local, known := v.Local.Mean(v.Managed)
	remote, _ := v.Remote.Mean(v.Managed)
	far, _ := v.Apart.Mean(v.Traced)
	if !known || v.Traced < v.Managed || local+remote <= 0 {
		return 0, false
	}
	return float64(max(0, far-remote)) / float64(local+remote), true
}

// MeanLocality returns N%L over the whole recording as a share in [0, 1].
func (v *VM) MeanLocality() (share float64, ok bool) {
	local, known := v.Local.Mean(v.Managed)
	remote, _ := v.Remote.Mean(v.Managed)
	if !known || local+remote <= 0 {
		return 0, false
	}
	return float64(local) / float64(local+remote), true
}
