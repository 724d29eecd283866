package unit

import (
	"testing"

	"example.org/homenode/numa"
)

func TestText(t *testing.T) {
	for _, tt := range []struct{ got, want string }{
		{Hz(3.6e9).String(), "3.6 GHz"},
		{(619.6 * MHz).String(), "620 MHz"},
		{Hz(999.6e6).String(), "1 GHz"},
		{Hz(115.2e9).String(), "115 GHz"},
		{Hz(0).String(), "0 Hz"},
		{BitRate(27.2e9).String(), "27.2 Gb/s"},
		{BitRate(27.2e9).Bytes(), "3.4 GB/s"},
		{IORate(721317.28).String(), "721,317 IOPS"},
		{Cycles(640480).String(), "640 k cycles"},
		{Cycles(1825.9e3).String(), "1.83 M cycles"},
		{CyclesPerBit(0.163).String(), "0.163 Hz per b/s"},
		{CyclesPerBit(3.5675).String(), "3.57 Hz per b/s"},
		{Seconds(81.075e-9).String(), "81.1 ns"},
		{Seconds(999.6e-9).String(), "1 µs"},
		{Seconds(0.00203).String(), "2.03 ms"},
		{Seconds(0.28).String(), "280 ms"},
		{Seconds(1825).String(), "1,825 s"},
		{Seconds(0).String(), "0 ns"},
		{Share(0.696).String(), "70 %"},
		{Share(0.0123).String(), "1.2 %"},
		{Grouped(-1234567.891, 2), "-1,234,567.89"},
		{Grouped(-0.001, 2), "0.00"},
		{Digits(1825.9, 3), "1,826"},
		{Digits(0.00763, 2), "0.0076"},
		{Digits(9.999, 3), "10"},
	} {
		if tt.got != tt.want {
			t.Errorf("found %q, want %q", tt.got, tt.want)
		}
	}
}

