// Package topo decides what the drawing of a host or VM shows: nodes, clients,
// guest nodes and their numbers. Text draws it for a terminal, Picture for a page.
package topo

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"homenode/esxi/memory"
	"homenode/internal/texttab"
	"homenode/internal/words"
	"homenode/numa"
	"homenode/output/draw/picture"
	"homenode/rules"
	"homenode/rules/finding"
	"homenode/rules/rule"
)

// A Drawing is one host, or one VM on a host, ready to be drawn. Its labels hold
// no control characters; they are not escaped for any format.
type Drawing struct {
	ID     string   `json:"id"`                   // of the drawing; the IDs of its shapes begin with it
	Title  string   `json:"title"`                // host, or "VM on host"
	Facts  []string `json:"facts"`                // beside the title: processors, release
	Guests []Guest  `json:"guestNodes,omitempty"` // the guest's nodes; nil in the drawing of a host
	Nodes  []Node   `json:"nodes"`
	Loose  []Client `json:"withoutHome,omitempty"` // not NUMA-managed: without home node
	// LooseMore are those without home node that are drawn together.
	LooseMore Rest `json:"withoutHomeMore,omitzero"`
	// Caption says what the drawing rests on, one sentence a line.
	Caption []string `json:"caption"`
	// Stated: the layouts are those that definitions state (KVM), not predicted ones.
	Stated bool `json:"stated,omitempty"`
	// Away is the share of a wide VM's memory accesses that go to another node although its guest could keep them local, did it see the
	// nodes; 0 for none. The picture shows it as arrows between the nodes.
	Away float64 `json:"-"`
	// Changed: what its guest sees is not what it sees today.
	Changed bool `json:"-"`
	// Prefix begins all ids of its picture, so that a page can have the same VM on the same host twice: today and changed.
	Prefix string `json:"-"`
}

// ofHost returns the drawing of a host without its nodes; false where these are unknown, which it says then.
func ofHost(h *numa.Host, facts ...string) (d *Drawing, known bool) {
	d = &Drawing{ID: "host-" + picture.ID(h.ID), Title: texttab.Clean(h.Name), Facts: append(hostFacts(h), facts...)}
	if !h.Nodes.Known() {
		d.Caption = []string{"The NUMA nodes of this host are unknown: there is nothing to draw."}
	}
	return d, h.Nodes.Known()
}

// ofVM returns the drawing of a VM on a host without its nodes.
func ofVM(v *numa.VM, h *numa.Host, facts ...string) *Drawing {
	return &Drawing{ID: "vm-" + picture.ID(v.ID) + "__on-" + picture.ID(h.ID), Title: texttab.Clean(v.Name) + " on " + texttab.Clean(h.Name), Facts: facts}
}

// urgent are the VMs with a finding of high severity, by ID.
func urgent(r *rules.Result) map[string]bool {
	out := map[string]bool{}
	for i := range r.Findings {
		if f := &r.Findings[i]; f.Severity == finding.High {
			out[f.VMID] = true
		}
	}
	return out
}

// client returns the shape of one of the clients of a VM, loose that of a VM without home node.
func (d *Drawing) client(id, name string, index, of int) Client {
	out := Client{ID: fmt.Sprintf("%s__vm-%s__client-%d", d.ID, picture.ID(id), index), VM: texttab.Clean(name), Label: texttab.Clean(name), Index: index, Wide: of > 1}
	if out.Wide {
		out.Label += fmt.Sprintf(".%d", index)
	}
	return out
}
func (d *Drawing) loose(v *numa.VM) Client {
	return Client{ID: d.ID + "__vm-" + picture.ID(v.ID) + "__loose", VM: texttab.Clean(v.Name), Label: texttab.Clean(v.Name), MemoryKnown: v.Memory.Known()}
}

