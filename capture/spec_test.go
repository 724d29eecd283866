package capture

import (
	"math/big"
	"testing"
	"time"

	"example.org/homenode/numa"
)

// The plain way to a Recording, as its specification: all ticks are there, and each
// question is asked of all of them.

// A seen is one tick of a VM.
type seen struct {
	tick   *numa.Tick
	vm     *numa.VMTick
	linked bool          // to the next tick of the VM, which is the next one of the host
	next   time.Time     // of that tick; only when linked
	over   time.Duration // of its rates
	before *seen         // in the tick before; nil when it is not there, or before a gap
}

// until is when what holds at the tick ends.
func (s *seen) until() time.Time {
	if s.linked {
		return s.next
	}
	return s.tick.Time
}

func (s *seen) length() time.Duration { return s.until().Sub(s.tick.Time) }

// lives returns the ticks of each VM.
func lives(ticks []*numa.Tick, o *Options) map[key][]*seen {
	all := map[key][]*seen{}
	var before map[key]*seen
	for i, t := range ticks {
		now := map[key]*seen{}
		for k, v := range byKey(t) {
			s := &seen{tick: t, vm: v, over: t.Since}
			if i > 0 && before[k] != nil && t.Time.Sub(ticks[i-1].Time) <= o.Gap {
				s.before = before[k]
				s.before.linked, s.before.next = true, t.Time
				if s.over == 0 {
					s.over = t.Time.Sub(ticks[i-1].Time)
				}
			}
			now[k] = s
			all[k] = append(all[k], s)
		}
		before = now
	}
	return all
}

// spells returns those of a condition, which says since when it holds until when.
func spells(life []*seen, is worse, holds func(*seen) (from, to time.Time, value float64, ok bool)) (out Spells) {
	var all []Spell
	last := len(life) - 1
	for i, s := range life {
		from, to, value, ok := holds(s)
		if !ok {
			continue
		}
		goesOn := false
		if n := len(all); n > 0 && s.before != nil {
			_, _, _, goesOn = holds(s.before)
		}
		if !goesOn {
			all = append(all, Spell{From: from, Worst: value, At: s.tick.Time})
		}
		one := &all[len(all)-1]
		one.To = to
		one.Ticks++
		if is(value, one.Worst) {
			one.Worst, one.At = value, s.tick.Time
		}
		if i == last {
			out.Tail = *one
		}
	}
	for _, one := range all {
		out.Count++
		out.Ticks += one.Ticks
		out.Time += one.Length()
		out.Last = one
		if out.Count == 1 || one.Length() > out.Longest.Length() {
			out.Longest = one
		}
		if one.From.Equal(life[0].tick.Time) {
			out.Head = one
		}
	}
	return out
}

// state makes a condition of one tick hold until the next.
func state(holds func(*seen) (float64, bool)) func(*seen) (from, to time.Time, value float64, ok bool) {
	return func(s *seen) (from, to time.Time, value float64, ok bool) {
		value, ok = holds(s)
		return s.tick.Time, s.until(), value, ok
	}
}

func specLow(o *Options) func(*seen) (float64, bool) {
	return func(s *seen) (float64, bool) {
		share, ok := s.vm.Locality()
		return share, ok && share < o.Locality
	}
}

func specStarved(o *Options) func(*seen) (float64, bool) {
	return func(s *seen) (float64, bool) {
		v := s.vm
		if v.Has&numa.HasReady == 0 || v.Has&numa.HasHomes == 0 || v.Homes == 0 || v.Ready/float64(v.VCPUs) < o.Ready {
			return 0, false
		}
		load := map[int]float64{}
		for _, n := range s.tick.Nodes {
			if busy, ok := n.Busy(); ok {
				load[n.ID] = busy
			}
		}
		for home := range v.Homes.All() {
			if busy, ok := load[home]; !ok || busy < o.BusyNode {
				return 0, false
			}
		}
		for id, busy := range load {
			if !v.Homes.Has(id) && busy <= o.IdleNode {
				return v.Ready / float64(v.VCPUs), true
			}
		}
		return 0, false
	}
}

