package fix_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"example.org/homenode/change/fix"
	"example.org/homenode/internal/golden"
	"example.org/homenode/internal/testdeps"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
	"example.org/homenode/source/scenario"
	"example.org/homenode/source/scenario/random"
)

// anyFleet writes hosts of every shape with VMs of every width, setting and product, sensible or not.
func anyFleet(r *rand.Rand) string {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	var b strings.Builder
	release := pick("4.1", "5.1", "6.0", "6.5", "6.7", "7.0U3", "8.0", "8.0U2", "8.0U3", "8.0U3", "9.0", "9.1")
	fmt.Fprintf(&b, "release %s\ncluster c\n", release)
	kinds := 1 + r.IntN(2)
	for k := range kinds {
		fmt.Fprintf(&b, "host h%d %s cores=%s memory=%s mhz=2600 %s\n", k,
			pick("nodes=1", "nodes=2", "nodes=2", "nodes=2", "nodes=4", "nodes=8", "nodes=4 packages=2", "nodes=2 nodeMemory=256GB,128GB"), pick("8", "10", "14", "18", "28", "64", "72"), pick("256GB", "768GB", "1536GB", "3TB"),
			pick("", "", "", "ht=off", "Numa.PreferHT=1", "pci=3b:00.0@0,af:00.0@1", "tierMemory=128GB"))
	}
	for v := range 1 + r.IntN(4) {
		vcpus := pick("2", "4", "6", "8", "9", "12", "15", "16", "20", "24", "28", "32", "36", "40", "42", "48", "56", "64", "72", "96", "112", "128", "144", "192", "256", "448")
		n := 0
		fmt.Sscan(vcpus, &n)
		cps := 1
		for range 3 {
			if c := 1 + r.IntN(n); n%c == 0 {
				cps = c
			}
		}
		fmt.Fprintf(&b, "vm v%d host=h%d vcpus=%d coresPerSocket=%d memory=%s hw=%s", v, r.IntN(kinds), n, cps, pick("4GB", "64GB", "100GB", "200GB", "300GB", "460GB", "600GB", "900GB", "2TB"), pick("7", "8", "10", "11", "13", "15", "17", "19", "20", "21"))
		used := map[string]bool{}
		for range r.IntN(5) {
			word := pick("hotAdd=on", "memoryHotAdd=on", "stored=18", "stored=8", "numa.vcpu.preferHT=TRUE", "numa.consolidate=FALSE", "numa.vcpu.min=4", "numa.vcpu.min=64",
				"numa.vcpu.maxPerMachineNode=4", "numa.vcpu.maxPerVirtualNode=6", "numa.vcpu.followcorespersocket=1", "numa.nodeAffinity=0", "numa.nodeAffinity=1", "numa.nodeAffinity=0,3",
				"cpuAffinity=0-3", "cpuAffinity=0-9", "memoryAffinity=0", "latency=high", "latency=high reserveAll=on", "reserveAll=on", "cpuReservation=20000", "memoryReservation=32GB",
				"pci=3b:00.0", "pci=3b:00.0,af:00.0 reserveAll=on", `guest=windows2019srv_64Guest`, `product="SQL Server 2019 Standard"`, `product="SQL Server 2022 CU14 Enterprise"`, `product="SAP HANA" reserveAll=on`,
				`product="Oracle Database 19c Standard Edition 2"`, "firmware=efi iommu=on", "firmware=bios", "cpuid.maxVCPUs=64", "numa.autosize.once=FALSE", "numa.allowHotadd=TRUE")
			if key := word[:strings.Index(word, "=")]; !used[key] {
				used[key] = true
				b.WriteString(" " + word)
			}
		}
		b.WriteString("\n")
	}
	if closed := pick("", "", "maintenance=on", "connection=disconnected"); closed != "" {
		fmt.Fprintf(&b, "host closed nodes=2 cores=%s memory=256GB mhz=2600 %s\n", pick("6", "14", "64"), closed)
	}
	return b.String()
}

// scenarios returns the scenario of every page of a rule.
func scenarios(t *testing.T) (out []string) {
	files, err := filepath.Glob("../../rules/check/*/testdata/*.txtar")
	if err != nil || len(files) < 60 {
		t.Fatalf("%d scenarios, %v", len(files), err)
	}
	for _, name := range files {
		data := golden.Read(t, name)
		for _, f := range txtar.Parse(data).Files {
			if f.Name == "in" {
				out = append(out, string(f.Data))
			}
		}
	}
	return out
}

