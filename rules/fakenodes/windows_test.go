package fakenodes

import "testing"

func TestWindowsBefore20348(t *testing.T) {
	for _, tt := range []struct {
		guest, want string
		ok          bool
	}{
		{"windows9Server64Guest", "Windows Server 2016", true},
		{"WINDOWS2019SRV_64GUEST", "Windows Server 2019", true},
		{"windows2019srvNext_64Guest", "", false}, // Server 2022
		{"windows2022srvNext_64Guest", "", false}, // Server 2025
		{"windows11_64Guest", "", false},
		{"windows12_64Guest", "", false},
		{"winNetEnterprise64Guest", "", false}, // Server 2003 has no processor groups
		{"windows9Guest", "", false},           // 32 bit
		{"Microsoft Windows Server 2016 or later (64-bit)", "Windows Server 2016", true},
		{"Microsoft Windows Server 2012 (64-bit)", "Windows Server 2012", true},
		{"Microsoft Windows Server 2008 (64-bit)", "", false},
		{"Microsoft Windows Server 2008 R2 (64-bit)", "Windows Server 2008 R2", true},
		{"Microsoft Windows Server 2022 (64-bit)", "", false},
		{"Microsoft Windows 8.x (64-bit)", "Windows 8", true},
		{"Microsoft Windows 10 (64-bit)", "Windows 10", true},
		{"Microsoft Windows 10 (32-bit)", "", false},
		{"Microsoft Windows 11 (64-bit)", "", false},
		{"Microsoft Windows 100 (64-bit)", "", false},
		{"Windows 7", "", false},
		{"otherGuest64", "", false},
		{"", "", false},
	} {
		if got, ok := windowsBefore20348(tt.guest); got != tt.want || ok != tt.ok {
			t.Errorf("windowsBefore20348(%q) = %q, %v; want %q, %v", tt.guest, got, ok, tt.want, tt.ok)
		}
	}
}
