package fix_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"example.org/homenode/change/diff"
	"example.org/homenode/change/fix"
	"example.org/homenode/change/fix/apply"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/testdeps"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
	"example.org/homenode/source/scenario/random"
)

// configured returns the fleet with a plan carried out.
func configured(t testing.TB, f *numa.Fleet, p *fix.Plan) *numa.Fleet {
	t.Helper()
	out := *f
	out.VMs, out.Hosts = slices.Clone(f.VMs), slices.Clone(f.Hosts)
	for i := range p.Changes {
		c := &p.Changes[i]
		for k := range out.VMs {
			if c.VM == nil || out.VMs[k].ID != c.VM.ID {
				continue
			}
			out.VMs[k].Settings.Value = slices.Clone(out.VMs[k].Settings.Value)
			for _, e := range c.Edits {
				if got := e.ValueOf(&out.VMs[k].Config); got != e.From {
					t.Errorf("%s: %s is %v, the plan says %v", c.VM.Name, e.Name(), got, e.From)
				}
				if err := e.Configure(&out.VMs[k].Config, "test"); err != nil {
					t.Errorf("%s: %v", c.VM.Name, err)
				}
			}
		}
	}
	return &out
}

func vmsOf(r *rules.Result) map[string]*rule.VM {
	out := map[string]*rule.VM{}
	for v := range r.EachVM() {
		out[v.ID] = v
	}
	return out
}

