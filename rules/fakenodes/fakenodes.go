// Package fakenodes finds Windows guests that make up NUMA nodes for vCPUs that could
// be hot-added.
package fakenodes

import (
	"fmt"
	"strings"

	"homenode/esxi/vnuma"
	"homenode/rules/finding"
	"homenode/rules/rule"
)

// Rule is N015.
var Rule = &rule.Rule{
	ID:    "N015",
	Name:  "fakenodes",
	Title: "Windows makes fake NUMA nodes for vCPUs that could be hot-added",
	Why: `A VM with CPU hot add is built for its largest possible vCPU count, 128 for most guests. Windows
before build 20348 (Server 2022, Windows 11) puts at most 64 processors into a processor group, counts those
that are not there yet, and makes a NUMA node for each further group. Up to 64 vCPUs that node is empty and
harmless. Beyond 64 vCPUs it has processors but no memory: applications place threads on a node that has
nothing near them.`,
	Fix: `Up to 64 vCPUs: set cpuid.maxVCPUs to 64 or less, then power off and on. Beyond 64 vCPUs: switch
CPU hot add off, or run Windows Server 2022 or later.`,
	Limits: `The guest system is what the VM's settings name, not what is installed: “Server 2016 or later” is
taken as 2016. The article names ESXi 6.5 to 7.0; Windows decides, so 8.0 is judged alike. Virtual hardware
before 11 has at most 64 vCPUs, and a guest system may support fewer than 128: then there are none.`,
	Book: []string{"B-15"},
	Sources: []string{
		"Broadcom KB 340275 (old 83980), Enabling vCPU HotAdd creates fake NUMA nodes on Windows, https://knowledge.broadcom.com/external/article/340275",
		"Microsoft, NUMA Support (behaviour starting with Windows 10 build 20348), https://learn.microsoft.com/en-us/windows/win32/procthread/numa-support",
		"VMware vSphere Virtual Machine Administration, limits of CPU hot add (GUID-13AD347E), hardware features of each compatibility setting",
	},
	Severity: finding.Medium,
	VMs:      true,
	Check:    check,
}

const (
	group = 64 // processors of a Windows processor group
	// A VM that is powered on with up to 128 vCPUs can grow to 128, a larger one to
	// 256 (GUID-13AD347E).
	growsTo     = 128
	largeGrowTo = 256
	// manyVCPUs is the first virtual hardware with more than 64 vCPUs.
	manyVCPUs = 11
)

func check(p *rule.Pass) {
	v := p.VM
	system, makes := windowsBefore20348(v.GuestOS.Value)
	on := &v.On[0]
	if !makes || on.Layout.Why != vnuma.ByHotAdd || v.Guest.Hardware < manyVCPUs {
		return
	}
	most := growsTo
	if v.Guest.VCPUs > growsTo {
		most = largeGrowTo
	}
	if limit := int(v.Guest.MaxVCPUs); limit > 0 {
		most = min(most, max(limit, int(v.Guest.VCPUs)))
	}
	if most <= group {
		return
	}
	f := finding.Finding{
		Evidence: []finding.Evidence{
			finding.Of("guest system", v.GuestOS, v.At), v.VCPUsEvidence(), finding.Of("CPU hot add", v.CPUHotAdd, v.At), v.SettingEvidence("cpuid.maxVCPUs"),
		},
	}
	groups := (most + group - 1) / group
	if v.Guest.VCPUs <= group {
		f.Severity = finding.Info
		f.Message = fmt.Sprintf("%s counts %d vCPUs that could be hot-added: it makes %d processor groups of %d and shows %s beside the one with its %d vCPUs",
			system, most, groups, group, rule.Plural(groups-1, "empty NUMA node"), v.Guest.VCPUs)
		f.Advice = fmt.Sprintf("Set cpuid.maxVCPUs = %d or less, then power off and on; without it only tools that list nodes are misled", group)
		report(p, f)
		return
	}
	f.Severity = finding.Medium
	used := (int(v.Guest.VCPUs) + group - 1) / group
	f.Message = fmt.Sprintf("%s divides %d vCPUs over %d processor groups of %d, each a NUMA node, but there is one virtual node: %s with vCPUs and no memory",
		system, v.Guest.VCPUs, used, group, rule.Plural(used-1, "fake node"))
	f.Advice, f.Notice = advice(p)
	report(p, f)
}

// report adds the finding. The name “Server 2016 or later” also stands for systems
// that make no fake nodes.
func report(p *rule.Pass, f finding.Finding) {
	p.Report(f, &p.VM.On[0].Layout)
	if strings.Contains(p.VM.GuestOS.Value, "or later") {
		last := &p.Findings[len(p.Findings)-1]
		last.Assumes = append(last.Assumes, "of “"+p.VM.GuestOS.Value+"” the oldest is taken: from Server 2022 on Windows makes no fake nodes")
	}
}

// advice says how a guest beyond a processor group gets true nodes. Without hot add
// it does when no virtual node is larger than a group.
func advice(p *rule.Pass) (advice, notice string) {
	const upgrade = "Run Windows Server 2022 or later, whose nodes may have more than 64 processors"
	plan := p.Plan()
	if !plan.Better || !plan.Edit.HotAddOff || plan.After[0].VPDs.Max() > group {
		return upgrade, ""
	}
	advice, notice = p.Advice()
	return rule.Or(advice, upgrade), notice
}
