// Package hotaddwide finds wide VMs whose guest is blind because of CPU hot add.
package hotaddwide

import (
	"fmt"

	"homenode/esxi/vnuma"
	"homenode/rules/finding"
	"homenode/rules/rule"
)

// Rule is N001.
var Rule = &rule.Rule{
	ID:    "N001",
	Name:  "hotaddwide",
	Title: "wide VM with CPU hot add: the guest sees one node",
	Why: `CPU hot add forces one virtual NUMA node whatever the size of the VM. A wide VM still
runs as several NUMA clients, so its memory is interleaved over their home nodes and the guest cannot
place its data near its threads. N%L is measured against all home nodes together: it reads 100 all the
same. Measured on a like VM (16 vCPUs, 200 GB, ESXi 7.0): PassMark memory threaded −46 %, idle latency
+22 %.`,
	Fix: `Switch CPU hot add off, power the VM off and on: a guest reboot is not enough. With ESXi 8.0
and virtual hardware 20 vNUMA can be exposed together with hot add instead (numa.allowHotadd, N022).`,
	Limits: `A guest that runs many small independent processes loses little. Below numa.vcpu.min the
guest would see one node without hot add too: then N011 speaks.`,
	Book: []string{"B-15", "C-13", "C-17"},
	Sources: []string{
		"VMware vSphere Resource Management, “Using Virtual NUMA” (GUID-17B629DE), note on CPU hot add",
		"VMware KB 2040375, KB 340275",
		"VMWare ESXi Performanceimpact von CPU Hotplug (measurement, in German)",
		"Denneman, Impact of CPU hot add on NUMA scheduling, 2017, https://frankdenneman.nl/2017/04/14/impact-cpu-hot-add-numa-scheduling/",
	},
	Severity: finding.High,
	VMs:      true,
	Check:    check,
}

func check(p *rule.Pass) {
	v := p.VM
	// Without all that keeps it at one node: would it be shown NUMA?
	bare := v.Guest.Apply(vnuma.Edit{HotAddOff: true, ForgetStored: true, ManualOff: true, Shape: vnuma.Shape{CoresPerSocket: 1}})
	on, others, ok := p.Worst(func(o *rule.On) bool {
		if o.Layout.Why != vnuma.ByHotAdd || !o.Layout.Wide() {
			return false
		}
		l := vnuma.Predict(&bare, &o.Kind.Machine, &vnuma.Case{Choices: p.Choices})
		return l.GuestSeesNUMA()
	})
	if !ok {
		return
	}
	advice, notice := p.Advice()
	p.Report(finding.Finding{
		Severity: finding.High,
		Message: fmt.Sprintf("CPU hot add hides NUMA%s: %d vCPUs run as %d clients (%s) but the guest sees 1 node, so %s of its memory is on another node than the vCPU that uses it, while N%%L reads 100",
			p.Where(others), v.Guest.VCPUs, on.Layout.PPDs.Len(), on.Layout.PPDs, rule.Percent(on.Layout.FarShare())),
		Advice:   advice,
		Notice:   notice,
		Evidence: []finding.Evidence{v.VCPUsEvidence(), finding.Of("CPU hot add", v.CPUHotAdd, v.At), on.Kind.NodesEvidence()},
	}, &on.Layout)
}
