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
	"embed"
	"strconv"
	"strings"

	"homenode/numa"
	"homenode/numa/datafile"
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
const Source = "b-dump"

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

// published are the measurements, and what the article computes from them.
//
//go:embed *.txt
var published embed.FS

// Hosts are the measured hosts by RAM.
var Hosts = measured()

// measured reads the hosts.
func measured() []Host {
	var out []Host
	for _, r := range datafile.Must[struct {
		Name             string
		Release          numa.Release
		Build            int
		RAM, File        numa.Bytes
		Idle, Production []float64
		Dumps            []float64
		Note             string
	}](published, "hosts.txt") {
		h := Host{Name: r.Name, Release: r.Release, Build: r.Build, RAM: r.RAM, File: r.File, Dumps: r.Dumps, Note: r.Note}
		for _, mb := range [][]float64{r.Production, r.Idle} {
			if mb != nil {
				h.States = append(h.States, State{len(h.States) == 0 && r.Production != nil, mb[0], mb[1], mb[2], mb[3]})
			}
		}
		out = append(out, h)
	}
	return out
}
