// Package topo determines the content of the drawing of a host or VM: nodes, clients, guest nodes and their numbers. Text draws it for
// a terminal, Picture for a page.
package topo

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/esxi/memory"
	"example.org/homenode/internal/texttab"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/output/draw/picture"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

// A Drawing is one host, or one VM on a host, ready to be drawn. Its labels have no control characters, but are not escaped for any
// format.
type Drawing struct {
	ID     string   `json:"id"`                   // of the drawing; the IDs of its shapes begin with it
	Title  string   `json:"title"`                // host, or "VM on host"
	Facts  []string `json:"facts"`                // shown beside the title: processors, release
	Guests []Guest  `json:"guestNodes,omitempty"` // the guest's nodes; nil in the drawing of a host
	Nodes  []Node   `json:"nodes"`
	Loose  []Client `json:"withoutHome,omitempty"` // not NUMA-managed: without home node
	// LooseMore are further clients without home node, drawn together.
	LooseMore Rest `json:"withoutHomeMore,omitzero"`
	// Caption states the basis of the drawing, one sentence per line.
	Caption []string `json:"caption"`
	// Stated means that the layouts come from definitions (KVM) instead of predictions.
	Stated bool `json:"stated,omitempty"`
	// Away is the share of a wide VM's memory accesses to other nodes that the guest could keep local if it saw the nodes; 0 for none.
	// The picture shows it as arrows between the nodes.
	Away float64 `json:"-"`
	// Changed means that the guest sees other nodes than today.
	Changed bool `json:"-"`
	// Prefix is the prefix of all IDs, so that a page can contain the same VM on the same host twice: today and changed.
	Prefix string `json:"-"`
}

// ofHost returns the drawing of a host without its nodes. known is false if the nodes are unknown; the caption then says so.
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

// urgent returns the VMs with a finding of high severity, by ID.
func urgent(r *rules.Result) map[string]bool {
	out := map[string]bool{}
	for i := range r.Findings {
		if f := &r.Findings[i]; f.Severity == finding.High {
			out[f.VMID] = true
		}
	}
	return out
}

// client returns the shape of one client of a VM.
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

// any reports whether is is true for a client that is drawn on a node.
func (d *Drawing) any(is func(*Client) bool) bool {
	return slices.ContainsFunc(d.Nodes, func(n Node) bool { return slices.ContainsFunc(n.Clients, func(c Client) bool { return is(&c) }) })
}

// LooseTitle explains VMs without home node.
func (d *Drawing) LooseTitle() string {
	if d.Stated {
		return "without home node: not pinned to one node, Linux places them"
	}
	return "without home node: not NUMA-managed, memory from anywhere"
}

// A Guest is a NUMA node of the guest (a VPD), drawn as a frame above its host nodes.
type Guest struct {
	ID          string     `json:"id"`
	Name        string     `json:"name"`      // "guest node 0", or a description of the alternative
	First       int        `json:"firstVCPU"` // vCPU
	VCPUs       int        `json:"vcpus"`
	List        string     `json:"list,omitempty"` // its vCPUs if they are not contiguous: "0, 2, 4"
	Memory      numa.Bytes `json:"bytes,omitempty"`
	MemoryKnown bool       `json:"-"`
	On          []int      `json:"on"`      // indexes in Drawing.Nodes of its host nodes, ascending; nil for none
	Clients     int        `json:"clients"` // number of its clients; 0 for a VM that is not managed for NUMA
	stated      bool       // KVM, which has no clients
}

// Carried describes the host nodes and clients of the guest node.
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

// Heading describes the guest node: name, vCPUs, memory.
func (g *Guest) Heading() []string {
	h := []string{g.Name, vcpuText(g.First, g.VCPUs, g.List)}
	if g.MemoryKnown {
		h = append(h, g.Memory.String())
	}
	return h
}

// Numbers describes the guest node completely, in one line.
func (g *Guest) Numbers() string {
	return strings.Join(g.Heading(), ", ") + ", " + g.Carried()
}

// A Node is a NUMA node with the clients placed on it.
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
	Foreign numa.Bytes            `json:"foreignBytes"`         // part of Used: memory of VMs with home nodes elsewhere
	Guests  []string              `json:"foreignVMs,omitempty"` // those VMs
	// Part: more VMs run on the host than are drawn, so its load and free memory are unknown.
	Part bool `json:"loadUnknown,omitempty"`
}

// A Rest is the sum of clients that are drawn together.
type Rest struct {
	ID      string     `json:"id"`
	Clients int        `json:"clients"`
	VCPUs   int        `json:"vcpus"`
	Memory  numa.Bytes `json:"bytes"`
	Local   numa.Bytes `json:"localBytes"`
}

// Label returns "and 12 more".
func (r *Rest) Label() string { return fmt.Sprintf("and %d more", r.Clients) }

// Numbers describes the sum in one line.
func (r *Rest) Numbers() string {
	return fmt.Sprintf("%s: %s, %s", r.Label(), words.Plural(r.VCPUs, "vCPU"), r.Memory)
}