// any reports whether a client that is drawn on a node is so.
func (d *Drawing) any(is func(*Client) bool) bool {
	return slices.ContainsFunc(d.Nodes, func(n Node) bool { return slices.ContainsFunc(n.Clients, func(c Client) bool { return is(&c) }) })
}

// LooseTitle says what VMs without home node are.
func (d *Drawing) LooseTitle() string {
	if d.Stated {
		return "without home node: not pinned to one node, Linux places them"
	}
	return "without home node: not NUMA-managed, memory from anywhere"
}

// A Guest is a NUMA node that the guest sees (a VPD), drawn as a frame above the
// nodes that carry it.
type Guest struct {
	ID          string     `json:"id"`
	Name        string     `json:"name"`      // "guest node 0", or what the guest sees instead
	First       int        `json:"firstVCPU"` // vCPU
	VCPUs       int        `json:"vcpus"`
	List        string     `json:"list,omitempty"` // of its vCPUs, where they do not follow each other: "0, 2, 4"
	Memory      numa.Bytes `json:"bytes,omitempty"`
	MemoryKnown bool       `json:"-"`
	On          []int      `json:"on"`      // indexes in Drawing.Nodes that carry it, ascending; nil when no node does
	Clients     int        `json:"clients"` // that carry it; 0 for a VM that is not managed for NUMA
	stated      bool       // of KVM, which has no clients
}

// Carried says what carries the guest node, in words.
func (g *Guest) Carried() string {
	switch {
	case !g.stated && g.Clients == 0:
		return "carried by no client"
	case !g.stated:
		return "carried by " + words.Plural(g.Clients, "client")
	case len(g.On) == 0:
		return "not pinned to one node"
	}
	return "on " + words.Plural(len(g.On), "node")
}

// Heading returns the guest node in words: name, vCPUs, memory.
func (g *Guest) Heading() []string {
	h := []string{g.Name, vcpuText(g.First, g.VCPUs, g.List)}
	if g.MemoryKnown {
		h = append(h, g.Memory.String())
	}
	return h
}

// Numbers returns all there is to say about the guest node in one line.
func (g *Guest) Numbers() string {
	return strings.Join(g.Heading(), ", ") + ", " + g.Carried()
}

// A Node is a NUMA node with what is placed on it.
type Node struct {
	ID      string                `json:"id"`
	Number  int                   `json:"node"`
	Cores   int                   `json:"cores"`
	Threads int                   `json:"threads"`
	Memory  numa.Fact[numa.Bytes] `json:"memory,omitzero"`
	Clients []Client              `json:"clients"`       // drawn one by one, largest first
	More    Rest                  `json:"more,omitzero"` // drawn together
	VCPUs   int                   `json:"vcpus"`         // of all clients
	Used    numa.Bytes            `json:"usedBytes"`
	Foreign numa.Bytes            `json:"foreignBytes"`         // of Used: memory of VMs that are not at home here
	Guests  []string              `json:"foreignVMs,omitempty"` // the VMs of these clients
}

// Rest is what a drawing does not show one by one.
type Rest struct {
	ID      string     `json:"id"`
	Clients int        `json:"clients"`
	VCPUs   int        `json:"vcpus"`
	Memory  numa.Bytes `json:"bytes"`
	Local   numa.Bytes `json:"localBytes"`
}

// Label returns "and 12 more".
func (r *Rest) Label() string { return fmt.Sprintf("and %d more", r.Clients) }

// Numbers returns what is summed up in one line.
func (r *Rest) Numbers() string {
	return fmt.Sprintf("%s: %s, %s", r.Label(), words.Plural(r.VCPUs, "vCPU"), r.Memory)
}

// Heading returns the node in words: number, cores, threads, memory.
func (n *Node) Heading() []string {
	h := []string{fmt.Sprintf("node %d", n.Number), words.Plural(n.Cores, "core"), words.Plural(n.Threads, "thread")}
	if n.Memory.Known() {
		h = append(h, n.Memory.Value.String())
	}
	return h
}

