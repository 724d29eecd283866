package upgrade

import (
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/esxi/scheduler"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
	"example.org/homenode/rules/check/noeffect"
)

// meanings are the published ones, in the order of releases. If sources disagree, ch selects one of them.
func meanings(ch *vnuma.Choices) []Meaning {
	out := slices.Concat(ofVMs(ch), ofNewVMs(ch), ofHosts(ch))
	out = slices.DeleteFunc(out, func(m Meaning) bool { return m.never })
	slices.SortStableFunc(out, func(a, b Meaning) int { return int(a.Release) - int(b.Release) })
	return out
}

// ofVMs are meanings for VMs up to 6.7.
func ofVMs(ch *vnuma.Choices) []Meaning {
	decoupled, fits := numa.ESXi65, func(*numa.VM, *numa.Host) bool { return false }
	if ch.Decoupled67 { // F-8
		decoupled = numa.ESXi67
	}
	if ch.FitIgnoresCPS { // F-20
		fits = func(v *numa.VM, h *numa.Host) bool { return v.VCPUs.Value <= cores(h) }
	}
	consolidate := "FALSE spreads the VM over the optimal number of nodes above 1"
	if ch.SpreadAll { // F-27
		consolidate = "FALSE spreads the VM over all nodes"
	}
	wide := func(v *numa.VM, _ *numa.Host) bool { return v.VCPUs.Value >= least(v, ch) }
	return []Meaning{
		{Setting: "VMs wider than a node", Release: numa.ESX41, Before: "their memory and vCPUs are not managed", After: "they are split into clients, which are managed", Book: []string{"C-14"},
			ofVM: func(v *numa.VM, h *numa.Host) bool { return cores(h) > 0 && v.VCPUs.Value > cores(h) }},
		{Setting: "virtual NUMA", Release: numa.ESXi50, Hardware: 8, Before: "the guest sees one node", After: "a VM that needs several nodes is shown them", Book: []string{"B-2"}, ofVM: wide},
		{Setting: "memory hot add", Release: numa.ESXi60, Before: "added memory lands in one virtual node", After: "added memory is spread over the virtual nodes", Book: []string{"B-16"},
			ofVM: func(v *numa.VM, _ *numa.Host) bool { return v.MemoryHotAdd.Or(false) }},
		{Setting: "CPU hot add", Release: numa.ESXi60, Before: "the guest sees one node", After: "the guest sees its nodes", Book: []string{"B-15"}, ofVM: hotAdd, never: !ch.HotAdd60}, // F-10
		{Setting: "coresPerSocket", Release: decoupled, Before: "cores per socket above 1 are the size of a virtual node", Book: []string{"B-6", "B-11", "B-12"},
			After: "virtual nodes follow the host; the size of a client is only rounded up to whole virtual sockets",
			ofVM: func(v *numa.VM, h *numa.Host) bool {
				return v.CoresPerSocket.Value > 1 && wide(v, h) && !fits(v, h) && !isTrue(v, "numa.vcpu.followcorespersocket")
			}},
		{Setting: "numa.vcpu.followcorespersocket", Release: decoupled, Before: "cores per socket are the size of a virtual node without it", After: "TRUE keeps cores per socket the size of a virtual node", Book: []string{"B-12"},
			ofVM: func(v *numa.VM, _ *numa.Host) bool { return isTrue(v, "numa.vcpu.followcorespersocket") }},
		{Setting: "numa.autosize", Release: decoupled, Before: "TRUE sizes virtual nodes like the nodes of the host", After: "no effect is published", Book: []string{"B-10"},
			ofVM: func(v *numa.VM, _ *numa.Host) bool { return isTrue(v, "numa.autosize") }},
		{Setting: "numa.consolidate", Release: decoupled, Before: "no effect is published", After: consolidate, Book: []string{"B-17"},
			ofVM: func(v *numa.VM, _ *numa.Host) bool { return isFalse(v, "numa.consolidate") }},
		{Setting: "VMs of more vCPUs than the host has cores", Release: decoupled, Before: "they have as many clients as their vCPUs need", Book: []string{"B-5"}, never: ch.UnboundedClients, // F-4
			After: "they have no more clients than the host has nodes, unless a limit set by hand asks for smaller ones",
			ofVM: func(v *numa.VM, h *numa.Host) bool {
				return cores(h) > 0 && v.VCPUs.Value > cores(h)*len(h.Nodes.Value)
			}},
		{Setting: "VMs of many clients", Release: numa.ESXi65, Before: "a VM has at most 16 clients, or as many as Numa.MaxProximityDomains says (6.0)", After: "the option is gone, and nothing bounds them", Book: []string{"B-29"}, ofVM: manyClients},
		{Setting: "numa.vcpu.maxPerVirtualNode", Release: numa.ESXi65, Before: "it shows virtual nodes to VMs of fewer vCPUs than numa.vcpu.min too", After: "a VM below numa.vcpu.min sees one node", Book: []string{"B-3"},
			ofVM: func(v *numa.VM, h *numa.Host) bool { return has(v, "numa.vcpu.maxPerVirtualNode") && !wide(v, h) }, never: ch.ManualAnySize}, // F-28
		{Setting: "numa.vcpu.min, not set, on small nodes of EPYC", Release: numa.ESXi65U3, Before: "VMs of fewer than 9 vCPUs see one node", After: "VMs of more vCPUs than a node has cores are shown their nodes", Book: []string{"B-19"},
			ofVM: smallNodes(ch), later: func(r numa.Release) bool { return r < numa.ESXi67 || r >= numa.ESXi67U2 }, never: ch.NoSmallNodes}, // F-16
		{Setting: "latency sensitivity high", Release: numa.ESXi67, Before: "a VM without a full reservation of CPU powers on, without exclusive cores", Book: []string{"B-21"},
			After: "a VM without full reservations of memory and CPU does not power on", ofVM: func(v *numa.VM, _ *numa.Host) bool { return v.LatencyHigh() }},
		{Setting: "sched.mem.lpage.enable1GPage", Release: numa.ESXi67, Before: "no effect is published", After: "the VM does not power on unless all its memory is reserved", Book: []string{"B-31"},
			ofVM: func(v *numa.VM, _ *numa.Host) bool { return isTrue(v, "sched.mem.lpage.enable1GPage") }},
	}
}

