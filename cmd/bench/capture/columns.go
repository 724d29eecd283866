//go:build linux

package main

import (
	"fmt"
	"strings"
)

// A kind is a pattern of the cells of a column.
type kind uint8

const (
	zero    kind = iota // always "0.00", as most rates of most objects are
	fixed               // the same text in every row
	rarely              // "0.00" in nine of ten rows
	rate                // 0.00 to about 200.00
	percent             // 0.00 to 99.99
	whole               // an integer that varies a little around base
	amount              // the same with two decimals
	load                // a load such as 0.07
	pcpu                // like percent; base is the PCPU
	ofAll               // mean of all PCPUs
	ofNode              // mean of the PCPUs of a node; base is the node
	homes               // this kind and those below belong to a VM: column.vm
	moved
	remote
	local
	share
)

// A column is one column of the generated capture.
type column struct {
	path string
	kind kind
	base int64 // of whole and amount: the typical value
	text string
	vm   int32
}

// A layout collects the columns in esxtop's order.
type layout struct {
	columns []column
	vms     []machine
	busy    [nodes]int64 // of the current row: sum of its pcpu cells so far
}

// add appends the counters of one instance of an object. instance may be empty.
func (l *layout) add(object, instance string, counters []string, vm int) {
	if instance != "" {
		object += "(" + instance + ")"
	}
	for _, counter := range counters {
		c := kindOf(object, counter)
		c.path = `\\esx01.example.com\` + object + `\` + counter
		c.vm = int32(vm)
		if vm >= 0 {
			c.ofVM(counter, &l.vms[vm])
		}
		l.columns = append(l.columns, c)
	}
}

// kindOf returns the kind for a counter, according to its name.
func kindOf(object, counter string) column {
	switch {
	case counter == "Alloc Max" || counter == "Alloc Min Limited":
		return column{kind: fixed, text: "-1"}
	case counter == "Alloc Shares":
		return column{kind: fixed, text: "-3"}
	case counter == "Alloc Min" || strings.HasPrefix(counter, "Numa ") || strings.HasSuffix(counter, "?") || counter == "Kernel State":
		return column{kind: fixed, text: "0"}
	case counter == "Members":
		return column{kind: fixed, text: "1"}
	case strings.Contains(counter, "Minute Avg"):
		return column{kind: load}
	case strings.HasPrefix(object, "Numa Node") && counter == "Total MBytes":
		return column{kind: fixed, text: fmt.Sprint(nodeMB)}
	case counter == "Free MBytes":
		return column{kind: whole, base: nodeMB / 6}
	case object == "Memory":
		return column{kind: whole, base: nodeMB}
	case strings.HasPrefix(object, "PCPU"):
		if strings.HasPrefix(counter, "%T-") || strings.HasPrefix(counter, "%P-State P1") {
			return column{kind: zero}
		}
		return column{kind: percent}
	case counter == "P-State MHZ" || counter == "Effective Min" || counter == "Physical Cpu" || counter == "Power Usage Now Watts":
		return column{kind: whole, base: 2600}
	case counter == "% Wait" || counter == "% Idle" || counter == "% VmWait":
		return column{kind: amount, base: 10_000}
	case counter == "% Used" || counter == "% Run":
		return column{kind: percent}
	case counter == "Switches/sec" || counter == "Wakeups/sec" || counter == "Timers/sec" || strings.HasPrefix(object, "Interrupt"):
		return column{kind: rate}
	case strings.HasPrefix(object, "Physical Disk") || strings.HasPrefix(object, "Virtual Disk") || strings.HasPrefix(object, "Network Port"):
		return column{kind: rarely}
	case counter == "% Ready" || counter == "% System" || counter == "% Overlap" || counter == "Migrates/sec":
		return column{kind: rarely}
	}
	return column{kind: zero}
}

// ofVM sets the value of a column in a VM's groups.
func (c *column) ofVM(counter string, m *machine) {
	switch counter {
	case "Members":
		c.text = fmt.Sprint(m.vcpus + otherWorlds)
	case "Numa Home Nodes":
		c.kind = homes
	case "Numa Rebalance Count Delta":
		c.kind = moved
	case "Numa Remote Memory MBytes":
		c.kind = remote
	case "Numa Local Memory MBytes":
		c.kind = local
	case "Numa % Local":
		c.kind = share
	case "% Ready", "% CoStop":
		c.kind = percent
	case "Memory Size MBytes", "Memory Granted Size MBytes", "Memory Consumed Size MBytes", "Target Size MBytes",
		"Touched MBytes", "Commit Target", "Commit Charged MBytes", "Shared MBytes", "Zero MBytes":
		c.kind, c.base = amount, int64(m.sizeMB)*100
	case "% Wait", "% Idle", "% VmWait":
		c.kind, c.base = amount, int64(m.vcpus+otherWorlds)*10_000
	}
}

// Counters of each object, as written by ESXi (docs/reference/sources.md).
var (
	overcommit = []string{"Memory Overcommit (1 Minute Avg)", "Memory Overcommit (5 Minute Avg)", "Memory Overcommit (15 Minute Avg)"}
	loads      = []string{"Cpu Load (1 Minute Avg)", "Cpu Load (5 Minute Avg)", "Cpu Load (15 Minute Avg)"}
	memory1    = []string{"Machine MBytes", "Kernel MBytes", "NonKernel MBytes", "Free MBytes", "Kernel Managed MBytes", "Kernel MinFree MBytes",
		"Kernel Reserved MBytes", "Kernel Unreserved MBytes", "Kernel State"}
	memory2 = []string{"PShare Shared MBytes", "PShare Common MBytes", "PShare Savings MBytes", "Swap Used MBytes", "Swap Target MBytes",
		"Swap MBytes Read/sec", "Swap MBytes Write/sec", "Total Compressed MBytes", "Total Saved By Compression MBytes",
		"Memctl Current MBytes", "Memctl Target MBytes", "Memctl Max MBytes"}
	power    = []string{"Power Usage Now Watts", "Power Usage Cap Watts"}
	schedule = []string{"% Used", "% Run", "% System", "% Wait", "% VmWait", "% Ready", "% Idle", "% Overlap", "% CoStop", "% Max Limited",
		"% Swap Wait", "Switches/sec", "Migrates/sec", "Quantum Expires/sec", "Wakeups/sec", "Alloc Min", "Alloc Max", "Alloc Shares",
		"Alloc Min Limited", "% CPU Latency", "% Memory Latency", "% Demand", "Effective Min"}
	groupMemory = []string{"Members", "Alloc Min", "Alloc Max", "Alloc Shares", "Alloc Min Limited", "Numa Home Nodes",
		"Numa Rebalance Count Delta", "Numa Remote Memory MBytes", "Numa Local Memory MBytes", "Numa % Local", "Memory Size MBytes",
		"Memory Granted Size MBytes", "Memory Consumed Size MBytes", "Target Size MBytes", "Touched MBytes", "Touched Write MBytes",
		"% Active Estimate", "% Active Slow Estimate", "% Active Fast Estimate", "% Active Next Estimate", "Memctl?", "Memctl MBytes",
		"Memctl Target MBytes", "Memctl Max MBytes", "Swapped MBytes", "Swap Target MBytes", "Swap Read MBytes/sec", "Swap Written MBytes/sec",
		"Llswap Read MBytes/sec", "Llswap Written MBytes/sec", "Checkpoint Read MBytes", "Checkpoint Target MBytes", "Zero MBytes",
		"Shared MBytes", "Shared Saved MBytes", "Copy On Write Hint MBytes", "Overhead UW MBytes", "Overhead MBytes", "Overhead Max MBytes",
		"Min Commit Target", "Commit Target", "Commit Charged MBytes", "Commit Pages Per Share", "Compressed Memory MBytes",
		"Used Compressed Memory MBytes", "Compression MBytes/sec", "Decompression MBytes/sec"}
	disk = []string{"Commands/sec", "Reads/sec", "Writes/sec", "MBytes Read/sec", "MBytes Written/sec", "Average Driver MilliSec/Command",
		"Average Kernel MilliSec/Command", "Average Guest MilliSec/Command", "Average Queue MilliSec/Command", "Average Driver MilliSec/Read",
		"Average Kernel MilliSec/Read", "Average Guest MilliSec/Read", "Average Queue MilliSec/Read", "Average Driver MilliSec/Write",
		"Average Kernel MilliSec/Write", "Average Guest MilliSec/Write", "Average Queue MilliSec/Write"}
	virtualDisk = []string{"FailedIOs", "TotalIOs", "Latency", "Commands/sec", "Reads/sec", "Writes/sec", "MBytes Read/sec", "MBytes Written/sec",
		"Average MilliSec/Read", "Average MilliSec/Write"}
	port = []string{"Link Up?", "Link Speed (Mb/s)", "Full Duplex?", "Packets Transmitted/sec", "MBits Transmitted/sec",
		"Average Packet Size  Transmitted (Bytes)", "Packets Received/sec", "MBits Received/sec", "Average Packet Size Received (Bytes)",
		"% Outbound Packets Dropped", "% Received Packets Dropped", "Actions Posted/sec", "Multicast Packets Transmitted/sec",
		"Multicast Packets Received/sec", "Broadcast Packets Transmitted/sec", "Broadcast Packets Received/sec"}
	interrupt = []string{"Interrupts/second", "Processing Time MicroSec/Interrupt"}
)

// otherWorlds is the number of worlds of a VM besides its vCPUs.
const otherWorlds = 6