// Free returns the memory that no client uses; false when the node's is unknown.
func (n *Node) Free() (free numa.Bytes, ok bool) {
	return n.Memory.Value - n.Used, n.Memory.Known()
}

// Load returns the vCPUs per core; false for a node without cores.
func (n *Node) Load() (load float64, ok bool) {
	if n.Cores == 0 {
		return 0, false
	}
	return float64(n.VCPUs) / float64(n.Cores), true
}

// feet returns the totals of a node.
func (n *Node) feet() []string {
	memory := "memory unknown"
	if free, ok := n.Free(); ok {
		memory = "free memory " + free.String()
	}
	if load, ok := n.Load(); ok {
		return []string{memory, fmt.Sprintf("vCPU per core %.1f", load)}
	}
	return []string{memory}
}

// guests names the VMs with clients on other nodes that have memory here.
func (n *Node) guests() string {
	const most = 2
	if len(n.Guests) == most+1 {
		return strings.Join(n.Guests, ", ")
	}
	return words.First(most, n.Guests)
}

// elsewhere says what the foreign memory is foreign to: a VM with more clients than nodes has
// others at home here.
func (n *Node) elsewhere() string {
	if slices.ContainsFunc(n.Clients, func(c Client) bool { return slices.Contains(n.Guests, c.VM) }) {
		return "home elsewhere" // of its clients
	}
	return "not at home here"
}

// Numbers returns all there is to say about the node in one line.
func (n *Node) Numbers() string {
	s := fmt.Sprintf("%s: %s on %s", strings.Join(n.Heading(), ", "), words.Plural(n.VCPUs, "vCPU"), words.Plural(len(n.Clients)+n.More.Clients, "client"))
	if load, ok := n.Load(); ok {
		s += fmt.Sprintf(", %.1f vCPU per core", load)
	}
	if free, ok := n.Free(); ok {
		s += fmt.Sprintf(", %s free", free)
	}
	if n.Foreign > 0 {
		s += fmt.Sprintf(", holds %s of %s, %s", n.Foreign, n.guests(), n.elsewhere())
	}
	return s
}

// A Client is a NUMA client (PPD) of a running VM.
type Client struct {
	ID          string     `json:"id"`
	VM          string     `json:"vm"`        // name
	Label       string     `json:"-"`         // sql01.0 for a client of a wide VM, else the name
	Index       int        `json:"client"`    // of the client in its VM
	First       int        `json:"firstVCPU"` // vCPU
	VCPUs       int        `json:"vcpus"`
	List        string     `json:"list,omitempty"`            // of its vCPUs, where they do not follow each other
	Memory      numa.Bytes `json:"bytes"`                     // its slice of the VM's memory
	Remote      numa.Bytes `json:"remoteBytes"`               // of Memory: on other nodes
	Nowhere     numa.Bytes `json:"bytesBeyondHost,omitempty"` // of Memory: does not fit the host
	MemoryKnown bool       `json:"memoryKnown"`
	Wide        bool       `json:"wide"`                  // its VM has several clients
	Interleaved bool       `json:"interleaved"`           // its VM's memory is spread over the nodes of all its clients
	High        bool       `json:"findingHigh,omitempty"` // a finding of high severity speaks about its VM
}

// Numbered reports whether the label is the name of the VM and the number of the client.
func (c *Client) Numbered() bool { return c.Label == fmt.Sprintf("%s.%d", c.VM, c.Index) }

// Local returns the memory on the client's own node.
func (c *Client) Local() numa.Bytes { return c.Memory - c.Remote - c.Nowhere }

