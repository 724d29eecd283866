package dump

import (
	"math"
	"testing"

	"example.org/homenode/numa"
	"example.org/homenode/numa/unit"
)

func TestOf(t *testing.T) {
	for _, tt := range []struct {
		name             string
		ram              numa.Bytes
		release          numa.Release
		low, value, high float64 // MiB
		how, note        string
		origin           unit.Origin
	}{
		{"128 GB", 128 * numa.GiB, numa.ESXi80 + 3, 2328, 2328, 2328, Measured, "one host, 8.0 U3", unit.Published},
		{"256 GB", 256 * numa.GiB, 0, 3703, 3703, 3703, Measured, "one host, 8.0 U3", unit.Published},
		{"512 GB on another release", 512 * numa.GiB, numa.ESXi80 + 3, 7784, 7784, 7784, Measured, "one host, 7.0 U3; 8.0 U3 not measured", unit.Published},
		{"1.5 TB as the VMkernel counts it", 1571489 * numa.MiB, numa.ESXi70 + 3, 15360, 15360, 15360, Measured, "one host, 7.0 U3", unit.Published},
		// 192 GB: 14.46 to 18.19 MiB per GB; the value is 2328 × 1.5^0.6696.
		{"between 128 and 256 GB", 192 * numa.GiB, numa.ESXi80, 2777.25, 3054.18, 3492, Interpolated, "128 to 256 GiB (8.0 U3); 8.0 not measured", unit.Derived},
		{"between 256 and 512 GB, one of the releases", 384 * numa.GiB, numa.ESXi70 + 3, 5554.5, 5718.62, 5838, Interpolated, "256 (8.0 U3) to 512 GiB (7.0 U3)", unit.Derived},
		{"between 512 GB and 1.5 TB", 1024 * numa.GiB, 0, 10240, 11952.15, 15360, Interpolated, "512 to 1,536 GiB (7.0 U3)", unit.Derived},
		{"below", 64 * numa.GiB, 0, 640, 1164, 2328, Extrapolated, "extrapolated from 128 GiB (8.0 U3)", unit.Derived},
		{"above", 2048 * numa.GiB, 0, 15360, 20480, 37248, Extrapolated, "extrapolated from 1,536 GiB (7.0 U3)", unit.Derived},
	} {
		f, err := Of(tt.ram, tt.release)
		if err != nil {
			t.Fatal(err)
		}
		s := f.Size
		for i, pair := range [][2]float64{{s.Low, tt.low}, {s.Value, tt.value}, {s.High, tt.high}} {
			if math.Abs(pair[0]/(1<<20)-pair[1]) > 0.005 {
				t.Errorf("%s, %d: found %.2f MiB, want %.2f", tt.name, i, pair[0]/(1<<20), pair[1])
			}
		}
		if f.How != tt.how || s.Note != tt.note || s.Origin != tt.origin {
			t.Errorf("%s: found %s, %s, %s; want %s, %s, %s", tt.name, f.How, s.Note, s.Origin, tt.how, tt.note, tt.origin)
		}
	}
	for _, tt := range []struct {
		ram     numa.Bytes
		release numa.Release
		want    string
	}{
		{0, 0, "found 0 B, want at least 8 GB: ESXi 7.0 and later need that much"},
		{1025 * numa.TiB, 0, "found 1025 TB, want at most 1024 TB"},
		{64 * numa.GiB, numa.ESXi67 + 3, "ESXi 6.7 U3 keeps core dumps in a partition, not in a file: 7.0 and later have a file"},
		{64 * numa.GiB, numa.NewRelease(10, 0, 0), "found release 10.0, want 7.0 to 9.x: how later ones size the file is unknown"},
	} {
		if _, err := Of(tt.ram, tt.release); err == nil || err.Error() != tt.want {
			t.Errorf("Of(%s, %s): %v; want %s", tt.ram, tt.release, err, tt.want)
		}
	}
}

// TestOfGrows checks what sizing rests on: value and bounds never fall with the RAM, and
// the value lies between them.
func TestOfGrows(t *testing.T) {
	var last unit.Figure[float64]
	for ram := leastRAM; ram <= 8*numa.TiB; ram += 256 * numa.MiB {
		f, err := Of(ram, 0)
		if err != nil {
			t.Fatal(err)
		}
		s := f.Size
		if !(0 < s.Low && s.Low <= s.Value && s.Value <= s.High) || s.Low < last.Low || s.Value < last.Value || s.High < last.High {
			t.Fatalf("%s: %+v, with less RAM %+v", ram, s, last)
		}
		last = s
	}
}
