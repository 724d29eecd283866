// Package manualfit finds manually set virtual nodes that do not suit the host.
package manualfit

import (
	_ "embed"
	"fmt"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/words"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

//go:embed manualfit.md
var page string

// Rule is N017.
var Rule = rule.New(page, rule.Rule{Severity: finding.High, VMs: true, Placed: true, Check: check})

func check(p *rule.Pass) {
	for _, fault := range []struct {
		bad    func(*rule.On) bool
		report func(*rule.Pass, *rule.On, int)
	}{
		{tooLarge, reportLarge},
		{func(o *rule.On) bool { return tooSmall(p.VM, o) && p.Plan().Better }, reportSmall},
		{func(o *rule.On) bool { return indivisible(p.VM, o) }, reportUneven},
	} {
		if on, others, ok := p.Worst(func(o *rule.On) bool { return o.Layout.Why == vnuma.ByManual && fault.bad(o) }); ok {
			fault.report(p, on, others)
			return
		}
	}
}

// tooLarge: a virtual node has several clients.
func tooLarge(o *rule.On) bool {
	_, spans := o.Layout.Spanning()
	return spans
}

// tooSmall: more virtual nodes than required by vCPUs and memory on all hosts of the VM together.
func tooSmall(v *rule.VM, o *rule.On) bool {
	return o.Layout.Managed && o.Layout.VPDs.Len() > v.Needed()
}

// indivisible: unequal nodes although the vCPUs are divisible.
func indivisible(v *rule.VM, o *rule.On) bool {
	return !o.Layout.VPDs.Even() && int(v.Guest.VCPUs)%o.Layout.Least == 0
}

func reportLarge(p *rule.Pass, on *rule.On, others int) {
	vpd, _ := on.Layout.Spanning()
	first, last := on.Layout.Carriers(vpd)
	_, size := on.Layout.VPDs.Group(vpd)
	against := fmt.Sprintf("a node%s has %s", p.Where(others), words.Plural(int(on.Kind.Machine.Cores), "core"))
	if size <= int(on.Kind.Machine.Cores) { // fits a node, but not the boundaries of the clients
		against = fmt.Sprintf("the clients%s are %s", p.Where(others), on.Layout.PPDs)
	}
	report(p, on, finding.High, fmt.Sprintf("%s: virtual node %d has %d vCPUs but %s: %d clients carry it",
		setting(p.VM, on), vpd, size, against, last-first+1), "")
}

func reportSmall(p *rule.Pass, on *rule.On, others int) {
	report(p, on, finding.Low, fmt.Sprintf("%s cuts %d vCPUs into %d virtual nodes (%s)%s where %s of %s would do",
		setting(p.VM, on), p.VM.Guest.VCPUs, on.Layout.VPDs.Len(), on.Layout.VPDs, p.Where(others), words.Plural(on.Needed(&p.VM.Guest), "node"), words.Plural(int(on.Kind.Machine.Cores), "core")),
		"Unless the VM was spread for memory bandwidth")
}

func reportUneven(p *rule.Pass, on *rule.On, others int) {
	report(p, on, finding.Low, fmt.Sprintf("%s does not divide %d vCPUs: the virtual nodes%s are %s",
		setting(p.VM, on), p.VM.Guest.VCPUs, p.Where(others), on.Layout.VPDs), "")
}

// report adds the finding; before is put before the advice.
func report(p *rule.Pass, on *rule.On, severity finding.Severity, message, before string) {
	v := p.VM
	ways, notice := p.PlanWays()
	e := v.SettingEvidence(key(v, on))
	if _, ok := v.Settings.Value.Lookup(e.Name); !ok { // the field of the API
		e = finding.Of("cores per NUMA node", v.CoresPerNUMANode, v.At)
	}
	p.Report(finding.Finding{
		Severity: severity,
		Message:  message,
		When:     before,
		Ways:     ways,
		Notice:   notice,
		Evidence: []finding.Evidence{v.VCPUsEvidence(), e, on.Kind.NodesEvidence()},
	}, &on.Layout)
}

// key returns the decisive setting: coresPerNode before maxPerVirtualNode if the release
// supports it (B-10).
func key(v *rule.VM, on *rule.On) string {
	if v.Guest.ManualNodes(&on.Kind.Machine) == v.Guest.CoresPerNode {
		return "numa.vcpu.coresPerNode"
	}
	return "numa.vcpu.maxPerVirtualNode"
}

func setting(v *rule.VM, on *rule.On) string {
	return fmt.Sprintf("%s = %d", key(v, on), v.Guest.ManualNodes(&on.Kind.Machine))
}
