// Package hostcmd parses the output of ESXi shell commands: sched-stats, the memory screen of
// esxtop, memstats, vsish, esxcli, vmware -vl and uname, saved or pasted, one output or several after another.
package hostcmd

import (
	"example.org/homenode/numa"
	"example.org/homenode/source/fact"
)

// An Output is the output of one command.
type Output struct {
	Format  string // one of the Formats
	Line    int    // where the output begins, from 1
	Command string // as typed; empty when the file has no prompt
	// Result is the typed result: Moment, Clients, NodeLoads, ClientMemory, Screen, MemoryStats or
	// nil, when File has all the data.
	Result any

	// Host holds the facts of the host in the output; its name is from the prompt, or from uname.
	// Hosts joins those of several outputs.
	Host numa.Host

	nodes   []nodeFacts // by the order of the file
	nodeNum numa.Fact[int]
	file    fact.File
}

// nodeFacts is an output's data about one NUMA node.
type nodeFacts struct {
	id      int
	memory  numa.Fact[numa.Bytes]
	threads numa.Fact[int]
}

// The supported formats.
const (
	NUMAClients   = "sched-stats -t numa-clients"
	NUMAPNode     = "sched-stats -t numa-pnode"
	NUMACNode     = "sched-stats -t numa-cnode"
	NCPUs         = "sched-stats -t ncpus"
	NUMAMigration = "sched-stats -t numa-migration"
	EsxtopMemory  = "esxtop memory screen"
	Memstats      = "memstats"
	Vsish         = "vsish"
	CPUGlobal     = "esxcli hardware cpu global get"
	HardwareMem   = "esxcli hardware memory get"
	PCIList       = "esxcli hardware pci list"
	Platform      = "esxcli hardware platform get"
	VersionGet    = "esxcli system version get"
	CoredumpFiles = "esxcli system coredump file list"
	CoredumpGet   = "esxcli system coredump file get"
	AdvancedList  = "esxcli system settings advanced list"
	KernelList    = "esxcli system settings kernel list"
	VMwareVersion = "vmware -v"
	Uname         = "uname -a"
	Vmdumper      = "vmdumper -l"
	Volumes       = "df -h"
)

// File returns the facts of the output.
func (o *Output) File() *fact.File { return &o.file }

// at returns a place of the file for an origin.
func (o *Output) at(line, col int) string { return o.file.At(line, col) }

// Clients are the NUMA clients of sched-stats -t numa-clients: a wide VM has several.
type Clients []Client

// A Client is one row of numa-clients.
type Client struct {
	Line    int
	Group   string // vm.<cartel>, not the name of the VM
	GroupID int64  // esxtop calls it GID
	ID      int    // 0, 1, … within the group
	Home    int    // node; -1 for none
	// Affinity is the set of nodes it may run on.
	Affinity      uint64
	Worlds        int        // of the client
	VCPUs         int        // number of vCPUs among them
	Local, Remote numa.Bytes // both -1 when the right edge of the table is cut
	// CurrentLocal and LifetimeLocal are percent, truncated; -1 when the right edge of the table is cut.
	CurrentLocal, LifetimeLocal int
}

// NodeLoads are the nodes of sched-stats -t numa-pnode.
type NodeLoads []NodeLoad

// A NodeLoad is one row of numa-pnode. Times are milliseconds in one rebalance period: on hosts
// with 10 cores per node, used and idle add up to 10 × 2000.
type NodeLoad struct {
	ID             int
	Used, Idle     int64 // -1 when not stated
	Entitled, Owed int64
	LoadAverage    int        // percent, over a longer time than Used
	VCPUs          int        // with their home there
	Free, Total    numa.Bytes // -1 when not stated
}

// ClientMemory is sched-stats -t numa-cnode: the memory of each client per node.
type ClientMemory []ClientOnNode

// A ClientOnNode is one row of numa-cnode.
type ClientOnNode struct {
	Line      int
	Group     string
	GroupID   int64
	Client    int
	Node      int
	Time      int64      // how long the client was homed there; the unit is not documented
	TimePct   int        // truncated; -1 when not stated
	Memory    numa.Bytes // -1 when not stated
	MemoryPct int        // truncated; -1 when not stated
}
