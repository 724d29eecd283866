// Package subnuma finds hosts whose packages are divided into several NUMA nodes.
package subnuma

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"homenode/internal/words"

	"homenode/esxi/product"
	"homenode/esxi/vnuma"
	"homenode/numa"
	"homenode/rules/finding"
	"homenode/rules/rule"
)

//go:embed subnuma.md
var page string

// Rule is H003.
var Rule = rule.New(page, rule.Rule{Severity: finding.Medium, Check: check})

func check(p *rule.Pass) {
	h := p.Host
	packages := h.Packages.Or(0)
	if p.Kind == nil || h != p.Kind.Hosts[0] || h.Nodes.Origin.Kind == numa.Assumed || packages < 1 {
		return // hosts of one kind are one finding
	}
	nodes := int(p.Kind.Machine.Nodes) // with cores: memory-only nodes divide no package
	if nodes <= packages || nodes%packages != 0 {
		return
	}
	perPackage := nodes / packages
	mode, harmful := modeOf(h, perPackage)
	if len(p.Kind.Hosts) > 1 {
		mode += " on " + rule.HostNames(p.Kind.Hosts)
	}
	wide := madeWide(p, perPackage)
	names := words.Texts(wide, func(v *rule.VM) string { return v.Name })
	f := finding.Finding{
		Severity: finding.Info,
		Message: fmt.Sprintf("%s: %d packages are %d nodes of %d cores; no VM of the cluster becomes wide by it",
			mode, packages, nodes, p.Kind.Machine.Cores),
		Evidence: []finding.Evidence{
			finding.Of("packages", h.Packages, h.At), p.Kind.NodesEvidence(), finding.Of("processor", h.CPUModel, h.At),
		},
	}
	if len(wide) > 0 {
		f.Severity = finding.Medium
		f.Message = fmt.Sprintf("%s: %d packages are %d nodes of %d cores, which makes %s wide that would fit a package: %s",
			mode, packages, nodes, p.Kind.Machine.Cores, rule.Plural(len(wide), "VM"), words.First(3, names))
		f.Costs = rule.VMIDs(wide)
		f.Advice = "Choose one node per package in the BIOS setup (SNC off, NPS1), or size these VMs for the smaller nodes"
	}
	if keep := keepsSNC(p, perPackage, len(wide) > 0); keep != "" {
		f.Advice = keep
	}
	if harmful {
		f.Severity = finding.Medium
		f.Advice = "Switch L3 (CCX) as NUMA off in the BIOS setup: it skews the NUMA scheduler"
	}
	if h.Nested() {
		f.Advice = "The nodes are those of the nested host's own VM: change them in its configuration, no BIOS setting does"
	}
	f.On = p.OfHosts(p.Kind.Hosts)
	p.Report(f, nil)
}

// keepsSNC says why SNC-2 may have to stay: on Sapphire Rapids SAP supports two production
// VMs of SAP HANA on a socket with SNC-2 alone. harm: it makes VMs wide.
func keepsSNC(p *rule.Pass, perPackage int, harm bool) string {
	if perPackage != 2 || !p.Host.SapphireRapids() {
		return ""
	}
	var names []string
	unknown := false
	for _, v := range p.Cluster.VMs {
		if slices.ContainsFunc(v.Products(), func(o product.Product) bool { return o.HANA() }) {
			names = append(names, v.Name)
		}
		unknown = unknown || !v.Software().Known()
	}
	const support = "on Sapphire Rapids production VMs of SAP HANA that share a socket are supported with SNC-2 only (SAP note 3372365)"
	switch {
	case names != nil:
		return "Keep SNC-2 for " + words.First(3, names) + ": " + support + "; size the other VMs for the smaller nodes"
	case unknown && harm:
		return "It depends on what runs here: choose one node per package in the BIOS setup (SNC off), or size the VMs for the smaller nodes; with SAP HANA keep SNC-2: " + support
	}
	return ""
}

var (
	clusterOnDie = regexp.MustCompile(`E[57]-[248]?\d{3,4}\w* v[34]`)
	naples       = regexp.MustCompile(`EPYC 7\d\d1`)
)

// modeOf names what divides the package, as far as the processor tells, and
// whether it is L3-as-NUMA, which no NPS setting makes: more than 4 nodes.
func modeOf(h *numa.Host, perPackage int) (mode string, harmful bool) {
	cpu := h.CPUModel.Value
	switch {
	case h.Nested():
		return "nested, its VM has virtual NUMA nodes", false
	case naples.MatchString(cpu) && perPackage == 4:
		return "EPYC 7001 with a node per die", false
	case strings.Contains(cpu, "EPYC") && perPackage > 4:
		return fmt.Sprintf("L3 (CCX) as NUMA, %d nodes per package", perPackage), true
	case strings.Contains(cpu, "EPYC"):
		return fmt.Sprintf("NPS%d", perPackage), false
	case strings.Contains(cpu, "Opteron"):
		return fmt.Sprintf("Opteron with %d dies per package", perPackage), false
	case clusterOnDie.MatchString(cpu):
		return "cluster-on-die", false
	case strings.Contains(cpu, "Xeon"):
		return fmt.Sprintf("sub-NUMA clustering (SNC%d)", perPackage), false
	}
	return fmt.Sprintf("%d nodes per package", perPackage), false
}

// madeWide lists the VMs of the cluster that would have one client if the package
// were one node, and have several on this host, by name.
func madeWide(p *rule.Pass, perPackage int) []*rule.VM {
	whole := p.Kind.Machine.Merged(int32(perPackage))
	var wide []*rule.VM
	for _, v := range p.Cluster.VMs {
		here := vnuma.Predict(&v.Guest, &p.Kind.Machine, &vnuma.Case{Choices: p.Choices})
		if !here.Wide() {
			continue
		}
		there := vnuma.Predict(&v.Guest, &whole, &vnuma.Case{Event: vnuma.FirstPowerOn, Choices: p.Choices})
		if !there.Wide() {
			wide = append(wide, v)
		}
	}
	slices.SortStableFunc(wide, func(a, b *rule.VM) int { return strings.Compare(a.Name, b.Name) })
	return wide
}
