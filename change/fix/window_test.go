package fix_test

import (
	"testing"
	"time"
	_ "time/tzdata" // as the program has it

	"example.org/homenode/change/fix"
)

// TestWindow checks when windows are open, in the zone that they name.
func TestWindow(t *testing.T) {
	for _, tt := range []struct {
		window, at string
		open       bool
	}{
		{"Sat 22:00-04:00 Europe/Berlin", "2026-11-28T21:30:00Z", true}, // Saturday, 22:30
		{"Sat 22:00-04:00 Europe/Berlin", "2026-11-29T02:59:00Z", true}, // Sunday, 03:59
		{"Sat 22:00-04:00 Europe/Berlin", "2026-11-29T03:00:00Z", false},
		{"Sat 22:00-04:00 Europe/Berlin", "2026-11-27T21:30:00Z", false},
		{"09:00-17:00 america/new_york", "2026-07-01T13:00:00Z", true},
		{"09:00-17:00 america/new_york", "2026-12-01T13:00:00Z", false}, // winter
	} {
		open, err := fix.Window(tt.window)
		at, _ := time.Parse(time.RFC3339, tt.at)
		if err != nil || open(at) != tt.open {
			t.Errorf("%s at %s: open %v, %v", tt.window, tt.at, !tt.open, err)
		}
	}
	for window, want := range map[string]string{
		"Sat 22:00-04:00 Europe/Berln": `found the zone "Europe/Berln"; did you mean Europe/Berlin?`,
		"22:00-22:00":                  `found "22:00-22:00", want [DAY] HH:MM-HH:MM [ZONE], such as 'Sat 22:00-04:00 Europe/Berlin'`,
	} {
		if _, err := fix.Window(window); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", window, err, want)
		}
	}
}
