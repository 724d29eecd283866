package iocost

import (
	"homenode/numa"
	"homenode/numa/unit"
)

// Checks returns every figure that the articles compute from the measurements of this
// package (exp B-1 to B-11), as printed and as their own raw figures and formulas give it.
func Checks() []unit.Check {
	var s sheet
	s.iometer()
	s.hosts()
	s.network()
	s.tests()
	s.perBit()
	s.planning()
	s.memory()
	s.rdma()
	s.ratios()
	return s
}

// A sheet is a list of checks that is being written.
type sheet []unit.Check

// add appends a check and returns it.
func (s *sheet) add(id, what, quantity, printed string, computed float64) *check {
	*s = append(*s, unit.Check{ID: id, What: what, Quantity: quantity, Printed: printed, Computed: computed})
	return (*check)(&(*s)[len(*s)-1])
}

type check unit.Check

// but says that the article contradicts itself, and how. Without an id it is only a note.
func (c *check) but(inconsistency, note string) { c.Inconsistency, c.Note = inconsistency, note }

// roundings are the figures of the Iometer runs that the article rounds wrongly.
var roundings = map[string]bool{"0.37": true, "6.039": true, "197.9": true, "216.7": true, "439.9": true, "348.4": true}

// iometer checks the runs on local NVMe.
func (s *sheet) iometer() {
	for i := range iometer {
		r := &iometer[i]
		what := r.name()
		s.add("B-1", what, "MHz", r.megahertz, float64(r.cpu()/unit.MHz))
		bits := s.add("B-1", what, "b/s", r.printedBits, r.megabytes*8e6)
		if !(*unit.Check)(bits).Reproduced() {
			bits.but("I-5", "from 149.93 MB/s; the heading has 146.93")
		}
		traffic := unit.BitRate(r.megabytes * 8e6)
		s.rounded(s.add("B-1", what, "Hz per b/s", r.perBit, float64(r.cpu().PerBit(traffic))))
		s.rounded(s.add("B-1", what, "kHz per I/O", r.perIO, float64(r.cpu().PerIO(unit.IORate(r.iops)))/1e3))
	}
	s.add("B-2", "mean of 32 KiB random and 1 MiB sequential", "Hz per b/s", "0.5", float64(Rules()[2].Exact)).but("I-6", "the mean is 0.405")
	s.add("B-2", "vSAN ESA by local NVMe", "×", "7", float64(Rules()[3].Cost.Value/Rules()[2].Cost.Value))
}

// rounded notes a figure that the article rounds wrongly.
func (s *sheet) rounded(c *check) {
	if roundings[c.Printed] && !(*unit.Check)(c).Reproduced() {
		c.but("I-6", "rounded wrongly")
	}
}

// name returns the run as "32 KiB read random".
func (r *iometerRow) name() string {
	if r.random == 0 {
		return size(r.block) + " " + direction(r.read) + " seq"
	}
	return size(r.block) + " " + direction(r.read) + " random"
}

// published is the cluster of the vSAN tests.
var published = Cluster{Hosts: vsanHosts, Cores: vsanCores, Core: vsanCore}

// hosts checks the CPU of the hosts.
func (s *sheet) hosts() {
	s.add("B-3", "core of a Xeon Gold 6544Y", "cycles a second", "3,600,000,000", float64(published.Core))
	s.add("B-3", "host, 2 × 16 cores", "cores", "32", float64(published.Cores))
	s.add("B-3", "host", "GHz", "115.2", float64(published.Host()/unit.GHz))
	s.add("B-3", "six hosts", "cores", "192", float64(published.Hosts*published.Cores))
	s.add("B-3", "six hosts", "GHz", "691.2", float64(published.CPU()/unit.GHz))
}

// binaryGbit is the Gb that the article's network test counts in.
const binaryGbit = 1 << 30

