package rightsize

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"example.org/homenode/capture"
	"example.org/homenode/internal/keyed"
	"example.org/homenode/numa"
)

// A Seen is the recorded data of one VM: all its lives with its last number of vCPUs, on any hosts.
type Seen struct {
	Name string
	Host string // of its last life
	// Last is its last life, on Rec.
	Last *capture.VM
	Rec  *capture.Recording

	VCPUs    int // 0 unknown
	Size     numa.Bytes
	From, To time.Time
	Time     time.Duration // recorded time behind the demand
	Gap      time.Duration // between From and To, beside Time

	Needs               *capture.Needs
	Used, Ready, CoStop capture.Level
	RunUnknown          bool // no life has run time
	Lives, Other        int  // used, and excluded for another number of vCPUs
	Doubt               string
}

// A life is one life of a VM on a host.
type life struct {
	rec *capture.Recording
	vm  *capture.VM
}

// See returns the VMs of recordings made with Options.Needs, by name. Consecutive lives with one
// name are one VM that was restarted or moved; concurrent ones are several VMs with one name.
// cluster returns the cluster of a host, "" when unknown: VMs with one name in two clusters are
// two. It may be nil.
func See(recordings []*capture.Recording, cluster func(host string) string) []*Seen {
	type one struct{ name, cluster string }
	var known keyed.Lists[one, life]
	for _, rec := range recordings {
		in := ""
		if cluster != nil {
			in = cluster(rec.Host)
		}
		for i := range rec.VMs {
			v := &rec.VMs[i]
			known.Add(one{v.Name, in}, life{rec, v})
		}
	}
	known.Sort(func(a, b one) int { return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.cluster, b.cluster)) })
	var out []*Seen
	for k, lives := range known.All() {
		name := k.name
		slices.SortStableFunc(lives, func(a, b life) int {
			return cmp.Or(a.vm.First.Compare(b.vm.First), a.vm.Last.Compare(b.vm.Last), cmp.Compare(a.rec.Host, b.rec.Host), cmp.Compare(a.vm.GID, b.vm.GID), cmp.Compare(a.vm.Nth, b.vm.Nth))
		})
		if !together(lives) {
			out = append(out, seen(name, lives))
			continue
		}
		for i := range lives {
			s := seen(name, lives[i:i+1])
			s.Doubt = "several VMs of this name run at the same time"
			out = append(out, s)
		}
	}
	return out
}

// clocks is the largest clock difference of two hosts: a VM that moves is seen on both.
const clocks = 2 * time.Minute

// together reports whether two of the lives, sorted by their start, overlap.
func together(lives []life) bool {
	for i := range lives[1:] {
		if lives[i].vm.Last.Sub(lives[i+1].vm.First) > clocks {
			return true
		}
	}
	return false
}

// seen combines the lives of one VM.
func seen(name string, lives []life) *Seen {
	last := lives[len(lives)-1]
	s := &Seen{Name: name, Host: last.rec.Host, Last: last.vm, Rec: last.rec, VCPUs: last.vm.VCPUs, RunUnknown: true}
	for _, l := range lives {
		if l.vm.Needs == nil {
			panic(fmt.Sprintf("rightsize: VM %s of %s was recorded without its needs", name, l.rec.Host))
		}
		if l.vm.Size > 0 {
			s.Size = l.vm.Size
		}
		if l.vm.VCPUs != s.VCPUs {
			s.Other++
			continue
		}
		s.add(l.vm)
	}
	s.Time = s.Needs.Demand.Times.Total()
	s.Gap = max(0, s.To.Sub(s.From)-s.Time)
	return s
}

func (s *Seen) add(v *capture.VM) {
	s.Lives++
	if s.Lives == 1 {
		s.From, s.Needs = v.First, v.Needs
		s.Used, s.Ready, s.CoStop = v.Used, v.Ready, v.CoStop
	} else {
		s.Needs = s.Needs.Plus(v.Needs)
		s.Used, s.Ready, s.CoStop = s.Used.Plus(v.Used), s.Ready.Plus(v.Ready), s.CoStop.Plus(v.CoStop)
	}
	s.To = v.Last
	s.RunUnknown = s.RunUnknown && v.Has&numa.HasRun == 0
}
