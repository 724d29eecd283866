// Package moved compares the VMs of a fleet with those of the KVM hosts to which they were moved: the NUMA nodes of each guest before
// and after, and its share of remote memory.
package moved

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/change/move"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/rule"
)

// A Verdict is the change of a VM's layout.
type Verdict string

// The verdicts, the worst first.
const (
	Lost   Verdict = "nodes lost"             // the guest sees fewer nodes than before
	Other  Verdict = "other nodes"            // the same number or more, but different ones
	Socket Verdict = "other sockets or cores" // the same nodes
	Same   Verdict = "same"
)

// A VM is on both sides.
type VM struct {
	Name    string  `json:"vm"`
	Before  Side    `json:"before"`
	After   Side    `json:"after"`
	Verdict Verdict `json:"verdict"`
}

// A Side is the topology that the guest sees, and the location of its memory.
type Side struct {
	Name  string      `json:"name"`
	Host  string      `json:"host,omitempty"`
	Shape *numa.Shape `json:"shape"`
	Basis string      `json:"basis"` // observed, predicted or stated, with the source
	// Remote is the observed share of its memory outside its home nodes, in [0, 1]; nil without an observation.
	Remote *float64 `json:"remoteShare,omitempty"`
}

// A Report is a comparison.
type Report struct {
	Before string      `json:"before"` // sources
	After  string      `json:"after"`
	From   string      `json:"from"` // hypervisors: vSphere or KVM
	VMs    []VM        `json:"vms"`
	Only   [2][]string `json:"only"` // VMs on only one side: before, after
	Notes  []string    `json:"notes,omitempty"`
}

// Worse counts the VMs whose guests see other nodes than before.
func (r *Report) Worse() int {
	return words.Count(r.VMs, func(v VM) bool { return v.Verdict == Lost || v.Verdict == Other })
}

// Compare compares the VMs of an assessed fleet with those of KVM. They are matched by UUID, otherwise by name, including the name
// that homenode move gives them. The error is that of the context.
func Compare(ctx context.Context, before, after *rules.Result) (*Report, error) {
	r := &Report{Before: before.Fleet.Source, After: after.Fleet.Source, From: "vSphere", VMs: []VM{}}
	if before.Fleet.Hypervisor == numa.KVM {
		r.From = "KVM"
	}
	byUUID, byName := map[string][]*rule.StatedVM{}, map[string][]*rule.StatedVM{}
	for _, v := range after.Stated {
		if v.UUID != "" {
			id := strings.ToLower(v.UUID)
			byUUID[id] = append(byUUID[id], v)
		}
		name := strings.ToLower(v.Name)
		byName[name] = append(byName[name], v)
	}
	used := map[*rule.StatedVM]bool{}
	sides, err := sides(ctx, before, r)
	if err != nil {
		return nil, err
	}
	for _, one := range sides {
		all := byUUID[strings.ToLower(one.uuid)]
		for _, name := range []string{one.Name, one.name} {
			if all == nil {
				all = byName[strings.ToLower(name)]
			}
		}
		found := r.counting(all)
		if found == nil || used[found] {
			r.Only[0] = append(r.Only[0], one.Name)
			continue
		}
		for _, v := range all {
			if v == found || sameVM(v, found) {
				used[v] = true
			}
		}
		v := VM{Name: one.Name, Before: one.Side, After: statedSide(found)}
		v.Verdict = verdict(v.Before.Shape, v.After.Shape)
		r.VMs = append(r.VMs, v)
	}
	for _, v := range after.Stated {
		if !used[v] {
			r.Only[1] = append(r.Only[1], v.Name)
		}
	}
	return r, nil
}

