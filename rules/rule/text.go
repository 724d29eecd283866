package rule

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/esxi/product"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/numa/pattern"
	"example.org/homenode/rules/finding"
)

// Beyond describes how ESXi handles this amount of memory beyond the DRAM of a host with slower
// tiers of the given size, 0 for none (rule book A-12, C-23).
func Beyond(rest, tier numa.Bytes) string {
	switch {
	case tier == 0:
		return fmt.Sprintf("%s do not fit the host at all and are ballooned or swapped", rest)
	case rest <= tier:
		return fmt.Sprintf("%s do not fit its DRAM and go to its slower memory tier of %s", rest, tier)
	}
	return fmt.Sprintf("%s do not fit its DRAM: %s go to its slower memory tier, and %s are ballooned or swapped", rest, tier, rest-tier)
}

// Where names the hosts of a finding, " on esx13–16", unless it applies to every host of the cluster. The figures of a message are those of the
// first kind: hosts on which they differ are named apart, with their nodes, or the layout there if the nodes are the same.
func (p *Pass) Where(others int) string {
	alike := func(o *On) bool {
		first := p.ill[0]
		return o.Layout.Same(&first.Layout) && o.Kind.Machine.Cores == first.Kind.Machine.Cores
	}
	if others == 0 && !slices.ContainsFunc(p.ill, func(o *On) bool { return !alike(o) }) {
		return ""
	}
	var same []*numa.Host
	var figures []string // of the others
	differ := map[string][]*numa.Host{}
	for _, o := range p.ill {
		if alike(o) {
			same = append(same, p.VM.HostsOf(o.Kind)...)
			continue
		}
		text := o.Kind.Shape()
		if text == p.ill[0].Kind.Shape() {
			text = Spoken(&o.Layout)
		}
		if differ[text] == nil {
			figures = append(figures, text)
		}
		differ[text] = append(differ[text], p.VM.HostsOf(o.Kind)...)
	}
	for i, text := range figures {
		figures[i] = fmt.Sprintf("on %s too, with %s", HostNames(differ[text]), text)
	}
	if figures != nil {
		return fmt.Sprintf(" on %s (%s)", HostNames(same), strings.Join(figures, "; "))
	}
	return " on " + HostNames(same)
}

var trailingNumber = pattern.Of(`^(.*?)(\d+)(\..*)?$`)

