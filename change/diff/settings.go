package diff

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
)

// collector collects the settings that differ.
type collector struct {
	out      []Setting
	oneSided []string // names
}

// compare adds a fact with different values. A fact that one side does not have is only
// counted: an RVTools export compared with a vCenter is not drift.
func compare[T any](c *collector, name string, a, b numa.Fact[T], text func(T) string) {
	switch {
	case a.Known() != b.Known():
		c.oneSided = append(c.oneSided, name)
	case !reflect.DeepEqual(a.Value, b.Value):
		c.add(name, text(a.Value), text(b.Value))
	}
}

func (c *collector) add(name, a, b string) {
	if a != b {
		c.out = append(c.out, Setting{name, a, b})
	}
}

func word[T any](v T) string { return fmt.Sprint(v) }

// size returns an amount of memory, or that there is no limit.
func size(b numa.Bytes) string {
	if b < 0 {
		return "none"
	}
	return b.String()
}

func onOff(v bool) string {
	if v {
		return "on"
	}
	return "off"
}

func list(v []int) string {
	if len(v) == 0 {
		return "none"
	}
	return strings.Trim(fmt.Sprint(v), "[]")
}

// vmSettings returns the settings of a VM that determine its topology and differ, and the names
// of those that only one side has. Its power state and its host are not drift.
func (d *Drift) vmSettings(a, b *numa.VM) (differ []Setting, oneSided []string) {
	var c collector
	for i := range numa.VMFacts {
		p := &numa.VMFacts[i]
		if p.Word == "coresPerSocket" {
			c.coresPerSocket(a, b)
			continue
		}
		switch fa, fb := p.Fact(&a.Config), p.Fact(&b.Config); x := fa.(type) {
		case *numa.Fact[int]:
			compare(&c, p.Word, *x, *fb.(*numa.Fact[int]), word)
		case *numa.Fact[bool]:
			compare(&c, p.Word, *x, *fb.(*numa.Fact[bool]), onOff)
		case *numa.Fact[numa.Bytes]:
			compare(&c, p.Word, *x, *fb.(*numa.Fact[numa.Bytes]), size)
		case *numa.Fact[[]int]:
			compare(&c, p.Word, someOr(*x), someOr(*fb.(*numa.Fact[[]int])), list)
		case *numa.Fact[string]:
			if p.Only != nil { // other texts are written differently by each source
				compare(&c, p.Word, *x, *fb.(*numa.Fact[string]), word)
			}
		}
	}
	if !a.AutoCoresPerNUMANode.Or(false) || !b.AutoCoresPerNUMANode.Or(false) {
		compare(&c, "coresPerNUMANode", a.CoresPerNUMANode, b.CoresPerNUMANode, word)
	}
	c.settings(a.Settings, b.Settings)
	d.OneSided += len(c.oneSided)
	return c.out, c.oneSided
}

// coresPerSocket compares the cores per socket: "assigned at power on" is auto.
func (c *collector) coresPerSocket(a, b *numa.VM) {
	autoA, autoB := a.AutoCoresPerSocket.Or(false), b.AutoCoresPerSocket.Or(false)
	text := func(v *numa.VM, auto bool) string {
		if auto {
			return "auto"
		}
		return word(v.CoresPerSocket.Value)
	}
	switch {
	case autoA && autoB:
	case autoA != autoB && a.CoresPerSocket.Known() && b.CoresPerSocket.Known():
		c.add("coresPerSocket", text(a, autoA), text(b, autoB))
	default:
		compare(c, "coresPerSocket", a.CoresPerSocket, b.CoresPerSocket, word)
	}
}

// someOr normalises an empty affinity: nil and empty are equal.
func someOr(f numa.Fact[[]int]) numa.Fact[[]int] {
	if len(f.Value) == 0 {
		f.Value = nil
	}
	return f
}

// stored are the settings that every power-on may write (rule book B-8): a change alone is not
// drift, and the layout shows its effect.
var stored = []string{"numa.autosize.vcpu.maxpervirtualnode", "numa.autosize.cookie"}

