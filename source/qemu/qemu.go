// Package qemu reads arguments of QEMU: those of a file, or of a process, with options one behind the other.
package qemu

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"homenode/internal/words"
	"homenode/numa"
	"homenode/source/definition"
	"homenode/source/fact"
	"homenode/source/text"
)

// maxFile is more than the arguments of any VM have.
const maxFile = 4 << 20

var options = regexp.MustCompile(`(?:^|\s)-(?:smp|numa)\s+\S|(?:^|\s)-m\s+(?:size=)?\d`)

// Detect reports whether a file that begins with head has arguments of QEMU.
func Detect(head []byte) bool { return options.Match(head) }

// most is more than any VM has.
const most = 1 << 14

// arguments are what QEMU is told of a shape. Backends may come behind the nodes that name them, so that all is put together at the end.
type arguments struct {
	*definition.VM
	s        *numa.Stated
	line     int // that is read
	smp      bool
	machine  string // its type
	old      int    // line of the first -numa node with mem=, which machine types from 5.1 on do not take; 0 for none
	all, now int    // vCPUs of which -smp speaks, and those there at the start
	levels   [6]int // how many of each of partsOfCPU
	backends map[string]backing
	nodes    []guestNode
	cpus     []cpuOfNode
	distance [][3]int // src, dst, val
	host     []int    // CPUs of the host that taskset gives QEMU; nil for all
	pins     map[int]pin
}

// A pin is the CPUs of the host that taskset gives the thread of a vCPU.
type pin struct {
	cpus []int
	at   string
}

// A backing is a memory backend: its size, that of its huge pages, 0 for none stated, and the nodes of the host that it is bound to.
type backing struct {
	size, page numa.Bytes
	bound      numa.Bound
}

// A guestNode is -numa node.
type guestNode struct {
	id      int
	backend string // memdev
	cell    numa.Cell
}

// A cpuOfNode is -numa cpu: the vCPUs of these parts are of a node.
type cpuOfNode struct {
	node int
	part map[int]int // numbers by the index in partsOfCPU
}

// partsOfCPU are the parts of the topology, the largest first (docs/system/qemu-manpage, -smp and -numa cpu).
var partsOfCPU = [6]string{"socket", "die", "cluster", "module", "core", "thread"}

// unnamed are the keys of the first values of options, which may stand without it.
var unnamed = map[string]string{"-m": "size", "-smp": "cpus", "-object": "qom-type", "-numa": "type", "-name": "guest", "-uuid": "uuid", "-machine": "type", "-M": "type"}

// modes are the policies of backends by the words of libvirt.
var modes = map[string]string{"bind": "strict", "preferred": "preferred", "interleave": "interleave"}

// word matches a word of a line, which may be in quotes.
var word = regexp.MustCompile(`'[^']*'|"[^"]*"|\S+`)

