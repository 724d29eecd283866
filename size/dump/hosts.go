// Package dump sizes the core dump file of an ESXi host and what its boot device has
// left beside it.
//
//	ESX-OSData = boot device − boot loader − 2 boot banks
//	usable     = ESX-OSData × (1 − reserve)
//	left       = usable − core dump file      for logs and traces
//
// Four hosts were measured and published; between them the file is bracketed by its
// neighbours, outside it is extrapolated. All sizes are bytes, and print as binary GiB:
// the article that measured mixes binary and decimal GB, which is worth 7 %.
package dump

import (
	"strconv"
	"strings"

	"homenode/numa"
	"homenode/numa/unit"
)

// A Size is an amount of disk space or memory in bytes.
type Size float64

// Units of sizes. GB is the decimal one, in which disks are sold.
const (
	MiB Size = 1 << 20
	GiB Size = 1 << 30
	GB  Size = 1e9
)

// String returns s as "15.0 GiB", with three digits at least: "119.9 GiB", "3.62 GiB",
// "0.10 GiB".
func (s Size) String() string {
	v := float64(s / GiB)
	after := 1
	if v < 9.995 && v > -9.995 {
		after = 2
	}
	text := unit.Grouped(v, after)
	if whole, rest, found := strings.Cut(text, "."); found && strings.Trim(rest, "0") == "" && v == float64(int64(v)) {
		text = whole
	}
	return text + " GiB"
}

// Decimal returns s in the unit in which disks are sold: "16.1 GB".
func (s Size) Decimal() string {
	return strconv.FormatFloat(float64(s/GB), 'f', 1, 64) + " GB"
}

// Source is where the measurements are published.
const Source = "exp B-12"

// A Host is one whose core dump file was measured.
type Host struct {
	Name    string       `json:"name"`
	Release numa.Release `json:"release"`
	Build   int          `json:"build"`
	RAM     numa.Bytes   `json:"ram"`  // as built in
	File    numa.Bytes   `json:"file"` // of the core dump
	States  []State      `json:"states"`
	// Dumps are the compressed dumps that were taken, in MB (binary); nil when none was.
	Dumps []float64 `json:"dumps,omitempty"`
	Note  string    `json:"note"`
}

// A State is what the host's memory was used for, in MB (binary), whole ones, cut off.
type State struct {
	Production            bool
	RAM                   float64 // what the VMkernel counts in all; less than is built in
	VMkernel, Other, Free float64
}

// Idle returns the state in maintenance mode, which all four were measured in.
func (h *Host) Idle() State {
	for _, s := range h.States {
		if !s.Production {
			return s
		}
	}
	return State{}
}

// PerGB returns the file in bytes for each byte of RAM.
func (h *Host) PerGB() float64 { return float64(h.File) / float64(h.RAM) }

// Hosts are the measured hosts by RAM. Nobody has measured two of one size, or one with
// two releases.
var Hosts = []Host{
	{
		Name: "esx21", Release: numa.ESXi80 + 3, Build: 24022510, RAM: 128 * numa.GiB, File: 2441084928,
		States: []State{{false, 131008, 694, 1660, 128653}}, Dumps: []float64{111.0},
		Note: "vSAN off, no NSX",
	},
	{
		Name: "dp-esx02", Release: numa.ESXi80 + 3, Build: 24022510, RAM: 256 * numa.GiB, File: 3882876928,
		States: []State{{true, 262034, 1544, 21498, 238991}, {false, 262034, 1453, 4207, 256373}},
		Dumps:  []float64{443.9, 311.2, 304.9, 285.4, 303.2, 316.6, 322.9, 288.3, 283.0, 276.7, 292.5, 289.7, 281.8, 290.3},
		Note:   "vSAN off, NSX",
	},
	{
		Name: "prg03t0-esx05", Release: numa.ESXi70 + 3, Build: 23794027, RAM: 512 * numa.GiB, File: 8162115584,
		States: []State{{true, 524178, 3227, 366140, 154810}, {false, 524178, 2776, 25402, 495998}},
		Dumps:  []float64{4710}, Note: "vSAN and NSX not stated",
	},
	{
		Name: "prg0301-esx36", Release: numa.ESXi70 + 3, Build: 23794027, RAM: 1536 * numa.GiB, File: 16106127360,
		States: []State{{false, 1571489, 2705, 2705, 1561570}},
		Note:   "vSAN and NSX not stated; its memory figures do not add up (I-15)",
	},
}
