package vsphere

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/vmware/govmomi/vim25/types"

	"example.org/homenode/numa"
)

// hostPaths are the properties read of each host.
var hostPaths = []string{
	"name", "parent", "vm",
	"runtime.connectionState", "runtime.inMaintenanceMode",
	"summary.hardware", evcPath,
	"hardware.cpuInfo", "hardware.cpuPkg", "hardware.memorySize", "hardware.numaInfo",
	"config.hyperThread", "config.option", "config.powerSystemInfo",
	"config.product.version", "config.product.build",
}

// evcPath is the EVC mode of a host; unset without one.
const evcPath = "summary.currentEVCModeKey"

// tierPaths are the properties of hosts that exist from 7.0 U3 on.
var tierPaths = []string{"hardware.memoryTieringType", "hardware.memoryTierInfo"}

// A host is a host of the fleet with its relations in the inventory.
type host struct {
	numa.Host
	ref    types.ManagedObjectReference
	parent types.ManagedObjectReference // cluster, or place of a standalone host
	vms    []types.ManagedObjectReference

	attached []numa.Attached // all its PCI devices
}

// policyNames are the power policies by the short name of the API, as the
// vSphere Client shows them; the API's own name is a message key.
var policyNames = map[string]string{
	"static": "High Performance", "dynamic": "Balanced", "low": "Low Power", "custom": "Custom",
}

// integer is the set of number types of the API.
type integer interface{ ~int16 | ~int32 | ~int64 }

// countFact returns the property at path as a count; a count that is not positive means that the
// host or VM never reported it, and is unknown.
func countFact[T integer](o *object, path string) numa.Fact[int] {
	n, _ := value[T](o, path)
	return positive(n, path)
}

func positive[T integer](n T, path string) numa.Fact[int] {
	if n <= 0 {
		return numa.Fact[int]{}
	}
	return numa.ReadAt(int(n), path)
}

// bytesFact returns an amount in bytes; one that is not positive is unknown.
func bytesFact(n int64, path string) numa.Fact[numa.Bytes] {
	if n <= 0 {
		return numa.Fact[numa.Bytes]{}
	}
	return numa.ReadAt(numa.Bytes(n), path)
}

// text returns a string as a fact; an empty one is unknown.
func text(s, path string) numa.Fact[string] {
	if s = strings.TrimSpace(s); s == "" {
		return numa.Fact[string]{}
	}
	return numa.ReadAt(s, path)
}

// convertHost converts the properties of a host to a host of the fleet.
func (inv *inventory) convertHost(o *object) host {
	h := host{ref: o.ref}
	h.ID, h.Name, h.At = o.ref.Value, o.name(), inv.at(o.ref)
	h.parent, _ = value[types.ManagedObjectReference](o, "parent")
	if refs, ok := value[types.ArrayOfManagedObjectReference](o, "vm"); ok {
		h.vms = refs.ManagedObjectReference
	}
	if s, ok := value[types.HostSystemConnectionState](o, "runtime.connectionState"); ok {
		h.Connection = numa.ReadAt(string(s), "runtime.connectionState")
		if s != types.HostSystemConnectionStateConnected {
			inv.note(o.ref, "host %s is %s: what is shown is what the server last knew of it", h.Name, s)
		}
	}
	h.Maintenance = fact[bool](o, "runtime.inMaintenanceMode")
	if mode, ok := value[string](o, evcPath); ok || o.unset(evcPath) {
		h.EVC = numa.ReadAt(cmp.Or(strings.TrimSpace(mode), "none"), evcPath)
	}
	inv.convertProduct(o, &h.Host)
	convertHardware(o, &h.Host)
	inv.convertTiers(o, &h.Host)
	inv.convertNodes(o, &h)
	inv.doubtHost(o.ref, &h.Host)

	if ht, ok := value[types.HostHyperThreadScheduleInfo](o, "config.hyperThread"); ok {
		h.HyperThreading = numa.ReadAt(ht.Active, "config.hyperThread.active")
	}
	if p, ok := value[types.PowerSystemInfo](o, "config.powerSystemInfo"); ok {
		name, known := policyNames[p.CurrentPolicy.ShortName]
		if !known {
			name = p.CurrentPolicy.Name
		}
		h.PowerPolicy = text(name, "config.powerSystemInfo.currentPolicy")
	}
	// Every host has hundreds of options: an empty list means that they are unknown.
	if list, ok := value[optionList](o, "config.option"); ok && list.total > 0 {
		h.Options = numa.ReadAt(settings(list.kept), "config.option")
	}
	return h
}

