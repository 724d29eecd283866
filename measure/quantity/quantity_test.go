package quantity

import "testing"

func TestText(t *testing.T) {
	for want, got := range map[string]string{
		"9.0 points": LocalPercent.Text(0.09), "-0.5 points": Ready.Text(-0.005), "1.5 GB": RemoteBytes.Text(1.5 * (1 << 30)), "9.1 points": LocalPercent.AtLeast(0.0901), "0.0 points": Ready.Text(-0.0001), "9.0 points ": LocalPercent.AtLeast(0.09) + " ",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
