package pages

import (
	"slices"
	"strings"
	"time"

	"example.org/homenode/numa"
)

// A Latest keeps the last tick of each host. Its zero value accepts all ticks.
type Latest struct {
	From, To time.Time // ticks outside are only counted; a zero To is no end
	Outside  int
	hosts    map[string]Host
}

// Add adds a tick.
func (l *Latest) Add(t *numa.Tick) {
	if t.Time.Before(l.From) || !l.To.IsZero() && t.Time.After(l.To) {
		l.Outside++
		return
	}
	if h, ok := l.hosts[t.Host]; ok && t.Time.Before(h.Time) {
		return
	}
	if l.hosts == nil {
		l.hosts = map[string]Host{}
	}
	l.hosts[t.Host] = hostOf(t)
}

// Hosts returns the hosts in the order of names.
func (l *Latest) Hosts() []Host {
	var out []Host
	for _, h := range l.hosts {
		out = append(out, h)
	}
	slices.SortFunc(out, func(a, b Host) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// hostOf returns the counters that a tick states, and no others.
func hostOf(t *numa.Tick) Host {
	stated := func(has, bit numa.Counters, b numa.Bytes) *numa.Bytes {
		if has&bit == 0 {
			return nil
		}
		return &b
	}
	h := Host{
		Name: t.Host, Time: t.Time, Nodes: len(t.Nodes),
		Memory: stated(t.Has, numa.HasTotal, t.Memory), Free: stated(t.Has, numa.HasFree, t.Free), MinFree: stated(t.Has, numa.HasMinFree, t.MinFree),
		Shared: stated(t.Has, numa.HasShared, t.Shared), Common: stated(t.Has, numa.HasCommon, t.Common),
	}
	if t.Has&numa.HasState != 0 {
		state := t.State
		h.State = &state
	}
	for i := range t.VMs {
		v := &t.VMs[i]
		at := func(bit numa.Counters, b numa.Bytes) *numa.Bytes { return stated(v.Has, bit, b) }
		h.VMs = append(h.VMs, VM{
			Name: v.Name, Size: at(numa.HasSize, v.Size), Granted: at(numa.HasGranted, v.Granted), Consumed: at(numa.HasConsumed, v.Consumed),
			Active: at(numa.HasActive, v.Active), Shared: at(numa.HasShared, v.Shared), Saved: at(numa.HasSaved, v.Saved), Zero: at(numa.HasZero, v.Zero),
			Hint: at(numa.HasHint, v.Hint), Large: at(numa.HasLarge, v.Large),
		})
	}
	return h
}