// TestAdvice carries out each way that each finding of a VM names, and the plan of the fleet, and judges the whole fleet again: the finding is
// gone or less severe, no other finding of the VM is as severe as what it cures, no host gets worse, and no VM stops running. It holds the plan of
// the fleet beside those that are told. It does so for the scenario of every rule and for random fleets; make prove has 5,000.
func TestAdvice(t *testing.T) {
	texts := scenarios(t)
	for seed := range uint64(max(300, min(5000, 167*testdeps.KillRounds(0)))) {
		texts = append(texts, anyFleet(rand.New(rand.NewPCG(seed, 30))))
	}
	for seed := range uint64(120) { // the plans of these are held beside those that are told
		texts = append(texts, random.Fleet(rand.New(rand.NewPCG(seed, 30))))
	}
	ways, plans := 0, 0
	var told agreement
	for _, text := range texts {
		f, err := scenario.Read("any", []byte(text))
		if err != nil { // an incident, or definitions of KVM
			continue
		}
		r := rules.Run(f, rules.Options{})
		if r.VMs == 0 {
			continue // nothing is judged, and a plan of it is refused
		}
		bare := *f
		bare.VMs = slices.Clone(f.VMs)
		for i := range bare.VMs {
			bare.VMs[i].Observed = nil
		}
		before := rules.Run(&bare, rules.Options{})
		topics := map[[4]string]bool{}
		for i := range r.Findings {
			one := &r.Findings[i]
			about := [...]string{one.Rule, one.VMID, one.HostID, one.Topic}
			if topics[about] {
				t.Errorf("%s has two findings of one topic, %q: %s\n%s", one.Rule, one.Topic, one.Message, text)
			}
			topics[about] = true
			named(t, one, text)
			if one.VMID != "" && one.Severity == finding.High && one.Advice == "" {
				t.Errorf("%s of %s (%s) has no advice and no reason for that: %s\n%s", one.Rule, one.VM, one.Severity, one.Message, text)
			}
			for _, way := range one.Ways {
				if one.VMID != "" && way.Edits != nil {
					ways++
					follow(t, f, before, one, &way, text)
				}
			}
		}
		p, err := fix.Make(t.Context(), f, fix.Options{Now: now})
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		plans += len(p.Changes)
		carryOut(t, f, r, p, text)
		told.compare(t, r, p, text)
		if t.Failed() {
			return
		}
	}
	if ways < 500 || plans < 100 {
		t.Errorf("%d ways, %d changes of plans: the fleets are broken", ways, plans)
	}
	if told.plans < 300 || told.equal*100 < told.plans*98 {
		t.Errorf("%d plans, %d of them as told", told.plans, told.equal)
	}
	t.Logf("%d ways and %d changes of plans of %d fleets", ways, plans, len(texts))
}

// change finds the changes that a sentence of advice names.
var change = regexp.MustCompile(`(?i)(?:set|remove|clear) ((?:numa|sched|cpuid)\.[\w.]+)(?: = (\w+(?:,\w+)*))?|at most (\d+) vCPUs|give the VM at most ([\d.]+ [GT]B)`)

// named checks that the ways of a finding have each change that its advice names.
func named(t *testing.T, f *finding.Finding, text string) {
	if f.VMID == "" || f.Ways == nil {
		return
	}
	var edits []numa.Edit
	for _, w := range f.Ways {
		if w.Edits == nil { // people do it
			edits = append(edits, numa.Edit{Key: w.Do})
		}
		edits = append(edits, w.Edits...)
	}
	for _, m := range change.FindAllStringSubmatch(f.Advice, -1) {
		ok := slices.ContainsFunc(edits, func(e numa.Edit) bool {
			byHand := e.Kind == "" && strings.Contains(strings.ToLower(e.Key), strings.ToLower(m[0]))
			switch {
			case byHand:
				return true
			case m[1] != "":
				return e.Name() == m[1] || m[1] == "numa.allowHotadd" && e.Kind == numa.EditVNUMAHotAdd || e.Kind == numa.EditCoresPerNUMANode || e.Kind == numa.EditMemoryAffinity
			case m[3] != "":
				return e.Kind == numa.EditVCPUs && e.To.Text == m[3]
			}
			return e.Kind == numa.EditMemory
		})
		// Optional parts of plans have no edits of their own.
		if !ok && !f.Planned() {
			t.Errorf("%s of %s: the advice names %q, and no way has it: %s\n%s", f.Rule, f.VM, m[0], f.Advice, text)
		}
	}
}

// beside is the topic of a VM that does not power on beside others.
const beside = "beside"

