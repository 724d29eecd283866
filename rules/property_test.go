package rules_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"example.org/homenode/esxi/plan"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
	"example.org/homenode/source/scenario/given"
)

// sweep writes VMs with every mix of the settings that can hide or shape NUMA, on
// clusters of like and unlike hosts.
func sweep() string {
	var b strings.Builder
	for c, cluster := range []string{
		"release 7.0U3\ncluster like\nhost l[1-2] nodes=2 cores=18 memory=512GB\n",
		"release 7.0\ncluster mixed\nhost m[1-2] nodes=2 cores=20 memory=512GB\nhost m[3-4] nodes=4 cores=14 memory=512GB\n",
		"release 8.0U3\ncluster new\nhost n1 nodes=2 cores=16 memory=512GB\n",
		"release 6.0\ncluster old\nhost o1 nodes=2 cores=10 memory=256GB\n",
	} {
		b.WriteString(cluster)
		n := 0
		for _, vcpus := range []int{4, 8, 12, 16, 20, 21, 24, 32, 36} {
			for _, cps := range []int{1, 2, 4, vcpus} {
				for _, extra := range []string{"", "stored=", "hotAdd=on", "hotAdd=on stored=", "numa.vcpu.maxPerVirtualNode=", "hotAdd=on numa.vcpu.maxPerVirtualNode=",
					"numa.vcpu.preferHT=TRUE", "numa.consolidate=FALSE", "hotAdd=on numa.consolidate=FALSE", "hw=7", "numa.vcpu.min=64", "numa.vcpu.maxPerMachineNode=4", "numa.vcpu.maxPerClient=6 hotAdd=on", "numa.vcpu.followcorespersocket=1", "stored=4 numa.vcpu.preferHT=TRUE",
					"numa.nodeAffinity=0", "cpuAffinity=0-3,30"} {
					if vcpus%cps != 0 {
						continue
					}
					for _, memory := range []int{32, 300} {
						word := extra
						if strings.HasSuffix(word, "=") {
							word += fmt.Sprint(vcpus)
						}
						fmt.Fprintf(&b, "vm v%d-%d vcpus=%d coresPerSocket=%d memory=%dGB %s\n", c, n, vcpus, cps, memory, word)
						n++
					}
				}
			}
		}
	}
	return b.String()
}

// swept judges the sweep, once for the tests that read the result.
func swept(t *testing.T) *rules.Result {
	oneSweep.Do(func() { oneSweep.result = runText(t, sweep()) })
	return oneSweep.result
}

var oneSweep struct {
	sync.Once
	result *rules.Result
}

// TestNoSilence checks that no memory is remote without a finding of medium severity or more that says so, and that no virtual node is
// carried by several clients without one of high severity, whatever setting is the cause.
func TestNoSilence(t *testing.T) {
	r := swept(t)
	worst := map[string]finding.Severity{}
	for _, f := range r.Findings {
		worst[f.VMID] = max(worst[f.VMID], f.Severity)
	}
	checked := 0
	for v := range r.EachVM() {
		l := &v.On[0].Layout
		_, spans := l.Spanning()
		if !spans && l.Memory.Remote == 0 {
			continue
		}
		least := finding.Medium
		if spans && l.Managed {
			least = finding.High
		}
		if checked++; worst[v.ID] < least {
			t.Errorf("%s: VPDs %v, PPDs %v, %v remote, and no finding (%v)", v.At, l.VPDs, l.PPDs, l.Memory.Remote, worst[v.ID])
		}
	}
	if checked < 500 {
		t.Errorf("%d VMs checked: the sweep is broken", checked)
	}
}

