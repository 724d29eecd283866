package move

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"homenode/internal/words"
	"homenode/numa"
	"homenode/numa/pattern"
	"homenode/rules"
	"homenode/rules/rule"
)

// Options say how VMs are moved. The zero value gives each what its guest has, or the nodes that vSphere hides from it.
type Options struct {
	Shape string // Clients, Same, Fit or Flat; "" for Clients
	// Host is what the hosts of the target have; nil when it is unknown.
	Host *Host
	SMT  bool // every host of the target runs several threads on a core
	// At says where a VM goes, or else why no host takes it: it is refused then. nil where no hosts are named.
	At func(v *rule.VM) (at *Placement, why string)
}

// A Host is what every host of the target has.
type Host struct {
	Name  string       // as it was given: "2x16c/512GB"
	Nodes []numa.Space // those with cores
}

// HostOf returns what counts of a host; false when its nodes are unknown.
func HostOf(h *numa.Host) (Host, bool) {
	out := Host{Name: h.Name}
	for _, n := range h.Nodes.Value {
		if n.Cores > 0 {
			out.Nodes = append(out.Nodes, numa.Space{Cores: n.Cores, Memory: n.Memory.Value})
		}
	}
	return out, len(out.Nodes) > 0 && !slices.ContainsFunc(out.Nodes, func(n numa.Space) bool { return n.Memory == 0 })
}

// most returns the most cores and the most memory of a node.
func (h *Host) most() (m numa.Space) {
	for _, n := range h.Nodes {
		m = numa.Space{Cores: max(m.Cores, n.Cores), Memory: max(m.Memory, n.Memory)}
	}
	return m
}

// String returns what the nodes have: "2 nodes of 16 cores and 256 GB", "2 nodes of 16 cores and 256 GB, 16 cores and 64 GB".
func (h *Host) String() string {
	each := words.Texts(h.Nodes, func(n numa.Space) string { return fmt.Sprintf("%s and %s", words.Plural(n.Cores, "core"), n.Memory) })
	return words.Plural(len(each), "node") + " of " + strings.Join(slices.Compact(each), ", ")
}

// A Move is one VM on one platform.
type Move struct {
	VM       *rule.VM   `json:"-"`
	ID       string     `json:"id"`
	Title    string     `json:"vm"`   // its name in vSphere
	Name     string     `json:"name"` // at the target: safe as a name of a file, of a VM and of an object of Kubernetes
	SameName bool       `json:"-"`    // another VM that is moved has its name in vSphere
	Platform *Platform  `json:"-"`
	To       string     `json:"to"`
	Shape    *Shape     `json:"shape,omitempty"` // nil when it is refused
	At       *Placement `json:"placement,omitempty"`
	// Exclusive says that each vCPU has a CPU of its own.
	Exclusive bool `json:"exclusive,omitempty"`
	// Strict says that the VM does not start on a node without room, rather than taking memory elsewhere: its memory is bound there,
	// and allocated before the guest starts. Bound memory that is allocated later kills the VM when the node is full.
	Strict bool `json:"strict,omitempty"`
	// Floats says that a platform which chooses nodes is not asked for one: the guest's only node may not fit one of the host.
	Floats bool   `json:"floats,omitempty"`
	Basis  string `json:"basis"` // where the shape is from
	Items  []Item `json:"items"`
	// Refused says why nothing is written for the VM, and what would be; nil when something is.
	Refused []string `json:"refused,omitempty"`
	Faults  []Fault  `json:"faults,omitempty"` // of the shape; then it is refused
}

// A Kind says what becomes of a fact.
type Kind string

// The kinds.
const (
	Carried Kind = "carried"
	Changed Kind = "changed"
	Lost    Kind = "lost"
)

// An Item is one fact about the VM and what becomes of it.
type Item struct {
	Kind Kind   `json:"kind"`
	What string `json:"what"`
	On   string `json:"on"`             // on vSphere
	Then string `json:"then,omitempty"` // at the target; "" for nothing
	Why  string `json:"why,omitempty"`  // what decided it
	From string `json:"from,omitempty"` // where the fact of vSphere was read
	// Needs is what has to be there beside what is written: without it the VM does not start. "" for nothing.
	Needs string `json:"needs,omitempty"`
}

func (m *Move) add(kind Kind, what, on, then, why, from string) {
	m.Items = append(m.Items, Item{Kind: kind, What: what, On: on, Then: then, Why: why, From: from})
}

// need says what the last item needs beside what is written.
func (m *Move) need(text string, args ...any) {
	m.Items[len(m.Items)-1].Needs = fmt.Sprintf(text, args...)
}

// Needs returns what has to be there beside what is written, each once: without it the VM does not start.
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

// What any VM loses, such as was made with the defaults of vSphere.
const (
	balanceItem = "balance by the NUMA scheduler"
	homeItem    = "home node"
	sizingItem  = "sizing at power-on"
)

// Own returns the losses that the VM has by its own settings and devices: not every VM has them.
func (m *Move) Own() []Item {
	return slices.DeleteFunc(m.Of(Lost), func(i Item) bool { return slices.Contains([]string{balanceItem, homeItem, sizingItem}, i.What) })
}

// Fleet returns the moves of the VMs that are judged to each of the platforms, in the order of the fleet, and names that
// are unique, until the context ends.
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

// TableName is the name of the files about all VMs and their hosts: no VM has it.
const TableName = "moves"

// device matches names that Windows keeps for devices, whatever the ending.
var device = pattern.Of(`^(con|prn|aux|nul|com[0-9]|lpt[0-9])$`)

// safeName returns a name of lower-case letters, digits and hyphens that is not used yet: good for files, VMs and
// Kubernetes, which allows 63 characters.
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
	if base[0] <= '9' || device.MatchString(base) { // some want a letter first
		base = "vm-" + base
	}
	unique := base
	for n := 2; used[unique]; n++ {
		unique = fmt.Sprintf("%s-%d", base, n)
	}
	used[unique] = true
	return unique
}

// Make returns what becomes of a VM on a platform.
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

// A Need is what a VM takes of the host that it goes to.
type Need struct {
	Shape     *Shape
	Exclusive bool // each vCPU has a CPU of its own
	Threads   int  // then vCPUs that may have the threads of one core; those of a core of the guest
}

// NeedOf returns what a VM needs on a platform; nil when it cannot be made, whatever the host. o.At only says that hosts are named.
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

// draft makes the shape of a VM, which has a place or not; nil when it is refused.
func draft(v *rule.VM, p *Platform, o Options, at *Placement) (m *Move, s *Shape, now *guest) {
	m = &Move{VM: v, At: at, ID: v.ID, Title: v.Name, Name: safeName(v.Name, map[string]bool{}), Platform: p, To: p.Name}
	now, why := guestOf(v)
	if why != "" {
		m.Refused = []string{why}
		return m, nil, nil
	}
	m.Basis = now.basis
	m.Exclusive = v.LatencyHigh()
	s, cells, why := sized(v, now, o)
	if why != "" {
		m.Refused = []string{why}
		return m, nil, nil
	}
	m.pages(s, slices.Max(cells)+1, o.At != nil)
	m.cells(s, now, cells)
	m.topology(s, now, cells, o)
	m.compare(s, now, o)
	return m, s, now
}
