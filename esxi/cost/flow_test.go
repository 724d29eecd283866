package cost

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/homenode/numa"
)

func TestThroughput(t *testing.T) {
	skl := skylake.twoNodes()
	link := 34451.0 / 111083
	for _, tt := range []struct {
		name    string
		machine *Machine
		clients []Client
		want    float64 // bandwidths of a node
	}{
		{"both local", &skl, []Client{{Node: 0, VCPUs: 8}, {Node: 1, VCPUs: 8}}, 2},
		{"interleaved: each link carries half of a client", &skl,
			shared([]numa.Bytes{1, 1}, Client{Node: 0, VCPUs: 8}, Client{Node: 1, VCPUs: 8}), 4 * link},
		// The far client fills the link; the near one takes what the controllers have left.
		{"all on one node", &skl, shared([]numa.Bytes{1, 0}, Client{Node: 0, VCPUs: 8}, Client{Node: 1, VCPUs: 8}), 1},
		// Client 1 reads 16722/25140 through the link; client 0 reads 8418/25140 through
		// the other: the second link is full before the controllers are.
		{"two thirds on one node", &skl, shared([]numa.Bytes{16722, 8418}, Client{Node: 0, VCPUs: 8}, Client{Node: 1, VCPUs: 8}),
			link/(16722.0/25140) + link/(8418.0/25140)},
		{"two clients on one node share its cores", exact(0, 1), []Client{{Node: 0, VCPUs: 8}, {Node: 0, VCPUs: 8}, {Node: 1, VCPUs: 4}}, 1.5},
		// 4 nodes of 2 packages: both nodes of a package use one link of 0.25.
		{"the link belongs to the package", exact(0, 0, 1, 1), []Client{
			{Node: 0, VCPUs: 8, Memory: []numa.Bytes{0, 0, 1, 0}}, {Node: 1, VCPUs: 8, Memory: []numa.Bytes{0, 0, 0, 1}}}, 0.25},
		{"packages unknown: each node has a link", exact(-1, -1, -1, -1), []Client{
			{Node: 0, VCPUs: 8, Memory: []numa.Bytes{0, 0, 1, 0}}, {Node: 1, VCPUs: 8, Memory: []numa.Bytes{0, 0, 0, 1}}}, 0.5},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := tt.machine.figures()
			if got := tt.machine.flowOf(tt.clients).throughput(&f); math.Abs(got-tt.want) > 1e-12 {
				t.Errorf("throughput = %v, want %v", got, tt.want)
			}
		})
	}
}

// plainThroughput is the specification: all clients are raised by a small step at a time,
// and one that would overfill a way stops.
func plainThroughput(m *Machine, f *figures, clients []Client) (sum float64) {
	const steps = 4000
	demand, rate, stopped := make([]float64, len(clients)), make([]float64, len(clients)), make([]bool, len(clients))
	for i := range clients {
		demand[i] = m.demand(clients, i)
	}
	type way struct{ from, to int } // packages; from -1: controllers of node to
	for range steps {
		for i := range clients {
			if stopped[i] {
				continue
			}
			rate[i] += demand[i] / steps
			load := map[way]float64{}
			near := map[way]float64{}
			for k := range clients {
				for j, b := range clients[k].Memory {
					flow := rate[k] * float64(b) / clients[k].total()
					load[way{-1, j}] += flow
					switch m.Distance(clients[k].Node, j) {
					case Near:
						near[way{clients[k].Node, j}] += flow
					case Far:
						load[way{m.Nodes[clients[k].Node].Package, 100 + m.Nodes[j].Package}] += flow
					}
				}
			}
			over := false
			for j, b := range clients[i].Memory {
				if b == 0 {
					continue
				}
				over = over || load[way{-1, j}] > 1
				switch m.Distance(clients[i].Node, j) {
				case Near:
					over = over || near[way{clients[i].Node, j}] > f.share[Near]
				case Far:
					over = over || load[way{m.Nodes[clients[i].Node].Package, 100 + m.Nodes[j].Package}] > f.share[Far]
				}
			}
			if over {
				rate[i] -= demand[i] / steps
				stopped[i] = true
			}
		}
	}
	for _, r := range rate {
		sum += r
	}
	return sum
}

