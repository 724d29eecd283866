package keep

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"example.org/homenode/capture"
	"example.org/homenode/capture/store"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/serve/metrics"
)

// A Past is the recorded history of a VM or host between two times, as a Recording for charts and rules.
type Past struct {
	Recording *capture.Recording
	VM        *capture.VM     // in the Recording; nil for a host
	Hosts     []string        // hosts of the VM, in time order
	Events    []capture.Event // of the VM, in time order
	Moved     []capture.Count // of a host: the NUMA migrations of all its VMs, in time order
}

// The metrics of a Past.
var (
	pastOfVM = []string{"homenode_vm_vcpus", "homenode_vm_numa_home_node", "homenode_vm_numa_local_bytes", "homenode_vm_numa_remote_bytes", metrics.Migrations,
		"homenode_vm_cpu_used_seconds_per_second", "homenode_vm_cpu_ready_seconds_per_second", "homenode_vm_cpu_costop_seconds_per_second", "homenode_vm_memory_size_bytes"}
	pastOfNodes = []string{"homenode_node_memory_total_bytes", "homenode_node_memory_free_bytes", "homenode_node_cpu_used_ratio", "homenode_node_cpu_util_ratio", "homenode_node_cpu_core_util_ratio"}
	pastOfHomes = []string{"homenode_vm_numa_home_node", "homenode_vm_numa_local_bytes", "homenode_vm_numa_remote_bytes"}
)

// Limits for the VMs of a host, whose home nodes and memory are charted: the longest range, and as many moments as a chart can show. 40 VMs
// once a minute over 30 days would be 14 million samples.
const (
	homesWithin = 24 * time.Hour
	homesMost   = 720
)

// A row has the values of several series at common times: those of a node, or of a VM on a host.
type row[T any] struct {
	at []int64 // milliseconds since 1970, ascending
	of []T
}

// take adds a series: its values at existing times, and its additional times. ended is called for each end of the series.
func (x *row[T]) take(r *store.Range, set func(of *T, number float64), ended func(ms int64)) error {
	var more row[T]
	i := 0
	for r.Next() {
		ms, number := r.At()
		if math.IsNaN(number) {
			if ended != nil {
				ended(ms)
			}
			continue
		}
		for i < len(x.at) && x.at[i] < ms {
			i++
		}
		if i < len(x.at) && x.at[i] == ms {
			set(&x.of[i], number)
			continue
		}
		var one T
		set(&one, number)
		more.at, more.of = append(more.at, ms), append(more.of, one)
	}
	x.merge(&more)
	return r.Err()
}

// merge adds times that are missing.
func (x *row[T]) merge(more *row[T]) {
	switch {
	case len(more.at) == 0:
		return
	case len(x.at) == 0 || x.at[len(x.at)-1] < more.at[0]:
		x.at, x.of = append(x.at, more.at...), append(x.of, more.of...)
		return
	}
	all := row[T]{make([]int64, 0, len(x.at)+len(more.at)), make([]T, 0, len(x.at)+len(more.at))}
	i := 0
	for k, ms := range more.at {
		for ; i < len(x.at) && x.at[i] < ms; i++ {
			all.at, all.of = append(all.at, x.at[i]), append(all.of, x.of[i])
		}
		all.at, all.of = append(all.at, ms), append(all.of, more.of[k])
	}
	all.at, all.of = append(all.at, x.at[i:]...), append(all.of, x.of[i:]...)
	*x = all
}

// since returns a function that converts a counter to its increase since the previous sample. The first sample, and one after a reset, give 0.
func since() func(number float64) int64 {
	last := math.NaN()
	return func(number float64) int64 {
		n := number - last
		last = number
		if !(n > 0) {
			return 0
		}
		return int64(n)
	}
}

// nodeOf returns the node of a series; -1 for none.
func nodeOf(r *store.Range) int {
	n, err := strconv.Atoi(r.Label("node"))
	if err != nil || n < 0 || n >= numa.MaxNodes {
		return -1
	}
	return n
}

// A stay is a VM on a host.
type stay struct {
	row[numa.VMTick]
	ended []int64 // end times of its series
}

// ends returns the times at which the VM disappeared from its host, ascending: end times of its series without any value at that time.
func (x *stay) ends() []int64 {
	return slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(x.ended))), func(ms int64) bool {
		_, there := slices.BinarySearch(x.at, ms)
		return there
	})
}

