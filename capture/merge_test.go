package capture

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/homenode/numa"
)

// record returns the Recording of ticks. The first half of them, by line, comes from a.csv,
// the others from b.csv.
func record(o Options, half int, ticks []*numa.Tick) *Recording {
	r := NewRecorder(o)
	for i, t := range ticks {
		switch {
		case t.Line <= half && i == 0:
			r.Open("a.csv", "esxtop batch CSV")
			r.current().Parts = 7
		case t.Line > half && (i == 0 || ticks[i-1].Line <= half):
			r.Open("b.csv", "esxtop batch CSV")
		}
		r.Add(t)
	}
	return r.Recording()
}

func merge(t *testing.T, parts ...*Recording) *Recording {
	t.Helper()
	merged, notes, err := Merge(parts)
	if err != nil || len(notes) > 0 || len(merged) != 1 {
		t.Fatalf("Merge() = %d recordings, %v, %v; want 1, no notes and no error", len(merged), notes, err)
	}
	return merged[0]
}

func same(t *testing.T, what string, got, want *Recording) {
	t.Helper()
	if reflect.DeepEqual(got, want) {
		return
	}
	g, _ := json.MarshalIndent(got, "", " ")
	w, _ := json.MarshalIndent(want, "", " ")
	lines, wants := strings.Split(string(g), "\n"), strings.Split(string(w), "\n")
	for i := range wants {
		if i < len(lines) && lines[i] != wants[i] {
			t.Fatalf("%s: line %d after %q: found %s, want %s", what, i+1, wants[max(0, i-12):i], lines[i], wants[i])
		}
	}
	t.Fatalf("%s: not equal, though it prints as wanted", what)
}

// A stretch that is cut at any tick and merged is the whole one.
func TestMergeCuts(t *testing.T) {
	const n = 60
	for seed := range uint64(12) {
		all := newWorld(seed).ticks(n)
		want := record(tight, n/2, all)
		for cut := 1; cut < n; cut++ {
			same(t, "two parts", merge(t, record(tight, n/2, all[cut:]), record(tight, n/2, all[:cut])), want)
		}
	}
}

// Neither the number of parts nor their grouping matters.
func TestMergeGroupings(t *testing.T) {
	const n = 60
	for seed := range uint64(40) {
		all := newWorld(100 + seed).ticks(n)
		want := record(tight, n/2, all)
		rnd := rand.New(rand.NewPCG(seed, 5))
		var parts []*Recording
		for from := 0; from < n; {
			to := min(n, from+1+rnd.IntN(1+rnd.IntN(12)))
			parts = append(parts, record(tight, n/2, all[from:to]))
			from = to
		}
		same(t, "all at once", merge(t, parts...), want)
		// Two neighbours at a time, in random places.
		for len(parts) > 1 {
			i := rnd.IntN(len(parts) - 1)
			parts[i] = merge(t, parts[i+1], parts[i])
			parts = append(parts[:i+1], parts[i+2:]...)
		}
		same(t, "by pairs", parts[0], want)
	}
}

// The world in which cuts are tried uses every field of a Recording.
func TestWorldIsFull(t *testing.T) {
	used := map[string]bool{}
	for seed := range uint64(12) {
		r := record(tight, 30, newWorld(seed).ticks(60))
		walk(reflect.ValueOf(*r), "Recording", used)
	}
	for _, name := range slices.Sorted(maps.Keys(used)) {
		// The world knows one kind of moves and no damage.
		switch name {
		case "Moves.Balance", "Moves.LoadSwap", "Moves.LocalitySwap", "Moves.Fairness", "File.Warnings", "File.Left", "File.Cut", "Sum.Hi":
			continue
		}
		if !used[name] && !strings.Contains(name, "Tick.") {
			t.Errorf("%s is zero in all of the worlds", name)
		}
	}
}

