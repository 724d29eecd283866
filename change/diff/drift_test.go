package diff_test

import (
	"fmt"
	"math/rand/v2"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"

	"example.org/homenode/change/diff"
	"example.org/homenode/change/whatif"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
	"example.org/homenode/source/scenario/given"
)

func judge(t testing.TB, text string) *rules.Result {
	t.Helper()
	return rules.Run(given.Fleet(t, "fleet.txt", []byte(text)), rules.Options{})
}

// text returns a drift, one difference a line.
func text(d *diff.Drift) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d better %d worse %d other %d unchanged %d moved %d one-sided\n", d.Better, d.Worse, d.Other, d.Unchanged, d.Moved, d.OneSided)
	for _, v := range d.VMs {
		fmt.Fprintf(&b, "%s %s: %s\n", v.Verdict, v.Subject(), strings.Join(v.Why, ", "))
		for _, s := range v.Settings {
			fmt.Fprintf(&b, "    %s %s -> %s\n", s.Name, s.From, s.To)
		}
	}
	for _, h := range d.Hosts {
		for _, s := range h.Settings {
			fmt.Fprintf(&b, "host %s: %s %s -> %s\n", h.Name, s.Name, s.From, s.To)
		}
	}
	for _, v := range d.NewVMs {
		fmt.Fprintf(&b, "new VM %s\n", path.Base(v))
	}
	for _, v := range d.GoneVMs {
		fmt.Fprintf(&b, "gone VM %s\n", path.Base(v))
	}
	for _, h := range d.NewHosts {
		fmt.Fprintf(&b, "new host %s\n", h)
	}
	for _, h := range d.GoneHosts {
		fmt.Fprintf(&b, "gone host %s\n", h)
	}
	for _, f := range d.Findings {
		if f.Of().VMID == "" && f.Of().Severity == finding.Info { // remarks about hosts: the VMs matter here
			continue
		}
		severity := func(f *finding.Finding) string {
			if f == nil {
				return "none"
			}
			return f.Severity.String()
		}
		fmt.Fprintf(&b, "%s %s %s -> %s\n", f.Of().Rule, f.Of().Subject(), severity(f.A), severity(f.B))
	}
	return b.String()
}

const before = `release 7.0U3
cluster prod
host esx[01-02] nodes=2 cores=18 memory=1024GB Numa.LocalityWeightActionAffinity=0
host esx03 nodes=4 cores=9 memory=1024GB Numa.LocalityWeightActionAffinity=0
vm sql01 host=esx01 vcpus=32 coresPerSocket=2 memory=384GB hotAdd=on
vm web01 host=esx01 vcpus=4 memory=16GB
vm app01 host=esx02 vcpus=8 memory=32GB
`

