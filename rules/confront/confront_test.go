package confront_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
	"example.org/homenode/rules/confront"
	"example.org/homenode/source/scenario"
	"example.org/homenode/source/scenario/given"
)

// check reads a scenario of hosts, one VM and what was seen of it, and returns each
// result as text.
func check(t *testing.T, text string) string {
	t.Helper()
	f := given.Fleet(t, "in", []byte(text))
	v := &f.VMs[0]
	var places []confront.Place
	for i := range f.Hosts {
		m, err := vnuma.NewMachine(&f.Hosts[i])
		if err != nil {
			t.Fatal(err)
		}
		p := confront.Place{Names: []string{f.Hosts[i].Name}, Machine: m}
		if f.Hosts[i].ID == v.Host {
			places = slices.Insert(places, 0, p)
		} else {
			places = append(places, p)
		}
	}
	var b strings.Builder
	for i := range v.Observed {
		r := confront.Check(v, &v.Observed[i], places, vnuma.Choices{})
		fmt.Fprintf(&b, "%s on %s, %s: comparable %v, agrees %v\n", r.Observation.By, r.Host, r.Event, r.Comparable(), r.Agrees())
		for _, f := range r.Fields {
			fmt.Fprintf(&b, "  %s: %s, predicted %s, %v\n", f.Name, f.Observed, f.Predicted, f.Agrees)
		}
		for _, s := range r.Open {
			fmt.Fprintf(&b, "  open: %s\n", s)
		}
		for _, s := range r.Reasons {
			fmt.Fprintf(&b, "  reason: %s\n", s)
		}
		for _, s := range r.Other {
			fmt.Fprintf(&b, "  other: %s = %s, inventory %s\n", s.Name, s.Observed, s.Inventory)
		}
	}
	return b.String()
}

const hosts = "release 7.0U3\ncluster prod\nhost esx01.example.org nodes=2 cores=18 memory=1024GB\nhost esx11 nodes=4 cores=10 memory=1024GB\n"

