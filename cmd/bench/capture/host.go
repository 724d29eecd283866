//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// seed makes all runs generate the same bytes.
const seed = 439_993

// plan returns a capture with exactly columns columns, not counting the time. Columns that the
// VMs and the host do not need are worlds of the system, then interrupts.
func plan(columns int) (*layout, error) {
	perVM := 420 // columns, approximately
	l := &layout{vms: machines(max(1, columns*8/10/perVM), rand.New(rand.NewPCG(seed, 1)))}
	tail := &layout{vms: l.vms}
	tail.devices()
	l.host()
	cpu := &layout{vms: l.vms}
	cpu.groups()
	counters := worldCounters()
	spare := columns - len(l.columns) - len(cpu.columns) - len(tail.columns) - groupColumns
	if spare < 0 {
		return nil, fmt.Errorf("%d columns are too few: the host and its VMs have %d", columns, columns-spare)
	}
	l.add("Group Cpu", "1:system", groupCounters(false), -1)
	for i := range spare / len(counters) {
		l.add("Vcpu", fmt.Sprintf("1:system:%d:helper-%d", 65_537+i, i), counters, -1)
	}
	l.columns = append(l.columns, cpu.columns...)
	l.columns = append(l.columns, tail.columns...)
	for i := 0; len(l.columns) < columns; i++ {
		l.add("Interrupt Cookie", fmt.Sprintf("0x%x", 0x400+i), interrupt[:1], -1)
	}
	return l, nil
}

// groupColumns is the number of columns of Group Cpu(1:system).
const groupColumns = 25

// groupCounters returns the counters of Group Cpu; only VMs have % VmWait.
func groupCounters(vm bool) []string {
	c := slices.Concat([]string{"Members"}, schedule, []string{"Timers/sec", "Power Usage Watts"})
	if !vm {
		c = slices.DeleteFunc(c, func(name string) bool { return name == "% VmWait" })
	}
	return c
}

// worldCounters returns the counters of Vcpu.
func worldCounters() []string { return append(slices.Clone(schedule), "Physical Cpu") }

// one appends one column of the host.
func (l *layout) one(object, instance, counter string, k kind, base int) {
	l.add(object, instance, []string{counter}, -1)
	c := &l.columns[len(l.columns)-1]
	c.kind, c.base = k, int64(base)
}

// host adds the objects of the host that precede the groups.
func (l *layout) host() {
	l.add("Memory", "", overcommit, -1)
	l.add("Physical Cpu Load", "", loads, -1)
	for _, counter := range []string{"% Processor Time", "% Util Time", "% Core Util Time"} {
		for p := range pcpus {
			l.one("Physical Cpu", fmt.Sprint(p), counter, pcpu, p)
		}
		l.one("Physical Cpu", "_Total", counter, ofAll, 0)
		for n := range nodes {
			l.one("Numa Node", fmt.Sprint(n), counter, ofNode, n)
		}
	}
	l.add("Memory", "", memory1, -1)
	for _, counter := range []string{"Total MBytes", "Free MBytes"} {
		for n := range nodes {
			l.add("Numa Node", fmt.Sprint(n), []string{counter}, -1)
		}
	}
	l.add("Memory", "", memory2, -1)
	l.add("Power", "", power, -1)
	for k := range 16 {
		l.add("Power", fmt.Sprint(k), []string{"P-State MHZ"}, -1)
	}
	l.add("VSAN", "", []string{"Enabled?"}, -1)
}

// groups adds the groups of the VMs with their worlds, then the memory of the VMs.
func (l *layout) groups() {
	counters := worldCounters()
	for i := range l.vms {
		m := &l.vms[i]
		id := fmt.Sprintf("%d:%s", m.gid, m.name)
		l.add("Group Cpu", id, groupCounters(true), i)
		world := func(n int, format string, args ...any) {
			l.add("Vcpu", fmt.Sprintf("%s:%d:", id, m.world+n)+fmt.Sprintf(format, args...), counters, -1)
		}
		world(0, "vmx")
		world(1, "NetWorld-VM-%d", m.world+1)
		world(2, "vmast.%d", m.world+1)
		world(3, "vmx-vthread-5")
		world(4, "vmx-mks:%s", m.name)
		for v := range m.vcpus {
			world(6+v, "vmx-vcpu-%d:%s", v, m.name)
		}
		world(6+m.vcpus, "PVSCSI-%d:0", m.world+1)
	}
	for i := range l.vms {
		l.add("Group Memory", fmt.Sprintf("%d:%s", l.vms[i].gid, l.vms[i].name), groupMemory, i)
	}
}

// devices adds the objects after the groups.
func (l *layout) devices() {
	for a := range 6 {
		l.add("Physical Disk Adapter", fmt.Sprintf("vmhba%d", a), disk, -1)
	}
	for d := range 12 {
		l.add("Physical Disk SCSI Device", fmt.Sprintf("naa.600508b1001c%020x", d), disk, -1)
		l.add("Physical Disk Path", fmt.Sprintf("vmhba2:C0:T0:L%d", d), disk, -1)
	}
	for i := range l.vms {
		m := &l.vms[i]
		l.add("Virtual Disk", m.name, virtualDisk, -1)
		l.add("Virtual Disk", m.name+":scsi0:0", virtualDisk, -1)
	}
	for i := range l.vms {
		m := &l.vms[i]
		l.add("Network Port", fmt.Sprintf("vSwitch0:%d:%d:%s", 33_554_433+i, m.world+1, m.name), port, -1)
	}
	for c := range 64 {
		l.add("Interrupt Cookie", fmt.Sprintf("0x%x", c), interrupt, -1)
	}
	states := []string{"%C-State C1", "%C-State C2"}
	for p := range 16 {
		states = append(states, fmt.Sprintf("%%P-State P%d", p))
	}
	for t := range 8 {
		states = append(states, fmt.Sprintf("%%T-State T%d", t))
	}
	for p := range pcpus {
		l.add("PCPU Power State", fmt.Sprintf("PCPU %d", p), states, -1)
	}
}
