package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"example.org/homenode/source/benchmark"
	"example.org/homenode/source/fact"
)

// runs returns one run for each value of a metric.
func runs(better benchmark.Better, values ...float64) []*benchmark.Run {
	var out []*benchmark.Run
	for _, v := range values {
		out = append(out, &benchmark.Run{Tool: "tool", Metrics: []benchmark.Metric{{Name: "m", Unit: "ns", Better: better, Value: v}}})
	}
	return out
}

func one(t *testing.T, a, b []*benchmark.Run) Metric {
	t.Helper()
	c := Sets(a, b)
	if len(c.Metrics) != 1 {
		t.Fatalf("%d metrics, want 1", len(c.Metrics))
	}
	return c.Metrics[0]
}

func TestVerdict(t *testing.T) {
	for _, tt := range []struct {
		name      string
		better    benchmark.Better
		a, b      []float64
		verdict   Verdict
		diff      float64
		low, high float64 // both NaN: no interval
	}{
		{"one run each", benchmark.Higher, []float64{100}, []float64{50}, TooFew, -50, math.NaN(), math.NaN()},
		{"two and many", benchmark.Higher, []float64{100, 101}, []float64{50, 50, 50, 50}, TooFew, -50.5, math.NaN(), math.NaN()},
		{"three apart, lower is better", benchmark.Lower, []float64{100, 101, 102}, []float64{122, 124, 123}, Worse, 22, 20, 24},
		{"three apart, higher is better", benchmark.Higher, []float64{100, 101, 102}, []float64{122, 124, 123}, Improved, 22, 20, 24},
		{"neither", benchmark.Neither, []float64{100, 101, 102}, []float64{122, 124, 123}, Differs, 22, 20, 24},
		{"three that overlap", benchmark.Lower, []float64{100, 101, 102}, []float64{101.5, 99, 104}, Same, 0.5, -3, 4},
		{"no spread", benchmark.Higher, []float64{5, 5, 5}, []float64{6, 6, 6}, Improved, 1, 1, 1},
		{"all the same", benchmark.Higher, []float64{5, 5, 5}, []float64{5, 5, 5}, Same, 0, 0, 0},
		{"zeros", benchmark.Lower, []float64{0, 0, 0}, []float64{1, 1, 1}, Worse, 1, 1, 1},
		{"one disturbed run of seven", benchmark.Higher, []float64{100, 100.2, 99.9, 100.1, 100, 99.8, 12}, []float64{100, 100.1, 99.9, 100.2, 100, 99.8, 100.1}, Same, 0, -0.1, 0.3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := one(t, runs(tt.better, tt.a...), runs(tt.better, tt.b...))
			low, high := math.NaN(), math.NaN()
			if m.Interval != nil {
				low, high = m.Interval.Low, m.Interval.High
			}
			near := func(x, y float64) bool { return math.Abs(x-y) < 1e-9 || math.IsNaN(x) && math.IsNaN(y) }
			if m.Verdict != tt.verdict || !near(m.Difference, tt.diff) || !near(low, tt.low) || !near(high, tt.high) {
				t.Errorf("%s, difference %v, interval %v … %v; want %s, %v, %v … %v", m.Verdict, m.Difference, low, high, tt.verdict, tt.diff, tt.low, tt.high)
			}
		})
	}
	zero := one(t, runs(benchmark.Lower, 0), runs(benchmark.Lower, 1))
	if _, ok := zero.Relative(zero.Difference); ok {
		t.Error("a share of 0 is known")
	}
}

func sample(rng *rand.Rand, n int, mean, deviation float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = max(0, mean+deviation*rng.NormFloat64())
	}
	return out
}

// TestProperties: a set does not differ from itself; swapping mirrors; the unit does
// not matter; a far shift is seen; the same input gives the same result.
func TestProperties(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	mirror := map[Verdict]Verdict{Improved: Worse, Worse: Improved, Same: Same, TooFew: TooFew}
	for range 30 {
		a := sample(rng, 1+rng.IntN(12), 100, 2)
		b := sample(rng, 1+rng.IntN(12), 100+rng.Float64()*4, 2)
		enough := len(a) >= LeastRuns && len(b) >= LeastRuns

		if m := one(t, runs(benchmark.Higher, a...), runs(benchmark.Higher, a...)); m.Verdict != Same && m.Verdict != TooFew || m.Difference != 0 {
			t.Errorf("%v with itself: %s, %v", a, m.Verdict, m.Difference)
		}
		ab, ba := one(t, runs(benchmark.Higher, a...), runs(benchmark.Higher, b...)), one(t, runs(benchmark.Higher, b...), runs(benchmark.Higher, a...))
		if ba.Verdict != mirror[ab.Verdict] || ba.Difference != -ab.Difference {
			t.Errorf("swapped: %s %v, not swapped: %s %v", ba.Verdict, ba.Difference, ab.Verdict, ab.Difference)
		}
		if enough && (ba.Interval.Low != -ab.Interval.High || ba.Interval.High != -ab.Interval.Low) {
			t.Errorf("swapped: %v, not swapped: %v", *ba.Interval, *ab.Interval)
		}
		if lower := one(t, runs(benchmark.Lower, a...), runs(benchmark.Lower, b...)); lower.Verdict != mirror[ab.Verdict] {
			t.Errorf("lower is better: %s, higher is better: %s", lower.Verdict, ab.Verdict)
		}
		if again := one(t, runs(benchmark.Higher, a...), runs(benchmark.Higher, b...)); !reflect.DeepEqual(again, ab) {
			t.Errorf("again: %v, want %v", again, ab)
		}
		order := slices.Clone(a)
		rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		if other := one(t, runs(benchmark.Higher, order...), runs(benchmark.Higher, b...)); !reflect.DeepEqual(other, ab) {
			t.Errorf("in another order: %v, want %v", other, ab)
		}
		shifted := slices.Clone(a)
		for i := range shifted {
			shifted[i] *= 1.5
		}
		want := Improved
		if len(a) < LeastRuns {
			want = TooFew
		}
		if m := one(t, runs(benchmark.Higher, a...), runs(benchmark.Higher, shifted...)); m.Verdict != want {
			t.Errorf("%v and half as much again: %s, want %s", a, m.Verdict, want)
		}
	}
}