func TestParse(t *testing.T) {
	hz := func(s string) (float64, error) { v, err := ParseHz(s); return float64(v), err }
	bits := func(s string) (float64, error) { v, err := ParseBitRate(s); return float64(v), err }
	ios := func(s string) (float64, error) { v, err := ParseIORate(s); return float64(v), err }
	size := func(s string) (float64, error) { v, err := ParseSize(s); return float64(v), err }
	percent := func(s string) (float64, error) { v, err := ParsePercent(s); return float64(v), err }
	for _, tt := range []struct {
		parse func(string) (float64, error)
		in    string
		want  float64
		err   string
	}{
		{hz, "3.6 GHz", 3.6e9, ""},
		{hz, "2400mhz", 2.4e9, ""},
		{hz, "3.6", 0, `found "3.6", want a frequency such as 3.6GHz or 2400MHz`},
		{hz, "0GHz", 0, `found "0GHz", want a frequency such as 3.6GHz or 2400MHz`},
		{bits, "10 Gb/s", 10e9, ""},
		{bits, "10Gbps", 10e9, ""},
		{bits, "10Gbit/s", 10e9, ""},
		{bits, "1.2 GB/s", 9.6e9, ""},
		{bits, "500MiB/s", 500 * 8 << 20, ""},
		{bits, "7b/s", 7, ""}, {bits, "7kb/s", 7e3, ""}, {bits, "7Kbps", 7e3, ""}, {bits, "7Mb/s", 7e6, ""}, {bits, "7Tb/s", 7e12, ""},
		{bits, "7B/s", 56, ""}, {bits, "7kB/s", 56e3, ""}, {bits, "7MB/s", 56e6, ""}, {bits, "7TBps", 56e12, ""},
		{bits, "7KiB/s", 57344, ""}, {bits, "7GiB/s", 60129542144, ""}, {bits, "7TiB/s", 61572651155456, ""},
		{bits, "10gb/s", 0, `found "10gb/s": want Gb/s for bits or GB/s for bytes`},
		{bits, "10", 0, `found "10", want traffic such as 10Gb/s (bits), 1.2GB/s or 900MiB/s (bytes)`},
		{bits, "10 GHz", 0, `found "10 GHz", want traffic such as 10Gb/s (bits), 1.2GB/s or 900MiB/s (bytes)`},
		{ios, "100k", 100e3, ""},
		{ios, "1,000,000", 1e6, ""},
		{ios, "5000 IOPS", 5000, ""},
		{ios, "0", 0, `found "0": no I/O costs nothing, want more than 0`},
		{ios, "1,5", 0, `found "1,5", want I/Os a second such as 100000, 100k or 1.2M`},
		{ios, "10Gb/s", 0, `found "10Gb/s", want I/Os a second such as 100000, 100k or 1.2M`},
		{size, "32k", 32768, ""},
		{size, "1.5TB", 1.5 * float64(numa.TiB), ""},
		{size, "1.2TB", 1319413953331, ""},
		{size, "0.1k", 0, `found "0.1k", want a size such as 4k, 512GB or 1.5TB`},
		{size, "512B", 512, ""},
		{size, "32", 0, `found "32" without a unit, want a size such as 512B, 4k, 512GB or 1.5TB`},
		{size, "0", 0, `found "0", want a size such as 4k, 512GB or 1.5TB`},
		{size, "0.3B", 0, `found "0.3B", want a size such as 4k, 512GB or 1.5TB`},
		{percent, "70", 0.7, ""},
		{percent, "70 %", 0.7, ""},
		{percent, "101", 0, `found "101", want at most 100 %`},
		{percent, "0.7", 0, `found "0.7": want 70 for 70 %, or 0.7% if it is less than one`},
		{percent, "-3", 0, `found "-3", want a percentage such as 70`},
	} {
		got, err := tt.parse(tt.in)
		text := ""
		if err != nil {
			text = err.Error()
		}
		if diff := got - tt.want; diff > 1e-9*tt.want || -diff > 1e-9*tt.want || text != tt.err {
			t.Errorf("%q: found %v, %q; want %v, %q", tt.in, got, text, tt.want, tt.err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"3.6 GHz", "10gb/s", "1,000,000", "70%", "1.5TB", "", ",", ".", "1e309"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if v, err := ParseHz(s); err == nil && !(v > 0) {
			t.Errorf("ParseHz(%q) = %v", s, v)
		}
		if v, err := ParseBitRate(s); err == nil && !(v > 0) {
			t.Errorf("ParseBitRate(%q) = %v", s, v)
		}
		if v, err := ParseIORate(s); err == nil && !(v > 0) {
			t.Errorf("ParseIORate(%q) = %v", s, v)
		}
		if v, err := ParseSize(s); err == nil && v <= 0 {
			t.Errorf("ParseSize(%q) = %v", s, v)
		}
		if v, err := ParsePercent(s); err == nil && !(v >= 0 && v <= 1) {
			t.Errorf("ParsePercent(%q) = %v", s, v)
		}
	})
}

// TestUnits checks the identities of the package comment on one measured row: 32 KiB reads
// of a published experiment.
func TestUnits(t *testing.T) {
	const rate, block = IORate(120219.546), 32 * numa.KiB
	cpu := 77 * GHz
	perIO := cpu.PerIO(rate)
	for _, tt := range []struct {
		name      string
		got, want float64
	}{
		{"BitRate × CyclesPerBit", float64(perIO.PerBit(block).At(rate.Traffic(block))), float64(cpu)},
		{"Rate(Traffic)", float64(rate.Traffic(block).Rate(block)), float64(rate)},
		{"PerIO(PerBit)", float64(perIO.PerBit(block).PerIO(block)), float64(perIO)},
	} {
		if diff := tt.got/tt.want - 1; diff > 1e-12 || diff < -1e-12 {
			t.Errorf("%s: found %v, want %v", tt.name, tt.got, tt.want)
		}
	}
}
