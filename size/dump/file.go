package dump

import (
	"fmt"
	"math"
	"strings"

	"example.org/homenode/numa"
	"example.org/homenode/numa/unit"
	"example.org/homenode/size/sheet"
)

// How the size of a file is known.
const (
	Measured     = "measured"     // on a host of this RAM
	Interpolated = "interpolated" // between its two neighbours
	Extrapolated = "extrapolated" // outside the measured range
)

// leastRAM is the least memory of ESXi 8.0: "ESXi 8.0 requires a minimum of 8 GB of
// physical RAM" (VMware, ESXi Installation and Setup, ESXi Requirements; 7.0 has the
// same, 6.5 needs 4 GB).
const leastRAM = 8 * numa.GiB

// keptByFirmware is the part of the built-in memory that a host may not report: the four measured
// hosts report 0.02 to 0.09 % less.
const keptByFirmware = 0.005

// A File is the core dump file of a host.
type File struct {
	Size unit.Figure[float64] // with range Low to High; its note names the source hosts
	How  string
}

// A PartitionError reports a release that keeps dumps in a partition: it has no file.
type PartitionError struct{ Release numa.Release }

func (e *PartitionError) Error() string {
	return fmt.Sprintf("ESXi %s keeps core dumps in a partition, not in a file: 7.0 and later have a file", e.Release)
}

// Of returns the core dump file of a host. A release of 0 counts as 7.0 or later. It returns a
// *PartitionError for one before 7.0.
//
// Between two measured hosts the file is at least that of the smaller one and at most that of the
// larger one, and its share of the RAM lies between theirs; the value is on the straight line
// between them in logarithms. Outside, the value has the share of the nearest host. A larger host
// is assumed to have no smaller file.
func Of(ram numa.Bytes, release numa.Release) (File, error) {
	switch {
	case release != 0 && release < numa.ESXi70:
		return File{}, &PartitionError{release}
	case ram < leastRAM:
		return File{}, fmt.Errorf("found %s, want at least %s: ESXi 7.0 and later need that much", ram, leastRAM)
	case ram > numa.MaxHostMemory:
		return File{}, fmt.Errorf("found %s, want at most %s", ram, numa.MaxHostMemory)
	case release >= numa.ESXi90+1<<16:
		return File{}, fmt.Errorf("found release %s, want 7.0 to 9.x: how later ones size the file is unknown", release)
	}
	var f File
	from, low, value, high := bracket(ram)
	f.Size = unit.Figure[float64]{Value: math.Round(value), Low: math.Round(low), High: math.Round(high), Origin: unit.Derived, Source: "b-dump"}
	first, last := from[0], from[len(from)-1]
	at := func(h *Host) string { return fmt.Sprintf("%s (%s)", sheet.Plain(float64(h.RAM), "gib"), h.Release) }
	switch {
	case len(from) == 2:
		low := at(first)
		if first.Release == last.Release {
			low, _, _ = strings.Cut(low, " (")
		}
		f.How, f.Size.Note = Interpolated, strings.Replace(low, " GiB", "", 1)+" to "+at(last)
	case same(ram, first):
		f.How, f.Size.Origin, f.Size.Hardware, f.Size.Note = Measured, unit.Published, first.Name, "one host, "+first.Release.String()
	default:
		f.How, f.Size.Note = Extrapolated, "extrapolated from "+at(first)
	}
	if release != 0 && first.Release != release && last.Release != release {
		f.Size.Note += fmt.Sprintf("; %s not measured", release)
	}
	return f, nil
}

// same reports whether the RAM equals that of the measured host, apart from the firmware's part.
func same(ram numa.Bytes, h *Host) bool {
	return ram <= h.RAM && float64(ram) >= float64(h.RAM)*(1-keptByFirmware)
}

// bracket returns the measured hosts next to the RAM and the size of the file that follows from them.
func bracket(ram numa.Bytes) (from []*Host, low, value, high float64) {
	hosts := hosts()
	for i := range hosts {
		h := &hosts[i]
		if same(ram, h) {
			f := float64(h.File)
			return []*Host{h}, f, f, f
		}
	}
	r := float64(ram)
	least, most := &hosts[0], &hosts[len(hosts)-1]
	switch {
	case ram < least.RAM:
		// The share grows as RAM shrinks, so the largest measured share is no upper bound here; the
		// file of the smallest host is.
		return []*Host{least}, r * leastShare(), r * least.per(), float64(least.File)
	case ram > most.RAM:
		// The share shrinks as RAM grows: the smallest share is no lower bound.
		return []*Host{most}, float64(most.File), r * most.per(), r * mostShare()
	}
	i := 0
	for hosts[i+1].RAM < ram {
		i++
	}
	a, b := &hosts[i], &hosts[i+1]
	low = max(float64(a.File), r*min(a.per(), b.per()))
	high = min(float64(b.File), r*max(a.per(), b.per()))
	slope := math.Log(float64(b.File)/float64(a.File)) / math.Log(float64(b.RAM)/float64(a.RAM))
	value = float64(a.File) * math.Pow(r/float64(a.RAM), slope)
	return []*Host{a, b}, low, min(max(value, low), high), high
}

// leastShare and mostShare bound the file as a share of the RAM over all measured hosts.
func leastShare() float64 { return share(math.Min) }
func mostShare() float64  { return share(math.Max) }

func share(pick func(a, b float64) float64) float64 {
	hosts := hosts()
	s := hosts[0].per()
	for i := range hosts {
		s = pick(s, hosts[i].per())
	}
	return s
}
