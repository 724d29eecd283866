// Package subnuma finds hosts whose packages are divided into several NUMA nodes.
package subnuma

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/esxi/product"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/numa/pattern"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
	"example.org/homenode/rules/symptom"
)

//go:embed subnuma.md
var page string

// Rule is H003.
var Rule = rule.New(page, rule.Rule{Severity: finding.Medium, Check: check})

// split is a host and the division of its packages.
type split struct {
	*numa.Host
	nodes, cores int // nodes of a package, cores of a node
}

// is returns the function for a cause: proven if it applies, or possible, otherwise ruled out by the processor.
func is(proven, possible func(split) bool) func(split) symptom.Told {
	return func(s split) symptom.Told {
		return symptom.Told{Proven: proven(s), Out: s.Nested() || s.CPUModel.Known() && !possible(s)}
	}
}

func never(split) bool { return false }

// epyc reports whether the processor is an EPYC whose firmware can divide its packages: not those of several dies.
func epyc(s split) bool { return strings.Contains(s.CPUModel.Value, "EPYC") && s.Dies() == 1 }

// caches reports whether a node may consist of the cores of one last-level cache: on an EPYC, the same number of cores, or an
// unknown number.
func caches(s split) bool {
	if n := s.Caches(); n > 0 {
		return s.nodes == n
	}
	c := s.CacheCores()
	return epyc(s) && (!c.Known() || s.cores <= c.Value)
}

// causes are the possible causes of a divided package.
var causes = symptom.CausesOf("split-package", map[string]func(split) symptom.Told{
	"nested": func(s split) symptom.Told { return symptom.Told{Proven: s.Nested(), Out: !s.Nested()} },
	"fake":   func(s split) symptom.Told { return symptom.Kernel(s.Host, "fakeNUMAnodes", "0") },
	"dies": is(func(s split) bool { return s.Dies() == s.nodes && !s.Nested() },
		func(s split) bool { return s.Dies() == s.nodes }),
	"nps": is(never, func(s split) bool {
		return epyc(s) && (s.nodes == 2 || s.nodes == 4 && !noQuarters.MatchString(s.CPUModel.Value))
	}),
	"cache": is(never, caches),
	"cod":   is(never, func(s split) bool { return s.nodes == 2 && clusterOnDie.MatchString(s.CPUModel.Value) }),
	"snc": is(never, func(s split) bool {
		return subNUMA.MatchString(s.CPUModel.Value) && (s.nodes == 2 || !twoClusters.MatchString(s.CPUModel.Value))
	}),
})

func check(p *rule.Pass) {
	h := p.Host
	packages := h.Packages.Or(0)
	if p.Kind == nil || h != p.Kind.Hosts[0] || h.Nodes.Origin.Kind == numa.Assumed || packages < 1 {
		return // one finding for the hosts of one kind
	}
	nodes := int(p.Kind.Machine.Nodes) // with cores: memory-only nodes do not divide packages
	if nodes <= packages || nodes%packages != 0 {
		return
	}
	perPackage := nodes / packages
	v := causes.Judge(split{h, perPackage, int(p.Kind.Machine.Cores)})
	divided := fmt.Sprintf("%s: %s %d nodes of %s", modeOf(&v, perPackage, p.Kind.Hosts), words.Verb(packages, "package is", "packages are"), nodes, words.Plural(int(p.Kind.Machine.Cores), "core"))
	wide := madeWide(p, perPackage)
	here := slices.DeleteFunc(slices.Clone(wide), func(v *rule.VM) bool { return v.Host != nil && !slices.Contains(p.Kind.Hosts, v.Host) })
	names := words.Texts(wide, func(v *rule.VM) string { return v.Name })
	f := finding.Finding{
		Severity: finding.Info,
		Message:  divided + "; no VM of the cluster that fits a package becomes wide by it",
		Evidence: []finding.Evidence{
			finding.Of("packages", h.Packages, h.At), p.Kind.NodesEvidence(), finding.Of("processor", h.CPUModel, h.At),
		},
		Causes: v.Left,
	}
	if len(wide) > 0 {
		f.Severity, f.Wide = finding.Medium, !v.Only("cache")
		f.Message = fmt.Sprintf("%s, which makes %s wide that would fit a package: %s", divided, words.Plural(len(wide), "VM"), words.First(3, names))
		if f.Costs = rule.VMIDs(here); here == nil { // they become wide when they move here
			f.Costs = rule.VMIDs(wide)
		}
	}
	if len(wide) > 0 || v.Only("cache") || v.Only("nested") || v.Is("fake") && v.Proven {
		told := finding.Finding{}
		v.Explain(&told)
		f.Ways, f.Advice, f.Evidence = told.Ways, told.Advice, append(f.Evidence, told.Evidence...)
		if len(v.Left) == 1 {
			f.Advice = words.Capital(v.Left[0].Do)
		}
	}
	keep, must := keepsSNC(p, perPackage, len(wide) > 0)
	setting := slices.ContainsFunc([]string{"fake", "nps", "cache", "cod", "snc"}, v.Is)
	if f.Advice != "" && setting && !must {
		p.Kind.Cure = &rule.Cure{Machine: p.Kind.Machine.Repaired().Merged(int32(perPackage)), Do: "one node for each package of the host", By: p.Rule.ID}
	}
	if keep != "" && v.Is("snc") {
		f.Advice, f.Ways = keep, nil
	} else if setting {
		f.Split = rule.VMIDs(slices.DeleteFunc(here, func(v *rule.VM) bool { return v.Host == nil }))
	}
	if v.Only("cache") {
		f.Severity = finding.Medium
	}
	f.On = p.OfHosts(p.Kind.Hosts)
	p.Report(f, nil)
}

