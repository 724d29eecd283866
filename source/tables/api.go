package tables

import (
	"encoding/json"
	"slices"
	"strings"

	"example.org/homenode/numa"
)

// list returns the elements of a JSON list in a cell; ok is false if the cell contains none.
func list[T any](t *table, key string) (elements []T, ok bool) {
	i := t.place(key).index
	if i < 0 || i >= len(t.cells) {
		return nil, false
	}
	s := t.cells[i]
	if !strings.HasPrefix(s, "[") {
		return nil, false
	}
	if err := json.Unmarshal([]byte(s), &elements); err != nil {
		t.bad(key, "found a list of another form than the API has")
		return nil, false
	}
	return elements, true
}

// An option is an OptionValue of the API.
type option struct {
	Key   string `json:"key"`
	Value any    `json:"value"`
}

// settings returns the options of a column for which keep returns true.
func settings(t *table, key string, keep func(string) bool) numa.Fact[numa.Settings] {
	options, ok := list[option](t, key)
	if !ok {
		return numa.Fact[numa.Settings]{}
	}
	kept := numa.Settings{}
	for _, o := range options {
		if !keep(o.Key) {
			continue
		}
		value, ok := o.Value.(string)
		if !ok {
			b, err := json.Marshal(o.Value)
			if err != nil || o.Value == nil {
				continue
			}
			value = string(b)
		}
		kept = slices.DeleteFunc(kept, func(s numa.Setting) bool { return strings.EqualFold(s.Key, o.Key) })
		kept = append(kept, numa.Setting{Key: o.Key, Value: value})
	}
	slices.SortFunc(kept, func(a, b numa.Setting) int { return strings.Compare(a.Key, b.Key) })
	return numa.ReadAt(kept, t.origin(key))
}

// readAPI reads the facts of a VM that only API objects contain.
func readAPI(t *table, c *numa.Config) {
	if !t.kind.generic() {
		return
	}
	c.AutoCoresPerSocket = t.boolFact("auto cores")
	c.AutoCoresPerNUMANode = t.boolFact("auto nodes")
	if c.Power.Value != numa.PoweredOff || !c.AutoCoresPerNUMANode.Value {
		c.CoresPerNUMANode = t.count("cores per node", numa.MaxVCPUs)
	}
	c.VirtualThreads = t.count("threads", numa.MaxVCPUs)
	c.IOMMU = t.boolFact("IOMMU")
	// A setting with its own fact is omitted here.
	c.Settings = settings(t, "settings", func(key string) bool {
		return numa.KeepSetting(key) && !strings.EqualFold(key, "vcpu.hotadd") && !strings.EqualFold(key, "cpuid.coresPerSocket")
	})
	c.CPUAffinity, c.MemoryAffinity = affinity(t, "CPU affinity"), affinity(t, "memory affinity")
	if !t.has("whole") || t.text("whole") == "" {
		return
	}
	// The whole of config was requested: a property that is missing is not set.
	unset := func(path string) numa.Fact[[]int] { return numa.ReadAt([]int{}, t.where+path+", which is not set") }
	if !c.CPUAffinity.Known() {
		c.CPUAffinity = unset("config.cpuAffinity")
	}
	if !c.MemoryAffinity.Known() {
		c.MemoryAffinity = unset("config.memoryAffinity")
	}
	if !c.Settings.Known() {
		c.Settings = numa.ReadAt(numa.Settings{}, t.where+"config.extraConfig, which is not set")
	}
}

// affinity parses a set of numbers.
func affinity(t *table, key string) numa.Fact[[]int] {
	set, ok := list[int](t, key)
	if !ok {
		return numa.Fact[[]int]{}
	}
	return numa.ReadAt(append([]int{}, set...), t.origin(key))
}

// readNodes reads the nodes of a host, if they are stated.
func readNodes(t *table, h *numa.Host) bool {
	h.Options = settings(t, "options", numa.KeepOption)
	type numaNode struct {
		ID    int        `json:"typeid"`
		CPUs  []int      `json:"cpuid"`
		Size  numa.Bytes `json:"memorysize"`
		Range numa.Bytes `json:"memoryrangelength"`
	}
	stated, ok := list[numaNode](t, "nodes")
	if !ok || !h.Cores.Known() || !h.Threads.Known() {
		return false
	}
	if !slices.ContainsFunc(stated, func(n numaNode) bool { return len(n.CPUs) > 0 }) && len(stated) > 0 && h.Packages.Known() { // only their number is stated
		return setNodeCount(t, h, "nodes", len(stated))
	}
	type cpuPkg struct {
		Index   int   `json:"index"`
		Threads []int `json:"threadid"`
	}
	pkgs, _ := list[cpuPkg](t, "packages")
	packages := map[int]int{}
	for _, p := range pkgs {
		for _, thread := range p.Threads {
			packages[thread] = p.Index
		}
	}
	nodes := make([]numa.APINode, len(stated))
	for i, n := range stated {
		nodes[i] = numa.APINode(n)
	}
	for _, why := range h.NodesOfAPI(nodes, packages, strings.EqualFold(t.text("Memory Tiering Type"), "softwareTiering")) {
		t.notes.add(t.rowPlace(), why)
	}
	return true
}
