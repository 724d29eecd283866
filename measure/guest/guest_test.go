package guest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/homenode/measure/guest/hidden"
	"example.org/homenode/numa"
	"example.org/homenode/source/machine"
	"example.org/homenode/source/measured"
)

// machineOf returns a machine with nodes of so many processors each and 4 GiB available.
func machineOf(nodes, each int) *machine.Machine {
	m := &machine.Machine{}
	m.Limits.Available = numa.ReadAt(numa.Bytes(4<<30), "test")
	for n := range nodes {
		node := machine.Node{ID: n}
		for i := range each {
			c := n*each + i
			node.CPUs = append(node.CPUs, c)
			m.Topology.Processors = append(m.Topology.Processors, machine.Processor{Number: c, Online: true, Allowed: true, Node: n, Socket: n, Core: c})
			m.Topology.Caches = append(m.Topology.Caches, machine.Cache{Level: 1, Type: "data", Size: 32 << 10, CPUs: []int{c}}, machine.Cache{Level: 2, Type: "unified", Size: 1 << 20, CPUs: []int{c}})
		}
		m.Topology.Caches = append(m.Topology.Caches, machine.Cache{Level: 3, Type: "unified", Size: 32 << 20, CPUs: node.CPUs})
		m.Topology.Nodes = append(m.Topology.Nodes, node)
	}
	return m
}

// TestPlanFits holds every plan against the time that its profile promises and the memory that may be touched.
func TestPlanFits(t *testing.T) {
	for _, shape := range []struct{ nodes, each int }{{1, 1}, {1, 2}, {1, 64}, {2, 12}, {4, 16}, {8, 16}} {
		for _, profile := range []measured.Profile{measured.Quick, measured.Default} {
			for _, memory := range []int64{0, 16 << 20, 96 << 20, 1 << 30} {
				name := fmt.Sprintf("%d nodes of %d, %s, %d MiB", shape.nodes, shape.each, profile, memory>>20)
				p, err := MakePlan(machineOf(shape.nodes, shape.each), Options{Profile: profile, Memory: memory, Loaded: true})
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				limit := defaultTime
				if profile == measured.Quick {
					limit = quickTime
				}
				if total := p.Total(); total > limit {
					t.Errorf("%s: planned for %v", name, total)
				}
				if len(p.Tasks) < 5 {
					t.Errorf("%s: %d tasks", name, len(p.Tasks))
				}
				for _, task := range p.Tasks {
					if task.Bytes > p.Memory.Bytes && !p.Memory.small() {
						t.Errorf("%s: %s touches %d MiB of %v", name, task.Name, task.Bytes>>20, p.Memory)
					}
					if task.CPUs > shape.nodes*shape.each && task.Part != Ladder {
						t.Errorf("%s: %s keeps %d processors busy", name, task.Name, task.CPUs)
					}
				}
			}
		}
	}
}

// TestEmulated withholds what a processor made of software would measure, and says so for each task.
func TestEmulated(t *testing.T) {
	m := machineOf(2, 2)
	m.Identity.Emulated = numa.ReadAt(true, "test")
	p, err := MakePlan(m, Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Tasks) > 0 || r.Hidden != nil || len(r.Rungs) > 0 || len(r.Steps) > 0 {
		t.Errorf("%d tasks, hidden %v", len(p.Tasks), r.Hidden)
	}
	for _, part := range []string{"hidden nodes", "lost time", "latency from node to node", "pairs of logical processors", "syscall"} {
		i := slices.IndexFunc(r.Missing, func(m machine.Missing) bool { return m.Part == part })
		if i < 0 || !strings.Contains(r.Missing[i].Reason, "emulated") {
			t.Errorf("%s: not said to be missing for the emulation", part)
		}
	}
}

// TestInterrupted ends runs before and while they measure: the result says what is not there, and is not trusted.
func TestInterrupted(t *testing.T) {
	m, err := machine.Read(context.Background())
	if err != nil {
		t.Skip(err)
	}
	p, err := MakePlan(m, Options{Profile: measured.Quick, Force: true, Memory: 64 << 20})
	if err != nil || len(p.Tasks) == 0 {
		t.Skip("nothing can be measured here: ", err)
	}
	for _, after := range []time.Duration{0, 500 * time.Millisecond, 1500 * time.Millisecond} {
		ctx, cancel := context.WithTimeoutCause(context.Background(), after, context.Canceled)
		r, err := Run(ctx, p)
		cancel()
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, m := range r.Missing {
			if m.Reason == "interrupted" {
				n++
			}
		}
		if n == 0 || r.Trust.OK {
			t.Errorf("after %v: %d parts are said to be interrupted, trusted %v", after, n, r.Trust.OK)
		}
		if _, err := json.Marshal(r); err != nil {
			t.Error(err)
		}
	}
}

