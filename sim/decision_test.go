package sim

import "testing"

func TestSince(t *testing.T) {
	for _, tt := range []struct {
		steps int64
		want  string
	}{
		{15, "30s after the last change of home"},
		{30, "1m after the last change of home"},
		{395, "13m10s after the last change of home"},
		{0 - longAgo, "without a change of home"}, // in the first step
		{1 << 40, "without a change of home"},
		{-5, "without a change of home"},
	} {
		if got := since(tt.steps); got != tt.want {
			t.Errorf("since(%d) = %q, want %q", tt.steps, got, tt.want)
		}
	}
}
