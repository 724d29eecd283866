package vnuma

import (
	"fmt"

	"example.org/homenode/numa"
)

// A Refusal is the reason why a VM does not power on, or why the API rejects its configuration (rule book B-26 to B-28). The zero value is
// a VM that powers on. It is a plain value, so that a prediction allocates nothing.
type Refusal struct {
	kind     refusal
	has      int64        // the VM's value
	most     int64        // the allowed value, or the conflicting one
	hardware int32        // the version that sets the limit; 0 for other reasons
	release  numa.Release // of the host
	threads  int32        // vCPUs of a virtual core, for a CPU reservation
	limit    int32        // CPU limit in MHz that forbids such a reservation; 0 for none
	cps      int32        // the nearest cores per socket that match the vCPUs, where those are the reason; 0 for none
	vcpus    int32        // of the VM in that case
	overhead int64        // bytes that ESXi adds to a reservation of memory, or MHz that it is left of the CPU
	newer    int32        // virtual hardware that the release also does not run; 0 where it runs it
}

type refusal uint8

const (
	accepted           refusal = iota
	newHardware                // the release does not run the virtual hardware
	manyVCPUs                  // more than the virtual hardware allows
	manyCoresPerSocket         // the same of a virtual socket
	manySockets                // the same of virtual sockets
	muchMemory                 // the same of memory
	fewLogicalCPUs             // of the host
	unevenSockets              // vCPUs are no multiple of cores per socket
	unevenNodes                // vCPUs are no multiple of numa.vcpu.coresPerNode
	crossedNodes               // a socket and a node overlap without nesting
	autoSockets                // manual nodes and automatic sockets
	deviceMemory               // a PCI device of the host, and unreserved memory
	largePages                 // pages of 1 GB, and unreserved memory
	latencyMemory              // latency sensitivity High, and unreserved memory
	latencyCPU                 // the same of CPU
	latencyCores               // latency sensitivity High, and fewer cores than its vCPUs need
	muchCPU                    // a CPU reservation larger than the host
	muchReserved               // the same of memory
	goneHardware               // the release no longer runs the virtual hardware
	iommuOff                   // more vCPUs than allowed without the virtual IOMMU, which is off
	iommuBIOS                  // the same, and BIOS firmware
	iommuVGPU                  // the same, and a vGPU, which is incompatible with it before 8.0
	iommuAMD                   // the same, and virtual hardware that has none on AMD
	memoryBIOS                 // more memory than its BIOS firmware supports
	besideReserved             // reservations of other VMs leave too little memory for its own
	besideCPU                  // the same of CPU
	otherHost                  // it has a PCI device of another host
)

// The limits beyond which a VM needs a virtual IOMMU (B-32) or EFI firmware (B-26), and the first virtual hardware with such an IOMMU.
const (
	mostWithoutIOMMU = 127 // vCPUs
	mostWithBIOS     = 6128 * numa.GiB
	firstIOMMU       = 14
	firstIOMMUOnAMD  = 18
)

const (
	sourceIOMMU  = "VMware KB 88161, 2022"
	sourceGone   = "vSphere Client SDK 6.5, virtual machine hardware versions (GUID-68E5EDAE)"
	sourceMemory = "VMware vSphere 7.0 Virtual Machine Administration, change the memory configuration (GUID-81E25CBB)"
	sourceAMD    = "VM Operator API v1alpha6, iommuEnabled, https://github.com/vmware-tanzu/vm-operator"
	sourceEFI    = "VM Operator, pkg/util/resize/configspec.go, https://github.com/vmware-tanzu/vm-operator"
)

// full is the percentage of the full CPU reservation that counts as full: the frequency is known to 1 % (2.1 GHz cores report 2095 MHz).
const full = 99

