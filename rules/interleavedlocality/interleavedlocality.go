// Package interleavedlocality finds VMs whose N%L of 100 means nothing.
package interleavedlocality

import (
	_ "embed"
	"fmt"
	"strconv"

	"homenode/capture"
	"homenode/esxi/vnuma"
	"homenode/numa"
	"homenode/rules/finding"
	"homenode/rules/rule"
)

//go:embed interleavedlocality.md
var page string

// Rule is M006.
var Rule = rule.New(page, rule.Rule{Severity: finding.Medium, VMs: true, Watch: watch, Needs: []string{"Numa Home Nodes", "Numa Local Memory MBytes"}})

func watch(w *rule.Watch) {
	v := w.VM
	mean, ok := v.MeanLocality()
	homes, share, known := rule.Homes(v)
	if !ok || mean < w.Threshold("full") || !known || homes.Len() < 2 || share < 0.5 {
		return
	}
	f := finding.Finding{From: v.First, To: v.Last, Evidence: []finding.Evidence{
		w.Limit("full", rule.Percent(w.Threshold("full"))),
		w.Counted("mean N%L", rule.NL(mean), rule.FieldBoth),
		w.Counted("home nodes", homes.String(), rule.FieldNHN),
	}}
	if v.Percents.Ticks > 0 {
		f.Evidence = append(f.Evidence, w.Counted("ticks that print 100", fmt.Sprintf("%d of %d", v.Percents.Full, v.Percents.Ticks), rule.FieldNL))
	}
	if o := w.On(); o != nil {
		if predicted(w, o, homes, mean, &f) {
			w.Report(f)
		}
		return
	}
	if w.Predicted == nil && guessed(w, homes, mean, &f) {
		w.Report(f)
	}
}

// predicted judges a VM of the inventory.
func predicted(w *rule.Watch, o *rule.On, homes numa.NodeSet, mean float64, f *finding.Finding) bool {
	l := &o.Layout
	if l.Memory.Placement != vnuma.Interleaved {
		return false
	}
	far := rule.Percent(l.FarShare())
	f.Severity = finding.Medium
	f.Message = fmt.Sprintf("N%%L reads %s and means nothing: the memory is interleaved over %s, so %s of it is on another node than the vCPU that uses it", rule.NL(mean), rule.Nodes(homes), far)
	f.Evidence = append(f.Evidence, w.Predicted.VCPUsEvidence(), finding.Of("CPU hot add", w.Predicted.CPUHotAdd, w.Predicted.At), o.Kind.NodesEvidence(),
		finding.Evidence{Name: "memory on another node than the vCPU that uses it", Value: far, Origin: "derived: layout on " + w.Machine.Name})
	f.Assumes = l.Assumes.Texts()
	why := "N001"
	if l.Why != vnuma.ByHotAdd {
		why = "N011"
	}
	f.Advice = fmt.Sprintf("Let the guest see its nodes (%s says how: homenode explain), then power off and on; a reboot is not enough. Do not alarm on N%%L for this VM", why)
	return true
}

// guessed judges a VM of which only the recording is known.
func guessed(w *rule.Watch, homes numa.NodeSet, mean float64, f *finding.Finding) bool {
	v := w.VM
	least, even := spread(v, homes)
	if even == 0 || float64(least) < w.Threshold("even")*float64(even) {
		return false
	}
	f.Severity = finding.Info
	f.Message = fmt.Sprintf("N%%L reads %s and may mean nothing: the memory is spread evenly over %s, and N%%L counts all of them as local", rule.NL(mean), rule.Nodes(homes))
	f.Evidence = append(f.Evidence, rule.Saw("least memory on a home node", least.String(), rule.FieldGST, v.Last))
	assume := "whether its guest sees its nodes is unknown: no inventory tells"
	switch {
	case v.VCPUs > 0 && v.VCPUs < defaultMin:
		f.Severity = finding.Low
		f.Message += fmt.Sprintf("; with %d vCPUs the guest sees one node by default", v.VCPUs)
		f.Evidence = append(f.Evidence, w.Counted("vCPUs", strconv.Itoa(v.VCPUs), "worlds of the group"))
		assume = fmt.Sprintf("numa.vcpu.min is at its default of %d: no inventory tells", defaultMin)
	case v.VCPUs > 0:
		f.Message += "; that is in order when its guest sees as many nodes"
	}
	f.Assumes = append(f.Assumes, assume)
	f.Advice = "See in the guest how many NUMA nodes it has (lscpu, Coreinfo -n), or give the inventory (--fleet): with one node, N001 and N011 say what to do"
	return true
}

// defaultMin is numa.vcpu.min unless set (rule book B-3).
const defaultMin = 9

// spread returns the least memory on a home node when last stated, and what an even
// spread would put on each; 0 when it is not stated.
func spread(v *capture.VM, homes numa.NodeSet) (least, even numa.Bytes) {
	found := 0
	for _, m := range v.LastNode {
		if !homes.Has(m.Node) {
			continue
		}
		if found == 0 || m.Guest < least {
			least = m.Guest
		}
		even += m.Guest
		found++
	}
	if found < homes.Len() || found == 0 {
		return 0, 0
	}
	return least, even / numa.Bytes(found)
}