// ofNewVMs are meanings for VMs from 8.0 on, and those that depend only on virtual hardware.
func ofNewVMs(ch *vnuma.Choices) []Meaning {
	records, exposed, sockets := "it records cores per socket too", "vNUMA can be shown beside it (exposeVnumaOnCpuHotadd); unset, one node is taken", "cores per socket can be assigned at power on, a socket for each virtual node"
	if ch.CookieWithCPS { // F-13
		records += ", and is void when they change"
	}
	if ch.HotAddShows80 { // F-25
		exposed = "the guest sees its nodes"
	}
	if ch.AutoCPSOne { // F-14
		sockets += ", or one core each beside uneven nodes and CPU hot add"
	}
	byHand := func(v *numa.VM, _ *numa.Host) bool { return has(v, "numa.vcpu.coresPerNode") }
	return []Meaning{
		{Setting: "numa.autosize.cookie", Hardware: 16, Before: "it records the number of vCPUs", After: records, Book: []string{"B-9"}, ofVM: func(v *numa.VM, _ *numa.Host) bool { return has(v, "numa.autosize.cookie") }},
		{Setting: "numa.vcpu.coresPerNode", Release: numa.ESXi80, Before: "it has no effect", After: "it is the size of a virtual node", Book: []string{"B-10"},
			ofVM: func(v *numa.VM, h *numa.Host) bool {
				return byHand(v, h) && (!ch.NodesNeedMin || v.VCPUs.Value >= least(v, ch))
			}}, // F-29
		{Setting: "NUMA nodes set by hand", Release: numa.ESXi80, Hardware: 20, Before: "any size powers on", After: "they need cores per socket set by hand, and cores that divide the vCPUs and fit the sockets", Book: []string{"B-28"}, ofVM: byHand},
		{Setting: "cpuid.numSMT", Release: numa.ESXi80, Hardware: 20, Before: "it has no effect", After: "two vCPUs are the threads of a virtual core", Book: []string{"B-21"}, ofVM: func(v *numa.VM, _ *numa.Host) bool { return has(v, "cpuid.numSMT") }},
		{Setting: "CPU hot add", Release: numa.ESXi80, Hardware: 20, Before: "the guest sees one node", After: exposed, Book: []string{"B-15"}, ofVM: hotAdd, never: ch.HotAdd60}, // F-10
		{Setting: "coresPerSocket", Release: numa.ESXi80, Hardware: 20, Before: "virtual nodes follow the host", After: "cores per socket set by hand are the size of a virtual node while NUMA Nodes is not set", Book: []string{"B-12"},
			ofVM: func(v *numa.VM, _ *numa.Host) bool {
				return v.CoresPerSocket.Value > 1 && !v.AutoCoresPerSocket.Value && v.VCPUs.Value >= least(v, ch)
			}, never: !ch.SocketNodes80}, // F-26
		{Setting: "coresPerSocket at its default", Release: numa.ESXi80, Hardware: 20, Before: "a socket has one core", After: sockets + "; the upgrade itself leaves them as they are", Book: []string{"B-18"},
			ofVM: func(v *numa.VM, _ *numa.Host) bool {
				return v.CoresPerSocket.Value <= 1 && v.VCPUs.Value >= least(v, ch)
			}},
		{Setting: "virtual last-level caches", Release: numa.ESXi80, Hardware: 20, Before: "each virtual socket shows one cache of the physical size", After: "ESXi chooses the caches, as it does sockets and nodes", Book: []string{"B-13"},
			ofVM: func(v *numa.VM, _ *numa.Host) bool {
				return v.CoresPerSocket.Value > 1 && v.CoresPerSocket.Value < v.VCPUs.Value
			}},
		{Setting: "virtual IOMMU beside a vGPU", Release: numa.ESXi80, Before: "a VM of more than 127 vCPUs does not power on with both", After: "a vGPU of SR-IOV goes with it", Book: []string{"B-32"},
			ofVM: func(v *numa.VM, _ *numa.Host) bool {
				needs := vnuma.NeedsOf(v)
				return needs.VGPU && vnuma.NeedsIOMMU(v.VCPUs.Value)
			}},
	}
}

