package move

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/esxi/product"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/rule"
)

// A guest is the topology that a VM's guest sees on vSphere.
type guest struct {
	layout    *vnuma.Layout
	host      string
	basis     string
	node      []int // of each vCPU
	memory    []numa.Bytes
	perSocket int
	threads   int
	other     bool // the observed nodes differ from the predicted ones
}

// Guest returns the topology of a VM's guest on vSphere, regardless of the target platform, and its basis: the last observation, or the
// prediction on its host. s is nil if the topology is unknown; why then names the missing fact.
func Guest(v *rule.VM) (s *Shape, basis, why string) {
	g, why := guestOf(v)
	if why != "" {
		return nil, "", why
	}
	return g.shape(numa.Bytes(v.Guest.Memory)), g.basis, ""
}

// guestOf returns the topology that the guest sees: the last observation, or the prediction on its host. why names a missing fact.
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

// see sets the observed nodes and sockets. The running topology overrides the prediction.
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
		g.memory = nil // divided by vCPUs, or as observed
		if !o.By.InGuest() && len(o.Slices.Value) == len(number) {
			g.memory = o.Slices.Value
		}
	}
	if per := evenBlocks(o.Sockets.Value); per > 0 && len(o.Sockets.Value) == len(node) {
		g.perSocket = per
	}
}

// evenBlocks returns the block size if groups are consecutive and of one size; otherwise 0.
func evenBlocks(groups []int) int {
	per := 0
	for i := range groups {
		if i == len(groups)-1 || groups[i+1] != groups[i] {
			per = cmp.Or(per, i+1)
			if (i+1)%per != 0 {
				return 0
			}
		} else if per > 0 && (i+1)%per == 0 {
			return 0
		}
	}
	return per
}

// sized returns the shape with its vCPUs and memory, the cell of each vCPU, and with Fit the kind of host that it is sized for. why is the
// reason if it does not fit.
func sized(v *rule.VM, g *guest, o Options) (s *Shape, cells []int, on *Host, why string) {
	s = &Shape{VCPUs: len(g.node), Memory: numa.Bytes(v.Guest.Memory)}
	n := len(g.node)
	switch cells = g.node; o.Shape {
	case Flat:
		return s, make([]int, n), nil, ""
	case Fit:
		if len(o.Hosts) == 0 {
			return nil, nil, nil, "no hosts of the target are given that it can be sized for"
		}
		memory := s.Memory
		if o.At != nil && !v.Guest.Needs.LargePages { // the plan counts it in addition to ordinary pages
			memory += numa.OwnOfQEMU(memory, n)
		}
		on, k := fits(n, memory, MostOfNode(v), o.Hosts)
		if k == 0 {
			return nil, nil, nil, fitsNowhere(v, s, o.Hosts)
		}
		return s, largestFirst(n, k), on, ""
	}
	if o.Shape != Same {
		cells = g.clients()
	}
	if len(o.Hosts) > 0 && o.At == nil { // otherwise the plan reports it, for each kind of host
		if why := tooLarge(g, cells, s.Memory, &o.Hosts[0]); why != "" {
			return nil, nil, nil, why + ": --shape fit sizes it afresh"
		}
	}
	return s, cells, nil, ""
}

// fits returns the kind of host that a VM is sized for, and its number of equal cells there: of the kinds that hold it the most frequent one,
// and of equally frequent ones the one with the fewest cells; 0 if none holds it.
func fits(vcpus int, memory numa.Bytes, most int, kinds []Host) (on *Host, cells int) {
	for i := range kinds {
		k := numa.EqualCells(vcpus, memory, most, kinds[i].Nodes)
		if k > 0 && (on == nil || kinds[i].Count > on.Count || kinds[i].Count == on.Count && k < cells) {
			on, cells = &kinds[i], k
		}
	}
	return on, cells
}

// fitsNowhere returns the reason why no kind of host holds a VM in equal cells.
func fitsNowhere(v *rule.VM, s *Shape, kinds []Host) string {
	texts := words.Texts(kinds, func(h Host) string { return h.Name + ": " + h.String() })
	most, nodes := MostOfNode(v), 0
	for _, h := range kinds {
		nodes = max(nodes, len(h.Nodes))
	}
	if most > 0 && (s.VCPUs+nodes-1)/nodes > most {
		return fmt.Sprintf("its software takes at most %d vCPUs of a node, and %s are more than the %s of a host have then", most, words.Plural(s.VCPUs, "vCPU"), words.Plural(nodes, "node"))
	}
	return fmt.Sprintf("%s and %s are more than equal cells hold on %s", words.Plural(s.VCPUs, "vCPU"), s.Memory, strings.Join(texts, "; on "))
}

// MostOfNode returns the maximum number of vCPUs per node that the guest's software uses, if its software is known (N033); 0 for any number.
func MostOfNode(v *rule.VM) int {
	if n := int(v.Guest.Usable.PerNode); n > 0 || !v.MayRunSQL() {
		return n
	}
	return product.GroupSize
}

// clients returns the node of each vCPU on vSphere if the guest sees fewer nodes, as with CPU hot add; otherwise the node in the guest.
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

// tooLarge returns the reason why a node of the guest does not fit a node of the target, or why it has too many; "" if it fits.
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

// memoryOf returns the memory of each node: as predicted or observed, otherwise proportional to vCPUs.
func memoryOf(g *guest, memory numa.Bytes, sizes []int) []numa.Bytes {
	if len(g.memory) == len(sizes) {
		return g.memory
	}
	return divide(memory, numa.MiB, sizes)
}
