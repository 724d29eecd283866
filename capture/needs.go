package capture

import (
	"time"

	"example.org/homenode/numa"
)

// Needs is the CPU and memory demand of a VM over time, for right-sizing. CPU is per vCPU, in
// hundredths of a percent as in a Level, and counts only while the number of vCPUs is known.
type Needs struct {
	// LeastVCPUs and MostVCPUs are the lowest and highest stated numbers; 0 unknown. They
	// differ if vCPUs were hot added. Then shares of vCPUs at different times are not the same
	// amount of CPU.
	LeastVCPUs int `json:"leastVCPUs,omitempty"`
	MostVCPUs  int `json:"mostVCPUs,omitempty"`

	Used Times `json:"used"` // by ShareTop; above 100 % with turbo and with kernel time spent for the VM
	// Run is the time on a PCPU, or used where run is not stated. Demand is run plus ready: CPU
	// that the vCPUs used or waited for. The use of a starved VM understates its demand.
	Run    Curve `json:"run"`
	Demand Curve `json:"demand"`

	Active Use `json:"active"` // recently touched, as the host estimates
	// Consumed is the memory that the VM used from the host, plus ballooned and swapped memory
	// where stated.
	Consumed Use `json:"consumed"`
}

// A Curve is a share of vCPUs over time: its level, and the time at each height.
type Curve struct {
	Level Level `json:"level"`
	Times Times `json:"times"` // by ShareTop
}

// tick records the values of a single tick.
func (n *Needs) tick(m *moment, t *numa.VMTick, s *shares) {
	at := m.tick.Time
	if t.VCPUs > 0 {
		n.counted(t.VCPUs, t.VCPUs)
	}
	if t.Has&numa.HasActive != 0 {
		n.Active.see(t.Active, at)
	}
	if t.Has&numa.HasConsumed != 0 {
		n.Consumed.see(taken(t), at)
	}
	run, demand := wanted(t, s)
	if run >= 0 {
		n.Run.Level.see(run, at)
	}
	if demand >= 0 {
		n.Demand.Level.see(demand, at)
	}
	n.rates(t, s, run, demand, m.tick.Since)
}

// pair records two linked ticks that both have the VM: memory lasts until the next tick.
func (n *Needs) pair(p *pair, before, after *numa.VMTick) {
	if before.Has&numa.HasActive != 0 {
		n.Active.Times.last(memoryBucket(before.Active), p.time)
	}
	if before.Has&numa.HasConsumed != 0 {
		n.Consumed.Times.last(memoryBucket(taken(before)), p.time)
	}
	if over := p.rates(); over > 0 {
		var s shares
		s.set(after)
		run, demand := wanted(after, &s)
		n.rates(after, &s, run, demand, over)
	}
}

// taken returns the memory that the VM used, including reclaimed memory.
func taken(t *numa.VMTick) numa.Bytes {
	b := t.Consumed
	if t.Has&numa.HasBalloon != 0 {
		b += t.Balloon
	}
	if t.Has&numa.HasSwapped != 0 {
		b += t.Swapped
	}
	return b
}

// counted records a lowest and a highest number of vCPUs.
func (n *Needs) counted(least, most int) {
	n.MostVCPUs = max(n.MostVCPUs, most)
	if n.LeastVCPUs == 0 || least < n.LeastVCPUs {
		n.LeastVCPUs = least
	}
}

// wanted returns run and demand in hundredths of a percent per vCPU; -1 unknown.
func wanted(t *numa.VMTick, s *shares) (run, demand int64) {
	if t.VCPUs <= 0 || t.Has&(numa.HasRun|numa.HasUsed) == 0 {
		return -1, -1
	}
	run = s.used
	if t.Has&numa.HasRun != 0 {
		run = each(t, t.Run)
	}
	if t.Has&numa.HasReady == 0 {
		return run, -1
	}
	return run, run + s.ready
}

// rates adds the rates of a tick over a duration.
func (n *Needs) rates(t *numa.VMTick, s *shares, run, demand int64, over time.Duration) {
	if over <= 0 {
		return
	}
	if t.Has&numa.HasUsed != 0 && t.VCPUs > 0 {
		n.Used.last(shareBucket(s.used), over)
	}
	if run >= 0 {
		n.Run.last(run, over)
	}
	if demand >= 0 {
		n.Demand.last(demand, over)
	}
}

// join adds the next stretch, after pair has processed the seam.
func (n *Needs) join(next *Needs) {
	if next.LeastVCPUs > 0 {
		n.counted(next.LeastVCPUs, next.MostVCPUs)
	}
	n.Used.join(&next.Used)
	n.Run.join(&next.Run)
	n.Demand.join(&next.Demand)
	n.Active.join(&next.Active)
	n.Consumed.join(&next.Consumed)
}

func (n *Needs) clone() *Needs {
	if n == nil {
		return nil
	}
	c := *n
	for _, t := range c.times() {
		*t = t.clone()
	}
	return &c
}

func (n *Needs) times() []*Times {
	return []*Times{&n.Used, &n.Run.Times, &n.Demand.Times, &n.Active.Times, &n.Consumed.Times}
}

// check reports whether Merge can rely on them.
func (n *Needs) check() bool {
	for i, t := range n.times() {
		buckets := shareBuckets
		if i >= 3 {
			buckets = memoryBuckets
		}
		if !t.check(buckets) {
			return false
		}
	}
	return true
}

// Plus returns the combined needs of two lives of one VM; next is the later one.
func (n *Needs) Plus(next *Needs) *Needs {
	c := n.clone()
	c.join(next)
	return c
}

func (c *Curve) last(share int64, over time.Duration) {
	c.Level.last(share, over)
	c.Times.last(shareBucket(share), over)
}

func (c *Curve) join(next *Curve) {
	c.Level.join(&next.Level)
	c.Times.join(&next.Times)
}

// Percentile returns the share, in hundredths of a percent, that was not exceeded for a part of
// the time (above 0, at most 1). The result is less than one percentage point too high, and
// never above the highest share. It reports false without any time.
func (c *Curve) Percentile(part float64) (share int64, ok bool) {
	bucket, ok := c.Times.Percentile(part)
	if bucket == shareBuckets-1 { // it has no upper limit
		return c.Level.Most, ok
	}
	return min(ShareTop(bucket), c.Level.Most), ok
}

// A Use is the amount of memory in some use over time.
type Use struct {
	Most  numa.Bytes `json:"most"`
	At    time.Time  `json:"at,omitzero"` // of the first Most; zero if it was never stated
	Times Times      `json:"times"`       // by MemoryTop
}

// see records the memory at one moment.
func (u *Use) see(b numa.Bytes, at time.Time) {
	if u.At.IsZero() || b > u.Most {
		u.Most, u.At = b, at
	}
}

func (u *Use) join(next *Use) {
	u.Times.join(&next.Times)
	if !next.At.IsZero() {
		u.see(next.Most, next.At)
	}
}

// Percentile returns the memory that was not exceeded for a share of the time (above 0, at most
// 1). The result is at most a 32nd too high, and never above Most. It reports false without any
// time.
func (u *Use) Percentile(share float64) (b numa.Bytes, ok bool) {
	bucket, ok := u.Times.Percentile(share)
	return min(MemoryTop(bucket), u.Most), ok
}
