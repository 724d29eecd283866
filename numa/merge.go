package numa

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Part is one of several fleets to be merged.
type Part struct {
	Name  string // short and unique among the parts, such as "vc01"
	Fleet *Fleet
}

// ErrHypervisors is the error for fleets of several hypervisors, which are not merged.
var ErrHypervisors = errors.New("found a fleet of another hypervisor")

// Merge combines fleets, in their order. Every ID is prefixed with the name of its part
// ("vc01/vm-12"), because each vCenter counts from 1. Cluster names that occur in several parts are
// prefixed too: clusters with the same name in two vCenters are different clusters. Objects in several
// parts stay in all of them, with a note. The parts are not changed.
func Merge(parts []Part) (*Fleet, error) {
	if len(parts) == 0 {
		return nil, errors.New("no fleet to merge")
	}
	seen := make(map[string]bool, len(parts))
	for _, p := range parts {
		if err := checkID(seen, p.Name); err != nil {
			return nil, fmt.Errorf("merge %s: %w", p.Fleet.Source, err)
		}
	}
	for _, p := range parts[1:] {
		if p.Fleet.Hypervisor != parts[0].Fleet.Hypervisor {
			return nil, fmt.Errorf("merge %s: %w than %s: homenode compare puts two beside each other", p.Fleet.Source, ErrHypervisors, parts[0].Fleet.Source)
		}
	}
	out := &Fleet{Hypervisor: parts[0].Fleet.Hypervisor}
	shared := sharedClusterNames(parts)
	var sources []string
	for _, p := range parts {
		out.append(p, shared)
		sources = append(sources, p.Fleet.Source)
	}
	out.Source = strings.Join(sources, ", ")
	out.noteAges(parts)
	out.noteTwins(parts, "host", "by name", hostKeys)
	out.noteTwins(parts, "VM", "by UUID", vmKeys)
	if err := out.Check(); err != nil {
		return nil, fmt.Errorf("merge: %w", err)
	}
	return out, nil
}

// append adds a part with prefixed IDs.
func (f *Fleet) append(p Part, shared map[string]bool) {
	own := func(id string) string {
		if id == "" {
			return ""
		}
		return p.Name + "/" + id
	}
	for _, c := range p.Fleet.Clusters {
		c.ID = own(c.ID)
		if shared[strings.ToLower(c.Name)] {
			c.Name = p.Name + "/" + c.Name
		}
		f.Clusters = append(f.Clusters, c)
	}
	for _, h := range p.Fleet.Hosts {
		h.ID, h.Cluster = own(h.ID), own(h.Cluster)
		f.Hosts = append(f.Hosts, h)
	}
	f.VMs = slices.Grow(f.VMs, len(p.Fleet.VMs))
	for _, v := range p.Fleet.VMs {
		v.ID, v.Cluster, v.Host = own(v.ID), own(v.Cluster), own(v.Host)
		f.VMs = append(f.VMs, v)
	}
	f.Part = cmp.Or(f.Part, p.Fleet.Part)
	f.Unread = append(f.Unread, p.Fleet.Unread...)
	for _, n := range p.Fleet.Notes {
		n.At = cmp.Or(n.At, p.Name)
		f.Notes = append(f.Notes, n)
	}
}

// sharedClusterNames returns the names, in lower case, of clusters in more than one part.
func sharedClusterNames(parts []Part) map[string]bool {
	shared, in := make(map[string]bool), make(map[string]int)
	for i, p := range parts {
		for _, c := range p.Fleet.Clusters {
			name := strings.ToLower(c.Name)
			if first, ok := in[name]; !ok {
				in[name] = i
			} else if first != i {
				shared[name] = true
			}
		}
	}
	return shared
}

// sameTime is the largest difference of collection times without a note: the sources of one run are
// read within it.
const sameTime = time.Hour

// noteAges sets the time of the merged fleet to the oldest one, and adds a note when the times differ.
func (f *Fleet) noteAges(parts []Part) {
	var oldest, newest time.Time
	var ages []string
	for _, p := range parts {
		t, err := time.Parse(time.RFC3339, p.Fleet.Collected)
		if err != nil { // a scenario has no time
			continue
		}
		if oldest.IsZero() || t.Before(oldest) {
			oldest, f.Collected = t, p.Fleet.Collected
		}
		if t.After(newest) {
			newest = t
		}
		ages = append(ages, p.Name+" "+p.Fleet.Collected)
	}
	if newest.Sub(oldest) > sameTime {
		f.Notes = append(f.Notes, Note{Text: "the sources are of different times: " + strings.Join(ages, ", ")})
	}
}

// A twinKey is the key by which an object is found in several parts, and its name.
type twinKey struct{ key, name string }

// hostKeys returns the hosts by name. Unnamed ESXi hosts, which are all called localhost, are omitted.
func hostKeys(f *Fleet) []twinKey {
	var keys []twinKey
	for i := range f.Hosts {
		name := strings.ToLower(f.Hosts[i].Name)
		if name != "" && name != "localhost" && !strings.HasPrefix(name, "localhost.") {
			keys = append(keys, twinKey{name, f.Hosts[i].Name})
		}
	}
	return keys
}

// vmKeys returns the VMs with a UUID, by UUID.
func vmKeys(f *Fleet) []twinKey {
	var keys []twinKey
	for i := range f.VMs {
		if v := &f.VMs[i]; v.UUID != "" {
			keys = append(keys, twinKey{strings.ToLower(v.UUID), v.Name})
		}
	}
	return keys
}

// noteTwins adds a note on the number of objects of a kind that are in two parts, such as the hosts
// of a vCenter and of its RVTools export.
func (f *Fleet) noteTwins(parts []Part, kind, how string, keys func(*Fleet) []twinKey) {
	first := make(map[string]int) // key → the first part that has it
	for i, p := range parts {
		count, example := make([]int, i), make([]string, i)
		for _, k := range keys(p.Fleet) {
			j, ok := first[k.key]
			if !ok {
				first[k.key] = i
			} else if j != i {
				if count[j]++; count[j] == 1 {
					example[j] = k.name
				}
			}
		}
		for j, n := range count {
			switch {
			case n == 1:
				f.Notes = append(f.Notes, Note{At: p.Name, Text: fmt.Sprintf("%s %s is also in %s (told %s): it counts twice", kind, example[j], parts[j].Name, how)})
			case n > 1:
				f.Notes = append(f.Notes, Note{At: p.Name, Text: fmt.Sprintf("%d %ss are also in %s (told %s), such as %s: they count twice", n, kind, parts[j].Name, how, example[j])})
			}
		}
	}
}
