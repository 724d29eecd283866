package keep

import (
	"context"
	"math"
	"time"

	"example.org/homenode/capture/store"
)

// Hours are aggregates of every VM and hour, retained longer than samples. They are computed from the samples,
// so a restarted collector catches up.
type Hours struct {
	ticks, hours *store.Store
}

// NewHours returns the Hours of the samples in one store, stored in another.
func NewHours(ticks, hours *store.Store) *Hours {
	return &Hours{ticks: ticks, hours: hours}
}

// The samples from which hours are computed, and the results. The time of an hour is its end.
const (
	fromRatio  = "homenode_vm_numa_local_ratio"
	fromRemote = "homenode_vm_numa_remote_bytes"
	fromMoves  = "homenode_vm_numa_migrations_total"
	fromReady  = "homenode_vm_cpu_ready_seconds_per_second"
	fromHomes  = "homenode_vm_numa_home_node"
)

// HourFamilies are the names of the hourly metrics, with descriptions.
var HourFamilies = [][2]string{
	{"homenode_vm_hour_local_ratio_min", "Lowest locality of the hour"},
	{"homenode_vm_hour_local_ratio_mean", "Mean locality of the hour"},
	{"homenode_vm_hour_remote_bytes_mean", "Mean remote memory of the hour"},
	{"homenode_vm_hour_remote_bytes_max", "Most remote memory of the hour"},
	{"homenode_vm_hour_migrations", "NUMA migrations in the hour"},
	{"homenode_vm_hour_ready_seconds_per_second", "Mean ready time of the hour, of all vCPUs together"},
	{"homenode_vm_hour_home_node_changes", "How often the home nodes changed in the hour"},
	{"homenode_vm_hour_samples", "Samples of locality in the hour"},
	{memoryStates[0].hour, "Mean memory of the hour that was not shared"},
	{memoryStates[1].hour, "Mean memory of the hour that was shared"},
	{memoryStates[2].hour, "Mean memory of the hour that the balloon driver took"},
	{memoryStates[3].hour, "Mean memory of the hour that held compressed pages"},
	{memoryStates[4].hour, "Mean memory of the hour that was swapped"},
}

// ofMemory is the index of the first of HourFamilies that is one of memoryStates.
const ofMemory = 8

// after is the delay after the end of an hour before it is computed, for late samples.
const after = 12 * time.Minute

// before is the maximum age, at the begin of an hour, of the sample with which its first one is compared.
const before = 10 * time.Minute

// Update computes the hours that have ended and are missing, within the retention of samples.
func (h *Hours) Update(ctx context.Context, now time.Time, since time.Duration) error {
	from := now.Add(-since).Truncate(time.Hour).Add(time.Hour)
	oldest := h.ticks.Oldest()
	if oldest.IsZero() {
		return nil
	}
	for _, t := range []time.Time{oldest, h.hours.Newest()} {
		if t = t.Truncate(time.Hour); t.After(from) {
			from = t
		}
	}
	for end := from.Add(time.Hour); !end.After(now.Add(-after)); end = end.Add(time.Hour) {
		if err := h.hour(ctx, end); err != nil {
			return err
		}
	}
	return nil
}

// An hourOf is the data of a VM on a host.
type hourOf struct {
	labels                  []string
	ratio, remote, ready    sum
	memory                  [len(memoryStates)]sum // by memoryStates
	moves, changes, hasMove float64
	nodes                   bool
}

type sum struct{ n, all, least, most float64 }

func (s *sum) add(x float64) {
	if s.n == 0 {
		s.least, s.most = x, x
	}
	s.n++
	s.all += x
	s.least, s.most = min(s.least, x), max(s.most, x)
}

// hour computes the hour that ends at a time.
func (h *Hours) hour(ctx context.Context, end time.Time) error {
	vms := map[string]*hourOf{}
	var order []string
	begin := end.Add(-time.Hour)
	from := []string{fromRatio, fromRemote, fromMoves, fromReady, fromHomes}
	for _, s := range memoryStates {
		from = append(from, s.metric)
	}
	err := h.ticks.Each(ctx, begin.Add(-before), end.Add(-time.Millisecond), func(r *store.Range) error {
		name, id := "", ""
		var labels []string
		r.Labels(func(k, v string) {
			switch k {
			case "__name__":
				name = v
			case "node":
			default:
				labels = append(labels, k, v)
				id += k + "\x00" + v + "\x00"
			}
		})
		v := vms[id]
		if v == nil {
			v = &hourOf{labels: labels}
			vms[id] = v
			order = append(order, id)
		}
		v.read(name, r, begin.UnixMilli())
		return r.Err()
	}, from...)
	if err != nil {
		return err
	}
	var out []store.Sample
	for _, id := range order {
		out = append(out, h.samples(vms[id])...)
	}
	if len(out) == 0 {
		return nil
	}
	_, err = h.hours.Append(context.Background(), end, out) // an hour is written completely or not at all
	return err
}

// read adds the samples of one series; those before begin (ms) only give the initial state.
func (v *hourOf) read(name string, r *store.Range, begin int64) {
	first, last, state := true, 0.0, stateOf(name)
	for r.Next() {
		ms, x := r.At()
		if math.IsNaN(x) { // the series ended
			continue
		}
		if ms < begin {
			first, last = false, x
			continue
		}
		switch name {
		case fromRatio:
			v.ratio.add(x)
		case fromRemote:
			v.remote.add(x)
		case fromReady:
			v.ready.add(x)
		case fromMoves:
			v.hasMove = 1
			if !first && x > last {
				v.moves += x - last
			}
		case fromHomes:
			v.nodes = true
			if !first && x == 1 && last == 0 { // it became a home node
				v.changes++
			}
		default:
			v.memory[state].add(x)
		}
		first, last = false, x
	}
}

// samples returns one sample for each known family of the hour.
func (h *Hours) samples(v *hourOf) (out []store.Sample) {
	add := func(family int, number float64, known bool) {
		if known {
			out = append(out, store.Sample{Series: h.hours.Series(HourFamilies[family][0], v.labels...), Number: number})
		}
	}
	add(0, v.ratio.least, v.ratio.n > 0)
	add(1, v.ratio.all/v.ratio.n, v.ratio.n > 0)
	add(2, v.remote.all/v.remote.n, v.remote.n > 0)
	add(3, v.remote.most, v.remote.n > 0)
	add(4, v.moves, v.hasMove > 0)
	add(5, v.ready.all/v.ready.n, v.ready.n > 0)
	add(6, v.changes, v.nodes)
	add(7, v.ratio.n, v.ratio.n > 0)
	for i, s := range v.memory {
		add(ofMemory+i, s.all/s.n, s.n > 0)
	}
	return out
}