// TestMeans says of which results one value stands for many.
func TestMeans(t *testing.T) {
	of := func(iterations string) *benchmark.Run {
		return &benchmark.Run{Tool: "PassMark", Settings: []fact.Fact{{Name: benchmark.Iterations, Value: iterations}}}
	}
	got := Means([]*benchmark.Run{of("20"), of("1"), of("x"), of("3"), of("20"), {Tool: "fio"}})
	want := []string{
		"2 results of PassMark: each is the mean of 20 iterations and counts as one run: how far its iterations differ is not stated",
		"1 result of PassMark is the mean of 3 iterations and counts as one run: how far its iterations differ is not stated",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestSets(t *testing.T) {
	v := func(name, unit string, x float64) benchmark.Metric {
		return benchmark.Metric{Name: name, Unit: unit, Better: benchmark.Higher, Value: x}
	}
	run := func(tool, name string, settings []fact.Fact, values ...benchmark.Metric) *benchmark.Run {
		return &benchmark.Run{Tool: tool, Name: name, Settings: settings, Metrics: values}
	}
	a := []*benchmark.Run{
		run("fio", "job1", []fact.Fact{{Name: "bs", Value: "4k"}, {Name: "version", Value: "3.1"}}, v("IOPS", "1/s", 10), v("bw", "MB/s", 4)),
		run("mlc", "", nil, v("peak", "MB/s", 7)),
		run("fio", "job2", nil, v("IOPS", "1/s", 1)),
		run("fio", "empty", nil),
		run("fio", "job1", []fact.Fact{{Name: "version", Value: "3.2"}}, v("IOPS", "1/s", 30)),
	}
	b := []*benchmark.Run{
		run("fio", "job1", []fact.Fact{{Name: "bs", Value: "8k"}, {Name: "version", Value: "3.2"}}, v("IOPS", "1/s", 40), v("bw", "MiB/s", 4)),
		run("iometer", "x", []fact.Fact{{Name: "disks", Value: "1"}}, v("IOPS", "1/s", 1)),
	}
	all := 1.0
	want := &Comparison{
		Metrics: []Metric{{Tool: "fio", Run: "job1", Name: "IOPS", Unit: "1/s", Better: benchmark.Higher,
			A: Side{20, []float64{10, 30}}, B: Side{40, []float64{40}}, Difference: 20, Share: &all, Verdict: TooFew}},
		Singles: []Single{
			{"fio", "job1", "bw", false, 1},
			{"fio", "job1", "bw", true, 1}, // another unit
			{"fio", "job2", "IOPS", false, 1},
			{"mlc", "", "peak", false, 1},
			{"iometer", "x", "IOPS", true, 1},
		},
		Changes: []Change{{"fio", "job1", "bs", []string{"4k"}, []string{"8k"}}},
	}
	got := Sets(a, b)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("Sets = %+v\nwant   %+v", got, want)
	}
	if got.Count(TooFew) != 1 || got.Judged() != 0 {
		t.Errorf("%d too few, %d judged", got.Count(TooFew), got.Judged())
	}
	if n := got.ByChance(); n != 0 {
		t.Errorf("%v differ by chance, want 0", n)
	}
	if n := Sets(runs(benchmark.Higher, 1, 2, 3), runs(benchmark.Higher, 1, 2, 3, 4)).ByChance(); n != 0.10 {
		t.Errorf("%v differ by chance with 3 runs, want 0.1", n)
	}
	if empty := Sets(nil, nil); len(empty.Metrics)+len(empty.Singles)+len(empty.Changes) != 0 {
		t.Errorf("Sets of nothing = %+v", empty)
	}
}

func BenchmarkSets(b *testing.B) {
	for _, n := range []int{3, 20} {
		b.Run(fmt.Sprintf("metrics=57/runs=%d", n), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(7, 8))
			set := func() []*benchmark.Run {
				var out []*benchmark.Run
				for range n {
					r := &benchmark.Run{Tool: "mlc"}
					for i := range 57 {
						r.Metrics = append(r.Metrics, benchmark.Metric{Name: fmt.Sprint(i), Unit: "ns", Better: benchmark.Lower, Value: 100 + rng.NormFloat64()})
					}
					out = append(out, r)
				}
				return out
			}
			x, y := set(), set()
			b.ReportAllocs()
			for b.Loop() {
				if c := Sets(x, y); len(c.Metrics) != 57 {
					b.Fatal(len(c.Metrics))
				}
			}
		})
	}
}
