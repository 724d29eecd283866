package vcenter

import (
	"net/url"
	"slices"
	"testing"
)

func TestHostNames(t *testing.T) {
	for raw, want := range map[string][]string{
		"https://VC01.example.com":       {"vc01", "vc01.example.com", "vc01.example.com:443"},
		"https://10.0.0.1":               {"10.0.0.1", "10.0.0.1", "10.0.0.1:443"},
		"https://[::1]:8443":             {"::1", "::1", "[::1]:8443"},
		"https://a@vc01.example.com/sdk": {"vc01", "vc01.example.com", "vc01.example.com:443", "a@vc01.example.com:443"},
	} {
		u, err := url.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		if got := hostNames(u); !slices.Equal(got, want) {
			t.Errorf("hostNames(%s) = %q, want %q", raw, got, want)
		}
	}
}
