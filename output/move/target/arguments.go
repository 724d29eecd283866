package target

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"homenode/change/move"
	"homenode/internal/words"
	"homenode/numa"
)

// arguments are what QEMU is told of a shape. Backends may come behind the nodes that name them, so that all is put together at the end.
type arguments struct {
	s        *move.Shape
	smp      bool
	all      int    // vCPUs of which -smp speaks
	levels   [6]int // how many of each of partsOfCPU
	backends map[string]backing
	nodes    []guestNode
	cpus     []cpuOfNode
	distance [][3]int // src, dst, val
}

// A backing is a memory backend: its size, and that of its huge pages, 0 for none stated.
type backing struct{ size, page numa.Bytes }

// A guestNode is -numa node.
type guestNode struct {
	id      int
	backend string // memdev
	cell    move.Cell
}

// A cpuOfNode is -numa cpu: the vCPUs of these parts are of a node.
type cpuOfNode struct {
	node int
	part map[int]int // numbers by the index in partsOfCPU
}

// partsOfCPU are the parts of the topology, the largest first (docs/system/qemu-manpage, -smp and -numa cpu).
var partsOfCPU = [6]string{"socket", "die", "cluster", "module", "core", "thread"}

// unnamed are the keys of the first values of options, which may stand without it.
var unnamed = map[string]string{"-m": "size", "-smp": "cpus", "-object": "qom-type", "-numa": "type"}

// word matches a word of a line, which may be in quotes.
var word = regexp.MustCompile(`'[^']*'|"[^"]*"|\S+`)

// readArguments reads the shape of arguments of QEMU; none of those that QEMU refuses for their topology.
func readArguments(name string, data []byte) (*move.Shape, []move.Fault, error) {
	a := &arguments{s: &move.Shape{Dies: 1, Threads: 1}, backends: map[string]backing{}}
	line := 0
	for text := range strings.Lines(string(data)) {
		line++
		found := word.FindAllStringIndex(text, -1)
		for i, at := range found {
			option := text[at[0]:at[1]]
			if strings.HasPrefix(option, "#") {
				break
			}
			if i+1 == len(found) || !strings.HasPrefix(option, "-") {
				continue
			}
			value := strings.Trim(text[found[i+1][0]:found[i+1][1]], `'"`)
			if err := a.add("-"+strings.TrimLeft(option, "-"), value); err != nil {
				return nil, nil, &numa.SyntaxError{File: name, Line: line, Col: at[0] + 1, Msg: err.Error()}
			}
		}
	}
	if !a.smp {
		if a.s.Memory == 0 {
			return nil, nil, &numa.SyntaxError{File: name, Line: 1, Col: 1, Msg: "found no -smp and no -m"}
		}
		a.s.Sockets, a.s.Cores, a.s.VCPUs, a.all, a.levels = 1, 1, 1, 1, [6]int{1, 1, 1, 1, 1, 1} // as QEMU does
	}
	var faults []move.Fault
	fault := func(check, text string, args ...any) {
		faults = append(faults, move.Fault{Check: check, Text: fmt.Sprintf(text, args...)})
	}
	if a.s.Most() != a.all {
		fault(move.CheckTopology, "a topology of %d vCPUs, and %d vCPUs", a.s.Most(), a.all)
		return nil, faults, nil
	}
	if a.nodes == nil {
		a.s.Cells = []move.Cell{{CPUs: upTo(a.s.Most()), Memory: a.s.Memory}}
		for _, b := range a.backends {
			if b.size == a.s.Memory { // of -machine memory-backend
				a.s.Page = b.page
			}
		}
		return a.s, nil, nil
	}
	a.cells(fault)
	a.distances(fault)
	return a.s, faults, nil
}

// values returns the values of an option by their keys: of key=value,… or JSON, as libvirt writes it.
func values(text, first string) (map[string][]string, error) {
	out := map[string][]string{}
	if strings.HasPrefix(text, "{") {
		in := json.NewDecoder(strings.NewReader(text))
		in.UseNumber()
		var object map[string]any
		if err := in.Decode(&object); err != nil {
			return nil, fmt.Errorf("found %s, want JSON without blanks, or in quotes: %w", short(text), err)
		}
		for key, v := range object {
			out[key] = []string{fmt.Sprint(v)}
		}
		return out, nil
	}
	for i, part := range strings.Split(text, ",") {
		key, v, named := strings.Cut(part, "=")
		if i == 0 && !named {
			key, v = first, part
		}
		out[key] = append(out[key], v)
	}
	return out, nil
}

