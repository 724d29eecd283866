package plan

import (
	"fmt"
	"strings"
	"testing"

	"example.org/homenode/change/move"
	"example.org/homenode/change/move/pack"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/source/scenario"
	"example.org/homenode/source/scenario/given"
)

const fleet = `release 8.0U3
cluster prod
host esx01 nodes=2 cores=16 memory=512GB mhz=2500
vm sql01 host=esx01 vcpus=24 coresPerSocket=12 memory=192GB
vm sql02 host=esx01 vcpus=8 coresPerSocket=8 memory=64GB sched.mem.lpage.enable1GPage=TRUE reserveAll=on
vm rt01 host=esx01 vcpus=4 coresPerSocket=4 memory=16GB latency=high reserveAll=on cpuReservation=10000
cluster test
host esx02 nodes=4 cores=8 memory=512GB
vm web01 host=esx02 vcpus=4 coresPerSocket=4 memory=16GB
vm web02 host=esx02 vcpus=16 coresPerSocket=4 memory=16GB numa.vcpu.maxPerVirtualNode=4
`

// hosts returns hosts of two nodes of 16 cores and 256 GB, their CPUs numbered from 0.
func hosts(n int) (out []pack.Host) {
	for i := range n {
		h := pack.Host{Name: fmt.Sprintf("kvm%d", i+1)}
		for id := range 2 {
			node := pack.Node{ID: id, Cores: 16, Threads: 16, Memory: 256 * numa.GiB}
			for c := range 16 {
				node.CPUs = append(node.CPUs, []int{16*id + c})
			}
			h.Nodes = append(h.Nodes, node)
		}
		out = append(out, h)
	}
	return out
}

// text writes where VMs go: by wave, host and nodes, with their CPUs; or why not.
func text(p *Plan) string {
	var out []string
	for _, w := range p.Made.Waves {
		for _, v := range w.VMs {
			at, _ := p.At(p.VMs[v])
			cpus, _ := at.All()
			out = append(out, fmt.Sprintf("%s: %s %s %v CPUs %d-%d", p.Waves[w.Wave], p.VMs[v].Name, at.Host, at.Nodes, cpus[0], cpus[len(cpus)-1]))
		}
	}
	for _, v := range p.VMs {
		if at, why := p.At(v); at == nil {
			out = append(out, v.Name+": "+why)
		}
	}
	return strings.Join(out, "\n")
}

// TestApart keeps the rules of DRS beside those of --apart: three VMs on two hosts, of which one finds none.
func TestApart(t *testing.T) {
	f, err := scenario.Read("fleet", []byte(fleet))
	if err != nil {
		t.Fatal(err)
	}
	f.Clusters[0].Apart = []numa.Group{{Name: "sql", VMs: []string{"sql01", "sql02"}}, {Name: "real time", VMs: []string{"rt01", "sql01"}}}
	p, err := Make(t.Context(), rules.Run(f, rules.Options{}), []*move.Platform{move.PlatformOf("libvirt")}, move.Options{}, hosts(2), Policy{PerCore: 3, Apart: [][]string{{"rt01", "sql02"}}})
	if err != nil {
		t.Fatal(err)
	}
	on := map[int]bool{}
	for _, name := range []string{"sql01", "sql02", "rt01"} {
		i, _ := p.Of(name)
		v := p.Made.VMs[i]
		if v.Host >= 0 && on[v.Host] {
			t.Errorf("%s is on host %d of another:\n%s", name, v.Host, text(p))
		}
		on[v.Host] = true
		if v.Host < 0 && !strings.Contains(v.Why, "DRS rule ") {
			t.Errorf("%s finds no host: %s", name, v.Why)
		}
	}
	if len(on) != 3 || !on[-1] {
		t.Errorf("hosts %v, want two and none:\n%s", on, text(p))
	}
}

