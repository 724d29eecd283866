package guest

import (
	"context"
	"errors"
	"sync"
	"time"

	"example.org/homenode/measure/guest/cpu"
	"example.org/homenode/measure/guest/lost"
	"example.org/homenode/source/measured"
)

// lostTasks returns the task that measures time that the guest did not get.
func lostTasks(p *Plan) []Task {
	if len(p.CPUs) == 0 {
		return nil
	}
	d := time.Second
	if p.Options.quick() {
		d = lost.Longest
	}
	return []Task{{Part: Hidden, Name: "lost time", CPUs: len(p.spare(p.CPUs)), For: d, run: measureLost}}
}

func measureLost(ctx context.Context, r *run, d time.Duration) error {
	sum, err := watchLost(ctx, r.plan.spare(r.plan.CPUs), d)
	r.out.Lost = sum
	return err
}

var errNoAccounts = errors.New("the system does not tell whether a thread waited for the guest or for the hypervisor")

// watchLost reads the counter on all these processors at the same time, with pauses.
func watchLost(ctx context.Context, cpus []int, d time.Duration) (*measured.Lost, error) {
	cpu.Room(len(cpus))
	var gaps, byHost, byGuest, steal time.Duration
	sum := &measured.Lost{}
	known := true
	for end := time.Now().Add(d); ; {
		all, errs := make([]*lost.Lost, len(cpus)), make([]error, len(cpus))
		var wait sync.WaitGroup
		for i, on := range cpus {
			wait.Go(func() { all[i], errs[i] = lost.Watch(ctx, on, min(lost.Longest, d)) })
		}
		wait.Wait()
		if err := errors.Join(errs...); err != nil {
			return nil, err
		}
		for _, l := range all {
			sum.Seconds += l.Time.Seconds()
			sum.Gaps += l.Count
			gaps = l.Guest + l.Brief + l.Hypervisor
			switch share, ok := l.Share(); {
			case ok:
				// A thread that parked itself is not in the run delay: the host's part is at most the gaps without a switch.
				host := time.Duration(share * float64(l.Time))
				if l.SwitchesKnown {
					host = min(host, l.Brief+l.Hypervisor)
				}
				byHost += host
				byGuest += gaps - host
			case l.SwitchesKnown:
				byHost += l.Brief + l.Hypervisor
				byGuest += l.Guest
			default:
				known = false
			}
			steal += l.Steal
			for _, g := range l.Gaps {
				if !g.Switched {
					sum.Longest = max(sum.Longest, g.For.Seconds())
				}
			}
		}
		if time.Now().Add(rest).After(end) {
			break
		}
		if err := sleep(ctx, rest); err != nil {
			return nil, err
		}
	}
	if !known || sum.Seconds == 0 {
		return nil, errNoAccounts
	}
	sum.ByHost, sum.ByGuest, sum.Steal = byHost.Seconds()/sum.Seconds, byGuest.Seconds()/sum.Seconds, min(1, steal.Seconds()/sum.Seconds)
	return sum, nil
}
