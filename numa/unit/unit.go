// Package unit contains units of bytes, time and rates that calculations, facts and answers share, and figures
// with their source, hardware and range. The calculations are in the packages below size, one for
// each question; all are pure functions.
//
//	IORate × Cycles       = Hz        I/Os a second × cycles each
//	BitRate × CyclesPerBit = Hz       the same by bits
//	IORate × block        = BitRate
//	Cycles ÷ block        = CyclesPerBit
//
// The units are types, so that GHz and Gb/s cannot be added by mistake.
package unit

import (
	"math"
	"strconv"
	"strings"

	"example.org/homenode/numa"
)

// Hz is CPU: cycles per second. A core of 3.6 GHz that is always busy is 3.6e9.
type Hz float64

// Units of CPU.
const (
	MHz Hz = 1e6
	GHz Hz = 1e9
)

// A BitRate is traffic in bits per second, decimal as in networking.
type BitRate float64

// BytePerSecond is a byte of traffic per second. A GB/s of a disk is 10⁹ bytes per second, a MiB/s 2²⁰.
const BytePerSecond BitRate = 8

// An IORate is I/Os per second (IOPS).
type IORate float64

// Cycles is the cost of one I/O.
type Cycles float64

// CyclesPerBit is the cost of one bit: Hz per bit/s, as in the published rules of thumb.
type CyclesPerBit float64

// Seconds is a duration, such as the latency of one access, I/O or call.
type Seconds float64

// A Share is a part of a whole: 1 is all of it.
type Share float64

// Bits returns the bits of a block.
func Bits(block numa.Bytes) float64 { return float64(block) * 8 }

// Traffic returns the traffic of these I/Os of one block each.
func (r IORate) Traffic(block numa.Bytes) BitRate { return BitRate(float64(r) * Bits(block)) }

// Rate returns the rate of I/Os of one block each with this traffic.
func (b BitRate) Rate(block numa.Bytes) IORate { return IORate(float64(b) / Bits(block)) }

// PerBit returns the cost of one bit of a block.
func (c Cycles) PerBit(block numa.Bytes) CyclesPerBit { return CyclesPerBit(float64(c) / Bits(block)) }

// At returns the CPU of that much traffic.
func (c CyclesPerBit) At(b BitRate) Hz { return Hz(float64(c) * float64(b)) }

// PerIO returns the cost of one block.
func (c CyclesPerBit) PerIO(block numa.Bytes) Cycles { return Cycles(float64(c) * Bits(block)) }

// PerIO returns the cost of one of r I/Os per second.
func (h Hz) PerIO(r IORate) Cycles { return Cycles(float64(h) / float64(r)) }

// Of returns h as a share of whole.
func (h Hz) Of(whole Hz) Share { return Share(float64(h) / float64(whole)) }

// String formats h as "3.6 GHz" or "620 MHz", with at least three digits.
func (h Hz) String() string {
	return scaled(float64(h), "Hz", []string{"", "k", "M", "G", "T"})
}

// String formats b as "27.2 Gb/s".
func (b BitRate) String() string {
	return scaled(float64(b), "b/s", []string{"", "k", "M", "G", "T"})
}

// Bytes formats b as "3.4 GB/s", decimal.
func (b BitRate) Bytes() string {
	return scaled(float64(b)/8, "B/s", []string{"", "k", "M", "G", "T"})
}

// String formats r as "721,317 IOPS".
func (r IORate) String() string { return Grouped(float64(r), 0) + " IOPS" }

// String formats c as "640 k cycles".
func (c Cycles) String() string {
	return scaled(float64(c), "cycles", []string{"", "k ", "M ", "G "})
}

// String formats t as "81.1 ns" or "2.03 ms", with three digits.
func (t Seconds) String() string {
	v := math.Abs(float64(t))
	for _, unit := range []struct {
		name string
		per  float64
	}{{"ns", 1e9}, {"µs", 1e6}, {"ms", 1e3}} {
		if v*unit.per < 999.5 {
			return Digits(float64(t)*unit.per, 3) + " " + unit.name
		}
	}
	return Digits(float64(t), 3) + " s"
}

// String formats c as the articles print it: "3.57 Hz per b/s".
func (c CyclesPerBit) String() string { return Digits(float64(c), 3) + " Hz per b/s" }

// String formats s in percent: "70 %", with one digit after the point below 10 %.
func (s Share) String() string {
	p := float64(s) * 100
	if math.Abs(p) >= 9.95 || p == math.Trunc(p) {
		return strconv.FormatFloat(p, 'f', 0, 64) + " %"
	}
	return strconv.FormatFloat(p, 'f', 1, 64) + " %"
}

// scaled formats a number with a prefix for each factor of a thousand, with three digits.
func scaled(v float64, unit string, prefixes []string) string {
	i := 0
	for i < len(prefixes)-1 && math.Abs(v) >= 999.5 {
		v /= 1000
		i++
	}
	return Digits(v, 3) + " " + prefixes[i] + unit
}

// Digits formats a number with at most n significant digits: 0.163, 2.5, 115, 1,825. Digits before
// the point are never rounded away.
func Digits(v float64, n int) string {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	before := int(math.Floor(math.Log10(math.Abs(v)))) + 1
	after := max(n-before, 0)
	s := Grouped(v, after)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// Grouped formats a number with thousands separated by commas and this number of digits after the
// point.
func Grouped(v float64, after int) string {
	s := strconv.FormatFloat(math.Abs(v), 'f', after, 64)
	whole, rest, _ := strings.Cut(s, ".")
	var b strings.Builder
	if v < 0 && strings.Trim(s, "0.") != "" {
		b.WriteByte('-')
	}
	for i, digit := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(digit)
	}
	if rest != "" {
		b.WriteString("." + rest)
	}
	return b.String()
}