// TestPlansHold plans random fleets and carries the plans out on the model: every VM powers on where it did, no VM is
// judged worse, no host either, what a change brings along is outweighed and said, planning again changes nothing, and Undo brings back each setting. make prove plans 1,000.
func TestPlansHold(t *testing.T) {
	changes, fleets := 0, 0
	for seed := range uint64(max(40, min(1000, 34*testdeps.KillRounds(0)))) {
		text := random.Fleet(rand.New(rand.NewPCG(seed, 21)))
		if !strings.Contains(text, "\nvm ") {
			continue
		}
		fleets++
		f := fleetOf(t, text)
		o := fix.Options{Now: now, Better: seed%3 == 0, AtOnce: 1 + int(seed%4), Upgrade: seed%5 == 0}
		p, err := fix.Make(t.Context(), f, o)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if err := p.Check(); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		changes += len(p.Changes)
		for id, why := range p.Misstated(f, vnuma.Choices{}) {
			t.Errorf("seed %d: %s: %s", seed, id, why)
		}
		g := configured(t, f, p)
		a, b := rules.Run(f, rules.Options{}), rules.Run(g, rules.Options{})
		before := vmsOf(a)
		for id, v := range vmsOf(b) {
			if len(v.Refused) > len(before[id].Refused) {
				t.Errorf("seed %d: %s powers on on fewer hosts: %v", seed, v.Name, v.Refused)
			}
		}
		d, err := diff.Compare(t.Context(), a, b, diff.Options{})
		if err != nil {
			t.Fatal(err)
		}
		told := map[string]bool{} // what changes bring along
		for i := range p.Changes {
			for _, text := range p.Changes[i].Brings {
				told[text] = true
			}
		}
		for i := range d.Findings {
			x := &d.Findings[i]
			untidy := x.B != nil && x.B.VMID == "" && x.B.Severity == finding.Low && d.Better > 0
			switch {
			case !x.Worsens(finding.Low):
			case !untidy && !d.Outweighed(x):
				t.Errorf("seed %d: %s of %s is worse: %s", seed, x.B.Rule, x.B.Subject(), x.B.Message)
			case !told[fmt.Sprintf("%s (%s): %s", x.B.Rule, x.B.Severity, x.B.Message)]:
				t.Errorf("seed %d: the plan does not say that it brings %s of %s", seed, x.B.Rule, x.B.Subject())
			}
		}
		if d.Worse > 0 {
			t.Errorf("seed %d: %d VMs are worse", seed, d.Worse)
		}
		again, err := fix.Make(t.Context(), g, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range again.Changes {
			t.Errorf("seed %d: planned again, %s: %v", seed, c.Target().Name, c.Edits)
		}
		undo, err := p.Undo(func(c *fix.Change) []numa.Edit { return c.Edits })
		if err != nil {
			t.Fatal(err)
		}
		back := map[string]*fix.Change{}
		for i := range undo.Changes {
			back[undo.Changes[i].VM.ID] = &undo.Changes[i]
		}
		for i := range p.Changes {
			c := &p.Changes[i]
			k := slices.IndexFunc(g.VMs, func(v numa.VM) bool { return v.ID == c.VM.ID })
			if u := back[c.VM.ID]; u != nil {
				for _, e := range u.Edits {
					if e.Kind == numa.EditCoresPerNUMANode && !e.To.Set { // automatic
						e.To = numa.Is("0")
					}
					if err := e.Configure(&g.VMs[k].Config, "test"); err != nil {
						t.Errorf("seed %d: %s: taking back %s: %v", seed, c.VM.Name, e.Name(), err)
					}
				}
			}
			for _, e := range numa.Edits(&f.VMs[k].Config, &g.VMs[k].Config) {
				automatic := e.Kind == numa.EditCoresPerNUMANode && !e.From.Set && e.To.Text == "0"
				if !automatic && !slices.ContainsFunc(undo.Left, func(l fix.Left) bool { return l.ID == c.VM.ID }) {
					t.Errorf("seed %d: %s: %s was %v, taken back it is %v", seed, c.VM.Name, e.Name(), e.From, e.To)
				}
			}
		}
		if t.Failed() && seed < 5 {
			t.Log(text)
		}
	}
	if changes < 2*fleets {
		t.Errorf("%d changes: the fleets are broken", changes)
	}
	t.Logf("%d fleets, %d changes: none makes anything worse, each is taken back", fleets, changes)
}

// randomVM writes one VM on hosts of every kind, with what vSphere's client, its settings and the software in the guest can make of it.
func randomVM(r *rand.Rand) string {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	number := func(of ...int) int { return of[r.IntN(len(of))] }
	i := r.IntN(8)
	release := []string{"5.5", "6.0", "6.5", "6.7U3", "7.0U3", "8.0", "8.0U3", "9.0"}[i]
	hw := []int{10, 11, 13, 15, 19, 20, 21, 22}[i]
	var b strings.Builder
	fmt.Fprintf(&b, "release %s\ncluster c\n", release)
	hosts := 1 + r.IntN(2)
	for h := range hosts {
		nodes := number(1, 2, 2, 2, 4, 4, 8)
		fmt.Fprintf(&b, "host h%d nodes=%d packages=%d cores=%d memory=%dGB %s %s\n", h, nodes, number(nodes, nodes, max(1, nodes/2)), number(4, 6, 8, 10, 12, 16, 18, 20, 24, 28, 32, 64),
			number(128, 256, 384, 512, 1024, 2048)*max(1, nodes/2), pick("", "", "", "Numa.PreferHT=1", "Numa.FollowCoresPerSocket=1"), pick("", "", "vendor=AMD llcCores=8"))
	}
	vcpus := number(1, 2, 4, 6, 8, 9, 10, 12, 14, 15, 16, 18, 20, 21, 24, 28, 30, 32, 36, 40, 48, 56, 64, 72)
	fmt.Fprintf(&b, "vm v0 host=h%d vcpus=%d memory=%dGB hw=%d", r.IntN(hosts), vcpus, number(4, 16, 64, 96, 128, 200, 256, 384, 500, 768), min(hw, number(hw, hw, hw, 8, 10, 13, 19)))
	if cores := 1 + r.IntN(vcpus); vcpus%cores == 0 {
		fmt.Fprintf(&b, " coresPerSocket=%d", cores)
	} else if hw >= 20 && r.IntN(2) == 0 {
		b.WriteString(" coresPerSocket=auto")
	}
	for _, word := range []string{"hotAdd=on", "vnumaHotAdd=on", "numa.vcpu.maxPerVirtualNode=" + pick("2", "4", "6", "8", "10", "16"), "numa.vcpu.maxPerMachineNode=" + pick("2", "4", "8", "10", "12"),
		"numa.vcpu.maxPerClient=" + pick("2", "4", "8"), "numa.vcpu.min=" + pick("2", "4", "8", "20"), "numa.vcpu.preferHT=TRUE", "numa.consolidate=FALSE", "numa.autosize.once=FALSE",
		"numa.vcpu.followcorespersocket=TRUE", "cpuid.maxVCPUs=64", "numa.allowHotadd=TRUE", "stored=" + pick("2", "4", "5", "8", "10", "16"), "product=" + pick(`"SQL Server 2019 Standard"`,
			`"SQL Server 2022 CU14 Enterprise"`, `"Windows 10 Pro"`, `"Windows Server 2016 Datacenter"`, `"SQL Server 2017 Web"`, `"SAP HANA"`)} {
		if r.IntN(7) == 0 {
			b.WriteString(" " + word)
		}
	}
	return b.String() + "\n"
}

// TestNeededIsPlanned holds plans beside explain and what-if: what explain says that the cure of a VM needs is planned, unless the what-if of
// these edits judges the VM no better or another thing worse. Then the plan says so of each finding that the advice is for.
func TestNeededIsPlanned(t *testing.T) {
	needed, refused := 0, 0
	for seed := range uint64(max(150, min(5000, 100*testdeps.KillRounds(0)))) {
		text := randomVM(rand.New(rand.NewPCG(seed, 31)))
		f := fleetOf(t, text)
		a := rules.Run(f, rules.Options{})
		_, proposals := a.Proposals()
		if len(proposals) == 0 || proposals[0].Edits == nil || slices.ContainsFunc(proposals[0].Edits, func(e numa.Edit) bool { return e.Kind == numa.EditHardware }) {
			continue
		}
		needed++
		p, err := fix.Make(t.Context(), f, fix.Options{Now: now, Split: true, Cycled: true})
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, text)
		}
		has := func(e numa.Edit) bool {
			return slices.ContainsFunc(p.Changes, func(c fix.Change) bool {
				return slices.ContainsFunc(c.Edits, func(o numa.Edit) bool { return o.Kind == e.Kind && o.Key == e.Key })
			})
		}
		if !slices.ContainsFunc(proposals[0].Edits, func(e numa.Edit) bool { return !has(e) }) {
			continue
		}
		refused++
		g := configured(t, f, &fix.Plan{Changes: []fix.Change{{VM: &fix.Target{ID: f.VMs[0].ID}, Edits: proposals[0].Edits}}})
		b := rules.Run(g, rules.Options{})
		d, err := diff.Compare(t.Context(), a, b, diff.Options{})
		if err != nil {
			t.Fatal(err)
		}
		v, was := vmsOf(b)[f.VMs[0].ID], vmsOf(a)[f.VMs[0].ID]
		harm := v.Off() || len(v.Refused) > len(was.Refused) // the layout of a VM that does not power on is cured after that
		for i := range min(len(v.On), len(was.On)) {
			harm = harm || v.On[i].Layout.Compare(&was.On[i].Layout) > 0
		}
		for i := range d.Findings {
			harm = harm || d.Findings[i].Worsens(finding.Medium) && !d.Outweighed(&d.Findings[i])
		}
		if d.Better == 1 && !harm {
			t.Errorf("seed %d: %v is better by what-if and not planned:\n%sleft %+v, changes %+v", seed, proposals[0].Needed, text, p.Left, p.Changes)
		}
		for _, id := range proposals[0].Findings {
			if len(p.Changes) == 0 && !slices.ContainsFunc(p.Left, func(l fix.Left) bool {
				return l.Rule == id && (strings.Contains(l.Why, "would") || strings.Contains(l.Why, "cannot") || strings.Contains(l.Why, "do not cure that"))
			}) {
				t.Errorf("seed %d: %s is left without the reason:\n%s%+v", seed, id, text, p.Left)
			}
		}
	}
	if needed < 25 {
		t.Errorf("%d VMs with advice: the fleets are broken", needed)
	}
	t.Logf("%d VMs with advice, that of %d is refused for a reason", needed, refused)
}