func specLopsided(o *Options) func(*seen) (float64, bool) {
	return func(s *seen) (worst float64, ok bool) {
		var all numa.Bytes
		for _, m := range s.vm.OnNode {
			all += m.Guest
		}
		if s.vm.Has&numa.HasHomes == 0 || s.vm.Homes.Len() < 2 || all < numa.GiB {
			return 0, false
		}
		for _, m := range s.vm.OnNode {
			if share := float64(m.Guest) / float64(all); s.vm.Homes.Has(m.Node) && share >= o.Lopsided {
				worst, ok = max(worst, share), true
			}
		}
		return worst, ok
	}
}

func specSpill(o *Options) func(*seen) (from, to time.Time, value float64, ok bool) {
	return func(s *seen) (from, to time.Time, value float64, ok bool) {
		const has = numa.HasHomes | numa.HasMemory
		if s.before == nil || s.before.vm.Has&has != has || s.vm.Has&has != has || s.vm.Homes != s.before.vm.Homes || s.vm.Moves.All > 0 {
			return
		}
		room := s.vm.Homes != 0
		for _, t := range []*numa.Tick{s.before.tick, s.tick} {
			free := map[int]numa.Bytes{}
			for _, n := range t.Nodes {
				if n.Has&numa.HasFree != 0 {
					free[n.ID] = n.Free
				}
			}
			for home := range s.vm.Homes.All() {
				if f, ok := free[home]; !ok || f < o.SpillFree {
					room = false
				}
			}
		}
		grown := s.vm.Remote - s.before.vm.Remote
		if all := grown + s.vm.Local - s.before.vm.Local; all < grown {
			grown = all // the rest was local before
		}
		return s.before.tick.Time, s.tick.Time, float64(grown), room && grown >= o.SpillStep
	}
}

// events returns a Burst of events in the order of time.
func events(window time.Duration, at []time.Time, n []int64) (b Burst) {
	var begins []time.Time
	count := map[time.Time]int64{}
	for i := range at {
		if n[i] == 0 {
			continue
		}
		begin := time.Unix(0, at[i].UnixNano()/int64(window)*int64(window)).UTC()
		if count[begin] == 0 {
			begins = append(begins, begin)
		}
		count[begin] += n[i]
		b.Total += n[i]
	}
	for i, begin := range begins {
		if i == 0 {
			b.HeadAt, b.Head = begin, count[begin]
		}
		b.TailAt, b.Tail = begin, count[begin]
		if count[begin] > b.Most {
			b.Most, b.At = count[begin], begin
		}
	}
	return b
}

// specPath returns the changes of home nodes and the returns.
func specPath(life []*seen) (changes []Change, returns []time.Time) {
	var path []numa.NodeSet
	for _, s := range life {
		if s.vm.Has&numa.HasHomes == 0 || s.vm.Homes == 0 || len(path) > 0 && path[len(path)-1] == s.vm.Homes {
			continue
		}
		if n := len(path); n > 0 {
			changes = append(changes, Change{s.tick.Time, path[n-1], s.vm.Homes})
			if n > 1 && path[n-2] == s.vm.Homes {
				returns = append(returns, s.tick.Time)
			}
		}
		path = append(path, s.vm.Homes)
	}
	return changes, returns
}

// specWrong returns the first and the last tick whose N%L contradicts the memory.
func specWrong(life []*seen) (ends [2]time.Time) {
	for _, s := range life {
		all := s.vm.Local + s.vm.Remote
		if s.vm.Has&numa.HasMemory == 0 || s.vm.Has&numa.HasPercent == 0 || all < numa.MiB {
			continue
		}
		if off := s.vm.Percent - int(100*s.vm.Local/all); off < -1 || off > 1 {
			if ends[1] = s.tick.Time; ends[0].IsZero() {
				ends[0] = s.tick.Time
			}
		}
	}
	return ends
}

// specWidth returns the least width whose buckets are not too many.
func specWidth(first, last time.Time, most int) time.Duration {
	width := int64(1)
	for last.Unix()/width-first.Unix()/width >= int64(most) {
		width *= 2
	}
	return time.Duration(width) * time.Second
}

func TestSpecification(t *testing.T) {
	for seed := range uint64(60) {
		for _, o := range []Options{tight, some} {
			ticks := newWorld(500 + seed).ticks(80)
			r := record(o, 40, ticks)
			all := lives(ticks, &o)
			equal(t, "VMs", len(r.VMs), len(all))
			for i := range r.VMs {
				checkVM(t, &r.VMs[i], all[r.VMs[i].key()], &o)
			}
			checkHost(t, r, ticks, &o)
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		}
	}
}

