package noeffect

import "testing"

func TestAlike(t *testing.T) {
	for key, want := range map[string]string{
		"numa.vcpu.maxPerVirtualNode":  "",
		"NUMA.VCPU.MAXPERVIRTUALNODE":  "",
		"numa.vcpu.maxPerVirtualNodes": "numa.vcpu.maxPerVirtualNode",
		"numa.vcpu.perferHT":           "numa.vcpu.preferHT",
		"numa.vpcu.min":                "numa.vcpu.min",
		"numa.consolidat":              "numa.consolidate",
		"numa.something.else":          "",
		"cpuid.coresPerSockets":        "",
		"":                             "",
	} {
		if got := alike(key); got != want {
			t.Errorf("alike(%q) = %q, want %q", key, got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"abc", "", 3}, {"", "abc", 3}, {"kitten", "sitting", 3}, {"abc", "abc", 0}, {"abc", "acb", 2}} {
		if got := distance(tt.a, tt.b); got != tt.want {
			t.Errorf("distance(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}
