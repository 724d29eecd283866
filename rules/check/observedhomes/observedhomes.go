// Package observedhomes finds VMs whose recorded home nodes contradict the prediction.
package observedhomes

import (
	_ "embed"
	"fmt"
	"slices"
	"time"

	"example.org/homenode/capture"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/confront"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

//go:embed observedhomes.md
var page string

// Rule is M011.
var Rule = rule.New(page, rule.Rule{Severity: finding.Medium, VMs: true, Watch: watch, Needs: []string{"Numa Home Nodes"}, Beside: true})

func watch(w *rule.Watch) {
	o := w.On()
	if o == nil || !w.VM.HasHomes || len(w.Host.Nodes) < 2 {
		return
	}
	minutes := time.Duration(w.Threshold("minutes") * float64(time.Minute))
	most, known := widest(w.VM, minutes)
	switch l := &o.Layout; {
	case !known:
		return
	case !l.Managed && most != 0:
		managed(w, o, most)
	case l.Managed && most == 0:
		unmanaged(w, o)
	case l.Managed && most.Len() > l.HomeNodes:
		more(w, o, most)
	}
}

// widest returns the largest set of home nodes that the VM had for at least this total time, among several the one with
// the longest time; the empty set if it never had any. It returns false if that is not certain.
func widest(v *capture.VM, least time.Duration) (set numa.NodeSet, known bool) {
	var time, none, some time.Duration
	for _, h := range v.Homes {
		if h.Homes == 0 {
			none += h.Time
			continue
		}
		some += h.Time
		n, m := h.Homes.Len(), set.Len()
		if h.Time >= least && (n > m || n == m && h.Time > time) {
			set, time = h.Homes, h.Time
		}
	}
	return set, set != 0 || some == 0 && none > 0 && none >= least
}

// more reports more home nodes than clients.
func more(w *rule.Watch, o *rule.On, homes numa.NodeSet) {
	s := compare(w, o, homes)
	if !s.Comparable() || s.Agrees() {
		return // explained by the settings of the last power-on, or D-2: see M006
	}
	text, evidence := rule.Differences(&s)
	f := finding.Finding{
		Severity: finding.Medium,
		Message:  fmt.Sprintf("it had its home on %s: %s", rule.Nodes(homes), text),
		Evidence: append(evidence, w.Counted("home nodes", homes.String(), rule.FieldNHN), w.Predicted.VCPUsEvidence(), w.NodesEvidence(o)),
		Advice:   "Trust the recording and not the prediction for this VM, and look for a setting or host that the inventory does not show",
		Assumes:  s.Layout.Assumes.Texts(),
	}
	if other := rule.OtherSettings(&s); other != "" {
		f.Message += ". It ran with other settings: " + other
	}
	if len(s.Reasons) > 0 {
		f.Severity = finding.Low
		f.Advice = rule.Likely(&s)
	}
	if from, at, ok := widened(w.VM, homes, o.Layout.HomeNodes); ok {
		f.Message += fmt.Sprintf("; they widened from %s about %s, and N%%L counts all of them as local", rule.Nodes(from), words.Moment(at))
	}
	report(w, f)
}

// widened returns the home nodes of a VM before it got the additional ones, and the approximate time; false if the
// recording does not show this change, which begins with few.
func widened(v *capture.VM, homes numa.NodeSet, few int) (from numa.NodeSet, at time.Time, ok bool) {
	t := &v.Timeline
	for i, bucket := range t.All() { // a bucket has the union over its time
		switch b := bucket.Homes; {
		case b == 0:
		case b.Len() <= few:
			from = b
		default:
			return from, t.Time(i), from != 0 && from&^homes == 0 && b&^homes == 0
		}
	}
	return 0, at, false
}

// compare compares the home nodes with the prediction for the host of the recording.
func compare(w *rule.Watch, o *rule.On, homes numa.NodeSet) confront.Result {
	seen := numa.Observation{
		By: numa.ByEsxtop, At: w.Host.Host, Time: w.VM.First.UTC().Format(time.RFC3339), Host: w.Machine.Name,
		Homes: numa.ReadAt(slices.Collect(homes.All()), rule.FieldNHN),
	}
	places := []confront.Place{{Names: []string{w.Machine.Name}, Machine: o.Kind.Machine}}
	for i := range w.Predicted.On {
		if other := &w.Predicted.On[i]; other.Kind != o.Kind {
			places = append(places, confront.Place{Names: []string{other.Kind.Hosts[0].Name}, Machine: other.Kind.Machine})
		}
	}
	return confront.Check(w.Predicted.VM, &seen, places, vnuma.Choices{})
}

// managed reports home nodes for a VM that should have none.
func managed(w *rule.Watch, o *rule.On, homes numa.NodeSet) {
	report(w, finding.Finding{
		Severity: finding.Medium,
		Message:  fmt.Sprintf("it had its home on %s, but is predicted to be out of NUMA management", rule.Nodes(homes)),
		Evidence: []finding.Evidence{w.Counted("home nodes", homes.String(), rule.FieldNHN), w.Predicted.VCPUsEvidence(), w.NodesEvidence(o)},
		Advice:   "See whether the inventory's CPU or memory affinity was set after the recording; it then takes effect (N023)",
		Assumes:  o.Layout.Assumes.Texts(),
	})
}

// unmanaged reports a VM without any home node.
func unmanaged(w *rule.Watch, o *rule.On) {
	f := finding.Finding{
		Severity: finding.Medium,
		Message: fmt.Sprintf("it had no home node all the time, but %s predicted: the NUMA scheduler does not manage it, and its memory comes from any node",
			clients(o.Layout.PPDs.Len())),
		Evidence: []finding.Evidence{
			w.Counted("home nodes", "none", rule.FieldNHN),
			{Name: "clients predicted", Value: fmt.Sprint(o.Layout.PPDs.Len()), Origin: "derived: layout on " + w.Machine.Name},
			w.Predicted.VCPUsEvidence(), w.NodesEvidence(o),
		},
		Assumes: o.Layout.Assumes.Texts(),
	}
	v := rule.NoHomeCauses.Judge(&rule.Homeless{Release: w.Release(), Layout: &o.Layout, Host: w.Machine})
	v.Explain(&f)
	report(w, f)
}

func clients(n int) string {
	if n == 1 {
		return "1 client is"
	}
	return fmt.Sprintf("%d clients are", n)
}

func report(w *rule.Watch, f finding.Finding) {
	f.From, f.To = w.VM.First, w.VM.Last
	w.Report(f)
}
