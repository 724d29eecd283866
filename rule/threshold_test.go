package rule

import "testing"

func TestThresholdWrite(t *testing.T) {
	for want, tt := range map[string]struct {
		unit  Unit
		value float64
	}{"10 %": {Share, 0.1}, "12.5 %": {Share, 0.125}, "4": {Count, 4}, "0.5": {Ratio, 0.5}} {
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
