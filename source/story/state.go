package story

import (
	"example.org/homenode/numa"
	"example.org/homenode/source/word"
)

// A state is the fleet at one moment of the story, as far as the lines determine it: the simulation
// decides where HA restarts VMs, and where DRS moves those of a host in maintenance.
type state struct {
	vms   []vmState
	hosts []hostState
	index map[string]int // VMs and hosts by ID, of each its index
}

// A vmState is one VM at one moment.
type vmState struct {
	power  power
	host   int // index; -1 when the story does not determine it
	config *numa.Config
	load   *numa.Load
}

type power uint8

const (
	off power = iota
	on
	unsure // its host has failed
)

type hostState uint8

const (
	up hostState = iota
	inMaintenance
	failed
)

func newState(s *numa.Story) *state {
	st := &state{make([]vmState, len(s.Fleet.VMs)), make([]hostState, len(s.Fleet.Hosts)), map[string]int{}}
	hosts := map[string]int{}
	for i := range s.Fleet.Hosts {
		hosts[s.Fleet.Hosts[i].ID] = i
		if s.Fleet.Hosts[i].Maintenance.Value {
			st.hosts[i] = inMaintenance
		}
	}
	loads := map[string]*numa.Load{}
	for i := range s.Loads {
		loads[s.Loads[i].VM] = &s.Loads[i].Load
	}
	for i := range s.Fleet.VMs {
		v := &s.Fleet.VMs[i]
		one := &st.vms[i]
		st.index[v.ID] = i
		one.host, one.config, one.load = -1, &v.Config, &s.Unstated.Value
		if h, ok := hosts[v.Host]; ok {
			one.host = h
		}
		if l := loads[v.ID]; l != nil {
			one.load = l
		}
		if v.MayRun() {
			one.power = on
		}
	}
	for id, i := range hosts {
		st.index["host "+id] = i
	}
	return st
}

// follow updates the state after an event passed to the simulation.
func (st *state) follow(e *numa.Event) {
	var v *vmState
	if e.VM != "" {
		v = &st.vms[st.index[e.VM]]
	}
	host := -1
	if e.Host != "" {
		host = st.index["host "+e.Host]
	}
	switch e.Kind {
	case numa.PowerOn:
		if v.power = on; host >= 0 {
			v.host = host
		}
	case numa.PowerOff:
		v.power = off
	case numa.VMotion:
		v.host = host
	case numa.Resize, numa.HotAdd:
		v.config = e.Config
	case numa.LoadChange:
		v.load = e.Load
	case numa.Maintenance:
		st.leave(host, inMaintenance)
	case numa.Fail:
		st.leave(host, failed)
	case numa.LeaveMaintenance, numa.Repair:
		st.hosts[host] = up
	}
}

// leave removes the running VMs from a host; their new host is unknown.
func (st *state) leave(host int, now hostState) {
	st.hosts[host] = now
	for i := range st.vms {
		v := &st.vms[i]
		if v.host != host || v.power == off {
			continue
		}
		v.host = -1
		if now == failed {
			v.power = unsure
		}
	}
}

// can returns the reason why an event cannot happen to a VM at the moment. target is the host in
// the line, -1 for none.
func (st *state) can(kind numa.EventKind, f *numa.Fleet, vm, target, col int) error {
	v := &st.vms[vm]
	name := f.VMs[vm].Name
	switch {
	case kind == numa.PowerOn && v.config.Template.Value:
		return word.Errorf(col, "found power-on of %s, which is a template", name)
	case kind == numa.PowerOn && v.power == on:
		return word.Errorf(col, "found power-on of %s, which runs", name)
	case kind == numa.Resize && v.power == off:
		return word.Errorf(col, "found resize of %s, which is off; a resize powers it off and on itself", name)
	case kind != numa.PowerOn && v.power == off:
		return word.Errorf(col, "found %s of %s, which is off", kind, name)
	case kind == numa.VMotion && target == v.host:
		return word.Errorf(col, "found vmotion of %s to %s, where it is", name, f.Hosts[target].Name)
	}
	if kind == numa.PowerOn && target < 0 {
		if target = v.host; target < 0 && v.power == off {
			return word.Errorf(col, "found power-on of %s, whose host is unknown: say host=", name)
		}
	}
	if target < 0 {
		return nil
	}
	switch st.hosts[target] {
	case failed:
		return word.Errorf(col, "found %s of %s on %s, which has failed", kind, name, f.Hosts[target].Name)
	case inMaintenance:
		return word.Errorf(col, "found %s of %s on %s, which is in maintenance", kind, name, f.Hosts[target].Name)
	}
	return nil
}

// canHost returns the reason why an event cannot happen to a host at the moment.
func (st *state) canHost(kind numa.EventKind, f *numa.Fleet, host, col int) error {
	now := st.hosts[host]
	name := f.Hosts[host].Name
	switch {
	case kind == numa.OptionChange:
	case kind == numa.Repair && now != failed:
		return word.Errorf(col, "found repair of %s, which has not failed", name)
	case kind == numa.Repair:
	case now == failed:
		return word.Errorf(col, "found %s of %s, which has failed", kind, name)
	case kind == numa.Maintenance && now == inMaintenance:
		return word.Errorf(col, "found maintenance of %s, which is in maintenance", name)
	case kind == numa.LeaveMaintenance && now != inMaintenance:
		return word.Errorf(col, "found leave-maintenance of %s, which is not in maintenance", name)
	}
	return nil
}
