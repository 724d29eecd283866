package tables

import "strings"

// A column is one column of a sheet.
type column struct {
	// fact is what is unknown when the column is missing; empty for keys and for
	// columns that some other column stands in for.
	fact string
	// names are all known headers, the first of which is what the column is called here: as printed by 4.x, as printed by 3.x, then the
	// internal names that some exports carry. Source:
	// sbroenne/RvToolsMerge, docs/ColumnMappings.md. Case and runs of blanks do
	// not matter.
	names []string
	// last: custom attributes and tags, whose headers users choose, stand after
	// Annotation and before Datacenter. Of two columns with one name the last is
	// meant from Datacenter on, the first before.
	last bool
}

// A sheetColumns lists the columns of one sheet that are read; the others are
// never looked at.
type sheetColumns struct {
	name    string
	columns []column
}

// columns is the whole mapping from RVTools to facts.
var columns = []sheetColumns{
	{"vInfo", []column{
		{names: []string{"VM", "vInfoVMName"}},
		{fact: "power state", names: []string{"Powerstate", "vInfoPowerstate"}},
		{fact: "template", names: []string{"Template", "vInfoTemplate"}},
		{names: []string{"SRM Placeholder", "vInfoSRMPlaceholder"}},
		{names: []string{"CPUs", "vInfoCPUs"}},
		{names: []string{"Memory", "Memory MiB", "Memory (MiB)", "Memory MB", "vInfoMemory"}},
		{names: []string{"product"}}, // a custom attribute
		{fact: "latency sensitivity", names: []string{"Latency Sensitivity", "vInfoLatencySensitivity"}},
		{names: []string{"Folder", "vInfoFolder"}},
		{names: []string{"Firmware", "vInfoFirmware"}},
		{fact: "hardware version", names: []string{"HW version", "vInfoVersion", "vInfoHWVersion", "vInfoHW version"}},
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
	{"vCPU", []column{
		{names: []string{"VM", "vCPUVMName"}},
		{names: []string{"CPUs", "vCPUCPUs"}},
		{names: []string{"Sockets", "vCPUSockets"}},
		{fact: "cores per socket", names: []string{"Cores p/s", "Cores per socket", "vCPUCoresPerSocket"}},
		{fact: "CPU reservation", names: []string{"Reservation", "vCPUReservation"}},
		{fact: "CPU limit", names: []string{"Limit", "vCPULimit"}},
		{fact: "CPU hot add", names: []string{"Hot Add", "vCPUHotAdd"}},
		{fact: "vNUMA with CPU hot add", names: []string{"Numa Hotadd Exposed", "vCPUNumaHotaddExposed"}},
		{last: true, names: []string{"VM ID", "vCPUVMID"}},
		{last: true, names: []string{"VM UUID", "vCPUVMUUID", "vCPUUUID"}},
		{last: true, names: []string{"VI SDK Server", "vCPUVISDKServer"}},
		{last: true, names: []string{"VI SDK UUID", "vCPUVISDKUUID"}},
	}},
	{"vMemory", []column{
		{names: []string{"VM", "vMemoryVMName"}},
		{names: []string{"Size MiB", "Size MB", "Size (MiB)", "vMemorySizeMiB", "vMemorySizeMB", "vMemorySize"}},
		{fact: "memory reservation locked to maximum", names: []string{"Memory Reservation Locked To Max", "vMemoryReservationLockedToMax"}},
		{fact: "memory reservation", names: []string{"Reservation", "vMemoryReservation"}},
		{fact: "memory hot add", names: []string{"Hot Add", "vMemoryHotAdd"}},
		{last: true, names: []string{"VM ID", "vMemoryVMID"}},
		{last: true, names: []string{"VM UUID", "vMemoryVMUUID", "vMemoryUUID"}},
		{last: true, names: []string{"VI SDK Server", "vMemoryVISDKServer"}},
		{last: true, names: []string{"VI SDK UUID", "vMemoryVISDKUUID"}},
	}},
	{"vHost", []column{
		{names: []string{"Host", "vHostName"}},
		{names: []string{"Datacenter", "vHostDatacenter"}},
		{fact: "cluster", names: []string{"Cluster", "vHostCluster"}},
		{fact: "maintenance mode", names: []string{"in Maintenance Mode", "vHostInMaintenanceMode"}},
		{fact: "processor model", names: []string{"CPU Model", "vHostCpuModel"}},
		{names: []string{"Speed", "vHostSpeed"}},
		{fact: "hyper-threading", names: []string{"HT Active", "vHostHTActive"}},
		{fact: "packages and so NUMA nodes", names: []string{"# CPU", "# CPUs", "vHostNumCpu"}},
		{names: []string{"Cores per CPU", "vHostCoresPerCPU"}},
		{fact: "cores", names: []string{"# Cores", "vHostNumCpuCores"}},
		{fact: "memory", names: []string{"# Memory", "# Memory (MiB)", "# Memory MiB", "# Memory (MB)", "# Memory MB", "vHostMemorySize"}},
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
	{"vMetaData", []column{
		{names: []string{"RVTools version"}},
		{names: []string{"xlsx creation datetime", "creation datetime"}},
		{names: []string{"Server"}},
	}},
}

// columnsOf returns the columns of a sheet.
func columnsOf(sheet string) []column {
	for _, s := range columns {
		if s.name == sheet {
			return s.columns
		}
	}
	panic("rvtools: no columns for sheet " + sheet)
}

// factsOf names what the columns of a sheet tell, for a note that it is missing.
func factsOf(sheet string) string {
	var facts []string
	for _, c := range columnsOf(sheet) {
		if c.fact != "" {
			facts = append(facts, c.fact)
		}
	}
	return strings.Join(facts, ", ")
}

// normal returns a header in the form that headers are compared in: lower case,
// runs of blanks (U+00A0 is one) as one blank.
func normal(header string) string {
	return strings.ToLower(strings.Join(strings.Fields(header), " "))
}
