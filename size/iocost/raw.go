package iocost

import (
	"homenode/numa"
	"homenode/numa/unit"
)

// Where the published figures are from, and on what they were measured.
const (
	nvmeSource   = "exp B-1"
	nvmeHardware = "Xeon E5-2620 (Sandy Bridge)"
	vsanSource   = "exp B-5"
	vsanHardware = "6 hosts, Gold 6544Y (Emerald Rapids)"
	netSource    = "exp B-4"
	netHardware  = "Gold 6544Y (Emerald Rapids)"
	ramSource    = "exp B-9"
	rdmaSource   = "exp B-10"
	rdmaHardware = "4 hosts, CPU not named"
)

// An iometerRow is one run of Iometer in a VM of 2 vCPUs on local NVMe.
type iometerRow struct {
	block       numa.Bytes
	read        unit.Share
	random      unit.Share
	iops        float64 // I/Os a second
	megabytes   float64 // 10⁶ bytes a second
	percent     float64 // CPU of the VM
	printedBits string  // bits a second, as the article prints them
	perBit      string  // Hz for each bit a second, as printed
	perIO       string  // kHz for each I/O a second, as printed
	megahertz   string  // as printed
}

// iometerCPU is the CPU that the percentages of the Iometer runs are of: 2 vCPUs.
const (
	iometerCore = 2 * unit.GHz
	iometerCPU  = 2 * iometerCore
)

// iometer are the runs of exp B-1: one outstanding I/O each, PVSCSI, VMFS, ESXi 8.0.3.
var iometer = []iometerRow{
	{512, 1, 1, 4040, 2.07, 15.49, "16,560,000", "37.42", "153.4", "619.6"},
	{512, 0, 1, 4874, 2.50, 19.45, "20,000,000", "38.9", "159.6", "778"},
	{4 * numa.KiB, 1, 1, 3813, 15.62, 13.85, "124,960,000", "4.43", "145.3", "554.0"},
	{4 * numa.KiB, 0, 1, 4413, 18.08, 21.84, "144,640,000", "6.039", "197.9", "873.6"},
	{32 * numa.KiB, 1, 1, 2568, 84.16, 10.9, "673,280,000", "0.648", "169.8", "436"},
	{32 * numa.KiB, 0, 1, 2873, 94.16, 14.16, "753,280,000", "0.752", "197.1", "566.4"},
	{64 * numa.KiB, 1, 1, 1826, 119.68, 9.06, "957,440,000", "0.37", "198.5", "362.4"},
	{64 * numa.KiB, 0, 1, 2242, 146.93, 12.15, "1,199,440,000", "0.41", "216.7", "486.0"},
	{256 * numa.KiB, 1, 1, 735, 192.78, 6.66, "1,542,240,000", "0.17", "362.4", "266.4"},
	{256 * numa.KiB, 0, 1, 703, 184.49, 7.73, "1,475,920,000", "0.21", "439.9", "309.2"},
	{256 * numa.KiB, 1, 0, 2784, 730.03, 15.26, "5,840,240,000", "0.1", "219.25", "610.4"},
	{256 * numa.KiB, 0, 0, 1042, 273.16, 9.09, "2,185,280,000", "0.17", "348.4", "363.6"},
	{numa.MiB, 1, 0, 966, 1013.3, 9.93, "8,106,400,000", "0.05", "411.18", "397.2"},
	{numa.MiB, 0, 0, 286, 300.73, 10.38, "2,405,840,000", "0.17", "1452", "415.2"},
}

// cpu returns what the VM used.
func (r *iometerRow) cpu() unit.Hz { return unit.Hz(r.percent/100) * iometerCPU }

// The hosts of exp B-5: CPU without load, cores, and how many.
const (
	vsanIdle  = 1 * unit.GHz
	vsanCore  = 3.6 * unit.GHz
	vsanCores = 32
	vsanHosts = 6
)

// An hcibenchRow is one test of HCIBench on vSAN ESA: RAID-5, compression, six hosts.
type hcibenchRow struct {
	name      string
	block     numa.Bytes
	read      unit.Share
	random    unit.Share
	iops      float64 // of the cluster
	mebibytes float64 // 2²⁰ bytes a second, of the cluster; printed as MB/s
	host      unit.Hz // CPU of a host, load generators and idle CPU included
	tx, rx    float64 // GB/s of a host, 10⁹ bytes
	perHost   string  // I/Os a second of a host, as printed
	limited   bool    // at the IOPS limit of the test: what was allowed, not what is possible
}

