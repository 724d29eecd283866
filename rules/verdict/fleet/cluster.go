package fleet

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/rule"
)

// A Cluster contains the figures of one line of the overview: of a cluster, or a standalone host.
type Cluster struct {
	Of       *rule.Cluster `json:"-"`
	Name     string        `json:"name"`
	Hosts    int           `json:"hosts"`
	Kinds    []*rule.Kind  `json:"kinds"`
	VMs      int           `json:"vms"`
	Unjudged int           `json:"unjudged,omitempty"`      // further VMs, without a prediction
	Wide     int           `json:"wide"`                    // VMs with more than one client on their host
	Blind    int           `json:"guestBlind"`              // wide VMs whose guest sees one node
	TooBig   int           `json:"tooBig"`                  // VMs with more memory than their nodes
	Sizeless int           `json:"tooBigUnknown,omitempty"` // VMs of which that is unknown
	// Differing is the number of VMs that get another layout, better or worse, after a power cycle on some host of the cluster than on
	// another, or do not run there: their virtual hardware is too new. They are the rows of the cluster's matrix that differ.
	Differing int `json:"changeShape"`
	// Running is the load on all hosts of the cluster.
	Running Running `json:"running"`
}

// Running contains the vCPUs of the assessed VMs that are powered on, and the cores and threads that they run on.
type Running struct {
	VCPUs     int     `json:"vcpus"`
	Cores     int     `json:"cores"`
	Threads   int     `json:"threads"`
	PerCore   float64 `json:"vcpusPerCore,omitempty"`   // in hundredths; 0 if the cores are unknown
	PerThread float64 `json:"vcpusPerThread,omitempty"` // hyper-threads count if they are active
	// Unknown: VMs run on hosts with unknown cores, may run here or not, or are not listed, so the ratios are unknown.
	Unknown bool `json:"-"`
}

// RunningOn returns the vCPUs that run on hosts of a cluster. Empty hosts that do not accept VMs now are excluded, and so are hosts with
// unknown cores and the VMs on them: if these are all that run, the ratios are unknown. VMs with an unknown host run on some host of the cluster.
func RunningOn(c *rule.Cluster, hosts ...*numa.Host) (r Running) {
	all, skipped := len(hosts) == len(c.Hosts), false
	for _, h := range hosts {
		running := c.Running(h)
		if !h.Ready() && len(running) == 0 { // in maintenance
			continue
		}
		if !h.Nodes.Known() {
			all, skipped = false, skipped || len(running) > 0
			continue
		}
		for _, v := range running {
			r.VCPUs += int(v.Guest.VCPUs)
		}
		for _, n := range h.Nodes.Value {
			r.Cores += n.Cores
			if h.HyperThreading.Or(true) {
				r.Threads += max(n.Threads, n.Cores)
			} else {
				r.Threads += n.Cores
			}
		}
	}
	for _, v := range c.VMs {
		if v.Host != nil || !c.Takes(v) {
			continue
		}
		if r.Unknown = !all; all {
			r.VCPUs += int(v.Guest.VCPUs)
		}
	}
	r.Unknown = r.Unknown || c.Part || skipped && r.VCPUs == 0
	if r.Cores > 0 && !r.Unknown {
		r.PerCore = math.Round(float64(100*r.VCPUs)/float64(r.Cores)) / 100
		r.PerThread = math.Round(float64(100*r.VCPUs)/float64(r.Threads)) / 100
	}
	return r
}

// Clusters returns the figures of each cluster, in order.
func Clusters(r *rules.Result) []Cluster {
	out, unjudged := make([]Cluster, len(r.Clusters)), unjudgedIn(r)
	for i, c := range r.Clusters {
		s := &out[i]
		*s = Cluster{Of: c, Name: c.Title(), Hosts: len(c.Hosts), Kinds: c.Kinds, VMs: len(c.VMs), Unjudged: unjudged[c], Running: RunningOn(c, c.Hosts...)}
		for _, v := range c.VMs {
			l := &v.On[0].Layout
			if l.Wide() {
				s.Wide++
				if !l.GuestSeesNUMA() {
					s.Blind++
				}
			}
			if m := admitted(c, v); m.Known && m.Placement != vnuma.Anywhere && m.Missed() > 0 {
				s.TooBig++
			}
			if !l.Memory.Known && l.Nodes > 1 && !l.Refused.Any() {
				s.Sizeless++
			}
			if !Same(c, v) {
				s.Differing++
			}
		}
	}
	return out
}

// admitted returns where the memory of the VM is, once the reason why its host refuses it is fixed.
func admitted(c *rule.Cluster, v *rule.VM) *vnuma.Residency {
	if v.Off() {
		v = v.Admitted(c.Choices)
	}
	return &v.On[0].Layout.Memory
}

// unjudgedIn counts the VMs without a prediction by the cluster, or standalone host, that they belong to.
func unjudgedIn(r *rules.Result) map[*rule.Cluster]int {
	of, judged, out := map[string]*rule.Cluster{}, r.ByID(), map[*rule.Cluster]int{}
	for _, c := range r.Clusters {
		for _, h := range c.Hosts {
			of[h.ID] = c
			if h.Cluster != "" {
				of[h.Cluster] = c
			}
		}
	}
	for i := range r.Fleet.VMs {
		if v := &r.Fleet.VMs[i]; !v.Template.Value && judged[v.ID] == nil {
			out[of[cmp.Or(v.Host, v.Cluster)]]++
		}
	}
	return out
}

// Same reports whether the VM of the cluster powers on and gets the same layout on every host with a prediction.
func Same(c *rule.Cluster, v *rule.VM) bool {
	if v.TiedTo() != nil && len(c.Hosts) > 1 || len(v.On) < len(c.Kinds) {
		return false
	}
	home := &v.On[0].Layout
	return !slices.ContainsFunc(v.On[1:], func(o rule.On) bool { return !o.Layout.Same(home) })
}

// Fits describes whether every VM gets the same layout on every host of the cluster.
func (c *Cluster) Fits() string {
	judged := ""
	if n := len(c.Of.Unjudged()); n > 0 {
		judged = fmt.Sprintf(" (%d of %s judged)", c.Hosts-n, words.Plural(c.Hosts, "host"))
	}
	switch {
	case c.VMs == 0:
		return "–"
	case c.Differing == 0:
		return "yes" + judged
	}
	return "no: " + words.Verb(c.Differing, "VM differs", "VMs differ") + " by host" + judged
}
