package capture

import (
	"time"

	"example.org/homenode/numa"
)

// In a simulation nothing but the use of CPU changes for most VMs at most ticks (numa.Tick.Still). Such ticks are counted, and recorded together when the
// VM changes: the sums of a stretch are its length times the values of one tick. A VM is calm from the second still tick on, so that both stored ticks have
// its values.
//
//	tick    1     2      3      4      5      6
//	still   no    yes    yes    yes    no     yes
//	        whole whole  └─ calm ┘     the stretch, then whole

// mostCalm is the number of ticks after which a stretch is recorded although it goes on: it bounds the memory for their times.
const mostCalm = 4096

// calm is the state of a Recorder for calm VMs.
type calm struct {
	now   []bool  // by index in the tick: it is calm, and added to its stretch
	next  []bool  // by index: it can be calm at the next tick
	lost  bool    // a tick was skipped: the next one cannot be compared with it
	times []int64 // of ticks since all stretches were recorded, in seconds since 1970
	// Since then: the time between ticks, and that of their rates.
	between, since time.Duration
}

// A pending is a stretch that is not recorded yet: it begins before a tick of calm.times. The zero value is that of a VM that is not calm.
type pending struct {
	on             bool
	from           int
	between, since time.Duration
}

// settle decides which VMs of the next tick are calm, and records the stretches of those that no longer are.
func (r *Recorder) settle(t *numa.Tick, at time.Time) {
	c, n := &r.calm, len(t.VMs)
	same := !c.lost && r.rec.Ticks > 0 && len(t.Still) == n && len(r.there) == n && len(c.next) == n &&
		t.Since >= resolution && t.Since <= mostTime && at.Sub(r.before.Time) <= r.rec.Options.Gap && !r.rec.Options.Needs
	c.lost = false
	if !same || len(c.times) == mostCalm {
		r.record()
	}
	if len(c.now) != n {
		c.now, c.next = make([]bool, n), make([]bool, n)
	}
	if !same {
		clear(c.now)
		clear(c.next)
		return
	}
	for i := range t.VMs {
		still := t.Still[i] && usable(&t.VMs[i])
		c.now[i], c.next[i] = still && c.next[i], still
		switch l := r.there[i]; {
		case c.now[i] && !l.calm.on:
			l.calm = pending{true, len(c.times), c.between, c.since}
		case !c.now[i] && l.calm.on:
			r.recordCalm(l)
		}
	}
}

// usable reports whether a VM's use of CPU is possible.
func usable(t *numa.VMTick) bool {
	return t.Used >= 0 && t.Used <= mostShare && t.Run >= 0 && t.Run <= mostShare
}

// passed adds a tick, which a calm VM has recorded by that.
func (c *calm) passed(p *pair) {
	if p.after == nil { // the first tick
		return
	}
	c.times = append(c.times, p.after.Time.Unix())
	c.between += p.time
	c.since += p.after.Since
}

// record records the stretches of all VMs, up to the previous tick.
func (r *Recorder) record() {
	for _, l := range r.there {
		if l.calm.on {
			r.recordCalm(l)
		}
	}
	r.calm.times, r.calm.between, r.calm.since = r.calm.times[:0], 0, 0
}

// recordCalm records the stretch of a VM, up to the previous tick.
func (r *Recorder) recordCalm(l *life) {
	c, s := &r.calm, l.calm
	l.repeat(&r.rec.Options, &r.before.VMs[l.index], c.times[s.from:], r.before.Time, c.between-s.between, c.since-s.since)
	l.calm = pending{}
}

// repeat records the ticks at these times, the last of which is given, that are as the previous one but for the use of CPU. They are linked.
func (v *VM) repeat(o *Options, t *numa.VMTick, times []int64, last time.Time, between, since time.Duration) {
	v.Last = last
	v.Ticks += len(times)
	v.Low.repeat(len(times), last)
	v.Far.repeat(len(times), last)
	v.Lopsided.repeat(len(times), last)
	v.Percents.repeat(t, len(times), last)
	v.lasted(t, between)
	var s shares
	s.set(t)
	v.waited(t, &s, since)
	fit(&v.Timeline, last.Unix(), o.Buckets)
	var one VMBucket
	one.add(t, &s)
	shift := v.Timeline.shift()
	for len(times) > 0 {
		at, n := times[0]>>shift, 1
		for n < len(times) && times[n]>>shift == at {
			n++
		}
		all := one.times(n)
		reach(&v.Timeline, int(at-v.Timeline.Start)).join(&all)
		times = times[n:]
	}
}

// times returns the bucket of n ticks like that of b, which has no migrations.
func (b *VMBucket) times(n int) VMBucket {
	all := *b
	all.Ticks, all.Memory, all.Rates = b.Ticks*int32(n), b.Memory*int32(n), b.Rates*int32(n)
	all.Local, all.Remote, all.Ready, all.CoStop = b.Local*int64(n), b.Remote*int64(n), b.Ready*int64(n), b.CoStop*int64(n)
	return all
}