// add takes an option.
func (a *arguments) add(option, text string) error {
	first := unnamed[option]
	if first == "" {
		return nil
	}
	named, err := values(text, first)
	if err != nil {
		return err
	}
	last := func(key string) string {
		if all := named[key]; all != nil {
			return all[len(all)-1]
		}
		return ""
	}
	switch option {
	case "-m":
		if last("size") != "" {
			a.s.Memory, err = sizeOf(last("size"), "M")
		}
	case "-smp":
		a.smp = true
		err = a.arrange(last)
	case "-object":
		if strings.HasPrefix(last("qom-type"), "memory-backend-") {
			var b backing
			if b.size, err = sizeOf(last("size"), "B"); err == nil && named["hugetlbsize"] != nil {
				b.page, err = sizeOf(last("hugetlbsize"), "B")
			}
			a.backends[last("id")] = b
		}
	case "-numa":
		err = a.numa(last, named["cpus"])
	}
	return err
}

// numa takes a value of -numa; what is neither a node, nor of its vCPUs and distances, is left out.
func (a *arguments) numa(last func(key string) string, cpus []string) (err error) {
	number := func(key string, otherwise int) int {
		n := otherwise
		if text := last(key); text != "" && err == nil {
			if n, err = strconv.Atoi(text); err != nil || n < 0 || n >= mostCPUs {
				err = fmt.Errorf("found %s=%q, want a number", key, text)
			}
		}
		return n
	}
	switch last("type") {
	case "node":
		n := guestNode{id: number("nodeid", len(a.nodes)), backend: last("memdev")}
		if old := last("mem"); old != "" && err == nil {
			n.cell.Memory, err = sizeOf(old, "M")
		}
		if err == nil {
			n.cell.CPUs, err = list(strings.Join(cpus, ","))
		}
		a.nodes = append(a.nodes, n)
	case "cpu":
		c := cpuOfNode{number("node-id", 0), map[int]int{}}
		for i, part := range partsOfCPU {
			if last(part+"-id") != "" {
				c.part[i] = number(part+"-id", 0)
			}
		}
		a.cpus = append(a.cpus, c)
	case "dist":
		a.distance = append(a.distance, [3]int{number("src", 0), number("dst", 0), number("val", 0)})
	}
	return err
}

// arrange takes what -smp says of the topology, and the rest as QEMU does since 6.2: cores before sockets, one of what is not named
// (machine_parse_smp_config; docs/system/qemu-manpage, -smp).
func (a *arguments) arrange(last func(key string) string) error {
	n := map[string]int{}
	for _, key := range []string{"cpus", "maxcpus", "sockets", "dies", "clusters", "modules", "cores", "threads"} {
		text := last(key)
		if text == "" {
			continue
		}
		v, err := strconv.Atoi(text)
		if err != nil || v < 1 || v > mostCPUs {
			return fmt.Errorf("found -smp %s=%q, want a number from 1", key, text)
		}
		n[key] = v
	}
	dies, clusters, modules := max(1, n["dies"]), max(1, n["clusters"]), max(1, n["modules"])
	each := dies * clusters * modules // in a socket
	all := cmp.Or(n["maxcpus"], n["cpus"])
	sockets, cores, threads := n["sockets"], n["cores"], n["threads"]
	switch {
	case all == 0:
	case cores == 0:
		cores = all / (max(1, sockets) * each * max(1, threads))
	case sockets == 0:
		sockets = all / (each * cores * max(1, threads))
	case threads == 0:
		threads = all / (sockets * each * cores)
	}
	a.levels = [6]int{max(1, sockets), dies, clusters, modules, max(1, cores), max(1, threads)}
	// Clusters and modules count as more cores: nothing that is checked lies between a die and a core.
	s := a.s
	s.Sockets, s.Dies, s.Cores, s.Threads = a.levels[0], dies, a.levels[4]*clusters*modules, a.levels[5]
	a.all = cmp.Or(all, s.Most())
	s.VCPUs = cmp.Or(n["cpus"], a.all)
	return nil
}

// partsOf returns the number of each part that a vCPU is in, within the next larger one.
func (a *arguments) partsOf(vcpu int) (out [6]int) {
	for i, n := range slices.Backward(a.levels[:]) {
		out[i], vcpu = vcpu%n, vcpu/n
	}
	return out
}