// settings compares advanced settings, ignoring the case of their keys; an empty value is a
// removed key. Settings that the user of a what-if gave count even if the rest of the list is
// unknown.
func (c *collector) settings(a, b numa.Fact[numa.Settings]) {
	if a.Known() != b.Known() {
		c.oneSided = append(c.oneSided, "settings")
		return
	}
	values := [2]map[string]string{{}, {}}
	spelt := map[string]string{}
	var keys []string
	for side, f := range []numa.Settings{a.Value, b.Value} {
		for _, s := range f {
			key := strings.ToLower(s.Key)
			if s.Value == "" || slices.Contains(stored, key) {
				continue
			}
			if spelt[key] == "" {
				spelt[key] = s.Key
				keys = append(keys, key)
			}
			spelt[key] = min(spelt[key], s.Key)
			values[side][key] = s.Value
		}
	}
	slices.Sort(keys)
	text := func(v string) string {
		return cmp.Or(v, "unset")
	}
	for _, key := range keys {
		c.add(spelt[key], text(values[0][key]), text(values[1][key]))
	}
}

// hostSettings returns the settings of a host that differ.
func (d *Drift) hostSettings(a, b *numa.Host) []Setting {
	var c collector
	if x, y := d.A.Fleet.ClusterName(a.Cluster), d.B.Fleet.ClusterName(b.Cluster); a.Cluster != b.Cluster {
		c.add("cluster", x, y)
	}
	compare(&c, "release", a.Release, b.Release, word)
	if a.Release.Value == b.Release.Value { // otherwise its build differs anyway
		compare(&c, "build", a.Build, b.Build, word)
	}
	compare(&c, "packages", a.Packages, b.Packages, word)
	compare(&c, "ht", a.HyperThreading, b.HyperThreading, onOff)
	if a.Nodes.Known() != b.Nodes.Known() {
		c.oneSided = append(c.oneSided, "nodes")
	} else {
		c.add("nodes", nodesText(a.Nodes.Value, b.Nodes.Value), nodesText(b.Nodes.Value, a.Nodes.Value))
	}
	if !near(a.Memory.Value, b.Memory.Value) {
		compare(&c, "memory", a.Memory, b.Memory, word)
	}
	compare(&c, "cpu", a.CPUModel, b.CPUModel, word)
	compare(&c, "power", a.PowerPolicy, b.PowerPolicy, word)
	compare(&c, "evc", a.EVC, b.EVC, word)
	compare(&c, "connection", a.Connection, b.Connection, word)
	compare(&c, "maintenance", a.Maintenance, b.Maintenance, onOff)
	c.settings(a.Options, b.Options)
	d.OneSided += len(c.oneSided)
	return c.out
}

// near reports whether two sizes of memory differ by no more than the memory that the kernel
// reserves (rule book A-5).
func near(a, b numa.Bytes) bool {
	low, high := min(a, b), max(a, b)
	return low >= high-high/vnuma.UnevenShare
}

// nodesText returns the nodes of a host as text: "2 × 18 cores 512 GB". Memory is left out if
// the other side has nodes of nearly the same memory.
func nodesText(nodes, other []numa.Node) string {
	memory := len(nodes) != len(other)
	for i := range nodes {
		memory = memory || !near(nodes[i].Memory.Value, other[i].Memory.Value)
	}
	var parts []string
	for i := 0; i < len(nodes); {
		n := &nodes[i]
		j := i
		for j < len(nodes) && nodes[j].Cores == n.Cores && nodes[j].Threads == n.Threads && (!memory || nodes[j].Memory.Value == n.Memory.Value) {
			j++
		}
		text := fmt.Sprintf("%d × %d cores", j-i, n.Cores)
		if memory && n.Memory.Known() {
			text += " " + n.Memory.Value.String()
		}
		parts = append(parts, text)
		i = j
	}
	return strings.Join(parts, " + ")
}
