package published

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"homenode/numa"
	"homenode/vnuma"
)

// A variant is one complete reading of a case: what the case leaves open has one
// of the values it may have.
type variant struct {
	vm   numa.VM
	host numa.Host
	c    vnuma.Case
}

// What an open fact may be. The values span the hosts of the published cases, so
// that a prediction which does not change over them does not depend on the fact.
var (
	openSockets = []int{1, 2, 4}
	openCores   = []int{4, 6, 8, 10, 16, 28, 64} // per node
	openThreads = []int{1, 2}                    // per core
)

// where marks facts of a case in traces.
const where = "published case"

// variants returns the readings of the case. The error says why there are none:
// what the case does not state and nothing can stand for.
func (c *Case) variants(ch vnuma.Choices) ([]variant, error) {
	if c.Kind == "recommended" {
		return nil, fmt.Errorf("a recommendation, not an observation")
	}
	releases := releasesIn(c.Release)
	if len(releases) == 0 {
		return nil, fmt.Errorf("release %q is not described", c.Release)
	}
	for key := range c.settings() {
		if !numa.KeepSetting(key) && !known[key] {
			return nil, fmt.Errorf("setting %q is no setting of ESXi", key)
		}
	}
	var out []variant
	for _, h := range hostsOf(c.Host) {
		counts := c.vcpuCounts(h)
		for _, r := range releases {
			for _, n := range counts {
				vms, err := c.vms(n, r)
				if err != nil {
					return nil, err
				}
				for _, vm := range vms {
					v := variant{vm: vm, host: h.host(r, text(c.Host["cpu_model"])), c: vnuma.Case{Choices: ch}}
					c.event(&v, r)
					out = append(out, v)
				}
			}
		}
	}
	if out == nil {
		return nil, fmt.Errorf("the vCPU count is not stated")
	}
	return out, nil
}

// known are keys of a case's extra settings that are read here, not by the model.
var known = map[string]bool{"numa_nodes_ui": true, "vmotion_from": true, "event": true}

// event sets what happens to the VM, when the case says so.
func (c *Case) event(v *variant, r numa.Release) {
	event := c.Event + " " + text(c.VM["event"]) + " " + text(c.settings()["event"])
	from := c.From
	if m := shapeForm.FindStringSubmatch(text(c.settings()["vmotion_from"])); m != nil {
		sockets, _ := strconv.ParseFloat(m[1], 64)
		cores, _ := strconv.ParseFloat(m[2], 64)
		from = map[string]any{"sockets": sockets, "cores_per_socket": cores}
		event = "vmotion"
	}
	if strings.Contains(strings.ToLower(event), "motion") {
		v.c.Event = vnuma.VMotionIn
	}
	if from != nil {
		h := hostsOf(from)[0].host(r, text(from["cpu_model"]))
		if m, err := vnuma.NewMachine(&h); err == nil {
			v.c.From = &m
		}
	}
}

var shapeForm = regexp.MustCompile(`(\d+)\s*[x×]\s*(\d+)`)

// A shape is a host with nothing left open.
type shape struct {
	sockets, nodesPerSocket, cores, threads int // cores and threads of a node
	nodeMemory                              numa.Bytes
}

// hostsOf returns the hosts that h may describe.
func hostsOf(h map[string]any) []shape {
	perSocket := intOr(h["numa_nodes_per_socket"], 1)
	sockets := openSockets
	switch n := intOr(h["sockets"], 0); {
	case n > 0:
		sockets = []int{n}
	case intOr(h["numa_nodes"], 0) > 0:
		sockets = []int{intOr(h["numa_nodes"], 0)}
	}
	threads := openThreads
	if n := intOr(h["threads_per_core"], 0); n > 0 {
		threads = []int{n}
	}
	var out []shape
	for _, s := range sockets {
		nodes := s * perSocket
		cores := openCores
		switch {
		case intOr(h["cores_per_node"], 0) > 0:
			cores = []int{intOr(h["cores_per_node"], 0)}
		case intOr(h["cores_per_socket"], 0) > 0:
			cores = []int{max(1, intOr(h["cores_per_socket"], 0)/perSocket)}
		case intOr(h["total_cores"], 0) > 0:
			cores = []int{max(1, intOr(h["total_cores"], 0)/nodes)}
		}
		for _, k := range cores {
			for _, t := range threads {
				out = append(out, shape{s, perSocket, k, k * t, nodeMemory(h, nodes)})
			}
		}
	}
	return out
}

// nodeMemory returns the memory of one node; 0 when the case does not state it.
func nodeMemory(h map[string]any, nodes int) numa.Bytes {
	switch {
	case number(h["mem_per_node_gb"]) > 0:
		return numa.Bytes(number(h["mem_per_node_gb"]) * float64(numa.GiB))
	case number(h["mem_per_node_mb"]) > 0:
		return numa.Bytes(number(h["mem_per_node_mb"]) * float64(numa.MiB))
	case len(list(h["node_total_kb"])) > 0:
		least := slices.MinFunc(list(h["node_total_kb"]), func(a, b any) int { return int(number(a) - number(b)) })
		return numa.Bytes(number(least) * float64(numa.KiB))
	case number(h["mem_gb"]) > 0:
		return numa.Bytes(number(h["mem_gb"])*float64(numa.GiB)) / numa.Bytes(nodes)
	}
	return 0
}

