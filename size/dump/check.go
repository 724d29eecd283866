package dump

import (
	"fmt"
	"math"

	"homenode/numa/unit"
)

// Checks returns the published figures on core dumps beside what they come to.
func Checks() []unit.Check {
	out := memoryChecks()
	out = append(out, fileChecks()...)
	out = append(out, ratioChecks()...)
	out = append(out, rowChecks()...)
	return append(out, layoutChecks()...)
}

// host returns a measured host by its RAM in GB.
func host(gb int) *Host {
	for i := range Hosts {
		if int(Size(Hosts[i].RAM)/GiB) == gb {
			return &Hosts[i]
		}
	}
	panic(fmt.Sprintf("no host of %d GB was measured", gb))
}

// sizeName is the RAM as the article writes it.
func sizeName(h *Host) string {
	if h.RAM > 1<<40 {
		return "1.5 TB host"
	}
	return fmt.Sprintf("%.0f GB host", float64(Size(h.RAM)/GiB))
}

// memoryChecks add the memory of each host up.
func memoryChecks() []unit.Check {
	var out []unit.Check
	for i := range Hosts {
		h := &Hosts[i]
		for _, s := range h.States {
			state := "maintenance"
			if s.Production {
				state = "production"
			}
			p := unit.Check{
				ID: "B-12", What: sizeName(h) + ", " + state, Quantity: "memory, MB", Printed: unit.Grouped(s.RAM, 0),
				Computed: s.VMkernel + s.Other + s.Free, Within: 3, Note: "VMkernel + other + free, each cut off to whole MB",
			}
			if s.RAM-p.Computed > 3 {
				p.Inconsistency, p.Note = "I-15", unit.Grouped(s.RAM-p.Computed, 0)+" MB are missing: other memory is printed as that of the VMkernel"
			}
			out = append(out, p)
		}
	}
	big := host(1536).Idle()
	return append(out,
		unit.Check{
			ID: "B-12", What: "1.5 TB host, maintenance", Quantity: "other memory, MB", Printed: "2,705", Computed: big.RAM - big.VMkernel - big.Free,
			Inconsistency: "I-15", Note: "what the total leaves for it",
		},
		unit.Check{
			ID: "B-12", What: "1.5 TB host", Quantity: "RAM, GB", Printed: "1.5", Computed: float64(Size(host(1536).RAM) / GiB),
			Inconsistency: "I-15", Note: "printed as GB where TB is meant",
		},
		unit.Check{
			ID: "B-12", What: "all hosts", Quantity: "configurations", Printed: "3", Computed: float64(len(Hosts)),
			Inconsistency: "I-15", Note: "three are announced, four are shown",
		})
}

// fileChecks hold the printed sizes beside the bytes: two are binary, two decimal.
func fileChecks() []unit.Check {
	var out []unit.Check
	for _, f := range []struct {
		gb      int
		printed string
		unit    Size
	}{{128, "2.27", GiB}, {256, "3.6", GiB}, {512, "8.16", GB}, {1536, "16.1", GB}} {
		h := host(f.gb)
		note := "from the bytes, binary"
		if f.unit == GB {
			note = "from the bytes, decimal"
		}
		out = append(out, unit.Check{
			ID: "B-12", What: sizeName(h), Quantity: "file, GB", Printed: f.printed, Computed: float64(Size(h.File) / f.unit), Note: note,
		})
		if f.unit == GB {
			out = append(out, unit.Check{
				ID: "B-12", What: sizeName(h), Quantity: "file, GiB", Printed: f.printed, Computed: float64(Size(h.File) / GiB),
				Inconsistency: "I-16", Note: "binary, as the two smaller hosts are printed",
			})
		}
	}
	return append(out, unit.Check{
		ID: "B-12", What: "512 GB host", Quantity: "zdump, GB", Printed: "4.6", Computed: host(512).Dumps[0] / 1024, Note: "4,710 MB, binary",
	})
}

// ratioChecks compare the hosts as the article does.
func ratioChecks() []unit.Check {
	a, b, c := host(128), host(256), host(512)
	const small, large = "128 GB over 256 GB host", "512 GB over 256 GB host"
	return []unit.Check{
		{ID: "B-12", What: small, Quantity: "VMkernel memory", Printed: "~0.5", Computed: a.Idle().VMkernel / b.Idle().VMkernel, Note: "printed as half"},
		{ID: "B-12", What: small, Quantity: "file, %", Printed: "~60%", Computed: 100 * float64(a.File) / float64(b.File), Within: 5, Note: "printed to tens"},
		{ID: "B-12", What: small + ", inverse", Quantity: "zdump, times", Printed: "~4", Computed: b.Dumps[0] / a.Dumps[0], Note: "the first of 14 dumps"},
		{ID: "B-12", What: large, Quantity: "VMkernel memory, times", Printed: "~2", Computed: c.Idle().VMkernel / b.Idle().VMkernel},
		{
			ID: "B-12", What: large, Quantity: "file, times", Printed: "~2.25", Computed: float64(c.File) / float64(b.File),
			Inconsistency: "I-16", Note: "8.16 decimal over 3.6 binary GB; from the bytes it is less",
		},
		{ID: "B-12", What: large, Quantity: "zdump, times", Printed: "~10", Computed: c.Dumps[0] / b.Dumps[0], Note: "the article has no explanation"},
	}
}

