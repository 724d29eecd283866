package dump

import (
	"errors"
	"fmt"
	"math"
	"sort"

	"homenode/numa"
	"homenode/numa/unit"
)

// Needs are what the boot device has to leave.
type Needs struct {
	Logs    Size       `json:"logs"`    // for logs and traces
	Reserve unit.Share `json:"reserve"` // of ESX-OSData that stays free
	Media   Media      `json:"systemMediaSize"`
}

// MostReserve is the largest reserve that leaves something.
const MostReserve unit.Share = 0.9

// Published are the needs of the published design: 20 % of ESX-OSData stay free and 3 GB
// are enough for logs and traces (b-osdata).
var Published = Needs{Logs: 3 * GiB, Reserve: 0.2, Media: MediaDefault}

// check returns what is wrong with n.
func (n *Needs) check() error {
	switch {
	case !(n.Reserve >= 0 && n.Reserve <= MostReserve):
		return fmt.Errorf("found a reserve of %s, want 0 to %s", n.Reserve, MostReserve)
	case !(n.Logs >= 0) || n.Logs > Size(64*numa.TiB):
		return fmt.Errorf("found %s for logs, want 0 to 64 TB", n.Logs)
	}
	return nil
}

// A Verdict says whether the file and the logs fit on the boot device.
type Verdict string

// The verdicts, the best first.
const (
	Fits       Verdict = "fits"
	FitsMaybe  Verdict = "may not fit" // with the value, but not with the upper bound of the file
	ShortLogs  Verdict = "too little for logs"
	DoesNotFit Verdict = "does not fit"
)

// A Plan is the boot device of a host with its dump file.
type Plan struct {
	File   File   `json:"-"` // beside it in a Result
	Layout Layout `json:"layout"`
	Needs  Needs  `json:"needs"`
	// Usable is ESX-OSData less the reserve, Left that less the file; its Low is with the
	// upper bound of the file. Negative when the file does not fit.
	Reserve Size              `json:"reserveSize"`
	Usable  Size              `json:"usable"`
	Left    unit.Figure[Size] `json:"left"`
	Verdict Verdict           `json:"verdict"`
}

// Fit puts the file on a boot device.
func Fit(f File, boot Size, n Needs) (Plan, error) {
	if err := n.check(); err != nil {
		return Plan{}, err
	}
	l, err := Divide(boot, n.Media)
	if err != nil {
		return Plan{}, err
	}
	n.Media = l.Media
	p := Plan{File: f, Layout: l, Needs: n, Reserve: bytes(float64(l.OSData) * float64(n.Reserve))}
	p.Usable = l.OSData - p.Reserve
	p.Left = unit.Figure[Size]{
		Value: p.Usable - f.Size.Value, Low: p.Usable - f.Size.High, High: p.Usable - f.Size.Low,
		Origin: unit.Derived, Source: "b-osdata",
	}
	switch {
	case p.Left.Value < 0:
		p.Verdict = DoesNotFit
	case p.Left.Value < n.Logs:
		p.Verdict = ShortLogs
	case p.Left.Low < n.Logs:
		p.Verdict = FitsMaybe
	default:
		p.Verdict = Fits
	}
	return p, nil
}

// ErrNoBoot is returned when no boot device is large enough: systemMediaSize bounds
// ESX-OSData, or the reserve takes all.
var ErrNoBoot = errors.New("no boot device is large enough with this systemMediaSize")

// LeastBootFor returns the smallest boot device, in whole GiB and of at least the 32 GB
// that 7.0 and later want, on which the upper bound of the file and the logs fit.
func LeastBootFor(f File, n Needs) (Size, error) {
	if err := n.check(); err != nil {
		return 0, err
	}
	need := (f.Size.High+n.Logs)/Size(1-n.Reserve) + bootLoader + 8*GiB
	boot := max(whole(need), 32*GiB)
	p, err := Fit(f, boot, n)
	if err != nil {
		return 0, err
	}
	if p.Verdict != Fits { // what rounding took
		if p, err = Fit(f, boot+GiB, n); err != nil {
			return 0, err
		}
	}
	if p.Verdict != Fits {
		return 0, ErrNoBoot
	}
	return p.Layout.Boot, nil
}

// whole returns s rounded up to whole GiB.
func whole(s Size) Size { return Size(math.Ceil(float64(s/GiB))) * GiB }

// MostRAM returns the most RAM, in whole GiB, of a host whose file fits on the boot device
// with its upper bound, beside the logs. It reports false when even the smallest host does
// not fit.
func MostRAM(boot Size, n Needs) (numa.Bytes, bool, error) {
	if _, err := Fit(File{}, boot, n); err != nil {
		return 0, false, err
	}
	fits := func(gib int) bool {
		f, err := Of(numa.Bytes(gib)*numa.GiB, 0)
		if err != nil {
			return false
		}
		p, err := Fit(f, boot, n)
		return err == nil && p.Verdict == Fits
	}
	// The upper bound never falls with the RAM, so the first size that does not fit ends it.
	least, most := int(leastRAM/numa.GiB), int(numa.MaxHostMemory/numa.GiB)
	i := sort.Search(most-least+1, func(i int) bool { return !fits(least + i) })
	if i == 0 {
		return 0, false, nil
	}
	return numa.Bytes(least+i-1) * numa.GiB, true, nil
}
