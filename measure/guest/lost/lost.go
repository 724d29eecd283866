// Package lost measures the time in which a processor did not run a thread that never waits: time that the guest gave to other threads, and time
// that only the hypervisor can have taken.
package lost

import (
	"context"
	"fmt"
	"time"

	"example.org/homenode/measure/guest/cpu"
)

// Limits of gaps: shorter steps of the counter are the loop itself, and a gap between both limits is an interrupt or the hypervisor.
const (
	Shortest = 2 * time.Microsecond
	Long     = 100 * time.Microsecond
)

// Longest limits the duration of Watch, so that other tasks get the processors.
const Longest = 200 * time.Millisecond

// A Gap is a time in which the thread did not run.
type Gap struct {
	At       time.Duration // since the start
	For      time.Duration
	Switched bool // the guest ran another thread meanwhile
}

// Lost is the time in which one processor did not run a thread.
type Lost struct {
	CPU   int
	Time  time.Duration // watched
	Gaps  []Gap         // the first 4,096
	Count int

	// Sums of all gaps: those in which the guest ran another thread, others shorter than Long (interrupts or the hypervisor), and others that only
	// the hypervisor causes (ready time, co-stop). SwitchesKnown is false if the system does not count switches of one thread: then Guest is 0, and
	// the other sums may include gaps caused by the guest.
	Guest, Brief, Hypervisor time.Duration
	SwitchesKnown            bool

	// RunDelay is the time that the thread waited for the guest to give it the processor, by schedstat, if known. Steal is the time that the
	// hypervisor reported as taken (in steps of 10 ms), if known; zero is no proof.
	RunDelay, Steal           time.Duration
	RunDelayKnown, StealKnown bool
}

// Share returns the share of the time that was lost at least outside the guest: all gaps minus the guest's own run delay. It reports false if that
// is unknown.
func (l *Lost) Share() (share float64, ok bool) {
	if !l.RunDelayKnown || l.Time <= 0 {
		return 0, false
	}
	return max(0, (l.Guest+l.Brief+l.Hypervisor-l.RunDelay).Seconds()/l.Time.Seconds()), true
}

// most is the number of gaps that are stored.
const most = 4096

// Watch reads the counter on a processor for d, at most Longest, and returns the gaps. If the context ends, it returns its error and the gaps so
// far.
func Watch(ctx context.Context, on int, d time.Duration) (*Lost, error) {
	l := &Lost{CPU: on, Gaps: make([]Gap, 0, most)}
	err := cpu.On(on, func() error {
		before := readAccounts(on)
		err := l.watch(ctx, min(d, Longest))
		l.account(before, readAccounts(on))
		return err
	})
	if err != nil {
		return l, fmt.Errorf("lost time: %w", err)
	}
	return l, nil
}

// watch is the loop. It allocates nothing.
func (l *Lost) watch(ctx context.Context, d time.Duration) error {
	threshold, look := cpu.Ticks(Shortest), cpu.Ticks(time.Millisecond)
	switches, known := involuntary()
	l.SwitchesKnown = known
	begin := cpu.Start()
	end, last, looked := begin+cpu.Ticks(d), begin, begin
	for last < end {
		now := cpu.Start()
		if now-last > threshold {
			g := Gap{At: duration(last - begin), For: duration(now - last)}
			if known {
				after, _ := involuntary()
				g.Switched = after != switches
				switches = after
			}
			l.add(g)
			now = cpu.Start() // exclude the time spent here
		}
		last = now
		if last-looked > look {
			if ctx.Err() != nil {
				l.Time = duration(last - begin)
				return ctx.Err()
			}
			looked = last
			last = cpu.Start()
		}
	}
	l.Time = duration(last - begin)
	return nil
}

func (l *Lost) add(g Gap) {
	if l.Count++; len(l.Gaps) < most {
		l.Gaps = append(l.Gaps, g)
	}
	switch {
	case g.Switched:
		l.Guest += g.For
	case g.For < Long:
		l.Brief += g.For
	default:
		l.Hypervisor += g.For
	}
}

// accounts has the system's counters for this thread and its processor, and whether they are known.
type accounts struct {
	runDelay, steal           time.Duration
	runDelayKnown, stealKnown bool
}

func (l *Lost) account(before, after accounts) {
	if l.RunDelayKnown = before.runDelayKnown && after.runDelayKnown; l.RunDelayKnown {
		l.RunDelay = after.runDelay - before.runDelay
	}
	if l.StealKnown = before.stealKnown && after.stealKnown; l.StealKnown {
		l.Steal = after.steal - before.steal
	}
}

func duration(ticks uint64) time.Duration { return time.Duration(cpu.NS(ticks)) }
