package chase

import (
	"fmt"
	"strings"
	"testing"
)

const kib, mib = 1 << 10, 1 << 20

// recorded is a ladder as it was measured: a KVM guest with 2 vCPUs of an AMD EPYC (family 26), huge pages, 4 KiB to 512 MiB. The guest
// is told 48 KiB, 1 MiB and 32 MiB, and others use the L3 too.
var recorded = []float64{0.97, 0.97, 0.98, 0.98, 0.98, 0.97, 0.97, 1.05, 3.42, 3.40, 3.41, 3.38, 3.38, 3.43, 3.87, 4.59, 9.27, 9.54, 11.07,
	12.16, 13.86, 14.26, 15.51, 26.11, 120.50, 143.05, 144.60, 147.93, 149.98, 151.86, 153.96, 158.64, 162.55, 164.74, 165.87}

func TestPlateaus(t *testing.T) {
	sizes := Sizes(512 * mib)
	steps := func(levels ...float64) []float64 { // so many sizes at each latency
		var ns []float64
		for i := 0; i < len(levels); i += 2 {
			for range int(levels[i]) {
				ns = append(ns, levels[i+1])
			}
		}
		return ns
	}
	for _, tt := range []struct {
		name string
		ns   []float64
		told []int
		want string
	}{
		{"recorded", recorded, []int{48 * kib, mib, 32 * mib}, "L1 4K–48K 0.97; L2 64K–384K 3.41; L3 4096K–8192K 14.26; RAM 24576K–524288K 152.91"},
		{"three caches", steps(8, 1, 8, 4, 8, 12, 11, 90), []int{64 * kib, mib, 16 * mib}, "L1 4K–48K 1.00; L2 64K–768K 4.00; L3 1024K–12288K 12.00; RAM 16384K–524288K 90.00"},
		{"caches not told", steps(8, 1, 8, 4, 8, 12, 11, 90), nil, "L1 4K–48K 1.00; L2 64K–768K 4.00; L3 1024K–12288K 12.00; RAM 16384K–524288K 90.00"},
		{"no L3 in reach", steps(8, 1, 8, 4, 2, 12, 2, 40, 15, 90), []int{64 * kib, mib, 32 * mib}, "L1 4K–48K 1.00; L2 64K–768K 4.00; RAM 4096K–524288K 90.00"},
		{"caches are larger than told", steps(10, 1, 10, 4, 10, 12, 5, 90), []int{32 * kib, 256 * kib, 16 * mib}, "L1 4K–96K 1.00; L2 128K–3072K 4.00; L3 4096K–98304K 12.00; RAM 131072K–524288K 90.00"},
		{"ends within L3", steps(8, 1, 8, 4, 8, 12), []int{64 * kib, mib, 32 * mib}, "L1 4K–48K 1.00; L2 64K–768K 4.00; L3 1024K–12288K 12.00"},
		{"one plateau", steps(9, 1), nil, "L1 4K–64K 1.00"},
		{"two caches", steps(9, 1, 11, 5, 15, 70), []int{64 * kib, 4 * mib}, "L1 4K–64K 1.00; L2 96K–3072K 5.00; RAM 4096K–524288K 70.00"},
		{"a slope", []float64{1, 1.2, 1.5, 1.8, 2.2, 2.7}, nil, ""},
		{"9 % a size is flat, 11 % is not", []float64{1, 1.09, 1.18, 1.31, 1.46, 1.62}, nil, "L1 4K–8K 1.09"},
		{"nothing", nil, nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, p := range Plateaus(sizes[:len(tt.ns)], tt.ns, tt.told) {
				got = append(got, fmt.Sprintf("%s %dK–%dK %.2f", p.Name, p.From/kib, p.To/kib, p.NS))
			}
			if s := strings.Join(got, "; "); s != tt.want {
				t.Errorf("got  %s\nwant %s", s, tt.want)
			}
		})
	}
}
