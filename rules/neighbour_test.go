package rules_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
	"example.org/homenode/source/scenario/given"
)

// neighbours returns pairs of fleets with the same random VMs: their hosts alone, and beside a host of another shape in each cluster.
func neighbours(seed uint64) (alone, beside string) {
	r := rand.New(rand.NewPCG(seed, 30))
	pick := func(of ...any) any { return of[r.IntN(len(of))] }
	var a, b strings.Builder
	for c := range 40 {
		head := fmt.Sprintf("release %v\ncluster c%d\nhost h%d nodes=%v cores=%v memory=%vGB\n", pick("6.7", "7.0U3", "8.0U3"), c, c, pick(2, 4), pick(8, 12, 20, 28), pick(256, 512, 1024))
		a.WriteString(head)
		b.WriteString(head + fmt.Sprintf("host k%d nodes=%v cores=%v memory=%vGB\n", c, pick(1, 2, 4), pick(10, 16, 24, 48), pick(256, 1024)))
		for v := range 12 {
			vcpus := pick(4, 8, 12, 16, 20, 24, 32, 40).(int)
			cps := 1 + r.IntN(vcpus)
			for vcpus%cps != 0 {
				cps--
			}
			vm := fmt.Sprintf("vm v%d-%d host=h%d vcpus=%d coresPerSocket=%d memory=%vGB hw=%v", c, v, c, vcpus, cps, pick(32, 100, 200, 300), pick(11, 14, 19))
			for _, word := range []string{"hotAdd=on", "stored=" + fmt.Sprint(pick(4, 6, 10, 20)), "numa.nodeAffinity=" + fmt.Sprint(pick(0, 1, 2, "0,1")), "numa.vcpu.preferHT=TRUE",
				"numa.vcpu.maxPerVirtualNode=" + fmt.Sprint(pick(2, 6, 8)), "numa.vcpu.maxPerMachineNode=8", "cpuAffinity=0-3", "latency=high"} {
				if r.IntN(5) == 0 {
					vm += " " + word
				}
			}
			a.WriteString(vm + "\n")
			b.WriteString(vm + "\n")
		}
	}
	return a.String(), b.String()
}

// TestNeighbourHidesNothing: a host of another shape in the cluster neither removes nor lowers a finding of medium or high severity about the
// layout of a VM where it runs.
func TestNeighbourHidesNothing(t *testing.T) {
	checked := 0
	for seed := range uint64(3) {
		one, two := neighbours(seed)
		alone, beside := runText(t, one), runText(t, two)
		type key struct{ vm, rule, topic string }
		worst := func(r *rules.Result) map[key]finding.Severity {
			out := map[key]finding.Severity{}
			for i := range r.Findings {
				if f := &r.Findings[i]; f.VMID != "" && !f.Elsewhere() {
					k := key{f.VM, f.Rule, f.Topic}
					out[k] = max(out[k], f.Severity)
				}
			}
			return out
		}
		with := worst(beside)
		for k, severity := range worst(alone) {
			if severity < finding.Medium || k.rule == "N010" && with[k] == finding.Info { // a stored size can suit the hosts together
				continue
			}
			if checked++; with[k] < severity {
				t.Errorf("seed %d: %s %s %q is %s alone and %s beside another host", seed, k.vm, k.rule, k.topic, severity, with[k])
			}
		}
	}
	if checked < 500 {
		t.Errorf("only %d findings were compared", checked)
	}
}

// TestMovesCure: where advice names another host for a VM, the VM has nothing of medium or high severity by the same rule there.
func TestMovesCure(t *testing.T) {
	moved := map[string]int{}
	for seed := range uint64(3) {
		_, text := neighbours(seed)
		f := given.Fleet(t, "neighbours", []byte(text))
		host := map[string]string{}
		for i := range f.Hosts {
			host[f.Hosts[i].Name] = f.Hosts[i].ID
		}
		named := map[string]map[string]bool{} // rules by VM
		for _, one := range rules.Run(f, rules.Options{}).Findings {
			for _, w := range one.Ways {
				if rest, ok := strings.CutPrefix(w.Do, "move the VM to "); ok && one.VMID != "" {
					to, _, _ := strings.Cut(strings.NewReplacer(",", " ").Replace(rest), " ")
					i := slices.IndexFunc(f.VMs, func(v numa.VM) bool { return v.ID == one.VMID })
					if f.VMs[i].Host = host[to]; f.VMs[i].Host == "" {
						t.Fatalf("%s: no host %q", w.Do, to)
					}
					if named[one.VMID] == nil {
						named[one.VMID] = map[string]bool{}
					}
					named[one.VMID][one.Rule] = true
					moved[one.Rule]++
				}
			}
		}
		for _, one := range rules.Run(f, rules.Options{}).Findings {
			if named[one.VMID][one.Rule] && one.Severity >= finding.Medium && !one.Elsewhere() && one.Topic != rule.Beside {
				t.Errorf("seed %d: after the move %s has %s: %s", seed, one.VM, one.Rule, one.Message)
			}
		}
	}
	for _, id := range []string{"N001", "N005", "N025"} {
		if moved[id] < 3 {
			t.Errorf("only %d moves by %s: %v", moved[id], id, moved)
		}
	}
}
