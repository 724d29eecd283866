package esxtop

import (
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/numa"
	"example.org/homenode/numa/pattern"
	"example.org/homenode/source/text"
)

// wanted are the counters of a tick, by object, normalised.
var wanted = map[string][]string{
	"memory":       {"free mbytes", "kernel minfree mbytes", "kernel state", "machine mbytes", "pshare shared mbytes", "pshare common mbytes"},
	"numa node":    {"% processor time", "% util time", "% core util time", "total mbytes", "free mbytes"},
	"group cpu":    {"members", "% used", "% run", "% ready", "% costop"},
	"group memory": {"members", "numa home nodes", "numa rebalance count delta", "numa remote memory mbytes", "numa local memory mbytes", "numa % local", "memory size mbytes", "memory granted size mbytes", "memory consumed size mbytes", "touched mbytes", "shared mbytes", "zero mbytes", "memctl mbytes", "swapped mbytes", "shared saved mbytes", "copy on write hint mbytes", "used compressed memory mbytes"},
}

// A plan maps the counters of a tick to their places in Header.Wanted.
type plan struct {
	header *Header
	hosts  []*hostPlan // in the order of the file
}

// none is the place of a counter that the file lacks.
const none = -1

// A hostPlan is one host of a file.
type hostPlan struct {
	name                 string
	free, minFree, state int
	memory               int        // of the machine
	shared, common       int        // PShare
	nodes                []nodePlan // by ID
	vms                  []vmPlan   // in the order of the file
}

type nodePlan struct {
	id                            int
	used, util, core, total, free int
}

type vmPlan struct {
	gid   int64
	name  string
	vcpus int
	// unproven: nothing in the header proves that the group is a VM; only memory on a node would.
	unproven bool

	members, used, run, ready, coStop             int // Group Cpu
	present, homes, moves, remote, local, percent int // Group Memory; present: its Members
	size, granted, consumed, active               int
	shared, zero, balloon, swapped, saved, hint   int
	compressed                                    int
	onNode                                        []onNodePlan // by node
}

type onNodePlan struct{ node, guest, overhead int }

// A namer caches normalised names, which repeat many times in a header.
type namer map[string]string

func (n namer) of(s string) string {
	out, ok := n[s]
	if !ok {
		out = normal(s)
		n[s] = out
	}
	return out
}

// wants returns an Options.Want for ticks: of groups, only VMs.
func wants(h *Header) func(*Column) bool {
	names, vms := namer{}, h.vms()
	return func(c *Column) bool {
		object := names.of(c.Object)
		counters, ok := wanted[object]
		if !ok || c.Copy > 0 {
			return false
		}
		counter := names.of(c.Counter)
		if !slices.Contains(counters, counter) {
			if _, _, ok = onNode(counter); !ok || object != "group memory" {
				return false
			}
		}
		if len(vms) == 0 || object != "group cpu" && object != "group memory" {
			return true
		}
		gid, _, ok := c.Group()
		return ok && vms[groupKey{c.Host, gid}] != nil
	}
}

// Possible names of a counter of the memory of a VM on one node: no published file contains one;
// the screen shows GST_ND0 and OVD_ND0.
var (
	kindForm = pattern.Of(`gst|guest|ovh?d|overhead`)
	nodeForm = pattern.Of(`n(?:o?)d(?:e?)[ _(]*(\d{1,2})(?:\D|$)`)
)

// onNode splits the normal name of such a counter.
func onNode(counter string) (node int, guest, ok bool) {
	kind := kindForm.FindString(counter)
	if kind == "" {
		return 0, false, false
	}
	m := nodeForm.FindStringSubmatch(counter)
	if m == nil {
		return 0, false, false
	}
	node, ok = smallNumber([]byte(m[1]))
	return node, kind[0] == 'g', ok && node < numa.MaxNodes
}

// newPlan plans the ticks of a file.
func newPlan(h *Header, w *warnings) *plan {
	p := &plan{header: h}
	b := planner{plan: p, header: h, names: namer{}, warns: w, hosts: map[string]*hostPlan{}, vms: map[groupKey]*vmPlan{}, proofs: h.vms()}
	for at, i := range h.Wanted {
		b.column(at, &h.Columns[i])
	}
	if len(p.hosts) == 0 && len(h.Columns) > 0 {
		w.add(kindBlind, h.Line, 1, func() string {
			return fmt.Sprintf("found no column about VMs, NUMA nodes or the memory of the host, but %s: record with esxtop -b -a", h.objects())
		})
	}
	for _, key := range b.order {
		host := b.hosts[key.host]
		host.vms = append(host.vms, *b.vms[key])
	}
	for _, host := range p.hosts {
		slices.SortFunc(host.nodes, func(a, b nodePlan) int { return a.id - b.id })
	}
	return p
}

// objects lists the objects of the columns: Memory, Physical Cpu.
func (h *Header) objects() string {
	const most = 4
	var list []string
	for i := range h.Columns {
		if name := text.Short(h.Columns[i].Object); name != "" && !slices.Contains(list, name) {
			if list = append(list, name); len(list) > most {
				list[most] = "…"
				break
			}
		}
	}
	return strings.Join(list, ", ")
}

