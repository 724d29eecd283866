// Package interleavedlocality finds VMs whose N%L of 100 is meaningless.
package interleavedlocality

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"

	"example.org/homenode/capture"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

//go:embed interleavedlocality.md
var page string

// Rule is M006.
var Rule = rule.New(page, rule.Rule{Severity: finding.High, VMs: true, Watch: watch, Needs: []string{"Numa Home Nodes", "Numa Local Memory MBytes"}})

func watch(w *rule.Watch) {
	v := w.VM
	mean, ok := v.MeanLocality()
	homes, _, known := rule.Homes(v)
	if !ok || !known {
		return
	}
	hidden, measured := v.Hidden()
	limit := "full"
	if measured {
		limit = "hidden"
	}
	f := finding.Finding{From: v.First, To: v.Last, Evidence: []finding.Evidence{
		w.Limit(limit, words.Percent(w.Threshold(limit))),
		w.Counted("mean N%L", rule.NL(mean), rule.FieldBoth),
		w.Counted("home nodes", homes.String(), rule.FieldNHN),
	}}
	if v.Percents.Ticks > 0 {
		f.Evidence = append(f.Evidence, w.Counted("ticks that print 100", fmt.Sprintf("%d of %d", v.Percents.Full, v.Percents.Ticks), rule.FieldNL))
	}
	o := w.On()
	switch {
	case measured && hidden >= w.Threshold("hidden"):
		apart(w, o, homes, mean, hidden, &f)
	case !Unclear(v, w.Threshold("full")):
	case o != nil && (o.Layout.Memory.Placement == vnuma.Interleaved || joined(o, homes)):
		apart(w, o, homes, mean, predicted(w, o), &f)
	case w.Predicted == nil:
		guessed(w, homes, mean, &f)
	}
}

// Unclear reports whether N%L of a VM reads full, counts several home nodes as local, and the recording does not tell which memory is far from the vCPU that uses it: then it
// may mean nothing. full is the threshold of that name.
func Unclear(v *capture.VM, full float64) bool {
	mean, ok := v.MeanLocality()
	homes, share, known := rule.Homes(v)
	_, measured := v.Hidden()
	return ok && known && !measured && mean >= full && homes.Len() >= 2 && share >= 0.5
}

// joined reports whether nodes without clients were observed to join the home nodes, as predicted.
func joined(o *rule.On, homes numa.NodeSet) bool {
	return o.Layout.Memory.Joins() && homes.Len() > o.Layout.HomeNodes
}

// predicted returns the predicted share of the memory that N%L hides. If nodes joined the home nodes of one client and the memory on each
// node is known, it returns the last observed share on all nodes but the first.
func predicted(w *rule.Watch, o *rule.On) float64 {
	var all, most numa.Bytes
	for _, m := range w.VM.LastNode {
		all, most = all+m.Guest, max(most, m.Guest)
	}
	if l := &o.Layout; l.Memory.Joins() && l.PPDs.Len() == 1 && all > 0 {
		return 1 - float64(most)/float64(all)
	}
	return o.Layout.FarShare()
}

// apart reports a VM whose N%L counts memory as local that is not on the node of the client that uses it.
func apart(w *rule.Watch, o *rule.On, homes numa.NodeSet, mean, hidden float64, f *finding.Finding) {
	far := words.Percent(hidden)
	why, cure := "its clients have memory on each other's home nodes", guestNodes
	if o != nil {
		why, cure = cause(w, o, homes, why)
	}
	f.Severity = finding.Medium
	if i := planned(w); o != nil && o.Layout.Memory.Placement == vnuma.Interleaved && i >= 0 { // one layout has one severity
		f.Severity = w.Settings[i].Severity
	}
	f.Because = []string{why}
	f.Message = fmt.Sprintf("N%%L reads %s and means nothing: %s, so %s of it is on another node than the vCPU that uses it", rule.NL(mean), why, far)
	if o != nil {
		f.Evidence = append(f.Evidence, w.Predicted.VCPUsEvidence(), finding.Of("CPU hot add", w.Predicted.CPUHotAdd, w.Predicted.At), w.NodesEvidence(o),
			finding.Evidence{Name: "memory on another node than the vCPU that uses it", Value: far, Origin: "derived: layout on " + w.Machine.Name})
		f.Assumes = o.Layout.Assumes.Texts()
	}
	f.Advice = cure + ". Do not alarm on N%L for this VM"
	w.Report(*f)
}

// cause returns why memory that N%L counts as local is on another node than the vCPU that uses it, and how to make it local; why is the cause
// where the memory of the clients exceeds their nodes.
func cause(w *rule.Watch, o *rule.On, homes numa.NodeSet, why string) (_, cure string) {
	const cycle, short = ", then power off and on; a reboot is not enough", "Give it memory that its nodes hold, or more nodes: N005 and N012 say how"
	l := &o.Layout
	spread := "the memory is interleaved over " + rule.Nodes(homes)
	switch {
	case l.Memory.Placement == vnuma.Interleaved:
		if i := planned(w); i >= 0 {
			return spread + " (" + w.Settings[i].Title + ")", fmt.Sprintf("%s (%s)", w.Settings[i].FirstAdvice(), w.Settings[i].Rule)
		}
		return spread, "Let the guest see its nodes" + cycle
	case l.Memory.Joins():
		return "its home nodes widened to " + rule.Nodes(homes) + " when its memory outgrew the first (D-2)",
			short + ". Widened home nodes stay until the VM is powered off and on; a reboot does not reset them (D-2)"
	case l.Memory.Crossed > 0:
		return why, short
	}
	if from := kept(w.Predicted, o); from != nil {
		return fmt.Sprintf("its guest keeps the nodes of a power-on on a host like %s (%s), and %s", from.Kind.Hosts[0].Name, from.Kind.Shape(), spread),
			"Remove " + numa.StoredKey + " and " + numa.CookieKey + " where they are set (N010)" + cycle + ". Where it moves between such hosts N014 says which nodes fit all of them"
	}
	return why, guestNodes
}

// planned returns the index of the worst finding about the settings of the VM whose cure is its plan; -1 for none.
func planned(w *rule.Watch) int {
	return slices.IndexFunc(w.Settings, func(f *finding.Finding) bool { return f.Planned() && !f.Elsewhere() })
}

// guestNodes is the advice where the prediction does not tell the cause.
const guestNodes = "See in the guest how many NUMA nodes it has (lscpu, Coreinfo -n): fewer than clients come of CPU hot add (N001), or of a power-on on another kind of host (N010, N014)"

// kept returns the layout of the power-on on another kind of host from which a guest on o may have kept its nodes, so that a node is carried by
// several clients; nil for none.
func kept(v *rule.VM, o *rule.On) *rule.On {
	g := v.Guest.AsSeen(v.VM)
	for i := range v.On {
		from := &v.On[i]
		l := vnuma.Predict(&g, &o.Kind.Machine, &vnuma.Case{Event: vnuma.VMotionIn, From: &from.Kind.Machine})
		if from.Kind != o.Kind && l.Memory.Placement == vnuma.Interleaved {
			return from
		}
	}
	return nil
}

// guessed assesses a VM that is only known from the recording.
func guessed(w *rule.Watch, homes numa.NodeSet, mean float64, f *finding.Finding) {
	v := w.VM
	least, even := spread(v, homes)
	if even == 0 || float64(least) < w.Threshold("even")*float64(even) {
		return
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
	w.Report(*f)
}

// defaultMin is the default of numa.vcpu.min (rule book B-3).
const defaultMin = 9

// spread returns the smallest amount of memory on a home node in the last tick, and the amount on each for an even spread; 0 if unknown.
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
