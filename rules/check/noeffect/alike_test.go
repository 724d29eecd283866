package noeffect

import "testing"

func TestMisspelt(t *testing.T) {
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
		if got := misspelt(key); got != want {
			t.Errorf("misspelt(%q) = %q, want %q", key, got, want)
		}
	}
}
