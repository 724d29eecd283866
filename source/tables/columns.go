package tables

import (
	"slices"
	"strings"
)

// A column is one column of a table.
type column struct {
	// key is the name of the column in the code; the default is its first header.
	key string
	// fact is unknown if the column is missing; empty for keys and for columns that another
	// column can replace.
	fact string
	// names are all known headers, the most common first. Case, blanks and punctuation are
	// ignored, and so is a unit at the end: "Memory" is also "memory_mb" and "Memory (GiB)".
	// "Memory=MiB" sets the unit for a header without one; otherwise the cells must contain it.
	// Names with dots are paths in JSON.
	names []string
	// last marks the columns from Datacenter on. Custom attributes and tags, whose headers
	// users choose, are between Annotation and Datacenter. If a name occurs twice, the last
	// column counts from Datacenter on, and the first one before it.
	last bool
}

// id returns the name of the column in the code.
func (c *column) id() string {
	if c.key != "" {
		return c.key
	}
	return c.title()
}

// title returns the first header.
func (c *column) title() string {
	name, _, _ := strings.Cut(c.names[0], "=")
	return name
}

// A kind is a kind of table with the columns that are read; other columns are ignored.
type kind struct {
	name    string // sheet name in RVTools
	columns []column
}

// kinds is the complete mapping from tables to facts: the sheets of RVTools, then the tables of
// other programs. Sources: sbroenne/RvToolsMerge, docs/ColumnMappings.md; the property paths of
// the vSphere API; the VirtualMachine and VMHost structures of PowerCLI; return values of
// community.vmware; headers that public readers of Live Optics use.
var kinds = []kind{
	{name: "vInfo", columns: []column{
		{names: []string{"VM", "vInfoVMName"}},
		{fact: "power state", names: []string{"Powerstate", "vInfoPowerstate"}},
		{fact: "template", names: []string{"Template", "vInfoTemplate"}},
		{names: []string{"SRM Placeholder", "vInfoSRMPlaceholder"}},
		{names: []string{"CPUs", "vInfoCPUs"}},
		{names: []string{"Memory=MiB", "vInfoMemory=MiB"}},
		{names: []string{"product"}}, // a custom attribute
		{fact: "latency sensitivity", names: []string{"Latency Sensitivity", "vInfoLatencySensitivity"}},
		{names: []string{"Folder", "vInfoFolder"}},
		{names: []string{"Firmware", "vInfoFirmware"}},
		{names: []string{"FT State", "vInfoFTState"}},
		{names: []string{"FT Role", "vInfoFTRole"}},
		{fact: "hardware version", names: []string{"HW version", "vInfoVersion", "vInfoHWVersion"}},
		{last: true, names: []string{"Datacenter", "vInfoDatacenter"}},
		{fact: "cluster", last: true, names: []string{"Cluster", "vInfoCluster"}},
		{fact: "host", last: true, names: []string{"Host", "vInfoHost"}},
		{fact: "guest OS", last: true, names: []string{"OS according to the configuration file", "OS", "vInfoOS"}},
		{last: true, names: []string{"OS according to the VMware Tools", "vInfoOSTools"}},
		{last: true, names: []string{"VM ID", "vInfoVMID", "vInfoObjectID"}},
		{last: true, names: []string{"VM UUID", "vInfoUUID", "vInfoVMUUID"}},
		{last: true, names: []string{"VI SDK Server", "vInfoVISDKServer"}},
		{last: true, names: []string{"VI SDK UUID", "vInfoVISDKUUID"}},
	}},
	{name: "vCPU", columns: []column{
		{names: []string{"VM", "vCPUVMName"}},
		{names: []string{"CPUs", "vCPUCPUs"}},
		{names: []string{"Sockets", "vCPUSockets"}},
		{fact: "cores per socket", names: []string{"Cores p/s", "Cores per socket", "vCPUCoresPerSocket"}},
		{key: "CPU reservation", fact: "CPU reservation", names: []string{"Reservation=MHz", "vCPUReservation=MHz"}},
		{key: "CPU limit", fact: "CPU limit", names: []string{"Limit=MHz", "vCPULimit=MHz"}},
		{key: "CPU hot add", fact: "CPU hot add", names: []string{"Hot Add", "vCPUHotAdd"}},
		{fact: "vNUMA with CPU hot add", names: []string{"Numa Hotadd Exposed", "vCPUNumaHotaddExposed"}},
		{last: true, names: []string{"Datacenter", "vCPUDatacenter"}},
		{last: true, names: []string{"Cluster", "vCPUCluster"}},
		{last: true, names: []string{"Host", "vCPUHost"}},
		{last: true, names: []string{"VM ID", "vCPUVMID"}},
		{last: true, names: []string{"VM UUID", "vCPUVMUUID", "vCPUUUID"}},
		{last: true, names: []string{"VI SDK Server", "vCPUVISDKServer"}},
		{last: true, names: []string{"VI SDK UUID", "vCPUVISDKUUID"}},
	}},
	{name: "vMemory", columns: []column{
		{names: []string{"VM", "vMemoryVMName"}},
		{key: "Memory", names: []string{"Size MiB", "vMemorySize=MiB"}},
		{fact: "memory reservation locked to maximum", names: []string{"Memory Reservation Locked To Max", "vMemoryReservationLockedToMax"}},
		{key: "memory reservation", fact: "memory reservation", names: []string{"Reservation=MiB", "vMemoryReservation=MiB"}},
		{names: []string{"Swapped=MiB", "vMemorySwapped=MiB"}},
		{names: []string{"Ballooned=MiB", "vMemoryBallooned=MiB"}},
		{key: "memory limit", fact: "memory limit", names: []string{"Limit=MiB", "vMemoryLimit=MiB"}},
		{key: "memory hot add", fact: "memory hot add", names: []string{"Hot Add", "vMemoryHotAdd"}},
		{last: true, names: []string{"Datacenter", "vMemoryDatacenter"}},
		{last: true, names: []string{"Cluster", "vMemoryCluster"}},
		{last: true, names: []string{"Host", "vMemoryHost"}},
		{last: true, names: []string{"VM ID", "vMemoryVMID"}},
		{last: true, names: []string{"VM UUID", "vMemoryVMUUID", "vMemoryUUID"}},
		{last: true, names: []string{"VI SDK Server", "vMemoryVISDKServer"}},
		{last: true, names: []string{"VI SDK UUID", "vMemoryVISDKUUID"}},
	}},
	{name: "vHost", columns: []column{
		{names: []string{"Host", "vHostName"}},
		{names: []string{"Datacenter", "vHostDatacenter"}},
		{fact: "cluster", names: []string{"Cluster", "vHostCluster"}},
		{fact: "maintenance mode", names: []string{"in Maintenance Mode", "vHostInMaintenanceMode"}},
		{fact: "processor model", names: []string{"CPU Model", "vHostCpuModel"}},
		{names: []string{"Speed=MHz", "vHostSpeed=MHz", "vHostCpuMhz"}},
		{fact: "hyper-threading", names: []string{"HT Active", "vHostHTActive"}},
		{fact: "packages and so NUMA nodes", names: []string{"# CPU", "# CPUs", "vHostNumCpu"}},
		{names: []string{"Cores per CPU", "vHostCoresPerCPU"}},
		{names: []string{"# VMs total"}},
		{fact: "whether the export lists all VMs", names: []string{"# VMs", "vHostNumVMs"}},
		{names: []string{"# vCPUs"}},
		{names: []string{"vRAM=MiB"}},
		{fact: "cores", names: []string{"# Cores", "vHostNumCpuCores"}},
		{fact: "memory", names: []string{"# Memory=MiB", "vHostMemorySize=MiB"}},
		{names: []string{"Memory Tiering Type", "vHostMemoryTieringType"}},
		{fact: "power policy", names: []string{"Host Power Policy", "vHostPowerPolicy", "vHostHostPowerPolicy"}},
		{names: []string{"Current EVC"}},
		{fact: "release and build", names: []string{"ESX Version", "vHostFullName"}},
		{fact: "vendor", names: []string{"Vendor", "vHostVendor"}},
		{fact: "model", names: []string{"Model", "vHostModel"}},
		{last: true, names: []string{"Object ID", "vHostObjectID"}},
		{last: true, names: []string{"VI SDK Server", "vHostVISDKServer"}},
		{last: true, names: []string{"VI SDK UUID", "vHostVISDKUUID"}},
	}},
	{name: "vMetaData", columns: []column{
		{names: []string{"RVTools version"}},
		{names: []string{"xlsx creation datetime", "creation datetime"}},
		{names: []string{"Server"}},
	}},
	vmTable,
	hostTable,
}

// kindNamed returns the kind of a table by name; nil if there is none.
func kindNamed(name string) *kind {
	i := slices.IndexFunc(kinds, func(k kind) bool { return strings.EqualFold(k.name, name) })
	if i < 0 {
		return nil
	}
	return &kinds[i]
}

// facts names the facts in the columns, for a note about a missing table.
func (k *kind) facts() string {
	var facts []string
	for _, c := range k.columns {
		if c.fact != "" {
			facts = append(facts, c.fact)
		}
	}
	return strings.Join(facts, ", ")
}

// generic reports whether the kind is that of tables from programs other than RVTools.
func (k *kind) generic() bool { return k.name == vmTable.name || k.name == hostTable.name }
