package vnuma

import (
	"fmt"
	"strconv"

	"example.org/homenode/numa"
)

// Normal is the alternative for a VM that lacks a requirement of latency sensitivity High.
var Normal = numa.Way{Do: "set latency sensitivity to Normal", Edits: []numa.Edit{{Kind: numa.EditLatency, To: numa.Is("normal")}}}

// Ways returns the ways to make the VM power on; nil when nothing is refused.
func (r Refusal) Ways() []numa.Way {
	set := func(do string, edits ...numa.Edit) numa.Way { return numa.Way{Do: do, Edits: edits} }
	fewer := set("use at most "+count(int(r.most), "vCPU"), numa.EditVCPUs.To(int(r.most)))
	reserve := set("reserve all guest memory", numa.Edit{Kind: numa.EditReserveAll, To: numa.Is("true")})
	mebibytes := int(numa.Bytes(r.most) / numa.MiB)
	smaller := set("give the VM at most "+numa.Bytes(r.most).String(), numa.EditMemory.To(mebibytes))
	auto := numa.EditCoresPerNUMANode.To(0)
	if r.newer > 0 {
		return r.onNewer()
	}
	switch r.kind {
	case newHardware:
		return []numa.Way{numa.ByHand(newerRelease), numa.ByHand(fmt.Sprintf("create a new VM with virtual hardware %d: its version cannot be lowered", r.most))}
	case goneHardware:
		return []numa.Way{numa.ByHand("upgrade the virtual hardware")}
	case iommuOff:
		return []numa.Way{set("switch the virtual IOMMU on (vvtd.enable = TRUE), which needs EFI firmware", numa.Edit{Kind: numa.EditIOMMU, To: numa.Is("true")}), fewer}
	case iommuBIOS:
		return []numa.Way{numa.ByHand("reinstall the guest with EFI firmware (an installed guest does not boot after the change) and switch the virtual IOMMU on"), fewer}
	case iommuAMD:
		return []numa.Way{set(fmt.Sprintf("upgrade the virtual hardware to %d or later", firstIOMMUOnAMD), numa.EditHardware.To(firstIOMMUOnAMD)), fewer}
	case iommuVGPU:
		return []numa.Way{fewer, numa.ByHand("remove the vGPU; ESXi 8.0 allows both for vGPUs of SR-IOV, with settings of their own")}
	case manyVCPUs, fewLogicalCPUs:
		return []numa.Way{fewer}
	case manyCoresPerSocket, manySockets, unevenSockets:
		return []numa.Way{r.sockets()}
	case muchMemory:
		return []numa.Way{smaller}
	case memoryBIOS:
		return []numa.Way{numa.ByHand("reinstall the guest with EFI firmware (an installed guest does not boot after the change)"), smaller}
	case unevenNodes:
		return []numa.Way{set("let NUMA nodes be assigned at power on", auto), numa.ByHand("set cores per NUMA node to a divisor of the vCPUs")}
	case crossedNodes:
		return []numa.Way{set("let NUMA nodes be assigned at power on", auto), numa.ByHand("set cores per socket to a divisor of the cores per NUMA node")}
	case autoSockets:
		return []numa.Way{set("let NUMA nodes be assigned at power on too", auto), numa.ByHand("set cores per socket by hand")}
	case deviceMemory:
		return []numa.Way{reserve}
	case largePages:
		return []numa.Way{reserve, set("remove sched.mem.lpage.enable1GPage", numa.Unassign("sched.mem.lpage.enable1GPage"))}
	case latencyMemory:
		return []numa.Way{reserve, Normal}
	case latencyCPU:
		return []numa.Way{r.reserve(), Normal}
	case latencyCores:
		return []numa.Way{numa.ByHand(fmt.Sprintf("use vCPUs for fewer than %d cores", r.most)), Normal}
	case muchCPU:
		return r.lessCPU()
	case muchReserved:
		return r.lessReserved()
	case otherHost:
		return []numa.Way{numa.ByHand("leave it on the host of the device"), numa.ByHand("take the device out of the VM")}
	case besideReserved, besideCPU:
		return r.beside()
	}
	return nil
}

// beside returns the way to reserve what other VMs leave; nil if that is nothing.
func (r Refusal) beside() []numa.Way {
	if r.kind == besideCPU {
		return r.lessCPU()
	}
	return r.lessReserved()
}

// lessCPU returns the way to reserve as much CPU as leaves ESXi a core; nil if that is nothing.
func (r Refusal) lessCPU() []numa.Way {
	most := r.most - r.overhead
	if most <= 0 {
		return nil
	}
	return []numa.Way{{Do: fmt.Sprintf("reserve at most %d MHz CPU, which leaves a core of the host to ESXi", most), Edits: []numa.Edit{numa.EditCPUReservation.To(int(most))}}}
}

// lessReserved returns the way to reserve as much memory as leaves room for the overhead memory; nil if that is nothing.
func (r Refusal) lessReserved() []numa.Way {
	most := numa.Bytes(r.most - r.overhead).Whole()
	if most <= 0 {
		return nil
	}
	return []numa.Way{{Do: fmt.Sprintf("reserve at most %s of memory, since ESXi adds overhead memory to it", most), Edits: []numa.Edit{numa.EditMemoryReservation.To(int(most / numa.MiB))}}}
}

const newerRelease = "run the VM on a newer release"

// onNewer returns the ways of a VM whose host stays too old, whatever changes in the VM.
func (r Refusal) onNewer() []numa.Way {
	if r.ByHost() {
		return []numa.Way{numa.ByHand(newerRelease)}
	}
	r.newer = 0
	ways := r.Ways()
	for i := range ways {
		ways[i] = numa.ByHand(ways[i].Do + ", and " + newerRelease)
	}
	return ways
}

// sockets returns the cores per socket that the virtual hardware has.
func (r Refusal) sockets() numa.Way {
	if r.cps == 0 {
		return numa.ByHand(fmt.Sprintf("use another number of vCPUs: no value of cores per socket divides %d into sockets that the virtual hardware supports", r.vcpus))
	}
	return numa.Way{Do: fmt.Sprintf("set cores per socket to %d (%s)", r.cps, count(int(r.vcpus/r.cps), "socket")), Edits: []numa.Edit{numa.EditCoresPerSocket.To(int(r.cps))}}
}

// reserve returns the CPU reservation that latency sensitivity High needs.
func (r Refusal) reserve() numa.Way {
	switch {
	case r.limit > 0:
		return numa.ByHand(fmt.Sprintf("remove the CPU limit of %d MHz, because a reservation cannot exceed it, and reserve %d MHz CPU", r.limit, r.most))
	case r.most > 0:
		n := strconv.FormatInt(int64(r.most), 10)
		return numa.Way{Do: "reserve " + n + " MHz CPU", Edits: []numa.Edit{{Kind: numa.EditCPUReservation, To: numa.Is(n)}}}
	case r.threads > 1:
		return numa.ByHand(fmt.Sprintf("reserve CPU of (vCPUs / %d) × core frequency", r.threads))
	}
	return numa.ByHand("reserve CPU of vCPUs × core frequency")
}