// rowChecks are those of the 14 dumps in a row.
func rowChecks() []unit.Check {
	h := host(256)
	var sum float64
	for _, mb := range h.Dumps {
		sum += mb
	}
	later := (sum - h.Dumps[0]) / float64(len(h.Dumps)-1)
	full := float64(Size(h.File)/MiB) / 300
	return []unit.Check{
		{ID: "B-13", What: "14 dumps in a row", Quantity: "total, GB", Printed: "4.2", Computed: sum / 1024, Note: "more than the file of 3.6 GB: it keeps one dump"},
		{ID: "B-13", What: "14 dumps in a row", Quantity: "dumps", Printed: "14", Computed: float64(len(h.Dumps))},
		{ID: "B-13", What: "dumps 2 to 14", Quantity: "mean, MB", Printed: "~300", Computed: later, Within: 5, Note: "printed to tens"},
		{
			ID: "B-13", What: "dumps of 300 MB that overflow the file", Quantity: "dumps", Printed: "13", Computed: math.Ceil(full),
			Note: fmt.Sprintf("%.1f fill it", full),
		},
	}
}

// layoutChecks are those of the boot devices.
func layoutChecks() []unit.Check {
	var out []unit.Check
	for _, d := range []struct {
		what            string
		boot            Size
		osdata, printed string
		parts           Size // of ESX-OSData, as printed
	}{
		{"128 GB disk", 128 * GiB, "119.9", "128", 119.9 * GiB},
		{"32 GB disk", 32 * GiB, "23.9", "32", 23.9 * GiB},
	} {
		l, _ := Divide(d.boot, MediaDefault) // of sizes that are in the table of the manual
		out = append(out,
			unit.Check{ID: "B-14", What: d.what, Quantity: "ESX-OSData, GB", Printed: d.osdata, Computed: float64(l.OSData / GiB), Note: "disk − 101 MB − 2 × 4 GB, binary"},
			unit.Check{ID: "B-14", What: d.what, Quantity: "sum of the partitions, GB", Printed: d.printed, Computed: float64((l.Loader + 2*l.Bank + d.parts) / GiB)})
	}
	for _, v := range []struct {
		what                    string
		size, used              float64 // in GB
		free, percent, usedText string
	}{
		{"VMFSOS", 119.8, 5.2, "114.6", "4%", "5.2 GB"},
		{"BOOTBANK1", 4, 274.1 / 1024, "3.7", "7%", "274.1 MB"},
		{"BOOTBANK2", 4, 338.9 / 1024, "3.7", "8%", "338.9 MB"},
	} {
		out = append(out,
			unit.Check{ID: "B-14", What: v.what + ", 256 GB host", Quantity: "free, GB", Printed: v.free, Computed: v.size - v.used, Note: v.usedText + " used"},
			unit.Check{ID: "B-14", What: v.what + ", 256 GB host", Quantity: "used, %", Printed: v.percent, Computed: 100 * v.used / v.size})
	}
	const osdata = 23.9
	file := Size(host(1536).File)
	return append(out,
		unit.Check{ID: "B-14", What: "32 GB disk", Quantity: "ESX-OSData less 20 %, GB", Printed: "19.1", Computed: osdata * 0.8},
		unit.Check{ID: "B-14", What: "32 GB disk, 1.5 TB host", Quantity: "left for logs, GB", Printed: "3", Computed: osdata*0.8 - float64(file/GB), Note: "with the file in decimal GB, as printed"},
		unit.Check{
			ID: "B-14", What: "32 GB disk, 1.5 TB host", Quantity: "left for logs, GiB", Printed: "3", Computed: osdata*0.8 - float64(file/GiB),
			Inconsistency: "I-17", Note: "all in binary GB, which the disk is: 32.0 is its sum",
		},
		unit.Check{
			ID: "B-14", What: "32 GB disk, 1.5 TB host", Quantity: "file, GiB", Printed: "16.1", Computed: float64(file / GiB),
			Inconsistency: "I-17", Note: "decimal GB inside a binary partition",
		})
}
