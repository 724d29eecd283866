package move

import (
	"fmt"
	"slices"

	"homenode/esxi/product"
	"homenode/esxi/vnuma"
	"homenode/internal/words"
	"homenode/numa"
	"homenode/rules/rule"
)

// A guest is what a VM's guest sees on vSphere.
type guest struct {
	layout    *vnuma.Layout
	host      string
	basis     string
	node      []int // of each vCPU
	memory    []numa.Bytes
	perSocket int
	threads   int
	other     bool // nodes were seen otherwise than they are predicted
}

// Guest returns what the guest of a VM has on vSphere, whatever a platform can show it, and where that is from: as it was seen last,
// else as it is predicted on its host. s is nil when that is unknown; why says what is missing.
func Guest(v *rule.VM) (s *Shape, basis, why string) {
	g, why := guestOf(v)
	if why != "" {
		return nil, "", why
	}
	return g.shape(numa.Bytes(v.Guest.Memory)), g.basis, ""
}

// guestOf returns what the guest sees: as it was seen last, else as it is predicted on its host. why says what is missing.
func guestOf(v *rule.VM) (g *guest, why string) {
	on := &v.On[0]
	l := &on.Layout
	host := on.Kind.Hosts[0].Name
	if v.Host != nil && on.Kind == v.Home {
		host = v.Host.Name
	}
	switch {
	case l.Refused.Any():
		return nil, "vSphere does not power it on, so that its guest has no topology: homenode explain says why"
	case v.Guest.Memory <= 0:
		return nil, "its memory is unknown"
	}
	g = &guest{layout: l, host: host, basis: "predicted for " + host, perSocket: l.CoresPerSocket, threads: vnuma.VirtualThreads(v.VM).Value}
	for i := range l.VPDs.Sum() {
		g.node = append(g.node, l.VPDs.Of(i))
	}
	for i := range l.VPDs.Len() {
		g.memory = append(g.memory, l.Slice(i))
	}
	for _, s := range v.LastSeen(func(numa.Observer) bool { return true }) {
		o := s.Observation
		switch {
		case len(o.VPDs.Value) == len(g.node):
			g.see(o)
			return g, ""
		case o.VPDCount.Known() && o.VPDCount.Value != l.VPDs.Len():
			return nil, fmt.Sprintf("%s saw %s, %d are predicted, and it does not say which vCPUs are in each (%s): give lscpu of the guest, or vmware.log, with --evidence",
				o.By, words.Plural(o.VPDCount.Value, "node"), l.VPDs.Len(), o.At)
		}
	}
	return g, ""
}

// see takes the nodes and sockets that an observer saw. What runs counts, whatever was predicted.
func (g *guest) see(o *numa.Observation) {
	g.basis = fmt.Sprintf("seen by %s (%s)", o.By, o.At)
	number := map[int]int{}
	node := make([]int, len(o.VPDs.Value))
	for i, n := range o.VPDs.Value {
		if _, ok := number[n]; !ok {
			number[n] = len(number)
		}
		node[i] = number[n]
	}
	if !slices.Equal(node, g.node) {
		g.node, g.other = node, true
		g.memory = nil // divided by vCPUs, or as it was seen
		if !o.By.InGuest() && len(o.Slices.Value) == len(number) {
			g.memory = o.Slices.Value
		}
	}
	if per := evenBlocks(o.Sockets.Value); per > 0 && len(o.Sockets.Value) == len(node) {
		g.perSocket = per
	}
}

// evenBlocks returns the size of the blocks when groups are consecutive and of one size; 0 when they are not.
func evenBlocks(groups []int) int {
	per := 0
	for i := range groups {
		if i == len(groups)-1 || groups[i+1] != groups[i] {
			if per == 0 {
				per = i + 1
			}
			if (i+1)%per != 0 {
				return 0
			}
		} else if per > 0 && (i+1)%per == 0 {
			return 0
		}
	}
	return per
}

