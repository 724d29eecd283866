package numa

import "testing"

// TestCacheCores: AMD names how many cores a core complex of each model has at most:
// Zen 1 and 2 four, Zen 3 to 5 eight, Zen 5c sixteen.
func TestCacheCores(t *testing.T) {
	for _, tt := range []struct {
		cpu  string
		want int
	}{
		{"AMD EPYC 7601 32-Core Processor", 4},
		{"AMD EPYC 7F72 24-Core Processor", 4},
		{"AMD EPYC 7763 64-Core Processor", 8},
		{"AMD EPYC 8534P 64-Core Processor", 8},
		{"AMD EPYC 9754 128-Core Processor", 8}, // Bergamo has two complexes of eight a die
		{"AMD EPYC 9655P 96-Core Processor", 8},
		{"AMD EPYC 9745 128-Core Processor", 16},
		{"AMD EPYC 9965 192-Core Processor", 16},
		{"Intel(R) Xeon(R) Platinum 8480+", 0},
		{"", 0},
	} {
		h := Host{CPUModel: ReadAt(tt.cpu, "cpu")}
		if got := h.CacheCores(); got.Value != tt.want || got.Known() != (tt.want > 0) {
			t.Errorf("%s: %d cores (%v)", tt.cpu, got.Value, got.Origin)
		}
		h.LLCCores = ReadAt(6, "llcCores")
		if got := h.CacheCores(); got.Value != 6 {
			t.Errorf("%s: %d cores instead of the stated 6", tt.cpu, got.Value)
		}
	}
}
