package iocost

import (
	"math"
	"testing"

	"example.org/homenode/numa"
)

// TestRDMASaved checks that a kind saves what the nearest measured one did, in percent.
func TestRDMASaved(t *testing.T) {
	for _, tt := range []struct {
		kind             Kind
		value, low, high float64
		note             string
	}{
		{Kind{VSANESA, 4 * numa.KiB, 1, 1}, 17.2, 17.2, 17.2, ""},
		{Kind{VSANESA, 4 * numa.KiB, 0.7, 1}, 20.5, 20.5, 20.5, ""},
		{Kind{VSANESA, 8 * numa.KiB, 0.5, 1}, 23.3, 23.3, 23.3, ""},
		{Kind{VSANESA, 256 * numa.KiB, 0, 0}, 12.8, 12.8, 12.8, ""},
		{Kind{VSANESA, numa.MiB, 1, 0}, 12.8, 12.8, 23.3, "nearest measured: 256 KiB write seq"},
		{Kind{VSANESA, 32 * numa.KiB, 0.7, 1}, 20.5, 12.8, 23.3, "nearest measured: 4 KiB 70/30 random"},
		{Kind{VSANESA, 16 * numa.KiB, 0, 1}, 23.3, 12.8, 23.3, "nearest measured: 8 KiB 50/50 random"},
	} {
		f := RDMASaved(tt.kind)
		for _, q := range [][2]float64{{float64(f.Value), tt.value}, {float64(f.Low), tt.low}, {float64(f.High), tt.high}} {
			if math.Abs(q[0]*100-q[1]) > 0.05 || f.Note != tt.note {
				t.Errorf("%s: found %.4f (%.4f to %.4f), %q; want %v", tt.kind, float64(f.Value), float64(f.Low), float64(f.High), f.Note, tt)
				break
			}
		}
	}
}
