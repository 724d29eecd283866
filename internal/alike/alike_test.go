package alike

import "testing"

func TestOf(t *testing.T) {
	known := []string{"thresholds", "severities", "vm", "numa.vcpu.preferHT", "N005.seriousShare"}
	for _, tt := range []struct {
		word, want string
		exact      bool
	}{
		{"thresholds", "thresholds", true},
		{"Thresholds", "thresholds", true},
		{"treshold", "thresholds", false},
		{"numa.vcpu.perferHT", "numa.vcpu.preferHT", false},
		{"n005.seriousshares", "N005.seriousShare", false},
		{"suppressions", "", false},
		{"vms", "vm", false},
		{"xy", "", false},
		{"", "", false},
	} {
		if got, exact := Of(tt.word, known); got != tt.want || exact != tt.exact {
			t.Errorf("Of(%q) = %q, %v; want %q, %v", tt.word, got, exact, tt.want, tt.exact)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"abc", "", 3}, {"", "abc", 3}, {"kitten", "sitting", 3}, {"abc", "abc", 0}, {"abc", "acb", 2}, {"abc", "b", 2}} {
		if got := distance(tt.a, tt.b); got != tt.want {
			t.Errorf("distance(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}
