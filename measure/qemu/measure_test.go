package qemu

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/homenode/internal/testdeps"
	"example.org/homenode/source/machine"
	"example.org/homenode/source/measured"
)

// measures are guests in which homenode measure runs: the layout, what its arguments are, and the parts that it must say to be missing.
var measures = []struct {
	name   string
	layout Layout
	args   []string
	parts  []string
}{
	{"2 nodes", Layout{SMP: "4,sockets=2,cores=2,threads=1", Nodes: []Node{{CPUs: "0-1", MiB: 256}, {CPUs: "2-3", MiB: 192}}, Distance: [][]int{{10, 21}, {21, 10}}},
		[]string{"--quick"}, []string{"hidden nodes", "lost time", "latency by working set, huge pages", "latency from node to node", "pairs of logical processors", "syscall", "http"}},
	{"2 nodes and one of memory only, all profiles", Layout{SMP: "4,sockets=2,cores=2,threads=1", Nodes: []Node{{CPUs: "0-1", MiB: 256}, {CPUs: "2-3", MiB: 192}, {MiB: 128}}},
		[]string{"--loaded", "--fsync", "/"}, []string{"hidden nodes", "bandwidth from node to node", "latency under load", "latency by working set, small pages"}},
	{"no NUMA, one processor", Layout{SMP: "1"}, []string{"--quick", "--force", "--name", "small"}, []string{"hidden nodes", "pairs of logical processors", "rpc-like"}},
}

// TestMeasure runs homenode measure in guests: the topology is what was asked for, and what an emulated processor would measure is withheld.
func TestMeasure(t *testing.T) {
	testdeps.Proving(t)
	if testing.Short() {
		t.Skip("boots a guest")
	}
	Need(t)
	program := Program(t, "example.org/homenode/cmd/homenode")
	booted := 0
	for _, g := range measures {
		t.Run(g.name, func(t *testing.T) {
			guest := Guest{Layout: g.layout, Run: append([]string{program, "measure", "--format", "json"}, g.args...), Most: 2 * time.Minute}
			out := guest.Boot(t)
			docs, err := measured.Read("stdout", bytes.NewReader(out.Stdout))
			if err != nil || len(docs) != 1 || out.Exit > 1 {
				t.Fatalf("exit code %d, %v: %s%s", out.Exit, err, out.Stderr, out.Stdout)
			}
			r := docs[0].Result
			g.layout.seen(t, &r.Machine.Topology)
			if out.Emulated {
				withheld(t, r, g.parts)
			}
			if !t.Failed() {
				booted++
			}
			t.Logf("booted and measured in %.1f s", out.Took.Seconds())
		})
	}
	t.Logf("in %d guests topology is seen and times are withheld", booted)
}

// seen compares nodes, processors and distances with what the firmware was asked for.
func (l *Layout) seen(t *testing.T, top *machine.Topology) {
	t.Helper()
	if len(top.Processors) != l.processors() || len(top.Nodes) != max(1, len(l.Nodes)) {
		t.Fatalf("%d processors, nodes %+v", len(top.Processors), top.Nodes)
	}
	for i, n := range l.Nodes {
		got := top.Nodes[i]
		cpus := fmt.Sprintf("%d-%d", slices.Min(append(got.CPUs, 1<<10)), slices.Max(append(got.CPUs, -1)))
		if n.CPUs != cpus && (n.CPUs != "" || len(got.CPUs) > 0) || got.MemoryOnly != (n.CPUs == "") {
			t.Errorf("node %d: processors %v, want %s", i, got.CPUs, n.CPUs)
		}
		for j, d := range got.Distance {
			want := 20
			if l.Distance != nil {
				want = l.Distance[i][j]
			} else if i == j {
				want = 10
			}
			if d != want {
				t.Errorf("distance of node %d to %d: %d, want %d", i, j, d, want)
			}
		}
	}
}

// withheld checks that there is no figure, and that it is said why of each part.
func withheld(t *testing.T, r *measured.Result, parts []string) {
	t.Helper()
	if !r.Machine.Identity.Emulated.Value || r.Clock != nil || len(r.Rungs)+len(r.Levels)+len(r.Threads)+len(r.Loaded)+len(r.Steps) > 0 ||
		r.Latency != nil || r.Bandwidth != nil || r.Cores != nil || r.Hidden != nil || r.Lost != nil {
		t.Errorf("figures of an emulated processor: %+v", r)
	}
	for _, part := range parts {
		i := slices.IndexFunc(r.Missing, func(m machine.Missing) bool { return m.Part == part })
		if i < 0 || !strings.Contains(r.Missing[i].Reason, "emulated") && len(r.Machine.Topology.Processors) > 1 {
			t.Errorf("%s is not said to be withheld: %+v", part, r.Missing)
		}
	}
}