// TestAdviceHolds does what the plan of each VM says and judges again: nothing may be
// worse, the same rule may not fire with the same severity for the same reason, and
// there may be no further plan.
func TestAdviceHolds(t *testing.T) {
	before := swept(t)
	planned := map[string]*plan.Plan{}
	for _, c := range before.Clusters {
		for _, v := range c.VMs {
			p := rule.Pass{Cluster: c, VM: v}
			if plan := p.Plan(); plan.Better {
				planned[v.ID] = plan
			}
		}
	}
	if len(planned) < 500 {
		t.Fatalf("%d plans: the sweep is broken", len(planned))
	}
	f := given.Fleet(t, "text", []byte(sweep()))
	for i := range f.VMs {
		if plan := planned[f.VMs[i].ID]; plan != nil {
			plan.Edit.Configure(&f.VMs[i].Config)
		}
	}
	after := rules.Run(f, rules.Options{})
	sum := func(r *rules.Result) map[string]int {
		weight := map[string]int{}
		for _, f := range r.Findings {
			weight[f.VMID] += [...]int{0, 1, 5, 25}[f.Severity]
		}
		return weight
	}
	a, b := sum(before), sum(after)
	for _, c := range after.Clusters {
		for _, v := range c.VMs {
			plan := planned[v.ID]
			if plan == nil {
				continue
			}
			if v.Off() {
				t.Errorf("%s: after the plan %+v it does not power on: %v", v.At, plan.Edit, v.On[0].Layout.Refused)
			}
			if b[v.ID] > a[v.ID] {
				t.Errorf("%s: findings weigh %d, after the plan %+v %d", v.At, a[v.ID], plan.Edit, b[v.ID])
			}
			if got := &v.On[0].Layout; !got.VPDs.Equal(plan.After[0].VPDs) || !got.PPDs.Equal(plan.After[0].PPDs) {
				t.Errorf("%s: after the plan %+v VPDs %v, PPDs %v; promised %v, %v", v.At, plan.Edit, got.VPDs, got.PPDs, plan.After[0].VPDs, plan.After[0].PPDs)
			}
			for i := range plan.After { // what comes of them is not published
				if l := &plan.After[i]; plan.Edit.Force && l.PPDs.Len() > l.Nodes {
					t.Errorf("%s: the plan %+v forces %d clients onto %d nodes", v.At, plan.Edit, l.PPDs.Len(), l.Nodes)
				}
			}
			p := rule.Pass{Cluster: c, VM: v}
			if again := p.Plan(); again.Better {
				t.Errorf("%s: after the plan %+v another: %+v", v.At, plan.Edit, again.Edit)
			}
		}
	}
}

// TestRandomPlans checks the plans of random VMs on random clusters: done in full or only
// as far as needed, the VM powers on, its software can use what it gets, and no more is found
// that costs, on unlike hosts too.
func TestRandomPlans(t *testing.T) {
	r := rand.New(rand.NewPCG(14, 6))
	pick := func(of ...any) any { return of[r.IntN(len(of))] }
	var b strings.Builder
	for c := range 24 {
		cores := pick(8, 12, 20, 28, 35, 48, 72, 96)
		fmt.Fprintf(&b, "release %v\ncluster c%d\nhost h%d nodes=%v cores=%v memory=%vGB\n", pick("6.0", "6.5", "6.7", "7.0U3", "8.0U3", "9.0"), c, c, pick(1, 2, 4), cores, pick(256, 1024, 4096))
		if r.IntN(2) == 0 {
			fmt.Fprintf(&b, "host k%d nodes=%v cores=%v memory=1024GB\n", c, pick(2, 4), pick(10, 20, 96))
		}
		for v := range 40 {
			vcpus := pick(2, 4, 8, 12, 16, 20, 24, 30, 36, 64, 70, 96, 128, 140, 144).(int)
			cps := 1 + r.IntN(vcpus)
			for vcpus%cps != 0 {
				cps--
			}
			fmt.Fprintf(&b, "vm v%d-%d host=h%d vcpus=%d coresPerSocket=%d memory=%vGB hw=%v", c, v, c, vcpus, cps, pick(32, 200, 300, 700), pick(9, 11, 13, 14, 19, 20, 21))
			for _, word := range []string{"hotAdd=on", "stored=" + fmt.Sprint(pick(4, 6, 10, 20)), "numa.consolidate=FALSE", "numa.vcpu.preferHT=TRUE", "numa.vcpu.maxPerVirtualNode=" + fmt.Sprint(pick(2, 8, 36)), "numa.vcpu.maxPerMachineNode=8"} {
				if r.IntN(4) == 0 {
					b.WriteString(" " + word)
				}
			}
			b.WriteString("\n")
		}
	}
	before := runText(t, b.String())
	weigh := func(r *rules.Result) map[string]int {
		weight := map[string]int{}
		for _, f := range r.Findings {
			weight[f.VMID] += [...]int{0, 0, 5, 25}[f.Severity]
		}
		return weight
	}
	was, plans := weigh(before), 0
	for _, all := range []bool{false, true} {
		f := given.Fleet(t, "random", []byte(b.String()))
		done := map[string]plan.Edit{}
		for _, c := range before.Clusters {
			for _, v := range c.VMs {
				p := rule.Pass{Cluster: c, VM: v}
				if plan := p.Plan(); plan.Better {
					done[v.ID] = plan.Needed
					if all {
						done[v.ID] = plan.Edit
					}
					if !done[v.ID].CanUse(&v.Guest, &v.On[0].Kind.Machine, vnuma.Choices{}) {
						t.Errorf("%s: the guest can use less after %+v", v.At, done[v.ID])
					}
				}
			}
		}
		for i := range f.VMs {
			if e, ok := done[f.VMs[i].ID]; ok {
				e.Configure(&f.VMs[i].Config)
				plans++
			}
		}
		after := rules.Run(f, rules.Options{})
		is := weigh(after)
		for k, c := range after.Clusters {
			for i, v := range c.VMs {
				e, ok := done[v.ID]
				if old := before.Clusters[k].VMs[i]; !ok || old.Off() {
					continue
				}
				if v.Off() {
					t.Errorf("%s: after %+v it does not power on: %v", v.At, e, v.On[0].Layout.Refused)
				} else if is[v.ID] > was[v.ID] {
					t.Errorf("%s: findings weigh %d, after %s %d: %v, were %v", v.At, was[v.ID], e.Steps(&before.Clusters[k].VMs[i].Guest, &v.On[0].Kind.Machine), is[v.ID], fired(after, v.ID), fired(before, v.ID))
				}
			}
		}
	}
	if plans < 400 {
		t.Errorf("%d plans: the fleets are broken", plans)
	}
}

