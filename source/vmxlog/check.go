package vmxlog

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/numa"
)

// check converts the lines of a run to the vectors of o, if they are complete, and warns about
// inconsistencies.
func (d *reader) check(run *run, o *numa.Observation) {
	vcpus := &run.vcpus
	missing := slices.Index(vcpus.vpd, -1)
	// Hot add prints the topology again, with more vCPUs than in the settings.
	if n := o.Config.VCPUs; run.again && missing < 0 && vcpus.n > 0 && n.Known() && n.Value != vcpus.n {
		o.Config.VCPUs = numa.DerivedFrom(vcpus.n, vcpus.lines()+": vCPUs were added since the power-on")
	}
	// A line of the vmx process states the count if the settings do not.
	if n := &o.Config.VCPUs; n.Origin.Kind != numa.Read && n.Origin.Kind != numa.Derived {
		switch {
		case len(run.stated) > 0:
			*n = numa.ReadAt(run.stated[0].n, "line "+strconv.Itoa(run.stated[0].line)+": "+run.stated[0].by)
		case missing < 0 && vcpus.n > 0:
			*n = numa.DerivedFrom(vcpus.n, vcpus.lines())
		}
	}
	announced := vcpus.n
	for _, s := range run.stated {
		announced = s.n
	}
	if n := o.Config.VCPUs; len(run.stated) == 0 && n.Origin.Kind == numa.Read {
		announced = n.Value
	}
	switch {
	case missing >= 0:
		d.warn(vcpus.last, 0, "the line of VCPU %d is missing: the VPDs and PPDs stay unknown", missing)
	case vcpus.n > 0 && vcpus.n < announced:
		d.warn(vcpus.last, 0, "found %d of %d VCPU lines: the VPDs and PPDs stay unknown", vcpus.n, announced)
	case vcpus.n > 0:
		o.VPDs = numa.ReadAt(vcpus.vpd, vcpus.lines())
		o.PPDs = numa.ReadAt(vcpus.ppd, vcpus.lines())
		d.checkCounts(run, o)
	}
	// UMA means one VPD (B-15); hosted products print nothing else.
	if run.uma > 0 && !o.VPDs.Known() && !o.VPDCount.Known() {
		o.VPDCount = numa.DerivedFrom(1, "line "+strconv.Itoa(run.uma)+": forcing UMA")
	}
	d.checkStored(run, o)
	if run.dict != nil {
		if n := o.Config.VCPUs; n.Origin.Kind == numa.Read {
			d.checkVCPUs(run, n.Value)
			d.checkCookie(run, n.Value)
		}
	}
	d.checkSlices(run, o)
}

// checkStored derives the number of VPDs from the size of a VPD that a line reports as effective:
// it was restored, reused, or stored by this power-on (B-8). A size in the settings may be
// invalid.
func (d *reader) checkStored(run *run, o *numa.Observation) {
	size, line := run.perVPD, run.perVPDLine
	for _, w := range run.writes {
		if strings.EqualFold(w.Key, "numa.autosize.vcpu.maxPerVirtualNode") && size == 0 {
			size, _ = strconv.Atoi(w.Value) // a size that is not a number is ignored
			line = w.Line
		}
	}
	n := o.Config.VCPUs
	if size <= 0 || !n.Known() || o.VPDs.Known() || o.VPDCount.Known() {
		return
	}
	o.VPDCount = numa.DerivedFrom((n.Value+size-1)/size, fmt.Sprintf("line %d: %d vCPUs per VPD", line, size))
}

// checkCounts compares the summary with the lines. 6.0 has one PPD in its lines and counts two
// for a VM with CPU hot add.
func (d *reader) checkCounts(run *run, o *numa.Observation) {
	for _, c := range []struct {
		name  string
		count numa.Fact[int]
		lines []int
	}{{"VPDs", run.vpdCount, o.VPDs.Value}, {"PPDs", run.ppdCount, o.PPDs.Value}} {
		if n := distinct(c.lines); c.count.Known() && n != c.count.Value {
			d.warn(run.vcpus.last, 0, "the VCPU lines name %d %s, the summary (%s) counts %d", n, c.name, c.count.Origin.Where, c.count.Value)
		}
	}
}

func distinct(list []int) int {
	seen := map[int]bool{}
	for _, n := range list {
		seen[n] = true
	}
	return len(seen)
}

func (d *reader) checkVCPUs(run *run, configured int) {
	if n := run.vcpus.n; n > configured {
		d.warn(run.vcpus.last, 0, "found %d VCPU lines, numvcpus is %d", n, configured)
	}
	for _, s := range run.stated {
		if s.n != configured {
			d.warn(s.line, 0, "%s says %d vCPUs, numvcpus is %d", s.by, s.n, configured)
		}
	}
}

// checkCookie compares the vCPU count in the cookie with that of the VM: a stored size for
// another count is invalid (rule book B-9).
func (d *reader) checkCookie(run *run, configured int) {
	e, ok := run.dict.Lookup("numa.autosize.cookie")
	if !ok || e.Value == "" {
		return
	}
	// Both forms are vCPUs*10000 + a number below 10000 (B-9).
	n, err := strconv.Atoi(e.Value)
	switch {
	case err != nil || n < 10000 || n/10000 > numa.MaxVCPUs:
		d.warn(e.Line, e.Col, "numa.autosize.cookie: found %s, want a cookie such as 120062", clip([]byte(e.Value)))
	case n/10000 != configured:
		d.warn(e.Line, e.Col, "numa.autosize.cookie is of %d vCPUs, numvcpus is %d: the stored size is void", n/10000, configured)
	}
}

// checkSlices stores the memory slices if they are complete.
func (d *reader) checkSlices(run *run, o *numa.Observation) {
	if len(run.slices) == 0 {
		if run.sliceCount > 0 {
			d.warn(run.sliceLine, 0, "%d mem slices are announced, none is listed", run.sliceCount)
		}
		return
	}
	var sizes []numa.Bytes
	var sum numa.Bytes
	for i, s := range run.slices {
		if s.line == 0 {
			d.warn(run.sliceLine, 0, "memSlice %d is missing: the slices stay unknown", i)
			return
		}
		sizes = append(sizes, s.size)
		sum += s.size
	}
	if n := len(sizes); run.sliceCount != 0 && n != run.sliceCount {
		d.warn(run.sliceLine, 0, "found %d of %d mem slices: they stay unknown", n, run.sliceCount)
		return
	}
	o.Slices = numa.ReadAt(sizes, "lines from "+strconv.Itoa(run.slices[0].line)+" on")
	if m := o.Config.Memory; m.Known() && m.Value != sum {
		d.warn(run.slices[0].line, 0, "the memory slices are %v, memSize is %v", sum, m.Value)
	}
}
