package tables

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/numa/pattern"
)

// maxCores is the maximum number of cores of a host, so that two threads per core stay within the limits of numa.Fleet.Check;
// maxPackageCores is the same for a package.
const (
	maxCores        = numa.MaxNodes * maxPackageCores
	maxPackageCores = numa.MaxCoresPerNode / 2
)

// leastMemory is the minimum memory of a host: no ESXi installs below 1 GB (ESX 4.0 needs 2 GB, ESXi 8.0 8 GB: VMware, installation and setup guides of
// each). Less is an amount in another unit than that of its header.
const leastMemory = numa.GiB

// A hostRow is one row of vHost, before its host has an ID.
type hostRow struct {
	host                         numa.Host
	id, date                     string // managed object reference, and date of the row
	vcenter, datacenter, cluster string
	vms, all, vcpus, vram        int            // VMs, vCPUs and configured MiB that it runs, and all VMs with the others; 0 if no column states it
	nodes                        numa.Fact[int] // number of nodes, if a column states it
	odd                          bool           // it is inconsistent
	tiered                       bool           // its memory includes a slower tier, so no row has the memory of the nodes
}

// readHosts reads vHost, or the tables of hosts from other programs.
func (x *export) readHosts(n *notes) ([]hostRow, error) {
	var hosts []hostRow
	list := func(t *table) error {
		more, err := x.listHosts(t, n)
		hosts = append(hosts, more...)
		return err
	}
	if x.sheet("vInfo") != nil || x.all("hosts") == nil && x.all("VMs") == nil {
		err := x.optional("vHost", n, list, "Host")
		return hosts, err
	}
	var read []*table
	for _, s := range x.all("hosts", "vHost") {
		t, err := x.table(s, n)
		if err != nil {
			return nil, err
		}
		if t == nil {
			continue
		}
		read = append(read, t)
		if err := list(t); err != nil {
			return nil, err
		}
	}
	n.noteMissing(read)
	return hosts, nil
}

// listHosts reads a sheet of hosts.
func (x *export) listHosts(t *table, n *notes) ([]hostRow, error) {
	var hosts []hostRow
	var nameless, foreign tally
	err := x.rowsOf(t, func() {
		h := hostRow{
			id:         bareID(t.text("Object ID")),
			date:       t.text(dateKey),
			vcenter:    t.vcenter(),
			datacenter: t.text("Datacenter"),
			cluster:    t.text("Cluster"),
		}
		name := cmp.Or(t.text("Host"), h.id)
		if name == "" {
			nameless.add("row " + strconv.Itoa(t.row))
			return
		}
		if t.foreign() {
			foreign.add(name)
			return
		}
		if kind := t.text("parent.type"); kind != "" && !strings.EqualFold(kind, "ClusterComputeResource") {
			h.cluster = "" // a standalone host
		}
		t.subject = "host " + name
		for column, to := range map[string]*int{"# VMs": &h.vms, "# VMs total": &h.all, "# vCPUs": &h.vcpus, "vRAM": &h.vram} {
			*to = int(t.intFact(column, 0, 1<<24).Value)
		}
		readHost(t, name, &h)
		h.host.At = x.base
		hosts = append(hosts, h)
	})
	n.tallied(t.sheet.place(), foreign, "host is", "hosts are", "of another hypervisor than ESXi: left out")
	n.tallied(t.sheet.place(), nameless, "row names", "rows name", "no host: left out")
	return newest(t, "host", hosts, func(h *hostRow) dated { return dated{h.vcenter, h.id, h.host.Name, h.date} }), err
}