// convertProduct parses the release and the build.
func (inv *inventory) convertProduct(o *object, h *numa.Host) {
	if s, ok := value[string](o, "config.product.build"); ok {
		n, err := strconv.Atoi(s)
		if err != nil {
			inv.note(o.ref, "host %s: found the build %q, want a number", h.Name, s)
		} else {
			h.Build = positive(int64(n), "config.product.build")
		}
	}
	if s, ok := value[string](o, "config.product.version"); ok {
		release, err := numa.ParseRelease(s)
		if err != nil {
			inv.note(o.ref, "host %s: config.product.version: %v", h.Name, err)
			return
		}
		h.Release = numa.ReadAt(release.WithBuild(h.Build.Value), "config.product.version")
	}
}

// convertHardware reads processor and memory sizes. They are also in the summary when the hardware
// itself is not readable.
func convertHardware(o *object, h *numa.Host) {
	if s, ok := value[types.HostHardwareSummary](o, "summary.hardware"); ok {
		h.Vendor = text(s.Vendor, "summary.hardware.vendor")
		h.Model = text(s.Model, "summary.hardware.model")
		h.CPUModel = text(s.CpuModel, "summary.hardware.cpuModel")
		h.Packages = positive(s.NumCpuPkgs, "summary.hardware.numCpuPkgs")
		h.Cores = positive(s.NumCpuCores, "summary.hardware.numCpuCores")
		h.Threads = positive(s.NumCpuThreads, "summary.hardware.numCpuThreads")
		h.Memory = bytesFact(s.MemorySize, "summary.hardware.memorySize")
		h.CoreMHz = positive(s.CpuMhz, "summary.hardware.cpuMhz")
	}
	if c, ok := value[types.HostCpuInfo](o, "hardware.cpuInfo"); ok && c.NumCpuThreads > 0 {
		h.Packages = positive(c.NumCpuPackages, "hardware.cpuInfo.numCpuPackages")
		h.Cores = positive(c.NumCpuCores, "hardware.cpuInfo.numCpuCores")
		h.Threads = positive(c.NumCpuThreads, "hardware.cpuInfo.numCpuThreads")
	}
	if n, ok := value[int64](o, "hardware.memorySize"); ok && n > 0 {
		h.Memory = bytesFact(n, "hardware.memorySize")
	}
}

// tiered reports whether ESX manages slower memory tiers on the host.
func tiered(o *object) bool {
	kind, _ := value[string](o, tierPaths[0])
	return kind == string(types.HostMemoryTieringTypeSoftwareTiering)
}

// convertTiers separates DRAM from the slower tiers that the size of the memory includes with
// software tiering (rule book A-12). DRAM used as a cache, PMem in memory mode, is not part of that size.
func (inv *inventory) convertTiers(o *object, h *numa.Host) {
	kind, _ := value[string](o, tierPaths[0])
	switch types.HostMemoryTieringType(kind) {
	case types.HostMemoryTieringTypeNoTiering, types.HostMemoryTieringTypeHardwareTiering:
		h.TierMemory = numa.ReadAt(numa.Bytes(0), tierPaths[0])
		return
	case types.HostMemoryTieringTypeSoftwareTiering:
	default:
		return
	}
	var dram, slower int64
	tiers, _ := value[types.ArrayOfHostMemoryTierInfo](o, tierPaths[1])
	for _, t := range tiers.HostMemoryTierInfo {
		if t.Type == string(types.HostMemoryTierTypeDRAM) {
			dram += max(0, t.Size)
		} else {
			slower += max(0, t.Size)
		}
	}
	h.TierMemory = bytesFact(slower, tierPaths[1])
	if h.Memory = bytesFact(dram, tierPaths[1]); !h.Memory.Known() {
		inv.note(o.ref, "host %s has memory tiers and does not state how much is DRAM: the memory of its nodes is unknown", h.Name)
	}
}

// settings returns the entries in the order of their keys; of duplicate entries the last counts.
func settings(list []numa.Setting) numa.Settings {
	kept := make(numa.Settings, 0, len(list))
	for _, e := range list {
		kept = slices.DeleteFunc(kept, func(s numa.Setting) bool { return strings.EqualFold(s.Key, e.Key) })
		kept = append(kept, e)
	}
	slices.SortFunc(kept, func(a, b numa.Setting) int { return strings.Compare(a.Key, b.Key) })
	return kept
}

// note adds a remark about an object.
func (inv *inventory) note(ref types.ManagedObjectReference, format string, a ...any) {
	inv.notes = append(inv.notes, numa.Note{At: inv.at(ref), Text: fmt.Sprintf(format, a...)})
}
