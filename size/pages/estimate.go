package pages

import (
	"homenode/numa"
	"homenode/numa/unit"
)

// An Amount is memory as a figure.
type Amount float64

// Bytes returns the amount in whole bytes.
func (a Amount) Bytes() numa.Bytes { return numa.Bytes(a) }

// A Request asks for a gain where nothing was counted.
type Request struct {
	Memory   numa.Bytes // configured of all VMs
	Consumed numa.Bytes // that they take on the hosts; 0 when unknown
	Gain     unit.Figure[unit.Share]
	Large    unit.Figure[unit.Share] // for which guests ask themselves
	// GainAt is the Large at which Gain was measured: what is alike is taken to be spread
	// evenly, so that the gain is in proportion to what is small. Gain is used as it is
	// where nothing was small.
	GainAt  unit.Share
	Host    numa.Bytes   // memory of one host; 0 when unknown
	Release numa.Release // 0 when unknown: 6.0 or later
	VM      numa.Bytes   // the largest VM; 0 when unknown
	Scan    Scan         // zero for DefaultScan
}

// An Estimated is what the published share comes to.
type Estimated struct {
	Memory   numa.Bytes  `json:"memory"`
	Consumed *numa.Bytes `json:"consumed,omitempty"`
	// Large stays large, as guests ask for it; Small can be shared.
	Large numa.Bytes `json:"large"`
	Small numa.Bytes `json:"small"`
	// The two readings of the share.
	OfAllotted unit.Figure[Amount]  `json:"ofAllotted"`
	OfConsumed *unit.Figure[Amount] `json:"ofConsumed,omitempty"`
	Limits     *Limits              `json:"limits,omitempty"` // of one host
	// Pass is the seconds that one pass over the largest VM takes at least.
	Pass *float64 `json:"passSeconds,omitempty"`
}

// Estimate reckons a gain with a share that was published or given.
func Estimate(r *Request) *Estimated {
	e := &Estimated{Memory: r.Memory, Large: numa.Bytes(float64(r.Memory)*float64(r.Large.Value) + 0.5)}
	e.Small = r.Memory - e.Large
	gain := r.Gain
	if r.GainAt < 1 {
		gain = gain.Times(float64((1 - r.Large.Value) / (1 - r.GainAt)))
	}
	e.OfAllotted = gainOf(gain, r.Memory, e.Small)
	if r.Consumed > 0 {
		e.Consumed = to(r.Consumed)
		e.OfConsumed = to(gainOf(gain, r.Consumed, min(e.Small, r.Consumed)))
	}
	release := r.Release
	if release == 0 {
		release = numa.ESXi60
	}
	if r.Host > 0 {
		e.Limits = to(LimitsOf(r.Host, release))
	}
	if r.VM > 0 {
		scan := r.Scan
		if scan == (Scan{}) {
			scan = DefaultScan()
		}
		e.Pass = to(scan.Pass(r.VM).Seconds())
	}
	return e
}

// gainOf returns the share of an amount, at most what is small.
func gainOf(share unit.Figure[unit.Share], of, small numa.Bytes) unit.Figure[Amount] {
	at := func(s unit.Share) Amount { return Amount(min(float64(s)*float64(of), float64(small))) }
	return unit.Figure[Amount]{Value: at(share.Value), Low: at(share.Low), High: at(share.High), Origin: unit.Derived, Source: share.Source}
}