// Refuse returns the reason why g does not power on on m. A host too old for the virtual hardware comes last, and beside another reason:
// upgrading the hardware then neither helps nor harms, but cannot be reverted.
func Refuse(g *Guest, m *Machine) Refusal {
	r := refuse(g, m)
	if m.Release.Runs(int(g.Hardware)) || r.kind == goneHardware {
		return r
	}
	if !r.Any() {
		return Refusal{kind: newHardware, most: int64(m.Release.Hardware()), hardware: g.Hardware, release: m.Release}
	}
	r.newer, r.release = g.Hardware, m.Release
	return r
}

// refuse returns the reasons other than a release that is too old.
func refuse(g *Guest, m *Machine) Refusal {
	deny := func(kind refusal, has, most int64) Refusal {
		r := Refusal{kind: kind, has: has, most: most, release: m.Release}
		if kind <= muchMemory {
			r.hardware = int32(HardwareOf(g, m).Version)
		}
		return r
	}
	if h, ok := numa.HardwareOf(int(g.Hardware)); ok && h.Gone > 0 && m.Release >= h.Gone {
		return deny(goneHardware, int64(g.Hardware), 0)
	}
	vcpus, cps, auto := int64(g.VCPUs), int64(g.CoresPerSocket), g.auto(m)
	if g.VCPUs > m.LogicalCPUs() && m.ThreadsKnown && !m.AllowWide {
		return deny(fewLogicalCPUs, vcpus, int64(m.LogicalCPUs()))
	}
	h := HardwareOf(g, m)
	divided := func(r Refusal) Refusal {
		r.cps, r.vcpus = nearestCPS(g, &h), g.VCPUs
		return r
	}
	switch sockets := (vcpus + cps - 1) / cps; {
	case vcpus > int64(h.VCPUs):
		return deny(manyVCPUs, vcpus, int64(h.VCPUs))
	case !auto && cps > int64(h.CoresPerSocket):
		return divided(deny(manyCoresPerSocket, cps, int64(h.CoresPerSocket)))
	case !auto && sockets > int64(h.Sockets):
		return divided(deny(manySockets, sockets, int64(h.Sockets)))
	case h.Memory > 0 && g.Memory > int64(h.Memory):
		return deny(muchMemory, g.Memory, int64(h.Memory))
	}
	if !auto && vcpus > 1 && vcpus%cps != 0 { // cores per socket of one vCPU are ignored
		return divided(deny(unevenSockets, vcpus, cps))
	}
	// The valid values of numa.vcpu.coresPerNode, documented from hardware 20 on. A value as large as the VM means one node.
	node := int64(g.CoresPerNode)
	switch {
	case node == 0 || node >= vcpus || g.Hardware < 20 || m.model < numa.ESXi80:
	case auto:
		return deny(autoSockets, node, 0)
	case vcpus%node != 0:
		return deny(unevenNodes, vcpus, node)
	case node%cps != 0 && cps%node != 0:
		return deny(crossedNodes, cps, node)
	}
	return g.refuseNeeds(m, h, deny)
}

// nearestCPS returns the cores per socket nearest to those of g that divide its vCPUs into a number of sockets that the hardware allows; 0 for none.
func nearestCPS(g *Guest, h *numa.Hardware) (best int32) {
	far := func(k int32) int32 { return max(k-g.CoresPerSocket, g.CoresPerSocket-k) }
	for k := int32(1); k <= min(g.VCPUs, int32(h.CoresPerSocket)); k++ {
		if g.VCPUs%k == 0 && g.VCPUs/k <= int32(h.Sockets) && (best == 0 || far(k) < far(best)) {
			best = k
		}
	}
	return best
}