// walk notes which fields are not zero anywhere.
func walk(v reflect.Value, name string, used map[string]bool) {
	used[name] = used[name] || !v.IsZero()
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			walk(v.Elem(), name, used)
		}
	case reflect.Slice:
		for i := range v.Len() {
			walk(v.Index(i), name, used)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			walk(v.Field(i), v.Type().Name()+"."+v.Type().Field(i).Name, used)
		}
	}
}

// stretch records n quiet ticks of a host from a second on.
func stretch(file string, from, n int, change func(*numa.Tick)) *Recording {
	r := NewRecorder(some)
	r.Open(file, "esxtop batch CSV")
	for i := range n {
		t := &numa.Tick{
			Host: "localhost", Time: at(from + 10*i),
			Nodes: []numa.NodeTick{{ID: 0, Has: numa.HasTotal, Total: 64 * numa.GiB}, {ID: 1, Has: numa.HasTotal, Total: 64 * numa.GiB}},
			VMs:   []numa.VMTick{{GID: 1, Name: "db01"}},
		}
		if change != nil {
			change(t)
		}
		r.Add(t)
	}
	return r.Recording()
}

func TestMergeCountsOnce(t *testing.T) {
	bigger := func(t *numa.Tick) { t.Nodes[0].Total *= 2 }
	busier := func(t *numa.Tick) { t.VMs[0].Name = "db02" }
	empty := func(t *numa.Tick) { t.VMs = nil }
	bare := func(t *numa.Tick) { t.VMs, t.Nodes = nil, nil }
	named := func(r *Recording) *Recording {
		c := *r
		c.Host = "esx01"
		return &c
	}
	a, b, c := stretch("a.csv", 0, 5, nil), stretch("b.csv", 100, 5, nil), stretch("c.csv", 200, 5, nil)
	ab, _, _ := Merge([]*Recording{a, b})
	type result struct {
		Host  string
		Ticks int
	}
	for _, tt := range []struct {
		name  string
		parts []*Recording
		want  []result
		notes []string
	}{
		{"in any order", []*Recording{c, a, b}, []result{{"localhost", 15}}, nil},
		{"twice", []*Recording{a, b, stretch("a.csv", 0, 5, nil)}, []result{{"localhost", 10}},
			[]string{"a.csv: is given twice and counts once"}},
		{"three times", []*Recording{a, a, a}, []result{{"localhost", 5}},
			[]string{"a.csv: is given twice and counts once", "a.csv: is given twice and counts once"}},
		{"a copy", []*Recording{a, stretch("old/a.csv", 0, 5, nil)}, []result{{"localhost", 5}},
			[]string{"old/a.csv: holds nothing that a.csv does not: it counts once"}},
		{"within another", []*Recording{b, ab[0], c}, []result{{"localhost", 15}},
			[]string{"b.csv: holds nothing that a.csv does not: it counts once"}},
		{"two hosts at once", []*Recording{a, stretch("x.csv", 20, 5, busier), b},
			[]result{{"localhost (a.csv)", 10}, {"localhost (x.csv)", 5}},
			[]string{"localhost: a.csv and x.csv have no VM in common, or other nodes: 2 hosts of a name that identifies none: the recordings are kept apart"}},
		{"two hosts of a real name at once", []*Recording{named(a), named(stretch("x.csv", 20, 5, busier)), named(b)},
			[]result{{"esx01 (a.csv)", 5}, {"esx01 (b.csv)", 5}, {"esx01 (x.csv)", 5}},
			[]string{"esx01: a.csv and x.csv overlap in time: two hosts of one name, or two captures at once: the recordings of each file are kept apart"}},
		{"the last tick of one is the first of the other", []*Recording{a, stretch("x.csv", 40, 2, nil)},
			[]result{{"localhost (a.csv)", 5}, {"localhost (x.csv)", 2}},
			[]string{"localhost: a.csv and x.csv overlap in time: two hosts of one name, or two captures at once: the recordings of each file are kept apart"}},
		{"two parts of a file beside another", []*Recording{stretch("a.csv", 300, 2, nil), a, stretch("x.csv", 20, 5, busier)},
			[]result{{"localhost (a.csv)", 7}, {"localhost (x.csv)", 5}},
			[]string{"localhost: a.csv and x.csv have no VM in common, or other nodes: 2 hosts of a name that identifies none: the recordings are kept apart"}},
		{"a file that grew", []*Recording{a, stretch("a.csv", 0, 6, nil)}, []result{{"localhost", 6}},
			[]string{"a.csv: is given twice and counts once"}},
		{"another file of one name", []*Recording{a, stretch("a.csv", 0, 6, busier)},
			[]result{{"localhost (a.csv)", 5}, {"localhost (a.csv, 2)", 6}},
			[]string{"localhost: a.csv and a.csv overlap in time: two hosts of one name, or two captures at once: the recordings of each file are kept apart"}},
		{"other nodes", []*Recording{a, stretch("y.csv", 100, 3, bigger)},
			[]result{{"localhost (a.csv)", 5}, {"localhost (y.csv)", 3}},
			[]string{"localhost: a.csv and y.csv have no VM in common, or other nodes: 2 hosts of a name that identifies none: the recordings are kept apart"}},
		{"other nodes of a real name", []*Recording{named(a), named(stretch("y.csv", 100, 3, bigger))},
			[]result{{"esx01 (a.csv)", 5}, {"esx01 (y.csv)", 3}},
			[]string{"esx01: a.csv and y.csv differ in the nodes of the host: two hosts of one name: the recordings of each file are kept apart"}},
		{"other VMs of a real name", []*Recording{named(a), named(stretch("y.csv", 100, 3, busier))}, []result{{"esx01", 8}}, nil},
		{"other VMs", []*Recording{a, stretch("y.csv", 100, 3, busier), c, stretch("z.csv", 300, 2, busier)},
			[]result{{"localhost (a.csv)", 10}, {"localhost (y.csv)", 5}},
			[]string{"localhost: a.csv and y.csv have no VM in common, or other nodes: 2 hosts of a name that identifies none: the recordings are kept apart"}},
		{"no VMs, the same nodes", []*Recording{a, stretch("y.csv", 100, 3, empty)}, []result{{"localhost", 8}}, nil},
		{"no VMs, no nodes", []*Recording{stretch("x.csv", 0, 3, bare), stretch("y.csv", 100, 3, bare)},
			[]result{{"localhost (x.csv)", 3}, {"localhost (y.csv)", 3}},
			[]string{"localhost: x.csv and y.csv have no VM in common, or other nodes: 2 hosts of a name that identifies none: the recordings are kept apart"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			merged, notes, err := Merge(tt.parts)
			if err != nil {
				t.Fatal(err)
			}
			var got []result
			for _, r := range merged {
				got = append(got, result{r.Host, r.Ticks})
			}
			var told []string
			for _, n := range notes {
				told = append(told, n.String())
			}
			equal(t, "Merge()", got, tt.want)
			equal(t, "notes", told, tt.notes)
		})
	}
	same(t, "a part of several", a, stretch("a.csv", 0, 5, nil))
}

func TestMergeOptions(t *testing.T) {
	other := some
	other.Locality = 0.9
	want := "recordings: found two sets of options, want one: a.csv and b.csv"
	for _, host := range []string{"esx01", "esx02"} {
		a, b := NewRecorder(some), NewRecorder(other)
		a.Open("a.csv", "")
		b.Open("b.csv", "")
		a.Add(&numa.Tick{Host: "esx01", Time: at(0)})
		b.Add(&numa.Tick{Host: host, Time: at(10)})
		_, _, err := Merge([]*Recording{a.Recording(), b.Recording()})
		if err == nil || err.Error() != want {
			t.Errorf("Merge() = %v, want %s", err, want)
		}
	}
}