// HostNames lists hosts, short: "esx01", "esx01 and esx02" or "esx13–16" for
// consecutive numbers.
func HostNames(hosts []*numa.Host) string {
	names := make([]string, len(hosts))
	for i, h := range hosts {
		names[i], _, _ = strings.Cut(h.Name, ".")
		if strings.Trim(h.Name, "0123456789.") == "" { // an address has no short form
			names[i] = h.Name
		}
	}
	if len(names) >= 3 {
		first, last := trailingNumber.FindStringSubmatch(names[0]), trailingNumber.FindStringSubmatch(names[len(names)-1])
		if first != nil && last != nil && first[1] == last[1] {
			a, _ := strconv.Atoi(first[2])
			b, _ := strconv.Atoi(last[2])
			if b-a == len(names)-1 {
				return names[0] + "–" + last[2]
			}
		}
	}
	switch {
	case len(names) == 0:
		return "no host"
	case len(names) == 1:
		return names[0]
	case len(names) > 4:
		return words.First(3, names)
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// NoNotice is the notice of a change without effect on the guest.
const NoNotice = "the guest notices nothing"

// Notice describes the effect on the guest of getting the layout next instead of now; "" for a VM
// that is off now because its configuration is refused.
func Notice(now, next *vnuma.Layout) string {
	switch {
	case now.SameGuest(next):
		return NoNotice
	case now.Refused.Any(): // the guest did not run
		return ""
	}
	var parts []string
	if !now.VSockets.Equal(next.VSockets) {
		parts = append(parts, fmt.Sprintf("%s instead of %s (per-socket licences may count)", sockets(next), sockets(now)))
	}
	if !now.VPDs.Equal(next.VPDs) {
		parts = append(parts, fmt.Sprintf("%s instead of %s", GuestNodes(next, "NUMA node"), GuestNodes(now, "NUMA node")))
	}
	return "the guest sees " + strings.Join(parts, " and ")
}

// ForProducts describes the effect on the products in the guest of getting the layout next instead of now.
func (v *VM) ForProducts(now, next *vnuma.Layout) (text string) {
	if now.SameGuest(next) {
		return ""
	}
	n := int(v.Guest.VCPUs)
	for _, one := range v.Products() {
		if one.HANA() && v.unlessHANA() != "" {
			text = words.Join("; ", text, "a production system of SAP HANA needs another size instead")
		}
		before, most := one.Usable(n, now.VSockets.Len(), now.CoresPerSocket)
		fewest, uses := one.Usable(n, next.VSockets.Len(), next.CoresPerSocket)
		if !now.VSockets.Equal(next.VSockets) && now.VSockets.Sum() == n && one.Sockets() > 0 && n > one.Sockets() && before == most && fewest == uses {
			as := "as"
			if before != uses {
				as = fmt.Sprintf("and %d", before)
			}
			text = words.Join("; ", text, fmt.Sprintf("%s uses %d of %d vCPUs on these sockets, %s on the present ones", &one, uses, n, as))
		}
		_, was := Parallel(&one, now)
		if _, is := Parallel(&one, next); is != was {
			text = words.Join("; ", text, is)
		}
	}
	return text
}

// unlessHANA begins a layout for vCPUs that SAP HANA does not support: its own limits go before general advice. It is "" for others.
func (v *VM) unlessHANA() string {
	if !v.RunsHANA() || !slices.ContainsFunc(v.On, func(o On) bool { return !v.Whole(&o) }) {
		return ""
	}
	return "only where it is no production system of SAP HANA, which needs whole sockets or half a one (N033): "
}

// Parallel returns the MAXDOP that is recommended for a product in a guest with the layout, and describes it (product.Parallel).
func Parallel(one *product.Product, l *vnuma.Layout) (most int, text string) {
	return one.Parallel(l.VPDs.Sizes(), l.VSockets.Len(), l.CoresPerSocket)
}

// Resized describes the effect of the new size or virtual hardware on the guest; "" if neither
// changes.
func Resized(was, is *numa.Config) string {
	var parts []string
	add := func(known bool, after string, before any, more string) {
		if known {
			after += fmt.Sprintf(" instead of %v", before)
		}
		parts = append(parts, after+more)
	}
	if was.VCPUs.Value != is.VCPUs.Value {
		add(was.VCPUs.Known(), words.Plural(is.VCPUs.Value, "vCPU"), was.VCPUs.Value, "")
	}
	if was.Memory.Value != is.Memory.Value {
		add(was.Memory.Known(), is.Memory.Value.String()+" of memory", was.Memory.Value, "")
	}
	if was.Hardware.Value != is.Hardware.Value {
		add(was.Hardware.Known(), fmt.Sprintf("virtual hardware %d", is.Hardware.Value), was.Hardware.Value, ", with which it may see new devices")
	}
	if parts == nil {
		return ""
	}
	return "the guest gets " + strings.Join(parts, " and ")
}

func sockets(l *vnuma.Layout) string {
	return fmt.Sprintf("%s of %s", words.Plural(l.VSockets.Len(), "socket"), words.Plural(l.CoresPerSocket, "core"))
}

// GuestNodes describes the number of nodes that the guest of a layout sees, and their vCPUs.
func GuestNodes(l *vnuma.Layout, noun string) string {
	if !l.GuestSeesNUMA() {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss (%s vCPU)", l.VPDs.Len(), noun, l.VPDs)
}

// The facts in the evidence of most rules.

// VCPUsEvidence returns the vCPU count as evidence.
func (v *VM) VCPUsEvidence() finding.Evidence { return finding.Of("vCPUs", v.VCPUs, v.At) }

// MemoryEvidence returns the configured memory as evidence.
func (v *VM) MemoryEvidence() finding.Evidence { return finding.Of("memory", v.Memory, v.At) }

// MemoryLimitEvidence is the evidence of the memory limit.
func (v *VM) MemoryLimitEvidence() finding.Evidence {
	return finding.Of("memory limit", v.MemoryLimit, v.At)
}

// SoftwareEvidence returns the guest's software as evidence: the product, otherwise the guest
// system.
func (v *VM) SoftwareEvidence() finding.Evidence {
	if software := v.Software(); software.Known() {
		return finding.Of("product", software, v.At)
	}
	return finding.Of("guest system", v.GuestOS, v.At)
}

// CPSEvidence returns cores per socket as evidence.
func (v *VM) CPSEvidence() finding.Evidence {
	return finding.Of("cores per socket", v.CoresPerSocket, v.At)
}

// SettingEvidence returns an advanced setting of the VM as evidence.
func (v *VM) SettingEvidence(key string) finding.Evidence {
	value, ok := v.Settings.Value.Lookup(key)
	if !ok {
		value = "unset"
	}
	return finding.Evidence{Name: key, Value: value, Origin: v.SettingOrigin(key).String(), At: v.At}
}

// NodesEvidence returns the NUMA nodes of the kind's first host as evidence.
func (k *Kind) NodesEvidence() finding.Evidence { return k.nodesOf(k.Hosts[0]) }

// NodesEvidence returns the NUMA nodes of the watched host, which is of the kind of o, as evidence.
func (w *Watch) NodesEvidence(o *On) finding.Evidence { return o.Kind.nodesOf(w.Machine) }

func (k *Kind) nodesOf(h *numa.Host) finding.Evidence {
	return finding.Evidence{Name: "NUMA nodes of " + h.Name, Value: k.Shape(), Origin: h.Nodes.Origin.String(), At: h.At}
}

// ReleaseEvidence returns the ESXi release of the kind's first host as evidence.
func (k *Kind) ReleaseEvidence() finding.Evidence {
	h := k.Hosts[0]
	return finding.Of("ESXi release of "+h.Name, h.Release, h.At)
}
