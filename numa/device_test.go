package numa

import "testing"

// TestPCIAddress: the API writes hexadecimal numbers, .vmx files decimal ones.
func TestPCIAddress(t *testing.T) {
	for in, want := range map[string]string{
		"0000:3b:00.0":           "0000:3b:00.0",
		"3B:00.1":                "0000:3b:00.1",
		"00000:059:00.0":         "0000:3b:00.0",
		"00000:175:00.0":         "0000:af:00.0",
		"0000:3b:20.0":           "", // 32 devices a bus
		"3b:00.8":                "", // 8 functions a device
		"Automatic-0000:00:00.0": "",
		"00000:0af:00.0":         "",
		"":                       "",
	} {
		if got := PCIAddress(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}
