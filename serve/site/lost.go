package site

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"example.org/homenode/serve/board"
	"example.org/homenode/serve/keep"
)

// The fleet's page shows locality losses over lostOver: the lostMost VMs with the largest losses are assessed, again after lostKept.
const (
	lostOver  = 24 * time.Hour
	lostMost  = 30
	lostKept  = time.Minute
	lostStale = 3 * lostKept // an older one is not shown: what it calls open may have ended
)

// A lost has the findings over a period about VMs that lost locality.
type lost struct {
	found []board.Alarm
	more  int // VMs that lost less and were not assessed
	at    time.Time
	early bool // earlier hours are not available yet
}

// A losses caches them by vCenter.
type losses struct {
	all     sync.Map // *lost, by vCenter
	reading singleflight.Group
}

// of returns the cached value. The first callers wait for one read; later callers get the cached value while it is refreshed.
func (k *losses) of(ctx context.Context, vcenter string, now time.Time, read func(context.Context) (*lost, error)) (*lost, error) {
	cached, ok := k.all.Load(vcenter)
	if ok && now.Sub(cached.(*lost).at) < lostKept {
		return cached.(*lost), nil
	}
	anew := k.reading.DoChan(vcenter, func() (any, error) { // it goes on without a client who leaves: others may wait
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lostKept)
		defer cancel()
		x, err := read(ctx)
		if err == nil && !x.early {
			k.all.Store(vcenter, x)
		}
		return x, err
	})
	if ok && now.Sub(cached.(*lost).at) < lostStale {
		return cached.(*lost), nil
	}
	select {
	case r := <-anew:
		return r.Val.(*lost), r.Err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// lost returns the VMs that lost locality over the last day; nil without a store.
func (l *Live) lost(ctx context.Context, vcenter string, now time.Time) (*lost, error) {
	if l.Keeper == nil {
		return nil, nil
	}
	return l.losses.of(ctx, vcenter, now, func(ctx context.Context) (*lost, error) { return l.lose(ctx, vcenter, now) })
}

// lose computes the VMs that lost locality.
func (l *Live) lose(ctx context.Context, vcenter string, now time.Time) (*lost, error) {
	from, early := now.Add(-lostOver), !l.Keeper.Made()
	all, err := l.Keeper.Lost(ctx, from, now, l.Board.LowLocality())
	if err != nil {
		return nil, err
	}
	vms := map[string][]string{} // IDs by vCenter
	n := 0
	add := func(of, id string) {
		if id == "" || vcenter != "" && of != vcenter || slices.Contains(vms[of], id) {
			return
		}
		n++
		if n <= lostMost {
			vms[of] = append(vms[of], id)
		}
	}
	open, ended := l.Board.Alarms() // of the hours that have not ended
	for _, a := range slices.Concat(open, ended) {
		if a.Live {
			add(a.VCenter, a.Finding.VMID)
		}
	}
	for i := range all {
		add(all[i].VCenter, all[i].ID)
	}
	x := &lost{at: now, more: max(0, n-lostMost), early: early}
	for of, ids := range vms {
		found, err := l.over(ctx, of, ids, from, now)
		if err != nil {
			return nil, err
		}
		x.found = append(x.found, found...)
	}
	sortAlarms(x.found)
	return x, nil
}

// over returns the findings about VMs, by their IDs, over a period. Findings that last until now have no end. A current live finding
// replaces the one about the same in the period.
func (l *Live) over(ctx context.Context, vcenter string, ids []string, from, now time.Time) (out []board.Alarm, err error) {
	if l.Keeper == nil {
		return nil, nil
	}
	o := l.limits()
	recordings, err := l.Keeper.Recordings(ctx, vcenter, ids, from, now, o)
	if err != nil {
		return nil, err
	}
	for _, f := range l.Board.Over(vcenter, recordings, now) {
		a := board.Alarm{VCenter: vcenter, Finding: f, Begin: f.From, End: f.To, Live: true, Worst: f.Severity}
		if id, ok := keep.Of(ids, f.GID); ok {
			a.Finding.VMID, a.Finding.GID = id, -1
		}
		if a.Begin.IsZero() {
			continue
		}
		if now.Sub(a.End) <= o.Gap {
			a.End = time.Time{}
		}
		out = append(out, a)
	}
	for _, a := range l.alarms(vcenter) {
		if !slices.Contains(ids, a.Finding.VMID) {
			continue
		}
		l.settle(&a, now)
		out = slices.DeleteFunc(out, func(b board.Alarm) bool {
			same := b.Finding.Rule == a.Finding.Rule && b.Finding.VMID == a.Finding.VMID && !b.Begin.After(cmp.Or(a.Finding.To, now)) && !b.Finding.To.Before(a.Begin)
			if same && b.Begin.Before(a.Begin) {
				a.Begin, a.Before = b.Begin, false
			}
			return same
		})
		out = append(out, a)
	}
	sortAlarms(out)
	return out, nil
}

// sortAlarms sorts the worst first, then the latest begin.
func sortAlarms(all []board.Alarm) {
	slices.SortStableFunc(all, func(a, b board.Alarm) int {
		return cmp.Or(cmp.Compare(b.Finding.Severity, a.Finding.Severity), b.Begin.Compare(a.Begin), cmp.Compare(a.Finding.VM, b.Finding.VM), cmp.Compare(a.Finding.Rule, b.Finding.Rule))
	})
}
