package lab

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/simulator/esx"
	"github.com/vmware/govmomi/vim25/types"

	"example.org/homenode/numa"
)

// addHost adds a host with the hardware and configuration of h.
func (b *builder) addHost(h *numa.Host) error {
	hardware, err := hardwareOf(h)
	if err != nil {
		return fmt.Errorf("host %q: %w", h.Name, err)
	}
	host := simulator.NewHostSystem(b.ctx, esx.HostSystem)
	host.Self = types.ManagedObjectReference{Type: "HostSystem", Value: h.ID}
	host.Name = escaper.Replace(h.Name)
	host.Summary.Host, host.Config.Host = &host.Self, host.Self
	host.Summary.Config.Name = host.Name
	host.Vm, host.Network, host.Datastore = nil, nil, nil

	host.Hardware = hardware
	host.Summary.Hardware = &types.HostHardwareSummary{
		Vendor: h.Vendor.Value, Model: h.Model.Value, CpuModel: h.CPUModel.Value, MemorySize: int64(h.Memory.Value),
		NumCpuPkgs: hardware.CpuInfo.NumCpuPackages, NumCpuCores: hardware.CpuInfo.NumCpuCores, NumCpuThreads: hardware.CpuInfo.NumCpuThreads, CpuMhz: int32(h.CoreMHz.Value),
	}
	configure(host, h)
	b.serveOptions(host)
	b.ctx.Map.Put(host)
	if cluster := b.clusters[h.Cluster]; cluster != nil {
		host.Parent = &cluster.Self
		cluster.Host = append(cluster.Host, host.Self)
		cluster.Summary.GetComputeResourceSummary().NumHosts++
	} else {
		b.addStandalone(host)
	}
	b.hosts[h.ID] = host
	return nil
}

// configure sets the software properties of a host. NewHostSystem has copied Config, so it is not
// shared with another host.
func configure(host *simulator.HostSystem, h *numa.Host) {
	host.Runtime.ConnectionState = types.HostSystemConnectionState(h.Connection.Value)
	host.Runtime.InMaintenanceMode = h.Maintenance.Value

	host.Config.Product.Version, host.Config.Product.Build = "", ""
	if r := h.Release.Value; h.Release.Known() {
		host.Config.Product.Version = fmt.Sprintf("%d.%d.%d", r>>16, r>>8&0xff, r.Update())
	}
	if h.Build.Known() {
		host.Config.Product.Build = strconv.Itoa(h.Build.Value)
	}
	host.Summary.Config.Product = &host.Config.Product

	host.Summary.CurrentEVCModeKey = strings.TrimPrefix(h.EVC.Value, "none")
	host.Config.HyperThread = nil
	if h.HyperThreading.Known() {
		on := h.HyperThreading.Value
		host.Config.HyperThread = &types.HostHyperThreadScheduleInfo{Available: true, Active: on, Config: on}
	}
	host.Config.PowerSystemInfo = nil
	if h.PowerPolicy.Known() {
		host.Config.PowerSystemInfo = &types.PowerSystemInfo{CurrentPolicy: powerPolicy(h.PowerPolicy.Value)}
	}
	host.Config.Option = nil
	if h.Options.Known() {
		// Every host has ordinary options; an empty list means unknown.
		host.Config.Option = append(hostOptions(h.Options.Value), &types.OptionValue{Key: "Misc.LogPort", Value: "none"})
	}
}

// powerPolicy returns a policy as the API describes it.
func powerPolicy(name string) types.HostPowerPolicy {
	short := map[string]string{"High Performance": "static", "Balanced": "dynamic", "Low Power": "low", "Custom": "custom"}[name]
	return types.HostPowerPolicy{Name: name, ShortName: short}
}

// hardwareOf describes the processors, the memory and the NUMA nodes of h. PCPUs are numbered node
// by node, as in ESXi.
func hardwareOf(h *numa.Host) (*types.HostHardwareInfo, error) {
	if h.Threads.Value > math.MaxInt16 {
		return nil, fmt.Errorf("%d threads do not fit the API", h.Threads.Value)
	}
	hw := &types.HostHardwareInfo{
		SystemInfo: types.HostSystemInfo{Vendor: h.Vendor.Value, Model: h.Model.Value},
		CpuInfo: types.HostCpuInfo{
			NumCpuPackages: int16(h.Packages.Value),
			NumCpuCores:    int16(h.Cores.Value),
			NumCpuThreads:  int16(h.Threads.Value),
		},
		MemorySize: int64(h.Memory.Value),
	}
	for i := range h.Packages.Value {
		hw.CpuPkg = append(hw.CpuPkg, types.HostCpuPackage{Index: int16(i), Description: h.CPUModel.Value})
	}
	if !h.Nodes.Known() {
		return hw, nil
	}
	hw.NumaInfo = &types.HostNumaInfo{Type: "NUMA", NumNodes: int32(len(h.Nodes.Value))}
	next := 0 // PCPU number
	for _, n := range h.Nodes.Value {
		if n.ID > math.MaxUint8 || n.Package >= len(hw.CpuPkg) {
			return nil, fmt.Errorf("NUMA node %d of package %d does not fit the API", n.ID, n.Package)
		}
		node := types.HostNumaNode{TypeId: byte(n.ID), MemorySize: int64(n.Memory.Value), MemoryRangeLength: int64(n.Memory.Value)}
		for _, a := range h.Attached.Value {
			if a.Node == n.ID {
				node.PciId = append(node.PciId, a.PCI)
			}
		}
		for i := range n.Threads {
			pcpu := int16(next + i)
			node.CpuID = append(node.CpuID, pcpu)
			// A node without a single package has its threads spread over all.
			pkg := n.Package
			if pkg < 0 && len(hw.CpuPkg) > 0 {
				pkg = i * len(hw.CpuPkg) / n.Threads
			}
			if pkg >= 0 {
				hw.CpuPkg[pkg].ThreadId = append(hw.CpuPkg[pkg].ThreadId, pcpu)
			}
		}
		next += n.Threads
		hw.NumaInfo.NumaNode = append(hw.NumaInfo.NumaNode, node)
	}
	return hw, nil
}

// optionValues returns settings as the API carries them.
func optionValues(s numa.Settings) []types.BaseOptionValue {
	values := make([]types.BaseOptionValue, 0, len(s)+1)
	for _, e := range s {
		values = append(values, &types.OptionValue{Key: e.Key, Value: e.Value})
	}
	return values
}
