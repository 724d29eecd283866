package evidence

import (
	"context"
	"errors"
	"slices"
	"strings"

	"example.org/homenode/internal/alike"
	"example.org/homenode/numa"
	"example.org/homenode/source/fact"
	"example.org/homenode/source/ticks"
)

// A LastTick is the newest tick of a host in a recording: the places of its VMs, and their memory.
type LastTick struct {
	numa.Tick
	file fact.File
}

// File returns the facts without those of single VMs: these become observations.
func (l *LastTick) File() *fact.File { return &l.file }

// lastTicks reads a recording, a file or folder of them, and returns the newest tick of each host.
func lastTicks(path string) (docs []fact.Document, errs []error) {
	last := map[string]*LastTick{}
	var file fact.File
	_, err := ticks.Walk(context.Background(), path, ticks.Options{}, ticks.Visit{
		Open: func(name, format string) error {
			file = fact.File{Name: name, Format: format}
			return nil
		},
		Tick: func(t *numa.Tick) error {
			if l := last[t.Host]; l != nil && l.Time.After(t.Time) {
				return nil
			}
			c := *t
			c.Host, c.Nodes, c.VMs = strings.Clone(t.Host), nil, slices.Clone(t.VMs)
			for i := range c.VMs {
				c.VMs[i].Name, c.VMs[i].OnNode = strings.Clone(c.VMs[i].Name), slices.Clone(c.VMs[i].OnNode)
			}
			last[c.Host] = &LastTick{c, file}
			return nil
		},
		Done: func(_ *ticks.File, err error) error {
			if err != nil {
				errs = append(errs, err)
			}
			return nil
		},
	})
	if err != nil && !errors.Is(err, ticks.ErrUnknown) {
		errs = append(errs, err)
	}
	for _, l := range last {
		docs = append(docs, l)
	}
	slices.SortFunc(docs, func(a, b fact.Document) int { return strings.Compare(a.(*LastTick).Host, b.(*LastTick).Host) })
	return docs, errs
}

// findTicks finds the newest tick of each host.
func (j *joiner) findTicks(pieces []Piece) {
	for i := range pieces {
		for _, d := range pieces[i].Docs {
			l, ok := d.(*LastTick)
			if !ok {
				continue
			}
			if h := j.hostNamed(l.Host); h != nil && (j.ticks[h.ID] == nil || j.ticks[h.ID].Time.Before(l.Time)) {
				j.ticks[h.ID] = l
			}
		}
	}
}

func (j *joiner) hostNamed(name string) *numa.Host {
	i := slices.IndexFunc(j.fleet.Hosts, func(h numa.Host) bool { return numa.SameHost(h.Name, name) })
	if i < 0 {
		return nil
	}
	return &j.fleet.Hosts[i]
}

// tick adds a tick's observations of the VMs of its host. A VM that the inventory places on another host has moved there
// when the last tick of that host is older or does not contain it.
func (j *joiner) tick(l *LastTick) (joined bool) {
	h := j.hostNamed(l.Host)
	if h == nil {
		names := make([]string, len(j.fleet.Hosts))
		for i := range names {
			names[i] = j.fleet.Hosts[i].Name
		}
		j.note(l.file.Name, "%s of host %q: no host of the fleet has this name%s", l.file.Format, l.Host, alike.After(l.Host, names))
		return false
	}
	named := func(t *LastTick, name string) (n int) {
		for i := range t.VMs {
			if t.VMs[i].Name == name {
				n++
			}
		}
		return n
	}
	for i := range l.VMs {
		x := &l.VMs[i]
		found := j.fleet.FindVMs(x.Name)
		here := slices.DeleteFunc(slices.Clone(found), func(v *numa.VM) bool { return v.Host != h.ID })
		if len(here) == 1 {
			found = here
		}
		if len(found) != 1 || named(l, x.Name) > 1 {
			continue // of another fleet, or ambiguous
		}
		v := found[0]
		if was := j.ticks[v.Host]; v.Host != h.ID && was != nil && (named(was, x.Name) == 0 || l.Time.After(was.Time)) {
			j.note(l.file.Name, "%s is on %s in the recording: the inventory is older, and has it elsewhere", v.Name, h.Name)
			v.Host = h.ID
		}
		j.see(v, l.Observe(x, l.file.Name))
		joined = true
	}
	if !joined && len(l.VMs) > 0 {
		j.note(l.file.Name, "%s of host %s names no VM of the fleet", l.file.Format, h.Name)
	}
	return joined || len(l.VMs) == 0
}