// counting returns the definition of a VM to be used if several hosts have one: the one that runs. It returns nil, and a note, if VMs
// with the same name cannot be distinguished.
func (r *Report) counting(all []*rule.StatedVM) *rule.StatedVM {
	if len(all) < 2 {
		return append(all, nil)[0]
	}
	var running []*rule.StatedVM
	same := true
	var places []string
	for _, v := range all {
		if v.Stated.Running {
			running = append(running, v)
		}
		same = same && sameVM(v, all[0])
		places = append(places, v.Stated.At)
	}
	found, why := all[0], "the first counts"
	switch {
	case len(running) == 1:
		found, why = running[0], "the one that runs counts, "+running[0].Stated.At
	case !same:
		found, why = nil, "none is compared, since it is not known which was moved"
	case len(running) > 1:
		found, why = running[0], fmt.Sprintf("it runs in %d of them, and the first counts", len(running))
	}
	r.Notes = append(r.Notes, fmt.Sprintf("%s is defined %d times (%s): %s", all[0].Name, len(all), strings.Join(places, ", "), why))
	return found
}

// sameVM reports whether two definitions are of one VM: by UUID, or by name if one has none.
func sameVM(a, b *rule.StatedVM) bool {
	if a.UUID != "" && b.UUID != "" {
		return strings.EqualFold(a.UUID, b.UUID)
	}
	return strings.EqualFold(a.Name, b.Name)
}

// A known is a VM before the move, with its keys for matching.
type known struct {
	Side
	uuid, name string // name as written by homenode move
}

// sides returns the topologies that the guests saw before. It adds a note for a VM without a known topology.
func sides(ctx context.Context, before *rules.Result, r *Report) (out []known, err error) {
	if before.Fleet.Hypervisor == numa.KVM {
		for _, v := range before.Stated {
			out = append(out, known{statedSide(v), v.UUID, v.Name})
		}
		return out, nil
	}
	moves, err := move.Fleet(ctx, before, []*move.Platform{move.PlatformOf("libvirt")}, move.Options{})
	if err != nil {
		return nil, err
	}
	for _, m := range moves {
		shape, basis, why := move.Guest(m.VM)
		if shape == nil {
			r.Notes = append(r.Notes, fmt.Sprintf("%s: %s", m.Title, why))
			continue
		}
		s := Side{Name: m.Title, Shape: shape, Basis: basis}
		if m.VM.Host != nil {
			s.Host = m.VM.Host.Name
		}
		for i := range m.VM.Observed {
			if share, ok := m.VM.Observed[i].Locality(); ok {
				far := 1 - share
				s.Remote = &far // the newest is used
			}
		}
		out = append(out, known{s, m.VM.UUID, m.Name})
	}
	return out, nil
}

func statedSide(v *rule.StatedVM) Side {
	s := Side{Name: v.Name, Shape: &v.Stated.Shape, Basis: "stated at " + v.Stated.At}
	if v.Host != nil {
		s.Host = v.Host.Name
	}
	if far, all, _, ok := v.Stated.RemoteOf(v.Host, v.MemoryOn()); ok {
		share := float64(far) / float64(all)
		s.Remote = &share
	}
	return s
}

// verdict compares nodes as sets of vCPUs, and then sockets: of the vCPUs at the start, without room for hot-added ones.
func verdict(before, after *numa.Shape) Verdict {
	present := func(s *numa.Shape, c *numa.Cell) []int {
		return slices.DeleteFunc(slices.Clone(c.CPUs), func(v int) bool { return v >= s.VCPUs })
	}
	sockets := func(s *numa.Shape) int {
		per := max(1, s.PerSocket())
		return (s.VCPUs + per - 1) / per
	}
	switch {
	case len(after.Cells) < len(before.Cells):
		return Lost
	case !slices.EqualFunc(before.Cells, after.Cells, func(a, b numa.Cell) bool { return slices.Equal(present(before, &a), present(after, &b)) }):
		return Other
	case sockets(before) != sockets(after) || before.Dies != after.Dies || before.Cores != after.Cores || before.Threads != after.Threads:
		return Socket
	}
	return Same
}
