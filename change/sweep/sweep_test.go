package sweep

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.org/homenode/numa"
	"example.org/homenode/source/story"
)

// small is a story of an hour on two hosts, with something of everything.
const small = `
release 7.0U3
cluster prod
host esx[01-02] nodes=2 cores=8 memory=128GB
vm   sql01      host=esx01 vcpus=8 memory=40GB hotAdd=on memoryHotAdd=on
vm   web[01-03] host=esx01 vcpus=4 memory=16GB
vm   app01      host=esx02 vcpus=12 memory=48GB
vm   build01    host=esx01 vcpus=6 memory=30GB power=off
run  1h every=20s start=2026-03-02T00:00:00Z seed=1
used esx* node=* memory=3GB
load *     cpu=20% noise=10% active=30%
load sql01 cpu=60% noise=5% memory=36GB workload=database
talk web01 web02 rate=800
at 10m power-on build01
at 20m load web* cpu=80% noise=20%
at 30m hot-add sql01 vcpus=10
at 40m vmotion web03 host=esx02
`

func read(t testing.TB, text string) *numa.Story {
	t.Helper()
	s, err := story.Read("small.txt", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func newPlan(t testing.TB, texts ...string) *Plan {
	t.Helper()
	p, err := New(t.Context(), read(t, small), texts, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func do(t testing.TB, p *Plan, how How) *Result {
	t.Helper()
	r, err := p.Run(context.Background(), how)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// transcript is all of a result as bytes.
func transcript(t testing.TB, r *Result) string {
	t.Helper()
	b, err := json.MarshalIndent(struct {
		Points  []PointResult
		Effects []Effect
		Best    [2]int
	}{r.Points, r.Effects, [2]int{r.Best, r.Worst}}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// records returns the records of a point as JSON, or why there are none.
func records(t testing.TB, pt *PointResult) string {
	t.Helper()
	b, err := json.Marshal(pt.Runs)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestAsWritten checks that a point is what a story comes to in whose text the change is
// written: each of these stories is read and run as it is.
func TestAsWritten(t *testing.T) {
	for _, tt := range []struct {
		sweep, value string
		edit         [][2]string
	}{
		{"vm=web* vcpus=2,today,8", "8", [][2]string{{"vm   web[01-03] host=esx01 vcpus=4", "vm   web[01-03] host=esx01 vcpus=8"}}},
		{"vm=web* vcpus=2,today,8", "today", nil},
		{"Numa.PageMigEnable=0,1", "0", [][2]string{{"cores=8", "cores=8 Numa.PageMigEnable=0"}}},
		{"LPage.LPageAlwaysTryForNPT=0,1", "0", [][2]string{{"cores=8", "cores=8 LPage.LPageAlwaysTryForNPT=0"}}},
		{"release=6.7,8.0U3", "8.0U3", [][2]string{{"release 7.0U3", "release 8.0U3"}}},
		{"vm=build01 host=esx01,esx02", "esx02", [][2]string{{"vm   build01    host=esx01", "vm   build01    host=esx02"}}},
		{"vm=sql01 vcpus=8,6 memory=today,38GB", "6/38GB", [][2]string{{"vm   sql01      host=esx01 vcpus=8 memory=40GB", "vm   sql01      host=esx01 vcpus=6 memory=38GB"}}},
		{"cpu=x0.5,x2", "x0.5", [][2]string{{"cpu=20% noise=10%", "cpu=10% noise=5%"}, {"cpu=60% noise=5%", "cpu=30% noise=2.5%"}, {"cpu=80% noise=20%", "cpu=40% noise=10%"}}},
		{"cpu=x0.5,x2", "x2", [][2]string{{"cpu=20% noise=10%", "cpu=40% noise=20%"}, {"cpu=60% noise=5%", "cpu=100% noise=10%"}, {"cpu=80% noise=20%", "cpu=100% noise=40%"}}},
		{"vm=web* cpu=*0.5,today", "*0.5", [][2]string{{"load sql01 cpu", "load web* cpu=10% noise=5%\nload sql01 cpu"}, {"cpu=80% noise=20%", "cpu=40% noise=10%"}}},
		{"load web* cpu=×0.5,×1", "×0.5", [][2]string{{"load sql01 cpu", "load web* cpu=10% noise=5%\nload sql01 cpu"}, {"cpu=80% noise=20%", "cpu=40% noise=10%"}}},
		{"vm=web* vcpus=2,8 cpu=x2,x0.5", "8/x0.5", [][2]string{{"vm   web[01-03] host=esx01 vcpus=4", "vm   web[01-03] host=esx01 vcpus=8"},
			{"load sql01 cpu", "load web* cpu=10% noise=5%\nload sql01 cpu"}, {"cpu=80% noise=20%", "cpu=40% noise=10%"}}},
		{"vm=sql01 cpu=10%|5..60%", "5..60%", [][2]string{{"load sql01 cpu=60% noise=5%", "load sql01 cpu=5..60%"}}},
		{"load web* active=10%,90%", "90%", [][2]string{{"load sql01", "load web* active=90%\nload sql01"}}},
		{"used esx02 node=* memory=3GB,50GB", "50GB", [][2]string{{"used esx* node=* memory=3GB", "used esx01 node=* memory=3GB\nused esx02 node=* memory=50GB"}}},
		{"at 5m set esx01 Numa.RebalanceEnable=0,1", "0", [][2]string{{"at 10m", "at 5m set esx01 Numa.RebalanceEnable=0\nat 10m"}}},
		{"at 50m vmotion web01 host=esx02,today", "esx02", [][2]string{{"host=esx02\n", "host=esx02\nat 50m vmotion web01 host=esx02\n"}}},
		{"seed=1,5", "seed 5", [][2]string{{"seed=1", "seed=5"}}},
		{"add-host=esx02 count=0,1 name=esx03", "1", [][2]string{{"host esx[01-02]", "host esx[01-03]"}, {"used esx*", "used esx01,esx02"}}},
	} {
		t.Run(tt.sweep+" "+tt.value, func(t *testing.T) {
			text := small
			for _, e := range tt.edit {
				if !strings.Contains(text, e[0]) {
					t.Fatalf("the story has no %q", e[0])
				}
				text = strings.Replace(text, e[0], e[1], 1)
			}
			want, err := New(t.Context(), read(t, text), nil, Options{})
			if err != nil {
				t.Fatal(err)
			}
			wanted := records(t, &do(t, want, How{}).Points[0])
			r := do(t, newPlan(t, tt.sweep), How{})
			var got string
			if seed, ok := strings.CutPrefix(tt.value, "seed "); ok {
				i := slices.IndexFunc(r.Points[0].Runs, func(one RunResult) bool { return fmt.Sprint(one.Seed) == seed })
				b, err := json.Marshal(r.Points[0].Runs[i : i+1])
				if err != nil {
					t.Fatal(err)
				}
				got = string(b)
			} else {
				i := slices.IndexFunc(r.Plan.Dimensions[0].Values, func(v Value) bool { return v.Label == tt.value })
				got = records(t, &r.Points[1+i])
			}
			// An added host has an ID of its own.
			if got = strings.Replace(got, `"id":"added esx03"`, `"id":"esx03"`, 1); got != wanted {
				t.Errorf("the point is\n%.900s\nwant\n%.900s", got, wanted)
			}
		})
	}
}

// TestChangesSomething checks that the changes above are seen in the records at all.
func TestChangesSomething(t *testing.T) {
	r := do(t, newPlan(t, "vm=web* vcpus=4,8", "cpu=x1,x2"), How{})
	today := records(t, &r.Points[0])
	for i, want := range []bool{true, true, false, false, false} {
		if got := records(t, &r.Points[i]) == today; got != want {
			t.Errorf("point %d is today: %v, want %v", i, got, want)
		}
	}
}

// TestWorkers checks that neither the number of workers nor what they did before changes a
// byte.
func TestWorkers(t *testing.T) {
	p := newPlan(t, "vm=web* vcpus=2,4,8", "nodesPerSocket=today,2,3", "seed=1..3")
	want := transcript(t, do(t, p, How{Workers: 1}))
	for _, n := range []int{2, 3, 8, 0} {
		if got := transcript(t, do(t, p, How{Workers: n})); got != want {
			t.Errorf("%d workers come to something else than one", n)
		}
	}
}

// TestOrder checks that the order of the values and dimensions changes nothing but the
// order of the points.
func TestOrder(t *testing.T) {
	one := do(t, newPlan(t, "vm=web* vcpus=2,8", "Numa.PageMigEnable=0,1"), How{})
	other := do(t, newPlan(t, "Numa.PageMigEnable=1,0", "vm=web* vcpus=8,2"), How{})
	for i, j := range []int{0, 4, 2, 3, 1} {
		a, b := one.Points[i], other.Points[j]
		if got, want := records(t, &b), records(t, &a); got != want {
			t.Errorf("point %d is not what point %d is in the other order", j, i)
		}
	}
}

// TestFails checks that a point that cannot be says why, and that the others are done.
func TestFails(t *testing.T) {
	p := newPlan(t, "nodesPerSocket=1,3,2", "seed=1..2")
	r := do(t, p, How{})
	const want = "host esx01: 8 cores of a package do not divide into 3 nodes"
	for i, pt := range r.Points {
		for _, one := range pt.Runs {
			if fails := i == 2; fails != (one.Failed == want) || fails == (one.Record != nil) {
				t.Errorf("point %d: failed %q, record %v", i, one.Failed, one.Record != nil)
			}
		}
	}
	if r.Failed() != 1 || r.Points[2].Failed != 2 || r.Best == 2 || r.Worst == 2 {
		t.Errorf("%d points failed, %d runs of it, best %d, worst %d; want 1, 2 and neither 2", r.Failed(), r.Points[2].Failed, r.Best, r.Worst)
	}
	if e := r.Effects[1]; e.Points != 0 || e.Of != 1 || e.Mean[Speed].Known {
		t.Errorf("effect %+v, want that of no point", e)
	}
	lost := do(t, newPlan(t, "lose-host=esx01,esx02,none"), How{})
	if got := lost.Points[2].Runs[0].Failed; got != "VM web03 moves to host esx02 at 40m0s, and that is lost" {
		t.Errorf("failed with %q", got)
	}
	if pt := lost.Points[1]; !pt.Whole() || pt.Runs[0].Record.Fleet.Ran != 6 || pt.Runs[0].Record.Hosts[0].Name != "esx02" {
		t.Errorf("without esx01: %s", records(t, &pt))
	}
}

// TestNothingRuns checks that a fleet of which nothing can be simulated is no result.
func TestNothingRuns(t *testing.T) {
	s := read(t, "host esx01 nodes=? cores=8 memory=64GB\nvm a host=esx01 vcpus=4 memory=8GB\nrun 1m\n")
	p, err := New(t.Context(), s, []string{"seed=1..2"}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := do(t, p, How{})
	const want = "no VM could be simulated: "
	if got := r.Points[0].Runs[1].Failed; !strings.HasPrefix(got, want) || r.Failed() != 1 {
		t.Errorf("failed with %q, want %q and why", got, want)
	}
}

// TestCancel checks that a run that is stopped is no result.
func TestCancel(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if _, err := newPlan(t, "seed=1..4").Run(ctx, How{}); err != context.Canceled {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
}
