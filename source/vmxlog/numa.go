package vmxlog

import (
	"bytes"
	"cmp"
	"fmt"
	"strconv"

	"example.org/homenode/numa"
)

// numaLine parses a message that begins with numa:, numaHost: or NUMA; false if it is unknown.
// The forms are those of rule book B-8 and B-23.
func (d *reader) numaLine(m []byte, p place) bool {
	run := d.run
	if rest, ok := cutEither(m, "numaHost: ", "numa: "); ok && len(rest) > 0 {
		switch rest[0] {
		case 'V':
			return d.vcpuLine(rest, p)
		case 'm':
			if bytes.HasPrefix(rest, []byte("memSlice ")) {
				return d.sliceLine(rest, p)
			}
		case 'N':
			if bytes.HasPrefix(rest, []byte("NUMA config:")) {
				return d.configLine(rest, p)
			}
		}
		if isDigit(rest[0]) {
			return d.countLine(rest, p)
		}
		return d.remark(rest, p)
	}
	if rest, ok := bytes.CutPrefix(m, []byte("NUMA and VCPU hot add are incompatible")); ok && bytes.Contains(rest, []byte("Forcing UMA")) {
		d.fact(p, "forcing UMA", string(m), "")
		run.uma = p.line
		return true
	}
	d.fact(p, "message", string(m), "")
	return bytes.HasPrefix(m, []byte("NUMA: automatic VM sizing request ignored"))
}

func cutEither(m []byte, a, b string) ([]byte, bool) {
	if rest, ok := bytes.CutPrefix(m, []byte(a)); ok {
		return rest, true
	}
	return bytes.CutPrefix(m, []byte(b))
}

// vcpuLine parses "VCPU 0: VPD 0 (PPD 0)" of 6.0 and before, and "VCPU 0 VPD 0 PPD 0 NodeMask
// ffffffffffffffff" of 6.5 (without the mask) and later.
func (d *reader) vcpuLine(m []byte, p place) bool {
	var v, vpd, ppd int
	c := at(m).lit("VCPU ").num(&v).opt(":").lit(" VPD ").num(&vpd).lit(" ").opt("(").lit("PPD ").num(&ppd).opt(")")
	mask := ^uint64(0)
	if c.ok && bytes.HasPrefix(c.b, []byte(" NodeMask ")) {
		c.lit(" NodeMask ").hex(&mask)
	}
	if !c.end() || v >= numa.MaxVCPUs || vpd >= numa.MaxVCPUs || ppd >= numa.MaxVCPUs {
		return false
	}
	if d.run.vcpus.has(v) { // printed again: another topology, for example after a rotation of the log
		d.again(p)
	}
	d.run.vcpus.set(v, vpd, ppd, p.line)
	subject := string(partMark) + "VCPU " + strconv.Itoa(v)
	d.add(p, subject, "VPD", vpd, "")
	d.add(p, subject, "PPD", ppd, "")
	if mask != ^uint64(0) { // all ones: any node
		d.add(p, subject, "NodeMask", "0x"+strconv.FormatUint(mask, 16), "")
	}
	return true
}

// again ends the power-on and begins another with the same settings, on the same host.
func (d *reader) again(p place) {
	host := d.run.host
	d.endRun()
	d.begin(p).placed = true
	d.run.again = true
	d.run.host.name, d.run.host.release = host.name, host.release
}

// configLine parses "NUMA config: consolidation= 1 preferHT= 0 partitionByMemory = 0".
func (d *reader) configLine(m []byte, p place) bool {
	if d.run.vcpus.len() > 0 {
		d.again(p)
	}
	var consolidation, preferHT, byMemory int
	c := at(m).lit("NUMA config: consolidation=").num(&consolidation).lit(" preferHT=").num(&preferHT)
	has := c.ok && bytes.HasPrefix(c.b, []byte(" partitionByMemory"))
	if has {
		c.lit(" partitionByMemory").opt(" ").lit("=").num(&byMemory)
	}
	if !c.end() {
		return false
	}
	d.fact(p, "consolidation", consolidation != 0, "")
	d.fact(p, "preferHT", preferHT != 0, "")
	if has {
		d.fact(p, "partitionByMemory", byMemory != 0, "")
	}
	return true
}

