package iocost

import "example.org/homenode/numa/unit"

// A Rule is a published rule of thumb: the cost per bit on a path, whatever the block, direction and pattern.
type Rule struct {
	Path  Path
	Cost  unit.Figure[unit.CyclesPerBit] // the rule, within the measured range
	Exact unit.CyclesPerBit              // the mean, before rounding
}

// Rules returns the rules of thumb of b-rules, by cost.
func Rules() []Rule {
	rule := func(path Path, v, exact, low, high unit.CyclesPerBit, source, hardware, note string) Rule {
		return Rule{path, unit.Figure[unit.CyclesPerBit]{
			Value: v, Low: min(low, v), High: max(high, v), Origin: unit.Published, Source: source, Hardware: hardware, Note: note,
		}, exact}
	}
	nvme, nvmeLow, nvmeHigh := mean(NVMe, func(k Kind) bool {
		return k.Block == LimitUnit && k.Random == 1 || k.Block == 32*LimitUnit && k.Random == 0
	})
	vsan, vsanLow, vsanHigh := mean(VSANESA, func(k Kind) bool { return k.Read == 0 || k.Read == 1 })
	return []Rule{
		rule(RAM, 0.01, Memory.Value, Memory.Low, Memory.High, Memory.Source, Memory.Hardware, "250 cycles for 4 KiB"),
		rule(Network, 0.25, (Transmit.Value+Receive.Value)/2, Transmit.Value, Receive.Value, Transmit.Source, Transmit.Hardware, "mean of sending and receiving"),
		rule(NVMe, 0.5, nvme, nvmeLow, nvmeHigh, "b-nvme-rule", iometer[0].Hardware, "mean of 32 KiB random and 1 MiB sequential"),
		rule(VSANESA, 3.5, vsan, vsanLow, vsanHigh, "b-vsan-rule", hcibench[0].Hardware, "mean of 32 KiB random and 1 MiB sequential"),
	}
}

// mean returns the mean cost per bit of published kinds, the least and the most.
func mean(path Path, which func(Kind) bool) (v, low, high unit.CyclesPerBit) {
	var n unit.CyclesPerBit
	for _, p := range Published() {
		if p.Path != path || !which(p.Kind) {
			continue
		}
		c := p.PerIO.Value.PerBit(p.Block)
		if n == 0 {
			low, high = c, c
		}
		v, n, low, high = v+c, n+1, min(low, c), max(high, c)
	}
	return v / n, low, high
}
