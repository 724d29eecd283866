package vnuma

import (
	"fmt"

	"example.org/homenode/numa"
)

// firstGuestPage is the page number at which vmware.log starts its memory slices
// on 7.0 and 8.0.
const firstGuestPage = 0x4000000000

// LogLines returns the lines that vmware.log will contain for the layout, in the form of the host's
// release (rule book B-23). Releases before 5.0 log no layout.
func LogLines(l *Layout, g *Guest, m *Machine) []string {
	var out []string
	switch {
	case m.model < numa.ESXi50:
		return nil
	case m.model < numa.ESXi65:
		out = logLines60(l)
	default:
		out = logLines65(l, g, m)
	}
	if l.checkpoint && l.Why != ByHotAdd { // B-8
		out = append([]string{fmt.Sprintf("numa: Resuming from checkpoint using VPD = %d", l.VPDs.Max())}, out...)
	}
	return out
}

func logLines60(l *Layout) []string {
	var out []string
	n := int(l.VPDs.n)
	switch {
	case l.Why == ByHotAdd:
		out = append(out, "NUMA and VCPU hot add are incompatible.  Forcing UMA.")
	case l.Why == ByCPS:
		out = append(out, fmt.Sprintf("numa: Setting.vcpu.maxPerVirtualNode=%d to match cpuid.coresPerSocket", l.CoresPerSocket))
	case l.GuestSeesNUMA():
		out = append(out, fmt.Sprintf("numa: Exposing multicore topology with cpuid.coresPerSocket = %d is suggested for best performance", l.VPDs.Max()))
	}
	for v := range n {
		ppd := l.PPDs.Of(v)
		if l.Why == ByHotAdd {
			ppd = 0 // as in a log of 6.0, although its last line counts two
		}
		out = append(out, fmt.Sprintf("numa: VCPU %d: VPD %d (PPD %d)", v, l.VPDs.Of(v), ppd))
	}
	return append(out, fmt.Sprintf("numaHost: %d virtual nodes, %d virtual sockets, %d physical domains",
		l.VPDs.Len(), l.VSockets.Len(), l.PPDs.Len()))
}

func logLines65(l *Layout, g *Guest, m *Machine) []string {
	config := fmt.Sprintf("numaHost: NUMA config: consolidation= %d preferHT= %d", bit(!g.Spread), bit(g.PreferHT || m.PreferHT))
	mask := ""
	if m.model >= numa.ESXi70 {
		config += " partitionByMemory = 0"
		mask = " NodeMask ffffffffffffffff"
	}
	out := []string{config}
	switch {
	case l.Why == ByHotAdd && m.model >= numa.ESXi80:
		out = append(out, "numa: Hot-add is enabled and vNUMA hot-add is disabled, forcing UMA.")
	case l.Why == ByHotAdd && m.model >= numa.ESXi70:
		out = append(out, "numa: Hot add is enabled and vNUMA hot add is disabled, forcing UMA.")
	case l.Why == ByHotAdd:
		out = append(out, "NUMA and VCPU hot add are incompatible.  Forcing UMA.")
	case l.Why == ByManual && m.model >= numa.ESXi70:
		out = append(out, "numa: Not autosizing due to either numa.vcpu.maxPerVirtualNode manual setting or manual Cores per Node user override.")
	case m.model >= numa.ESXi70 && l.Why != ByStored: // logs of a stored size lack it
		out = append(out, fmt.Sprintf("numa: coresPerSocket = %d maxVcpusPerVPD = %d", l.CoresPerSocket, l.VPDs.Max()))
	}
	out = append(out, fmt.Sprintf("numaHost: %d VCPUs %d VPDs %d PPDs", l.VPDs.n, l.VPDs.Len(), l.PPDs.Len()))
	for v := range int(l.VPDs.n) {
		out = append(out, fmt.Sprintf("numaHost: VCPU %d VPD %d PPD %d%s", v, l.VPDs.Of(v), l.PPDs.Of(v), mask))
	}
	if m.model < numa.ESXi70 || l.memory == 0 {
		return out
	}
	out = append(out, fmt.Sprintf("numaHost: %d mem slices", l.VPDs.Len()))
	page := int64(firstGuestPage)
	for i := range l.VPDs.Len() {
		first, last := l.Carriers(i)
		next := page + int64(l.Slice(i)/numa.PageSize)
		out = append(out, fmt.Sprintf("numaHost: memSlice %d PPD %d - %d BPN [ 0x%x - 0x%x )", i, first, last, page, next))
		page = next
	}
	return out
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}
