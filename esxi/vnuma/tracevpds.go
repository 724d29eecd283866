package vnuma

import (
	"fmt"

	"example.org/homenode/numa"
)

// vpds adds the steps that decide the guest's nodes.
func (t *tracer) vpds(why Reason, split Split, c *Case) {
	n := t.g.VCPUs
	t.notStored(why, c)
	t.hotAddStays(why)
	var s *Step
	switch why {
	case ByHardware:
		s = t.add("B-2", fmt.Sprintf("virtual hardware %d < 8", t.g.Hardware), "no vNUMA: 1 virtual node", fact("virtual hardware", t.vm.Hardware, t.vm.At))
	case ByHotAdd:
		s = t.hotAdd()
	case ByManual:
		s = t.manual(split)
		if t.g.setsNodes(t.m) && n < t.g.threshold(t.m, &c.Choices, &Layout{}) {
			s.Choice = "F-29"
		}
	case ByStored:
		s = t.add("B-8, B-9", fmt.Sprintf("an earlier power-on stored %d vCPU per virtual node, and its cookie names %d vCPU", t.g.Stored, n),
			"kept: "+nodesOf(split), t.setting("numa.autosize.vcpu.maxPerVirtualNode"), t.setting("numa.autosize.cookie"))
		s.Choice = "F-18"
		if split.Even() {
			s.Choice = ""
		}
	case ByThreshold:
		s = t.threshold(c)
	case ByCPS:
		s = t.add("B-11", fmt.Sprintf("cores per socket = %d sizes the virtual nodes of %s", t.g.CoresPerSocket, t.m.Release), nodesOf(split), t.cps(), t.release())
		if n <= t.limit {
			s.Choice = "F-20"
		}
		if c.Choices.SocketNodes80 && t.g.newest(t.m) {
			s.Rules, s.Choice = "B-12", "F-26"
		}
	case ByFit:
		s = t.add("B-3", "one client is enough", "1 virtual node: the guest sees no NUMA", t.vcpus(), t.nodes())
	default:
		s = t.automatic(split, c)
	}
	if (why == ByFit || why == ByClients) && s.Choice == "" && t.m.model >= numa.ESXi80 && !t.m.Follow && !t.g.Follow &&
		t.g.socketNodes(t.m, t.g.threshold(t.m, &c.Choices, &Layout{})) && !split.Equal(fill(n, t.g.CoresPerSocket)) {
		s.Choice = "F-26"
	}
	s.Decides = true
}

// hotAddStays adds the reason why enabled hot add does not hide the nodes.
func (t *tracer) hotAddStays(why Reason) {
	if !t.g.HotAdd || why == ByHotAdd || why == ByHardware {
		return
	}
	if t.g.vnumaHotAdd(t.m) {
		t.add("B-15", "CPU hot add is on and vNUMA on CPU hot add is exposed", "vNUMA stays possible",
			fact("CPU hot add", t.vm.CPUHotAdd, t.vm.At), fact("vNUMA on CPU hot add", t.vm.VNUMAHotAdd, t.vm.At))
	} else {
		s := t.add("B-15", "CPU hot add is on", "vNUMA stays possible in 6.0", fact("CPU hot add", t.vm.CPUHotAdd, t.vm.At))
		if s.Choice = "F-10"; t.g.newest(t.m) {
			s.Result, s.Choice = "vNUMA stays possible with hardware 20", "F-25"
		}
	}
}

// hotAdd adds the steps by which hot add hides the nodes, and returns the deciding one.
func (t *tracer) hotAdd() *Step {
	s := t.add("B-15", "CPU hot add is on", "1 virtual node, whatever the size", fact("CPU hot add", t.vm.CPUHotAdd, t.vm.At))
	if t.m.model >= numa.ESXi80 {
		switch hw := fact("virtual hardware", t.vm.Hardware, t.vm.At); {
		case t.g.Hardware == 0:
			t.add("B-15", "the virtual hardware is unknown", "vNUMA with hot add is taken to be off; from 20 on it is possible", hw)
		case t.g.Hardware < 20:
			t.add("B-15", fmt.Sprintf("virtual hardware %d < 20", t.g.Hardware), "vNUMA with hot add is impossible", hw)
		default:
			t.add("B-15", "vNUMA on CPU hot add is not exposed", "no vNUMA while hot add is on", fact("vNUMA on CPU hot add", t.vm.VNUMAHotAdd, t.vm.At)).Choice = "F-25"
		}
		s = &t.steps[len(t.steps)-2]
	} else if t.m.model.Base() == numa.ESXi60 {
		s.Choice = "F-10"
	}
	return s
}

