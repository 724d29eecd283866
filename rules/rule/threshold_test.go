package rule

import "testing"

func TestThresholdWrite(t *testing.T) {
	for want, tt := range map[string]struct {
		unit  Unit
		value float64
	}{"10 %": {Share, 0.1}, "12.5 %": {Share, 0.125}, "4": {Count, 4}, "0.5": {Ratio, 0.5}, "5 min": {Minutes, 5}, "0.125 GB": {GiB, 0.125}} {
		if got := (&Threshold{Unit: tt.unit}).Write(tt.value); got != want {
			t.Errorf("Write(%v) = %q, want %q", tt.value, got, want)
		}
	}
}

func TestThreshold(t *testing.T) {
	p := Pass{Rule: &Rule{ID: "N005", Thresholds: []Threshold{{Name: "seriousShare", Default: 0.1}}}}
	if got := p.Threshold("seriousShare"); got != 0.1 {
		t.Errorf("default: %v, want 0.1", got)
	}
	p.Thresholds = map[string]float64{"N005.seriousShare": 0, "N012.seriousShare": 0.5}
	if got := p.Threshold("seriousShare"); got != 0 {
		t.Errorf("set to 0: %v, want 0", got)
	}
	defer func() {
		if recover() == nil {
			t.Error("an undeclared threshold is read without panic")
		}
	}()
	p.Threshold("other")
}

func TestThresholdParse(t *testing.T) {
	for _, tt := range []struct {
		unit Unit
		text string
		want float64
		ok   bool
	}{
		{Share, "0.15", 0.15, true},
		{Share, "15 %", 0.15, true},
		{Share, "15%", 0.15, true},
		{Share, "15", 15, true},
		{Share, "1200 %", 0, false},
		{Count, "4", 4, true},
		{Count, "4.5", 0, false},
		{Count, "4 %", 0, false},
		{Ratio, "0.5", 0.5, true},
		{Ratio, "nan", 0, false},
		{Minutes, "5", 5, true},
		{Minutes, "5 min", 5, true},
		{Minutes, "7.5min", 7.5, true},
		{Minutes, "5 GB", 0, false},
		{Minutes, "5 s", 0, false},
		{GiB, "8", 8, true},
		{GiB, "8 GB", 8, true},
		{GiB, "0.125GiB", 0.125, true},
		{GiB, "8 MB", 0, false},
		{GiB, "12 GB", 0, false},
		{GiB, "", 0, false},
	} {
		most := 10.0
		if tt.unit == Share && tt.ok {
			most = 100
		}
		got, ok := (&Threshold{Unit: tt.unit, Most: most}).Parse(tt.text)
		if got != tt.want || ok != tt.ok {
			t.Errorf("%s %q: %v, %v; want %v, %v", tt.unit, tt.text, got, ok, tt.want, tt.ok)
		}
	}
}

// TestThresholdReads: what Write writes, Parse reads.
func TestThresholdReads(t *testing.T) {
	for _, unit := range []Unit{Share, Count, Ratio, Minutes, GiB} {
		x := Threshold{Unit: unit, Most: 100}
		if got, ok := x.Parse(x.Write(1)); got != 1 || !ok {
			t.Errorf("%s: %q reads %v, %v", unit, x.Write(1), got, ok)
		}
	}
}
