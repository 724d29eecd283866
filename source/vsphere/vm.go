package vsphere

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/vmware/govmomi/vim25/types"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
)

// vmPaths are the properties read of each VM. Whole subtrees such as config would include devices and files, ten times as much data.
var vmPaths = []string{
	"name", "parent", "parentVApp", "resourcePool",
	"runtime.host", "runtime.powerState", "runtime.connectionState",
	"config.template", "config.instanceUuid", "config.guestId", "config.guestFullName", "config.version",
	"config.hardware.numCPU", "config.hardware.numCoresPerSocket", "config.hardware.autoCoresPerSocket",
	"config.hardware.memoryMB", "config.cpuHotAddEnabled", "config.memoryHotAddEnabled", "config.numaInfo",
	"config.cpuAffinity", "config.memoryAffinity", "config.latencySensitivity", "config.hardware.simultaneousThreads",
	"config.firmware", "config.flags.vvtdEnabled",
	"config.cpuAllocation.reservation", "config.cpuAllocation.limit", "config.memoryAllocation.reservation", "config.memoryAllocation.limit",
	"config.memoryReservationLockedToMax", "config.extraConfig",
	"runtime.faultToleranceState", "config.ftInfo", "config.keyId", "summary.config.tpmPresent",
}

// VMProperties returns the properties that Read requests for each VM, for comparison or review.
func VMProperties() []string { return slices.Clone(vmPaths) }

// A vm is a VM of the fleet with its relations in the inventory.
type vm struct {
	numa.VM
	ref, host, pool, folder, vApp types.ManagedObjectReference
}

// powerStates are the power states by their name in the API.
var powerStates = map[types.VirtualMachinePowerState]numa.PowerState{
	types.VirtualMachinePowerStatePoweredOn:  numa.PoweredOn,
	types.VirtualMachinePowerStatePoweredOff: numa.PoweredOff,
	types.VirtualMachinePowerStateSuspended:  numa.Suspended,
}

// convertVM converts the properties of a VM to a VM of the fleet.
func (inv *inventory) convertVM(o *object) vm {
	v := vm{ref: o.ref}
	v.ID, v.Name, v.At = o.ref.Value, o.name(), inv.at(o.ref)
	v.folder, _ = value[types.ManagedObjectReference](o, "parent")
	v.vApp, _ = value[types.ManagedObjectReference](o, "parentVApp")
	v.pool, _ = value[types.ManagedObjectReference](o, "resourcePool")
	v.host, _ = value[types.ManagedObjectReference](o, "runtime.host")
	if s, ok := value[types.VirtualMachinePowerState](o, "runtime.powerState"); ok && powerStates[s] != "" {
		v.Power = numa.ReadAt(powerStates[s], "runtime.powerState")
	}
	// Without a configuration, such as that of a VM whose datastore is gone, none of the following exists.
	if _, ok := value[string](o, "config.version"); !ok {
		state, _ := value[types.VirtualMachineConnectionState](o, "runtime.connectionState")
		state = cmp.Or(state, "not readable")
		inv.note(o.ref, "VM %s has no configuration (%s): it cannot be judged", v.Name, state)
		return v
	}
	v.UUID, _ = value[string](o, "config.instanceUuid")
	v.Template = fact[bool](o, "config.template")
	v.GuestOS = guestOS(o)
	v.Hardware = inv.hardwareVersion(o)
	convertTopology(o, &v.VM)
	inv.doubtVM(o.ref, &v.VM)
	convertResources(o, &v.VM)
	if list, ok := value[optionList](o, "config.extraConfig"); ok || o.unset("config.extraConfig") {
		v.Settings = numa.ReadAt(settings(list.kept), "config.extraConfig")
	}
	return v
}

// keepSetting excludes settings that have a property, and so a fact, of their own.
func keepSetting(key string) bool {
	return numa.KeepSetting(key) && !strings.EqualFold(key, "vcpu.hotadd") && !strings.EqualFold(key, "cpuid.coresPerSocket")
}

