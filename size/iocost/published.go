package iocost

import (
	"math"
	"slices"

	"example.org/homenode/numa/unit"
)

// Transmit, Receive and Memory are the costs of TCP/IP (b-network) and of the transfer of a page of 4 KiB (b-ram).
var Transmit, Receive, Memory = figure("_send"), figure("_receive"), figure("_memory")

func figure(name string) unit.Figure[unit.CyclesPerBit] {
	v := calculator.Figure(name)
	return unit.Figure[unit.CyclesPerBit]{Value: unit.CyclesPerBit(v.Value), Low: unit.CyclesPerBit(v.Low), High: unit.CyclesPerBit(v.High),
		Origin: v.Origin, Source: v.Source, Hardware: v.Hardware, Note: v.Note}
}

// RDMASaved is the share of the CPU of a vSAN ESA I/O that RDMA saves. Measured kinds have their measured
// saving; others that of the nearest one, by pattern, then share of reads, then size, with the least and the
// most of the four tests as range.
func RDMASaved(k Kind) unit.Figure[unit.Share] {
	at := func(r *rdmaRow) [3]float64 {
		return [3]float64{
			float64(distance(r.Random, k.Random)), float64(distance(r.Read, k.Read)),
			math.Abs(math.Log2(float64(r.Block) / float64(k.Block))),
		}
	}
	nearest := &rdmaRows[0]
	for i := range rdmaRows {
		a, b := at(&rdmaRows[i]), at(nearest)
		if slices.Compare(a[:], b[:]) < 0 {
			nearest = &rdmaRows[i]
		}
	}
	f := RDMASaving
	f.Value, f.Note = nearest.saving(), "nearest measured: "+nearest.Name
	if at(nearest) == [3]float64{} {
		f.Low, f.High, f.Origin, f.Note = f.Value, f.Value, unit.Published, ""
	}
	return f
}

// RDMASaving is the mean RDMA saving in four tests, with the least and the most.
var RDMASaving = func() unit.Figure[unit.Share] {
	f := unit.Figure[unit.Share]{Origin: unit.Derived, Source: rdmaRows[0].Source, Hardware: rdmaRows[0].Hardware}
	for i := range rdmaRows {
		s := rdmaRows[i].saving()
		f.Value += s / unit.Share(len(rdmaRows))
		if i == 0 {
			f.Low, f.High = s, s
		}
		f.Low, f.High = min(f.Low, s), max(f.High, s)
	}
	return f
}()

// Published returns the published costs of I/Os: local NVMe and vSAN ESA with RAID-5 and compression. The
// range of each is its rounding error.
func Published() []Point {
	var out []Point
	for i := range iometer {
		r := &iometer[i]
		at := func(percent float64, rate unit.IORate) unit.Cycles {
			return (unit.Hz(percent/100) * iometerCPU).PerIO(rate)
		}
		out = append(out, Point{
			Kind: Kind{Path: NVMe, Block: r.Block, Read: r.Read, Random: r.Random}, Core: iometerCore, Runs: 1, Scope: Guest,
			PerIO: unit.Figure[unit.Cycles]{
				Value: at(r.Percent, r.IOPS), Low: at(r.Percent-0.005, r.IOPS+0.5), High: at(r.Percent+0.005, r.IOPS-0.5),
				Origin: unit.Published, Source: r.Source, Hardware: r.Hardware,
			},
		})
	}
	for i := range hcibench {
		r := &hcibench[i]
		network := unit.Exactly(r.network().PerIO(r.rate()), unit.Derived, "traffic of the test × "+Transmit.Source, r.Hardware)
		const half = 0.5 * unit.GHz // the article prints whole GHz
		p := Point{
			Kind: Kind{Path: VSANESA, Block: r.Block, Read: r.Read, Random: r.Random}, Core: published.Core, Runs: 1, Scope: Host, Network: &network,
			PerIO: unit.Figure[unit.Cycles]{
				Value: r.net().PerIO(r.rate()), Low: (r.net() - half).PerIO(r.rate()), High: (r.net() + half).PerIO(r.rate()),
				Origin: unit.Published, Source: r.Source, Hardware: r.Hardware,
			},
		}
		out = append(out, p)
	}
	return out
}