func TestMake(t *testing.T) {
	f := given.Fleet(t, "fleet", []byte(fleet))
	r := rules.Run(f, rules.Options{})
	libvirt := []*move.Platform{move.PlatformOf("libvirt")}
	for _, tt := range []struct {
		name   string
		hosts  int
		to     []*move.Platform
		policy Policy
		want   string
	}{
		{"by cluster; one CPU each of rt01, which others do not get; four nodes fit no host", 2, libvirt, Policy{PerCore: 3, KeptCores: 1, KeptMemory: 16 * numa.GiB}, `prod: sql01 kvm1 [0 1] CPUs 1-31
prod: rt01 kvm2 [0] CPUs 1-4
prod: sql02 kvm2 [1] CPUs 17-31
test: web01 kvm2 [0] CPUs 5-15
web02: it fits no host: it has 4 cells and a host has at most 2 nodes. This would help: as 2 cells of 8 vCPUs and 8 GB it fits an empty kvm1: --shape fit (--vm for this VM alone)`},
		{"waves, apart, a ratio", 2, libvirt, Policy{PerCore: 3, Ratios: []Ratio{{"sql*", 1}}, Apart: [][]string{{"sql*"}}, Waves: [][]string{{"web*"}, {"prod/sql*"}}}, ""},
		{"spare", 1, libvirt, Policy{PerCore: 3, Apart: [][]string{{"sql01", "sql02"}}}, ""},
		{"no VM of a wave", 2, libvirt, Policy{Waves: [][]string{{"*"}, {"sql*"}}}, `error: wave "sql*": it matches no VM that is moved and is in no wave before`},
		{"no VM apart", 2, libvirt, Policy{Apart: [][]string{{"dc*"}}}, `error: apart "dc*": it matches no VM that is moved`},
		{"no VM of a ratio", 2, libvirt, Policy{Ratios: []Ratio{{"dc*", 1}}}, `error: vCPUs per core of "dc*": it matches no VM that is moved`},
		{"apart in two groups", 2, libvirt, Policy{PerCore: 3, Apart: [][]string{{"sql*"}, {"sql02", "rt01"}}}, ""},
		{"ratios without measure", 2, libvirt, Policy{PerCore: 1.005}, `error: overcommit of class "": found 1.005, want 0.01 to 100 in steps of 0.01`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			list := hosts(tt.hosts)
			tt.policy.Keep(list)
			p, err := Make(t.Context(), r, tt.to, move.Options{}, list, tt.policy)
			got := ""
			if err != nil {
				got = "error: " + err.Error()
			} else {
				got = text(p)
			}
			if tt.want != "" && got != tt.want {
				t.Errorf("found\n%s\nwant\n%s", got, tt.want)
			}
			if tt.want != "" {
				return
			}
			one, _ := p.Of("sql01")
			two, _ := p.Of("sql02")
			switch a, b := p.Made.VMs[one].Host, p.Made.VMs[two].Host; {
			case a == b:
				t.Errorf("sql01 and sql02 are on one host:\n%s", got)
			case tt.name == "spare" && a >= 0 && b >= 0:
				t.Errorf("both have a host, of one:\n%s", got)
			case tt.policy.Waves != nil && strings.Join(p.Waves, "; ") != "web*; prod/sql*; all others":
				t.Errorf("waves %q", p.Waves)
			case tt.policy.Waves != nil && !strings.HasPrefix(got, "web*: web01"):
				t.Errorf("the first wave is not first:\n%s", got)
			}
		})
	}
}

// TestSizing checks the kinds of hosts that guests are sized for: their nodes with cores, less the reserved share.
func TestSizing(t *testing.T) {
	list := hosts(3)
	list[0].Nodes = list[0].Nodes[:1]
	list[1].Nodes[1].Cores, list[2].Nodes[1].Cores = 8, 8
	list[1].Nodes = append(list[1].Nodes, pack.Node{ID: 2, Memory: numa.TiB})
	list[2].Nodes = append(list[2].Nodes, pack.Node{ID: 2, Memory: numa.TiB})
	p := Policy{KeptCores: 1, KeptMemory: 16 * numa.GiB}
	p.Keep(list)
	if got := Sizing(list); len(got) != 2 || got[1].Name != "kvm2" || got[1].Count != 2 || got[1].String() != "2 nodes of 15 cores and 240 GB, 7 cores and 240 GB" {
		t.Errorf("found %v", got)
	}
}

// TestPlatforms checks that a plan has what any of the platforms needs.
func TestPlatforms(t *testing.T) {
	f, err := scenario.Read("fleet", []byte(fleet))
	if err != nil {
		t.Fatal(err)
	}
	to := []*move.Platform{move.PlatformOf("ahv"), move.PlatformOf("libvirt")}
	p, err := Make(t.Context(), rules.Run(f, rules.Options{}), to, move.Options{}, hosts(2), Policy{PerCore: 3})
	if err != nil {
		t.Fatal(err)
	}
	i, _ := p.Of("sql02")
	j, _ := p.Of("rt01")
	if p.Needs[i].Shape.Page != numa.GiB || !p.Needs[j].Exclusive {
		t.Errorf("pages of %s, exclusive %v", p.Needs[i].Shape.Page, p.Needs[j].Exclusive)
	}
	to = []*move.Platform{move.PlatformOf("libvirt"), move.PlatformOf("kubevirt")}
	if p, err = Make(t.Context(), rules.Run(f, rules.Options{}), to, move.Options{}, hosts(2), Policy{PerCore: 3}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"sql01": "a CPU for each vCPU, for KubeVirt alone; huge pages of 2 MB, for KubeVirt alone", "sql02": "", "web01": ""} {
		if i, _ := p.Of(name); p.More[i] != want {
			t.Errorf("%s counts with %q for some platforms alone, want %q", name, p.More[i], want)
		}
	}
}

