package move

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/numa/pattern"
	"example.org/homenode/rules"
	"example.org/homenode/rules/rule"
)

// Options control how VMs are moved. With the zero value each VM gets the topology of its guest, or the nodes that vSphere hides
// from it.
type Options struct {
	Shape string // Clients, Same, Fit or Flat; "" for Clients
	// Hosts are the kinds of hosts of the target; none if unknown. With Fit a VM is sized for one of them.
	Hosts []Host
	SMT   bool // every host of the target runs several threads on a core
	// At returns the placement of a VM, or the reason why no host accepts it; the VM is then refused. nil if no hosts are given.
	At func(v *rule.VM) (at *Placement, why string)
}

// A Host has the properties of a kind of host of the target.
type Host struct {
	Name  string       // as given by the user: "2x16c/512GB"
	Nodes []numa.Space // those with cores
	Count int          // hosts of this kind; 0 if unknown
}

// HostOf returns the relevant properties of h; false if its nodes are unknown.
func HostOf(h *numa.Host) (Host, bool) {
	out := Host{Name: h.Name}
	for _, n := range h.Nodes.Value {
		if n.Cores > 0 {
			out.Nodes = append(out.Nodes, numa.Space{Cores: n.Cores, Memory: n.Memory.Value})
		}
	}
	return out, len(out.Nodes) > 0 && !slices.ContainsFunc(out.Nodes, func(n numa.Space) bool { return n.Memory == 0 })
}

// most returns the largest number of cores and the largest memory of any node.
func (h *Host) most() (m numa.Space) {
	for _, n := range h.Nodes {
		m = numa.Space{Cores: max(m.Cores, n.Cores), Memory: max(m.Memory, n.Memory)}
	}
	return m
}

// String describes the nodes: "2 nodes of 16 cores and 256 GB", "2 nodes of 16 cores and 256 GB, 16 cores and 64 GB".
func (h *Host) String() string {
	each := words.Texts(h.Nodes, func(n numa.Space) string { return fmt.Sprintf("%s and %s", words.Plural(n.Cores, "core"), n.Memory) })
	return words.Plural(len(each), "node") + " of " + strings.Join(slices.Compact(each), ", ")
}

// A Move is one VM on one platform.
type Move struct {
	VM       *rule.VM   `json:"-"`
	ID       string     `json:"id"`
	Title    string     `json:"vm"`   // its name in vSphere
	Name     string     `json:"name"` // at the target: valid as the name of a file, of a VM and of an object of Kubernetes
	SameName bool       `json:"-"`    // another moved VM has the same name in vSphere
	Platform *Platform  `json:"-"`
	To       string     `json:"to"`
	Shape    *Shape     `json:"shape,omitempty"` // nil if the VM is refused
	At       *Placement `json:"placement,omitempty"`
	// Exclusive: each vCPU has a CPU of its own.
	Exclusive bool `json:"exclusive,omitempty"`
	// Strict: the VM does not start on a node without enough free memory, instead of allocating elsewhere. Its memory is bound
	// there, and allocated before the guest starts. If bound memory is allocated later, a full node kills the VM.
	Strict bool `json:"strict,omitempty"`
	// Floats: no node is requested from a platform that chooses nodes, because the guest's only node may not fit one of the host.
	Floats bool   `json:"floats,omitempty"`
	Basis  string `json:"basis"` // source of the shape
	Items  []Item `json:"items"`
	// Refused contains the reasons why no definition is written for the VM, and a remedy; nil if it is written.
	Refused []string `json:"refused,omitempty"`
	Faults  []Fault  `json:"faults,omitempty"` // faults of the shape; if there are any, the VM is refused
}

// A Kind is the outcome of a fact.
type Kind string

// The kinds.
const (
	Carried Kind = "carried"
	Changed Kind = "changed"
	Lost    Kind = "lost"
)

// An Item is one fact about the VM and its outcome.
type Item struct {
	Kind Kind   `json:"kind"`
	What string `json:"what"`
	On   string `json:"on"`             // value on vSphere
	Then string `json:"then,omitempty"` // value at the target; "" for none
	Why  string `json:"why,omitempty"`  // the reason
	From string `json:"from,omitempty"` // source of the fact in vSphere
	// Needs is a requirement in addition to the written definition: without it the VM does not start. "" for none.
	Needs string `json:"needs,omitempty"`
}

func (m *Move) add(kind Kind, what, on, then, why, from string) {
	m.Items = append(m.Items, Item{Kind: kind, What: what, On: on, Then: then, Why: why, From: from})
}

// need sets the requirement of the last item.
func (m *Move) need(text string, args ...any) {
	m.Items[len(m.Items)-1].Needs = fmt.Sprintf(text, args...)
}

// Needs returns the additional requirements without duplicates. Without them the VM does not start.
func (m *Move) Needs() (out []string) {
	for _, i := range m.Items {
		if i.Needs != "" && !slices.Contains(out, i.Needs) {
			out = append(out, i.Needs)
		}
	}
	return out
}

