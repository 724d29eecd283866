package binpack

import "testing"

func TestLeast(t *testing.T) {
	for _, tt := range []struct {
		name    string
		weights []Weight
		size    int64
		want    int
	}{
		{"nothing", nil, 10, 0},
		{"sum", []Weight{{3, 10}}, 10, 3}, // 4 are needed: the bound of the volume alone
		{"alone", []Weight{{6, 5}}, 10, 5},
		{"with halves", []Weight{{7, 3}, {4, 2}, {3, 1}}, 10, 4}, // 4s beside no 7
		{"exactly half", []Weight{{5, 6}}, 10, 3},
		{"many small beside large", []Weight{{9, 2}, {2, 5}}, 10, 3},
	} {
		if got := Least(tt.weights, tt.size); got != tt.want {
			t.Errorf("%s: found %d, want %d", tt.name, got, tt.want)
		}
	}
}
