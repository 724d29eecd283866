package keep

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"example.org/homenode/capture"
	"example.org/homenode/capture/store"
	"example.org/homenode/numa"
)

// A Lost is a VM whose locality was below a limit in some hours.
type Lost struct {
	VCenter, ID, VM string
	Hours           int     // hours with any sample below the limit
	Missing         float64 // sum over these hours of the limit minus the mean
	Least           float64 // as a share
}

// Lost returns the VMs whose locality was below a limit in an hour that ended between two times, largest loss first. Hours are computed after they
// have ended.
func (k *Keeper) Lost(ctx context.Context, from, to time.Time, limit float64) ([]Lost, error) {
	k.mu.Lock()
	h := k.hours
	k.mu.Unlock()
	if h == nil {
		return nil, nil
	}
	by := map[[2]string]*Lost{}
	err := h.Each(ctx, from, to, func(r *store.Range) error {
		id := [2]string{r.Label("vcenter"), r.Label("vm_id")}
		if id[1] == "" {
			return nil
		}
		mean := r.Label("__name__") == HourFamilies[1][0]
		for r.Next() {
			_, number := r.At()
			if number >= limit {
				continue
			}
			x := by[id]
			if x == nil {
				x = &Lost{VCenter: id[0], ID: id[1], VM: r.Label("vm"), Least: 1}
				by[id] = x
			}
			if mean {
				x.Missing += limit - number
			} else {
				x.Hours++
				x.Least = min(x.Least, number)
			}
		}
		return r.Err()
	}, HourFamilies[0][0], HourFamilies[1][0])
	if err != nil {
		return nil, err
	}
	var out []Lost
	for _, x := range by {
		out = append(out, *x)
	}
	slices.SortFunc(out, func(a, b Lost) int {
		return cmp.Or(cmp.Compare(b.Missing, a.Missing), cmp.Compare(b.Hours, a.Hours), cmp.Compare(a.VM, b.VM), cmp.Compare(a.VCenter, b.VCenter), cmp.Compare(a.ID, b.ID))
	})
	return out, nil
}

// Recordings returns the observations of some VMs, by their IDs, and of the nodes of their hosts, for rules: a Recording for each host, without
// its other VMs. Each stay of a VM on a host is a separate life, as with live ticks: see Of.
func (k *Keeper) Recordings(ctx context.Context, vcenter string, ids []string, from, to time.Time, o capture.Options) ([]*capture.Recording, error) {
	s, err := k.Store()
	if s == nil {
		return nil, err
	}
	type guest struct {
		name string
		*stay
		next int
	}
	on := map[string][]*guest{} // by host
	for n, id := range ids {
		stays, vm, err := staysOf(ctx, s, vcenter, id, from, to)
		if err != nil {
			return nil, err
		}
		for host, x := range stays {
			ended := x.ends()
			for i := range x.of {
				life, _ := slices.BinarySearch(ended, x.at[i])
				x.of[i].Name, x.of[i].GID = vm, int64(life*len(ids)+n+1)
			}
			on[host] = append(on[host], &guest{name: vm, stay: x})
		}
	}
	var out []*capture.Recording
	for _, host := range slices.Sorted(maps.Keys(on)) {
		nodes, err := nodesOf(ctx, s, vcenter, host, from, to)
		if err != nil {
			return nil, err
		}
		var all row[struct{}]
		for _, x := range nodes {
			all.add(x.at)
		}
		for _, g := range on[host] {
			all.add(g.at)
		}
		rec := capture.NewRecorder(o)
		rec.Open("store", capture.FromStore)
		numbers, next := slices.Sorted(maps.Keys(nodes)), map[int]int{}
		t := numa.Tick{Host: host}
		for _, ms := range all.at {
			t.Time, t.Nodes, t.VMs = time.UnixMilli(ms).UTC(), t.Nodes[:0], t.VMs[:0]
			for _, n := range numbers {
				if x := nodes[n]; next[n] < len(x.at) && x.at[next[n]] == ms {
					t.Nodes = append(t.Nodes, x.of[next[n]])
					next[n]++
				}
			}
			for _, g := range on[host] {
				if g.next < len(g.at) && g.at[g.next] == ms {
					t.VMs = append(t.VMs, g.of[g.next])
					g.next++
				}
			}
			rec.Add(&t)
		}
		if r := rec.Recording(); r != nil {
			out = append(out, r)
		}
	}
	return out, nil
}

// Of returns the ID of the VM that a life of Recordings belongs to, by the group ID of the life; false for none.
func Of(ids []string, gid int64) (id string, ok bool) {
	if gid < 1 || len(ids) == 0 {
		return "", false
	}
	return ids[int(gid-1)%len(ids)], true
}
