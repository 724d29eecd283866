package rule

import (
	"fmt"
	"slices"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
)

// AfterCures returns the cluster with its hosts after their fixes; nil if there are none.
func (c *Cluster) AfterCures() *Cluster {
	if !slices.ContainsFunc(c.Kinds, func(k *Kind) bool { return k.Cure != nil }) {
		return nil
	}
	out := &Cluster{Name: c.Name, Hosts: c.Hosts, VMs: c.VMs, Part: c.Part, Templates: c.Templates, Choices: c.Choices}
	for _, k := range c.Kinds {
		then := &Kind{Machine: k.Machine, Hosts: k.Hosts, AllReady: k.AllReady}
		if k.Cure != nil {
			then.Machine = k.Cure.Machine
		}
		out.Kinds = append(out.Kinds, then)
	}
	return out
}

// order adds the order of changes if the host of the VM has a fix that changes its nodes: advice for a VM is computed for the present host,
// and may be unnecessary or wrong afterwards.
func (p *Pass) order(f *finding.Finding) {
	v, cured := *p.VM, p.Cluster.Cured
	if cured == nil || v.Home == nil || v.Home.Cure == nil || f.Advice == "" || f.Severity == finding.Info {
		return
	}
	cure := v.Home.Cure
	v.Home = cured.Kinds[slices.Index(p.Cluster.Kinds, v.Home)]
	then := func(edits []numa.Edit) []finding.Finding { return cured.Weigh(&v, p.trial(edits)) }
	left := func(all []finding.Finding) bool {
		return slices.ContainsFunc(all, func(a finding.Finding) bool {
			return a.Rule == f.Rule && a.Topic == f.Topic && a.Severity > finding.Info
		})
	}
	now, why := then(nil), ""
	if !left(now) {
		why = "with which nothing of this is left"
	}
	for i := range f.Ways {
		if edits := f.Ways[i].Edits; why == "" && edits != nil {
			if after := then(edits); left(after) || WeightOf(after).Compare(WeightOf(now)) > 0 {
				why = "since this advice is for the nodes as they are"
			}
		}
	}
	if why != "" {
		f.Advice = fmt.Sprintf("First decide on %s (%s), %s. While the host stays as it is: %s", cure.Do, cure.By, why, words.Lower(f.Advice))
	}
}