// staysOf returns the observations of a VM by host, and its name.
func staysOf(ctx context.Context, s *store.Store, vcenter, id string, from, to time.Time) (stays map[string]*stay, vm string, err error) {
	stays = map[string]*stay{}
	err = s.EachOf(ctx, from, to, func(r *store.Range) error {
		host, name, node, count := r.Label("host"), r.Label("__name__"), nodeOf(r), since()
		vm = r.Label("vm")
		x := stays[host]
		if x == nil {
			x = &stay{}
			stays[host] = x
		}
		return x.take(r, func(v *numa.VMTick, number float64) {
			if name == metrics.Migrations {
				number = float64(count(number))
			}
			metrics.TakeVM(v, name, node, number)
		}, func(ms int64) { x.ended = append(x.ended, ms); count = since() })
	}, pastOfVM, "vcenter", vcenter, "vm_id", id)
	return stays, vm, err
}

// PastVM returns the history of a VM, by its ID, on all hosts of a vCenter; nil without observations. Host in its Recording lists all of them.
func (k *Keeper) PastVM(ctx context.Context, vcenter, id string, from, to time.Time, o capture.Options) (*Past, error) {
	s, err := k.Store()
	if s == nil {
		return nil, err
	}
	stays, vm, err := staysOf(ctx, s, vcenter, id, from, to)
	if err != nil {
		return nil, err
	}
	// The host of the VM at each time.
	type look struct {
		ms   int64
		host string
		tick *numa.VMTick
	}
	var looks []look
	hosts := slices.Sorted(maps.Keys(stays))
	for _, host := range hosts {
		x := stays[host]
		for i := range x.at {
			looks = append(looks, look{x.at[i], host, &x.of[i]})
		}
	}
	if len(looks) == 0 {
		return nil, nil
	}
	slices.SortStableFunc(looks, func(a, b look) int { return cmp.Compare(a.ms, b.ms) })
	looks = slices.CompactFunc(looks, func(a, b look) bool { return a.ms == b.ms })
	hosts = slices.DeleteFunc(hosts, func(h string) bool { return len(stays[h].at) == 0 })
	p := &Past{}
	rec := capture.NewRecorder(o)
	rec.Open("store", capture.FromStore)
	t := numa.Tick{Host: words.Few(hosts), VMs: make([]numa.VMTick, 1)}
	visits := make([]visit, len(looks))
	for i := range looks {
		l := &looks[i]
		if len(p.Hosts) == 0 || p.Hosts[len(p.Hosts)-1] != l.host {
			p.Hosts = append(p.Hosts, l.host)
		}
		visits[i] = visit{l.ms, l.host}
		t.Time, t.VMs[0] = time.UnixMilli(l.ms).UTC(), *l.tick
		t.VMs[0].Name, t.VMs[0].GID = vm, -1
		rec.Add(&t)
	}
	if p.Recording = rec.Recording(); p.Recording == nil || len(p.Recording.VMs) == 0 {
		return nil, nil
	}
	p.VM = &p.Recording.VMs[0]
	atLast(p.VM)
	oldest := s.Oldest()
	if oldest.Before(from) {
		oldest = from
	}
	p.Events = events(visits, stays, oldest, o.Gap)
	return p, nil
}

// atLast sets the home nodes of the last bucket of a VM's timeline to the last known ones, because a bucket has the union of its home nodes.
func atLast(v *capture.VM) {
	if last := v.Timeline.Last(); v.HasHomes && last != nil {
		last.Homes = v.LastHomes
	}
}

// A visit is one observation of a VM on a host.
type visit struct {
	ms   int64
	host string
}

// events returns the events of a VM with these observations, since a time. An end of its series means that it disappeared from the host.
func events(visits []visit, stays map[string]*stay, oldest time.Time, gap time.Duration) (out []capture.Event) {
	for _, x := range stays {
		x.ended = x.ends()
	}
	add := func(ms int64, text, note string) {
		out = append(out, capture.Event{Time: time.UnixMilli(ms).UTC(), Text: text, Note: note})
	}
	// endOn returns the first end on a host between two times.
	endOn := func(host string, from, to int64) (int64, bool) {
		ended := stays[host].ended
		i, _ := slices.BinarySearch(ended, from+1)
		if i < len(ended) && ended[i] < to {
			return ended[i], true
		}
		return 0, false
	}
	const gone = "it was powered off, or is on a host that is not collected from"
	if first := &visits[0]; first.ms-oldest.UnixMilli() > gap.Milliseconds() {
		add(first.ms, "on", first.host+" shows it from then on")
	}
	for i := 1; i < len(visits); i++ {
		was, now := &visits[i-1], &visits[i]
		end, off := endOn(now.host, was.ms, now.ms)
		switch {
		case now.host != was.host && now.ms-was.ms <= gap.Milliseconds():
			add(now.ms, "vMotion to "+now.host, "from "+was.host)
		case now.host != was.host:
			add(now.ms, "on "+now.host, "before it was on "+was.host)
		case off:
			add(end, "off", gone)
			add(now.ms, "on", "its host shows it again")
		}
	}
	last := &visits[len(visits)-1]
	if end, off := endOn(last.host, last.ms, math.MaxInt64); off {
		add(end, "off", gone)
	}
	return out
}