// readHost reads the facts of the host in the current row of t.
func readHost(t *table, name string, r *hostRow) {
	h := &r.host
	*h = numa.Host{
		Name:           name,
		Vendor:         t.stringFact("Vendor"),
		Model:          t.stringFact("Model"),
		CPUModel:       t.stringFact("CPU Model"),
		CoreMHz:        t.mhz("Speed", 1, numa.MaxCoreMHz),
		Packages:       t.count("# CPU", numa.MaxNodes),
		Cores:          t.count("# Cores", maxCores),
		HyperThreading: t.boolFact("HT Active"),
		Memory:         t.bytes("# Memory", leastMemory, numa.MaxHostMemory),
		PowerPolicy:    t.stringFact("Host Power Policy"),
		EVC:            t.stringFact("Current EVC"),
		Maintenance:    t.boolFact("in Maintenance Mode"),
	}
	if m := processors.FindStringSubmatch(h.CPUModel.Value); m != nil {
		if n, _ := strconv.Atoi(m[1]); !h.Packages.Known() {
			h.Packages = numa.DerivedFrom(n, t.place("CPU Model").header)
		} else if h.Packages.Value != n {
			t.bad("CPU Model", fmt.Sprintf("the cells contradict each other: found %s, but %s: the NUMA nodes are unknown", words.Plural(n, "processor"), words.Plural(h.Packages.Value, "package")))
			h.Packages = numa.Fact[int]{}
		}
	}
	readConnection(t, h)
	if name, ok := powerPolicies[strings.ToLower(h.PowerPolicy.Value)]; ok {
		h.PowerPolicy.Value = name
	}
	readRelease(t, h)
	r.tiered = readTiers(t, h)
	h.Threads = t.count("CPU Threads", 2*maxCores)
	perPackage := t.count("Cores per CPU", maxPackageCores)
	if !perPackage.Known() && h.Threads.Value > 2*h.Cores.Value && h.Packages.Known() { // no core has more than two: they are those of a package
		perPackage, h.Cores = h.Cores, perPackage
	}
	if !perPackage.Known() && h.Packages.Known() && h.Cores.Value%h.Packages.Value == 0 {
		perPackage = h.Cores
		perPackage.Value /= h.Packages.Value
	}
	if !h.Cores.Known() && h.Packages.Known() && perPackage.Known() {
		h.Cores = numa.DerivedFrom(h.Packages.Value*perPackage.Value, "packages × cores per package")
	}
	deriveThreads(h)
	if readNodes(t, h) || readNodeCount(t, r) || !h.Packages.Known() || !perPackage.Known() {
		return
	}
	if h.Packages.Value*perPackage.Value != h.Cores.Value || perPackage.Value > maxPackageCores {
		r.odd = true
		h.Doubt = fmt.Sprintf("has %d cores but %s with %d cores each", h.Cores.Value, words.Plural(h.Packages.Value, "package"), perPackage.Value)
		t.notes.add(t.rowPlace(), "host "+name+" "+h.Doubt+": its NUMA nodes are unknown")
		return
	}
	why := cmp.Or(map[bool]string{true: "the table"}[t.kind.generic()], "RVTools") + " has no NUMA nodes"
	h.Nodes = h.PackageNodes(perPackage.Value, why)
}

// processors matches the number of processors before their model, "2x Gold 6248R".
var processors = pattern.Of(`^([1-9]\d?) ?[x×*] ?`)

// deriveThreads derives unknown threads: two per core, or one without hyper-threading. ESXi runs on x86.
func deriveThreads(h *numa.Host) {
	if h.Threads.Known() || !h.Cores.Known() || !h.HyperThreading.Known() {
		return
	}
	threads := h.Cores.Value
	if h.HyperThreading.Value {
		threads *= 2
	}
	h.Threads = numa.DerivedFrom(threads, "cores and HT Active")
}

// readNodeCount sets the nodes of a host whose number of nodes is stated. They are unknown if the number is impossible.
func readNodeCount(t *table, r *hostRow) bool {
	n := t.intFact("node count", 0, numa.MaxNodes)
	r.nodes = numa.Fact[int]{Value: max(int(n.Value), 1), Origin: n.Origin}
	if !n.Known() || !r.host.Packages.Known() || !r.host.Cores.Known() {
		return false
	}
	return setNodeCount(t, &r.host, "node count", r.nodes.Value)
}