// Read reads the arguments of a VM.
func Read(name string, r io.Reader) ([]fact.Document, error) {
	f := &fact.File{Name: name, Format: "arguments of QEMU"}
	a := &arguments{VM: definition.New(f, 1, 1), backends: map[string]backing{}, pins: map[int]pin{}}
	a.s = a.Stated
	a.s.Dies, a.s.Threads = 1, 1
	lines := text.NewLines(io.LimitReader(r, maxFile))
	for lines.Scan() {
		line := lines.Text()
		a.line = lines.Line()
		a.affinity(line)
		found := word.FindAllStringIndex(line, -1)
		for i, at := range found {
			option := line[at[0]:at[1]]
			if strings.HasPrefix(option, "#") {
				break
			}
			if i+1 == len(found) || !strings.HasPrefix(option, "-") {
				continue
			}
			value := strings.Trim(line[found[i+1][0]:found[i+1][1]], `'"`)
			option = "-" + strings.TrimLeft(option, "-")
			f.Add(a.line, at[0]+1, "VM", option, value, "")
			if err := a.add(option, value); err != nil {
				return nil, &numa.SyntaxError{File: name, Line: a.line, Col: at[0] + 1, Msg: err.Error()}
			}
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	s := a.s
	if !a.smp {
		if s.Shape.Memory == 0 {
			return nil, &numa.SyntaxError{File: name, Line: 1, Col: 1, Msg: "found no -smp and no -m"}
		}
		s.Sockets, s.Cores, a.all, a.levels = 1, 1, 1, [6]int{1, 1, 1, 1, 1, 1} // as QEMU does
	}
	for range max(0, min(a.all, most)-len(s.CPUs)) {
		s.CPUs = append(s.CPUs, a.host)
	}
	for vcpu, pin := range a.pins {
		if vcpu < len(s.CPUs) {
			s.CPUs[vcpu], s.Pins = pin.cpus, append(s.Pins, numa.Pinned{VCPU: vcpu, At: pin.at})
		}
	}
	a.oldMemory()
	switch {
	case s.Most() < a.all: // a check says it
	case s.Most() > a.all:
		a.stray("a topology of %d vCPUs, and %d vCPUs", s.Most(), a.all)
	case a.nodes != nil:
		a.cells()
		a.distances()
	default:
		for _, b := range a.backends {
			if b.size == s.Shape.Memory { // of -machine memory-backend
				s.Page, s.Bound = b.page, []numa.Bound{b.bound}
			}
		}
	}
	a.Close(a.all, a.now)
	f.Sort()
	return []fact.Document{a.VM}, nil
}

// tasksets matches the command before QEMU, or that for threads of vCPUs as homenode move writes it, in a comment too.
var tasksets = regexp.MustCompile(`taskset -(?:c ([0-9,-]+) +\S*qemu|pc ([0-9,-]+) THREAD-ID, of vCPUs ([0-9,-]+))`)

// affinity takes the CPUs of the host that taskset gives QEMU and threads of vCPUs.
func (a *arguments) affinity(line string) {
	part := tasksets.FindStringSubmatch(line)
	if part == nil {
		return
	}
	cpus, err := list(part[1] + part[2])
	vcpus, wrong := list(part[3])
	if err != nil || wrong != nil {
		return
	}
	if part[3] == "" {
		a.host, a.s.VCPUsAt = cpus, a.place()
	}
	for _, v := range vcpus {
		a.pins[v] = pin{cpus, a.place()}
	}
}

// stray adds what QEMU refuses.
func (a *arguments) stray(format string, args ...any) { a.Stray(a.line, 1, true, format, args...) }

func (a *arguments) place() string { return numa.Place(a.File().Name, a.line, 1) }

// values returns the values of an option by their keys: of key=value,… or JSON, as libvirt writes it.
func values(in, first string) (map[string][]string, error) {
	out := map[string][]string{}
	if strings.HasPrefix(in, "{") {
		decoder := json.NewDecoder(strings.NewReader(in))
		decoder.UseNumber()
		var object map[string]any
		if err := decoder.Decode(&object); err != nil {
			return nil, fmt.Errorf("found %s, want JSON without blanks, or in quotes: %w", text.Short(in), err)
		}
		for key, v := range object {
			out[key] = []string{fmt.Sprint(v)}
		}
		return out, nil
	}
	for i, part := range strings.Split(in, ",") {
		key, v, named := strings.Cut(part, "=")
		if i == 0 && !named {
			key, v = first, part
		}
		out[key] = append(out[key], v)
	}
	return out, nil
}

// add takes an option.
func (a *arguments) add(option, value string) error {
	first := unnamed[option]
	if first == "" {
		return nil
	}
	named, err := values(value, first)
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
			a.s.MemoryAt = a.place()
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
			if nodes := strings.Join(named["host-nodes"], ","); nodes != "" && err == nil {
				b.bound = numa.Bound{Mode: modes[last("policy")], At: a.place()}
				b.bound.Nodes, err = list(nodes)
			}
			switch policy := last("policy"); {
			case b.bound.Nodes != nil && (policy == "" || policy == "default"):
				a.stray("the memory backend %s has host-nodes and no policy: QEMU refuses it", text.Short(last("id")))
			case b.bound.Nodes == nil && policy != "" && policy != "default":
				a.stray("the memory backend %s has the policy %s and no host-nodes: QEMU refuses it", text.Short(last("id")), text.Short(policy))
			}
			a.backends[last("id")] = b
		}
	case "-machine", "-M":
		a.machine = cmp.Or(last("type"), a.machine)
	case "-name":
		a.Name = last("guest")
	case "-uuid":
		a.UUID = last("uuid")
	case "-numa":
		err = a.numa(last, named["cpus"])
	}
	return err
}

