package cost

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"example.org/homenode/numa"
)

// exact is a machine with round figures: far costs half more, a link carries a quarter.
func exact(packages ...int) *Machine {
	m := &Machine{ID: "round"}
	for d, ns := range []float64{100, 110, 150} {
		m.Paths[d].Nanoseconds = numa.ReadAt(ns, "test")
		m.Paths[d].Share = numa.ReadAt([]float64{1, 1, 0.25}[d], "test")
	}
	for i, p := range packages {
		m.Nodes = append(m.Nodes, numa.Node{ID: i, Package: p, Cores: 8})
	}
	return m
}

// Classes that only one term moves, with no range.
var (
	allStall  = Workload{Stall: Range{1, 1, 1}}
	allStream = Workload{Stream: Range{1, 1, 1}}
)

func TestIndex(t *testing.T) {
	const GiB = numa.GiB
	two := []Client{{Node: 0, VCPUs: 8}, {Node: 1, VCPUs: 8}}
	for _, tt := range []struct {
		name     string
		workload Workload
		use      Use
		want     float64
	}{
		{"all local", allStall, Use{Clients: []Client{{Node: 1, VCPUs: 4, Memory: []numa.Bytes{0, GiB}}}}, 1},
		{"no memory yet", allStall, Use{Clients: two}, 1},
		{"all far", allStall, Use{Clients: []Client{{Node: 0, VCPUs: 4, Memory: []numa.Bytes{0, GiB}}}}, 100.0 / 150},
		{"interleaved: half is far, though N%L is 100", allStall, Use{Clients: shared([]numa.Bytes{GiB, GiB}, two...)}, 100.0 / 125},
		{"own memory of each virtual node", allStall, Use{Clients: []Client{
			{Node: 0, VCPUs: 8, Memory: []numa.Bytes{GiB, 0}}, {Node: 1, VCPUs: 8, Memory: []numa.Bytes{0, GiB}}}}, 1},
		{"vCPUs weigh: 3 of 4 are at home", allStall, Use{Clients: shared([]numa.Bytes{GiB, 0},
			Client{Node: 0, VCPUs: 12}, Client{Node: 1, VCPUs: 4})}, 100 / (100 + 50.0/4)},
		{"a third of the time stalls", Workload{Stall: Range{0, 0.3, 1}}, Use{Clients: shared([]numa.Bytes{GiB, GiB}, two...)}, 1 / (1 + 0.3*0.25)},
		{"ready and co-stop", allStall, Use{Clients: two, Ready: 0.25, CoStop: 0.25}, 0.5},
		{"never runs", allStall, Use{Clients: two, Ready: 1}, 0},
		{"streams, all on one node", allStream, Use{Clients: shared([]numa.Bytes{GiB, 0}, two...)}, 0.5},
		{"streams, interleaved: the links are full", allStream, Use{Clients: shared([]numa.Bytes{GiB, GiB}, two...)}, 0.5},
		{"streams, a quarter of the cores: the link is just full", allStream, Use{Clients: []Client{{Node: 0, VCPUs: 2, Memory: []numa.Bytes{0, GiB}}}}, 1},
		{"streams, half of the cores through the link", allStream, Use{Clients: []Client{{Node: 0, VCPUs: 4, Memory: []numa.Bytes{0, GiB}}}}, 0.5},
		{"streams, crowded where nothing better was expected", allStream, Use{Clients: []Client{{Node: 0, VCPUs: 16}}}, 1},
		{"streams, crowded though two nodes were there", allStream, Use{Clients: []Client{{Node: 0, VCPUs: 16}}, Best: two}, 0.5},
		{"never better than the best", allStream, Use{Clients: two, Best: []Client{{Node: 0, VCPUs: 16}}}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := exact(0, 1).Index(tt.workload, tt.use)
			if err != nil || math.Abs(got.Value-tt.want) > 1e-12 {
				t.Errorf("Index = %v, %v; want %v", got.Value, err, tt.want)
			}
		})
	}
}