func TestCheck(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"a log that agrees in all", "vm db vcpus=32 memory=384GB\nseen db by=vmware.log start=power-on host=esx01 nodes=2x16 clients=2x16 memory=192GB+192GB", `
vmware.log on esx01.example.org, power-cycle: comparable true, agrees true
  virtual nodes (VPDs): 2 × 16, predicted 2 × 16, true
  NUMA clients (PPDs): 2 × 16, predicted 2 × 16, true
  memory slices: 2 × 192 GB, predicted 2 × 192 GB, true
`},
		{"one field that differs", "vm db vcpus=32 memory=384GB\nseen db by=vmware.log nodes=2x16 clients=2x16 memory=200GB+184GB", `
vmware.log on esx01.example.org, power-cycle: comparable true, agrees false
  virtual nodes (VPDs): 2 × 16, predicted 2 × 16, true
  NUMA clients (PPDs): 2 × 16, predicted 2 × 16, true
  memory slices: 200 GB + 184 GB, predicted 2 × 192 GB, false
`},
		{"on the host it names", "vm db host=esx01.example.org vcpus=36 memory=384GB\nseen db by=vmware.log start=first host=esx11.example.org nodes=4x9 clients=4x9", `
vmware.log on esx11, first-power-on: comparable true, agrees true
  virtual nodes (VPDs): 4 × 9, predicted 4 × 9, true
  NUMA clients (PPDs): 4 × 9, predicted 4 × 9, true
`},
		{"on an unknown host", "vm db host=esx11 vcpus=12\nseen db by=vmware.log host=esx99 nodes=2x6 clients=2x6", `
vmware.log on esx11, power-cycle: comparable true, agrees true
  virtual nodes (VPDs): 2 × 6, predicted 2 × 6, true
  NUMA clients (PPDs): 2 × 6, predicted 2 × 6, true
  open: it ran on esx99, which is not among the hosts known here: predicted for esx11
`},
		{"the checkpoint of another host", "vm db host=esx01.example.org vcpus=36\nseen db by=vmware.log start=checkpoint nodes=4x9 clients=2x18", `
vmware.log on esx01.example.org, resume: comparable true, agrees false
  virtual nodes (VPDs): 4 × 9, predicted 2 × 18, false
  NUMA clients (PPDs): 2 × 18, predicted 2 × 18, true
  reason: powered on last on a host like esx11 (4 nodes of 10 cores and 256 GB) and moved here: the guest keeps its nodes (D-1)
`},
		{"a difference on an unknown host", "vm db host=esx11 vcpus=12\nseen db by=vmware.log host=esx99 vcpus=12 nodes=3x4 clients=3x4", `
vmware.log on esx11, power-cycle: comparable true, agrees false
  virtual nodes (VPDs): 3 × 4, predicted 2 × 6, false
  NUMA clients (PPDs): 3 × 4, predicted 2 × 6, false
  open: it ran on esx99, which is not among the hosts known here: predicted for esx11
  reason: it ran on esx99, whose nodes are not known here
`},
		{"with the release of the log", "vm db host=esx11 vcpus=10 coresPerSocket=5\nseen db by=vmware.log host=esx11 release=6.0 nodes=2x5 clients=2x5", `
vmware.log on esx11, power-cycle: comparable true, agrees true
  virtual nodes (VPDs): 2 × 5, predicted 2 × 5, true
  NUMA clients (PPDs): 2 × 5, predicted 2 × 5, true
  other: release of the host = 6.0, inventory 7.0 U3
`},
		{"with a release that is not described", "vm db host=esx11 vcpus=10\nseen db by=vmware.log host=esx11 release=2.5 nodes=10 clients=10", `
vmware.log on esx11, power-cycle: comparable true, agrees true
  virtual nodes (VPDs): 1 × 10, predicted 1 × 10, true
  NUMA clients (PPDs): 1 × 10, predicted 1 × 10, true
  open: the host ran 2.5, for which no rules are known: predicted for 7.0 U3
  other: release of the host = 2.5, inventory 7.0 U3
`},
		{"slices are rounded", "vm db vcpus=32 memory=384GB\nseen db by=vmware.log nodes=2x16 memory=196606MB+196610MB", `
vmware.log on esx01.example.org, power-cycle: comparable true, agrees true
  virtual nodes (VPDs): 2 × 16, predicted 2 × 16, true
  memory slices: 192.0 GB + 192.0 GB, predicted 2 × 192 GB, true
`},
		{"a power-on on this host came from no other", "vm db host=esx01.example.org vcpus=36\nseen db by=vmware.log start=power-on host=esx01 vcpus=36 nodes=4x9 clients=2x18", `
vmware.log on esx01.example.org, power-cycle: comparable true, agrees false
  virtual nodes (VPDs): 4 × 9, predicted 2 × 18, false
  NUMA clients (PPDs): 2 × 18, predicted 2 × 18, true
`},
		{"with the settings of the log", "vm db vcpus=20\nseen db by=vmware.log hotAdd=on vcpus=24 numa.vcpu.min=4 nodes=24 clients=2x12", `
vmware.log on esx01.example.org, power-cycle: comparable true, agrees true
  virtual nodes (VPDs): 1 × 24, predicted 1 × 24, true
  NUMA clients (PPDs): 2 × 12, predicted 2 × 12, true
  other: vCPUs = 24, inventory 20
  other: CPU hot add = true, inventory false
  other: numa.vcpu.min = 4, inventory unset
`},
		{"a guest counts its processors", "vm db vcpus=8 coresPerSocket=4\nseen db by=lscpu nodes=6 sockets=4+2", `
lscpu on esx01.example.org, power-cycle: comparable true, agrees false
  virtual nodes (VPDs): 1 × 6, predicted 1 × 8, false
  virtual sockets: 4 + 2, predicted 2 × 4, false
  processors: 6, predicted 8, false
  reason: it is what 6 vCPUs would give: changed since the last power-on, only a power cycle makes a change take effect (D-1)
  reason: it is what 6 vCPUs with 4 cores per socket would give: changed since the last power-on, only a power cycle makes a change take effect (D-1)
`},
		{"a guest's memory is not judged", "vm db vcpus=32 memory=384GB\nseen db by=numactl nodes=2x16 memory=190GB+191GB", `
numactl on esx01.example.org, power-cycle: comparable true, agrees true
  virtual nodes (VPDs): 2 × 16, predicted 2 × 16, true
  open: memory of the virtual nodes: a guest shows what its kernel left of it
`},
		{"a conflict of sources", "vm db host=esx01.example.org vcpus=12 stored=8\nseen db by=vmware.log vcpus=12 start=power-on nodes=2x6", `
vmware.log on esx01.example.org, power-cycle: comparable true, agrees false
  virtual nodes (VPDs): 2 × 6, predicted 8 + 4, false
  reason: sources disagree on this (F-9): it agrees with the other side: unset means 8, as the manuals print
  reason: sources disagree on this (F-18): it agrees with the other side: the vCPUs are spread evenly, 6 + 6, as with a size set by hand (F-30)
`},
		{"a guest beside the log of its power-on", "vm db vcpus=24 hotAdd=on\nseen db by=vmware.log time=2026-05-01T00:00:00Z vcpus=24 hotAdd=off nodes=2x12 clients=2x12\nseen db by=lscpu nodes=2x12\nseen db by=numactl time=2026-04-01T00:00:00Z nodes=24\nseen db by=coreinfo time=2026-06-01T00:00:00Z nodes=24", `
vmware.log on esx01.example.org, power-cycle: comparable true, agrees true
  virtual nodes (VPDs): 2 × 12, predicted 2 × 12, true
  NUMA clients (PPDs): 2 × 12, predicted 2 × 12, true
  other: CPU hot add = false, inventory true
lscpu on esx01.example.org, power-cycle: comparable true, agrees true
  virtual nodes (VPDs): 2 × 12, predicted 2 × 12, true
numactl on esx01.example.org, power-cycle: comparable true, agrees true
  virtual nodes (VPDs): 1 × 24, predicted 1 × 24, true
Coreinfo on esx01.example.org, power-cycle: comparable true, agrees true
  virtual nodes (VPDs): 1 × 24, predicted 1 × 24, true
`},
		{"nothing was stated", "vm db vcpus=12 hotAdd=? hw=? settings=?\nseen db by=vmware.log clients=12\nseen db by=sched-stats", `
vmware.log on esx01.example.org, power-cycle: comparable true, agrees true
  NUMA clients (PPDs): 1 × 12, predicted 1 × 12, true
sched-stats on esx01.example.org, power-cycle: comparable false, agrees false
  open: the observation holds no topology
`},
		{"what is not stated explains it", "vm db vcpus=32 hotAdd=? hw=?\nseen db by=vmware.log nodes=32 clients=2x16", `
vmware.log on esx01.example.org, power-cycle: comparable true, agrees false
  virtual nodes (VPDs): 1 × 32, predicted 2 × 16, false
  NUMA clients (PPDs): 2 × 16, predicted 2 × 16, true
  reason: it is what CPU hot add on would give: changed since the last power-on, only a power cycle makes a change take effect (D-1)
  reason: CPU hot add, which is not stated, is on
  reason: the virtual hardware, which is not stated, is older than 8
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := check(t, hosts+tt.in); got != tt.want[1:] {
				t.Errorf("got\n%swant%s", got, tt.want)
			}
		})
	}
}

// TestGroups compares divisions that no even split draws.
func TestGroups(t *testing.T) {
	f, err := scenario.Read("in", []byte(hosts+"vm db vcpus=4"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := vnuma.NewMachine(&f.Hosts[0])
	if err != nil {
		t.Fatal(err)
	}
	v := &f.VMs[0]
	for _, tt := range []struct {
		name    string
		nodes   []int
		count   int
		want    string
		agrees  bool
		noCount bool
	}{
		{"numbers with gaps", []int{2, 2, 2, 2}, 1, "1 × 4", true, false},
		{"scattered", []int{0, 1, 0, 1}, 2, "2 × 2", false, false},
		{"fewer vCPUs", []int{0, 0}, 1, "1 × 2", false, false},
		{"the count holds where the lines name fewer", []int{0, 0, 0, 0}, 2, "2", false, false},
		{"the count alone", nil, 1, "1", true, false},
		{"the lines alone", []int{0, 0, 0, 0}, 0, "1 × 4", true, true},
	} {
		o := numa.Observation{By: numa.ByVMwareLog, At: "log:1"}
		if tt.nodes != nil {
			o.VPDs = numa.ReadAt(tt.nodes, "")
		}
		if !tt.noCount {
			o.VPDCount = numa.ReadAt(tt.count, "")
		}
		r := confront.Check(v, &o, []confront.Place{{Names: []string{"esx01"}, Machine: m}}, vnuma.Choices{})
		if len(r.Fields) != 1 || r.Fields[0].Observed != tt.want || r.Agrees() != tt.agrees || r.Fields[0].At != "log:1" {
			t.Errorf("%s: %+v; want %s, %v", tt.name, r.Fields, tt.want, tt.agrees)
		}
	}
}

// TestDefaults takes a setting that a log does not name as its default was, and the
// inventory's when that fits better: the log may be an excerpt.
func TestDefaults(t *testing.T) {
	f, err := scenario.Read("in", []byte(hosts+"vm db vcpus=24 hotAdd=on"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := vnuma.NewMachine(&f.Hosts[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		nodes  int
		hotAdd bool // taken for the prediction
		other  []confront.Setting
	}{
		{2, false, []confront.Setting{{Name: "CPU hot add, which the log does not name", Observed: "false", Inventory: "true"}}},
		{1, true, nil},
	} {
		o := numa.Observation{By: numa.ByVMwareLog, At: "log:1", VPDCount: numa.ReadAt(tt.nodes, "")}
		o.Config.VCPUs = numa.ReadAt(24, "line 2")
		o.Config.CPUHotAdd = numa.AssumedFor(false, "vcpu.hotadd is not set: FALSE is its default")
		r := confront.Check(&f.VMs[0], &o, []confront.Place{{Names: []string{"esx01"}, Machine: m}}, vnuma.Choices{})
		if !r.Agrees() || r.Guest.HotAdd != tt.hotAdd || !slices.Equal(r.Other, tt.other) {
			t.Errorf("%d nodes: agrees %v, hot add %v, other %+v", tt.nodes, r.Agrees(), r.Guest.HotAdd, r.Other)
		}
	}
}

func TestNoPlace(t *testing.T) {
	o := numa.Observation{By: numa.ByLscpu}
	r := confront.Check(&numa.VM{Name: "db"}, &o, nil, vnuma.Choices{})
	if r.Comparable() || !slices.Equal(r.Open, []string{"VM db: the vCPU count is unknown"}) {
		t.Errorf("%+v", r.Open)
	}
	v := numa.VM{Name: "db", Config: numa.Config{VCPUs: numa.ReadAt(4, "n")}}
	if r := confront.Check(&v, &o, nil, vnuma.Choices{}); r.Comparable() || !slices.Equal(r.Open, []string{"no host that it can run on is known"}) {
		t.Errorf("%+v", r.Open)
	}
}
