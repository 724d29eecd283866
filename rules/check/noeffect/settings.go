package noeffect

import (
	"fmt"
	"strings"

	"example.org/homenode/esxi/plan"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/rule"
)

const allowHotAdd = "numa.allowHotadd"

// settings lists the conditions under which a setting of a VM has no effect on a kind of host. idle returns the
// reason, or nothing if it has an effect, or is at its default.
var settings = []struct {
	key  string
	idle func(*rule.Pass, *rule.On) string
}{
	{"numa.vcpu.maxPerVirtualNode", func(p *rule.Pass, o *rule.On) string {
		if p.VM.Guest.MaxPerVirtualNode == 0 {
			return ""
		}
		if o.Layout.Why == vnuma.ByThreshold {
			return "from 6.5 on a VM of fewer vCPUs than numa.vcpu.min is always shown one node (B-3, F-28)"
		}
		return overruled(o)
	}},
	{"numa.vcpu.coresPerNode", func(p *rule.Pass, o *rule.On) string {
		switch {
		case p.VM.Guest.CoresPerNode == 0:
			return ""
		case o.Kind.Machine.Model() < numa.ESXi80:
			return "it exists from 8.0 on (B-10)"
		}
		return overruled(o)
	}},
	{"numa.vcpu.min", func(p *rule.Pass, o *rule.On) string {
		g := &p.VM.Guest
		switch {
		case g.Min == 0:
			return ""
		case o.Layout.Why == vnuma.ByFit && g.Min <= g.VCPUs:
			return "it does not split a VM that fits a node, and a single node is not shown (B-3)"
		case o.Layout.Why == vnuma.ByManual && g.Min <= g.VCPUs && manualWithoutMin(p, o):
			return "a size set by hand shows vNUMA anyway (B-3)"
		}
		return overruled(o)
	}},
	{"numa.vcpu.followcorespersocket", func(p *rule.Pass, o *rule.On) string {
		if p.VM.Guest.Follow && o.Kind.Machine.Model() < numa.ESXi65 {
			return "it exists from 6.5 on, before cores per socket are the size of a virtual node anyway (B-10, B-11)"
		}
		return ""
	}},
	{allowHotAdd, func(p *rule.Pass, o *rule.On) string {
		g := &p.VM.Guest
		switch {
		case !g.VNUMAHotAdd:
			return ""
		case o.Kind.Machine.Model() < numa.ESXi80:
			return "it needs ESXi 8.0 (B-15)"
		case p.VM.Hardware.Known() && g.Hardware < 20:
			return fmt.Sprintf("it needs virtual hardware 20, the VM has %d (B-15)", g.Hardware)
		case p.VM.CPUHotAdd.Known() && !g.HotAdd:
			return "CPU hot add is off (B-15)"
		}
		return ""
	}},
	{"numa.autosize", func(p *rule.Pass, o *rule.On) string {
		if p.VM.Guest.Autosize && hostSized(p, o) {
			return "the manuals up to 6.0 know it, later releases size virtual nodes by the host (B-10, F-9)"
		}
		return ""
	}},
	{"numa.autosize.once", func(p *rule.Pass, o *rule.On) string {
		switch {
		case !p.VM.Guest.SizeEachTime:
			return ""
		case o.Layout.Why == vnuma.ByManual:
			return "a size set by hand switches autosizing off (B-10)"
		}
		return overruled(o)
	}},
	{"numa.vcpu.maxPerMachineNode", func(p *rule.Pass, o *rule.On) string {
		return limit(p, o, p.VM.Guest.MaxPerMachineNode, p.VM.Guest.MaxPerClient, "numa.vcpu.maxPerClient")
	}},
	{"numa.vcpu.maxPerClient", func(p *rule.Pass, o *rule.On) string {
		return limit(p, o, p.VM.Guest.MaxPerClient, p.VM.Guest.MaxPerMachineNode, "numa.vcpu.maxPerMachineNode")
	}},
	{"numa.consolidate", func(p *rule.Pass, o *rule.On) string {
		switch {
		case !p.VM.Guest.Spread:
			return ""
		case !hostSized(p, o):
			return "it is known from 6.5 on (B-17)"
		case o.Kind.Machine.Nodes == 1:
			return "the host has one node (B-17)"
		}
		plain := p.VM.Guest
		plain.Spread = false
		for _, event := range []vnuma.Event{vnuma.PowerCycle, vnuma.FirstPowerOn} {
			c := vnuma.Case{Event: event, Choices: p.Choices}
			a, b := vnuma.Predict(&p.VM.Guest, &o.Kind.Machine, &c), vnuma.Predict(&plain, &o.Kind.Machine, &c)
			if !a.SameGuest(&b) || !a.PPDs.Equal(b.PPDs) || a.Memory != b.Memory {
				return ""
			}
		}
		return fmt.Sprintf("without it the VM also runs as %s (B-17)", words.Plural(o.Layout.PPDs.Len(), "client"))
	}},
	{"numa.vcpu.preferHT", func(p *rule.Pass, o *rule.On) string {
		if p.VM.Guest.PreferHT && o.Kind.Machine.Model() < numa.ESX41 {
			return "it exists from 4.1 on (B-14)"
		}
		return ""
	}},
	{"cpuid.maxVCPUs", func(p *rule.Pass, _ *rule.On) string {
		if p.VM.CPUHotAdd.Known() && !p.VM.Guest.HotAdd {
			return "it bounds CPU hot add, which is off (B-15)"
		}
		return ""
	}},
	{"cpuid.numSMT", func(p *rule.Pass, o *rule.On) string {
		if value, _ := p.VM.Settings.Value.Lookup("cpuid.numSMT"); strings.TrimSpace(value) != "1" && o.Kind.Machine.Model() < numa.ESXi80 {
			return "it exists from 8.0 on (B-18)"
		}
		return ""
	}},
}

