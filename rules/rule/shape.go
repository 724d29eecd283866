package rule

import (
	"encoding/json"
	"strconv"
	"strings"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/numa/pattern"
)

// Short returns a layout in short form: clients × vCPUs, followed by its problem.
//
//	1×8          one client of 8 vCPUs
//	2×16         two clients, and the guest sees two nodes
//	2×16 blind   the guest sees one
//	1×36 sees 2×18
//	1×16 +31 %   31 % of the memory is on another node than the vCPU that uses it
//	1×8 no home  not NUMA-managed
func Short(l *vnuma.Layout) string {
	if l.Refused.Any() {
		return "off"
	}
	s := shortSplit(l.PPDs)
	switch {
	case l.HidesNUMA():
		s += " blind"
	case l.GuestSeesNUMA() && !l.VPDs.Equal(l.PPDs):
		s += " sees " + shortSplit(l.VPDs)
	}
	if !l.Managed {
		return s + " no home"
	}
	if far := l.FarShare(); far > 0 {
		s += " +" + words.Percent(far)
	}
	return s
}

// Spoken returns a layout in words, for the middle of a sentence: "2 clients (2 × 16 vCPU), the guest sees 1 node, 50 % of its memory remote".
func Spoken(l *vnuma.Layout) string {
	if l.Refused.Any() {
		return "no power-on"
	}
	s := words.Plural(l.PPDs.Len(), "client") + " (" + l.PPDs.String() + " vCPU)"
	if l.VPDs.Len() != l.PPDs.Len() {
		s += ", the guest sees " + words.Plural(max(1, l.VPDs.Len()), "node")
	}
	if !l.Managed {
		return s + ", no home node"
	}
	if far := l.FarShare(); far > 0 {
		s += ", " + words.Percent(far) + " of its memory remote"
	}
	return s
}

// ShortLegend explains the parts of the short form that occur in texts; "" if none does.
func ShortLegend(texts ...string) string {
	all := strings.Join(texts, "\n")
	if !shortForm.MatchString(all) {
		return ""
	}
	parts := []string{"2×16: 2 clients of 16 vCPU"}
	for _, p := range []struct{ word, means string }{
		{" blind", "blind: the guest sees 1 node"}, {" sees ", "sees: other nodes than clients"},
		{" no home", "no home: not placed on a node"}, {" +", "+50 %: memory on another node"},
	} {
		if strings.Contains(all, p.word) {
			parts = append(parts, p.means)
		}
	}
	return strings.Join(parts, "; ") + "."
}

var shortForm = pattern.Of(`\d×\d`)

func shortSplit(s vnuma.Split) string {
	if s.Len() <= 1 {
		return "1×" + s.String()
	}
	if text := s.String(); !strings.Contains(text, "of") { // "9 groups of 2 to 4" is not abbreviated
		return strings.ReplaceAll(text, " ", "")
	}
	return s.String()
}

// Title returns the name of the cluster, or the title of a standalone host.
func (c *Cluster) Title() string {
	if c.Name == "" && len(c.Hosts) > 0 {
		return c.Hosts[0].Name + " (standalone)"
	}
	return c.Name
}

// Node returns "18 cores  512 GB" or, for different hosts, "20 or 14 cores".
func (c *Cluster) Node() string {
	var cores []string
	least, most := int64(0), int64(0)
	seen := map[int32]bool{}
	for _, k := range c.Kinds {
		if !seen[k.Machine.Cores] {
			seen[k.Machine.Cores] = true
			cores = append(cores, strconv.Itoa(int(k.Machine.Cores)))
		}
		if m := k.Machine.NodeMemory; least == 0 || m < least {
			least = m
		}
		most = max(most, k.Machine.NodeMemory)
	}
	if len(cores) == 0 {
		return "unknown"
	}
	s := strings.Join(cores, " or ") + " cores"
	// Equal hosts differ by the memory that their kernels reserve.
	if least > 0 && least >= most-most/vnuma.UnevenShare {
		s += "  " + numa.Bytes(least).String()
	}
	return s
}

// MarshalJSON writes the hosts by name, and the resources of a node.
func (k *Kind) MarshalJSON() ([]byte, error) {
	j := struct {
		Hosts        []string     `json:"hosts"`
		Release      numa.Release `json:"release"`
		Nodes        int32        `json:"nodes"`
		CoresPerNode int32        `json:"coresPerNode"`
		MemoryPer    numa.Bytes   `json:"bytesPerNode,omitempty"`
	}{k.HostNames(), k.Machine.Release, k.Machine.Nodes, k.Machine.Cores, numa.Bytes(k.Machine.NodeMemory)}
	return json.Marshal(j)
}

// HostNames returns the names of the hosts.
func (k *Kind) HostNames() []string {
	return words.Texts(k.Hosts, func(h *numa.Host) string { return h.Name })
}

// MarshalJSON writes the names of the hosts and the layout there.
func (o On) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Hosts  []string      `json:"hosts"`
		Layout *vnuma.Layout `json:"layout"`
	}{o.Kind.HostNames(), &o.Layout})
}