// keepsSNC returns the reason why SNC-2 may, or must, remain: on Sapphire Rapids SAP supports two production VMs of SAP HANA on a
// socket only with SNC-2. harm: it makes VMs wide.
func keepsSNC(p *rule.Pass, perPackage int, harm bool) (why string, must bool) {
	if perPackage != 2 || !p.Host.SapphireRapids() {
		return "", false
	}
	var names []string
	unknown := false
	for _, v := range p.Cluster.VMs {
		if slices.ContainsFunc(v.Products(), func(o product.Product) bool { return o.HANA() }) {
			names = append(names, v.Name)
		}
		unknown = unknown || product.Of(v.Software().Value) == nil
	}
	const support = "on Sapphire Rapids production VMs of SAP HANA that share a socket are supported with SNC-2 only (SAP note 3372365)"
	switch {
	case names != nil:
		return "Keep SNC-2 for " + words.First(3, names) + ": " + support + "; size the other VMs for the smaller nodes", true
	case unknown && harm:
		return "It depends on what runs here: choose one node per package in the BIOS setup (SNC off), or size the VMs for the smaller nodes; with SAP HANA keep SNC-2: " + support, false
	}
	return "", false
}

var (
	clusterOnDie = pattern.Of(`E[57]-[248]?\d{3,4}\w* v[34]`)
	// Skylake and Cascade Lake divide a die in two clusters (AnandTech on Xeon D-2100 and Scalable, 2018); the 9200 have two dies.
	twoClusters = pattern.Of(`(Platinum|Gold|Silver|Bronze) [3-8][12]\d\d`)
	// EPYC 7002 of two or six chiplets have no NPS4 (Dell EMC, PowerEdge R6525 technical guide, NPS options per processor).
	noQuarters = pattern.Of(`EPYC 7(2[3578]|55)2P?\b`)
	subNUMA    = pattern.Of(`Xeon.*(Platinum|Gold|Silver|Bronze|Max|\b6\d{3}[A-Z]*\b)`)
)

// modeOf names the setting that divides the packages of the hosts, according to the facts.
func modeOf(v *symptom.Verdict, perPackage int, hosts []*numa.Host) string {
	names := words.Texts(v.Left, func(c finding.Cause) string {
		switch c.Key {
		case "nps":
			return fmt.Sprintf("NPS%d", perPackage)
		case "snc":
			return fmt.Sprintf("sub-NUMA clustering (SNC%d)", perPackage)
		case "cache":
			return fmt.Sprintf("L3 (CCX) as NUMA, %d nodes per package", perPackage)
		case "dies":
			return fmt.Sprintf("a node for each of the %d dies of a package", perPackage)
		}
		return c.Text
	})
	mode := strings.Join(names, ", or ")
	if len(names) == 0 {
		mode = fmt.Sprintf("%d nodes per package, which no known cause explains for this processor", perPackage)
	}
	if len(hosts) > 1 {
		mode += " on " + rule.HostNames(hosts)
	}
	return mode
}

// madeWide lists the VMs of the cluster that fit a package, would have one client if
// it were one node, and have several on this host, by name.
func madeWide(p *rule.Pass, perPackage int) []*rule.VM {
	whole := p.Kind.Machine.Merged(int32(perPackage))
	var wide []*rule.VM
	for _, v := range p.Cluster.VMs {
		fits := v.Guest.VCPUs <= whole.Cores || v.Guest.PreferHT || whole.PreferHT
		if !fits || v.OnHost(p.Host.ID) == nil { // a device ties it to another host
			continue
		}
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
