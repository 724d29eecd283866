package rvtools

import "strings"

// A field is what one column holds, whatever the version calls it.
type field int

const (
	// Who a row is about and where it belongs.
	vmName field = iota
	vmID
	vmUUID
	hostName
	hostID
	datacenter
	cluster
	vcenterUUID
	vcenterName
	placeholder
	template
	folder
	// Facts of VMs.
	powerstate
	cpus
	sockets
	coresPerSocket
	memory
	hotAdd
	vnumaHotAdd
	reservation
	limit
	locked
	latency
	hardware
	guestOS
	toolsOS
	// Facts of hosts.
	cpuModel
	coreMHz
	htActive
	packages
	coresPerPackage
	cores
	esxVersion
	powerPolicy
	vendor
	model
	maintenance
	// Of the export.
	version
	created
	server
	fieldCount
)

// A column is one column of a sheet.
type column struct {
	field field
	// fact is what is unknown when the column is missing; empty for keys and for
	// columns that some other column stands in for.
	fact string
	// names are all known headers: as printed by 4.x, as printed by 3.x, then the
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
		{field: vmName, names: []string{"VM", "vInfoVMName"}},
		{field: powerstate, fact: "power state", names: []string{"Powerstate", "vInfoPowerstate"}},
		{field: template, fact: "template", names: []string{"Template", "vInfoTemplate"}},
		{field: placeholder, names: []string{"SRM Placeholder", "vInfoSRMPlaceholder"}},
		{field: cpus, names: []string{"CPUs", "vInfoCPUs"}},
		{field: memory, names: []string{"Memory", "Memory MiB", "Memory (MiB)", "Memory MB", "vInfoMemory"}},
		{field: latency, fact: "latency sensitivity", names: []string{"Latency Sensitivity", "vInfoLatencySensitivity"}},
		{field: folder, names: []string{"Folder", "vInfoFolder"}},
		{field: hardware, fact: "hardware version", names: []string{"HW version", "vInfoVersion", "vInfoHWVersion", "vInfoHW version"}},
		{field: datacenter, last: true, names: []string{"Datacenter", "vInfoDatacenter"}},
		{field: cluster, fact: "cluster", last: true, names: []string{"Cluster", "vInfoCluster"}},
		{field: hostName, fact: "host", last: true, names: []string{"Host", "vInfoHost"}},
		{field: guestOS, fact: "guest OS", last: true, names: []string{"OS according to the configuration file", "OS", "vInfoOS"}},
		{field: toolsOS, last: true, names: []string{"OS according to the VMware Tools", "vInfoOSTools"}},
		{field: vmID, last: true, names: []string{"VM ID", "vInfoVMID", "vInfoObjectID"}},
		{field: vmUUID, last: true, names: []string{"VM UUID", "vInfoUUID", "vInfoVMUUID"}},
		{field: vcenterName, last: true, names: []string{"VI SDK Server", "vInfoVISDKServer"}},
		{field: vcenterUUID, last: true, names: []string{"VI SDK UUID", "vInfoVISDKUUID"}},
	}},
	{"vCPU", []column{
		{field: vmName, names: []string{"VM", "vCPUVMName"}},
		{field: cpus, names: []string{"CPUs", "vCPUCPUs"}},
		{field: sockets, names: []string{"Sockets", "vCPUSockets"}},
		{field: coresPerSocket, fact: "cores per socket", names: []string{"Cores p/s", "Cores per socket", "vCPUCoresPerSocket"}},
		{field: reservation, fact: "CPU reservation", names: []string{"Reservation", "vCPUReservation"}},
		{field: limit, fact: "CPU limit", names: []string{"Limit", "vCPULimit"}},
		{field: hotAdd, fact: "CPU hot add", names: []string{"Hot Add", "vCPUHotAdd"}},
		{field: vnumaHotAdd, fact: "vNUMA with CPU hot add", names: []string{"Numa Hotadd Exposed", "vCPUNumaHotaddExposed"}},
		{field: vmID, last: true, names: []string{"VM ID", "vCPUVMID"}},
		{field: vmUUID, last: true, names: []string{"VM UUID", "vCPUVMUUID", "vCPUUUID"}},
		{field: vcenterName, last: true, names: []string{"VI SDK Server", "vCPUVISDKServer"}},
		{field: vcenterUUID, last: true, names: []string{"VI SDK UUID", "vCPUVISDKUUID"}},
	}},
	{"vMemory", []column{
		{field: vmName, names: []string{"VM", "vMemoryVMName"}},
		{field: memory, names: []string{"Size MiB", "Size MB", "Size (MiB)", "vMemorySizeMiB", "vMemorySizeMB", "vMemorySize"}},
		{field: locked, fact: "memory reservation locked to maximum", names: []string{"Memory Reservation Locked To Max", "vMemoryReservationLockedToMax"}},
		{field: reservation, fact: "memory reservation", names: []string{"Reservation", "vMemoryReservation"}},
		{field: hotAdd, fact: "memory hot add", names: []string{"Hot Add", "vMemoryHotAdd"}},
		{field: vmID, last: true, names: []string{"VM ID", "vMemoryVMID"}},
		{field: vmUUID, last: true, names: []string{"VM UUID", "vMemoryVMUUID", "vMemoryUUID"}},
		{field: vcenterName, last: true, names: []string{"VI SDK Server", "vMemoryVISDKServer"}},
		{field: vcenterUUID, last: true, names: []string{"VI SDK UUID", "vMemoryVISDKUUID"}},
	}},
	{"vHost", []column{
		{field: hostName, names: []string{"Host", "vHostName"}},
		{field: datacenter, names: []string{"Datacenter", "vHostDatacenter"}},
		{field: cluster, fact: "cluster", names: []string{"Cluster", "vHostCluster"}},
		{field: maintenance, fact: "maintenance mode", names: []string{"in Maintenance Mode", "vHostInMaintenanceMode"}},
		{field: cpuModel, fact: "processor model", names: []string{"CPU Model", "vHostCpuModel"}},
		{field: coreMHz, names: []string{"Speed", "vHostSpeed"}},
		{field: htActive, fact: "hyper-threading", names: []string{"HT Active", "vHostHTActive"}},
		{field: packages, fact: "packages and so NUMA nodes", names: []string{"# CPU", "# CPUs", "vHostNumCpu"}},
		{field: coresPerPackage, names: []string{"Cores per CPU", "vHostCoresPerCPU"}},
		{field: cores, fact: "cores", names: []string{"# Cores", "vHostNumCpuCores"}},
		{field: memory, fact: "memory", names: []string{"# Memory", "# Memory (MiB)", "# Memory MiB", "# Memory (MB)", "# Memory MB", "vHostMemorySize"}},
		{field: powerPolicy, fact: "power policy", names: []string{"Host Power Policy", "vHostPowerPolicy", "vHostHostPowerPolicy"}},
		{field: esxVersion, fact: "release and build", names: []string{"ESX Version", "vHostFullName"}},
		{field: vendor, fact: "vendor", names: []string{"Vendor", "vHostVendor"}},
		{field: model, fact: "model", names: []string{"Model", "vHostModel"}},
		{field: hostID, last: true, names: []string{"Object ID", "vHostObjectID"}},
		{field: vcenterName, last: true, names: []string{"VI SDK Server", "vHostVISDKServer"}},
		{field: vcenterUUID, last: true, names: []string{"VI SDK UUID", "vHostVISDKUUID"}},
	}},
	{"vMetaData", []column{
		{field: version, names: []string{"RVTools version"}},
		{field: created, names: []string{"xlsx creation datetime", "creation datetime"}},
		{field: server, names: []string{"Server"}},
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