// refuseNeeds checks devices, memory and reservations for Refuse.
func (g *Guest) refuseNeeds(m *Machine, h numa.Hardware, deny func(kind refusal, has, most int64) Refusal) Refusal {
	vcpus, n := int64(g.VCPUs), &g.Needs
	if n.BIOS && g.Memory > int64(mostWithBIOS) {
		return deny(memoryBIOS, g.Memory, int64(mostWithBIOS))
	}
	if NeedsIOMMU(int(vcpus)) && h.Version >= firstIOMMU {
		switch {
		case n.VGPU && m.model < numa.ESXi80:
			return deny(iommuVGPU, vcpus, mostWithoutIOMMU)
		case m.EPYC && g.Hardware > 0 && g.Hardware < firstIOMMUOnAMD:
			return deny(iommuAMD, vcpus, int64(g.Hardware))
		case n.BIOS:
			return deny(iommuBIOS, vcpus, mostWithoutIOMMU)
		case n.NoIOMMU:
			return deny(iommuOff, vcpus, mostWithoutIOMMU)
		}
	}
	switch reserved := g.Memory - n.Unreserved; {
	case n.Unreserved == 0:
	case n.Device:
		return deny(deviceMemory, reserved, g.Memory)
	case n.LargePages && m.model >= numa.ESXi67:
		return deny(largePages, reserved, g.Memory)
	}
	if m.model >= numa.ESXi67 {
		for _, r := range Lacks(g, m) {
			if r.Any() {
				return r
			}
		}
	}
	if m.exceeded(int64(n.MHz)) {
		r := deny(muchCPU, int64(n.MHz), m.cpu())
		r.overhead = int64(m.CoreMHz)
		return r
	}
	if m.Reservable > 0 && n.Reserved > m.Reservable {
		r := deny(muchReserved, n.Reserved, m.Reservable)
		r.overhead = n.Overhead
		return r
	}
	return Refusal{}
}

// cpu returns the MHz of the cores of the host, which VMs can at most reserve (B-30); 0 if the frequency is unknown.
func (m *Machine) cpu() int64 { return int64(m.AllCores) * int64(m.CoreMHz) }

// slowest is a frequency in MHz below that of the processors that ESXi runs on: a judgement, no source has a number.
const slowest = 1000

// Unclocked reports whether the unknown frequency of m decides if the VM powers on there with its CPU reservation.
func (n *Needs) Unclocked(m *Machine) bool {
	return m.CoreMHz == 0 && n.MHz > 0 && (n.Exclusive || n.MHz > slowest*m.AllCores)
}

// MostMHz returns what VMs can at most reserve of the cores of the host, with the tolerance of full; 0 if the frequency is unknown.
func (m *Machine) MostMHz() int64 { return m.cpu() * 100 / full }

// exceeded reports whether a reservation is above that.
func (m *Machine) exceeded(mhz int64) bool { return m.CoreMHz > 0 && mhz > m.MostMHz() }

// TakesAllCPU reports whether the VM reserves, or takes with latency sensitivity High, more of the CPU than leaves ESXi a core: whether it powers on is
// not certain, because what ESXi keeps is not published (B-30).
func TakesAllCPU(g *Guest, m *Machine) bool {
	n := &g.Needs
	return n.Exclusive && g.ExclusiveCores(m) >= int(m.AllCores) || m.cpu() > 0 && int64(n.MHz) > m.cpu()-int64(m.CoreMHz)
}

// Reserved is the sum of VM reservations on a host: bytes of memory, and CPU in MHz.
type Reserved struct{ Memory, MHz int64 }

// Add adds a VM's reservations.
func (r *Reserved) Add(n *Needs) { r.Memory, r.MHz = r.Memory+n.Reserved, r.MHz+int64(n.MHz) }

// Beside returns the reason why a VM does not power on on m beside these reservations of others: admission control (B-30).
func Beside(n *Needs, others Reserved, m *Machine) Refusal {
	deny := func(kind refusal, has, all, others, overhead int64) Refusal {
		return Refusal{kind: kind, has: has, most: max(0, all-others), release: m.Release, overhead: overhead}
	}
	switch {
	case n.Reserved > 0 && m.Reservable > 0 && n.Reserved+others.Memory > m.Reservable:
		return deny(besideReserved, n.Reserved, m.Reservable, others.Memory, n.Overhead)
	case n.MHz > 0 && m.exceeded(int64(n.MHz)+others.MHz):
		return deny(besideCPU, int64(n.MHz), m.cpu(), others.MHz, int64(m.CoreMHz))
	}
	return Refusal{}
}

