package target

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/homenode/change/move"
	"example.org/homenode/internal/testdeps"
	guests "example.org/homenode/measure/qemu"
	"example.org/homenode/numa"
	"example.org/homenode/source/guest"
	"example.org/homenode/source/machine"
)

// boots are the guests that are started with the arguments that are written for them; those that are not of the list of shapes
// have what vSphere never shows.
var boots = []struct {
	name  string
	shape *move.Shape // nil for that of the list
}{
	{name: "5+4"},
	{name: "dies"},
	{name: "2x12"},
	{name: "5+5"},
	{name: "4+4+2"},
	{name: "24 sockets"},
	{name: "threads"},
	{name: "8 nodes"},
	{name: "9 nodes"},
	{name: "odd memory"},
	{name: "flat"},
	{name: "hot add"},
	{name: "memory-only node and distances", shape: memoryOnly},
	{name: "vCPUs in turn", shape: &move.Shape{Sockets: 8, Dies: 1, Cores: 1, Threads: 1, VCPUs: 8, Memory: 1024 * numa.MiB,
		Cells: []move.Cell{{CPUs: []int{0, 2, 4, 6}, Memory: 512 * numa.MiB}, {CPUs: []int{1, 3, 5, 7}, Memory: 512 * numa.MiB}}}},
	{name: "1 vCPU", shape: shapeOf(1, 1, 1, 1, 1)},
	{name: "3 nodes", shape: shapeOf(3, 1, 6, 1, 6, 6, 6)},
	{name: "4+3", shape: shapeOf(7, 1, 1, 1, 4, 3)},
	{name: "6+2", shape: shapeOf(4, 1, 2, 1, 6, 2)},
	{name: "4 nodes, two dies of each socket", shape: shapeOf(2, 2, 3, 1, 3, 3, 3, 3)},
	{name: "4+2 of two threads", shape: shapeOf(3, 1, 1, 2, 4, 2)},
}

// shapeOf returns a shape of these sockets, dies, cores and threads, each of the other, and cells of so many vCPUs that follow each other.
func shapeOf(sockets, dies, cores, threads int, vcpus ...int) *move.Shape {
	s := &move.Shape{Sockets: sockets, Dies: dies, Cores: cores, Threads: threads}
	for _, n := range vcpus {
		c := move.Cell{Memory: 384 * numa.MiB}
		for range n {
			c.CPUs = append(c.CPUs, s.VCPUs)
			s.VCPUs++
		}
		s.Cells, s.Memory = append(s.Cells, c), s.Memory+c.Memory
	}
	return s
}

// memoryOnly has a node without vCPUs, and distances.
var memoryOnly = &move.Shape{Sockets: 2, Dies: 1, Cores: 2, Threads: 1, VCPUs: 4, Memory: 1024 * numa.MiB,
	Cells:    []move.Cell{{CPUs: []int{0, 1}, Memory: 384 * numa.MiB}, {CPUs: []int{2, 3}, Memory: 384 * numa.MiB}, {Memory: 256 * numa.MiB}},
	Distance: [][]int{{10, 21, 17}, {21, 10, 28}, {17, 28, 10}}}

// TestBoot starts guests with the arguments of QEMU that are written for them and compares what lscpu, numactl and the reader
// of homenode measure say inside with the shape, vCPU by vCPU.
func TestBoot(t *testing.T) {
	testdeps.Proving(t)
	if testing.Short() {
		t.Skip("boots guests")
	}
	guests.Need(t)
	look := newLook(t)
	booted := 0
	for _, b := range boots {
		t.Run(b.name, func(t *testing.T) {
			s := b.shape
			if s == nil {
				s = moved(t, b.name, "qemu", move.Options{}).Shape
			}
			if faults := move.Check(s, nil, true); faults != nil {
				t.Fatal(faults)
			}
			g := look.guest()
			g.Layout.Args = QEMU(s, nil, false)
			look.compare(t, g, s)
			if !t.Failed() {
				booted++
			}
		})
	}
	t.Logf("%d guests show the shape vCPU by vCPU", booted)
}

// A look is what guests run: it prints what lscpu and numactl say, and what package machine reads.
type look struct {
	program string
	files   map[string]string
}

const lscpuParsed = "lscpu -p=CPU,CORE,SOCKET,NODE"

func newLook(t *testing.T) *look {
	t.Helper()
	l := &look{guests.Program(t, "example.org/homenode/output/move/target/testdata/look"), map[string]string{}}
	for _, name := range []string{"lscpu", "numactl"} {
		withLibraries(t, l.files, testdeps.Program(t, name))
	}
	return l
}

func (l *look) guest() guests.Guest {
	return guests.Guest{Files: l.files, Run: []string{l.program, lscpuParsed, "lscpu", "numactl -H"}, Most: 5 * time.Minute}
}

