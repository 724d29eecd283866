package keep

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"time"

	"example.org/homenode/capture"
	"example.org/homenode/capture/store"
	"example.org/homenode/numa"
	"example.org/homenode/serve/metrics"
)

// PastHost returns the history of a host, by its name: load and free memory of its nodes, and the migrations of its VMs; over at most a
// day also their home nodes. It is nil without observations.
func (k *Keeper) PastHost(ctx context.Context, vcenter, host string, from, to time.Time, o capture.Options) (*Past, error) {
	s, err := k.Store()
	if s == nil {
		return nil, err
	}
	nodes, err := nodesOf(ctx, s, vcenter, host, from, to)
	if err != nil {
		return nil, err
	}
	var all row[struct{}] // times of ticks
	for _, x := range nodes {
		all.add(x.at)
	}
	if len(all.at) == 0 {
		return nil, nil
	}
	p := &Past{}
	if p.Moved, err = movedOn(ctx, s, vcenter, host, from, to); err != nil {
		return nil, err
	}
	var homes map[string]*row[numa.VMTick]
	if to.Sub(from) <= homesWithin {
		if homes, err = homesOn(ctx, s, vcenter, host, from, to, all.at); err != nil {
			return nil, err
		}
	}
	if p.Recording = record(host, all.at, nodes, homes, o); p.Recording == nil {
		return nil, nil
	}
	for i := range p.Recording.VMs {
		atLast(&p.Recording.VMs[i])
	}
	return p, nil
}

// record makes a recording of the times of a host, of its nodes and of the home nodes of its VMs, which may be nil.
func record(host string, at []int64, nodes map[int]*row[numa.NodeTick], homes map[string]*row[numa.VMTick], o capture.Options) *capture.Recording {
	rec := capture.NewRecorder(o)
	rec.Open("store", capture.FromStore)
	ids, names := slices.Sorted(maps.Keys(nodes)), slices.Sorted(maps.Keys(homes))
	next, nextOf := make([]int, len(ids)), make([]int, len(names))
	t := numa.Tick{Host: host}
	every := (len(at) + homesMost - 1) / homesMost
	for i, ms := range at {
		t.Time, t.Nodes = time.UnixMilli(ms).UTC(), t.Nodes[:0]
		for k, id := range ids {
			if x, n := nodes[id], next[k]; n < len(x.at) && x.at[n] == ms {
				t.Nodes = append(t.Nodes, x.of[n])
				next[k]++
			}
		}
		if i%every == 0 || homes == nil { // in between the VMs are unchanged
			t.VMs = t.VMs[:0]
			for k, name := range names {
				x := homes[name]
				for nextOf[k] < len(x.at) && x.at[nextOf[k]] < ms {
					nextOf[k]++
				}
				if n := nextOf[k]; n < len(x.at) && x.at[n] == ms {
					t.VMs = append(t.VMs, x.of[n])
				}
			}
		}
		rec.Add(&t)
	}
	return rec.Recording()
}

// nodesOf returns the observations of the nodes of a host, by number.
func nodesOf(ctx context.Context, s *store.Store, vcenter, host string, from, to time.Time) (map[int]*row[numa.NodeTick], error) {
	nodes := map[int]*row[numa.NodeTick]{}
	err := s.EachOf(ctx, from, to, func(r *store.Range) error {
		node, name := nodeOf(r), r.Label("__name__")
		if node < 0 {
			return nil
		}
		x := nodes[node]
		if x == nil {
			x = &row[numa.NodeTick]{}
			nodes[node] = x
		}
		return x.take(r, func(n *numa.NodeTick, number float64) {
			n.ID = node
			metrics.TakeNode(n, name, number)
		}, nil)
	}, pastOfNodes, "vcenter", vcenter, "host", host)
	return nodes, err
}

// add adds times.
func (x *row[T]) add(at []int64) {
	var more row[T]
	for _, ms := range at {
		if _, there := slices.BinarySearch(x.at, ms); !there {
			var zero T
			more.at, more.of = append(more.at, ms), append(more.of, zero)
		}
	}
	x.merge(&more)
}

// movedOn returns the migrations of all VMs of a host.
func movedOn(ctx context.Context, s *store.Store, vcenter, host string, from, to time.Time) (out []capture.Count, err error) {
	by := map[int64]int64{}
	err = s.EachOf(ctx, from, to, func(r *store.Range) error {
		for count := since(); r.Next(); {
			ms, number := r.At()
			if math.IsNaN(number) {
				count = since()
			} else if n := count(number); n > 0 {
				by[ms] += n
			}
		}
		return r.Err()
	}, []string{metrics.Migrations}, "vcenter", vcenter, "host", host)
	for _, ms := range slices.Sorted(maps.Keys(by)) {
		out = append(out, capture.Count{Time: time.UnixMilli(ms).UTC(), N: by[ms]})
	}
	return out, err
}

// homesOn returns home nodes and memory of the VMs of a host, by VM, at some of the times of its ticks.
func homesOn(ctx context.Context, s *store.Store, vcenter, host string, from, to time.Time, at []int64) (map[string]*row[numa.VMTick], error) {
	every := (len(at) + homesMost - 1) / homesMost
	var moments []int64
	for i := 0; i < len(at); i += every {
		moments = append(moments, at[i])
	}
	out := map[string]*row[numa.VMTick]{}
	err := s.EachOf(ctx, from, to, func(r *store.Range) error {
		name, node, vm := r.Label("__name__"), nodeOf(r), r.Label("vm")
		key := vm + "\x00" + cmp.Or(r.Label("vm_id"), r.Label("gid"))
		x := out[key]
		if x == nil {
			x = &row[numa.VMTick]{}
			out[key] = x
		}
		var mine row[float64]
		for i := 0; r.Next(); {
			ms, number := r.At()
			for i < len(moments) && moments[i] < ms {
				i++
			}
			if i < len(moments) && moments[i] == ms && !math.IsNaN(number) {
				mine.at, mine.of = append(mine.at, ms), append(mine.of, number)
			}
		}
		x.add(mine.at)
		i := 0
		for k, ms := range mine.at {
			for x.at[i] < ms {
				i++
			}
			x.of[i].Name, x.of[i].GID = vm, -1
			metrics.TakeVM(&x.of[i], name, node, mine.of[k])
		}
		return r.Err()
	}, pastOfHomes, "vcenter", vcenter, "host", host)
	return out, err
}
