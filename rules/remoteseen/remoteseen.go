// Package remoteseen finds VMs that were seen with much of their memory remote.
package remoteseen

import (
	_ "embed"
	"fmt"

	"homenode/esxi/vnuma"
	"homenode/numa"
	"homenode/rules/finding"
	"homenode/rules/rule"
)

//go:embed remoteseen.md
var page string

// Rule is N035.
var Rule = rule.New(page, rule.Rule{Severity: finding.Medium, VMs: true, Check: check, Glance: true})

func check(p *rule.Pass) {
	v := p.VM
	if v.Host == nil || v.Power.Or(numa.PoweredOn) != numa.PoweredOn {
		return
	}
	o := v.SeenAt(v.Host)
	if o == nil {
		return
	}
	share, ok := o.Locality()
	limit := p.Of("M001", "locality", rule.LowLocality)
	if !ok || share >= limit || o.Remote.Value < numa.Bytes(p.Of("M001", "remote", rule.LowRemote)*float64(numa.GiB)) {
		return
	}
	homes, at := numa.SetOf(o.Homes.Value...), o.At
	when := ""
	if o.Time != "" {
		when = " at " + o.Time
	}
	f := finding.Finding{
		Severity: finding.Medium,
		Message: fmt.Sprintf("%s of its %s were remote when %s looked%s: N%%L %s, home on %s of %s; for how long is not known",
			o.Remote.Value, o.Local.Value+o.Remote.Value, o.By, when, rule.NL(share), rule.Nodes(homes), v.Host.Name),
		Evidence: []finding.Evidence{
			{Name: "N%L", Value: rule.NL(share), Origin: "derived: local and remote memory", At: at},
			finding.Of("local memory", o.Local, at), finding.Of("remote memory", o.Remote, at),
			{Name: "home nodes", Value: homes.String(), Origin: o.Homes.Origin.String(), At: at},
			rule.Limit("M001.locality", rule.NL(limit), p.Thresholds),
		},
	}
	var layout *vnuma.Layout
	r := rule.Remote{VM: v, Host: v.Host, Seen: o.Remote.Value}
	if l := &v.On[0].Layout; v.Home != nil {
		r.On = &v.On[0]
		if l.Memory.Remote > 0 {
			layout = l
			f.Message += "; on an empty host " + v.RemoteText(l)
		}
	}
	causes := rule.RemoteCauses.Judge(&r)
	causes.Explain(&f)
	if !causes.Proven {
		f.Advice = "Record it (homenode record, serve or esxtop -b), which tells for how long and why. " + f.Advice
	}
	p.Report(f, layout)
}
