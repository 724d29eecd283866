package text

import (
	"slices"
	"testing"
)

func TestLine(t *testing.T) {
	l := Trim(3, "  CPU(s):\u00a0  0,2 , 4\t")
	if want := (Line{3, 3, "CPU(s):   0,2 , 4"}); l != want {
		t.Errorf("Trim() = %+v, want %+v", l, want)
	}
	value := l.After(len("CPU(s):"))
	if want := (Line{3, 13, "0,2 , 4"}); value != want || value.End() != 20 {
		t.Errorf("After() = %+v, want %+v", value, want)
	}
	if got, want := value.Split(","), []Line{{3, 13, "0"}, {3, 15, "2"}, {3, 19, "4"}}; !slices.Equal(got, want) {
		t.Errorf("Split() = %+v, want %+v", got, want)
	}
	if got, want := value.Fields(), []Line{{3, 13, "0,2"}, {3, 17, ","}, {3, 19, "4"}}; !slices.Equal(got, want) {
		t.Errorf("Fields() = %+v, want %+v", got, want)
	}
	if got, want := (Line{1, 1, ""}).Split(","), []Line{{1, 1, ""}}; !slices.Equal(got, want) {
		t.Errorf("Split() = %+v, want %+v", got, want)
	}
	if got := Short("äöü"); got != "äöü" {
		t.Errorf("Short() = %q", got)
	}
	if got, want := Short("a"+string(slices.Repeat([]byte("ä"), 40))), "a"+string(slices.Repeat([]byte("ä"), 29))+"…"; got != want {
		t.Errorf("Short() = %q, want %q", got, want)
	}
}