// Lacks returns the unmet requirements of latency sensitivity High: memory, cores and CPU, each the zero value where it is met. Otherwise
// vCPUs get no PCPUs of their own, and from 6.7 on the VM does not power on (B-21).
func Lacks(g *Guest, m *Machine) (lacks [3]Refusal) {
	n := &g.Needs
	if !n.Exclusive {
		return lacks
	}
	if n.Unreserved > 0 {
		lacks[0] = Refusal{kind: latencyMemory, has: g.Memory - n.Unreserved, most: g.Memory, release: m.Release}
	}
	cores := int64(g.ExclusiveCores(m))
	need := int64(g.VCPUs) * int64(m.CoreMHz) / int64(g.Threads(m))
	switch {
	case cores > int64(m.AllCores): // no host has more to reserve (B-30)
		lacks[1] = Refusal{kind: latencyCores, has: cores, most: int64(m.AllCores), release: m.Release}
	case !n.MHzKnown:
	case n.MHz == 0 || int64(n.MHz)*100 < need*full:
		lacks[2] = Refusal{kind: latencyCPU, has: int64(n.MHz), most: need, release: m.Release, threads: g.Threads(m)}
		if int64(n.Limit) < need { // vSphere rejects a reservation above the limit
			lacks[2].limit = n.Limit
		}
	}
	return lacks
}

// ExclusiveCores returns the number of cores exclusive to g on m with latency sensitivity High.
func (g *Guest) ExclusiveCores(m *Machine) int { return int(ceilDiv(g.VCPUs, g.Threads(m))) }

// Threads returns the vCPUs of a virtual core: two with virtual hyper-threading, from 8.0 on.
func (g *Guest) Threads(m *Machine) int32 {
	if g.VirtualHT && m.model >= numa.ESXi80 {
		return 2
	}
	return 1
}

// NeedsIOMMU reports whether so many vCPUs need the virtual IOMMU, and so EFI firmware (B-32).
func NeedsIOMMU(vcpus int) bool { return vcpus > mostWithoutIOMMU }

// HardwareOf returns the limits of g's virtual hardware. Where its version is unknown they are those of the newest that m runs, since no
// older one allows more. For a version missing from the table the limits are those of numa.Fleet.Check.
func HardwareOf(g *Guest, m *Machine) numa.Hardware {
	version := int(g.Hardware)
	if version == 0 {
		version = m.Release.Hardware()
	}
	if h, ok := numa.HardwareOf(version); ok {
		return h
	}
	return numa.Hardware{Version: version, VCPUs: numa.MaxVCPUs, Sockets: numa.MaxVCPUs, CoresPerSocket: numa.MaxVCPUs}
}

// OnOtherHost is the refusal of a VM with a PCI device of its host on any other host (D-5).
func OnOtherHost() Layout { return Layout{Refused: Refusal{kind: otherHost}} }

// Any reports whether there is a reason not to power on.
func (r Refusal) Any() bool { return r.kind != accepted }

// ByHost reports whether another host may power the VM on unchanged.
func (r Refusal) ByHost() bool {
	if r.newer > 0 {
		return true
	}
	switch r.kind {
	case newHardware, goneHardware, iommuVGPU, iommuAMD, fewLogicalCPUs, latencyCores, muchCPU, muchReserved, besideReserved, besideCPU, otherHost:
		return true
	case latencyCPU:
		return r.has > 0 // enough for slower cores
	}
	return false
}

