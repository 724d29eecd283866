package keep

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"homenode/capture"
	"homenode/capture/store"
	"homenode/internal/words"
	"homenode/numa"
)

// A Past is what was seen of a VM or host from one time to another, as a Recording that drawings and rules read.
type Past struct {
	Recording *capture.Recording
	VM        *capture.VM // of the Recording; nil of a host
	Hosts     []string    // that the VM was on, in the order of time
	Events    []Event     // of the VM, in the order of time
}

// An Event is what happened to a VM.
type Event struct {
	Time       time.Time
	Text, Note string
}

// Metrics that a Past is made of.
var (
	pastOfVM = []string{"homenode_vm_vcpus", "homenode_vm_numa_home_node", "homenode_vm_numa_local_bytes", "homenode_vm_numa_remote_bytes", "homenode_vm_numa_migrations_total",
		"homenode_vm_cpu_ready_seconds_per_second", "homenode_vm_cpu_costop_seconds_per_second", "homenode_vm_memory_size_bytes"}
	pastOfNodes = []string{"homenode_node_memory_total_bytes", "homenode_node_memory_free_bytes", "homenode_node_cpu_used_ratio", "homenode_node_cpu_util_ratio", "homenode_node_cpu_core_util_ratio",
		"homenode_vm_numa_migrations_total"}
	pastOfHomes = []string{"homenode_vm_numa_home_node", "homenode_vm_numa_local_bytes", "homenode_vm_numa_remote_bytes"}
)

// homesWithin is the longest time that the Past of a host has the home nodes and memory of its VMs for: those of 40 VMs over
// 30 days are 14 million samples.
const homesWithin = 24 * time.Hour

// A shown is a VM on a host as samples show it.
type shown struct {
	host, name, id string
	at             map[int64]int // index in the VMs of the tick by its time
	ended          []int64       // times at which one of its series ended
}

// ticks are ticks made of samples.
type ticks struct {
	by  map[string]map[int64]*numa.Tick // by host and time
	vms map[string]*shown               // by host and what tells it there
}

// PastVM returns what was seen of a VM, by its ID, on all hosts of a vCenter; nil when nothing was. The host of its Recording names
// all of them.
func (k *Keeper) PastVM(ctx context.Context, vcenter, id string, from, to time.Time, o capture.Options) (*Past, error) {
	s, err := k.Store()
	if s == nil {
		return nil, err
	}
	all := ticks{by: map[string]map[int64]*numa.Tick{}, vms: map[string]*shown{}}
	if err := s.EachOf(ctx, from, to, all.take, pastOfVM, "vcenter", vcenter, "vm_id", id); err != nil {
		return nil, err
	}
	// Which host shows it when: of two at one moment, the one that it came to.
	type look struct {
		host string
		tick *numa.Tick
	}
	looks := map[int64]look{}
	for _, host := range slices.Sorted(maps.Keys(all.by)) {
		for ms, t := range all.by[host] {
			if len(t.VMs) > 0 {
				looks[ms] = look{host, t}
			}
		}
	}
	if len(looks) == 0 {
		return nil, nil
	}
	p := &Past{}
	times := slices.Sorted(maps.Keys(looks))
	for _, ms := range times {
		if h := looks[ms].host; len(p.Hosts) == 0 || p.Hosts[len(p.Hosts)-1] != h {
			p.Hosts = append(p.Hosts, h)
		}
	}
	r := capture.NewRecorder(o)
	r.Open("store", "samples")
	distinct := slices.Clone(p.Hosts)
	slices.Sort(distinct)
	name := words.Few(slices.Compact(distinct))
	for _, ms := range times {
		t := looks[ms].tick
		t.Host = name
		r.Add(t)
	}
	if p.Recording = r.Recording(); p.Recording == nil || len(p.Recording.VMs) == 0 {
		return nil, nil
	}
	p.VM = &p.Recording.VMs[0]
	host := func(i int) string { return looks[times[i]].host }
	since := s.Oldest()
	if since.Before(from) {
		since = from
	}
	p.Events = all.events(times, host, since, o.Gap)
	return p, nil
}

