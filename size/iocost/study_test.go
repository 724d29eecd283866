package iocost

import (
	"math"
	"reflect"
	"testing"

	"homenode/numa"
	"homenode/numa/unit"
)

func parsed(t testing.TB, texts ...string) []Asked {
	t.Helper()
	var out []Asked
	for _, text := range texts {
		a, err := ParseWorkload(text)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, a)
	}
	return out
}

var sixHosts = Cluster{Hosts: 6, Cores: 32, Core: 3.6 * unit.GHz}

func study(t testing.TB, q Question) *Study {
	t.Helper()
	s, err := model(t).Study(q)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestStudy checks a cluster of b-vsan at work: 94 GHz of 115.2 on each host.
func TestStudy(t *testing.T) {
	s := study(t, Question{Workloads: parsed(t, "vsan-esa iops=602702.73 block=32k read=70 random=100"), Cluster: sixHosts})
	if !near(float64(s.CPU.Value), 564e9) || !near(s.Cores, 564/3.6) || !near(float64(s.Share), 94/115.2) || !near(s.Hosts, 564/115.2) {
		t.Errorf("found %v, %v cores, %v, %v hosts", s.CPU.Value, s.Cores, float64(s.Share), s.Hosts)
	}
	got := map[string]float64{}
	for _, v := range s.If {
		got[v.If] = math.Round(float64(v.Change) * 100)
	}
	want := map[string]float64{
		"blocks of 64 KiB, same IOPS": 82, "blocks of 16 KiB, same IOPS": 0, "100 % reads": -32, "100 % writes": 95,
		"vSAN over RDMA": -20, "by the rules of thumb": -2, "one host less (5)": 20,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("found %v, want %v", got, want)
	}
}

// TestBudget checks that the open workload gets what the others leave: together they need
// exactly the budget.
func TestBudget(t *testing.T) {
	q := Question{Workloads: parsed(t, "vsan-esa block=32k read=100 random=100", "network tx=100Gb/s rx=100Gb/s"), Cluster: sixHosts, Budget: 0.6}
	s := study(t, q)
	// 60 % of 691.2 GHz, less 100 Gb/s × (0.163 + 0.373), by 640.49486 k cycles.
	if want := (414.72e9 - 53.6e9) / 640494.86; math.Abs(float64(s.Allowed.Rate.Value)/want-1) > 1e-7 {
		t.Errorf("found %v, want %v IOPS", float64(s.Allowed.Rate.Value), want)
	}
	if !near(float64(s.CPU.Value), 414.72e9) || !near(float64(s.Share), 0.6) || !near(float64(s.Allowed.Others), 53.6e9) {
		t.Errorf("found %v, %v; want 414.72 GHz, 60 %%", s.CPU.Value, s.Share)
	}
	q.Disks, q.LimitEach = 113, 5000 // more than fit, less than would at the low end of the cost
	if s = study(t, q); s.Allowed.Capped || s.Limit.Capped || s.Allowed.Traffic.High != unit.IORate(565e3).Traffic(32*numa.KiB) {
		t.Errorf("found %+v, %+v; want what fits, up to the 565,000 IOPS of the limit", s.Allowed, s.Limit)
	}
	q.Disks = 10
	s = study(t, q)
	if s.Allowed.Rate.Value != 50e3 || !s.Allowed.Capped || s.Limit.Rate != 50e3 || s.Allowed.Traffic.High != s.Allowed.Traffic.Value {
		t.Errorf("found %+v, %+v; want the 50,000 IOPS of the limit", s.Allowed, s.Limit)
	}
	if want := 53.6e9 + 50e3*640494.86; math.Abs(float64(s.CPU.Value)/want-1) > 1e-7 {
		t.Errorf("found %v, want %v", float64(s.CPU.Value), want)
	}
}

// TestLimited checks that a workload that asks for more than the limits allow is cut.
func TestLimited(t *testing.T) {
	q := Question{Workloads: parsed(t, "vsan-esa iops=800k block=32k read=100"), Disks: 144, LimitEach: 5000}
	s := study(t, q)
	if want := (Limited{Rate: 720e3, Asked: 800e3, Capped: true}); *s.Limit != want || s.Loads[0].Rate != 720e3 {
		t.Errorf("found %+v, %v; want %+v", *s.Limit, s.Loads[0].Rate, want)
	}
	q.Workloads = parsed(t, "vsan-esa iops=700k block=32k read=100")
	s = study(t, q)
	if want := (Limited{Rate: 720e3, Asked: 700e3}); *s.Limit != want || s.Loads[0].Rate != 700e3 {
		t.Errorf("found %+v, %v; want %+v", *s.Limit, s.Loads[0].Rate, want)
	}
}

// TestBlocks checks that blocks of twice the size keep the I/Os or the throughput, whichever
// was given.
func TestBlocks(t *testing.T) {
	for text, want := range map[string]struct {
		name string
		rate unit.IORate
	}{
		"nvme iops=1000 block=32k":              {"blocks of 64 KiB, same IOPS", 1000},
		"nvme throughput=32768000B/s block=32k": {"blocks of 64 KiB, same throughput", 500},
	} {
		s := study(t, Question{Workloads: parsed(t, text)})
		if v := s.If[0]; v.If != want.name || v.Loads[0].Rate != want.rate || v.Loads[0].Block != 64*numa.KiB {
			t.Errorf("%s: found %q, %v of %d; want %q, %v", text, v.If, v.Loads[0].Rate, v.Loads[0].Block, want.name, want.rate)
		}
	}
}

func TestStudyErrors(t *testing.T) {
	open := "vsan-esa block=32k"
	for _, tt := range []struct {
		q   Question
		err string
	}{
		{Question{Workloads: parsed(t, open)}, "a workload without traffic: want its traffic, or a budget of CPU to ask how much fits"},
		{Question{Workloads: parsed(t, open, open), Budget: 0.5}, "two workloads without traffic: want at most one, which gets what the others leave"},
		{Question{Workloads: parsed(t, open), Budget: 0.5}, "a budget of a host that is not known: want its cores and their frequency"},
		{Question{Workloads: parsed(t, open, "network tx=10Tb/s"), Budget: 0.5, Cluster: sixHosts}, "nothing is left: the other workloads need 1.63 THz, the budget is 346 GHz"},
		{Question{Workloads: parsed(t, "ram throughput=1GB/s"), Disks: 1, LimitEach: 1}, "an IOPS limit without a workload of storage"},
		{Question{Workloads: parsed(t, "nvme iops=1 block=4k", "nvme iops=1 block=4k"), Disks: 1, LimitEach: 1}, "an IOPS limit with two workloads of storage: want one"},
	} {
		if _, err := model(t).Study(tt.q); err == nil || err.Error() != tt.err {
			t.Errorf("found %v, want %q", err, tt.err)
		}
	}
}

// TestNeed checks that a cluster of as many hosts as are needed keeps the budget and one
// of one host less does not, whatever the load; and that the range is that of the CPU.
func TestNeed(t *testing.T) {
	for _, text := range []string{"vsan-esa iops=3M block=32k read=70 random=100", "vsan-esa iops=100k block=4k", "nvme iops=10M block=8k", "network tx=2Tb/s rx=1Tb/s"} {
		for _, budget := range []unit.Share{0, 0.2, 0.6} {
			s := study(t, Question{Workloads: parsed(t, text), Cluster: sixHosts, Budget: budget})
			n, share := s.Need, max(budget, 0)
			if share == 0 {
				share = 1
			}
			for _, end := range []struct {
				cpu   unit.Hz
				hosts float64
				cores float64
			}{{s.CPU.Value, n.Hosts.Value, n.Cores.Value}, {s.CPU.Low, n.Hosts.Low, n.Cores.Low}, {s.CPU.High, n.Hosts.High, n.Cores.High}} {
				fits := func(cpu unit.Hz, hosts float64) bool {
					return float64(cpu*unit.Hz(share))*hosts >= float64(end.cpu)*(1-1e-9)
				}
				if !fits(sixHosts.Host(), end.hosts) || end.hosts > 1 && fits(sixHosts.Host(), end.hosts-1) || !fits(sixHosts.Core, end.cores) || fits(sixHosts.Core, end.cores-1) {
					t.Errorf("%s within %v: found %v hosts, %v cores for %v", text, float64(share), end.hosts, end.cores, end.cpu)
				}
			}
		}
	}
	open := study(t, Question{Workloads: parsed(t, "vsan-esa block=32k"), Cluster: sixHosts, Budget: 0.2})
	if open.Need != nil {
		t.Errorf("found %+v, want none: the question is how much fits", *open.Need)
	}
}
