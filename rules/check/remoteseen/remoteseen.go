// Package remoteseen finds VMs that were observed with much remote memory.
package remoteseen

import (
	_ "embed"
	"fmt"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
	"example.org/homenode/rules/symptom"
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
	r.Tell = full(p, o, &f)
	causes := rule.RemoteCauses.Judge(&r)
	causes.Explain(&f)
	if !causes.Proven {
		f.Advice = "Record it (homenode record, serve or esxtop -b), which tells for how long and why. " + f.Advice
	}
	p.Report(f, layout)
}

// full adds that a home node had no room for new memory at the time of the observation, and returns the evidence of free memory for
// the causes: a node with room for all remote memory is not full.
func full(p *rule.Pass, o *numa.Observation, f *finding.Finding) map[string]symptom.Told {
	reserve, room := p.VM.On[0].Kind.Machine.Reserve(p.Choices.FillToMinFree).New, numa.Bytes(0)
	for _, n := range o.Homes.Value {
		if n >= len(o.Free.Value) || o.Free.Value[n] < 0 || p.VM.Home == nil {
			return nil
		}
		free := o.Free.Value[n]
		if free < reserve {
			f.Message += fmt.Sprintf("; home node %d had %s free, less than the %s that new memory leaves free", n, free, reserve)
			f.Evidence = append(f.Evidence, finding.Evidence{Name: fmt.Sprintf("free on node %d", n), Value: free.String(), Origin: o.Free.Origin.String(), At: o.At})
			return map[string]symptom.Told{"full": {Proven: true}, "spill": {Out: true}}
		}
		room += free - reserve
	}
	return map[string]symptom.Told{"full": {Out: room >= o.Remote.Value}}
}