// hcibench are the tests of exp B-5.
var hcibench = []hcibenchRow{
	{name: "32 KiB read random", block: 32 * numa.KiB, read: 1, random: 1, iops: 721317.28, mebibytes: 22540, host: 78 * unit.GHz, tx: 3.4, rx: 3.4, perHost: "120,220", limited: true},
	{name: "32 KiB write random", block: 32 * numa.KiB, read: 0, random: 1, iops: 285892.55, mebibytes: 8934, host: 88 * unit.GHz, tx: 4.44, rx: 5, perHost: "47,650"},
	{name: "32 KiB 70/30 random", block: 32 * numa.KiB, read: 0.7, random: 1, iops: 602702.73, mebibytes: 18834, host: 95 * unit.GHz, tx: 4.5, rx: 4.7, perHost: "100,450"},
	{name: "1 MiB read seq", block: numa.MiB, read: 1, random: 0, iops: 22575.50, mebibytes: 22574, host: 60 * unit.GHz, tx: 3.4, rx: 3.2, perHost: "3,762", limited: true},
	{name: "1 MiB write seq", block: numa.MiB, read: 0, random: 0, iops: 15174.08, mebibytes: 15171, host: 60 * unit.GHz, tx: 3.9, rx: 3.9, perHost: "2,529"},
	{name: "1 MiB 70/30 seq", block: numa.MiB, read: 0.7, random: 0, iops: 19740.90, mebibytes: 19738, host: 62 * unit.GHz, tx: 4.3, rx: 4.15, perHost: "3,290"},
}

// rate returns the I/Os a second of one host.
func (r *hcibenchRow) rate() unit.IORate { return unit.IORate(r.iops / vsanHosts) }

// net returns the CPU of a host less what it uses without load.
func (r *hcibenchRow) net() unit.Hz { return r.host - vsanIdle }

// network returns how much of net is TCP/IP, by the costs of exp B-4.
func (r *hcibenchRow) network() unit.Hz {
	tx, rx := r.traffic()
	return Transmit.Value.At(tx) + Receive.Value.At(rx)
}

// traffic returns what a host sends and receives.
func (r *hcibenchRow) traffic() (tx, rx unit.BitRate) {
	return unit.BitRate(r.tx * 8e9), unit.BitRate(r.rx * 8e9)
}

// An rdmaRow is one test of exp B-10: the same load over TCP and over RDMA.
type rdmaRow struct {
	name         string
	block        numa.Bytes
	read, random unit.Share
	iops, usage  [2]float64 // TCP, RDMA; usage in percent of the logical CPUs
	utilisation  [2]float64 // in percent of the cores
	printed      [4]string  // change of IOPS, usage, utilisation; saving
	inconsistent [4]string
	note         [4]string
}

const signNote, sumNote = "the sign is wrong", "a sum of two percentages, not a saving per I/O"

var rdmaRows = []rdmaRow{
	{
		name: "4 KiB read random", block: 4 * numa.KiB, read: 1, random: 1, iops: [2]float64{939790.5, 1135752.6}, usage: [2]float64{96.54, 96.59}, utilisation: [2]float64{80.88, 81.53},
		printed:      [4]string{"+21%", "−0.1%", "−0.8%", "21%"},
		inconsistent: [4]string{"", "I-13", "I-13", "I-13"}, note: [4]string{"", signNote, signNote, sumNote},
	},
	{
		name: "4 KiB 70/30 random", block: 4 * numa.KiB, read: 0.7, random: 1, iops: [2]float64{633421.4, 779107.8}, usage: [2]float64{95.45, 93.38}, utilisation: [2]float64{78.57, 77.46},
		printed:      [4]string{"+23%", "−2%", "−1.5%", "25%"},
		inconsistent: [4]string{"", "", "I-13", "I-13"}, note: [4]string{"", "", "rounded to half a percent", sumNote},
	},
	{
		name: "8 KiB 50/50 random", block: 8 * numa.KiB, read: 0.5, random: 1, iops: [2]float64{468353.5, 576964.7}, usage: [2]float64{95.43, 90.18}, utilisation: [2]float64{77.71, 73.57},
		printed:      [4]string{"+23%", "−6%", "−6%", "29%"},
		inconsistent: [4]string{"", "", "I-13", "I-13"}, note: [4]string{"", "", "rounded up", sumNote},
	},
	{
		name: "256 KiB write seq", block: 256 * numa.KiB, read: 0, random: 0, iops: [2]float64{24112.6, 24474.6}, usage: [2]float64{64.04, 56.7}, utilisation: [2]float64{41.21, 35.2},
		printed:      [4]string{"+1.5%", "−11%", "−14.6%", "12.5%"},
		inconsistent: [4]string{"", "", "", "I-13"}, note: [4]string{"", "", "", sumNote},
	},
}

// saving returns how much less CPU one I/O needs over RDMA.
func (r *rdmaRow) saving() unit.Share {
	return unit.Share(1 - (r.usage[1]/r.iops[1])/(r.usage[0]/r.iops[0]))
}
