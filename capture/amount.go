package capture

import (
	"math/bits"
	"time"

	"example.org/homenode/numa"
)

// add adds n KiB over ms milliseconds; neither is negative.
func (s *Sum) add(kib, ms int64) {
	hi, lo := bits.Mul64(uint64(kib), uint64(ms))
	s.join(Sum{hi, lo})
}

func (s *Sum) join(next Sum) {
	var carry uint64
	s.Lo, carry = bits.Add64(s.Lo, next.Lo, 0)
	s.Hi, _ = bits.Add64(s.Hi, next.Hi, carry)
}

// Mean returns the mean over a duration: VM.Managed for Local and Remote. It reports false for
// a duration of 0.
func (a *Amount) Mean(over time.Duration) (mean numa.Bytes, ok bool) {
	ms := uint64(max(0, over.Milliseconds()))
	if ms <= a.Sum.Hi { // duration 0, or a mean beyond 64 bits (a Sum over another duration)
		return 0, false
	}
	kib, _ := bits.Div64(a.Sum.Hi, a.Sum.Lo, ms)
	return numa.Bytes(kib) * numa.KiB, true
}

// see records the amount at one moment.
func (a *Amount) see(b numa.Bytes, at time.Time) {
	if a.At.IsZero() || b > a.Most {
		a.Most, a.At = b, at
	}
}

func (a *Amount) join(next *Amount) {
	a.Sum.join(next.Sum)
	if !next.At.IsZero() {
		a.see(next.Most, next.At)
	}
}

// see records the level at one moment, in hundredths of a percent.
func (l *Level) see(share int64, at time.Time) {
	if l.At.IsZero() || share > l.Most {
		l.Most, l.At = share, at
	}
}

// last adds a level that lasted for d, in hundredths of a percent.
func (l *Level) last(share int64, d time.Duration) {
	l.Sum += share * d.Milliseconds()
	l.Time += d
}

func (l *Level) join(next *Level) {
	l.Sum += next.Sum
	l.Time += next.Time
	if !next.At.IsZero() {
		l.see(next.Most, next.At)
	}
}

// Plus returns the level over both stretches; next is the later one.
func (l Level) Plus(next Level) Level {
	l.join(&next)
	return l
}

// hundredths returns a share in hundredths of a percent, rounded. The conversion forbids
// a fused multiply-add, so that all machines round alike.
func hundredths(share float64) int64 { return int64(float64(share*Whole) + 0.5) }
