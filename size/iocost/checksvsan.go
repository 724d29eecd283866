package iocost

import (
	"fmt"

	"homenode/numa/unit"
)

// A printedTest is what exp B-6 prints of one test: what an I/O and a bit cost, with and
// without the network. Empty figures are not printed.
type printedTest struct {
	net, perIO, perBit               string
	network, tx, rx, storage         string
	storagePerIO, storagePerBit, raw string // raw: IOPS of a host that "without network" takes
	share                            string // "goes to network"
	perHost                          float64
	wrong                            string // inconsistency of the wrong IOPS and traffic
	why                              string
}

var printedTests = []printedTest{
	{net: "77", perIO: "~640", perBit: "~2.5", network: "14.58", tx: "4.43", rx: "10.15", storage: "62.42", storagePerIO: "~519", storagePerBit: "~2", raw: "120,220", share: "25%", perHost: 120220},
	{net: "87", perIO: "~1,825", perBit: "~7.13", network: "20.71", tx: "5.79", rx: "14.92", storage: "66.29", storagePerIO: "~1,391", storagePerBit: "~5.43", raw: "47,650", share: "31%", perHost: 47650},
	{net: "94"},
	{net: "59", perIO: "~15,683", perBit: "~1.86", network: "13.98", tx: "4.43", rx: "9.55", storage: "45.02", storagePerIO: "~14,238", storagePerBit: "~1.69", raw: "3,162", share: "10%", perHost: 3762, wrong: "I-9", why: "3,162 IOPS for 3,762"},
	{net: "59", perIO: "~23,329", perBit: "~2.78", network: "13.98", tx: "4.43", rx: "9.55", storage: "45.02", storagePerIO: "~19,929", storagePerBit: "~2.37", raw: "2,259", share: "17%", perHost: 2529, wrong: "I-10", why: "the traffic of the read test and 2,259 IOPS for 2,529"},
	{net: "61"},
}

// perBit checks the cost of an I/O and of a bit, with and without the network (exp B-6).
func (s *sheet) perBit() {
	const id, ghz = "B-6", float64(unit.GHz)
	for i := range hcibench {
		r, p := &hcibench[i], &printedTests[i]
		s.add(id, r.name+", less idle", "GHz", p.net, float64(r.net())/ghz)
		if p.perIO == "" {
			continue
		}
		s.add(id, r.name, "kHz per I/O", p.perIO, float64(r.net())/p.perHost/1e3).
			but("", fmt.Sprintf("%s from unrounded IOPS", unit.Digits(float64(r.net().PerIO(r.rate()))/1e3, 5)))
		perIO := r.net().PerIO(r.rate())
		s.mistaken(s.add(id, r.name, "Hz per b/s", p.perBit, float64(perIO.PerBit(r.block))), "I-8", "32 KiB taken for 256,000 bits")

		tx, rx := r.traffic()
		send, receive := Transmit.Value.At(tx), Receive.Value.At(rx)
		s.mistaken(s.add(id, r.name+", sending", "GHz", p.tx, float64(send)/ghz), p.wrong, p.why)
		s.mistaken(s.add(id, r.name+", receiving", "GHz", p.rx, float64(receive)/ghz), p.wrong, p.why)
		s.mistaken(s.add(id, r.name+", network", "GHz", p.network, float64(send+receive)/ghz), p.wrong, p.why)
		storage := r.net() - send - receive
		s.mistaken(s.add(id, r.name+", less network", "GHz", p.storage, float64(storage)/ghz), p.wrong, p.why)
		s.mistaken(s.add(id, r.name+", less network", "IOPS", p.raw, p.perHost), p.wrong, p.why)
		s.mistaken(s.add(id, r.name+", less network", "kHz per I/O", p.storagePerIO, float64(storage.PerIO(r.rate()))/1e3), p.wrong, p.why)
		wrong, why := p.wrong, p.why
		if wrong == "" {
			wrong, why = "I-8", "32 KiB taken for 256,000 bits"
		}
		s.mistaken(s.add(id, r.name+", less network", "Hz per b/s", p.storagePerBit, float64(storage.PerIO(r.rate()).PerBit(r.block))), wrong, why)
		s.mistaken(s.add(id, r.name+", goes to network", "% of CPU", p.share, 100*float64((send+receive).Of(r.net()))), "I-11", "(with ÷ without) − 1 is an overhead, not a share")
	}
	s.add(id, "1 MiB read, next line", "Hz per I/O", "15,640,000", float64(hcibench[3].net().PerIO(hcibench[3].rate()))).but("I-9", "15,683 kHz a line before")
	s.add(id, "1 MiB read, summary", "GHz", "~60", float64(hcibench[3].net())/ghz).but("", "less idle 59 (I-9)")
	least, most := hcibench[0].network().Of(hcibench[0].net()), hcibench[5].network().Of(hcibench[5].net())
	s.add(id, "goes to network, least", "% of CPU", "10", 100*float64(least)).but("I-11", "an overhead, and from the wrong IOPS")
	s.add(id, "goes to network, most", "% of CPU", "30", 100*float64(most)).but("I-11", "an overhead, not a share")
}

// mistaken notes a mistake of the article at a figure that does not come out.
func (s *sheet) mistaken(c *check, inconsistency, note string) {
	if inconsistency != "" && !(*unit.Check)(c).Reproduced() {
		c.but(inconsistency, note)
	}
}