// guestOS returns the full name of the guest's operating system, or its ID before the VM first ran on a host that knows the name.
func guestOS(o *object) numa.Fact[string] {
	if name, _ := value[string](o, "config.guestFullName"); name != "" {
		return numa.ReadAt(name, "config.guestFullName")
	}
	id, _ := value[string](o, "config.guestId")
	return text(id, "config.guestId")
}

// hardwareVersion returns the virtual hardware version: 19 for vmx-19.
func (inv *inventory) hardwareVersion(o *object) numa.Fact[int] {
	s, _ := value[string](o, "config.version")
	n, err := strconv.Atoi(strings.TrimPrefix(s, "vmx-"))
	if err != nil {
		inv.note(o.ref, "VM %s: found the hardware version %q, want one such as vmx-19", o.name(), s)
		return numa.Fact[int]{}
	}
	return positive(int64(n), "config.version")
}

// convertTopology reads the properties that decide the virtual topology.
func convertTopology(o *object, v *numa.VM) {
	v.VCPUs = countFact[int32](o, "config.hardware.numCPU")
	if mb, ok := value[int32](o, "config.hardware.memoryMB"); ok {
		v.Memory = bytesFact(int64(mb)*int64(numa.MiB), "config.hardware.memoryMB")
	}
	v.CPUHotAdd = fact[bool](o, "config.cpuHotAddEnabled")
	v.MemoryHotAdd = fact[bool](o, "config.memoryHotAddEnabled")

	// Sizes assigned at power-on are meaningless while the VM is off (vSphere API, VirtualHardware.numCoresPerSocket).
	off := v.Power.Value == numa.PoweredOff
	const cps = "config.hardware.numCoresPerSocket"
	v.AutoCoresPerSocket = fact[bool](o, "config.hardware.autoCoresPerSocket")
	switch {
	case off && v.AutoCoresPerSocket.Value:
	case o.unset(cps): // before 7.0 U3
		v.CoresPerSocket = numa.DerivedFrom(1, cps+" is unset")
	default:
		v.CoresPerSocket = countFact[int32](o, cps)
	}

	info, ok := value[types.VirtualMachineVirtualNumaInfo](o, "config.numaInfo")
	if !ok {
		return
	}
	v.AutoCoresPerNUMANode = optional(info.AutoCoresPerNumaNode, "config.numaInfo.autoCoresPerNumaNode")
	v.VNUMAHotAdd = optional(info.VnumaOnCpuHotaddExposed, "config.numaInfo.vnumaOnCpuHotaddExposed")
	if n := info.CoresPerNumaNode; n != nil && !(off && v.AutoCoresPerNUMANode.Value) {
		v.CoresPerNUMANode = positive(*n, "config.numaInfo.coresPerNumaNode")
	}
}

// convertResources reads affinities, reservations and limits.
func convertResources(o *object, v *numa.VM) {
	v.CPUAffinity = affinity(o, "config.cpuAffinity")
	v.MemoryAffinity = affinity(o, "config.memoryAffinity")
	if l, ok := value[types.LatencySensitivity](o, "config.latencySensitivity"); ok {
		v.LatencySensitivity = text(string(l.Level), "config.latencySensitivity.level")
	}
	const threads = "config.hardware.simultaneousThreads"
	if n, ok := value[int32](o, threads); ok {
		v.VirtualThreads = positive(int64(n), threads)
	}
	const firmware = "config.firmware"
	if s, ok := value[string](o, firmware); ok {
		v.Firmware = text(strings.ToLower(s), firmware)
	}
	v.IOMMU = fact[bool](o, "config.flags.vvtdEnabled")
	if mhz, ok := value[int64](o, "config.cpuAllocation.reservation"); ok {
		v.CPUReservation = numa.ReadAt(int(mhz), "config.cpuAllocation.reservation")
	}
	if mhz, ok := value[int64](o, "config.cpuAllocation.limit"); ok {
		v.CPULimit = numa.ReadAt(int(mhz), "config.cpuAllocation.limit")
	}
	if mb, ok := value[int64](o, "config.memoryAllocation.reservation"); ok {
		v.MemoryReservation = numa.ReadAt(numa.Bytes(mb)*numa.MiB, "config.memoryAllocation.reservation")
	}
	if mb, ok := value[int64](o, "config.memoryAllocation.limit"); ok {
		v.MemoryLimit = numa.ReadAt(max(-1, numa.Bytes(mb)*numa.MiB), "config.memoryAllocation.limit")
	}
	v.MemoryReservationLocked = fact[bool](o, "config.memoryReservationLockedToMax")
	v.FaultTolerance, v.TPM = faultTolerance(o), fact[bool](o, "summary.config.tpmPresent")
	const key = "config.keyId"
	if _, ok := value[types.CryptoKeyId](o, key); ok || o.unset(key) {
		v.Encrypted = numa.ReadAt(ok, key)
	}
}

