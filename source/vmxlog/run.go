package vmxlog

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"homenode/numa"
	"homenode/source/fact"
	"homenode/source/vmx"
)

// A run is one power-on while its lines are read.
type run struct {
	line      int    // the first
	stamp     string // the first
	begun     bool   // the log began with it
	again     bool   // a topology without settings of its own before it
	path      string // of the .vmx
	dict      *vmx.Dict
	dictEnd   int  // the last line of dict
	headed    bool // a heading stands over dict, so that its beginning is there
	defaults  bool // the DICT lines are of a section of defaults
	placed    bool // a NUMA line came: settings that follow are of the next power-on
	start     numa.Start
	uma       int         // the line that says forcing UMA; 0 for none
	writes    []vmx.Entry // what the vmx process set
	factsFrom int

	perVPD, perVPDLine int // vCPUs of a virtual node that a line says are in force; 0 for none

	vcpus                           vcpuLines
	stated                          []stated // vCPU counts
	vpdCount, ppdCount, socketCount numa.Fact[int]
	slices                          []slice
	sliceCount, sliceLine           int

	host hostFacts
}

// stated is a count of vCPUs that a line states.
type stated struct {
	n, line int
	by      string
}

// A slice is one memSlice; line is 0 for one that is missing.
type slice struct {
	first uint64
	size  numa.Bytes
	line  int
}

// vcpuLines are the VPD and PPD of each vCPU; -1 where no line came.
type vcpuLines struct {
	vpd, ppd    []int
	n           int
	first, last int // lines
}

func (v *vcpuLines) len() int          { return v.n }
func (v *vcpuLines) has(vcpu int) bool { return vcpu < len(v.vpd) && v.vpd[vcpu] >= 0 }

func (v *vcpuLines) set(vcpu, vpd, ppd, line int) {
	for len(v.vpd) <= vcpu {
		v.vpd, v.ppd = append(v.vpd, -1), append(v.ppd, -1)
	}
	v.vpd[vcpu], v.ppd[vcpu] = vpd, ppd
	if v.n++; v.first == 0 {
		v.first = line
	}
	v.last = line
}

// lines returns where the vCPU lines stand.
func (v *vcpuLines) lines() string {
	if v.first == v.last {
		return "line " + strconv.Itoa(v.first)
	}
	return fmt.Sprintf("lines %d to %d", v.first, v.last)
}

// observe turns a run into an Observation of v and copies what it says of the
// configuration. It reports false for a run that says nothing of settings or
// topology.
func (d *reader) observe(run *run, v *vm) (numa.Observation, bool) {
	o := numa.Observation{By: numa.ByVMwareLog, At: d.file.At(run.line, 0), Host: run.host.name, Release: run.host.release, Start: run.start,
		VPDCount: run.vpdCount, PPDCount: run.ppdCount, SocketCount: run.socketCount}
	if _, err := time.Parse(time.RFC3339Nano, run.stamp); err == nil {
		o.Time = run.stamp
	}
	d.configOf(run, v, &o)
	d.check(run, &o)
	if run.uma > 0 {
		for _, c := range []*numa.Config{&o.Config, &v.config} {
			if c.CPUHotAdd.Origin.Kind != numa.Read { // the setting stands in a part of the log that is gone
				c.CPUHotAdd = numa.ReadAt(true, "line "+strconv.Itoa(run.uma)+": forcing UMA")
			}
		}
	}
	if v.config.VCPUs.Origin.Kind != numa.Read && o.Config.VCPUs.Known() {
		v.config.VCPUs = o.Config.VCPUs // stated by a line
	}
	if e, ok := run.dict.Lookup("checkpoint.vmState"); ok && o.Start == "" && strings.TrimSpace(e.Value) != "" {
		o.Start = numa.CheckpointStart // the settings name the file of a suspended VM
	}
	if o.Start == "" && (run.begun || run.dict != nil && run.placed) {
		o.Start = numa.PowerOnStart
		// A size that is stored where none was: the first power-on (B-8).
		if !hasKey(run.dict, "numa.autosize.cookie") && wrote(run.writes, "numa.autosize.cookie") {
			o.Start = numa.FirstStart
		}
	}
	said := o.VPDs.Known() || o.VPDCount.Known() || o.Slices.Known() || run.dict != nil && (o.Config.VCPUs.Known() || o.Config.Memory.Known())
	if run.again && len(v.observed) > 0 && said {
		last := &v.observed[len(v.observed)-1]
		if slices.Equal(last.VPDs.Value, o.VPDs.Value) && slices.Equal(last.PPDs.Value, o.PPDs.Value) && o.Start != numa.CheckpointStart {
			complete(last, &o) // the same topology, printed twice
			return o, false
		}
	}
	return o, said
}

// configOf fills in the settings that held at the power-on, and keeps for the VM
// what holds after it.
func (d *reader) configOf(run *run, v *vm, o *numa.Observation) {
	held := run.dict
	if held == nil {
		held = v.dict // settings of the power-on before, when only the topology was printed again
	}
	if held == nil && len(run.writes) == 0 {
		return
	}
	if held == nil {
		held = vmx.NewDict()
	}
	if run.dict != nil || run.again {
		var doubts fact.File
		if run.dict != nil {
			v.whole = d.whole(run)
		}
		o.Config = held.Config(v.whole, &doubts)
		if run.dict != nil { // else they were given with the power-on before
			for _, w := range doubts.Warnings {
				d.warn(w.Line, w.Col, "DICT %s", w.Text)
			}
		}
	}
	v.dict = held
	if len(run.writes) > 0 {
		v.dict = held.Clone()
		for _, w := range run.writes {
			if problem := v.dict.SetRanked(w.Key, w.Value, w.Line, w.Col, 2); problem != "" {
				d.warn(w.Line, w.Col, "%s", problem)
			}
		}
	}
	var given fact.File // the warnings were given above
	v.config = v.dict.Config(v.whole, &given)
}

// whole reports whether the settings of a run are all there. memSize is in every configuration: without it they are an excerpt.
func (d *reader) whole(run *run) bool {
	excerpt := !hasKey(run.dict, "memSize")
	switch {
	case d.last <= run.dictEnd && (d.enveloped || !excerpt):
		d.cut = run.dictEnd
	case d.enveloped && !run.headed && !run.begun:
		d.warn(run.line, 0, "the log begins within the settings: those that it does not state are unknown, and not at their defaults")
	default:
		return !excerpt
	}
	return false
}

func hasKey(d *vmx.Dict, key string) bool {
	if d == nil {
		return false
	}
	_, ok := d.Lookup(key)
	return ok
}

func wrote(writes []vmx.Entry, key string) bool {
	return slices.ContainsFunc(writes, func(e vmx.Entry) bool { return e.Key == key })
}

// complete fills into o what it does not know and the second print of it does.
func complete(o, second *numa.Observation) {
	for _, c := range []struct{ to, from *numa.Fact[int] }{
		{&o.VPDCount, &second.VPDCount}, {&o.PPDCount, &second.PPDCount}, {&o.SocketCount, &second.SocketCount},
	} {
		if !c.to.Known() {
			*c.to = *c.from
		}
	}
	if !o.Slices.Known() {
		o.Slices = second.Slices
	}
}