// cells makes the cells of the nodes.
func (a *arguments) cells(fault func(check, text string, args ...any)) {
	slices.SortStableFunc(a.nodes, func(x, y guestNode) int { return x.id - y.id })
	if i, n := gap(a.nodes, func(n guestNode) int { return n.id }); i >= 0 {
		fault(move.CheckVCPUs, "node %d comes where %d is due: QEMU wants them from 0, without a gap", n, i)
	}
	user := map[string]int{}
	var pages []numa.HugePages
	for i, n := range a.nodes {
		if n.backend != "" {
			if first, twice := user[n.backend]; twice {
				fault(move.CheckMemory, "the backend %s is that of nodes %d and %d: QEMU wants one for each", n.backend, first, n.id)
			}
			user[n.backend] = n.id
			b := a.backends[n.backend]
			n.cell.Memory = b.size
			if b.page > 0 {
				pages = append(pages, numa.HugePages{Size: b.page, Cells: []int{i}})
			}
		}
		a.s.Cells = append(a.s.Cells, n.cell)
	}
	for _, c := range a.cpus {
		i := a.node(c.node)
		if i < 0 {
			fault(move.CheckVCPUs, "-numa cpu names node %d, which there is not", c.node)
			continue
		}
		found := false
		for v := range a.s.Most() {
			at := a.partsOf(v)
			if slices.ContainsFunc([]int{0, 1, 2, 3, 4, 5}, func(i int) bool { n, named := c.part[i]; return named && n != at[i] }) {
				continue
			}
			found = true
			if cpus := &a.s.Cells[i].CPUs; !slices.Contains(*cpus, v) {
				*cpus = append(*cpus, v)
			}
		}
		if !found {
			fault(move.CheckVCPUs, "-numa cpu of node %d names no vCPU that there is", c.node)
		}
		slices.Sort(a.s.Cells[i].CPUs)
	}
	if !slices.ContainsFunc(a.s.Cells, func(c move.Cell) bool { return c.CPUs != nil }) && a.cpus == nil { // by sockets in turn (x86_get_default_cpu_node_id)
		for v := range a.s.Most() {
			c := &a.s.Cells[a.partsOf(v)[0]%len(a.s.Cells)]
			c.CPUs = append(c.CPUs, v)
		}
	}
	paged(a.s, pages, fault)
}

// node returns the index of the node of an ID; -1 for none.
func (a *arguments) node(id int) int {
	return slices.IndexFunc(a.nodes, func(n guestNode) bool { return n.id == id })
}

// gap returns the first place in a list at which another ID is than its index, and that; -1 for none.
func gap[T any](list []T, id func(T) int) (i, found int) {
	for i := range list {
		if n := id(list[i]); n != i {
			return i, n
		}
	}
	return -1, 0
}

// distances takes what -numa dist states. One of a pair counts for both ways, unless two differ (validate_numa_distance of QEMU).
func (a *arguments) distances(fault func(check, text string, args ...any)) {
	if a.distance == nil {
		return
	}
	n := len(a.nodes)
	d := make([][]int, n)
	for i := range d {
		d[i] = make([]int, n)
	}
	for _, one := range a.distance {
		from, to := a.node(one[0]), a.node(one[1])
		if from < 0 || to < 0 {
			fault(move.CheckDistance, "a distance from node %d to node %d, of %s", one[0], one[1], words.Plural(n, "node"))
			continue
		}
		d[from][to] = one[2]
	}
	differ := false
	for i := range n {
		for j := range i {
			differ = differ || d[i][j] != 0 && d[j][i] != 0 && d[i][j] != d[j][i]
		}
	}
	for i := range n {
		d[i][i] = cmp.Or(d[i][i], 10)
		for j := range i {
			switch {
			case d[i][j] == 0 && d[j][i] == 0:
				fault(move.CheckDistance, "no distance between nodes %d and %d: QEMU wants one for each two", a.nodes[j].id, a.nodes[i].id)
				d[i][j], d[j][i] = 20, 20
			case differ && d[i][j]*d[j][i] == 0:
				fault(move.CheckDistance, "one distance between nodes %d and %d: QEMU wants both ways where those of two nodes differ", a.nodes[j].id, a.nodes[i].id)
				fallthrough
			default:
				d[i][j], d[j][i] = cmp.Or(d[i][j], d[j][i]), cmp.Or(d[j][i], d[i][j])
			}
		}
	}
	a.s.Distance = d
}