// TestOnePlan checks that every finding that speaks of a VM's plan says its steps.
func TestOnePlan(t *testing.T) {
	r := swept(t)
	vms, plans := r.Proposals()
	if len(plans) < 500 {
		t.Fatalf("%d plans: the sweep is broken", len(plans))
	}
	of := map[string]*rule.Proposal{}
	for i, v := range vms {
		of[v.ID] = plans[i]
		if len(plans[i].Undo) == 0 || plans[i].Downtime == "" || plans[i].Afterwards == "" || len(plans[i].Effect) != len(v.On) {
			t.Errorf("%s: the plan lacks something: %+v", v.At, plans[i])
		}
		if steps, back := strings.Join(plans[i].Needed, "; "), strings.Join(plans[i].Undo, "; "); strings.Count(steps, "set cores per socket to") > 1 || strings.Contains(back, "set cores per socket to") && strings.Contains(back, "coresPerSocket") {
			t.Errorf("%s: the plan sets a thing twice: %s; back: %s", v.At, steps, back)
		}
	}
	cure := map[string]bool{} // steps of other findings of the VM
	for _, f := range r.Findings {
		for _, w := range f.Ways {
			for _, step := range strings.Split(w.Do, ", ") {
				cure[f.VMID+step] = cure[f.VMID+step] || w.Auto
			}
		}
	}
	for _, f := range r.Findings {
		if plan := of[f.VMID]; plan != nil && f.Planned() {
			steps := slices.Concat(plan.Needed, plan.Better)
			if plan.Wider != nil {
				steps = plan.Wider
			}
			for _, step := range steps {
				if first, _, _ := strings.Cut(step, ", "); !cure[f.VMID+first] && !strings.Contains(strings.ToLower(f.Advice), strings.ToLower(step)) {
					t.Errorf("%s %s: %q lacks the step %q of its plan", f.Rule, f.VM, f.Advice, step)
				}
			}
		}
	}
}

// fired lists the rules and severities of the findings of a VM.
func fired(r *rules.Result, id string) (out []string) {
	for _, f := range r.Findings {
		if f.VMID == id {
			out = append(out, f.Rule+" "+f.Severity.String())
		}
	}
	return out
}

func runText(t *testing.T, text string) *rules.Result {
	t.Helper()
	return rules.Run(given.Fleet(t, "text", []byte(text)), rules.Options{})
}