// network checks the cost of TCP/IP.
func (s *sheet) network() {
	const id = "B-4"
	sent, received := unit.BitRate(9.6*binaryGbit), unit.BitRate(10*binaryGbit)
	const sendCPU, receiveCPU = 1681 * unit.MHz, 4 * unit.GHz
	tx, rx := float64(sendCPU.PerBit(sent)), float64(receiveCPU.PerBit(received))
	s.add(id, "sent", "b/s", "10,307,921,510", float64(sent)).but("", "a Gb of 2³⁰ bits; later the article uses 10⁹ (I-7)")
	s.add(id, "received", "b/s", "10,737,418,240", float64(received))
	s.add(id, "send", "GHz", "1.68", float64(sendCPU/unit.GHz))
	s.add(id, "send", "Hz per b/s", "0.163", tx)
	s.add(id, "receive", "Hz per b/s", "0.373", rx)
	s.add(id, "send", "MHz per Gb/s", "163", tx*1e3)
	s.add(id, "receive", "MHz per Gb/s", "373", rx*1e3)
	rule := Rules()[1]
	s.add(id, "mean of both directions", "Hz per b/s", "~0.25", float64(rule.Exact)).but("I-7", "the mean is 0.268")
	ten := rule.Cost.Value.At(10 * unit.GbitPerSecond)
	s.add(id, "10 Gb/s one way, by the rule", "GHz", "2.5", float64(ten/unit.GHz))
	s.add(id, "10 Gb/s one way, by the rule", "cores", "~0.75", ten.Cores(vsanCore)).but("I-7", "2.5 ÷ 3.6 = 0.694")
	r := &hcibench[0]
	s.add(id, "cluster at 720k IOPS of 32 KiB", "GB/s", "20", r.mebibytes/1e3).but("I-7", "22.5 in the table of the tests")
	s.add(id, "host at 720k IOPS of 32 KiB, each way", "Gb/s", "~27", r.tx*8)
	both := Transmit.Value.At(30*unit.GbitPerSecond) + Receive.Value.At(30*unit.GbitPerSecond)
	s.add(id, "30 Gb/s each way", "cores", "4.5", both.Cores(vsanCore))
}

// tests checks the table of the vSAN tests.
func (s *sheet) tests() {
	const id = "B-5"
	printed := [][4]string{ // MB/s, tx and rx in Gb/s, CPU share is not printed
		{"22,540.00", "27.2", "27.2"}, {"8,934.00", "35.5", "40"}, {"18,834.00", "36", "37.6"},
		{"22,574.00", "27.2", "25.6"}, {"15,171.00", "31.2", "31.2"}, {"19,738.00", "34.4", "33.2"},
	}
	for i := range hcibench {
		r := &hcibench[i]
		megabytes := float64(unit.IORate(r.iops).Traffic(r.block) / 8e6)
		s.add(id, r.name, "MB/s", printed[i][0], megabytes).but("I-14", "printed in MiB/s")
		tx, rx := r.traffic()
		s.add(id, r.name+", sent", "Gb/s", printed[i][1], float64(tx/unit.GbitPerSecond))
		s.add(id, r.name+", received", "Gb/s", printed[i][2], float64(rx/unit.GbitPerSecond))
		if r.block == numa.MiB {
			// An I/O of 1 MiB a second is a MiB/s, and that is what the article divides.
			s.add(id, r.name+", of a host", "IOPS", r.perHost, r.mebibytes/vsanHosts)
		} else {
			c := s.add(id, r.name+", of a host", "IOPS", r.perHost, float64(r.rate()))
			if r.perHost == "47,650" {
				c.To = 10
			}
		}
	}
	s.add(id, "usable of a disk of 6.4 TB", "TiB", "5.82", 6.4e12/float64(numa.TiB))
	s.add(id, "lost of a disk of 6.4 TB", "TB", "0.6", 0).but("I-14", "6.4 TB are 5.82 TiB: a unit, no loss")
}

