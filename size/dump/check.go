package dump

import (
	"fmt"
	"math"

	"homenode/numa/unit"
)

// Checks returns the published figures on core dumps beside what they come to.
func Checks() []unit.Check {
	var memory, files []float64
	for i := range Hosts {
		for _, s := range Hosts[i].States {
			memory = append(memory, s.VMkernel+s.Other+s.Free)
		}
		// The two smaller files are printed binary, the others decimal.
		file := Size(Hosts[i].File)
		if i >= 2 {
			files = append(files, float64(file/GB))
		}
		files = append(files, float64(file/GiB))
	}
	a, b, c, d := host(128), host(256), host(512), host(1536)
	idle := d.Idle()
	memory = append(memory, idle.RAM-idle.VMkernel-idle.Free, float64(Size(d.RAM)/GiB), float64(len(Hosts)))
	kernel := func(x, y *Host) float64 { return x.Idle().VMkernel / y.Idle().VMkernel }
	ratios := []float64{
		c.Dumps[0] / 1024, kernel(a, b), 100 * float64(a.File) / float64(b.File), b.Dumps[0] / a.Dumps[0],
		kernel(c, b), float64(c.File) / float64(b.File), c.Dumps[0] / b.Dumps[0],
	}
	var sum float64
	for _, mb := range b.Dumps {
		sum += mb
	}
	n := float64(len(b.Dumps))
	return unit.Checks(published, map[string][]float64{
		"b-dump":   append(append(memory, files...), ratios...),
		"b-psods":  {sum / 1024, n, (sum - b.Dumps[0]) / (n - 1), math.Ceil(float64(Size(b.File)/MiB) / 300)},
		"b-osdata": layoutChecks(Size(d.File)),
	})
}

// host returns a measured host by its RAM in GB.
func host(gb int) *Host {
	for i := range Hosts {
		if int(Size(Hosts[i].RAM)/GiB) == gb {
			return &Hosts[i]
		}
	}
	panic(fmt.Sprintf("no host of %d GB was measured", gb))
}

// layoutChecks are those of the boot devices; file is that of the largest host.
func layoutChecks(file Size) []float64 {
	var out []float64
	for _, d := range []struct{ boot, osdata Size }{{128 * GiB, 119.9 * GiB}, {32 * GiB, 23.9 * GiB}} {
		l, _ := Divide(d.boot, MediaDefault) // of sizes that are in the table of the manual
		out = append(out, float64(l.OSData/GiB), float64((l.Loader+2*l.Bank+d.osdata)/GiB))
	}
	for _, v := range [][2]float64{{119.8, 5.2}, {4, 274.1 / 1024}, {4, 338.9 / 1024}} { // size and used, GB
		out = append(out, v[0]-v[1], 100*v[1]/v[0])
	}
	const usable = 23.9 * 0.8
	return append(out, usable, usable-float64(file/GB), usable-float64(file/GiB), float64(file/GiB))
}