// Heading describes the node: number, cores, threads if they are known, memory.
func (n *Node) Heading() []string {
	h := []string{fmt.Sprintf("node %d", n.Number), words.Plural(n.Cores, "core")}
	if n.Threads > 0 {
		h = append(h, words.Plural(n.Threads, "thread"))
	}
	if n.Memory.Known() {
		h = append(h, n.Memory.Value.String())
	}
	return h
}

// Free returns the memory that no client uses; ok is false if that is unknown.
func (n *Node) Free() (free numa.Bytes, ok bool) {
	return n.Memory.Value - n.Used, n.Memory.Known() && !n.Part
}

// Load returns the vCPUs per core; ok is false if that is unknown, or for a node without cores.
func (n *Node) Load() (load float64, ok bool) {
	if n.Cores == 0 || n.Part {
		return 0, false
	}
	return float64(n.VCPUs) / float64(n.Cores), true
}

// feet returns the totals of a node.
func (n *Node) feet() []string {
	if n.Part {
		return []string{"load and free memory unknown"}
	}
	memory := "memory unknown"
	if free, ok := n.Free(); ok {
		memory = "memory left " + free.String()
	}
	if load, ok := n.Load(); ok {
		return []string{memory, fmt.Sprintf("vCPU per core %.1f", load)}
	}
	return []string{memory}
}

// guests names the VMs with memory here and clients on other nodes.
func (n *Node) guests() string {
	const most = 2
	if len(n.Guests) == most+1 {
		return strings.Join(n.Guests, ", ")
	}
	return words.First(most, n.Guests)
}

// elsewhere describes the owners of foreign memory. A VM with more clients than nodes also has clients here.
func (n *Node) elsewhere() string {
	if slices.ContainsFunc(n.Clients, func(c Client) bool { return slices.Contains(n.Guests, c.VM) }) {
		return "home elsewhere" // some of its clients
	}
	return "not at home here"
}

// Numbers describes the node completely, in one line.
func (n *Node) Numbers() string {
	s := fmt.Sprintf("%s: %s on %s", strings.Join(n.Heading(), ", "), words.Plural(n.VCPUs, "vCPU"), words.Plural(len(n.Clients)+n.More.Clients, "client"))
	if load, ok := n.Load(); ok {
		s += fmt.Sprintf(", %.1f vCPU per core", load)
	}
	if free, ok := n.Free(); ok {
		s += fmt.Sprintf(", %s left", free)
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
	Label       string     `json:"-"`         // "sql01.0" for a client of a wide VM, otherwise the name
	Index       int        `json:"client"`    // of the client in its VM
	First       int        `json:"firstVCPU"` // vCPU
	VCPUs       int        `json:"vcpus"`
	List        string     `json:"list,omitempty"`            // its vCPUs if they are not contiguous
	Memory      numa.Bytes `json:"bytes"`                     // its share of the VM's memory
	Remote      numa.Bytes `json:"remoteBytes"`               // part of Memory that is on no home node of its VM
	Crossed     numa.Bytes `json:"crossedBytes,omitempty"`    // part of Memory on home nodes of other clients of its VM, or on nodes that join them
	Nowhere     numa.Bytes `json:"bytesBeyondHost,omitempty"` // part of Memory that does not fit the host
	MemoryKnown bool       `json:"memoryKnown"`
	Wide        bool       `json:"wide"`                  // its VM has several clients
	Interleaved bool       `json:"interleaved"`           // its VM's memory is interleaved over the nodes of all its clients
	High        bool       `json:"findingHigh,omitempty"` // its VM has a finding of high severity
}

// Numbered reports whether the label consists of the VM name and the client number.
func (c *Client) Numbered() bool { return c.Label == fmt.Sprintf("%s.%d", c.VM, c.Index) }

// Local returns the memory on the client's own node.
func (c *Client) Local() numa.Bytes { return c.Memory - c.Crossed - c.Remote - c.Nowhere }

// Numbers describes the client completely, in one line.
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
	if c.Crossed > 0 {
		fmt.Fprintf(&s, ", %s of it on nodes of other clients", c.Crossed)
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

// mostClients is the maximum number of clients of a node that are drawn individually, so that they stay legible. The smallest are
// summed up.
const mostClients = 12

// fewest sorts clients, largest first, and sums up those beyond mostClients.
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

// beyond returns a sentence about memory that does not fit the host; nil if all fits. Reclamation by the hypervisor determines which
// VMs lose it.
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
	case all > 0 && free > minFree: // other nodes have free memory
		return []string{fmt.Sprintf("%s do not fit the nodes that numa.nodeAffinity allows, and are ballooned or swapped once all memory is touched (C-12).", all)}
	case known && free < minFree: // the host reclaims memory until minFree is free (C-23)
		all += minFree - free
	}
	if all == 0 {
		return nil
	}
	return []string{rule.Beyond(all, h.TierMemory.Value) + " once all memory is touched."}
}

// nodesOf converts placed nodes to nodes of the drawing. name returns the name of a VM, client returns the shape of a client.
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