// Of returns the items of a kind.
func (m *Move) Of(kind Kind) []Item {
	return slices.DeleteFunc(slices.Clone(m.Items), func(i Item) bool { return i.Kind != kind })
}

// Losses of every VM, even if created with the defaults of vSphere.
const (
	balanceItem = "balance by the NUMA scheduler"
	homeItem    = "home node"
	sizingItem  = "sizing at power-on"
)

// Own returns the losses caused by the VM's own settings and devices, as opposed to those of every VM.
func (m *Move) Own() []Item {
	return slices.DeleteFunc(m.Of(Lost), func(i Item) bool { return slices.Contains([]string{balanceItem, homeItem, sizingItem}, i.What) })
}

// Fleet returns the moves of the assessed VMs to each of the platforms, in the order of the fleet and with unique names. It stops
// when the context ends.
func Fleet(ctx context.Context, r *rules.Result, to []*Platform, o Options) ([]*Move, error) {
	var out []*Move
	used, named := map[string]bool{TableName: true}, map[string]int{}
	for v := range VMs(r) {
		named[strings.ToLower(v.Name)]++
	}
	for v := range VMs(r) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		name := safeName(v.Name, used)
		for _, p := range to {
			m := Make(v, p, o)
			m.Name, m.SameName = name, named[strings.ToLower(v.Name)] > 1
			if m.SameName && m.Shape != nil {
				m.add(Changed, "name", v.Name, name, "several VMs have this name", "")
			}
			out = append(out, m)
		}
	}
	return out, nil
}

// VMs yields the VMs that can be moved, in the order of the fleet, with their clusters.
func VMs(r *rules.Result) iter.Seq2[*rule.VM, *rule.Cluster] {
	type judged struct {
		vm *rule.VM
		in *rule.Cluster
	}
	by := map[string]judged{}
	for _, c := range r.Clusters {
		for _, v := range c.VMs {
			by[v.ID] = judged{v, c}
		}
	}
	return func(yield func(*rule.VM, *rule.Cluster) bool) {
		for i := range r.Fleet.VMs {
			if one := by[r.Fleet.VMs[i].ID]; one.vm != nil && !yield(one.vm, one.in) {
				return
			}
		}
	}
}

// TableName is the name of the files about all VMs and their hosts: no VM gets it.
const TableName = "moves"

// device matches names that Windows reserves for devices, with any extension.
var device = pattern.Of(`^(con|prn|aux|nul|com[0-9]|lpt[0-9])$`)

// safeName returns an unused name of lower-case letters, digits and hyphens. It is valid for files, VMs and Kubernetes, which allows
// 63 characters.
func safeName(name string, used map[string]bool) string {
	const long = 50
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case b.Len() >= long:
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	base := cmp.Or(strings.Trim(b.String(), "-"), "vm")
	if base[0] <= '9' || device.MatchString(base) { // some require a letter first
		base = "vm-" + base
	}
	unique := base
	for n := 2; used[unique]; n++ {
		unique = fmt.Sprintf("%s-%d", base, n)
	}
	used[unique] = true
	return unique
}

// Make returns the move of a VM to a platform.
func Make(v *rule.VM, p *Platform, o Options) *Move {
	var at *Placement
	var why string
	if o.At != nil {
		at, why = o.At(v)
	}
	m, s, now := draft(v, p, o, at)
	if s == nil {
		return m
	}
	if at == nil && why != "" {
		m.Refused = []string{why}
		return m
	}
	m.place(s, o)
	m.lose(s, now, o)
	m.judge(s)
	return m
}

// A Need lists the resources that a VM needs on its host.
type Need struct {
	Shape     *Shape
	Exclusive bool // each vCPU has a CPU of its own
	Threads   int  // for Exclusive: vCPUs that may run on the threads of one core, which are those of a core of the guest
}

// NeedOf returns the needs of a VM on a platform; nil if it cannot be created on any host. o.At only indicates that hosts are given.
func NeedOf(v *rule.VM, p *Platform, o Options) *Need {
	m, s, _ := draft(v, p, o, nil)
	if s == nil {
		return nil
	}
	if m.judge(s); m.Refused != nil {
		return nil
	}
	return &Need{s, m.Exclusive && p.Can[Exclusive].Can, s.Threads}
}

// draft makes the shape of a VM, with or without a placement; nil if it is refused.
func draft(v *rule.VM, p *Platform, o Options, at *Placement) (m *Move, s *Shape, now *guest) {
	m = &Move{VM: v, At: at, ID: v.ID, Title: v.Name, Name: safeName(v.Name, map[string]bool{}), Platform: p, To: p.Name}
	now, why := guestOf(v)
	if why != "" {
		m.Refused = []string{why}
		return m, nil, nil
	}
	m.Basis = now.basis
	m.Exclusive = v.LatencyHigh()
	s, cells, on, why := sized(v, now, o)
	if why != "" {
		m.Refused = []string{why}
		return m, nil, nil
	}
	m.pages(s, slices.Max(cells)+1, o.At != nil)
	m.cells(s, now, cells)
	m.topology(s, now, cells, on)
	m.compare(s, now, o.Shape, on)
	return m, s, now
}
