package tables

import (
	"strings"
	"testing"
	"time"
)

func TestParseGroupedFraction(t *testing.T) {
	for s, want := range map[string]float64{"16\u00a0384,5": 16384.5, "1\u202f016\u202f384,25": 1016384.25, "16'384.5": 16384.5, "16 384,000": 16384, "1.024,5": 1024.5, "16 38,5": -1, "0 384,5": -1} {
		if n, ok := parseFloat(s, ','); ok != (want >= 0) || ok && n != want {
			t.Errorf("%s: %v, %v", s, n, ok)
		}
	}
}

func TestParseInt(t *testing.T) {
	for _, tt := range []struct {
		s       string
		decimal byte
		want    int64
		ok      bool
	}{
		{"261797", '.', 261797, true},
		{"-7", '.', -7, true},
		{"2048.0", '.', 2048, true},
		{"2,0", ',', 2, true},
		{"1.2E3", '.', 1200, true},
		{"261,797", '.', 261797, true},
		{"261.797", ',', 261797, true},
		{"261 797", '.', 261797, true},
		{"261\u00a0797", ',', 261797, true},
		{"261\u202f797", ',', 261797, true},
		{"1'261'797", '.', 1261797, true},
		{"1.261.797", '.', 1261797, true}, // two points are no decimal points
		{"2,62,144", '.', 262144, true},   // in India
		{"1,23,45,678", ',', 12345678, true},
		{"262,14,400", '.', 0, false},
		{"2,62,1440", '.', 0, false},
		{"2,62,14", '.', 0, false},
		{"2.62.144", '.', 0, false},
		// One decimal point and three digits can be a fraction.
		{"261.797", '.', 0, false},
		{"1.000", '.', 0, false},
		{"261,797", ',', 0, false},
		{"1.5", '.', 0, false},
		{"1,5", ',', 0, false},
		{"0.125", ',', 0, false},
		{"0,125", '.', 0, false},
		{"26,1797", '.', 0, false},
		{"2617,97", '.', 0, false},
		{"1,261.797", '.', 0, false},
		{"1.261,797", ',', 0, false},
		{"", '.', 0, false},
		{"n/a", '.', 0, false},
		{"NaN", '.', 0, false},
		{"0x10", '.', 0, false},
		{"1_000", '.', 0, false},
		{"1e300", '.', 0, false},
		{"99999999999999999999", '.', 0, false},
		{"999.999.999.999.999.999.999", ',', 0, false},
		{".", '.', 0, false},
	} {
		if got, ok := parseInt(tt.s, tt.decimal); got != tt.want || ok != tt.ok {
			t.Errorf("parseInt(%q, %q) = %d, %v; want %d, %v", tt.s, tt.decimal, got, ok, tt.want, tt.ok)
		}
	}
}

func TestParseBool(t *testing.T) {
	for _, tt := range []struct {
		s        string
		want, ok bool
	}{
		{"True", true, true}, {"FALSE", false, true}, {"1", true, true}, {"0", false, true},
		{"Wahr", true, true}, {"Falsch", false, true}, {"Vrai", true, true}, {"Faux", false, true},
		{"VERDADERO", true, true}, {"FALSO", false, true},
		{"Yes", true, true}, {"Disabled", false, true}, {"maybe", false, false}, {"", false, false},
	} {
		if got, ok := parseBool(tt.s); got != tt.want || ok != tt.ok {
			t.Errorf("parseBool(%q) = %v, %v; want %v, %v", tt.s, got, ok, tt.want, tt.ok)
		}
	}
}

func TestParseTime(t *testing.T) {
	for _, tt := range []struct{ s, want string }{
		{"45809.430914351855", "2025-06-01T10:20:31-00:00"}, // a date of Excel
		{"2025-06-01 10:20:31", "2025-06-01T10:20:31-00:00"},
		{"2025/06/01 10:20:31", "2025-06-01T10:20:31-00:00"},
		{"2025-06-01T10:20:31Z", "2025-06-01T10:20:31Z"},
		{"06/01/2025 10:20:31", ""}, // June or January
		{"4", ""},
		{"1e99", ""},
		{"NaN", ""},
		{"", ""},
	} {
		got, ok := parseTime(tt.s)
		if got != tt.want || ok != (tt.want != "") {
			t.Errorf("parseTime(%q) = %q, %v; want %q", tt.s, got, ok, tt.want)
		}
		if _, err := time.Parse(time.RFC3339, got); ok && err != nil {
			t.Errorf("parseTime(%q) = %q: %v", tt.s, got, err)
		}
	}
}

func TestSquash(t *testing.T) {
	for _, tt := range []struct{ header, want string }{
		{" Free %  ", "free%"},
		{"#\u00a0CPU", "#cpu"},
		{"Cores \t p/s\u00a0", "coresps"},
		{"config.hardware.numCPU", "config.hardware.numcpu"},
		{"hw_memtotal_mb", "hwmemtotalmb"},
	} {
		if got := squash(tt.header); got != tt.want {
			t.Errorf("squash(%q) = %q, want %q", tt.header, got, tt.want)
		}
	}
}

// TestColumns checks the table to its own rules: a header is that of one column.
func TestColumns(t *testing.T) {
	for _, k := range kinds {
		seen := map[string]bool{}
		for _, c := range k.columns {
			for _, name := range c.names {
				stem, _, _ := strings.Cut(name, "=")
				if seen[squash(stem)] {
					t.Errorf("%s: header %q stands twice", k.name, name)
				}
				seen[squash(stem)] = true
			}
		}
	}
}
