package guestlimits

import (
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/esxi/product"
	"example.org/homenode/internal/outside"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

// hana finds unsupported sizes of production VMs of SAP HANA. Sockets here are those of hosts, because the cores of the host's packages are
// decisive.
func hana(p *rule.Pass) {
	v := p.VM
	n := int(v.Guest.VCPUs)
	report := func(f finding.Finding, on *rule.On) {
		fact := outside.Of("hana")
		f.Evidence = []finding.Evidence{v.SoftwareEvidence(), v.VCPUsEvidence(), v.MemoryEvidence(), on.Kind.NodesEvidence(),
			{Name: "limits of " + fact.About, Value: fact.Version, Origin: "read: " + fact.Cite(p.Today)},
			finding.Of("packages of "+on.Kind.Hosts[0].Name, on.Kind.Hosts[0].Packages, on.Kind.Hosts[0].At)}
		p.Report(f, &on.Layout)
	}
	if on, others, ok := p.Worst(func(o *rule.On) bool { return !v.Whole(o) }); ok {
		socket := v.SocketOf(on.Kind)
		f := finding.Finding{Severity: finding.Low, Topic: "sockets"}
		if p.Plan().Better {
			f.When = "Where it is a production system, instead of the plan of its other findings"
		}
		for _, size := range []int{n / socket * socket, (n/socket + 1) * socket} {
			if most, _ := v.Crowded(on.Kind); v.Sized(size) && size <= most {
				f.Ways = append(f.Ways, p.WholeSockets(size))
			}
		}
		if f.Ways == nil {
			f.Ways = []numa.Way{numa.ByHand("ask SAP")}
		}
		if one, most := limited(p); one != nil {
			f.Ways = both(p, one, most)
		}
		not := "sizes are stated for whole sockets and for half a socket"
		if _, odd := product.HANASockets(n, socket); odd {
			f.Severity, not = finding.Medium, "odd multiples of half a socket are not supported (SAP note 3102813)"
		}
		f.Message = fmt.Sprintf("SAP HANA on %d vCPUs is %.1f sockets of %d%s: %s", n, float64(n)/float64(socket), socket, p.Where(others), not)
		report(f, on)
	}
	if on, others, ok := p.Worst(func(o *rule.On) bool { return halfSocket(v, n, o) != "" }); ok {
		f := finding.Finding{Severity: finding.Info, Topic: "half a socket", Message: fmt.Sprintf("SAP HANA in half a socket%s: %s", p.Where(others), halfSocket(v, n, on)),
			When: "Where another production VM shares the socket", Ways: []numa.Way{numa.ByHand("ask SAP"), numa.ByHand("give each VM a socket of its own")}}
		if on.Kind.Hosts[0].SapphireRapids() {
			f.Severity = finding.Low
			f.Ways[0] = numa.ByHand("choose SNC-2 in the BIOS setup")
		}
		report(f, on)
	}
	if on, others, ok := p.Worst(func(o *rule.On) bool { spans, fits := socketsOf(v, o); return spans > fits }); ok {
		spans, fits := socketsOf(v, on)
		ways, notice := p.PlanWays()
		if ways == nil {
			ways = []numa.Way{numa.ByHand("ask SAP")}
		}
		report(finding.Finding{Severity: finding.Low, Topic: rule.Unsupported, Ways: ways, Notice: notice, Message: fmt.Sprintf(
			"SAP HANA on %d vCPUs fits %s and runs as %s vCPUs on parts of %d%s: sizes are stated for whole sockets and for half a socket", n, words.Plural(fits, "socket"), on.Layout.PPDs, spans, p.Where(others))}, on)
	}
	on := &v.On[0]
	switch cores := v.CoresOf(on.Kind); {
	case cores < product.HANALeastCores || v.Memory.Known() && v.Memory.Value < product.HANALeastMemory*numa.GiB:
		report(finding.Finding{Severity: finding.Low, Topic: "size", Message: fmt.Sprintf("SAP HANA is supported for production from half a socket of %d cores and %d GB on: the VM has %s and %s",
			product.HANALeastCores, product.HANALeastMemory, words.Plural(cores, "core"), v.Memory.Value), Advice: "Leave it only where it is no production system"}, on)
	case on.Kind.Machine.Release.Base() == numa.ESXi70 && on.Kind.Machine.Release >= numa.ESXi70+2 && (n > product.HANAMostVCPUs || v.Memory.Value > product.HANAMostMemory*numa.GiB):
		report(finding.Finding{Severity: finding.Low, Topic: "size", Message: fmt.Sprintf("SAP HANA is supported with at most %d vCPUs and %d TB on ESXi %s: the VM has %d and %s",
			product.HANAMostVCPUs, product.HANAMostMemory/1024, on.Kind.Machine.Release, n, v.Memory.Value), Advice: "Ask SAP, or make it smaller"}, on)
	}
}

// socketsOf returns the number of sockets of the host on whose nodes the clients run, near ones first (C-4), and of those that hold the vCPUs.
func socketsOf(v *rule.VM, o *rule.On) (spans, fits int) {
	socket := v.SocketOf(o.Kind)
	if socket == 0 || !o.Layout.Managed || v.Guest.AllowedNodes != 0 {
		return 0, 0
	}
	perPackage := max(1, int(o.Kind.Machine.Nodes)/packages(o.Kind))
	return (o.Layout.HomeNodes + perPackage - 1) / perPackage, (int(v.Guest.VCPUs) + socket - 1) / socket
}

// limited returns the product besides SAP HANA that uses the fewest vCPUs regardless of their division, and their number; nil if none has a
// limit.
func limited(p *rule.Pass) (one *product.Product, most int) {
	products := p.VM.Products()
	if !slices.ContainsFunc(products, func(o product.Product) bool { return o.HANA() }) {
		return nil, 0
	}
	most = numa.MaxVCPUs
	for i := range products {
		if _, uses := products[i].Usable(numa.MaxVCPUs, 1, numa.MaxVCPUs); uses < most {
			one, most = &products[i], uses
		}
	}
	return one, most
}

// both returns the ways to satisfy both products: the maximum number of vCPUs that the limited one uses and that is valid for SAP HANA on
// every host, with and without preferHT, if there is one, and separate VMs.
func both(p *rule.Pass, one *product.Product, most int) []numa.Way {
	apart := fmt.Sprintf("run SAP HANA and %s in VMs of their own", one)
	if w, ok := served(p.VM, one, most); ok {
		return []numa.Way{w, numa.ByHand(apart)}
	}
	why := "no size serves both"
	if p.VM.On[0].Kind.Machine.PreferHT {
		why = "no size serves both while Numa.PreferHT is 1 on the host"
	} else if p.VM.Guest.PreferHT {
		why = "no size with preferHT serves both"
		cores := *p.VM
		cores.Guest.PreferHT = false
		if w, ok := served(&cores, one, most); ok {
			w.Do, w.Edits = "remove numa.vcpu.preferHT, and "+w.Do, append(w.Edits, numa.Unassign("numa.vcpu.preferHT"))
			return []numa.Way{w, numa.ByHand(apart + ", since " + why)}
		}
		why = "no size serves both, with preferHT or without it"
	}
	return []numa.Way{numa.ByHand(fmt.Sprintf("%s, since %s: %s uses at most %d vCPUs, and SAP HANA supports whole sockets of %d vCPUs and half a socket, with at least %d cores",
		apart, why, one, most, p.VM.SocketOf(p.VM.On[0].Kind), product.HANALeastCores))}
}

// served returns the way to the maximum number of vCPUs, up to a limit, that the limited product uses and that is valid for SAP HANA on
// every host.
func served(v *rule.VM, one *product.Product, most int) (w numa.Way, ok bool) {
	n := min(most, int(v.Guest.VCPUs))
	for n > 0 && !v.Sized(n) {
		n--
	}
	if n == 0 {
		return w, false
	}
	w = numa.Way{Do: fmt.Sprintf("take %d vCPUs, a size that SAP HANA supports and %s can use", n, one), Edits: []numa.Edit{numa.EditVCPUs.To(n)}}
	if socket := v.SocketOf(v.On[0].Kind); !v.Guest.AutoCPS {
		cps := n
		if socket > 0 {
			cps = min(n, socket)
		}
		w.Do, w.Edits = fmt.Sprintf("%s, with %s per socket", w.Do, words.Plural(cps, "core")), append(w.Edits, numa.EditCoresPerSocket.To(cps))
	}
	for i := range v.On {
		if why := halfSocket(v, n, &v.On[i]); why != "" {
			w.Do += " (half a socket: " + why + ")"
			break
		}
	}
	return w, true
}

// halfSocket returns the reason why a VM with n vCPUs in half a socket may not be supported next to another one; "" if it is supported, or
// the VM is larger, or the packages are unknown.
func halfSocket(v *rule.VM, n int, o *rule.On) string {
	h, socket, packages := o.Kind.Hosts[0], v.SocketOf(o.Kind), packages(o.Kind)
	if socket == 0 || 2*n > socket || h.Nodes.Origin.Kind == numa.Assumed {
		return ""
	}
	perPackage := int(o.Kind.Machine.Nodes) / packages
	switch {
	case h.SapphireRapids() && perPackage != 2:
		return fmt.Sprintf("on Sapphire Rapids two production VMs on a socket are supported with SNC-2 only, and a package is %s here (SAP note 3372365)", words.Plural(perPackage, "node"))
	case !h.SapphireRapids() && perPackage > 1 && strings.Contains(h.CPUModel.Value, "Xeon"):
		return fmt.Sprintf("a package is %s, and support of two production VMs on such a socket is stated for Sapphire Rapids alone (SAP note 3372365)", words.Plural(perPackage, "node"))
	}
	return ""
}
