// Package hotaddfits clears VMs with CPU hot add that fit a NUMA node.
package hotaddfits

import (
	"fmt"

	"homenode/esxi/vnuma"
	"homenode/rules/finding"
	"homenode/rules/rule"
)

// Rule is N002.
var Rule = &rule.Rule{
	ID:    "N002",
	Name:  "hotaddfits",
	Title: "CPU hot add on a VM that fits its node: it hides nothing",
	Why: `CPU hot add forces one virtual NUMA node. A VM that fits a physical node has one virtual
node anyway: nothing is hidden, nothing is interleaved. Popular checkers flag every VM with hot add;
this verdict says that here it costs no locality.`,
	Fix: `Nothing to do for the layout; where N015 speaks too, do what that says. Think again before the VM grows beyond a node.`,
	Limits: `Windows before build 20348 can show an empty fake NUMA node because a VM with hot add is built
for its largest possible vCPU count: N015 says so.`,
	Book: []string{"B-15"},
	Sources: []string{
		"Denneman, Impact of CPU hot add on NUMA scheduling, 2017, https://frankdenneman.nl/2017/04/14/impact-cpu-hot-add-numa-scheduling/",
		"Broadcom KB 340275, https://knowledge.broadcom.com/external/article/340275",
	},
	Severity: finding.Info,
	VMs:      true,
	Check:    check,
}

func check(p *rule.Pass) {
	v := p.VM
	if !v.CPUHotAdd.Known() || !v.Guest.HotAdd || len(v.On) == 0 {
		return
	}
	off := v.Guest.Apply(vnuma.Edit{HotAddOff: true})
	if _, _, matters := p.Worst(func(o *rule.On) bool {
		without := vnuma.Predict(&off, &o.Kind.Machine, &vnuma.Case{Choices: p.Choices})
		return o.Layout.Wide() || !o.Layout.Managed || o.Layout.Memory.Remote > 0 || int(v.Guest.VCPUs) > o.Layout.Capacity || !o.Layout.VPDs.Equal(without.VPDs)
	}); matters {
		return
	}
	on := &v.On[0]
	p.Report(finding.Finding{
		Severity: finding.Info,
		Message: fmt.Sprintf("CPU hot add hides nothing here: %d vCPUs fit one client (up to %d here), so the VM has one virtual node anyway",
			v.Guest.VCPUs, on.Layout.Capacity),
		Evidence: []finding.Evidence{v.VCPUsEvidence(), finding.Of("CPU hot add", v.CPUHotAdd, v.At), on.Kind.NodesEvidence()},
	}, &on.Layout)
}
