package rightsize

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"example.org/homenode/capture"
	"example.org/homenode/numa/unit"
)

// p99 are the options most tests use.
var p99 = Options{Percentile: 0.99, Headroom: 0.2, Least: 24 * time.Hour}

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

// vcpus is a demand in capture's unit.
func vcpus(n float64) int64 { return int64(n * capture.Whole) }

// busy is a demand that ran: nothing of it waited.
func busy(n float64) demand { return demand{vcpus(n), vcpus(n)} }

// Counts for needs on hosts of two nodes of so many cores.
func TestCount(t *testing.T) {
	needs := []int{0, 1, 3, 5, 7, 8, 9, 11, 13, 15, 17, 19, 21, 25, 29, 33, 40, 50, 60}
	for _, tt := range []struct {
		cores int
		want  []int // 0: the host has no such count
	}{
		{8, []int{2, 2, 4, 6, 8, 8, 10, 12, 14, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
		{10, []int{2, 2, 4, 6, 8, 8, 10, 12, 14, 16, 18, 20, 0, 0, 0, 0, 0, 0, 0}},
		{12, []int{2, 2, 4, 6, 8, 8, 10, 12, 14, 16, 18, 20, 22, 0, 0, 0, 0, 0, 0}},
		{14, []int{2, 2, 4, 6, 8, 8, 10, 12, 14, 16, 18, 20, 22, 26, 0, 0, 0, 0, 0}},
		{16, []int{2, 2, 4, 6, 8, 8, 10, 12, 14, 16, 18, 20, 22, 26, 30, 0, 0, 0, 0}},
		{18, []int{2, 2, 4, 6, 8, 8, 10, 12, 14, 16, 18, 20, 22, 26, 30, 34, 0, 0, 0}},
		{20, []int{2, 2, 4, 6, 8, 8, 10, 12, 14, 16, 18, 20, 22, 26, 30, 34, 40, 0, 0}},
		{24, []int{2, 2, 4, 6, 8, 8, 10, 12, 14, 16, 18, 20, 22, 26, 30, 34, 40, 0, 0}},
		{28, []int{2, 2, 4, 6, 8, 8, 10, 12, 14, 16, 18, 20, 22, 26, 30, 34, 40, 50, 0}},
		{32, []int{2, 2, 4, 6, 8, 8, 10, 12, 14, 16, 18, 20, 22, 26, 30, 34, 40, 50, 60}},
		{7, []int{2, 2, 4, 6, 7, 8, 10, 12, 14, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
		{9, []int{2, 2, 4, 6, 8, 8, 9, 12, 14, 16, 18, 0, 0, 0, 0, 0, 0, 0, 0}},
	} {
		for i, need := range needs {
			n, ok := count(need, []Shape{{2, tt.cores}})
			if !ok {
				equal(t, fmt.Sprintf("most of two nodes of %d cores", tt.cores), n, 2*tt.cores)
				n = 0
			}
			equal(t, fmt.Sprintf("count for %d on nodes of %d cores", need, tt.cores), n, tt.want[i])
		}
	}
}

func TestCountOnSeveral(t *testing.T) {
	for _, tt := range []struct {
		name   string
		need   int
		shapes []Shape
		want   int
		ok     bool
	}{
		{"four nodes, three needed: a multiple of three", 25, []Shape{{4, 10}}, 30, true},
		{"an odd multiple of three is left out", 21, []Shape{{3, 7}}, 18, false},
		{"four nodes", 35, []Shape{{4, 10}}, 36, true},
		{"wide on one kind alone", 16, []Shape{{2, 18}, {4, 14}}, 16, true},
		{"36 is 2×18 there and 3×12 here", 35, []Shape{{2, 20}, {4, 14}}, 36, true},
		{"not 32, which is 3 clients of unequal size on nodes of 14", 31, []Shape{{2, 20}, {4, 14}}, 36, true},
		{"the smaller host limits", 50, []Shape{{2, 32}, {2, 20}}, 40, false},
		{"unknown nodes: even", 5, nil, 6, true},
		{"one core", 1, []Shape{{1, 1}}, 1, false},
	} {
		n, ok := count(tt.need, tt.shapes)
		equal(t, tt.name, []any{n, ok}, []any{tt.want, tt.ok})
	}
}

func TestPacked(t *testing.T) {
	for _, tt := range []struct{ n, cores, want int }{
		{10, 12, 12}, // 12 fills the node, 10 leaves 2
		{8, 10, 10},
		{10, 24, 12},               // two in a node
		{6, 8, 6},                  // two more are a third more
		{10, 20, 10},               // divides
		{12, 18, 12}, {18, 18, 18}, // nothing near
		{10, 14, 10}, {14, 16, 16}, // fills
		{16, 18, 18}, {22, 24, 24}, // fills
		{20, 18, 20}, {24, 22, 24}, // wide
		{9, 9, 9}, {8, 9, 8}, {2, 3, 2},
	} {
		equal(t, fmt.Sprintf("packed %d on %d cores", tt.n, tt.cores), packed(tt.n, []Shape{{2, tt.cores}}), tt.want)
	}
	equal(t, "packed on several kinds", packed(10, []Shape{{2, 24}, {2, 12}}), 12)
	equal(t, "packed on unknown nodes", packed(10, nil), 10)
}

func TestDecide(t *testing.T) {
	two10 := []Shape{{2, 10}}
	for _, tt := range []struct {
		name   string
		vcpus  int
		d      demand
		shapes []Shape
		want   int
		v      Verdict
		reason string
	}{
		{"idle", 8, busy(0), two10, 2, Smaller, ""},
		{"idle and small", 2, busy(0), two10, 2, Keep, ""},
		{"one vCPU stays", 1, busy(0.1), two10, 1, Keep, ""},
		{"a wide one fits a node", 16, busy(7.9), two10, 10, Smaller, ""},
		{"a wide one stays wide and even", 20, busy(11), two10, 14, Smaller, ""},
		{"an odd need", 16, busy(4), two10, 6, Smaller, ""}, // 4.8
		{"five stays five", 5, busy(4), two10, 5, Keep, ""},
		{"little headroom", 8, busy(7), two10, 8, Keep, "less headroom than wanted, but its vCPUs are not full"},
		{"an odd wide one", 13, busy(10.5), two10, 13, Keep, "13 vCPUs do not divide over 2 nodes of 10 cores: 14 would, but nothing shows that it needs more"},
		{"an even wide one", 14, busy(11), two10, 14, Keep, ""},
		{"full", 8, busy(7.6), two10, 10, Larger, ""},
		{"full and grows over the node", 10, busy(9.9), two10, 12, Larger, ""},
		{"turbo: more than its vCPUs", 8, busy(8.8), two10, 12, Larger, ""},
		{"waits", 8, demand{vcpus(7.9), vcpus(5)}, two10, 8, Keep, "waits for cores of the host: more vCPUs would wait, too"},
		{"all cores of the host", 20, busy(19.8), two10, 20, Keep, "has all vCPUs that its hosts have cores for"},
		{"nearly all cores of the host", 18, busy(17.8), two10, 20, Larger, "the most that its hosts have cores for: the demand is higher"},
		{"more than the host", 24, busy(18), two10, 24, Keep, "has more vCPUs than its hosts have cores, and wants them (N013)"},
		{"unknown nodes", 16, busy(4), nil, 6, Smaller, ""},
	} {
		n, v, reason := p99.decide(tt.vcpus, tt.d, tt.shapes)
		equal(t, tt.name, []any{n, v, reason}, []any{tt.want, tt.v, tt.reason})
	}
}

// worlds yields sizes of nodes, VMs and options at random.
func worlds(t *testing.T, f func(o *Options, n int, shapes []Shape, rnd *rand.Rand)) {
	t.Helper()
	for seed := range uint64(4000) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		cores := []int{7, 8, 9, 10, 12, 14, 16, 18, 20, 24, 28, 32}
		var shapes []Shape
		for range rnd.IntN(3) {
			shapes = append(shapes, Shape{1 + rnd.IntN(4), cores[rnd.IntN(len(cores))]})
		}
		o := Options{Percentile: 0.99, Headroom: []unit.Share{0, 0.1, 0.2, 0.33, 1}[rnd.IntN(5)]}
		f(&o, 1+rnd.IntN(64), shapes, rnd)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// What is suggested covers the demand with headroom, is never odd beyond a node, divides
// over the nodes of every kind, and is the same for the VM that has it.
func TestSuggestionsHold(t *testing.T) {
	changed := 0
	worlds(t, func(o *Options, vms int, shapes []Shape, rnd *rand.Rand) {
		d := demand{wanted: rnd.Int64N(int64(vms)*capture.Whole*12/10 + 1)}
		d.ran = d.wanted
		if rnd.IntN(3) == 0 {
			d.ran = rnd.Int64N(d.wanted + 1)
		}
		n, v, reason := o.decide(vms, d, shapes)
		switch {
		case (v == Keep) != (n == vms), (v == Smaller) != (n < vms), (v == Larger) != (n > vms):
			t.Fatalf("%d vCPUs from %d, %s", n, vms, v)
		case v == Larger && d.ran < full*int64(vms):
			t.Fatalf("grows from %d to %d without evidence", vms, n)
		}
		if v == Keep {
			return
		}
		changed++
		if float64(n)*capture.Whole < float64(d.wanted)*(1+float64(o.Headroom))-1 && reason == "" {
			t.Fatalf("%d vCPUs for a demand of %d with headroom %v", n, d.wanted, o.Headroom)
		}
		for _, s := range shapes {
			k := (n + s.Cores - 1) / s.Cores
			if k > s.Nodes || k > 1 && (n%2 == 1 || n%k != 0) {
				t.Fatalf("%d vCPUs on %d nodes of %d cores", n, s.Nodes, s.Cores)
			}
			if n%2 == 1 && n != s.Cores {
				t.Fatalf("%d vCPUs, odd, on nodes of %d cores", n, s.Cores)
			}
		}
		again, v2, _ := o.decide(n, d, shapes)
		if again != n || v2 != Keep {
			t.Fatalf("%d of %d vCPUs, and then %d (%s)", n, vms, again, v2)
		}
	})
	if changed < 1000 {
		t.Fatalf("%d suggestions differ, want 1,000 at least", changed)
	}
}

// More demand never gives fewer vCPUs, nor does more headroom.
func TestMonotone(t *testing.T) {
	worlds(t, func(o *Options, vms int, shapes []Shape, rnd *rand.Rand) {
		last := 0
		for wanted := int64(0); wanted < int64(vms)*capture.Whole*2; wanted += 1 + rnd.Int64N(3000) {
			n, _, _ := o.decide(vms, demand{wanted, wanted}, shapes)
			if n < last {
				t.Fatalf("%d vCPUs for a demand of %d, %d for less", n, wanted, last)
			}
			last = n
			more := *o
			more.Headroom += 0.15
			if m, _, _ := more.decide(vms, demand{wanted, wanted}, shapes); m < n {
				t.Fatalf("%d vCPUs for a demand of %d, %d with more headroom", n, wanted, m)
			}
		}
	})
}

func TestOptions(t *testing.T) {
	for _, tt := range []struct {
		o    Options
		want string
	}{
		{p99, "<nil>"},
		{Options{Percentile: 1, Headroom: 5}, "<nil>"},
		{Options{Percentile: 0}, "percentile: found 0, want more than 0 and at most 100"},
		{Options{Percentile: 1.01}, "percentile: found 101, want more than 0 and at most 100"},
		{Options{Percentile: 1, Headroom: 5.01}, "headroom: found 501 %, want from 0 to 500 %"},
		{Options{Percentile: 1, Headroom: -0.1}, "headroom: found -10 %, want from 0 to 500 %"},
		{Options{Percentile: 1, Least: -time.Hour}, "least: found -1h0m0s, want a time such as 24h"},
	} {
		equal(t, "Check()", tt.o.Check(), tt.want)
	}
}