// ofHosts are meanings for hosts: defaults of their options, and behaviour that affects all their VMs.
func ofHosts(ch *vnuma.Choices) []Meaning {
	unset := func(key string) func(*numa.Host) bool {
		return func(h *numa.Host) bool { _, set := h.Options.Value.Lookup(key); return !set }
	}
	all := func(*numa.Host) bool { return true }
	rate := func(r numa.Release) string {
		return "memory follows its VM to another node by at most " + strconv.Itoa(scheduler.DefaultSettings(r).PageMigRateMax*int(numa.PageSize)/int(numa.MiB)) + " MB a second"
	}
	out := []Meaning{
		{Setting: "new memory of VMs", Release: numa.ESXi60, Before: "a node is filled up to minFree", After: "4 × minFree of a node stay free while another node has more", Book: []string{"C-15"}, ofHost: all, never: ch.FillToMinFree}, // F-23
		{Setting: "high memory state", Release: numa.ESXi60, Before: "the host leaves it below minFree", After: "the host leaves it below 4 × minFree", Book: []string{"C-23"}, ofHost: all},
		{Setting: "Numa.PageMigRateMax at its default", Release: numa.ESXi65, Before: rate(numa.ESXi60), After: rate(numa.ESXi65), Book: []string{"C-16", "C-18"}, ofHost: unset("Numa.PageMigRateMax")},
		{Setting: "Numa.PageMigRateMax at its default", Release: numa.ESXi90, Before: rate(numa.ESXi80), After: rate(numa.ESXi90), Book: []string{"C-16", "C-18"}, ofHost: unset("Numa.PageMigRateMax")},
		{Setting: "Cpu.Quantum at its default", Release: numa.ESXi65, Before: "a vCPU runs for 50 ms at a time", After: "a vCPU runs for 200 ms at a time", Book: []string{"C-19"}, ofHost: all},
		{Setting: numa.MitigationIntraVMOption, Release: numa.ESXi67U2, Before: "it has no effect: the scheduler is side-channel aware in its first version", After: "FALSE is the second version, in which both threads of a core run vCPUs of one VM", Book: []string{"E-3"},
			ofHost: func(h *numa.Host) bool { _, _, set := h.BootOption(numa.MitigationIntraVMOption); return set }},
		{Setting: "DRS", Release: numa.ESXi80, Before: "no node is looked at", After: "how well a VM fits the nodes of a host counts when DRS chooses one", Book: []string{"D-4"}, ofHost: func(h *numa.Host) bool { return h.Cluster != "" }},
		{Setting: "memory tiering at its default", Release: numa.ESXi90, Before: "the slower tier is 25 % of the DRAM", After: "the slower tier is as large as the DRAM", Book: []string{"A-12"}, ofHost: func(h *numa.Host) bool { return h.TierMemory.Value > 0 }},
	}
	for _, o := range noeffect.Options {
		set := func(h *numa.Host) bool { return !unset(o.Key)(h) }
		if o.Gone != 0 {
			out = append(out, Meaning{Setting: o.Key, Release: o.Gone, Before: "it holds", After: "it is gone", Book: []string{"C-18"}, ofHost: set})
		}
		if o.Since != 0 {
			out = append(out, Meaning{Setting: o.Key, Release: o.Since, Before: "it has no effect", After: "it holds", Book: []string{"C-18"}, ofHost: set})
		}
	}
	return out
}