// threshold adds the step of a VM below numa.vcpu.min.
func (t *tracer) threshold(c *Case) *Step {
	n := t.g.VCPUs
	min := t.g.threshold(t.m, &c.Choices, &Layout{})
	s := t.add("B-3", fmt.Sprintf("%d vCPU < numa.vcpu.min %d", n, min), "vNUMA is not shown: 1 virtual node", t.vcpus(), t.setting("numa.vcpu.min"))
	switch {
	case t.g.belowMin(t.m, &c.Choices, &Layout{}):
		key, choice := "numa.vcpu.maxPerVirtualNode", "F-28"
		if t.g.setsNodes(t.m) {
			key, choice = "numa.vcpu.coresPerNode", "F-29"
		}
		s.Because += fmt.Sprintf(", and %s = %d does not change that from 6.5 on", key, t.g.manual(t.m, &c.Choices))
		s.Facts, s.Choice = append(s.Facts, t.setting(key)), choice
	case t.g.Min == 0 && n >= alternativeMin:
		s.Choice = "F-1"
	}
	return s
}

// automatic is the step of a size that ESXi chose.
func (t *tracer) automatic(split Split, c *Case) *Step {
	n := t.g.VCPUs
	if generationOf(t.g, t.m, &c.Choices) == socketSized {
		if t.g.Autosize {
			return t.add("B-10", fmt.Sprintf("%s, and numa.autosize = TRUE sizes virtual nodes like physical ones", compare(n, t.limit)),
				nodesOf(split), t.vcpus(), t.nodes(), t.setting("numa.autosize"))
		}
		return t.add("B-5, B-6", compare(n, t.limit), nodesOf(split), t.vcpus(), t.nodes())
	}
	s := t.add("B-6", "each client is shown as a virtual node", nodesOf(split), t.vcpus(), t.nodes())
	least := t.g.threshold(t.m, &c.Choices, &Layout{})
	switch {
	case n >= DefaultMin:
	case t.g.Min > 0:
		s.Because = fmt.Sprintf("%d vCPU ≥ numa.vcpu.min %d: each client is shown as a virtual node", n, least)
		s.Rules, s.Facts = "B-3, B-6", append(s.Facts, t.setting("numa.vcpu.min"))
	case least < alternativeMin || !c.Choices.MinEight:
		s.Because = fmt.Sprintf("small EPYC nodes show vNUMA from %d vCPU on: each client is shown as a virtual node", least)
		s.Rules, s.Choice = "B-6, B-19", "F-16"
	default:
		s.Rules, s.Choice = "B-3, B-6", "F-1"
	}
	return s
}

// manual is the step of a size set by hand.
func (t *tracer) manual(split Split) *Step {
	key := "numa.vcpu.maxPerVirtualNode"
	if t.g.setsNodes(t.m) {
		key = "numa.vcpu.coresPerNode"
	}
	used := t.setting(key)
	choice := ""
	because := key + " is set by hand"
	if _, set := t.vm.Settings.Value.Lookup(key); !set {
		if t.g.setsNodes(t.m) {
			because, used = "cores per NUMA node are set by hand", t.perNode()
		} else {
			because, choice = key+" is unset, which the manuals print as 8", "F-9"
		}
	}
	s := t.add("B-10", because, nodesOf(split), used)
	switch n := t.g.VCPUs; {
	case choice != "":
		s.Choice = choice
	case t.g.setsNodes(t.m):
	case t.g.MaxPerVirtualNode > 0 && n > t.g.MaxPerVirtualNode && n%t.g.MaxPerVirtualNode != 0:
		s.Choice = "F-30"
	case split.Len() > 1 && split.Max() < int(t.limit):
		s.Choice = "F-22"
	}
	return s
}

// notStored adds the reason why a stored size does not count, where one could exist.
func (t *tracer) notStored(why Reason, c *Case) {
	if t.g.Stored == 0 || c.usesStored(t.g) || why != ByClients && why != ByFit && why != ByThreshold {
		return
	}
	g, size := t.g, t.setting("numa.autosize.vcpu.maxPerVirtualNode")
	cookie := t.setting("numa.autosize.cookie")
	result := fmt.Sprintf("the stored %d vCPU per virtual node are void", g.Stored)
	switch {
	case g.CookieVCPUs == 0:
		t.add("B-9", "the stored size has no valid cookie", result, size, cookie)
	case g.CookieVCPUs != g.VCPUs:
		t.add("B-9", fmt.Sprintf("the cookie of the stored size names %d vCPU, the VM has %d", g.CookieVCPUs, g.VCPUs), result, size, cookie)
	case c.Event == FirstPowerOn || c.Event == VCPUsChanged:
		t.add("B-8", c.Event.String()+": the VM is sized afresh", result, size)
	case g.SizeEachTime:
		t.add("B-8", "numa.autosize.once = FALSE sizes the VM at every power-on", result, size, t.setting("numa.autosize.once"))
	default:
		t.add("B-9", fmt.Sprintf("the cookie of the stored size names %d cores per socket, the VM has %d", g.CookieCPS, g.CoresPerSocket),
			result, size, cookie).Choice = "F-13"
	}
}