func TestLastCaches(t *testing.T) {
	m := machineOf(2, 4)
	for _, tt := range []struct {
		cpus []int
		want int
	}{{nil, 0}, {[]int{0}, 32 << 20}, {[]int{0, 1, 3}, 32 << 20}, {[]int{0, 4}, 64 << 20}} {
		if got := lastCaches(m, tt.cpus); got != tt.want {
			t.Errorf("%v: %d, want %d", tt.cpus, got, tt.want)
		}
	}
}

func TestDuos(t *testing.T) {
	for _, tt := range []struct{ n, most, want int }{{2, 10, 1}, {5, 10, 10}, {5, 9, 10}, {64, 3000, 2016}, {64, 100, 8*56 + 28}, {200, 100, 8*192 + 28}} {
		got := duos(tt.n, tt.most)
		if len(got) != tt.want {
			t.Errorf("%d processors, %d pairs at most: %d pairs, want %d", tt.n, tt.most, len(got), tt.want)
		}
		seen := map[[2]int]bool{}
		for _, d := range got {
			if d.a >= d.b || seen[[2]int{d.a, d.b}] {
				t.Fatalf("pair %d, %d comes twice or is none", d.a, d.b)
			}
			seen[[2]int{d.a, d.b}] = true
		}
	}
}

func TestLongestOfAll(t *testing.T) {
	for _, tt := range []struct {
		late [][]interval
		want float64
	}{
		{nil, 0},
		{[][]interval{{{1, 1.25}, {3, 3.5}}}, .5},
		{[][]interval{{{1, 1.25}, {3, 3.5}}, {{1.125, 2}}}, .125},
		{[][]interval{{{1, 2}}, {{1, 2}}, nil}, 0},
		{[][]interval{{{1, 2}}, {{2, 3}}}, 0},
		{[][]interval{{{0, 1}, {2, 4}}, {{.5, 3}}, {{.75, 2.5}}}, .5},
	} {
		if got := longestOfAll(tt.late); got != tt.want {
			t.Errorf("%v: %v, want %v", tt.late, got, tt.want)
		}
	}
}

// TestTogether sums up the answers for the guest's nodes: the worst one counts, and groups of two split nodes are not mixed.
func TestTogether(t *testing.T) {
	node := func(id int, a measured.Answer, groups ...[]int) measured.Hidden {
		return measured.Hidden{Node: &id, Answer: a, Groups: groups, Pages: 10, Says: "so. " + hidden.Limits, Shares: []measured.Share{{Of: "all", Remote: .5}}}
	}
	all := []seen{{0, &hidden.Probes{CPUs: []int{0, 1}}}, {1, &hidden.Probes{CPUs: []int{2, 3}}}}
	for _, tt := range []struct {
		nodes  []measured.Hidden
		want   measured.Answer
		groups int
	}{
		{[]measured.Hidden{node(0, measured.OneKind), node(1, measured.OneKind)}, measured.OneKind, 0},
		{[]measured.Hidden{node(0, measured.OneKind), node(1, measured.NotKnown)}, measured.NotKnown, 0},
		{[]measured.Hidden{node(0, measured.FarPages), node(1, measured.NotKnown)}, measured.FarPages, 0},
		{[]measured.Hidden{node(0, measured.FarPages), node(1, measured.SeveralNodes, []int{2}, []int{3})}, measured.SeveralNodes, 2},
		{[]measured.Hidden{node(0, measured.SeveralNodes, []int{0}, []int{1}), node(1, measured.SeveralNodes, []int{2}, []int{3})}, measured.SeveralNodes, 0},
	} {
		h := together(tt.nodes, all)
		if h.Answer != tt.want || len(h.Groups) != tt.groups || h.Pages != 20 {
			t.Errorf("%v and %v: %v, %d groups, %d pages", tt.nodes[0].Answer, tt.nodes[1].Answer, h.Answer, len(h.Groups), h.Pages)
		}
		if strings.Count(h.Says, hidden.Limits) != 1 || len(h.Shares) != 2 || !slices.Equal(h.Shares[1].From, []int{2, 3}) {
			t.Errorf("says %q, shares %v", h.Says, h.Shares)
		}
	}
}