// follow carries out one way and judges again; before is what was judged without observations.
func follow(t *testing.T, f *numa.Fleet, before *rules.Result, one *finding.Finding, way *numa.Way, text string) {
	g := *f
	g.VMs = slices.Clone(f.VMs)
	for i := range g.VMs {
		v := &g.VMs[i]
		if v.Observed = nil; v.ID != one.VMID {
			continue
		}
		v.Settings.Value = slices.Clone(v.Settings.Value)
		for _, e := range way.Edits {
			if err := e.Configure(&v.Config, "test"); err != nil {
				t.Fatalf("%s: %v", way.Do, err)
			}
		}
	}
	after := rules.Run(&g, rules.Options{})
	fail := func(format string, args ...any) {
		t.Errorf("%s of %s (%s): %s\n  way %q %v\n  %s\n%s", one.Rule, one.VM, one.Severity, one.Message, way.Do, way.Edits, fmt.Sprintf(format, args...), text)
	}
	of := func(r *rules.Result, id string) (own, others []finding.Finding) {
		for _, f := range r.Findings {
			if f.VMID == id {
				own = append(own, f)
			} else {
				others = append(others, f)
			}
		}
		return own, others
	}
	a, aRest := of(before, one.VMID)
	b, bRest := of(after, one.VMID)
	was, is := before.ByID()[one.VMID], after.ByID()[one.VMID]
	b = slices.DeleteFunc(b, func(f finding.Finding) bool { return f.VMID == one.VMID && was.Hid(&f, &is.Guest) })
	starts := was.Off() && !is.Off() // it takes what is left
	if rule.WeightOf(b).Compare(rule.WeightOf(a)) > 0 && !nearer(was, is) {
		fail("its findings are worse: %v instead of %v", brief(b), brief(a))
	}
	if !way.Plan && slices.ContainsFunc(b, func(f finding.Finding) bool {
		elsewhere := !one.Elsewhere() && f.Elsewhere() && except(way.Do, f.On[0]) // the way says so
		return f.Same(*one) && f.Full() >= one.Full() && !elsewhere
	}) {
		fail("it does not cure it: %v", brief(b))
	}
	worst := one.Full() // of those that go
	for _, x := range a {
		if !slices.ContainsFunc(b, x.Same) {
			worst = max(worst, x.Full())
		}
	}
	for _, x := range b {
		had := slices.ContainsFunc(a, func(f finding.Finding) bool { return f.Same(x) && f.Full() >= x.Full() })
		elsewhere := len(x.On) > 0 && x.Elsewhere() && except(way.Do, x.On[0])
		if !had && !way.Plan && !was.Off() && !elsewhere && x.Severity > finding.Info && x.Full() >= worst && is.On[0].Layout.Memory.Nowhere >= was.On[0].Layout.Memory.Nowhere {
			fail("it brings %s (%s): %s", x.Rule, x.Severity, x.Message)
		}
	}
	for i := range bRest {
		x := &bRest[i]
		same := func(o finding.Finding) bool {
			return o.Rule == x.Rule && o.Topic == x.Topic && o.Subject() == x.Subject() && o.Severity >= x.Severity
		}
		if starts && (x.Topic == beside || x.VMID == "") { // its host has its faults once it runs
			continue
		}
		if slices.Contains(x.Costs, one.VMID) && slices.ContainsFunc(was.On, func(o rule.On) bool { return o.Layout.Wide() }) {
			continue // it was wide there before, too
		}
		least := one.Severity
		if x.VMID == "" { // of a host: what it is about may be that very VM
			least++
		}
		if x.Severity > finding.Low && x.Severity >= least && !slices.ContainsFunc(aRest, same) {
			fail("it brings %s (%s) of %s: %s", x.Rule, x.Severity, x.Subject(), x.Message)
		}
	}
}

// nearer reports whether a VM has a tenth of its memory, or more, on the node of its vCPUs that was far from them before: one finding of high severity takes the
// place of another.
func nearer(was, is *rule.VM) bool { return was.On[0].Layout.Farther(&is.On[0].Layout) }

// except reports whether a way says that it does not help on the host.
func except(way, host string) bool {
	_, list, _ := strings.Cut(way, " (not on ")
	list, _, _ = strings.Cut(list, ")")
	return slices.Contains(strings.Split(list, " and "), host)
}

// brief lists findings by rule and severity.
func brief(all []finding.Finding) (out []string) {
	for i := range all {
		if f := &all[i]; f.Severity > finding.Info {
			out = append(out, f.Rule+" "+f.Severity.String()+" "+f.Subject())
		}
	}
	return out
}

// carryOut carries out the plan of a fleet and judges again: no VM is worse, and the next plan is empty.
func carryOut(t *testing.T, f *numa.Fleet, before *rules.Result, p *fix.Plan, text string) {
	g := *f
	g.VMs = slices.Clone(f.VMs)
	changed := map[string]*fix.Change{}
	for i := range p.Changes {
		if c := &p.Changes[i]; c.VM != nil {
			changed[c.VM.ID] = c
		}
	}
	for i := range g.VMs {
		v := &g.VMs[i]
		v.Observed = nil
		if c := changed[v.ID]; c != nil {
			v.Settings.Value = slices.Clone(v.Settings.Value)
			for _, e := range c.Edits {
				if err := e.Configure(&v.Config, "test"); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	hosts := slices.ContainsFunc(p.Changes, func(c fix.Change) bool { return c.VM == nil })
	if again, err := fix.Make(t.Context(), &g, fix.Options{Now: now}); !hosts && len(changed) > 0 && (err != nil || len(again.Changes) > 0) {
		t.Errorf("after the plan comes another, %+v, %v\n%s", again, err, text)
	}
	after := rules.Run(&g, rules.Options{})
	weight := func(r *rules.Result, id string) rule.Weight {
		was, is := before.ByID()[id], r.ByID()[id]
		return rule.WeightOf(slices.DeleteFunc(slices.Clone(r.Findings), func(f finding.Finding) bool { return f.VMID != id || was.Hid(&f, &is.Guest) }))
	}
	for id, c := range changed {
		if weight(after, id).Compare(weight(before, id)) > 0 && !nearer(before.ByID()[id], after.ByID()[id]) {
			t.Errorf("the plan makes %s worse: %v\n%s", c.VM.Name, c.Edits, text)
		}
	}
}