// Numbers returns all there is to say about the client in one line.
func (c *Client) Numbers() string {
	var s strings.Builder
	s.WriteString(c.VM)
	if c.Wide {
		fmt.Fprintf(&s, " client %d", c.Index)
	}
	fmt.Fprintf(&s, ": %s", words.Plural(c.VCPUs, "vCPU"))
	if c.Wide {
		fmt.Fprintf(&s, " (%s)", vcpuText(c.First, c.VCPUs, c.List))
	}
	switch {
	case !c.MemoryKnown:
		s.WriteString(", memory unknown")
	case c.Remote > 0:
		fmt.Fprintf(&s, ", %s, %s of it remote", c.Memory, c.Remote)
	default:
		fmt.Fprintf(&s, ", %s", c.Memory)
	}
	if c.Nowhere > 0 {
		fmt.Fprintf(&s, ", %s do not fit the host", c.Nowhere)
	}
	if c.Interleaved {
		s.WriteString(", interleaved")
	}
	if c.High {
		s.WriteString("; finding: high")
	}
	return s.String()
}

func vcpuText(first, n int, list string) string {
	switch {
	case n == 0:
		return "no vCPU"
	case list != "":
		return "vCPUs " + list
	case n == 1:
		return fmt.Sprintf("vCPU %d", first)
	}
	return fmt.Sprintf("vCPU %d–%d", first, first+n-1)
}

// mostClients is how many clients of a node are drawn one by one: as many as stay
// legible; the smallest are summed up.
const mostClients = 12

// fewest sorts clients, largest first, and adds up those that are too many.
func fewest(clients []Client, id string) (shown []Client, rest Rest) {
	slices.SortStableFunc(clients, func(a, b Client) int {
		return cmp.Or(cmp.Compare(b.VCPUs, a.VCPUs), cmp.Compare(a.Label, b.Label), cmp.Compare(a.ID, b.ID))
	})
	if len(clients) <= mostClients+1 { // "and 1 more" would save no line
		return clients, rest
	}
	rest.ID = id + "__more"
	for i := range clients[mostClients:] {
		c := &clients[mostClients+i]
		rest.Clients++
		rest.VCPUs += c.VCPUs
		rest.Memory += c.Memory
		rest.Local += c.Local()
	}
	return clients[:mostClients], rest
}

// beyond says how much memory does not fit the host; nothing when all fits. Whose that
// is the hypervisor decides when it reclaims.
func beyond(h *numa.Host, placed []rule.HomeNode) []string {
	var all, free numa.Bytes
	known := true
	for i := range placed {
		left, ok := placed[i].Free()
		known, free = known && ok, free+left
		for _, c := range placed[i].Clients {
			all += c.Nowhere
		}
	}
	minFree := memory.Of(h, false).MinFree
	switch {
	case all > 0 && free > minFree: // other nodes have it
		return []string{fmt.Sprintf("%s are to be had from no node that numa.nodeAffinity allows, and are ballooned or swapped once all memory is touched (C-12).", all)}
	case known && free < minFree: // the host takes memory back until minFree is free (C-23)
		all += minFree - free
	}
	if all == 0 {
		return nil
	}
	return []string{rule.Beyond(all, h.TierMemory.Value) + " once all memory is touched."}
}

// nodesOf turns placed nodes into nodes of the drawing; name returns the name of a VM,
// client builds the shape of a client.
func (d *Drawing) nodesOf(placed []rule.HomeNode, name func(request int) string, client func(*rule.HomeClient) Client) {
	for i := range placed {
		p := &placed[i]
		n := Node{
			ID: fmt.Sprintf("%s__node-%d", d.ID, p.ID), Number: p.ID, Cores: p.Cores, Threads: p.Threads,
			Memory: p.Memory, VCPUs: p.VCPUs, Used: p.Used, Foreign: p.Used,
		}
		for j := range p.Clients {
			c := client(&p.Clients[j])
			n.Foreign -= p.Clients[j].Local
			n.Clients = append(n.Clients, c)
		}
		for _, f := range p.Foreign {
			n.Guests = append(n.Guests, name(f.Request))
		}
		n.Clients, n.More = fewest(n.Clients, n.ID)
		d.Nodes = append(d.Nodes, n)
	}
}
