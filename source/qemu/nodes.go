package qemu

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/numa/pattern"
	"example.org/homenode/source/definition"
	"example.org/homenode/source/text"
)

// numa parses a value of -numa; kinds other than node, cpu and dist are ignored.
func (a *arguments) numa(last func(key string) string, cpus []string) (err error) {
	number := func(key string, otherwise int) int {
		n := otherwise
		if value := last(key); value != "" && err == nil {
			if n, err = strconv.Atoi(value); err != nil || n < 0 || n >= most {
				err = notNumber(key, value)
			}
		}
		return n
	}
	if kind := last("type"); kind == "hmat-lb" || kind == "hmat-cache" || kind == "node" && last("initiator") != "" {
		a.latency = cmp.Or(a.latency, a.line)
	}
	switch last("type") {
	case "node":
		n := guestNode{initiated: last("initiator") != "", cell: numa.Cell{At: a.place()}, id: number("nodeid", len(a.nodes)), backend: last("memdev")}
		if old := last("mem"); old != "" && err == nil {
			n.cell.Memory, err = sizeOf(old, "M")
			a.old = cmp.Or(a.old, a.line)
		}
		if err == nil {
			n.cell.CPUs, err = definition.List("vCPUs", strings.Join(cpus, ","))
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

// versioned matches the machine types that accepted memory of nodes without a backend, and the version in their names. Types without a
// version are those of the release.
var versioned = pattern.Of(`^(?:pc-q35|q35|pc-i440fx|pc|virt|pseries)(?:-([0-9]+)\.([0-9]+))?$`)

// olderThan reports whether the machine type is known to be older than a release of QEMU; Proxmox appends +pve0 or similar.
func (a *arguments) olderThan(major, minor int) bool {
	machine, _, _ := strings.Cut(a.machine, "+")
	part := versioned.FindStringSubmatch(machine)
	if part == nil || part[1] == "" {
		return false
	}
	of, _ := strconv.Atoi(part[1]) // digits
	and, _ := strconv.Atoi(part[2])
	return of < major || of == major && and < minor
}

// oldMemory finds node memory without a backend: machine types from 5.1 (August 2020) on do not start with it (docs/about/removed-features of
// QEMU, -numa node,mem; the patch, which names virt, pc-i440fx, pc-q35 and pseries:
// https://www.redhat.com/archives/libvir-list/2020-January/msg00688.html).
func (a *arguments) oldMemory() {
	const refused = "-numa node with mem= and %s: %s from 5.1 on refuse it, and want memdev="
	part := versioned.FindStringSubmatch(a.machine)
	switch {
	case a.old == 0:
	case a.machine == "":
		a.Doubt(a.old, 1, refused, "no machine type stated", "releases of QEMU")
	case part == nil:
	case part[1] == "":
		a.Stray(a.old, 1, true, refused, "the machine type "+a.machine+", which is that of the release", "releases of QEMU")
	case !a.olderThan(5, 1):
		a.Stray(a.old, 1, true, refused, "the machine type "+a.machine, "machine types")
	}
}

// arrange parses the topology in -smp; QEMU adds the values of a second one to those of the first.
func (a *arguments) arrange(last func(key string) string) error {
	if a.topology == nil {
		a.topology = map[string]int{}
	}
	for _, key := range []string{"cpus", "maxcpus", "sockets", "dies", "clusters", "modules", "cores", "threads"} {
		value := last(key)
		if value == "" {
			continue
		}
		v, err := strconv.Atoi(value)
		if err != nil || v < 1 || v > most {
			return fmt.Errorf("found -smp %s=%q, want a number from 1", key, value)
		}
		a.topology[key] = v
	}
	a.s.TopologyAt, a.s.VCPUsAt = a.place(), cmp.Or(a.s.VCPUsAt, a.place())
	return nil
}

// shape completes the topology as QEMU does: cores before sockets since machine types of 6.2, sockets before cores for older ones; 1 for the
// remaining parts (machine_parse_smp_config; docs/system/qemu-manpage, -smp).
func (a *arguments) shape() {
	n := a.topology
	dies, clusters, modules := max(1, n["dies"]), max(1, n["clusters"]), max(1, n["modules"])
	each := dies * clusters * modules // in each socket
	all := cmp.Or(n["maxcpus"], n["cpus"])
	sockets, cores, threads := n["sockets"], n["cores"], n["threads"]
	older := a.olderThan(6, 2)
	switch {
	case all == 0:
	case older && sockets == 0:
		sockets = all / (each * max(1, cores) * max(1, threads))
	case cores == 0:
		cores = all / (max(1, sockets) * each * max(1, threads))
	case sockets == 0:
		sockets = all / (each * cores * max(1, threads))
	case threads == 0:
		threads = all / (sockets * each * cores)
	}
	a.levels = [6]int{max(1, sockets), dies, clusters, modules, max(1, cores), max(1, threads)}
	// Clusters and modules count as additional cores: no check depends on a level between die and core.
	s := a.s
	s.Sockets, s.Dies, s.Cores, s.Threads = a.levels[0], dies, a.levels[4]*clusters*modules, a.levels[5]
	switch core := a.levels[4] * s.Threads; {
	case a.l3 == "core":
		s.Sharing = s.Threads
	case a.l3 == "module":
		s.Sharing = core
	case clusters > 1 || a.l3 == "cluster":
		s.Sharing = core * modules
	}
	a.all = cmp.Or(all, s.Most())
	a.now = min(a.all, cmp.Or(n["cpus"], a.all))
	if n["cpus"] > a.all {
		a.Stray(a.smp, 1, true, "%d vCPUs (cpus), and at most %d (maxcpus): QEMU refuses it", n["cpus"], a.all)
	}
}

// partsOf returns the number of each part that contains a vCPU, relative to the next larger part.
func (a *arguments) partsOf(vcpu int) (out [6]int) {
	for i, n := range slices.Backward(a.levels[:]) {
		out[i], vcpu = vcpu%n, vcpu/n
	}
	return out
}

// cells builds the cells from the nodes.
func (a *arguments) cells() {
	slices.SortStableFunc(a.nodes, func(x, y guestNode) int { return x.id - y.id })
	if i, n := gap(a.nodes, func(n guestNode) int { return n.id }); i >= 0 {
		a.stray("node %d comes where %d is due: QEMU wants them from 0, without a gap", n, i)
	}
	user := map[string]int{}
	a.s.Bound = make([]numa.Bound, len(a.nodes))
	pages := []numa.HugePages{{Size: a.page}}
	a.s.Taken = !slices.ContainsFunc(a.nodes, func(n guestNode) bool { return !a.backends[n.backend].taken })
	for i, n := range a.nodes {
		if n.backend != "" {
			if first, twice := user[n.backend]; twice {
				a.stray("the backend %s is that of nodes %d and %d: QEMU wants one for each", n.backend, first, n.id)
			}
			user[n.backend] = n.id
			b, there := a.backends[n.backend]
			if !there {
				a.stray("node %d has the memory backend %s, which there is not: QEMU refuses it", n.id, text.Short(n.backend))
			}
			n.cell.Memory, a.s.Bound[i] = b.size, b.bound
			pages = append(pages, numa.HugePages{Size: b.page, Cells: []int{i}})
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
	if !slices.ContainsFunc(a.s.Cells, func(c numa.Cell) bool { return c.CPUs != nil }) && a.cpus == nil { // assigned round-robin by socket (x86_get_default_cpu_node_id)
		for v := range a.s.Most() {
			c := &a.s.Cells[a.partsOf(v)[0]%len(a.s.Cells)]
			c.CPUs = append(c.CPUs, v)
		}
	}
	for i, n := range a.nodes { // numa_validate_initiator in hw/core/machine.c
		if a.hmat && a.s.Cells[i].CPUs == nil && !n.initiated {
			a.stray("hmat=on, and node %d has neither vCPUs nor an initiator: QEMU refuses it", n.id)
		}
	}
	a.Pages(pages, len(a.s.Cells), a.line, 1)
}

// node returns the index of the node with an ID; -1 if there is none.
func (a *arguments) node(id int) int {
	return slices.IndexFunc(a.nodes, func(n guestNode) bool { return n.id == id })
}

// gap returns the first index in a list that differs from the ID there, and that ID; -1 if there is none.
func gap[T any](list []T, id func(T) int) (i, found int) {
	for i := range list {
		if n := id(list[i]); n != i {
			return i, n
		}
	}
	return -1, 0
}

// distances applies -numa dist. One entry of a pair counts for both directions, unless two entries differ (validate_numa_distance of QEMU).
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