// TestThreads checks that a VM of latency sensitivity High whose guest sees threads has the two threads of a core for the two vCPUs of a
// core, where hosts state them, and else a guest without threads.
func TestThreads(t *testing.T) {
	f := given.Fleet(t, "fleet", []byte("release 8.0U3\nhost esx01 nodes=2 cores=16 memory=512GB mhz=2500\n"+
		"vm rt01 host=esx01 vcpus=8 coresPerSocket=8 memory=16GB latency=high reserveAll=on cpuReservation=20000 hw=20 virtualThreads=2\n"))
	r := rules.Run(f, rules.Options{})
	libvirt := move.PlatformOf("libvirt")
	for _, tt := range []struct {
		name    string
		change  func(n *pack.Node)
		cores   int // alone
		threads int
		pins    string
	}{
		{"siblings", func(n *pack.Node) {
			for i := range n.CPUs {
				n.CPUs[i] = append(n.CPUs[i], n.CPUs[i][0]+32)
			}
		}, 4, 2, "[1 33 2 34 3 35 4 36]"},
		{"no SMT", func(*pack.Node) {}, 8, 1, "[1 2 3 4 5 6 7 8]"},
		{"no numbers", func(n *pack.Node) { n.CPUs = nil }, 8, 2, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			list := hosts(1)
			for i := range list[0].Nodes {
				tt.change(&list[0].Nodes[i])
				list[0].Nodes[i].Threads = max(16, 16*len(append(list[0].Nodes[i].CPUs, nil)[0]))
			}
			policy := Policy{PerCore: 3, KeptCores: 1}
			policy.Keep(list)
			p, err := Make(t.Context(), r, []*move.Platform{libvirt}, move.Options{}, list, policy)
			if err != nil {
				t.Fatal(err)
			}
			if got := p.Made.Hosts[0].Nodes[0].Exclusive; got != tt.cores {
				t.Errorf("%d cores alone, want %d", got, tt.cores)
			}
			m := move.Make(p.VMs[0], libvirt, move.Options{At: p.At})
			if m.Refused != nil || m.Shape.Threads != tt.threads || m.Shape.Most() != 8 {
				t.Fatalf("refused %q, shape %+v, want %d threads of a core", m.Refused, m.Shape, tt.threads)
			}
			if tt.pins != "" && fmt.Sprint(m.At.Pins(m.Shape)) != tt.pins {
				t.Errorf("pins %v, want %s", m.At.Pins(m.Shape), tt.pins)
			}
			told := ""
			for _, i := range m.Of(move.Changed) {
				if i.What == "sockets and cores" || i.What == "threads of a core" {
					told += i.What + ": " + i.Why
				}
			}
			if (told == "") != (tt.name == "siblings") || tt.name == "no SMT" && !strings.Contains(told, "do not state cores of 2 threads") {
				t.Errorf("told %q", told)
			}
		})
	}
}

// TestHelpers: QEMU's other threads run beside the CPUs and the cores of a VM that has them alone, and where none are left that is lost.
func TestHelpers(t *testing.T) {
	for _, tt := range []struct {
		vcpus, kept, nodes int
		helpers            string
	}{
		{4, 1, 2, "0-0 1"},
		{4, 0, 2, "4-15 12"},
		{16, 0, 2, "16-31 16"},
		{16, 0, 1, ""},
	} {
		f, err := scenario.Read("fleet", fmt.Appendf(nil, "release 8.0U3\nhost esx01 nodes=2 cores=32 memory=512GB mhz=2500\nvm rt01 host=esx01 vcpus=%d coresPerSocket=%d memory=16GB latency=high reserveAll=on cpuReservation=40000\n", tt.vcpus, tt.vcpus))
		if err != nil {
			t.Fatal(err)
		}
		list := hosts(1)
		list[0].Nodes = list[0].Nodes[:tt.nodes]
		policy := Policy{PerCore: 3, KeptCores: tt.kept}
		policy.Keep(list)
		p, err := Make(t.Context(), rules.Run(f, rules.Options{}), []*move.Platform{move.PlatformOf("libvirt")}, move.Options{}, list, policy)
		if err != nil {
			t.Fatal(err)
		}
		at, why := p.At(p.VMs[0])
		if at == nil {
			t.Fatal(why)
		}
		got := ""
		if n := len(at.Helpers); n > 0 {
			got = fmt.Sprintf("%d-%d %d", at.Helpers[0], at.Helpers[n-1], n)
		}
		if got != tt.helpers {
			t.Errorf("%d vCPUs, %d cores kept: found %q, want %q", tt.vcpus, tt.kept, got, tt.helpers)
		}
		m := move.Make(p.VMs[0], move.PlatformOf("libvirt"), move.Options{At: p.At})
		lost := false
		for _, item := range m.Of(move.Lost) {
			lost = lost || item.What == "CPUs for its other threads"
		}
		if lost != (tt.helpers == "") {
			t.Errorf("%d vCPUs, %d cores kept: lost %v", tt.vcpus, tt.kept, lost)
		}
	}
}