// events returns what happened to a VM that was seen at these times on these hosts, since a time: an end of its series says that its host
// showed it no more.
func (x *ticks) events(times []int64, host func(int) string, since time.Time, gap time.Duration) (out []Event) {
	ended := map[string][]int64{} // by host
	for _, v := range x.vms {
		for _, ms := range v.ended {
			if _, there := v.at[ms]; !there {
				ended[v.host] = append(ended[v.host], ms)
			}
		}
		slices.Sort(ended[v.host])
	}
	add := func(ms int64, text, note string) {
		out = append(out, Event{time.UnixMilli(ms).UTC(), text, note})
	}
	const gone = "it was powered off, or is where nobody collects"
	// endOn returns the first end on a host between two times.
	endOn := func(host string, from, to int64) (int64, bool) {
		i, _ := slices.BinarySearch(ended[host], from+1)
		if i < len(ended[host]) && ended[host][i] < to {
			return ended[host][i], true
		}
		return 0, false
	}
	if first := times[0]; first-since.UnixMilli() > gap.Milliseconds() {
		add(first, "on", host(0)+" shows it from then on")
	}
	for i := 1; i < len(times); i++ {
		was, now := times[i-1], times[i]
		end, off := endOn(host(i), was, now)
		switch {
		case host(i) != host(i-1) && now-was <= gap.Milliseconds():
			add(now, "vMotion to "+host(i), "from "+host(i-1))
		case host(i) != host(i-1):
			add(now, "on "+host(i), "before it was on "+host(i-1))
		case off:
			add(end, "off", gone)
			add(now, "on", "its host shows it again")
		}
	}
	if end, off := endOn(host(len(times)-1), times[len(times)-1], math.MaxInt64); off {
		add(end, "off", gone)
	}
	return out
}

// PastHost returns what was seen of a host, by its name: how busy its nodes were, their free memory, and the migrations of its VMs; over
// no more than a day also their home nodes. It is nil when nothing was seen.
func (k *Keeper) PastHost(ctx context.Context, vcenter, host string, from, to time.Time, o capture.Options) (*Past, error) {
	s, err := k.Store()
	if s == nil {
		return nil, err
	}
	names := pastOfNodes
	if to.Sub(from) <= homesWithin {
		names = slices.Concat(names, pastOfHomes)
	}
	all := ticks{by: map[string]map[int64]*numa.Tick{}, vms: map[string]*shown{}}
	if err := s.EachOf(ctx, from, to, all.take, names, "vcenter", vcenter, "host", host); err != nil {
		return nil, err
	}
	r := capture.NewRecorder(o)
	r.Open("store", "samples")
	for _, ms := range slices.Sorted(maps.Keys(all.by[host])) {
		t := all.by[host][ms]
		slices.SortFunc(t.Nodes, func(a, b numa.NodeTick) int { return cmp.Compare(a.ID, b.ID) })
		r.Add(t)
	}
	rec := r.Recording()
	if rec == nil {
		return nil, nil
	}
	return &Past{Recording: rec}, nil
}

// take adds a series to the ticks.
func (x *ticks) take(r *store.Range) error {
	name, host := r.Label("__name__"), r.Label("host")
	node, err := strconv.Atoi(r.Label("node"))
	if err != nil || node < 0 || node >= numa.MaxNodes {
		node = -1
	}
	at := x.by[host]
	if at == nil {
		at = map[int64]*numa.Tick{}
		x.by[host] = at
	}
	var v *shown
	if vm := r.Label("vm"); vm != "" {
		key := host + "\x00" + cmp.Or(r.Label("vm_id"), r.Label("gid"))
		if v = x.vms[key]; v == nil {
			v = &shown{host: host, name: vm, id: r.Label("vm_id"), at: map[int64]int{}}
			x.vms[key] = v
		}
	}
	counted, last := false, 0.0 // of a counter
	for r.Next() {
		ms, number := r.At()
		if math.IsNaN(number) {
			if v != nil {
				v.ended = append(v.ended, ms)
			}
			counted = false
			continue
		}
		t := at[ms]
		if t == nil {
			t = &numa.Tick{Host: host, Time: time.UnixMilli(ms).UTC()}
			at[ms] = t
		}
		if v == nil {
			takeNode(t, name, node, number)
			continue
		}
		i, ok := v.at[ms]
		if !ok {
			i = len(t.VMs)
			v.at[ms] = i
			t.VMs = append(t.VMs, numa.VMTick{GID: -1, Name: v.name})
		}
		if name == "homenode_vm_numa_migrations_total" {
			since := number - last
			if !counted || since < 0 { // it counts anew
				since = 0
			}
			counted, last = true, number
			number = since
		}
		takeVM(&t.VMs[i], name, node, number)
	}
	if err := r.Err(); err != nil {
		return fmt.Errorf("%s of %s: %w", name, host, err)
	}
	return nil
}