// manualWithoutMin reports whether a manually set size would be visible without numa.vcpu.min, also if NUMA Nodes
// need it (F-29).
func manualWithoutMin(p *rule.Pass, o *rule.On) bool {
	bare := p.VM.Guest
	bare.Min = 0
	ch := p.Choices
	ch.NodesNeedMin = true
	l := vnuma.Predict(&bare, &o.Kind.Machine, &vnuma.Case{Choices: ch})
	return l.Why == vnuma.ByManual
}

// overruled returns the reason why the guest sees one node regardless of the sizes.
func overruled(o *rule.On) string {
	switch o.Layout.Why {
	case vnuma.ByHotAdd:
		return "CPU hot add forces one virtual node (B-15)"
	case vnuma.ByHardware:
		return "virtual hardware before 8 has no vNUMA (B-2)"
	case vnuma.ByRelease:
		return "ESX before 5.0 has no vNUMA (B-2)"
	}
	return ""
}

// hostSized reports whether virtual nodes follow the host: from 6.5 on, unless cores per socket determine them as
// before (B-12).
func hostSized(p *rule.Pass, o *rule.On) bool {
	return o.Kind.Machine.Model() >= numa.ESXi65 && !o.Kind.Machine.Follow && !p.VM.Guest.Follow
}

// limit returns the reason why a limit of vCPUs per client has no effect; other is the second limit.
func limit(p *rule.Pass, o *rule.On, value, other int32, otherKey string) string {
	g := &p.VM.Guest
	free := plan.Edit{LimitsOff: true}.Apply(*g)
	without := vnuma.Predict(&free, &o.Kind.Machine, &vnuma.Case{Choices: p.Choices})
	switch {
	case value == 0:
		return ""
	case o.Kind.Machine.Model() < numa.ESX41:
		return "it exists from 4.1 on (B-10)"
	case int(value) >= without.Capacity:
		return fmt.Sprintf("a node holds %d vCPUs of a client anyway (B-4)", without.Capacity)
	case value >= g.VCPUs:
		return fmt.Sprintf("the VM has %s (B-4)", words.Plural(int(g.VCPUs), "vCPU"))
	case other > 0 && other < value:
		return fmt.Sprintf("%s = %d is lower (B-10)", otherKey, other)
	}
	return ""
}
