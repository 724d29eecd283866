package machine

import (
	"encoding/binary"
	"errors"
	"io/fs"

	"example.org/homenode/numa"
)

const sratFile = "sys/firmware/acpi/tables/SRAT"

// hotAdd reads from the firmware's SRAT a fact missing in sysfs: memory that may be added.
func (t *tree) hotAdd() {
	table, err := t.bytes(sratFile)
	switch {
	case errors.Is(err, fs.ErrPermission):
		t.missing("memory hot add", reason(err), "run as root")
	case err == nil:
		t.Topology.HotAddMemory = hotPluggable(table)
	}
}

// hotPluggable adds up the memory that an SRAT marks as enabled and hot-pluggable (ACPI 6.5, 5.2.16.2).
// A truncated table counts up to its end.
func hotPluggable(table []byte) (sum numa.Bytes) {
	const (
		header      = 48
		affinity    = 1  // type of a memory affinity structure
		size        = 40 // length of that structure
		length      = 16 // offset of the memory's length in the structure
		flags       = 28
		enabled     = 1
		hotPlug     = 2
		mostAtAll   = 1 << 52 // physical addresses have at most this many bits
		smallestRow = 2
	)
	if len(table) < header || string(table[:4]) != "SRAT" {
		return 0
	}
	for rest := table[header:]; len(rest) >= smallestRow; {
		n := int(rest[1])
		if n < smallestRow || n > len(rest) {
			break
		}
		if f := rest[:n]; f[0] == affinity && n >= size && binary.LittleEndian.Uint32(f[flags:])&(enabled|hotPlug) == enabled|hotPlug {
			if bytes := binary.LittleEndian.Uint64(f[length:]); bytes <= mostAtAll && uint64(sum)+bytes <= mostAtAll {
				sum += numa.Bytes(bytes)
			}
		}
		rest = rest[n:]
	}
	return sum
}
