package dump

import (
	"math"
	"testing"

	"homenode/numa"
	"homenode/numa/unit"
)

func TestOf(t *testing.T) {
	const mib = float64(MiB)
	for _, tt := range []struct {
		name             string
		ram              numa.Bytes
		release          numa.Release
		low, value, high float64 // MiB
		how              string
		from             []string
		other            bool
	}{
		{"128 GB", 128 * numa.GiB, numa.ESXi80 + 3, 2328, 2328, 2328, Measured, []string{"esx21"}, false},
		{"256 GB", 256 * numa.GiB, 0, 3703, 3703, 3703, Measured, []string{"dp-esx02"}, false},
		{"512 GB on another release", 512 * numa.GiB, numa.ESXi80 + 3, 7784, 7784, 7784, Measured, []string{"prg03t0-esx05"}, true},
		{"1.5 TB as the VMkernel counts it", 1571489 * numa.MiB, numa.ESXi70 + 3, 15360, 15360, 15360, Measured, []string{"prg0301-esx36"}, false},
		// 192 GB: 14.46 to 18.19 MiB per GB; the value is 2328 × 1.5^0.6696.
		{"between 128 and 256 GB", 192 * numa.GiB, numa.ESXi80, 2777.25, 3054.18, 3492, Interpolated, []string{"esx21", "dp-esx02"}, true},
		{"between 256 and 512 GB, one of the releases", 384 * numa.GiB, numa.ESXi70 + 3, 5554.5, 5718.62, 5838, Interpolated, []string{"dp-esx02", "prg03t0-esx05"}, false},
		{"between 512 GB and 1.5 TB", 1024 * numa.GiB, 0, 10240, 11952.15, 15360, Interpolated, []string{"prg03t0-esx05", "prg0301-esx36"}, false},
		{"below", 64 * numa.GiB, 0, 640, 1164, 2328, Extrapolated, []string{"esx21"}, false},
		{"above", 2048 * numa.GiB, 0, 15360, 20480, 37248, Extrapolated, []string{"prg0301-esx36"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, err := Of(tt.ram, tt.release)
			if err != nil {
				t.Fatal(err)
			}
			got := []float64{float64(f.Size.Low) / mib, float64(f.Size.Value) / mib, float64(f.Size.High) / mib}
			for i, want := range []float64{tt.low, tt.value, tt.high} {
				if math.Abs(got[i]-want) > 0.005 {
					t.Errorf("found %.2f MiB, want %.2f %.2f %.2f", got, tt.low, tt.value, tt.high)
				}
			}
			if f.How != tt.how || len(f.From) != len(tt.from) || f.From[0] != tt.from[0] || f.OtherRelease != tt.other {
				t.Errorf("found %s from %v, other release %v; want %s from %v, %v", f.How, f.From, f.OtherRelease, tt.how, tt.from, tt.other)
			}
			want := unit.Derived
			if tt.how == Measured {
				want = unit.Published
			}
			if f.Size.Origin != want {
				t.Errorf("origin %s, want %s", f.Size.Origin, want)
			}
		})
	}
}

func TestOfErrors(t *testing.T) {
	for _, tt := range []struct {
		ram     numa.Bytes
		release numa.Release
		want    string
	}{
		{0, 0, "found 0 B, want at least 8 GB: ESXi 7.0 and later need that much"},
		{4 * numa.GiB, numa.ESXi80, "found 4 GB, want at least 8 GB: ESXi 7.0 and later need that much"},
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
	var last File
	for ram := leastRAM; ram <= 8*numa.TiB; ram += 256 * numa.MiB {
		f, err := Of(ram, 0)
		if err != nil {
			t.Fatal(err)
		}
		s := f.Size
		if !(0 < s.Low && s.Low <= s.Value && s.Value <= s.High) {
			t.Fatalf("%s: %v to %v, value %v", ram, float64(s.Low), float64(s.High), float64(s.Value))
		}
		if s.Low < last.Size.Low || s.Value < last.Size.Value || s.High < last.Size.High {
			t.Fatalf("%s: %+v is less than with less RAM: %+v", ram, s, last.Size)
		}
		last = f
	}
}

func TestSizeString(t *testing.T) {
	for _, tt := range []struct {
		s    Size
		want string
	}{
		{16106127360, "15 GiB"}, {8162115584, "7.60 GiB"}, {119.9 * GiB, "119.9 GiB"}, {101 * MiB, "0.10 GiB"},
		{1536 * GiB, "1,536 GiB"}, {-0.8804 * GiB, "-0.88 GiB"}, {9.996 * GiB, "10.0 GiB"}, {0, "0 GiB"},
	} {
		if got := tt.s.String(); got != tt.want {
			t.Errorf("%v: found %s, want %s", float64(tt.s), got, tt.want)
		}
	}
	if got := Size(16106127360).Decimal(); got != "16.1 GB" {
		t.Errorf("found %s", got)
	}
}

// TestMisfits pins how far off a straight line is: no line sizes all four hosts.
func TestMisfits(t *testing.T) {
	want := map[string][]float64{ // percent, by host
		"RAM":             {-41.4, -26.3, -29.9, 6.6},
		"VMkernel memory": {18.7, 56.3, 42.0, -29.9},
	}
	for _, m := range Misfits() {
		var sum float64
		for i, r := range m.Rows {
			if got := float64(r.Off) * 100; math.Abs(got-want[m.On][i]) > 0.05 {
				t.Errorf("on %s, %s: off by %.2f %%, want %.1f", m.On, r.Host, got, want[m.On][i])
			}
			sum += float64(r.X) * float64(r.Measured-r.Line)
		}
		// The normal equation of least squares, but for the rounding to bytes.
		if scale := float64(m.Rows[3].X) * float64(m.Rows[3].Measured); math.Abs(sum/scale) > 1e-9 {
			t.Errorf("on %s: the residues are not orthogonal: %v", m.On, sum/scale)
		}
	}
	if worst := Misfits()[1].Worst(); worst.Host != "dp-esx02" {
		t.Errorf("worst on VMkernel memory: %s", worst.Host)
	}
}
