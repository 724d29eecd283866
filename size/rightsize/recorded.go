package rightsize

import (
	"cmp"
	"context"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/rule"
)

// Recorded combines the known facts of each recorded VM.
func Recorded(w *rules.Watched, inventory *rules.Result, node *Node) (out []*VM) {
	for _, s := range See(w.Recordings, func(host string) string {
		if h := inventory.Machine(host); h != nil {
			return cmp.Or(h.Cluster, h.ID)
		}
		return ""
	}) {
		v := &VM{Seen: s}
		out = append(out, v)
		if known := w.Joined[s.Last]; known != nil {
			v.Config, v.Guest = known.VM, known.Guest
			v.Machines, _ = known.Machines()
			if inventory != nil {
				v.Cluster = inventory.Fleet.ClusterName(known.Cluster)
			}
			continue
		}
		if s.VCPUs == 0 {
			continue
		}
		bare := numa.VM{Name: s.Name, Config: numa.Config{VCPUs: numa.ReadAt(s.VCPUs, "capture")}}
		if s.Size > 0 {
			bare.Memory = numa.ReadAt(s.Size, "capture")
		}
		v.Guest, _, _ = vnuma.NewGuest(&bare) // it has vCPUs
		if host := inventory.Machine(s.Host); host != nil {
			if m, err := vnuma.NewMachine(host); err == nil {
				v.Machines = []vnuma.Machine{m}
			}
		} else if node != nil {
			if m, err := node.machine(s.Rec); err == nil {
				v.Machines = []vnuma.Machine{m}
			}
		}
	}
	return out
}

// Unseen counts the VMs of the inventory that run on a recorded host and were not recorded.
func Unseen(w *rules.Watched, inventory *rules.Result) (n int) {
	if inventory == nil {
		return 0
	}
	seen := map[*rule.VM]bool{}
	for _, v := range w.Joined {
		seen[v] = true
	}
	for _, rec := range w.Recordings {
		host := inventory.Machine(rec.Host)
		for v := range inventory.EachVM() {
			if host != nil && v.Host == host && !seen[v] && v.Power.Or(numa.PoweredOn) == numa.PoweredOn {
				n++
			}
		}
	}
	return n
}

// A Change is the result under other options.
type Change struct {
	If string
	R  *Result
}

// Changes computes the results with other options, until the context ends.
func Changes(ctx context.Context, vms []*VM, o Options) (out []Change, err error) {
	for _, c := range []struct {
		text string
		o    Options
	}{
		{"demand met 95 % of the time", Options{Percentile: 0.95, Headroom: o.Headroom, Least: o.Least}},
		{"demand met at its peak (100 %)", Options{Percentile: 1, Headroom: o.Headroom, Least: o.Least}},
		{"headroom 0 %", Options{Percentile: o.Percentile, Headroom: 0, Least: o.Least}},
		{"headroom 40 %", Options{Percentile: o.Percentile, Headroom: 0.4, Least: o.Least}},
	} {
		if c.o != o {
			r, err := All(ctx, vms, c.o)
			if err != nil {
				return nil, err
			}
			out = append(out, Change{If: c.text, R: r})
		}
	}
	return out, nil
}
