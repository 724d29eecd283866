// Package fakenodes finds Windows guests that create NUMA nodes for vCPUs that could be
// hot-added.
package fakenodes

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/esxi/product"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

//go:embed fakenodes.md
var page string

// Rule is N015.
var Rule = rule.New(page, rule.Rule{Severity: finding.Medium, VMs: true, Placed: true, Check: check})

const (
	group = 64 // processors of a Windows processor group
	// A VM that is powered on with up to 128 vCPUs can grow to 128, a larger one to 256
	// (GUID-13AD347E).
	growsTo     = 128
	largeGrowTo = 256
	// manyVCPUs is the first virtual hardware version with more than 64 vCPUs.
	manyVCPUs = 11
)

func check(p *rule.Pass) {
	v := p.VM
	i := slices.IndexFunc(v.Products(), func(o product.Product) bool { return o.SplitsNodes() })
	on := &v.On[0]
	if i < 0 || v.Guest.Hardware < manyVCPUs && on.Layout.Why == vnuma.ByHotAdd {
		return
	}
	windows := v.Products()[i]
	system := windows.String()
	if on.Layout.Why != vnuma.ByHotAdd {
		split(p, system)
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
			system, most, groups, group, words.Plural(groups-1, "empty NUMA node"), v.Guest.VCPUs)
		f.Ways = []numa.Way{{Do: fmt.Sprintf("set cpuid.maxVCPUs = %d or less%s; without it only tools that list nodes are misled", group, p.VM.Cycle()),
			Edits: []numa.Edit{numa.Assign("cpuid.maxVCPUs", strconv.Itoa(group))}, Auto: true}}
		report(p, f)
		return
	}
	f.Severity = finding.Medium
	used := (int(v.Guest.VCPUs) + group - 1) / group
	f.Message = fmt.Sprintf("%s divides %d vCPUs over %d processor groups of %d, each a NUMA node, but there is one virtual node: %s with vCPUs and no memory",
		system, v.Guest.VCPUs, used, group, words.Plural(used-1, "fake node"))
	f.Ways, f.Notice = ways(p)
	report(p, f)
}

// split finds nodes larger than a processor group without any hot add.
func split(p *rule.Pass, system string) {
	v := p.VM
	on, others, ok := p.Worst(func(o *rule.On) bool { return o.Layout.VPDs.Max() > group })
	if !ok {
		return
	}
	size := on.Layout.VPDs.Max()
	f := finding.Finding{
		Severity: finding.Medium,
		Message: fmt.Sprintf("%s divides a virtual node of %d vCPUs%s over %d processor groups of at most %d and shows each as a node: %s",
			system, size, p.Where(others), (size+group-1)/group, group, words.Plural((size+group-1)/group-1, "fake node")),
		Evidence: []finding.Evidence{v.SoftwareEvidence(), v.VCPUsEvidence(), on.Kind.NodesEvidence()},
	}
	f.Ways, f.Notice = ways(p)
	report(p, f)
}

// report adds the finding. The name “Server 2016 or later” also includes systems without fake
// nodes.
func report(p *rule.Pass, f finding.Finding) {
	p.Report(f, &p.VM.On[0].Layout)
	if strings.Contains(p.VM.GuestOS.Value, "or later") {
		last := &p.Findings[len(p.Findings)-1]
		last.Assumes = append(last.Assumes, "of “"+p.VM.GuestOS.Value+"” the oldest is taken: from Server 2022 on Windows makes no fake nodes")
	}
}

// ways returns the ways to give the real nodes to a guest that is larger than a processor
// group. Without hot add it gets them if no virtual node is larger than a group.
func ways(p *rule.Pass) (ways []numa.Way, notice string) {
	if plan := p.Plan(); plan.Better && plan.After[0].VPDs.Max() <= group {
		ways, notice = p.PlanWays()
	}
	return append(ways, numa.ByHand("run Windows Server 2022 or later, whose nodes may have more than 64 processors")), notice
}