// sized returns the shape with its vCPUs and memory, and the cell of each vCPU. why says that it does not fit.
func sized(v *rule.VM, g *guest, o Options) (s *Shape, cells []int, why string) {
	s = &Shape{VCPUs: len(g.node), Memory: numa.Bytes(v.Guest.Memory)}
	n := len(g.node)
	switch cells = g.node; o.Shape {
	case Flat:
		return s, make([]int, n), ""
	case Fit:
		if o.Host == nil {
			return nil, nil, "no hosts of the target are given that it can be sized for"
		}
		most, nodes, memory := MostOfNode(v), len(o.Host.Nodes), s.Memory
		if o.At != nil && !v.Guest.Needs.LargePages { // the plan counts it beside ordinary pages
			memory += numa.OwnOfQEMU(memory, n)
		}
		if k := numa.EqualCells(n, memory, most, o.Host.Nodes); k > 0 {
			return s, largestFirst(n, k), ""
		}
		if most > 0 && (n+nodes-1)/nodes > most {
			return nil, nil, fmt.Sprintf("its software takes at most %d vCPUs of a node, and %s are more than the %s of %s have then", most, words.Plural(n, "vCPU"), words.Plural(nodes, "node"), o.Host.Name)
		}
		return nil, nil, fmt.Sprintf("%s and %s are more than equal cells hold on %s: %s", words.Plural(n, "vCPU"), s.Memory, o.Host.Name, o.Host)
	}
	if o.Shape != Same {
		cells = g.clients()
	}
	if o.Host != nil && o.At == nil { // else the plan says so, of each kind of host
		if why := tooLarge(g, cells, s.Memory, o.Host); why != "" {
			return nil, nil, why + ": --shape fit sizes it afresh"
		}
	}
	return s, cells, ""
}

// MostOfNode returns how many vCPUs of a node the software of a guest takes, as far as is known what runs there (N033); 0 for any number.
func MostOfNode(v *rule.VM) int {
	if n := int(v.Guest.Usable.PerNode); n > 0 || !v.MayRunSQL() {
		return n
	}
	return product.GroupSize
}

// clients returns the node of each vCPU as vSphere carries it where it shows the guest fewer, as with CPU hot add; else as the guest sees it.
func (g *guest) clients() []int {
	l := g.layout
	if g.other || l.PPDs.Len() <= l.VPDs.Len() {
		return g.node
	}
	out := make([]int, len(g.node))
	for i := range out {
		out[i] = l.PPDs.Of(i)
	}
	return out
}

// largestFirst divides vCPUs into cells, the larger ones first: 5 + 4.
func largestFirst(n, k int) (out []int) {
	for c := range k {
		size := n / k
		if c < n%k {
			size++
		}
		for range size {
			out = append(out, c)
		}
	}
	return out
}

// tooLarge says why a node of the guest fits no node of the target, or that it has too many; "".
func tooLarge(g *guest, cells []int, memory numa.Bytes, h *Host) string {
	sizes := sizesOf(cells)
	if len(sizes) > len(h.Nodes) {
		return fmt.Sprintf("its %d nodes are more than the %s of %s", len(sizes), words.Plural(len(h.Nodes), "node"), h.Name)
	}
	has := h.most()
	if most := slices.Max(sizes); most > has.Cores {
		return fmt.Sprintf("a node of %d vCPUs is larger than one of %s, which has %d cores", most, h.Name, has.Cores)
	}
	slices := memoryOf(g, memory, sizes)
	for i, b := range slices {
		if b > has.Memory {
			return fmt.Sprintf("the %s of its node %d are more than the %s of one of %s", b, i, has.Memory, h.Name)
		}
	}
	return ""
}

// memoryOf returns the memory of each node: as predicted or seen, else by vCPUs.
func memoryOf(g *guest, memory numa.Bytes, sizes []int) []numa.Bytes {
	if len(g.memory) == len(sizes) {
		return g.memory
	}
	return divide(memory, numa.MiB, sizes)
}
