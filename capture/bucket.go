package capture

import "example.org/homenode/numa"

// Locality returns N%L as shares: its mean over memory and ticks, and its minimum. It reports false without memory on a node.
func (b *VMBucket) Locality() (mean, least float64, ok bool) {
	if b.Memory == 0 || b.Local+b.Remote <= 0 {
		return 0, 0, false
	}
	return float64(b.Local) / float64(b.Local+b.Remote), float64(b.Least) / Whole, true
}

// Amounts returns the memory on home nodes and on other nodes: means over the ticks that state it. It reports false if no tick
// does.
func (b *VMBucket) Amounts() (local, remote numa.Bytes, ok bool) {
	n := int64(max(b.Memory, 1))
	return numa.Bytes(b.Local/n) * numa.KiB, numa.Bytes(b.Remote/n) * numa.KiB, b.Memory > 0
}

// Waiting returns the ready time of each vCPU, mean and maximum, and the mean co-stop time, as shares of time. It reports false
// if no tick states them.
func (b *VMBucket) Waiting() (ready, most, coStop float64, ok bool) {
	n := float64(max(b.Rates, 1)) * Whole
	return float64(b.Ready) / n, float64(b.MostReady) / Whole, float64(b.CoStop) / n, b.Rates > 0
}

// Load returns the mean and the highest load as shares of the cores. It reports false if no tick states it.
func (b *NodeBucket) Load() (mean, most float64, ok bool) {
	return float64(b.Busy) / float64(max(b.Loads, 1)) / Whole, float64(b.MostBusy) / Whole, b.Loads > 0
}

// MeanFree returns the mean of the free memory. It reports false if no tick states it.
func (b *NodeBucket) MeanFree() (free numa.Bytes, ok bool) {
	return numa.Bytes(b.Free/int64(max(b.Frees, 1))) * numa.KiB, b.Frees > 0
}
