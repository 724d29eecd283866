package pages

import (
	"cmp"
	"math"
	"time"

	"example.org/homenode/numa"
)

// Limits are the free memory below which a host acts by itself (rule book C-23), which overrides
// the options: large pages are broken whatever the value of LPage.LPageAlwaysTryForNPT.
type Limits struct {
	MinFree numa.Bytes `json:"minFree"`
	// Break is the limit below which large pages are broken, to be shared in the next pass.
	Break numa.Bytes `json:"break"`
	// Share is the limit below which page sharing runs at once; 0 before 6.0, which has no such state.
	Share numa.Bytes `json:"share,omitempty"`
	// Balloon is the limit below which guests lose memory.
	Balloon numa.Bytes `json:"balloon"`
	// Left is the free memory above Break: negative when large pages are being broken now. Nil when
	// the free memory is not stated.
	Left *numa.Bytes `json:"left,omitempty"`
	// Reckoned reports that MinFree was computed by the scale of its release, not read.
	Reckoned bool `json:"reckoned,omitempty"`
}

// LimitsOf returns the limits of a host with this memory.
func LimitsOf(memory numa.Bytes, r numa.Release) Limits {
	l := limitsBy(numa.MinFree(memory, r), r)
	l.Reckoned = true
	return l
}

func limitsBy(minFree numa.Bytes, r numa.Release) Limits {
	l := Limits{MinFree: minFree, Break: numa.SoftFactor(r) * minFree, Balloon: minFree * 64 / 100}
	if r >= numa.ESXi60 {
		l.Share = minFree
	}
	return l
}

func limitsOf(h *Host) *Limits {
	r := h.Release
	r = cmp.Or(r, numa.ESXi60)
	var l Limits
	switch {
	case h.MinFree != nil:
		l = limitsBy(*h.MinFree, r)
	case h.Memory != nil:
		l = LimitsOf(*h.Memory, r)
	default:
		return nil
	}
	if h.Free != nil {
		l.Left = to(*h.Free - l.Break)
	}
	return &l
}

// A Scan is the speed of the scan for equal pages (rule book C-22).
type Scan struct {
	Time   time.Duration // Mem.ShareScanTime: the minimum of a pass over a VM
	PerGHz numa.Bytes    // Mem.ShareScanGHz: bytes a second for each GHz of the host
	Rate   int64         // Mem.ShareRateMax: pages a second and VM
}

// DefaultScan returns the defaults of ESXi.
func DefaultScan() Scan { return Scan{time.Hour, 4 * numa.MiB, 1024} }

// Pass returns the minimum duration of one pass over a VM.
func (s Scan) Pass(vm numa.Bytes) time.Duration {
	return max(s.Time, seconds(float64(vm)/float64(numa.Bytes(s.Rate)*numa.PageSize)))
}

func seconds(s float64) time.Duration {
	return time.Duration(math.Round(s)) * time.Second
}

// Breaking returns the hosts that are breaking large pages now, and the one that is closest to it;
// nil when none is known.
func (c *Counted) Breaking() (now []string, next *Counts) {
	for i := range c.Hosts {
		h := &c.Hosts[i]
		switch {
		case h.Limits == nil || h.Limits.Left == nil:
		case *h.Limits.Left < 0:
			now = append(now, h.Host)
		case next == nil || *h.Limits.Left < *next.Limits.Left:
			next = h
		}
	}
	return now, next
}