// planning checks the rule for vSAN and what follows from it (exp B-7, B-8).
func (s *sheet) planning() {
	const id = "B-7"
	rule := Rules()[3]
	s.add(id, "mean of four tests", "Hz per b/s", "3.5", float64(rule.Exact)).but("", "3.57 with the printed inputs")
	gigabyte := rule.Cost.Value.At(1e9 * unit.BytePerSecond)
	s.add(id, "1 GB/s by the rule", "GHz", "28", float64(gigabyte/unit.GHz))
	s.add(id, "1 GB/s by the rule", "cores", "7.8", gigabyte.Cores(vsanCore))
	for i, printed := range []string{"~22.5", "~8.9", "", "~22.5", "~15.2"} {
		if printed != "" {
			s.add(id, hcibench[i].name, "MB/s ÷ 1,000", printed, hcibench[i].mebibytes/1e3).but("", "printed as GB/s; MiB/s ÷ 1,000 is neither GB/s nor GiB/s")
		}
	}
	s.add(id, "mean of these four", "MB/s ÷ 1,000", "~17.2", (22.5+8.9+22.5+15.2)/4)
	const mean = 17.2e9 * unit.BytePerSecond
	s.add(id, "17.2 GB/s of 32 KiB", "IOPS", "563,600", float64(mean.Rate(32*numa.KiB))).but("I-12", "computed from binary GB")
	s.add(id, "17.2 GB/s of 1 MiB", "IOPS", "17,612", float64(mean.Rate(numa.MiB))).but("I-12", "computed from binary GB")
	cpu := rule.Cost.Value.At(mean)
	s.add(id, "17.2 GB/s by the rule", "GHz", "481", float64(cpu/unit.GHz)).but("I-12", "17.2 × 28 = 481.6, cut off")
	s.add(id, "17.2 GB/s by the rule", "cores", "134", cpu.Cores(vsanCore))
	s.add(id, "17.2 GB/s by the rule", "% of the cluster", "~70", 100*float64(cpu.Of(published.CPU())))
	var used unit.Hz
	for i := range hcibench {
		if r := &hcibench[i]; r.read == 0 || r.read == 1 {
			used += r.net() / 4
		}
	}
	s.add(id, "CPU that vSAN needs, mean of four tests", "% of the host", "~60", 100*float64(used.Of(published.Host()))).but("I-12", "60 % and 70 % in one text; measured 61 %")
	s.add("B-8", "144 virtual disks of 5,000 IOPS", "IOPS", "720,000", float64(Limit(144, 5000, LimitUnit)))
	s.add("B-8", "partitions of a network card, a fabric", "Gb/s", "100", 2*(32+10+10+50)/2).but("I-14", "32 + 10 + 10 + 50 = 102")
}

// memory checks the cost of RAM.
func (s *sheet) memory() {
	s.add("B-9", "a page of 4 KiB", "bits", "32,768", unit.Bits(4*numa.KiB))
	s.add("B-9", "250 cycles a page", "Hz per b/s", "0.008", float64(Memory.Value))
	s.add("B-9", "the rule", "Hz per b/s", "0.01", float64(Memory.Value))
}

// rdma checks what RDMA saves.
func (s *sheet) rdma() {
	const id = "B-10"
	for i := range rdmaRows {
		r := &rdmaRows[i]
		percent := func(v [2]float64) float64 { return 100 * (v[1]/v[0] - 1) }
		computed := [4]float64{percent(r.iops), percent(r.usage), percent(r.utilisation), 100 * float64(r.saving())}
		for k, quantity := range []string{"% IOPS", "% CPU usage", "% CPU utilisation", "% saved per I/O"} {
			s.add(id, r.name, quantity, r.printed[k], computed[k]).but(r.inconsistent[k], r.note[k])
		}
	}
	s.add(id, "small random I/O", "% IOPS", "~20", 100*(rdmaRows[0].iops[1]/rdmaRows[0].iops[0]-1))
	s.add(id, "small random I/O, least gain", "% saved per I/O", "25", 100*float64(rdmaRows[0].saving())).but("I-13", sumNote)
	s.add(id, "small random I/O, most gain", "% saved per I/O", "30", 100*float64(rdmaRows[2].saving())).but("I-13", sumNote)
	s.add(id, "large sequential I/O", "% CPU usage", "~−11%", 100*(rdmaRows[3].usage[1]/rdmaRows[3].usage[0]-1))
}

// ratios checks the rules of thumb beside each other.
func (s *sheet) ratios() {
	const id = "B-11"
	r := Rules()
	for _, t := range []struct {
		what    string
		printed string
		a, b    int
	}{
		{"network by RAM", "25", 1, 0}, {"NVMe by network", "2", 2, 1}, {"NVMe by RAM", "50", 2, 0},
		{"vSAN ESA by network", "14", 3, 1}, {"vSAN ESA by RAM", "350", 3, 0},
	} {
		s.add(id, t.what, "×", t.printed, float64(r[t.a].Cost.Value/r[t.b].Cost.Value))
	}
}