// least returns the minimum number of vCPUs for vNUMA in the VM.
func least(v *numa.VM, ch *vnuma.Choices) int {
	text, _ := v.Settings.Value.Lookup("numa.vcpu.min")
	if n, err := strconv.Atoi(text); err == nil && n > 0 {
		return n
	}
	return (&vnuma.Guest{}).Threshold(&vnuma.Machine{}, *ch)
}

// cores returns the cores of the largest node of a host; 0 if unknown.
func cores(h *numa.Host) (most int) {
	for _, n := range h.Nodes.Value {
		most = max(most, n.Cores)
	}
	return most
}

// hotAdd reports whether CPU hot add is on for the VM.
func hotAdd(v *numa.VM, _ *numa.Host) bool { return v.CPUHotAdd.Or(false) }

// manyClients reports whether the VM has more virtual nodes, by its sockets or by the nodes of the host, than the clients that 6.0
// creates.
func manyClients(v *numa.VM, h *numa.Host) bool {
	limit := 16
	if text, ok := h.Options.Value.Lookup("Numa.MaxProximityDomains"); ok {
		if n, err := strconv.Atoi(text); err == nil && n > 0 {
			limit = n
		}
	}
	size := cores(h)
	if cps := v.CoresPerSocket.Value; cps > 1 {
		size = min(size, cps)
	}
	return size > 0 && v.VCPUs.Value > limit*size
}

// smallNodes reports whether the VM has more vCPUs than a small node of an EPYC has cores, and fewer than vNUMA requires elsewhere.
func smallNodes(ch *vnuma.Choices) func(v *numa.VM, h *numa.Host) bool {
	return func(v *numa.VM, h *numa.Host) bool {
		m, err := vnuma.NewMachine(h)
		if err != nil || has(v, "numa.vcpu.min") || v.VCPUs.Value >= least(v, ch) {
			return false
		}
		m.Release = numa.ESXi67U2
		return v.VCPUs.Value >= (&vnuma.Guest{}).Threshold(&m, *ch)
	}
}

func isTrue(v *numa.VM, key string) bool {
	value, _ := v.Settings.Value.Lookup(key)
	return strings.EqualFold(value, "true") || value == "1"
}

func isFalse(v *numa.VM, key string) bool {
	value, _ := v.Settings.Value.Lookup(key)
	return strings.EqualFold(value, "false") || value == "0"
}

func has(v *numa.VM, key string) bool {
	value, ok := v.Settings.Value.Lookup(key)
	return ok && value != ""
}
