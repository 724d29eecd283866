package outside

import "testing"

// TestMachines: the limit of a machine type is that of its version, of the newest one where it has none, and unknown for types of others.
func TestMachines(t *testing.T) {
	for name, want := range map[string]int{"pc-q35-2.7": 255, "pc-q35-2.8": 288, "pc-q35-8.0": 288, "pc-q35-8.1": 1024, "pc-q35-9.0+pve1": 4096, "pc-q35-10.0": 4096, "q35": 4096,
		"pc-i440fx-9.2": 255, "pc": 255, "pc-q35-4.0.1": 288, "pc-q35-rhel9.4.0": 0, "virt-9.0": 0, "": 0, "-": 0, "pc-q35-": 0} {
		if m, _, ok := MachineOf(name); m.VCPUs != want || ok != (want > 0) {
			t.Errorf("%s: %+v, %v; want %d", name, m, ok, want)
		}
	}
	const gib = 1 << 30
	for _, tt := range []struct {
		gib     int64
		machine string
		bits    int
	}{{4, "pc", 33}, {64, "q35", 37}, {478, "q35", 39}, {990, "q35", 40}, {991, "pc-q35-8.2", 41}, {991, "pc", 40}, {1020, "pc-i440fx-7.2", 40}, {1021, "pc", 41}, {2048, "", 42}} {
		if got := AddressBits(tt.gib*gib, tt.machine); got != tt.bits {
			t.Errorf("%d GB on %q: %d bits, want %d", tt.gib, tt.machine, got, tt.bits)
		}
	}
}