// host returns the host of the shape with release r.
func (s shape) host(r numa.Release, cpu string) numa.Host {
	h := numa.Host{
		ID: "host", Name: "host",
		Release:  numa.ReadAt(r, where),
		Packages: numa.ReadAt(s.sockets, where),
		CPUModel: numa.ReadAt(cpu, where),
		Options:  numa.ReadAt(numa.Settings(nil), where),
	}
	var nodes []numa.Node
	for i := range s.sockets * s.nodesPerSocket {
		n := numa.Node{ID: i, Package: i / s.nodesPerSocket, Cores: s.cores, Threads: s.threads}
		if s.nodeMemory > 0 {
			n.Memory = numa.ReadAt(s.nodeMemory, where)
		}
		nodes = append(nodes, n)
	}
	h.Nodes = numa.ReadAt(nodes, where)
	return h
}

// vcpuCounts returns the vCPU counts that the case may mean on the host.
func (c *Case) vcpuCounts(h shape) []int {
	upTo := func(n int) []int {
		var out []int
		for i := 1; i <= n; i++ {
			out = append(out, i)
		}
		return out
	}
	if n := intOr(c.VM["vcpus"], 0); n > 0 && n <= numa.MaxVCPUs {
		return []int{n}
	}
	if n := intOr(c.VM["vcpus_max"], 0); n > 0 && n <= numa.MaxVCPUs {
		return upTo(n)
	}
	if n := intOr(c.VM["vcpus_max_exclusive"], 0); n > 1 && n <= numa.MaxVCPUs {
		return upTo(n - 1)
	}
	if wider, _ := c.VM["wider_than_node"].(bool); wider && h.sockets*h.nodesPerSocket > 1 {
		return []int{h.cores + 1, 2 * h.cores}
	}
	return nil
}

// vms returns the VMs with n vCPUs that the case may describe on release r.
func (c *Case) vms(n int, r numa.Release) ([]numa.VM, error) {
	vm := numa.VM{
		ID: "vm", Name: "vm",
		VCPUs:              numa.ReadAt(n, where),
		CPUHotAdd:          numa.ReadAt(truth(c.VM["cpu_hot_add"]), where),
		AutoCoresPerSocket: numa.ReadAt(false, where),
	}
	switch {
	case number(c.VM["mem_gb"]) > 0:
		vm.Memory = numa.ReadAt(numa.Bytes(number(c.VM["mem_gb"])*float64(numa.GiB)), where)
	case number(c.VM["mem_mb"]) > 0:
		vm.Memory = numa.ReadAt(numa.Bytes(number(c.VM["mem_mb"])*float64(numa.MiB)), where)
	}
	var settings numa.Settings
	for k, v := range c.settings() {
		switch {
		case k == "numa_nodes_ui": // 8.0: "NUMA Nodes" counts nodes, the setting cores (B-10)
			nodes := intOr(v, 0)
			if nodes <= 0 || n%nodes != 0 {
				return nil, fmt.Errorf("%d NUMA nodes do not divide %d vCPUs", nodes, n)
			}
			settings = append(settings, numa.Setting{Key: "numa.vcpu.coresPerNode", Value: strconv.Itoa(n / nodes)})
		case !known[k]:
			settings = append(settings, numa.Setting{Key: k, Value: text(v)})
		}
	}
	if _, ok := settings.Lookup("numa.autosize.vcpu.maxPerVirtualNode"); ok {
		if _, ok := settings.Lookup("numa.autosize.cookie"); !ok {
			// A published stored size is quoted because it counts.
			settings = append(settings, numa.Setting{Key: "numa.autosize.cookie", Value: strconv.Itoa(n*10000 + 1)})
		}
	}
	slices.SortFunc(settings, func(a, b numa.Setting) int { return strings.Compare(a.Key, b.Key) })
	vm.Settings = numa.ReadAt(settings, where)
	return c.sockets(vm, n, r), nil
}

// sockets returns vm with each cores per socket and hardware version it may have.
func (c *Case) sockets(vm numa.VM, n int, r numa.Release) []numa.VM {
	hardware := []int{10}
	switch {
	case c.Hardware != "":
		hw, _ := strconv.Atoi(strings.TrimPrefix(c.Hardware, "vmx-"))
		hardware = []int{hw}
	case r >= numa.ESXi70: // an older VM may have kept its version
		hardware = []int{13, 19}
	case r < numa.ESXi50:
		hardware = []int{7}
	}
	var out []numa.VM
	add := func(cps, hw int, auto bool) {
		v := vm
		v.Hardware = numa.ReadAt(hw, where)
		v.CoresPerSocket = numa.ReadAt(cps, where)
		v.AutoCoresPerSocket = numa.ReadAt(auto, where)
		out = append(out, v)
	}
	cps, stated := c.coresPerSocket()
	for _, hw := range hardware {
		switch {
		case stated && cps > 0:
			add(cps, hw, false)
			if r >= numa.ESXi80 && c.Hardware == "" {
				add(cps, 20, false)
			}
		case stated: // assigned at power on
			add(1, 20, true)
		default:
			add(1, hw, false)
			// Since 7.0 some wizards pick 2 (B-12), since 8.0 automatic (B-18).
			if r >= numa.ESXi65 && n%2 == 0 {
				add(2, hw, false)
			}
			if r >= numa.ESXi80 && c.Hardware == "" {
				add(1, 20, true)
			}
		}
	}
	return out
}

// coresPerSocket returns the stated cores per socket; 0 for automatic ones.
func (c *Case) coresPerSocket() (cps int, stated bool) {
	switch v := c.VM["cores_per_socket"].(type) {
	case float64:
		return int(v), true
	case string:
		return 0, true
	}
	return 0, false
}

func (c *Case) settings() map[string]any {
	extra, _ := c.VM["extra"].(map[string]any)
	return extra
}

func number(v any) float64 {
	f, _ := v.(float64)
	return f
}

func intOr(v any, other int) int {
	if f, ok := v.(float64); ok && f == float64(int(f)) {
		return int(f)
	}
	return other
}

func truth(v any) bool {
	b, _ := v.(bool)
	return b
}

func text(v any) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}
