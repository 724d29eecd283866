package vmxlog

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.org/homenode/numa"
	"example.org/homenode/source/fact"
	"example.org/homenode/source/vmx"
)

// A run is one power-on while its lines are read.
type run struct {
	line      int    // first line
	stamp     string // first time stamp
	begun     bool   // the log begins with it
	again     bool   // a topology without its own settings before it
	path      string // of the .vmx
	dict      *vmx.Dict
	dictEnd   int  // last line of dict
	headed    bool // dict has a heading, so its beginning is not missing
	defaults  bool // the DICT lines belong to a section of defaults
	placed    bool // a NUMA line was read: settings after it belong to the next power-on
	start     numa.Start
	uma       int         // line that reports forced UMA; 0 for none
	writes    []vmx.Entry // settings written by the vmx process
	factsFrom int

	perVPD, perVPDLine int // vCPUs of a virtual node that a line reports as effective; 0 for none

	vcpus                           vcpuLines
	stated                          []stated // vCPU counts
	vpdCount, ppdCount, socketCount numa.Fact[int]
	slices                          []slice
	sliceCount, sliceLine           int

	host hostFacts
}

// stated is a vCPU count in a line.
type stated struct {
	n, line int
	by      string
}

// A slice is one memSlice; line is 0 if it is missing.
type slice struct {
	first uint64
	size  numa.Bytes
	line  int
}

// vcpuLines are the VPD and PPD of each vCPU; -1 without a line.
type vcpuLines struct {
	vpd, ppd    []int
	n           int
	first, last int // first and last line
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

// lines returns the places of the vCPU lines.
func (v *vcpuLines) lines() string {
	if v.first == v.last {
		return "line " + strconv.Itoa(v.first)
	}
	return fmt.Sprintf("lines %d to %d", v.first, v.last)
}

// observe converts a run to an Observation of v and updates the configuration of v. It returns false for a run without settings
// and topology.
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
			if c.CPUHotAdd.Origin.Kind != numa.Read { // the setting is in a part of the log that is missing
				c.CPUHotAdd = numa.ReadAt(true, "line "+strconv.Itoa(run.uma)+": forcing UMA")
			}
		}
	}
	if v.config.VCPUs.Origin.Kind != numa.Read && o.Config.VCPUs.Known() {
		v.config.VCPUs = o.Config.VCPUs // stated in a line
	}
	if e, ok := run.dict.Lookup("checkpoint.vmState"); ok && o.Start == "" && strings.TrimSpace(e.Value) != "" {
		o.Start = numa.CheckpointStart // the settings refer to the file of a suspended VM
	}
	if o.Start == "" && (run.begun || run.dict != nil && run.placed) {
		o.Start = numa.PowerOnStart
		// A size is stored for the first time: the first power-on (B-8).
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

// configOf sets the settings at the power-on in o, and those after it in v.
func (d *reader) configOf(run *run, v *vm, o *numa.Observation) {
	held := run.dict
	if held == nil {
		held = v.dict // settings of the previous power-on, if only the topology was printed again
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
		if run.dict != nil { // else they were added with the previous power-on
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
	var given fact.File // the warnings were already added above
	v.config = v.dict.Config(v.whole, &given)
}

// whole reports whether the settings of a run are complete. Every configuration contains memSize: without it they are an
// excerpt.
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

// complete copies the fields that o lacks from the second print.
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
