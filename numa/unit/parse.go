package unit

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"

	"example.org/homenode/numa"
)

// amount splits "3.6 GHz" into its number and its unit. Thousands may be separated by commas.
func amount(s string) (v float64, unit string, ok bool) {
	s = strings.TrimSpace(s)
	end := strings.IndexFunc(s, func(r rune) bool { return r != '.' && r != ',' && !unicode.IsDigit(r) })
	if end < 0 {
		end = len(s)
	}
	number, unit := s[:end], strings.TrimSpace(s[end:])
	if !grouped(number) {
		return 0, unit, false
	}
	v, err := strconv.ParseFloat(strings.ReplaceAll(number, ",", ""), 64)
	return v, unit, err == nil && !math.IsInf(v, 0)
}

// grouped reports whether commas, if any, separate groups of three digits: 1,5 is not 15.
func grouped(number string) bool {
	whole, rest, _ := strings.Cut(number, ".")
	if strings.Contains(rest, ",") {
		return false
	}
	groups := strings.Split(whole, ",")
	for i, g := range groups {
		if len(groups) > 1 && (i > 0 && len(g) != 3 || i == 0 && (g == "" || len(g) > 3)) {
			return false
		}
	}
	return number != ""
}

// ParseHz parses a frequency or an amount of CPU: "3.6 GHz", "2400MHz".
func ParseHz(s string) (Hz, error) {
	v, unit, ok := amount(s)
	if ok && v > 0 {
		switch strings.ToLower(unit) {
		case "ghz":
			return Hz(v) * GHz, nil
		case "mhz":
			return Hz(v) * MHz, nil
		}
	}
	return 0, fmt.Errorf("found %q, want a frequency such as 3.6GHz or 2400MHz", s)
}

// bitRates are the units of traffic as written; case matters.
var bitRates = map[string]BitRate{
	"b/s": 1, "kb/s": 1e3, "Kb/s": 1e3, "Mb/s": 1e6, "Gb/s": 1e9, "Tb/s": 1e12,
	"B/s": 8, "kB/s": 8e3, "KB/s": 8e3, "MB/s": 8e6, "GB/s": 8e9, "TB/s": 8e12,
	"KiB/s": 8 << 10, "MiB/s": 8 << 20, "GiB/s": 8 << 30, "TiB/s": 8 << 40,
}

// ParseBitRate parses traffic: "10 Gb/s", "10Gbps", "10Gbit/s" are bits, "1.2 GB/s" decimal bytes,
// "500 MiB/s" binary ones. Case matters: gb/s could be either and is an error.
func ParseBitRate(s string) (BitRate, error) {
	v, unit, ok := amount(s)
	name := unit
	for _, alias := range []string{"bit/s", "bps"} {
		if cut, found := strings.CutSuffix(unit, alias); found {
			name = cut + "b/s"
		}
	}
	if cut, found := strings.CutSuffix(unit, "Bps"); found {
		name = cut + "B/s"
	}
	if rate, known := bitRates[name]; ok && known && v > 0 {
		return BitRate(v) * rate, nil
	}
	if strings.EqualFold(name, "gb/s") || strings.EqualFold(name, "mb/s") || strings.EqualFold(name, "kb/s") {
		big := strings.ToUpper(name[:1])
		return 0, fmt.Errorf("found %q: want %sb/s for bits or %sB/s for bytes", s, big, big)
	}
	return 0, fmt.Errorf("found %q, want traffic such as 10Gb/s (bits), 1.2GB/s or 900MiB/s (bytes)", s)
}

// ParseIORate parses I/Os per second: "100000", "100,000", "100k", "1.2M", "5000 IOPS".
func ParseIORate(s string) (IORate, error) {
	v, unit, ok := amount(s)
	if name := strings.ToLower(unit); strings.HasSuffix(name, "iops") {
		unit = strings.TrimSpace(unit[:len(unit)-len("iops")])
	}
	factor, known := map[string]float64{"": 1, "k": 1e3, "K": 1e3, "M": 1e6}[unit]
	switch {
	case !ok || !known:
		return 0, fmt.Errorf("found %q, want I/Os a second such as 100000, 100k or 1.2M", s)
	case v == 0:
		return 0, fmt.Errorf("found %q: no I/O costs nothing, want more than 0", s)
	}
	return IORate(v * factor), nil
}

// sizes are the units of sizes: always binary, as in storage tools and the vSphere Client.
var sizes = map[string]numa.Bytes{
	"B": 1, "K": numa.KiB, "KB": numa.KiB, "KIB": numa.KiB, "M": numa.MiB, "MB": numa.MiB, "MIB": numa.MiB,
	"G": numa.GiB, "GB": numa.GiB, "GIB": numa.GiB, "T": numa.TiB, "TB": numa.TiB, "TIB": numa.TiB,
}

// ParseSize parses a block, memory or disk: "4k", "32 KiB", "512B", "1.5TB". Units are binary; a
// bare number could be bytes as well as KiB or MB and is an error. A fraction of a byte is an error
// below 1 MiB; above it, as in 1.2TB, it is rounded down.
func ParseSize(s string) (numa.Bytes, error) {
	v, unit, ok := amount(s)
	factor, known := sizes[strings.ToUpper(unit)]
	whole := v * float64(factor)
	if ok && known && whole > 0 && whole < 1<<62 && (whole >= float64(numa.MiB) || whole == math.Trunc(whole)) {
		return numa.Bytes(whole), nil
	}
	if ok && unit == "" && v > 0 {
		return 0, fmt.Errorf("found %q without a unit, want a size such as 512B, 4k, 512GB or 1.5TB", s)
	}
	return 0, fmt.Errorf("found %q, want a size such as 4k, 512GB or 1.5TB", s)
}

// ParsePercent parses "70" or "70%" as a share, from 0 to 100 %. A number between 0 and 1 without
// the sign could be a share and is an error.
func ParsePercent(s string) (Share, error) {
	v, unit, ok := amount(s)
	switch {
	case !ok || unit != "" && unit != "%":
		return 0, fmt.Errorf("found %q, want a percentage such as 70", s)
	case v > 100:
		return 0, fmt.Errorf("found %q, want at most 100 %%", s)
	case unit == "" && v > 0 && v < 1:
		return 0, fmt.Errorf("found %q: want 70 for 70 %%, or %s%% if it is less than one", s, strings.TrimSpace(s))
	}
	return Share(v / 100), nil
}
