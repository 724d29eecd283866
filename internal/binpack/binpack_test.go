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
	two := Kind{Nodes: []Size{{CPU: 10, Mem: 100}, {CPU: 10, Mem: 100}}, Bins: Endless}
	small := Kind{Nodes: []Size{{CPU: 4, Mem: 40}, {CPU: 0, Mem: 400}}, Bins: 2}
	things := func(n int, parts ...Size) Batch { return Batch{Things: n, Parts: parts} }
	for _, tt := range []struct {
		name   string
		kinds  []Kind
		things []Batch
		want   int
	}{
		{"nothing", []Kind{two}, nil, 0},
		{"in sum", []Kind{two}, []Batch{things(9, Size{CPU: 5, Mem: 1}), things(3, Size{CPU: 2, Mem: 90})}, 3},
		{"alike: two a node, by memory", []Kind{two}, []Batch{things(9, Size{CPU: 1, Mem: 40})}, 3},
		{"alike: the parts of one thing are apart", []Kind{{Nodes: []Size{{CPU: 10, Mem: 900}, {CPU: 10, Mem: 100}}, Bins: Endless}}, []Batch{things(4, Size{CPU: 1, Mem: 90}, Size{CPU: 1, Mem: 90})}, 4},
		{"more than half a node", []Kind{two}, []Batch{things(2, Size{CPU: 6, Mem: 1}), things(2, Size{CPU: 7, Mem: 1}), things(2, Size{CPU: 5, Mem: 1})}, 3},
		{"nor of its memory", []Kind{two}, []Batch{things(2, Size{CPU: 1, Mem: 60}), things(2, Size{CPU: 1, Mem: 70}), things(2, Size{CPU: 1, Mem: 50})}, 3},
		{"memory that may be anywhere", []Kind{two}, []Batch{{Things: 3, Parts: []Size{{CPU: 1, Mem: 130}}, Spills: true}}, 2},
		{"nodes of memory alone do not count", []Kind{small}, []Batch{things(2, Size{CPU: 1, Mem: 30})}, 2},
		{"but for parts that need no core", []Kind{small}, []Batch{things(2, Size{CPU: 0, Mem: 130})}, 1},
		{"of one group", []Kind{two}, []Batch{{Things: 2, Parts: []Size{{CPU: 1, Mem: 1}}, Groups: []int32{0, 1}}, {Things: 1, Parts: []Size{{CPU: 2, Mem: 1}}, Groups: []int32{1}}}, 3},
		{"the largest bins first", []Kind{small, {Nodes: []Size{{CPU: 20, Mem: 500}}, Bins: 1}}, []Batch{things(12, Size{CPU: 2, Mem: 1})}, 2},
		{"each kind alone", []Kind{small, two}, []Batch{{Things: 1, Parts: []Size{{CPU: 0, Mem: 300}}, On: []bool{true, false}}, {Things: 1, Parts: []Size{{CPU: 9, Mem: 1}}, On: []bool{false, true}}}, 2},
		{"more than there are", []Kind{small}, []Batch{things(20, Size{CPU: 4, Mem: 1})}, 2},
	} {
		if got := Fewest(tt.kinds, tt.things); got != tt.want {
			t.Errorf("%s: found %d, want %d", tt.name, got, tt.want)
		}
	}
}
