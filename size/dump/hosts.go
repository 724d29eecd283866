// Package dump sizes the core dump file of an ESXi host, and by dump.sheet the space left on its boot device.
//
// The measurements of four hosts are published; between them the file is bracketed by its neighbours, outside it is extrapolated. All sizes
// are bytes, and print as binary GiB: the article with the measurements mixes binary and decimal GB, a difference of 7 %.
package dump

import (
	"embed"
	"fmt"
	"sync"

	"example.org/homenode/numa"
	"example.org/homenode/numa/unit"
	"example.org/homenode/size/datafile"
	"example.org/homenode/size/sheet"
)

// A Host is a host with a measured core dump file.
type Host struct {
	Name    string
	Release numa.Release
	Build   int
	RAM     numa.Bytes // as built in
	File    numa.Bytes // of the core dump
	// Idle and Production are the uses of the host's memory, in whole MB (binary), truncated: the VMkernel's total, which is less than the
	// built-in memory, then VMkernel, other, free.
	Idle, Production []float64
	// Dumps are the sizes of its compressed dumps, in MB (binary); nil when there are none.
	Dumps []float64
	Note  string
}

// per returns the file in bytes for each byte of RAM.
func (h *Host) per() float64 { return float64(h.File) / float64(h.RAM) }

// published are the measurements, and the figures that the article computes from them.
//
//go:embed *.txt *.sheet
var published embed.FS

var (
	hosts      = sync.OnceValue(func() []Host { return datafile.Must[Host](published, "hosts.txt") }) // by RAM
	calculator = sheet.Load(published, "dump.sheet")
	ofFleet    = sheet.Load(published, "fleet.sheet")
)

// Checks returns the published figures on core dumps with the recomputed ones: h256.file is that of the host of 256 GB.
func Checks() []unit.Check {
	hosts := hosts()
	values := map[string]any{"hosts": sheet.Plain(float64(len(hosts)), "")}
	for i := range hosts {
		h := &hosts[i]
		put := func(name string, v float64) {
			values[fmt.Sprintf("h%d.%s", h.RAM/numa.GiB, name)] = sheet.Plain(v, "")
		}
		put("ram", float64(h.RAM))
		put("file", float64(h.File))
		put("reported", h.Idle[0])
		put("kernel", h.Idle[1])
		put("free", h.Idle[3])
		put("idle", h.Idle[1]+h.Idle[2]+h.Idle[3])
		if h.Production != nil {
			put("production", h.Production[1]+h.Production[2]+h.Production[3])
		}
		sum := 0.0
		for _, mb := range h.Dumps {
			sum += mb
		}
		put("sum", sum)
		put("dumps", float64(len(h.Dumps)))
		if h.Dumps != nil {
			put("first", h.Dumps[0])
		}
	}
	return calculator.Checks(published, sheet.Input{Values: values}, nil)
}