func TestCompare(t *testing.T) {
	for _, tt := range []struct{ name, from, to, want string }{
		{"a fault cured", "coresPerSocket=2 memory=384GB hotAdd=on", "coresPerSocket=16 memory=384GB", `
1 better 0 worse 0 other 2 unchanged 0 moved 0 one-sided
better prod/sql01: the guest sees its 2 nodes, 50 → 0 % of accesses remote, 16 → 2 sockets, N014 new (medium), N009 new (low), N001 gone
    coresPerSocket 2 -> 16
    hotAdd on -> off
N014 prod/sql01 none -> medium
N009 prod/sql01 none -> low
N001 prod/sql01 high -> none
`},
		{"moved to a like host", "host=esx01 vcpus=4", "host=esx02 vcpus=4", `
0 better 0 worse 0 other 3 unchanged 1 moved 0 one-sided
`},
		{"moved to an unlike host", "host=esx01 vcpus=32", "host=esx03 vcpus=32", `
0 better 1 worse 0 other 2 unchanged 0 moved 0 one-sided
worse prod/sql01: 50 → 75 % of accesses remote, on esx03
`},
		{"powered off", "web01 host=esx01", "web01 power=off host=esx01", `
0 better 0 worse 0 other 3 unchanged 0 moved 0 one-sided
`},
		{"a fact that one side knows", "memory=16GB", "memory=16GB hotAdd=?", `
0 better 0 worse 0 other 3 unchanged 0 moved 1 one-sided
`},
		{"stored sizes are written by any power-on", "memory=16GB", "memory=16GB stored=4", `
0 better 0 worse 0 other 3 unchanged 0 moved 0 one-sided
`},
		{"settings", "memory=16GB", "memory=32GB numa.vcpu.min=2 cpuReservation=1000", `
0 better 0 worse 0 other 3 unchanged 0 moved 0 one-sided
unchanged prod/web01: N019 new (info)
    memory 16 GB -> 32 GB
    cpuReservation 0 -> 1000
    numa.vcpu.min unset -> 2
N019 prod/web01 none -> info
`},
		{"a memory limit", "memory=16GB", "memory=16GB memoryLimit=32GB", `
0 better 0 worse 0 other 3 unchanged 0 moved 0 one-sided
unchanged prod/web01: 
    memoryLimit none -> 32 GB
`},
		{"a template now", "web01", "web01 template=on", `
0 better 0 worse 1 other 2 unchanged 0 moved 0 one-sided
other prod/web01: is a template
    template off -> on
`},
		{"its vCPUs are unknown", "web01 host=esx01 vcpus=4", "web01 host=esx01 vcpus=?", `
0 better 1 worse 0 other 2 unchanged 0 moved 1 one-sided
worse prod/web01: the vCPU count is unknown
`},
		{"VMs come and go", "vm web01", "vm web02", `
0 better 0 worse 0 other 2 unchanged 0 moved 0 one-sided
new VM web02
gone VM web01
`},
		{"a host comes", "host esx[01-02]", "host esx[00-02]", `
0 better 0 worse 0 other 3 unchanged 0 moved 0 one-sided
new host esx00
`},
		{"another release", "esx03 nodes=4", "esx03 release=7.0 build=15843807 nodes=4", `
0 better 3 worse 0 other 0 unchanged 0 moved 0 one-sided
worse prod/app01: N032 new (low)
worse prod/sql01: N032 new (low)
worse prod/web01: N032 new (low)
host esx03: release 7.0 U3 -> 7.0
N032 prod/esx03 none -> low
`},
		{"what a kernel keeps", "esx03 nodes=4 cores=9 memory=1024GB", "esx03 nodes=4 cores=9 memory=1021GB", `
0 better 0 worse 0 other 3 unchanged 0 moved 0 one-sided
`},
		{"other nodes", "esx03 nodes=4 cores=9", "esx03 nodes=2 packages=2 cores=18", `
0 better 0 worse 0 other 3 unchanged 0 moved 0 one-sided
host esx03: packages 4 -> 2
host esx03: nodes 4 × 9 cores 256 GB -> 2 × 18 cores 512 GB
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			changed := strings.Replace(before, tt.from, tt.to, 1)
			if tt.name == "moved to an unlike host" {
				changed = strings.Replace(before, "host=esx01 vcpus=32", "host=esx03 vcpus=32", 1)
			}
			d := compare(t, judge(t, before), judge(t, changed), diff.Options{})
			if got := text(d); got != tt.want[1:] {
				t.Errorf("got:\n%s\nwant:%s", got, tt.want)
			}
		})
	}
}

// TestLostHosts: losing the only hosts where a VM fits one node is no improvement,
// though N014 is gone; VMs that run nowhere any more come first and are counted.
func TestLostHosts(t *testing.T) {
	const fleet = `release 8.0U2
cluster prod
host esx[01-02] nodes=2 cores=16 memory=512GB
host esx03 nodes=2 cores=24 memory=512GB
vm ora01 host=esx03 vcpus=24 coresPerSocket=12 memory=64GB
cluster edge
host edge01 nodes=2 cores=8 memory=128GB
vm fw01 host=edge01 vcpus=4 memory=8GB
`
	base := judge(t, fleet)
	var changes []whatif.Change
	for _, name := range []string{"esx03", "edge01"} {
		c, err := whatif.Parse("lose-host=" + name)
		if err != nil {
			t.Fatal(err)
		}
		changes = append(changes, c)
	}
	changed, _, err := whatif.Apply(t.Context(), base.Fleet, changes, vnuma.Choices{})
	if err != nil {
		t.Fatal(err)
	}
	d := compare(t, base, rules.Run(changed, rules.Options{}), diff.Options{})
	if len(d.VMs) != 2 || d.VMs[0].B.Name != "fw01" || d.Stopped != 1 || d.Worse != 1 || d.Better != 0 || d.Other != 1 {
		t.Errorf("%d stopped\n%s", d.Stopped, text(d))
	}
}

// TestMatching holds by what VMs of two fleets are the same.
func TestMatching(t *testing.T) {
	vm := func(id, uuid, name string) numa.VM {
		v := numa.VM{ID: id, UUID: uuid, Name: name, Cluster: "c"}
		v.VCPUs = numa.ReadAt(2, "n")
		return v
	}
	for _, tt := range []struct {
		name string
		a, b []numa.VM
		want string // new, gone, then pairs as settings of the name
	}{
		{"renamed", []numa.VM{vm("1", "u1", "a")}, []numa.VM{vm("1", "u1", "b")}, ""},
		{"registered again", []numa.VM{vm("1", "u1", "a")}, []numa.VM{vm("2", "u1", "b")}, ""},
		{"another source", []numa.VM{vm("1", "", "a")}, []numa.VM{vm("x", "u1", "a")}, ""},
		{"restored", []numa.VM{vm("1", "u1", "a")}, []numa.VM{vm("2", "u2", "a")}, ""},
		{"an ID of another vCenter", []numa.VM{vm("1", "u1", "a")}, []numa.VM{vm("1", "u2", "b")}, "new b gone a"},
		{"IDs swapped", []numa.VM{vm("1", "u1", "a"), vm("2", "u2", "b")}, []numa.VM{vm("2", "u1", "a"), vm("1", "u2", "b")}, ""},
		{"a name twice", []numa.VM{vm("1", "", "a")}, []numa.VM{vm("2", "", "a"), vm("3", "", "a")}, "new a new a gone a"},
		{"a UUID twice", []numa.VM{vm("1", "u1", "a")}, []numa.VM{vm("2", "u1", "b"), vm("3", "u1", "c")}, "new b new c gone a"},
	} {
		fleet := func(vms []numa.VM) *rules.Result {
			return rules.Run(&numa.Fleet{Clusters: []numa.Cluster{{ID: "c", Name: "c"}}, VMs: vms}, rules.Options{})
		}
		d := compare(t, fleet(tt.a), fleet(tt.b), diff.Options{})
		var got []string
		for _, v := range d.NewVMs {
			got = append(got, "new "+path.Base(v))
		}
		for _, v := range d.GoneVMs {
			got = append(got, "gone "+path.Base(v))
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, s, tt.want)
		}
	}
}

// TestNoHost checks that a VM without host is judged where it is worst, and says so.
func TestNoHost(t *testing.T) {
	d := compare(t, judge(t, before), judge(t, before), diff.Options{})
	if d.Differs() || len(d.Findings) > 0 {
		t.Errorf("a fleet and itself:\n%s", text(d))
	}
	// The source of B knows no hosts of VMs.
	b := judge(t, before).Fleet
	for i := range b.VMs {
		b.VMs[i].Host = ""
	}
	d = compare(t, judge(t, before), rules.Run(b, rules.Options{}), diff.Options{})
	v := d.VMs[0]
	if v.Subject() != "prod/sql01" || v.Verdict != diff.Worse || v.Why[0] != "50 → 75 % of accesses remote" || v.Why[1] != "when on esx03 (1 of 3 hosts; 50 % remote on the others)" {
		t.Errorf("%s %s: %v", v.Verdict, v.Subject(), v.Why)
	}
}

// TestItself checks that nothing differs between a fleet and itself.
func TestItself(t *testing.T) {
	f := given.Demo(t)
	d := compare(t, rules.Run(f, rules.Options{}), rules.Run(f, rules.Options{}), diff.Options{})
	want := fmt.Sprintf("0 better 0 worse 0 other %d unchanged 0 moved 0 one-sided\n", d.A.VMs)
	if got := text(d); got != want || d.Differs() {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// TestMirror checks that a comparison the other way round says the opposite of
// everything, for random changes of the demo fleet.
func TestMirror(t *testing.T) {
	f := given.Demo(t)
	base := rules.Run(whatif.Unobserved(f), rules.Options{})
	r := rand.New(rand.NewPCG(3, 4))
	all := []string{"hw=20", "release=8.0U2", "release=6.7U3", "host=esx* nodesPerSocket=2", "vm=*1 hotAdd=on", "vm=sql* hotAdd=off", "vm=*0 vcpus=24 coresPerSocket=1",
		"vm=a* vcpus=12", "numa.vcpu.preferHT=TRUE", "vm=clone* stored=", "vm=* cluster=epyc coresPerSocket=4", "host=*5* memory=384GB", "vm=web* template=on", "vm=*2 hw=?"}
	for range 30 {
		var changes []whatif.Change
		for range 1 + r.IntN(3) {
			c, err := whatif.Parse(all[r.IntN(len(all))])
			if err != nil {
				t.Fatal(err)
			}
			changes = append(changes, c)
		}
		if r.IntN(2) == 0 {
			c, err := whatif.Parse("lose-host=" + f.Hosts[r.IntN(len(f.Hosts))].Name)
			if err != nil {
				t.Fatal(err)
			}
			changes = append(changes, c)
		}
		changed, _, err := whatif.Apply(t.Context(), f, changes, vnuma.Choices{})
		if err != nil {
			t.Fatal(err)
		}
		other := rules.Run(changed, rules.Options{})
		there, back := compare(t, base, other, diff.Options{}), compare(t, other, base, diff.Options{})
		if a, b := mirrored(there, false), mirrored(back, true); !reflect.DeepEqual(a, b) {
			t.Fatalf("%v: there and back differ:\n%v\n%v", changes[0].Text, a, b)
		}
	}
}

// mirrored returns what a drift says in an order of its own; back turns it round.
func mirrored(d *diff.Drift, back bool) []string {
	turn := func(a, b string) string {
		if back {
			a, b = b, a
		}
		return a + " -> " + b
	}
	better, worse := d.Better, d.Worse
	if back {
		better, worse = worse, better
	}
	out := []string{fmt.Sprint(better, worse, d.Other, d.Unchanged, d.Moved, d.OneSided), turn(fmt.Sprint(len(d.GoneHosts), len(d.GoneVMs)), fmt.Sprint(len(d.NewHosts), len(d.NewVMs)))}
	for _, v := range d.VMs {
		verdict := v.Verdict
		if back && (verdict == diff.Better || verdict == diff.Worse) {
			verdict = diff.Better + diff.Worse - verdict
		}
		out = append(out, fmt.Sprint(v.A.ID, verdict, v.Layout))
		for _, s := range v.Settings {
			out = append(out, v.A.ID+" "+s.Name+" "+turn(s.From, s.To))
		}
	}
	for _, h := range d.Hosts {
		for _, s := range h.Settings {
			out = append(out, h.ID+" "+s.Name+" "+turn(s.From, s.To))
		}
	}
	for _, f := range d.Findings {
		s := func(f *finding.Finding) string {
			if f == nil {
				return "none"
			}
			return f.Severity.String()
		}
		out = append(out, f.Of().Rule+" "+f.Of().VMID+" "+f.Of().VM+" "+turn(s(f.A), s(f.B)))
	}
	slices.Sort(out)
	return out
}

// TestWorsens checks what counts for an exit code.
func TestWorsens(t *testing.T) {
	cured := strings.Replace(before, "coresPerSocket=2 memory=384GB hotAdd=on", "coresPerSocket=16 memory=384GB", 1)
	a, b := judge(t, before), judge(t, cured)
	// N001 is of high severity for 2 clients and for 3, and with 3 more of the memory is remote.
	remote := "release 8.0U3\ncluster c\nhost h nodes=4 cores=16 memory=512GB\nvm v host=h vcpus=32 memory=64GB hotAdd=on hw=19\n"
	fewer := strings.Replace(remote, "vcpus=32", "vcpus=48", 1)
	for _, tt := range []struct {
		name                 string
		d                    *diff.Drift
		s                    finding.Severity
		findings, vms, worse int
	}{
		{"cured, high", compare(t, a, b, diff.Options{}), finding.High, 0, 0, 0},
		{"cured, with a lesser fault", compare(t, a, b, diff.Options{}), finding.Medium, 0, 0, 0},
		{"broken, high", compare(t, b, a, diff.Options{}), finding.High, 1, 0, 0},
		{"does not run", compare(t, a, judge(t, strings.Replace(before, "memory=16GB", "memory=16GB hw=21", 1)), diff.Options{}), finding.Info, 1, 1, 0},
		{"runs again", compare(t, judge(t, strings.Replace(before, "memory=16GB", "memory=16GB hw=21", 1)), a, diff.Options{}), finding.Info, 0, 0, 0},
		{"the layout alone, high", compare(t, judge(t, remote), judge(t, fewer), diff.Options{}), finding.High, 0, 0, 1},
	} {
		if findings, vms, worse := tt.d.Worsens(tt.s); findings != tt.findings || vms != tt.vms || worse != tt.worse {
			t.Errorf("%s: %d findings, %d VMs that cannot run, %d worse; want %d, %d, %d", tt.name, findings, vms, worse, tt.findings, tt.vms, tt.worse)
		}
	}
}

func compare(t *testing.T, a, b *rules.Result, o diff.Options) *diff.Drift {
	t.Helper()
	d, err := diff.Compare(t.Context(), a, b, o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