func takeVM(v *numa.VMTick, name string, node int, number float64) {
	switch name {
	case "homenode_vm_vcpus":
		v.VCPUs = int(number)
	case "homenode_vm_numa_home_node":
		v.Has |= numa.HasHomes
		if number == 1 && node >= 0 {
			v.Homes |= numa.SetOf(node)
		}
	case "homenode_vm_numa_local_bytes":
		v.Has |= numa.HasMemory
		v.Local = numa.Bytes(number)
	case "homenode_vm_numa_remote_bytes":
		v.Has |= numa.HasMemory
		v.Remote = numa.Bytes(number)
	case "homenode_vm_numa_migrations_total":
		v.Has |= numa.HasMoves
		v.Moves.All = int64(number)
	case "homenode_vm_cpu_ready_seconds_per_second":
		v.Has |= numa.HasReady
		v.Ready = number
	case "homenode_vm_cpu_costop_seconds_per_second":
		v.Has |= numa.HasCoStop
		v.CoStop = number
	case "homenode_vm_memory_size_bytes":
		v.Has |= numa.HasSize
		v.Size = numa.Bytes(number)
	}
}

func takeNode(t *numa.Tick, name string, node int, number float64) {
	if node < 0 {
		return
	}
	i := slices.IndexFunc(t.Nodes, func(n numa.NodeTick) bool { return n.ID == node })
	if i < 0 {
		i = len(t.Nodes)
		t.Nodes = append(t.Nodes, numa.NodeTick{ID: node})
	}
	n := &t.Nodes[i]
	switch name {
	case "homenode_node_memory_total_bytes":
		n.Has |= numa.HasTotal
		n.Total = numa.Bytes(number)
	case "homenode_node_memory_free_bytes":
		n.Has |= numa.HasFree
		n.Free = numa.Bytes(number)
	case "homenode_node_cpu_used_ratio":
		n.Has |= numa.HasUsed
		n.Used = number
	case "homenode_node_cpu_util_ratio":
		n.Has |= numa.HasUtil
		n.Util = number
	case "homenode_node_cpu_core_util_ratio":
		n.Has |= numa.HasCore
		n.Core = number
	}
}

// An Hour is the locality of all VMs in one hour.
type Hour struct {
	End   time.Time
	VMs   int
	Mean  float64 // of the means of the VMs, as a share
	Least float64 // the least that any VM had
}

// trendKept is how long a Trend is shown before it is read anew.
const trendKept = 5 * time.Minute

// Trend returns the locality of the hours of the last days, in the order of time; the hours are made when they are over.
func (k *Keeper) Trend(ctx context.Context, now time.Time, days int) ([]Hour, error) {
	k.mu.Lock()
	h, trend, age := k.hours, k.trend, now.Sub(k.trendAt)
	k.mu.Unlock()
	if h == nil || len(trend) > 0 && age >= 0 && age < trendKept {
		return trend, nil
	}
	by := map[int64]*Hour{}
	err := h.Each(ctx, now.Add(-time.Duration(days)*day), now, func(r *store.Range) error {
		mean := r.Label("__name__") == HourFamilies[1][0]
		for r.Next() {
			ms, number := r.At()
			x := by[ms]
			if x == nil {
				x = &Hour{End: time.UnixMilli(ms).UTC(), Least: 1}
				by[ms] = x
			}
			if !mean {
				x.Least = min(x.Least, number)
				continue
			}
			x.VMs++
			x.Mean += number
		}
		return r.Err()
	}, HourFamilies[0][0], HourFamilies[1][0])
	if err != nil {
		return nil, err
	}
	trend = nil
	for _, ms := range slices.Sorted(maps.Keys(by)) {
		if x := by[ms]; x.VMs > 0 {
			x.Mean /= float64(x.VMs)
			trend = append(trend, *x)
		}
	}
	k.mu.Lock()
	k.trend, k.trendAt = trend, now
	k.mu.Unlock()
	return trend, nil
}