// countLine parses "12 VCPUs 2 VPDs 2 PPDs", "2 mem slices" and, of 6.0 and before, "2 virtual
// nodes, 12 virtual sockets, 2 physical domains".
func (d *reader) countLine(m []byte, p place) bool {
	run := d.run
	var a, b, c int
	where := "line " + strconv.Itoa(p.line)
	switch {
	case at(m).num(&a).lit(" VCPUs ").num(&b).lit(" VPDs ").num(&c).lit(" PPDs").end():
		if run.vcpus.len() > 0 {
			d.again(p)
			run = d.run
		}
		run.stated = append(run.stated, stated{a, p.line, "the summary"})
		run.vpdCount, run.ppdCount = numa.ReadAt(b, where), numa.ReadAt(c, where)
		d.fact(p, "vCPUs", a, "")
		d.fact(p, "VPDs", b, "")
		d.fact(p, "PPDs", c, "")
	case at(m).num(&a).lit(" virtual nodes, ").num(&b).lit(" virtual sockets, ").num(&c).lit(" physical domains").end():
		run.vpdCount, run.socketCount, run.ppdCount = numa.ReadAt(a, where), numa.ReadAt(b, where), numa.ReadAt(c, where)
		d.fact(p, "VPDs", a, "")
		d.fact(p, "virtual sockets", b, "")
		d.fact(p, "PPDs", c, "")
	case at(m).num(&a).lit(" mem slices").end():
		if run.sliceCount == 0 { // the block is printed twice
			d.fact(p, "memory slices", a, "")
		}
		run.sliceCount, run.sliceLine = a, p.line
	default:
		return false
	}
	return true
}

// sliceLine parses "memSlice 0 PPD 0 - 0 BPN [ 0x4000000000 - 0x4003000000 )": page numbers of
// 4 KiB pages, the last one excluded.
func (d *reader) sliceLine(m []byte, p place) bool {
	var i, from, to int
	var first, end uint64
	c := at(m).lit("memSlice ").num(&i).lit(" PPD ").num(&from).lit(" - ").num(&to).
		lit(" BPN [ 0x").hex(&first).lit(" - 0x").hex(&end).lit(" )")
	if !c.end() || i >= maxSlices || end < first || end-first > uint64(numa.MaxVMMemory/numa.PageSize) {
		return false
	}
	size := numa.Bytes(end-first) * numa.PageSize
	run := d.run
	run.sliceLine = cmp.Or(run.sliceLine, p.line)
	for len(run.slices) <= i {
		run.slices = append(run.slices, slice{})
	}
	switch s := &run.slices[i]; {
	case s.line == 0:
		*s = slice{first, size, p.line}
		part := string(partMark) + "memSlice " + strconv.Itoa(i)
		if from == to {
			d.add(p, part, "PPD", from, "")
		} else { // memory of one VPD on several PPDs
			d.add(p, part, "PPDs", fmt.Sprintf("%d-%d", from, to), "")
		}
		d.add(p, part, "memory", int64(size/numa.KiB), "KiB")
	case s.first != first || s.size != size: // the block is printed twice, with the same pages
		d.warn(p.line, p.before+1, "memSlice %d is another than in line %d", i, s.line)
		*s = slice{first, size, p.line}
	}
	return true
}

// remark parses the other messages after numa: and numaHost:.
func (d *reader) remark(m []byte, p place) bool {
	run := d.run
	var a, b int
	switch {
	case bytes.HasPrefix(m, []byte("Invalid NUMA cookie")):
		run.start = numa.FirstStart
		d.fact(p, "cookie", "invalid", "")
	case at(m).lit("Resuming from checkpoint using VPD =").num(&a).end():
		run.start = numa.CheckpointStart
		run.perVPD, run.perVPDLine = a, p.line
		d.fact(p, "vCPUs per VPD of the checkpoint", a, "")
	case at(m).lit("Reusing virtual NUMA topology numa.autosize.vcpu.maxPerVirtualNode=").num(&a).lit(" vcpus per node").opt(".").end():
		run.perVPD, run.perVPDLine = a, p.line
		d.fact(p, "vCPUs per VPD reused", a, "")
	case bytes.HasPrefix(m, []byte("Hot")) && bytes.Contains(m, []byte("forcing UMA")):
		run.uma = p.line
		d.fact(p, "forcing UMA", string(m), "")
	case bytes.HasPrefix(m, []byte("Not autosizing")):
		d.fact(p, "not autosized", string(m), "")
	case at(m).lit("Setting.vcpu.maxPerVirtualNode=").num(&a).lit(" to match cpuid.coresPerSocket").end():
		run.perVPD, run.perVPDLine = a, p.line
		d.fact(p, "vCPUs per VPD to match cores per socket", a, "")
	case at(m).lit("coresPerSocket =").num(&a).lit(" maxVcpusPerVPD =").num(&b).end():
		d.fact(p, "cores per socket in use", a, "")
		d.fact(p, "most vCPUs per VPD", b, "")
	case at(m).lit("Exposing multicore topology with cpuid.coresPerSocket =").num(&a).lit(" is suggested for best performance").end():
		d.fact(p, "suggested cores per socket", a, "")
	default:
		d.fact(p, "message", string(m), "")
		return false
	}
	return true
}