// TestPlansInLab carries plans of random fleets out in a simulated vCenter, and takes them back.
func TestPlansInLab(t *testing.T) {
	changes := 0
	for seed := range uint64(max(5, testdeps.KillRounds(0))) {
		f := fleetOf(t, random.Fleet(rand.New(rand.NewPCG(seed, 21))))
		s := serveFleet(t, f)
		before := s.settings()
		o := fix.Options{Now: now, AtOnce: 4, Better: seed%3 == 0}
		p := s.plan(o)
		if len(p.Changes) == 0 {
			s.vc.Close()
			continue
		}
		changes += len(p.Changes)
		results, path, err := s.apply(p, quick(apply.PowerGuest))
		if err != nil {
			t.Error(err)
		}
		outcomes(t, results, apply.Done)
		for _, c := range s.plan(o).Changes {
			t.Errorf("seed %d: planned again, %s: %v", seed, c.Target().Name, c.Edits)
		}
		results, err = s.rollback(path, quick(apply.PowerGuest))
		if err != nil {
			t.Error(err)
		}
		outcomes(t, results, apply.Done)
		if d := differences(before, s.settings(), lost(p)); d != nil {
			t.Errorf("seed %d: after the rollback:\n%s", seed, strings.Join(d, "\n"))
		}
		s.vc.Close()
	}
	if changes < 8 {
		t.Errorf("%d changes: the fleets are broken", changes)
	}
	t.Logf("%d changes made and taken back", changes)
}
