// Package corespersocket finds cores per socket that shape a VM badly.
package corespersocket

import (
	"fmt"

	"homenode/esxi/vnuma"
	"homenode/rules/finding"
	"homenode/rules/rule"
)

// Rule is N008.
var Rule = &rule.Rule{
	ID:    "N008",
	Name:  "corespersocket",
	Title: "cores per socket make uneven clients or split the VM needlessly",
	Why: `Up to 6.0 (and with FollowCoresPerSocket) cores per socket are the size of a virtual NUMA
node: a small value cuts the VM into more nodes than it needs. From 6.5 on they no longer size virtual
nodes, but a virtual socket is not divided over clients: the client size is rounded up to whole sockets,
which can make unequal clients.`,
	Fix: `Set cores per socket so that each node holds whole sockets of equal number, at best one socket
a node. The VM must be powered off; the guest sees other sockets, so check per-socket licences.`,
	Limits: `What happens when the rounded size exceeds a node is not published (B-12).`,
	Book:   []string{"B-11", "B-12", "F-8", "F-20"},
	Sources: []string{
		"Denneman, Decoupling of cores per socket from virtual NUMA topology in vSphere 6.5, 2016, https://frankdenneman.nl/2016/12/12/decoupling-cores-per-socket-virtual-numa-topology-vsphere-6-5/",
		"Denneman, vSphere 7 cores per socket and virtual NUMA, 2021, https://frankdenneman.nl/2021/12/02/vsphere-7-cores-per-socket-and-virtual-numa/",
		"VMware blog, Does corespersocket affect performance?, 2013, http://blogs.vmware.com/vsphere/2013/10/does-corespersocket-affect-performance.html",
	},
	Severity: finding.Medium,
	VMs:      true,
	Check:    check,
}

func check(p *rule.Pass) {
	v := p.VM
	if v.Guest.CoresPerSocket <= 1 {
		return
	}
	flat := v.Guest
	flat.CoresPerSocket = 1
	on, others, ok := p.Worst(func(o *rule.On) bool {
		if v.Guest.VCPUs > o.Kind.Machine.AllCores {
			return false // N013 speaks
		}
		if o.Layout.Why == vnuma.ByCPS {
			return o.Layout.VPDs.Len() > o.Needed(&v.Guest)
		}
		l := vnuma.Predict(&flat, &o.Kind.Machine, &vnuma.Case{Choices: p.Choices})
		return l.Managed && !o.Layout.PPDs.Even() && l.PPDs.Even()
	})
	if !ok {
		return
	}
	advice, notice := p.Advice()
	p.Report(finding.Finding{
		Severity: finding.Medium,
		Message:  message(p, on, others, &flat),
		Advice:   advice,
		Notice:   notice,
		Evidence: []finding.Evidence{v.CPSEvidence(), v.VCPUsEvidence(), on.Kind.NodesEvidence(), on.Kind.ReleaseEvidence()},
	}, &on.Layout)
}

func message(p *rule.Pass, on *rule.On, others int, flat *vnuma.Guest) string {
	g := &p.VM.Guest
	if on.Layout.Why == vnuma.ByCPS {
		return fmt.Sprintf("cores per socket %d cut %d vCPUs into %d virtual nodes%s where %s of %d cores would do",
			g.CoresPerSocket, g.VCPUs, on.Layout.VPDs.Len(), p.Where(others), rule.Plural(on.Layout.Least, "node"), on.Kind.Machine.Cores)
	}
	even := vnuma.Predict(flat, &on.Kind.Machine, &vnuma.Case{Choices: p.Choices})
	return fmt.Sprintf("cores per socket %d round the clients up to %s vCPUs%s; without them they are %s",
		g.CoresPerSocket, on.Layout.PPDs, p.Where(others), even.PPDs)
}