// TestThroughputAgainstPlain compares with the specification on generated placements.
func TestThroughputAgainstPlain(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		m := exact([][]int{{0, 1}, {0, 0, 1, 1}, {0, 1, 2}}[rng.IntN(3)]...)
		clients := make([]Client, 1+rng.IntN(4))
		for i := range clients {
			clients[i] = Client{Node: rng.IntN(len(m.Nodes)), VCPUs: float64(1 + rng.IntN(8)), Memory: make([]numa.Bytes, len(m.Nodes))}
			for j := range clients[i].Memory {
				clients[i].Memory[j] = numa.Bytes(max(rng.IntN(8)-3, 0))
			}
			clients[i].Memory[rng.IntN(len(m.Nodes))]++
		}
		f := m.figures()
		got, want := m.flowOf(clients).throughput(&f), plainThroughput(m, &f, clients)
		// A step is 1/4000 of a client's demand.
		if math.Abs(got-want) > 2e-3 {
			t.Errorf("%+v: throughput %v, plain %v", clients, got, want)
		}
	}
}

// TestIndexProperties holds on generated uses: the value is in its interval, the interval
// in [0, 1], accesses add up to 1, and clients in another order change nothing but the
// last bits.
func TestIndexProperties(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	cpus := []string{"", "Xeon Gold 6154", "Xeon Gold 6354", "EPYC 7401", "Xeon E5-2630 v4", "Opteron 6174"}
	for range 2000 {
		var h numa.Host
		h.CPUModel = numa.ReadAt(cpus[rng.IntN(len(cpus))], "test")
		perPackage, packages := 1+rng.IntN(3), 1+rng.IntN(3)
		var nodes []numa.Node
		for i := range perPackage * packages {
			nodes = append(nodes, numa.Node{ID: i, Package: i / perPackage, Cores: rng.IntN(12)})
		}
		h.Nodes = numa.ReadAt(nodes, "test")
		m := For(&h)
		u := Use{Ready: rng.Float64() / 2, CoStop: rng.Float64() / 2}
		for range 1 + rng.IntN(5) {
			c := Client{Node: rng.IntN(len(nodes)), VCPUs: 1 + float64(rng.IntN(20)), Memory: make([]numa.Bytes, rng.IntN(len(nodes)+1))}
			for j := range c.Memory {
				c.Memory[j] = numa.Bytes(rng.IntN(3)) * numa.GiB
			}
			u.Clients = append(u.Clients, c)
		}
		turned := u
		turned.Clients = nil
		for i := range u.Clients {
			turned.Clients = append(turned.Clients, u.Clients[len(u.Clients)-1-i])
		}
		for _, w := range Workloads {
			e, err := m.Index(w, u)
			if err != nil {
				t.Fatal(err)
			}
			if !(0 <= e.Low && e.Low <= e.Value && e.Value <= e.High && e.High <= 1) {
				t.Fatalf("%s on %s, %+v: %v in %v to %v", w.Name, m.ID, u, e.Value, e.Low, e.High)
			}
			if sum := e.Access[Local] + e.Access[Near] + e.Access[Far]; math.Abs(sum-1) > 1e-12 {
				t.Fatalf("%+v: accesses add up to %v", u, sum)
			}
			if r, err := m.Index(w, turned); err != nil || math.Abs(r.Value-e.Value) > 1e-12 {
				t.Fatalf("%+v: %v, in another order %v (%v)", u, e.Value, r.Value, err)
			}
		}
	}
}

// shared returns the clients with all memory of the VM accessed by each of them: what a
// guest does that sees one virtual node only.
func shared(memory []numa.Bytes, clients ...Client) []Client {
	clients = slices.Clone(clients)
	for i := range clients {
		clients[i].Memory = memory
	}
	return clients
}