func TestIndexNear(t *testing.T) {
	m := exact(0, 0, 1, 1)
	got, err := m.Index(allStall, Use{Clients: []Client{{Node: 0, VCPUs: 1, Memory: []numa.Bytes{1, 1, 1, 1}}}})
	want := Estimate{Value: 100 / ((100 + 110 + 150 + 150) / 4.0), Access: [distances]float64{0.25, 0.25, 0.5}, Extrapolated: true,
		Why: []Reason{{Text: "No workload was measured on near memory; only its latency and bandwidth were."}}}
	if math.Abs(got.Value-want.Value) > 1e-12 || got.Low != got.Value || got.High != got.Value {
		t.Errorf("value %v in %v to %v, want %v alone", got.Value, got.Low, got.High, want.Value)
	}
	want.Value, want.Low, want.High = got.Value, got.Low, got.High
	want.excess, want.least, want.most = got.excess, got.least, got.most
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("Index = %+v, %v\nwant %+v", got, err, want)
	}
}

func TestIndexInterval(t *testing.T) {
	m := exact(0, 1)
	far := Use{Clients: []Client{{Node: 0, VCPUs: 1, Memory: []numa.Bytes{0, 1}}}}
	worse := m.figures()
	worse.ns[Far] = 200
	m.span = []figures{m.figures(), worse}
	got, err := m.Index(Workload{Stall: Range{0.2, 0.5, 0.8}}, far)
	// Value 1/(1+0.5×0.5); least 0.2×0.5 on this machine; most 0.8×1 on the other.
	want := Estimate{Value: 0.8, Low: 1 / 1.8, High: 1 / 1.1, Access: [distances]float64{0, 0, 1}, Extrapolated: true,
		Why: []Reason{{"%.0f%% of the accesses are far; at most half were when the workloads were measured (d-latency).", 100}}, excess: 0.25, least: 0.1, most: 0.8}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("Index = %+v, %v\nwant %+v", got, err, want)
	}
	got, err = m.Index(allStream, Use{Clients: shared([]numa.Bytes{0, 1}, Client{Node: 0, VCPUs: 8})})
	want = Estimate{Value: 0.25, Low: 0.25, High: 0.25, Access: [distances]float64{0, 0, 1}, Extrapolated: true,
		Why: []Reason{{"A controller or link is asked for %.1f times what it has; two times was measured (e-wide).", 4}}, excess: 3, least: 3, most: 3}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("Index = %+v, %v\nwant %+v", got, err, want)
	}
}

func TestIndexErrors(t *testing.T) {
	ok := []Client{{Node: 0, VCPUs: 1}}
	for _, tt := range []struct {
		use  Use
		want string
	}{
		{Use{}, "no vCPU runs: no work has no speed"},
		{Use{Clients: []Client{{Node: 0}}}, "no vCPU runs: no work has no speed"},
		{Use{Clients: ok, Best: []Client{}}, "no vCPU runs: no work has no speed"},
		{Use{Clients: []Client{{Node: 2, VCPUs: 1}}}, "found a client on node 2, which the host does not have"},
		{Use{Clients: ok, Best: []Client{{Node: -1, VCPUs: 1}}}, "found a client on node -1, which the host does not have"},
		{Use{Clients: []Client{{Node: 0, VCPUs: math.NaN()}}}, "found NaN vCPUs on node 0"},
		{Use{Clients: []Client{{Node: 0, VCPUs: math.Inf(1)}}}, "found +Inf vCPUs on node 0"},
		{Use{Clients: []Client{{Node: 0, VCPUs: 1, Memory: []numa.Bytes{0, 0, 5}}}}, "found 5 bytes on node 2"},
		{Use{Clients: []Client{{Node: 0, VCPUs: 1, Memory: []numa.Bytes{-1}}}}, "found -1 bytes on node 0"},
		{Use{Clients: ok, Ready: 0.6, CoStop: 0.6}, "found ready and co-stop shares 0.6 and 0.6, want shares that add up to 1 at most"},
		{Use{Clients: ok, Ready: math.NaN()}, "found ready and co-stop shares NaN and 0, want shares that add up to 1 at most"},
		{Use{Clients: ok, CoStop: -0.1}, "found ready and co-stop shares 0 and -0.1, want shares that add up to 1 at most"},
	} {
		_, err := exact(0, 1).Index(allStall, tt.use)
		if err == nil || err.Error() != tt.want {
			t.Errorf("Index(%+v): error %v, want %s", tt.use, err, tt.want)
		}
	}
}