// faultTolerance returns the role of a VM: 1 is the primary, 2 the first secondary (vSphere API, FaultToleranceConfigInfo).
func faultTolerance(o *object) numa.Fact[string] {
	const state, info = "runtime.faultToleranceState", "config.ftInfo"
	_, first := value[types.FaultTolerancePrimaryConfigInfo](o, info)
	second, _ := value[types.FaultToleranceSecondaryConfigInfo](o, info)
	some, _ := value[types.FaultToleranceConfigInfo](o, info)
	s, ok := value[types.VirtualMachineFaultToleranceState](o, state)
	switch {
	case max(second.Role, some.Role) > 1:
		return numa.ReadAt(numa.FTSecondary, info)
	case first, some.Role == 1, ok && s != types.VirtualMachineFaultToleranceStateNotConfigured:
		return numa.ReadAt(numa.FTPrimary, state)
	case ok:
		return numa.ReadAt(numa.FTOff, state)
	}
	return numa.Fact[string]{}
}

// affinity returns a set of numbers; a VM without the property has none.
func affinity(o *object, path string) numa.Fact[[]int] {
	a, ok := value[types.VirtualMachineAffinityInfo](o, path)
	if !ok && !o.unset(path) {
		return numa.Fact[[]int]{}
	}
	set := make([]int, 0, len(a.AffinitySet))
	for _, n := range a.AffinitySet {
		set = append(set, int(n))
	}
	return numa.ReadAt(set, path)
}

// optional returns an optional value of the API as a fact.
func optional[T any](v *T, path string) numa.Fact[T] {
	if v == nil {
		return numa.Fact[T]{}
	}
	return numa.ReadAt(*v, path)
}

// placeHosts sets the clusters of the hosts. An invisible cluster is known only by its ID, which still shows which hosts belong together.
func (inv *inventory) placeHosts() {
	for i := range inv.hosts {
		if h := &inv.hosts[i]; h.parent.Type == "ClusterComputeResource" {
			inv.addHiddenCluster(h.parent)
			h.Cluster = h.parent.Value
		}
	}
}

// placeVMs sets the hosts, clusters and folders of the VMs.
func (inv *inventory) placeVMs() {
	elsewhere := 0
	for i := range inv.vms {
		v := &inv.vms[i]
		if at, ok := inv.hostAt[v.host]; ok {
			v.Host, v.Cluster = inv.hosts[at].ID, inv.hosts[at].Cluster
		} else {
			if v.host.Value != "" {
				elsewhere++
			}
			if owner := inv.owner[v.pool]; owner.Type == "ClusterComputeResource" {
				inv.addHiddenCluster(owner)
				v.Cluster = owner.Value
			}
		}
		switch {
		case v.folder.Value != "":
			v.Folder = inv.path(v.folder)
		case v.vApp.Value != "":
			v.Folder = inv.path(v.vApp)
		}
	}
	if elsewhere > 0 {
		inv.notes = append(inv.notes, numa.Note{At: inv.reader.host,
			Text: fmt.Sprintf("VMs on hosts that the account does not see: %s", words.Thousands(elsewhere))})
	}
}

func (inv *inventory) addHiddenCluster(ref types.ManagedObjectReference) {
	if !inv.cluster[ref] {
		inv.cluster[ref] = true
		inv.computes = append(inv.computes, compute{ref: ref, name: ref.Value, cluster: true})
		inv.note(ref, "the account does not see cluster %s, only objects in it", ref.Value)
	}
}