// setNodeCount sets n nodes, as stated in a column.
func setNodeCount(t *table, h *numa.Host, column string, n int) bool {
	if err := h.SetNodeCount(n, t.origin(column)); err != nil {
		t.bad(column, fmt.Sprintf("%v: its NUMA nodes are unknown", err))
	}
	return true
}

// connections maps the squashed connection states of programs to those of the API. Programs write them in their own case:
// "Connected" or "NOT_RESPONDING".
var connections = map[string]string{"connected": "connected", "disconnected": "disconnected", "notresponding": "notResponding", "maintenance": "connected",
	// The numbers that ConvertTo-Json writes for VMHostState of PowerCLI, in the order of the states in its reference.
	"0": "connected", "1": "disconnected", "2": "notResponding", "3": "connected"}

// readConnection reads the connection state of a host. In PowerCLI it includes maintenance mode.
func readConnection(t *table, h *numa.Host) {
	state := t.stringFact("Connection State")
	if !state.Known() {
		return
	}
	value, ok := connections[squash(state.Value)]
	if !ok {
		t.bad("Connection State", "found "+quote(state.Value)+", want connected, disconnected or notResponding")
		return
	}
	if s := squash(state.Value); s == "maintenance" || s == "3" {
		h.Maintenance = numa.ReadAt(true, state.Origin.Where)
	}
	h.Connection = numa.ReadAt(value, state.Origin.Where)
}

// readTiers reads, and reports, whether the memory of the host includes a slower tier (rule book A-12). RVTools does not state
// the size of the DRAM: it is then unknown.
func readTiers(t *table, h *numa.Host) (tiered bool) {
	kind := t.stringFact("Memory Tiering Type")
	switch strings.ToLower(kind.Value) {
	case "notiering", "hardwaretiering":
		h.TierMemory = numa.ReadAt(numa.Bytes(0), kind.Origin.Where)
	case "softwaretiering":
		tiered = true
		if h.Memory.Known() {
			t.notes.add(t.rowPlace(), fmt.Sprintf(
				"host %s has %s with its slower memory tier (softwareTiering); how much of it is DRAM, and so the memory of its nodes, is unknown: say it with --assume-host", h.Name, h.Memory.Value))
			h.Memory = numa.Fact[numa.Bytes]{}
		}
	}
	return tiered
}

// powerPolicies maps the short names in the API (HostPowerPolicy.shortName), which RVTools prints, to the names in the vSphere
// Client.
var powerPolicies = map[string]string{
	"static":  "High Performance",
	"dynamic": "Balanced",
	"low":     "Low Power",
	"custom":  "Custom",
}

var buildForm = pattern.Of(`(?i)\bbuild[- ](\d{4,9})\b`)

// readRelease parses "VMware ESXi 7.0.3 build-21930508".
func readRelease(t *table, h *numa.Host) {
	full, version := t.stringFact("ESX Version"), t.stringFact("version")
	if _, err := numa.ParseRelease(full.Value); version.Known() && err != nil { // "VMware ESXi"
		full = version
	}
	if !full.Known() {
		return
	}
	if b := t.intFact("build", 1, 1<<31); b.Known() {
		h.Build = numa.ReadAt(int(b.Value), b.Origin.Where)
	}
	release, err := numa.ParseRelease(full.Value)
	if err != nil {
		t.bad("ESX Version", "found "+quote(full.Value)+", want a release such as VMware ESXi 7.0.3 build-21930508")
		return
	}
	if m := buildForm.FindStringSubmatch(full.Value); m != nil {
		if build, err := strconv.Atoi(m[1]); err == nil {
			h.Build = numa.ReadAt(build, full.Origin.Where)
		}
	}
	release = release.WithBuild(h.Build.Value)
	h.Release = numa.ReadAt(release, full.Origin.Where)
}
