package iocost

import (
	"embed"

	"example.org/homenode/numa"
	"example.org/homenode/numa/unit"
	"example.org/homenode/size/datafile"
	"example.org/homenode/size/sheet"
)

// files are the published measurements, and the figures that the articles compute from them.
//
//go:embed *.txt *.sheet
var files embed.FS

var (
	calculator = sheet.Load(files, "io.sheet")

	iometer  = datafile.Must[iometerRow](files, "iometer.txt")
	hcibench = datafile.Must[hcibenchRow](files, "hcibench.txt")
	rdmaRows = datafile.Must[rdmaRow](files, "rdma.txt")
)

// An iometerRow is one run of b-nvme.
type iometerRow struct {
	Name             string
	Block            numa.Bytes
	Read, Random     unit.Share
	IOPS             unit.IORate
	Megabytes        float64
	Percent          float64
	Source, Hardware string
}

// iometerCPU is the CPU capacity that the percentages of the Iometer runs refer to: 2 vCPUs.
const (
	iometerCore = 2 * unit.GHz
	iometerCPU  = 2 * iometerCore
)

// published is the cluster of b-vsan, and vsanIdle the CPU of one of its hosts without load.
var published = Cluster{Hosts: 6, Cores: 32, Core: 3.6 * unit.GHz}

const vsanIdle = 1 * unit.GHz

// An hcibenchRow is one test of b-vsan.
type hcibenchRow struct {
	Name             string
	Block            numa.Bytes
	Read, Random     unit.Share
	IOPS, Mebibytes  float64
	Printed          float64
	Gigahertz        float64
	TX, RX           float64
	Limited          bool
	Source, Hardware string
}

// rate returns the I/Os a second of one host.
func (r *hcibenchRow) rate() unit.IORate { return unit.IORate(r.IOPS / float64(published.Hosts)) }

// net returns the CPU of a host less its use without load.
func (r *hcibenchRow) net() unit.Hz { return unit.Hz(r.Gigahertz)*unit.GHz - vsanIdle }

// network returns the TCP/IP part of net, by the costs of b-network.
func (r *hcibenchRow) network() unit.Hz {
	tx, rx := r.traffic()
	return Transmit.Value.At(tx) + Receive.Value.At(rx)
}

// traffic returns the network traffic of a host.
func (r *hcibenchRow) traffic() (tx, rx unit.BitRate) {
	return unit.BitRate(r.TX * 8e9), unit.BitRate(r.RX * 8e9)
}

// An rdmaRow is one test of b-rdma; its lists are TCP, RDMA.
type rdmaRow struct {
	Name                     string
	Block                    numa.Bytes
	Read, Random             unit.Share
	IOPS, Usage, Utilisation []float64
	Source, Hardware         string
}

// saving returns the share of CPU per I/O that RDMA saves.
func (r *rdmaRow) saving() unit.Share {
	return unit.Share(1 - (r.Usage[1]/r.IOPS[1])/(r.Usage[0]/r.IOPS[0]))
}