// compare boots the guest and compares what it sees with the shape.
func (l *look) compare(t *testing.T, g guests.Guest, s *move.Shape) {
	t.Helper()
	out := g.Boot(t)
	var saw struct {
		Said    map[string]string `json:"said"`
		Machine machine.Machine   `json:"machine"`
	}
	if err := json.Unmarshal(out.Stdout, &saw); err != nil || out.Exit != 0 {
		t.Fatalf("exit code %d, %v: %s%s", out.Exit, err, out.Stderr, out.Stdout)
	}
	compareMachine(t, s, &saw.Machine.Topology)
	compareLscpu(t, s, saw.Said[lscpuParsed])
	compareReaders(t, s, saw.Said["lscpu"], saw.Said["numactl -H"])
	t.Logf("booted and read in %.1f s", out.Took.Seconds())
}

var library = regexp.MustCompile(`(/\S+) \(0x`)

// withLibraries adds a program and the libraries that it needs to the files of a guest.
func withLibraries(t *testing.T, files map[string]string, path string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "ldd", path).Output()
	if err != nil {
		t.Skipf("ldd %s: %v", path, err)
	}
	files["/"+path[strings.LastIndex(path, "/")+1:]] = path
	found := library.FindAllStringSubmatch(string(out), -1)
	if found == nil {
		t.Fatalf("ldd %s: %s", path, out)
	}
	for _, m := range found {
		files[m[1]] = m[1]
	}
}

// place is where a vCPU is.
type place struct{ core, socket, node int }

// places returns where each vCPU of the start is to be; a guest counts cores from 0 over all sockets.
func places(s *move.Shape) []place {
	node := s.Of()
	out := make([]place, s.VCPUs)
	for v := range out {
		out[v] = place{v / s.Threads, v / s.PerSocket(), node[v]}
	}
	return out
}

func compareMachine(t *testing.T, s *move.Shape, top *machine.Topology) {
	t.Helper()
	var got []place
	for _, p := range top.Processors {
		if p.Online {
			got = append(got, place{p.Core, p.Socket, max(0, p.Node)})
		}
	}
	if want := places(s); !slices.Equal(got, want) {
		t.Errorf("homenode measure sees %v, want %v", got, want)
	}
	if top.Possible != s.Most() {
		t.Errorf("%d vCPUs are possible, want %d", top.Possible, s.Most())
	}
	if len(top.Nodes) != len(s.Cells) {
		t.Fatalf("%d nodes, want %d", len(top.Nodes), len(s.Cells))
	}
	const kernel = 70 * numa.MiB // what the kernel keeps of each node, and of the first one for itself
	for i, n := range top.Nodes {
		if want := s.Cells[i].Memory; n.Size.Value > want || n.Size.Value < want-want/8-kernel {
			t.Errorf("node %d has %s, want %s", i, n.Size.Value, want)
		}
		if n.MemoryOnly != (len(s.Cells[i].CPUs) == 0) {
			t.Errorf("node %d: memory only is %t", i, n.MemoryOnly)
		}
		for j, d := range n.Distance {
			want := 20
			if s.Distance != nil {
				want = s.Distance[i][j]
			} else if i == j {
				want = 10
			}
			if d != want {
				t.Errorf("distance of node %d to %d: %d, want %d", i, j, d, want)
			}
		}
	}
	// The last-level cache does not cross the border of nodes: one for each die.
	var caches, dies [][]int
	for _, c := range top.Caches {
		if c.Level == 3 {
			caches = append(caches, c.CPUs)
		}
	}
	for first := 0; first < s.VCPUs; first += s.PerDie() {
		die := make([]int, s.PerDie())
		for i := range die {
			die[i] = first + i
		}
		dies = append(dies, die)
	}
	if fmt.Sprint(caches) != fmt.Sprint(dies) {
		t.Errorf("last-level caches of vCPUs %v, want %v", caches, dies)
	}
}

func compareLscpu(t *testing.T, s *move.Shape, said string) {
	t.Helper()
	var got []place
	for line := range strings.Lines(said) {
		var cpu int
		var p place
		if strings.HasPrefix(line, "#") {
			continue
		}
		line = strings.TrimSpace(line)
		if n, err := fmt.Sscanf(line, "%d,%d,%d,%d", &cpu, &p.core, &p.socket, &p.node); err != nil && n != 3 || cpu != len(got) {
			t.Fatalf("lscpu says %q: %v", line, err)
		}
		got = append(got, p)
	}
	if want := places(s); !slices.Equal(got, want) {
		t.Errorf("lscpu sees %v, want %v", got, want)
	}
}

// compareReaders gives what lscpu and numactl print to the readers of --evidence.
func compareReaders(t *testing.T, s *move.Shape, lscpu, numactl string) {
	t.Helper()
	node := s.Of()[:s.VCPUs]
	for name, said := range map[string]string{"lscpu": lscpu, "numactl": numactl} {
		views, err := guest.Read(name, strings.NewReader(said))
		if err != nil || len(views) != 1 {
			t.Errorf("%s: %v in %s", name, err, said)
			continue
		}
		o := views[0].Observation()
		if !slices.Equal(o.VPDs.Value, node) {
			t.Errorf("%s: the vCPUs are in nodes %v, want %v", name, o.VPDs.Value, node)
		}
		if cells := len(s.Cells); o.VPDCount.Known() && o.VPDCount.Value != cells {
			t.Errorf("%s: %d nodes, want %d", name, o.VPDCount.Value, cells)
		}
	}
}