func TestAccessed(t *testing.T) {
	m := exact(0, 1)
	m.Nodes[1].Cores = 24
	two := []Client{{Node: 0, VCPUs: 8, Memory: []numa.Bytes{3, 1}}, {Node: 1, VCPUs: 6, Memory: []numa.Bytes{0, 4}}}
	all := []numa.Bytes{3, 5}
	for _, tt := range []struct {
		name        string
		clients     []Client
		interleaved bool
		want        []Client
	}{
		{"virtual nodes", two, false, two},
		{"interleaved", two, true, []Client{{Node: 0, VCPUs: 8, Memory: all}, {Node: 1, VCPUs: 6, Memory: all}}},
		{"not managed", []Client{{Node: -1, VCPUs: 8, Memory: all}}, false, []Client{{Node: 0, VCPUs: 2, Memory: all}, {Node: 1, VCPUs: 6, Memory: all}}},
	} {
		if got := m.Accessed(tt.clients, tt.interleaved); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
	m.Nodes = []numa.Node{{ID: 0, Package: 0}, {ID: 1, Package: 1}}
	got := m.Accessed([]Client{{Node: -1, VCPUs: 8, Memory: all}}, false)
	if want := []Client{{Node: 0, VCPUs: 4, Memory: all}, {Node: 1, VCPUs: 4, Memory: all}}; !reflect.DeepEqual(got, want) {
		t.Errorf("nodes of unknown size: %+v, want %+v", got, want)
	}
}

func TestWaits(t *testing.T) {
	ready, coStop, ok := Waits(6, 3, 1)
	if ready != 0.3 || coStop != 0.1 || !ok {
		t.Errorf("Waits = %v, %v, %v; want 0.3, 0.1, true", ready, coStop, ok)
	}
	if _, _, ok := Waits(0, 0, 0); ok {
		t.Error("Waits of nothing is known, want unknown")
	}
}

func TestParseWorkload(t *testing.T) {
	for name, want := range map[string]string{"": "mixed", "Database": "database", "bandwidth": "bandwidth", "CACHED": "cached", "latency": "latency"} {
		if w, err := ParseWorkload(name); err != nil || w.Name != want {
			t.Errorf("ParseWorkload(%q) = %q, %v; want %q", name, w.Name, err, want)
		}
	}
	_, err := ParseWorkload("sql")
	if want := `found workload "sql", want one of latency, bandwidth, database, cached, mixed`; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

// TestWorkloads checks that a class has its value in its range and says where from.
func TestWorkloads(t *testing.T) {
	for _, w := range Workloads {
		for _, r := range []Range{w.Stall, w.Stream} {
			if !(0 <= r.Low && r.Low <= r.Value && r.Value <= r.High && r.Value <= 1) {
				t.Errorf("%s: range %+v", w.Name, r)
			}
		}
		if w.Title == "" || !strings.Contains(w.Why, ".") {
			t.Errorf("%s has no title or reason", w.Name)
		}
	}
}

func BenchmarkIndex(b *testing.B) {
	use := Use{Clients: shared([]numa.Bytes{3, 1}, Client{Node: 0, VCPUs: 8}, Client{Node: 1, VCPUs: 8})}
	for _, tt := range []struct{ name, cpu, workload string }{
		{"measured host, database", "Xeon Gold 6154", "database"},
		{"measured host, bandwidth", "Xeon Gold 6154", "bandwidth"},
		{"assumed host, mixed", "", "mixed"},
	} {
		m := For(&numa.Host{CPUModel: numa.ReadAt(tt.cpu, "test")})
		w, err := ParseWorkload(tt.workload)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(tt.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if e, err := m.Index(w, use); err != nil || e.Value >= 1 {
					b.Fatal(e, err)
				}
			}
		})
	}
}