func checkVM(t *testing.T, v *VM, life []*seen, o *Options) {
	t.Helper()
	equal(t, "Low", v.Low, spells(life, less, state(specLow(o))))
	equal(t, "Far", v.Far, spells(life, more, state(func(s *seen) (float64, bool) {
		return float64(s.vm.Remote), s.vm.Has&numa.HasMemory != 0 && s.vm.Remote >= o.Remote
	})))
	equal(t, "Lopsided", v.Lopsided, spells(life, more, state(specLopsided(o))))
	equal(t, "Starved", v.Starved, spells(life, more, state(specStarved(o))))
	equal(t, "Spill", v.Spill, spells(life, more, specSpill(o)))

	first, last := life[0].tick.Time, life[len(life)-1].tick.Time
	width := specWidth(first, last, o.Buckets)
	buckets := make([]VMBucket, last.UnixNano()/int64(width)-first.UnixNano()/int64(width)+1)
	var present, managed time.Duration
	remote := new(big.Int)
	homes := map[numa.NodeSet]time.Duration{}
	var ready Level
	var at []time.Time
	var moves []int64
	for _, s := range life {
		b := &buckets[s.tick.Time.UnixNano()/int64(width)-first.UnixNano()/int64(width)]
		b.Ticks++
		present += s.length()
		if share, ok := s.vm.Locality(); ok {
			managed += s.length()
			remote.Add(remote, new(big.Int).Mul(big.NewInt(int64(s.vm.Remote/numa.KiB)), big.NewInt(s.length().Milliseconds())))
			if least := int32(hundredths(share)); b.Memory == 0 || least < b.Least {
				b.Least = least
			}
			b.Memory++
			b.Local += int64(s.vm.Local / numa.KiB)
			b.Remote += int64(s.vm.Remote / numa.KiB)
		}
		if s.vm.Has&numa.HasHomes != 0 {
			homes[s.vm.Homes] += s.length()
			b.Homes |= s.vm.Homes
		}
		if s.vm.Has&numa.HasMoves != 0 {
			at, moves = append(at, s.tick.Time), append(moves, s.vm.Moves.All)
			b.Moves += s.vm.Moves.All
		}
		if s.vm.Has&numa.HasCoStop != 0 {
			b.CoStop += hundredths(s.vm.CoStop / float64(s.vm.VCPUs))
		}
		if s.vm.Has&numa.HasReady == 0 {
			continue
		}
		n := hundredths(s.vm.Ready / float64(s.vm.VCPUs))
		ready.Sum += n * s.over.Milliseconds()
		ready.Time += s.over
		if ready.At.IsZero() || n > ready.Most {
			ready.Most, ready.At = n, s.tick.Time
		}
		b.Rates++
		b.Ready += n
		b.MostReady = max(b.MostReady, int32(n))
	}
	equal(t, "Percents from, to", [2]time.Time{v.Percents.At, v.Percents.To}, specWrong(life))
	equal(t, "Present, Managed", [2]time.Duration{v.Present, v.Managed}, [2]time.Duration{present, managed})
	sum := new(big.Int).SetUint64(v.Remote.Sum.Hi)
	sum.Lsh(sum, 64).Add(sum, new(big.Int).SetUint64(v.Remote.Sum.Lo))
	equal(t, "Remote.Sum", sum.String(), remote.String())
	got := map[numa.NodeSet]time.Duration{}
	for _, h := range v.Homes {
		got[h.Homes] = h.Time
	}
	equal(t, "Homes", got, homes)
	equal(t, "Ready", v.Ready, ready)
	equal(t, "Migrated", v.Migrated, events(o.Window, at, moves))
	equal(t, "Timeline", v.Timeline, NewTimeline(width, first.UnixNano()/int64(width), buckets))

	if o.Needs {
		checkNeeds(t, v.Needs, life)
	}
	changes, returns := specPath(life)
	equal(t, "Changes", v.Changes, changes)
	ones := make([]int64, len(changes))
	at = at[:0]
	for i, c := range changes {
		at = append(at, c.Time)
		ones[i] = 1
	}
	equal(t, "Changed", v.Changed, events(o.Window, at, ones))
	equal(t, "Returns", v.Returns, events(o.Window, returns, ones))
}
