package published

import (
	"strings"
	"testing"
)

func TestReleasesIn(t *testing.T) {
	const all = "5.0 5.1 5.5 6.0 6.5 6.7 7.0 8.0 9.0"
	for _, tt := range []struct{ words, want string }{
		{"6.0", "6.0"},
		{"7.0U3", "7.0 U3"},
		{"7.0 U3c", "7.0 U3"},
		{"7.0.3", "7.0 U3"},
		{"8.0.3", "8.0 U3"},
		{"8.0 Update 2", "8.0 U2"},
		{"ESXi 7.0 update 1", "7.0 U1"},
		{"VMware ESXi 6.7.0 build-14320388", "6.7 U3"},
		{"6.5.0, 5969303", "6.5 U1"},
		{"4.1U1", "4.1 U1"},
		{"4.0", "4.0"},
		{"3.5/4.0", "3.5 4.0"},
		{"6.5-7.0", "6.5 6.7 7.0"},
		{"6.5 – 7.0", "6.5 6.7 7.0"},
		{"6.5 to 7.0", "6.5 6.7 7.0"},
		{"6.5, 7.0", "6.5 7.0"},
		{"6.5 and 7.0", "6.5 7.0"},
		{"5.0+", "5.0 5.1 5.5 6.0 6.5 6.7 7.0 8.0 9.0"},
		{"6.7 and later", "6.7 7.0 8.0 9.0"},
		{"8.0 or newer", "8.0 9.0"},
		{"6.0 and earlier", "5.0 5.1 5.5 6.0"},
		{"up to 6.0", "5.0 5.1 5.5 6.0"},
		{"before 6.5", "5.0 5.1 5.5 6.0"},
		{"5.x", "5.0 5.1 5.5"},
		{"4.x", "4.0 4.1"},
		{"6.x/7.x", "6.0 6.5 6.7 7.0"},
		{"ESXi 8", "8.0"},
		{"vSphere 8 U2", "8.0 U2"},
		{"8", "8.0"},
		{"6", "6.0 6.5 6.7"},
		{"6.7 era (article of February 2019, before 6.5U3/6.7U2)", "6.7"},
		{"7.0 (article of March 2022, not stated)", "7.0"},
		{"not stated (5.5/6.0 era)", "5.5 6.0"},
		{"not stated (2022)", all},
		{"not stated", all},
		{"unknown", all},
		{"", all},
		{"  ", all},
		{"Workstation 10.0.3", all},
		{"Player 16.2.4", all},
		{"VMware Fusion 13", all},
		// What is stated and not described is no release, not any release.
		{"3.0", ""},
		{"2.5.1", ""},
		{"12.4", ""},
		{"Hyper-V", ""},
		{"in 2022", ""},
		{"100.200", ""},
		{"null", ""},
	} {
		var got []string
		for _, r := range releasesIn(tt.words) {
			got = append(got, r.String())
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("releasesIn(%q) = %s, want %s", tt.words, s, tt.want)
		}
	}
}
