package story

import (
	"fmt"
	"strings"
	"time"

	"example.org/homenode/internal/glob"
	"example.org/homenode/numa"
)

// Part returns a copy of the fleet with the hosts that match the patterns, by their names, IDs or clusters, and the VMs on them. It is
// an error when a pattern matches none.
func Part(f *numa.Fleet, patterns []string) (*numa.Fleet, error) {
	out := *f
	out.Hosts, out.VMs = nil, nil
	wanted := glob.Compile(patterns, glob.Domain)
	used := make([]bool, len(patterns))
	kept := map[string]bool{}
	for i := range f.Hosts {
		h := &f.Hosts[i]
		names := []string{h.Name, h.ID}
		if h.Cluster != "" {
			names = append(names, f.ClusterName(h.Cluster))
		}
		for k := range wanted {
			if wanted[k : k+1].Match(names...) {
				used[k] = true
				if !kept[h.ID] {
					kept[h.ID] = true
					out.Hosts = append(out.Hosts, *h)
				}
			}
		}
	}
	for k, ok := range used {
		if !ok {
			return nil, fmt.Errorf("found no host or cluster %q", patterns[k])
		}
	}
	for i := range f.VMs {
		if kept[f.VMs[i].Host] {
			out.VMs = append(out.VMs, f.VMs[i])
		}
	}
	return &out, nil
}

// Moment parses a time in a story in the form of its events: since its start such as 42m, a time of day such as 14:30, or a time in UTC
// such as 2018-01-10T11:42:00Z. It is an error when the story is over by then.
func Moment(s *numa.Story, text string) (time.Time, error) {
	d, err := moment(1, strings.TrimSpace(text), s.Start)
	if err != nil {
		return time.Time{}, err
	}
	if d > s.Length {
		return time.Time{}, fmt.Errorf("found %s, %s after the start: the story ends after %s", text, d, s.Length)
	}
	return s.Start.Add(d), nil
}