// vms finds the VMs: groups with the counter % VmWait, or with worlds of vCPUs, which it counts.
func (h *Header) vms() map[groupKey]map[int64]bool {
	if h.proven != nil {
		return h.proven
	}
	names := namer{}
	out := map[groupKey]map[int64]bool{}
	h.proven = out
	prove := func(key groupKey) map[int64]bool {
		if out[key] == nil {
			out[key] = map[int64]bool{}
		}
		return out[key]
	}
	last := ""
	for i := range h.Columns {
		c := &h.Columns[i]
		if len(out) > numa.MaxHostVMs { // the header is refused
			break
		}
		switch names.of(c.Object) {
		case "group cpu":
			if names.of(c.Counter) == "% vmwait" {
				if gid, _, ok := c.Group(); ok {
					prove(groupKey{c.Host, gid})
				}
			}
		case "vcpu":
			if c.Instance == last {
				continue
			}
			last = c.Instance
			if w, ok := h.World(c); ok {
				if _, ok := w.VCPU(); ok {
					prove(groupKey{c.Host, w.GID})[w.ID] = true
				}
			}
		}
	}
	return out
}

// A planner builds a plan.
type planner struct {
	plan   *plan
	header *Header
	names  namer
	warns  *warnings
	hosts  map[string]*hostPlan
	vms    map[groupKey]*vmPlan
	order  []groupKey
	proofs map[groupKey]map[int64]bool
}

// column adds a column at this place of Header.Wanted.
func (b *planner) column(at int, c *Column) {
	object, counter := b.names.of(c.Object), b.names.of(c.Counter)
	switch object {
	case "memory":
		enter(b.host(c.Host).places(), object, counter, at)
	case "numa node":
		b.node(at, c, object, counter)
	default:
		if vm := b.vm(c); vm != nil {
			b.group(vm, at, c, object, counter)
		}
	}
}

func (b *planner) host(name string) *hostPlan {
	h := b.hosts[name]
	if h == nil {
		h = &hostPlan{name: name, free: none, minFree: none, state: none, memory: none, shared: none, common: none}
		b.hosts[name] = h
		b.plan.hosts = append(b.plan.hosts, h)
	}
	return h
}

func (b *planner) node(at int, c *Column, object, counter string) {
	id, ok := smallNumber([]byte(c.Instance))
	if !ok {
		return
	}
	host := b.host(c.Host)
	i := slices.IndexFunc(host.nodes, func(n nodePlan) bool { return n.id == id })
	if i < 0 {
		i = len(host.nodes)
		host.nodes = append(host.nodes, nodePlan{id, none, none, none, none, none})
	}
	enter(host.nodes[i].places(), object, counter, at)
}

// enter sets the place of a column's counter; the places are in the order of wanted.
func enter(places []*int, object, counter string, at int) (known bool) {
	i := slices.Index(wanted[object], counter)
	if i >= 0 {
		*places[i] = at
	}
	return i >= 0
}

func (h *hostPlan) places() []*int {
	return []*int{&h.free, &h.minFree, &h.state, &h.memory, &h.shared, &h.common}
}

func (n *nodePlan) places() []*int { return []*int{&n.used, &n.util, &n.core, &n.total, &n.free} }

// vm returns the plan of the VM of a column; nil when its group is none.
func (b *planner) vm(c *Column) *vmPlan {
	gid, name, ok := c.Group()
	if !ok {
		return nil
	}
	key := groupKey{c.Host, gid}
	if vm := b.vms[key]; vm != nil {
		return vm
	}
	worlds, proven := b.proofs[key]
	if !proven && len(b.proofs) > 0 {
		return nil
	}
	b.host(c.Host)
	if !proven {
		b.warns.add(kindVMs, b.header.Line, 1, func() string {
			return "found neither % VmWait nor worlds of vCPUs: groups with memory on a NUMA node are assumed to be VMs"
		})
	}
	vm := &vmPlan{gid: gid, name: name, vcpus: len(worlds), unproven: !proven}
	for _, at := range vm.places() {
		*at = none
	}
	b.vms[key] = vm
	b.order = append(b.order, key)
	return vm
}

// places are all counters except those by node.
func (v *vmPlan) places() []*int {
	return []*int{
		&v.members, &v.used, &v.run, &v.ready, &v.coStop,
		&v.present, &v.homes, &v.moves, &v.remote, &v.local, &v.percent, &v.size, &v.granted, &v.consumed, &v.active,
		&v.shared, &v.zero, &v.balloon, &v.swapped, &v.saved, &v.hint, &v.compressed,
	}
}

// group sets the place of a counter of a VM.
func (b *planner) group(vm *vmPlan, at int, c *Column, object, counter string) {
	places := vm.places()[:5]
	if object == "group memory" {
		places = vm.places()[5:]
	}
	if enter(places, object, counter, at) {
		return
	}
	node, guest, ok := onNode(counter)
	if !ok {
		return
	}
	b.warns.add(kindNodes, b.header.Line, 1, func() string {
		return fmt.Sprintf("%s: the name is guessed to be memory on node %d: no published file shows how esxtop calls it", c, node)
	})
	i := slices.IndexFunc(vm.onNode, func(n onNodePlan) bool { return n.node == node })
	if i < 0 {
		if i = slices.IndexFunc(vm.onNode, func(n onNodePlan) bool { return n.node > node }); i < 0 {
			i = len(vm.onNode)
		}
		vm.onNode = slices.Insert(vm.onNode, i, onNodePlan{node, none, none})
	}
	if guest {
		vm.onNode[i].guest = at
	} else {
		vm.onNode[i].overhead = at
	}
}
