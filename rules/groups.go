package rules

import (
	"cmp"
	"slices"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
	"example.org/homenode/rules/rule"
)

// groups finds hosts, kinds and clusters by ID.
type groups struct {
	host    map[string]*numa.Host
	kind    map[string]*rule.Kind    // by host ID; nil for a host without a prediction
	cluster map[string]*rule.Cluster // by cluster ID, and by host ID for standalone hosts
	// predicted has the predictions of VMs that no device ties to a host.
	predicted map[alike]predicted
}

// alike is equal for VMs with the same predictions.
type alike struct {
	guest   vnuma.Guest
	home    *rule.Kind
	cluster *rule.Cluster
}

// predicted are the lists of a rule.VM.
type predicted struct{ on, refused []rule.On }

// group groups the hosts by cluster and, within clusters, by kind.
func (r *Result) group(f *numa.Fleet) *groups {
	g := &groups{map[string]*numa.Host{}, map[string]*rule.Kind{}, map[string]*rule.Cluster{}, map[alike]predicted{}}
	for i := range f.Clusters {
		c := &rule.Cluster{Name: f.Clusters[i].Name, Part: f.LoadUnknownIn(f.Clusters[i].ID) != ""}
		g.cluster[f.Clusters[i].ID] = c
		r.Clusters = append(r.Clusters, c)
	}
	asks := asksFrequency(f)
	for i := range f.Hosts {
		h := &f.Hosts[i]
		g.host[h.ID] = h
		c := g.cluster[h.Cluster]
		if h.Cluster == "" {
			c = &rule.Cluster{Part: f.LoadUnknown() != ""}
			g.cluster[h.ID] = c
			r.Clusters = append(r.Clusters, c)
		}
		c.Hosts = append(c.Hosts, h)
		m, err := vnuma.NewMachine(h)
		if err != nil {
			r.Unjudged = append(r.Unjudged, numa.Note{At: h.At, Text: err.Error()})
			continue
		}
		if !asks[cmp.Or(h.Cluster, h.ID)] {
			m.CoreMHz = 0 // hosts that differ only in this are alike
		}
		k := slices.IndexFunc(c.Kinds, func(k *rule.Kind) bool { return k.Machine.Like(m) })
		if k < 0 {
			k = len(c.Kinds)
			c.Kinds = append(c.Kinds, &rule.Kind{Machine: m})
		}
		c.Kinds[k].Hosts = append(c.Kinds[k].Hosts, h)
		c.Kinds[k].Machine.CoreMHz = max(c.Kinds[k].Machine.CoreMHz, m.CoreMHz) // for the reservations on any of them
		g.kind[h.ID] = c.Kinds[k]
	}
	for _, c := range r.Clusters {
		for _, k := range c.Kinds {
			k.AllReady = !slices.ContainsFunc(k.Hosts, func(h *numa.Host) bool { return !h.Ready() })
		}
	}
	return g
}

// asksFrequency returns the IDs of the clusters, and of the standalone hosts, in which power-on
// of a VM may depend on the frequency of a host.
func asksFrequency(f *numa.Fleet) map[string]bool {
	out, cluster := map[string]bool{}, map[string]string{}
	for i := range f.Hosts {
		cluster[f.Hosts[i].ID] = f.Hosts[i].Cluster
	}
	for i := range f.VMs {
		v := &f.VMs[i]
		if needs := vnuma.NeedsOf(v); needs.Frequency() {
			out[cmp.Or(cluster[v.Host], v.Host, v.Cluster)] = true
		}
	}
	return out
}
