package binpack

import "testing"

func TestLeast(t *testing.T) {
	for _, tt := range []struct {
		name    string
		weights []weight
		size    int64
		want    int
	}{
		{"nothing", nil, 10, 0},
		{"sum", []weight{{3, 10}}, 10, 3}, // 4 are needed: the bound of the volume alone
		{"alone", []weight{{6, 5}}, 10, 5},
		{"with halves", []weight{{7, 3}, {4, 2}, {3, 1}}, 10, 4}, // 4s beside no 7
		{"exactly half", []weight{{5, 6}}, 10, 3},
		{"many small beside large", []weight{{9, 2}, {2, 5}}, 10, 3},
	} {
		if got := least(tt.weights, tt.size); got != tt.want {
			t.Errorf("%s: found %d, want %d", tt.name, got, tt.want)
		}
	}
}

func TestFewest(t *testing.T) {
	two := Kind{Nodes: []Size{{10, 100}, {10, 100}}, Bins: Endless}
	small := Kind{Nodes: []Size{{4, 40}, {0, 400}}, Bins: 2}
	things := func(n int, parts ...Size) Batch { return Batch{Things: n, Parts: parts} }
	for _, tt := range []struct {
		name   string
		kinds  []Kind
		things []Batch
		want   int
	}{
		{"nothing", []Kind{two}, nil, 0},
		{"in sum", []Kind{two}, []Batch{things(9, Size{5, 1}), things(3, Size{2, 90})}, 3},
		{"alike: two a node, by memory", []Kind{two}, []Batch{things(9, Size{1, 40})}, 3},
		{"alike: the parts of one thing are apart", []Kind{{Nodes: []Size{{10, 900}, {10, 100}}, Bins: Endless}}, []Batch{things(4, Size{1, 90}, Size{1, 90})}, 4},
		{"more than half a node", []Kind{two}, []Batch{things(2, Size{6, 1}), things(2, Size{7, 1}), things(2, Size{5, 1})}, 3},
		{"nor of its memory", []Kind{two}, []Batch{things(2, Size{1, 60}), things(2, Size{1, 70}), things(2, Size{1, 50})}, 3},
		{"memory that may be anywhere", []Kind{two}, []Batch{{Things: 3, Parts: []Size{{1, 130}}, Spills: true}}, 2},
		{"nodes of memory alone do not count", []Kind{small}, []Batch{things(2, Size{1, 30})}, 2},
		{"but for parts that need no core", []Kind{small}, []Batch{things(2, Size{0, 130})}, 1},
		{"of one group", []Kind{two}, []Batch{{Things: 2, Parts: []Size{{1, 1}}, Groups: []int32{0, 1}}, {Things: 1, Parts: []Size{{2, 1}}, Groups: []int32{1}}}, 3},
		{"the largest bins first", []Kind{small, {Nodes: []Size{{20, 500}}, Bins: 1}}, []Batch{things(12, Size{2, 1})}, 2},
		{"each kind alone", []Kind{small, two}, []Batch{{Things: 1, Parts: []Size{{0, 300}}, On: []bool{true, false}}, {Things: 1, Parts: []Size{{9, 1}}, On: []bool{false, true}}}, 2},
		{"more than there are", []Kind{small}, []Batch{things(20, Size{4, 1})}, 2},
	} {
		if got := Fewest(tt.kinds, tt.things); got != tt.want {
			t.Errorf("%s: found %d, want %d", tt.name, got, tt.want)
		}
	}
}