// numa takes a value of -numa; what is neither a node, nor of its vCPUs and distances, is left out.
func (a *arguments) numa(last func(key string) string, cpus []string) (err error) {
	number := func(key string, otherwise int) int {
		n := otherwise
		if value := last(key); value != "" && err == nil {
			if n, err = strconv.Atoi(value); err != nil || n < 0 || n >= most {
				err = fmt.Errorf("found %s=%q, want a number", key, value)
			}
		}
		return n
	}
	switch last("type") {
	case "node":
		n := guestNode{cell: numa.Cell{At: a.place()}, id: number("nodeid", len(a.nodes)), backend: last("memdev")}
		if old := last("mem"); old != "" && err == nil {
			n.cell.Memory, err = sizeOf(old, "M")
			a.old = cmp.Or(a.old, a.line)
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

// versioned matches the types of machines whose versions are those of QEMU.
var versioned = regexp.MustCompile(`^(?:pc-q35|pc-i440fx|pc|virt|pseries)-([0-9]+)\.([0-9]+)$`)

// oldMemory finds memory of nodes that is stated without a backend (docs/about/removed-features of QEMU, 5.1). pc and q35 are those of the release.
func (a *arguments) oldMemory() {
	const refused = "-numa node with mem= and the machine type %s: %s from 5.1 on refuse it, and want memdev="
	part := versioned.FindStringSubmatch(a.machine)
	switch {
	case a.old == 0:
	case part != nil:
		if major, _ := strconv.Atoi(part[1]); major > 5 || major == 5 && part[2] != "0" {
			a.Stray(a.old, 1, true, refused, a.machine, "machine types")
		}
	case a.machine == "pc" || a.machine == "q35":
		a.Doubt(a.old, 1, refused, a.machine, "releases of QEMU")
	}
}

// arrange takes what -smp says of the topology, and the rest as QEMU does since 6.2: cores before sockets, one of what is not named
// (machine_parse_smp_config; docs/system/qemu-manpage, -smp).
func (a *arguments) arrange(last func(key string) string) error {
	n := map[string]int{}
	for _, key := range []string{"cpus", "maxcpus", "sockets", "dies", "clusters", "modules", "cores", "threads"} {
		value := last(key)
		if value == "" {
			continue
		}
		v, err := strconv.Atoi(value)
		if err != nil || v < 1 || v > most {
			return fmt.Errorf("found -smp %s=%q, want a number from 1", key, value)
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
	a.now = min(a.all, cmp.Or(n["cpus"], a.all))
	s.TopologyAt, s.VCPUsAt = a.place(), cmp.Or(s.VCPUsAt, a.place())
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
func (a *arguments) cells() {
	slices.SortStableFunc(a.nodes, func(x, y guestNode) int { return x.id - y.id })
	if i, n := gap(a.nodes, func(n guestNode) int { return n.id }); i >= 0 {
		a.stray("node %d comes where %d is due: QEMU wants them from 0, without a gap", n, i)
	}
	user := map[string]int{}
	a.s.Bound = make([]numa.Bound, len(a.nodes))
	var pages []numa.HugePages
	for i, n := range a.nodes {
		if n.backend != "" {
			if first, twice := user[n.backend]; twice {
				a.stray("the backend %s is that of nodes %d and %d: QEMU wants one for each", n.backend, first, n.id)
			}
			user[n.backend] = n.id
			b := a.backends[n.backend]
			n.cell.Memory, a.s.Bound[i] = b.size, b.bound
			if b.page > 0 {
				pages = append(pages, numa.HugePages{Size: b.page, Cells: []int{i}})
			}
		}
		a.s.Cells = append(a.s.Cells, n.cell)
	}
	for _, c := range a.cpus {
		i := a.node(c.node)
		if i < 0 {
			a.stray("-numa cpu names node %d, which there is not", c.node)
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
			a.stray("-numa cpu of node %d names no vCPU that there is", c.node)
		}
		slices.Sort(a.s.Cells[i].CPUs)
	}
	if !slices.ContainsFunc(a.s.Cells, func(c numa.Cell) bool { return c.CPUs != nil }) && a.cpus == nil { // by sockets in turn (x86_get_default_cpu_node_id)
		for v := range a.s.Most() {
			c := &a.s.Cells[a.partsOf(v)[0]%len(a.s.Cells)]
			c.CPUs = append(c.CPUs, v)
		}
	}
	a.Pages(pages, len(a.s.Cells), a.line, 1)
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
func (a *arguments) distances() {
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
			a.stray("a distance from node %d to node %d, of %s", one[0], one[1], words.Plural(n, "node"))
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
				a.stray("no distance between nodes %d and %d: QEMU wants one for each two", a.nodes[j].id, a.nodes[i].id)
				d[i][j], d[j][i] = 20, 20
			case differ && d[i][j]*d[j][i] == 0:
				a.stray("one distance between nodes %d and %d: QEMU wants both ways where those of two nodes differ", a.nodes[j].id, a.nodes[i].id)
				fallthrough
			default:
				d[i][j], d[j][i] = cmp.Or(d[i][j], d[j][i]), cmp.Or(d[j][i], d[i][j])
			}
		}
	}
	a.s.Distance = d
}

// sizeText matches "1024M", "1.5G" or "1024".
var sizeText = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?)([BKMGT]?)$`)

// sizeOf reads "1024M", "1.5G", or "1024" of a unit: B or M.
func sizeOf(size, unit string) (numa.Bytes, error) {
	const most = 1 << 50
	if part := sizeText.FindStringSubmatch(strings.ToUpper(size)); part != nil {
		n, err := strconv.ParseFloat(part[1], 64) // whole to 2^53
		if n *= float64(int64(1) << (10 * strings.Index("BKMGT", cmp.Or(part[2], unit)))); err == nil && n <= most {
			return numa.Bytes(n), nil
		}
	}
	return 0, fmt.Errorf("found %q, want memory such as 1024M", text.Short(size))
}

// list reads "0-3,8", in ascending order.
func list(s string) (out []int, err error) {
	for part := range strings.SplitSeq(s, ",") {
		numbers, ok := text.Numbers(part, most, most)
		if part != "" && !ok || len(out) > most {
			return nil, fmt.Errorf("found %q, want a list of vCPUs such as 0-3,8", text.Short(s))
		}
		out = append(out, numbers...)
	}
	slices.Sort(out)
	return out, nil
}
