package scheduler

import (
	"time"

	"example.org/homenode/numa"
)

// timeOf returns the time at which a step begins.
func timeOf(step int64) time.Duration { return time.Duration(step) * numa.Step }

// A curve is the demand of a vCPU in whole numbers.
type curve struct {
	low, high, noise int16 // parts
	peak             int32 // second of the day
}

// parts returns a share in hundredths of a percent.
func parts(share float64) int64 {
	return int64(float64(min(max(share, 0), 1)*full) + 0.5)
}

func curveOf(d *numa.Demand) curve {
	return curve{int16(parts(d.Low)), int16(parts(d.High)), int16(parts(d.Noise)), int32(d.Peak / time.Second)}
}

const halfDay int64 = 12 * 3600

// at returns the demand at a second of the day, without noise: from low to high along
// x²(3-2x), which is flat at both ends.
func (c *curve) at(second int64) int64 {
	low, high := int64(c.low), int64(c.high)
	if low == high {
		return low
	}
	d := second - int64(c.peak)
	if d < 0 {
		d = -d
	}
	if d > halfDay {
		d = 2*halfDay - d
	}
	x := halfDay - d
	return low + (high-low)*x*x*(3*halfDay-2*x)/(halfDay*halfDay*halfDay)
}

// hash is splitmix64 of a number: https://prng.di.unimi.it/splitmix64.c.
func hash(x uint64) uint64 {
	x += 0x9E3779B97F4A7C15
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

// draw returns the demand of each vCPU of a VM in the draw of a step.
func (h *host) draw(v *vm, seed uint64, second, step int64) int64 {
	if v.recorded {
		return recorded(h.loadOf(v).CPU.Points, timeOf(step))
	}
	share := v.curve.at(second)
	if noise := int64(v.curve.noise); noise > 0 {
		r := hash(seed + 0x9E3779B97F4A7C15*uint64(v.index+1) + 0xD1B54A32D192ED03*uint64(step/drawSteps))
		share += int64(r%uint64(2*noise+1)) - noise
	}
	return min(max(share, 0), full)
}

// recorded returns the demand of the last point at or before t, or of the first.
func recorded(points []numa.DemandPoint, t time.Duration) int64 {
	low, high := 0, len(points)
	for low < high {
		if mid := (low + high) / 2; points[mid].At <= t {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return parts(points[max(low, 1)-1].Share)
}
