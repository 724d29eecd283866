package rules

import (
	"fmt"

	"example.org/homenode/capture"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/rule"
)

// join finds the hosts and VMs of the recordings in the inventory. A VM is matched by its name:
// on the recorded host, otherwise in the host's cluster, where it may have moved since. A name
// of several VMs, or a VM with another number of vCPUs than recorded, is not a match: a
// prediction for the wrong VM is worse than none.
func (w *Watched) join() map[*capture.Recording]*numa.Host {
	machines := map[*capture.Recording]*numa.Host{}
	if w.Fleet == nil {
		return machines
	}
	named := map[*rule.Cluster]map[string][]*rule.VM{}
	for _, rec := range w.Recordings {
		host, cluster := w.host(rec.Host)
		if host == nil {
			w.note(rec.Host, "the inventory has no host %s: its VMs are judged without a prediction", rec.Host)
			continue
		}
		machines[rec] = host
		if named[cluster] == nil {
			named[cluster] = byName(cluster.VMs)
		}
		for i := range rec.VMs {
			v := &rec.VMs[i]
			found, doubt := vmNamed(named[cluster][v.Name], host, v)
			if doubt != "" {
				w.note(rec.Host, "VM %s: %s", v.Name, doubt)
			}
			if found != nil {
				w.Joined[v] = found
			}
		}
	}
	return machines
}

func (w *Watched) note(at, format string, args ...any) {
	w.Notes = append(w.Notes, numa.Note{At: at, Text: fmt.Sprintf(format, args...)})
}

// host returns the host of the inventory with this name, and its cluster. An ambiguous name
// returns none.
func (w *Watched) host(name string) (host *numa.Host, cluster *rule.Cluster) {
	for _, c := range w.Fleet.Clusters {
		for _, h := range c.Hosts {
			if !numa.SameHost(h.Name, name) {
				continue
			}
			if host != nil {
				return nil, nil
			}
			host, cluster = h, c
		}
	}
	return host, cluster
}

func byName(vms []*rule.VM) map[string][]*rule.VM {
	by := make(map[string][]*rule.VM, len(vms))
	for _, v := range vms {
		by[v.Name] = append(by[v.Name], v)
	}
	return by
}

// vmNamed returns the one of the cluster's VMs of its name that was recorded on the host; doubt is the reason why
// there is none although the name is known.
func vmNamed(all []*rule.VM, host *numa.Host, v *capture.VM) (found *rule.VM, doubt string) {
	var here []*rule.VM
	for _, one := range all {
		if one.Host == host {
			here = append(here, one)
		}
	}
	if len(here) > 0 {
		all = here
	}
	switch {
	case len(all) == 0:
		return nil, ""
	case len(all) > 1:
		return nil, fmt.Sprintf("%s of the inventory have this name: none is used", words.Plural(len(all), "VM"))
	}
	found = all[0]
	if n := int(found.Guest.VCPUs); v.VCPUs > 0 && n != v.VCPUs {
		return nil, fmt.Sprintf("recorded with %s, %d in the inventory: it has changed, so its prediction is not used", words.Plural(v.VCPUs, "vCPU"), n)
	}
	return found, ""
}

// moved finds the VMs that moved between hosts of the recordings by vMotion: one that appeared on a host while the only
// one of its name and size left another. It returns the hosts that they came from and went to.
func (w *Watched) moved() (from, to map[*capture.VM]string) {
	type life struct {
		rec *capture.Recording
		*capture.VM
	}
	left := map[string][]life{}
	for _, rec := range w.Recordings {
		for i := range rec.VMs {
			if v := &rec.VMs[i]; v.Left {
				left[v.Name] = append(left[v.Name], life{rec, v})
			}
		}
	}
	from, to = map[*capture.VM]string{}, map[*capture.VM]string{}
	for _, rec := range w.Recordings {
		for i := range rec.VMs {
			v := &rec.VMs[i]
			var was []life
			for _, one := range left[v.Name] {
				if gap := v.First.Sub(one.Last); v.Appeared && one.rec != rec && gap <= rec.Options.Gap && gap >= -rec.Options.Gap && one.First.Before(v.First) &&
					one.VCPUs == v.VCPUs && w.Joined[one.VM] == w.Joined[v] {
					was = append(was, one)
				}
			}
			if len(was) == 1 {
				from[v], to[was[0].VM] = was[0].rec.Host, rec.Host
			}
		}
	}
	return from, to
}