// BySize reports whether the vCPUs, or their division into sockets and nodes, are the reason: then the VM's future layout is unknown.
func (r Refusal) BySize() bool {
	switch r.kind {
	case manyVCPUs, manyCoresPerSocket, manySockets, fewLogicalCPUs, latencyCores, unevenSockets, unevenNodes, crossedNodes, autoSockets:
		return true
	}
	return false
}

// ByCPU reports whether a CPU reservation is the reason.
func (r Refusal) ByCPU() bool {
	return r.kind == muchCPU || r.kind == latencyCPU || r.kind == besideCPU
}

// NeedsEFI reports whether so much memory needs EFI firmware.
func (r Refusal) NeedsEFI() bool { return r.kind == memoryBIOS }

// ByLatency reports whether a requirement of latency sensitivity High is unmet.
func (r Refusal) ByLatency() bool {
	return r.newer == 0 && (r.kind >= latencyMemory && r.kind <= latencyCPU || r.kind == latencyCores)
}

// ByRelease reports whether the only reason is that the host is too old for the virtual hardware.
func (r Refusal) ByRelease() bool { return r.kind == newHardware }

// Old reports whether the host is too old for the virtual hardware, with or without other reasons.
func (r Refusal) Old() bool { return r.newer > 0 || r.kind == newHardware }

// String returns the reason with its numbers, and also that the host is too old; "" when there is none.
func (r Refusal) String() string {
	if r.newer > 0 {
		return fmt.Sprintf("%s, and %s", r.text(), Refusal{kind: newHardware, hardware: r.newer, most: int64(r.release.Hardware()), release: r.release}.text())
	}
	return r.text()
}

func (r Refusal) text() string {
	switch r.kind {
	case newHardware:
		return fmt.Sprintf("virtual hardware %d is newer than the %d of ESXi %s", r.hardware, r.most, r.release)
	case goneHardware:
		return fmt.Sprintf("virtual hardware %d is older than what ESXi %s runs", r.has, r.release)
	case iommuVGPU:
		return fmt.Sprintf("%d vCPUs, more than %d, need the virtual IOMMU, which ESXi %s does not allow with a vGPU", r.has, r.most, r.release)
	case iommuAMD:
		return fmt.Sprintf("%d vCPUs, more than %d, need the virtual IOMMU, which takes virtual hardware %d on AMD, and the VM has %d", r.has, mostWithoutIOMMU, firstIOMMUOnAMD, r.most)
	case iommuBIOS:
		return fmt.Sprintf("%d vCPUs, more than %d, need the virtual IOMMU and so EFI firmware, and the VM has BIOS", r.has, r.most)
	case iommuOff:
		return fmt.Sprintf("%d vCPUs, more than %d, need the virtual IOMMU, and it is off", r.has, r.most)
	case manyVCPUs:
		return fmt.Sprintf("%d vCPUs are more than the %d of virtual hardware %d", r.has, r.most, r.hardware)
	case manyCoresPerSocket:
		return fmt.Sprintf("%d cores per socket are more than the %d of virtual hardware %d", r.has, r.most, r.hardware)
	case manySockets:
		return fmt.Sprintf("%d virtual sockets are more than the %d of virtual hardware %d", r.has, r.most, r.hardware)
	case muchMemory:
		return fmt.Sprintf("%s of memory are more than the %s of virtual hardware %d", numa.Bytes(r.has), numa.Bytes(r.most), r.hardware)
	case memoryBIOS:
		return fmt.Sprintf("%s of memory, more than %s, need EFI firmware, and the VM has BIOS", numa.Bytes(r.has), numa.Bytes(r.most))
	case fewLogicalCPUs:
		return fmt.Sprintf("%d vCPUs are more than the %d logical CPUs of the host", r.has, r.most)
	case unevenSockets:
		return fmt.Sprintf("%d vCPUs are no multiple of %d cores per socket", r.has, r.most)
	case unevenNodes:
		return fmt.Sprintf("%d vCPUs are no multiple of the %d cores per NUMA node set by hand", r.has, r.most)
	case crossedNodes:
		return fmt.Sprintf("%d cores per socket are neither a multiple nor a divisor of the %d cores per NUMA node set by hand", r.has, r.most)
	case autoSockets:
		return fmt.Sprintf("%d cores per NUMA node are set by hand, and cores per socket are left to be assigned at power on", r.has)
	case deviceMemory:
		return "the VM has a PCI device of its host, and " + r.Lack()
	case largePages:
		return "pages of 1 GB are asked for, and " + r.Lack()
	case latencyMemory, latencyCPU:
		return "latency sensitivity is High without the full reservation: " + r.Lack()
	case latencyCores:
		return "latency sensitivity is High but " + r.Lack()
	case muchCPU:
		return fmt.Sprintf("%d MHz of reserved CPU are more than the %d MHz of the host", r.has, r.most)
	case muchReserved:
		return fmt.Sprintf("%s of reserved memory are more than the %s that the host has to reserve", numa.Bytes(r.has), numa.Bytes(r.most))
	case besideReserved:
		return fmt.Sprintf("%s of reserved memory are more than the %s that other VMs leave unreserved", numa.Bytes(r.has), numa.Bytes(r.most))
	case otherHost:
		return "it has a PCI device of another host (DirectPath I/O or SR-IOV), and neither migrates nor is restarted elsewhere by vSphere HA"
	case besideCPU:
		return fmt.Sprintf("%d MHz of reserved CPU are more than the %d MHz that other VMs leave unreserved", r.has, r.most)
	}
	return ""
}

