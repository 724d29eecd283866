package iocost

import (
	"homenode/numa"
	"homenode/numa/unit"
)

// Checks returns every figure that the articles compute from the measurements of this
// package (b-nvme to b-rules), as printed and as their own raw figures and formulas give it.
func Checks() []unit.Check {
	rules := Rules()
	ram, network, nvme, vsan := &rules[0], &rules[1], &rules[2], &rules[3]
	by := func(a, b *Rule) float64 { return float64(a.Cost.Value / b.Cost.Value) }
	ghz := func(v unit.Hz) float64 { return float64(v / unit.GHz) }
	cores := func(v unit.Hz) float64 { return v.Cores(published.Core) }

	computed := map[string][]float64{
		"b-nvme-rule": {float64(nvme.Exact), by(vsan, nvme)},
		"b-cycles": {
			float64(published.Core), float64(published.Cores), ghz(published.Host()),
			float64(published.Hosts * published.Cores), ghz(published.CPU()),
		},
		// 144 disks, and the partitions of a network card.
		"b-limits": {float64(Limit(144, 5000, LimitUnit)), 32 + 10 + 10 + 50},
		"b-ram":    {unit.Bits(4 * numa.KiB), float64(Memory.Value), float64(Memory.Value)},
		"b-rules":  {by(network, ram), by(nvme, network), by(nvme, ram), by(vsan, network), by(vsan, ram)},
	}
	add := func(id string, values ...float64) { computed[id] = append(computed[id], values...) }

	for i := range iometer {
		r := &iometer[i]
		bits := unit.BitRate(r.Megabytes * 8e6)
		add("b-nvme", float64(r.cpu()/unit.MHz), float64(bits), float64(r.cpu().PerBit(bits)), float64(r.cpu().PerIO(r.IOPS))/1e3)
	}

	// The Gb of the article's network test has 2³⁰ bits.
	const gbit, sendCPU, receiveCPU = 1 << 30, 1681 * unit.MHz, 4 * unit.GHz
	sent, received := unit.BitRate(9.6*gbit), unit.BitRate(10*gbit)
	tx, rx := float64(sendCPU.PerBit(sent)), float64(receiveCPU.PerBit(received))
	ten := network.Cost.Value.At(10 * unit.GbitPerSecond)
	both := Transmit.Value.At(30*unit.GbitPerSecond) + Receive.Value.At(30*unit.GbitPerSecond)
	add("b-network", float64(sent), float64(received), ghz(sendCPU), tx, rx, tx*1e3, rx*1e3, float64(network.Exact), ghz(ten), cores(ten),
		hcibench[0].Mebibytes/1e3, hcibench[0].TX*8, cores(both))

	for i := range hcibench {
		r := &hcibench[i]
		tx, rx := r.traffic()
		perHost := float64(r.rate())
		if r.Block == numa.MiB {
			// An I/O of 1 MiB a second is a MiB/s, and that is what the article divides.
			perHost = r.Mebibytes / float64(published.Hosts)
		}
		add("b-vsan", float64(unit.IORate(r.IOPS).Traffic(r.Block)/8e6), float64(tx/unit.GbitPerSecond), float64(rx/unit.GbitPerSecond), perHost)
		add("b-vsan-bits", ghz(r.net()))
		if r.Read == 0 || r.Read == 1 {
			add("b-vsan-bits", r.perBit()...)
		}
	}
	add("b-vsan", 6.4e12/float64(numa.TiB), 0)
	large := &hcibench[3]
	share := func(r *hcibenchRow) float64 { return 100 * float64(r.network().Of(r.net())) }
	add("b-vsan-bits", float64(large.net().PerIO(large.rate())), ghz(large.net()), share(&hcibench[0]), share(&hcibench[5]))

	const mean = 17.2e9 * unit.BytePerSecond
	gigabyte, cpu := vsan.Cost.Value.At(1e9*unit.BytePerSecond), vsan.Cost.Value.At(mean)
	add("b-vsan-rule", float64(vsan.Exact), ghz(gigabyte), cores(gigabyte))
	var used unit.Hz
	for i := range hcibench {
		if r := &hcibench[i]; r.Read == 0 || r.Read == 1 {
			add("b-vsan-rule", r.Mebibytes/1e3)
			used += r.net() / 4
		}
	}
	add("b-vsan-rule", (22.5+8.9+22.5+15.2)/4, float64(mean.Rate(32*numa.KiB)), float64(mean.Rate(numa.MiB)), ghz(cpu), cores(cpu),
		100*float64(cpu.Of(published.CPU())), 100*float64(used.Of(published.Host())))

	percent := func(v []float64) float64 { return 100 * (v[1]/v[0] - 1) }
	for i := range rdmaRows {
		r := &rdmaRows[i]
		add("b-rdma", percent(r.IOPS), percent(r.Usage), percent(r.Utilisation), 100*float64(r.saving()))
	}
	add("b-rdma", percent(rdmaRows[0].IOPS), 100*float64(rdmaRows[0].saving()), 100*float64(rdmaRows[2].saving()), percent(rdmaRows[3].Usage))
	return unit.Checks(files, computed)
}

// printedIOPS are the I/Os of a host by which b-vsan-bits divides: those of the test, rounded.
var printedIOPS = map[string]float64{"32 KiB read random": 120220, "32 KiB write random": 47650, "1 MiB read seq": 3762, "1 MiB write seq": 2529}

// perBit returns what b-vsan-bits computes of a test: what an I/O and a bit cost, with and
// without the network.
func (r *hcibenchRow) perBit() []float64 {
	const ghz = float64(unit.GHz)
	tx, rx := r.traffic()
	send, receive := Transmit.Value.At(tx), Receive.Value.At(rx)
	storage := r.net() - send - receive
	perIO, bare, printed := r.net().PerIO(r.rate()), storage.PerIO(r.rate()), printedIOPS[r.Name]
	return []float64{
		float64(r.net()) / printed / 1e3, float64(perIO.PerBit(r.Block)), float64(send) / ghz, float64(receive) / ghz, float64(send+receive) / ghz,
		float64(storage) / ghz, printed, float64(bare) / 1e3, float64(bare.PerBit(r.Block)), 100 * float64((send + receive).Of(r.net())),
	}
}