// TestJudge holds the checks against figures that agree and that do not.
func TestJudge(t *testing.T) {
	good := func() *run {
		return &run{plan: &Plan{Machine: machineOf(1, 2), CPUs: []int{0, 1}}, byPages: 100, byChase: []float64{104, 105, 106}, pairsBoth: 1,
			out: &measured.Result{Levels: []measured.Level{{Name: "L1", Pages: measured.Huge, Latency: 1, Cycles: 4}, {Name: "RAM", Pages: measured.Huge, Latency: 100}},
				Rungs:   []measured.Rung{{Pages: measured.Huge, Bytes: 256 << 20, Level: "RAM", Latency: measured.Stats{Median: 100}}},
				Latency: &measured.Matrix{From: []int{0}, To: []int{0}, Pages: measured.Huge, Bytes: 256 << 20, Cells: [][]measured.Cell{{{Stats: &measured.Stats{Median: 105}}}}}}}
	}
	for _, tt := range []struct {
		name string
		turn func(*run)
		want string // a part of the reason
	}{
		{"all agree", func(*run) {}, ""},
		{"L1 of 10 cycles", func(r *run) { r.out.Levels[0].Cycles = 10 }, "10.0 cycles"},
		{"RAM faster than L1", func(r *run) { r.out.Levels[1].Latency, r.out.Latency, r.byPages = .5, nil, 0 }, "RAM 0.5 ns"},
		{"the matrix is apart", func(r *run) { r.out.Latency.Cells[0][0].Stats.Median = 120 }, "120 and 100 ns"},
		{"pages are apart", func(r *run) { r.byPages = 80 }, "80 and 105 ns"},
		{"directions are apart", func(r *run) { r.pairsApart = []string{"0 to 1 20 ns, back 30 ns"} }, "back 30 ns"},
		{"ended", func(r *run) { r.ended = context.Canceled }, "interrupted"},
		{"busy, and forced", func(r *run) { r.load = Load{2, 2, true}; r.plan.Options.Force = true }, "2.0 of 2"},
	} {
		r := good()
		tt.turn(r)
		r.judge()
		if r.out.Trust.OK != (tt.want == "") || !strings.Contains(strings.Join(r.out.Trust.Reasons, "; "), tt.want) {
			t.Errorf("%s: %v %v", tt.name, r.out.Trust.OK, r.out.Trust.Reasons)
		}
	}
}

// TestDiagonal sets the matrix beside the working set of its size, not beside the whole plateau of RAM.
func TestDiagonal(t *testing.T) {
	p, err := MakePlan(machineOf(1, 2), Options{Profile: measured.Default})
	if err != nil {
		t.Fatal(err)
	}
	rung := func(mib int64, ns float64, level string, pages measured.Pages) measured.Rung {
		return measured.Rung{Pages: pages, Bytes: mib << 20, Level: level, Latency: measured.Stats{Median: ns}}
	}
	rungs := []measured.Rung{rung(16, 20, "L3", measured.Huge), rung(64, 120, "RAM", measured.Huge), rung(256, 150, "RAM", measured.Huge),
		rung(512, 190, "RAM", measured.Huge), rung(256, 200, "RAM", measured.Small)}
	for _, tt := range []struct {
		mib   int64
		ns    float64
		ok    bool
		found string
	}{{256, 155, true, "155 and 150 ns"}, {300, 155, true, "155 and 150 ns"}, {256, 170, false, "170 and 150 ns"}, {128, 125, true, "125 and 120 ns"}, {32, 125, false, ""}} {
		r := &run{plan: p, out: &measured.Result{Rungs: rungs, Latency: &measured.Matrix{From: []int{0}, To: []int{0}, Pages: measured.Huge, Bytes: tt.mib << 20,
			Cells: [][]measured.Cell{{{Stats: &measured.Stats{Median: tt.ns}}}}}}}
		if c, some := r.diagonal(); some != (tt.found != "") || c.Found != tt.found || c.OK != tt.ok {
			t.Errorf("%d MiB, %g ns: %+v, %v", tt.mib, tt.ns, c, some)
		}
	}
}