// Lack returns the missing amount of a reservation; "" for other reasons.
func (r Refusal) Lack() string {
	switch {
	case r.kind == latencyCores:
		return fmt.Sprintf("%d cores are needed for the vCPUs and the host has %d", r.has, r.most)
	case r.limit > 0:
		over := r
		over.limit = 0
		return over.Lack() + fmt.Sprintf(" under a CPU limit of %d MHz", r.limit)
	case r.kind == latencyCPU && r.has > 0:
		return fmt.Sprintf("only %d of %d MHz CPU are reserved", r.has, r.most)
	case r.kind == latencyCPU && r.most > 0:
		return fmt.Sprintf("no CPU is reserved, %d MHz are needed", r.most)
	case r.kind == latencyCPU:
		return "no CPU is reserved"
	case r.kind < deviceMemory || r.kind > latencyMemory:
		return ""
	case r.has > 0:
		return fmt.Sprintf("only %s of %s memory are reserved", numa.Bytes(r.has), numa.Bytes(r.most))
	}
	return "no memory is reserved"
}

// Rule returns the statement of the rule book behind the reason.
func (r Refusal) Rule() string {
	switch r.kind {
	case newHardware, goneHardware, manyVCPUs, manyCoresPerSocket, manySockets, muchMemory, memoryBIOS:
		return "B-26"
	case iommuOff, iommuBIOS, iommuVGPU, iommuAMD:
		return "B-32"
	case fewLogicalCPUs, unevenSockets:
		return "B-27"
	case latencyMemory, latencyCPU, latencyCores:
		return "B-21"
	case muchCPU, muchReserved, besideReserved, besideCPU:
		return "B-30"
	case deviceMemory, largePages:
		return "B-31"
	case otherHost:
		return "D-5"
	}
	return "B-28"
}

// Source returns the public source of the reason.
func (r Refusal) Source() string {
	switch r.kind {
	case iommuOff, iommuVGPU:
		return sourceIOMMU
	case iommuAMD:
		return sourceIOMMU + "; " + sourceAMD
	case iommuBIOS:
		return sourceIOMMU + "; " + sourceEFI
	case memoryBIOS:
		return sourceMemory
	case goneHardware:
		return sourceGone
	}
	if h, ok := numa.HardwareOf(int(r.hardware)); ok && r.kind != newHardware {
		return h.Source
	}
	return ""
}
