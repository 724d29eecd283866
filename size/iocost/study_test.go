package iocost

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"example.org/homenode/numa"
	"example.org/homenode/numa/unit"
	"example.org/homenode/size/sheet"
)

// asked returns a question: workloads in words, then what else is asked.
func asked(t testing.TB, change func(*Question), texts ...string) Question {
	t.Helper()
	var q Question
	for _, text := range texts {
		a, err := ParseWorkload(text)
		if err != nil {
			t.Fatal(err)
		}
		q.Workloads = append(q.Workloads, a)
	}
	if change != nil {
		change(&q)
	}
	return q
}

var sixHosts = Cluster{Hosts: 6, Cores: 32, Core: 3.6 * unit.GHz}

func study(t testing.TB, q Question) *sheet.Run {
	t.Helper()
	r, err := model(t).Study(q)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestStudy checks what workloads come to, in expressions that hold: the calculations of the articles, budgets and limits.
func TestStudy(t *testing.T) {
	ipc := func(v float64) func(*Question) { return func(q *Question) { q.IPC = v } }
	rules := func(q *Question) { q.Rules = true }
	rdma := func(q *Question) { q.RDMA = true }
	on := func(budget unit.Share, disks int) func(*Question) {
		return func(q *Question) { q.Cluster, q.Budget, q.Disks, q.LimitEach = sixHosts, budget, disks, 5000 }
	}
	const vsan, shared = "vsan-esa iops=602702.73 block=32k read=70 random=100", "network tx=100Gb/s rx=100Gb/s"
	const open = "vsan-esa block=32k read=100 random=100"
	for _, tt := range []struct {
		q    Question
		want string
	}{
		// Six hosts of b-vsan, 94 GHz of 115.2 each.
		{asked(t, on(0, 0), vsan), `near(cpu, 564e9) && near(cores, 564 / 3.6) && near(share, 94 / 115.2) && near(hostsFilled, 564 / 115.2) && basis == "measured"`},
		{asked(t, nil, "network tx=30Gb/s rx=30Gb/s"), `near(cpu, 16.08e9) && basis == "measured"`},
		{asked(t, rules, "network tx=30Gb/s rx=30Gb/s"), `near(cpu, 15e9) && basis == "estimated"`},
		{asked(t, rules, "vsan-esa throughput=17.2GB/s block=32k"), `near(cpu, 481.6e9)`},
		{asked(t, rules, "ram throughput=100GB/s"), `near(cpu, 8e9)`},
		{asked(t, nil, "ram throughput=100GB/s"), `near(cpu, 6.103515625e9) && basis == "estimated"`},
		{asked(t, rules, "nvme throughput=1GB/s block=4k"), `near(cpu, 4e9) && atLeast`},
		{asked(t, ipc(2), vsan), `near(cpu, 282e9)`},
		{asked(t, ipc(2), vsan+" ipc=4"), `near(cpu, 141e9)`}, // that of the workload comes first
		{asked(t, nil, vsan+" policy=raid-6"), `near(cpu, 564e9) && basis == "extrapolated"`},
		{asked(t, nil, "nvme iops=1 block=4k", vsan), `atLeast`},
		{asked(t, nil, vsan), `!atLeast`},
		// 100,000 I/Os of 8 KiB a second need a quarter of the network that those of 32 KiB do.
		{asked(t, nil, "vsan-esa iops=100k block=8k"), `abs(total(network) / GHz - 4.9509) < 0.00005`},
		// RDMA saves a share of all, within the range of the four tests; what of it is network is not known then.
		{asked(t, rdma, "vsan-esa iops=1000 block=32k read=100"), `abs(1 - mid(cpu) / 640494860 - 0.172) < 0.0005 && abs(low(cpu) / (1 - 0.2329) / 636336000 - 1) < 0.001 && total(network == nil ? 1 : 0) == 1 && basis == "estimated"`},
		{asked(t, rdma, "nvme iops=1000 block=32k read=100"), `near(cpu, 1000 * 169781.9314641745)`},
		// 60 % of 691.2 GHz, less 100 Gb/s × (0.163 + 0.373), by 640.49486 k cycles.
		{asked(t, on(0.6, 0), open, shared), `abs(mid(allowed.rate) / ((414.72e9 - 53.6e9) / 640494.86) - 1) < 1e-7 && near(cpu, 414.72e9) && near(share, 0.6) && near(allowed.others, 53.6e9) && need.hosts == nil`},
		// More than fit, less than would at the low end of the cost.
		{asked(t, on(0.6, 113), open, shared), `!limit.capped && high(allowed.traffic) == 565e3 * 32 * KiB * 8`},
		{asked(t, on(0.6, 10), open, shared), `limit.capped && allowed.rate == 50e3 && high(allowed.rate) == 50e3 && abs(mid(cpu) / (53.6e9 + 50e3 * 640494.86) - 1) < 1e-7`},
		// A workload that asks for more than the limits allow is cut. An I/O counts once for each 32 KiB that it begins.
		{asked(t, on(0, 144), "vsan-esa iops=800k block=32k read=100"), `limit.rate == 720e3 && limit.capped && total(rate) == 720e3`},
		{asked(t, on(0, 144), "vsan-esa iops=700k block=32k read=100"), `limit.rate == 720e3 && !limit.capped && total(rate) == 700e3`},
		{asked(t, on(0, 144), "vsan-esa iops=1 block=33k read=100"), `limit.rate == 360e3`},
		{asked(t, on(0, 144), "vsan-esa iops=1 block=1M read=100"), `limit.rate == 22500`},
	} {
		r := study(t, tt.q)
		if unknown := r.Unknown(); unknown != nil {
			t.Fatalf("nothing has %q", unknown)
		}
		want := tt.want
		for _, one := range strings.Split(want, " && ") {
			if inner, ok := strings.CutPrefix(one, "near("); ok {
				got, number, _ := strings.Cut(strings.TrimSuffix(inner, ")"), ", ")
				one = fmt.Sprintf("abs(mid(%s) / (%s) - 1) < 1e-9", got, number)
			}
			if r.Get(one) != true {
				t.Errorf("%+v: %s does not hold: %v", tt.q, one, r.Values)
			}
		}
	}
}

// TestChanges checks what would change the CPU of a cluster, in percent, and that other blocks keep the I/Os or the throughput, whichever was given.
func TestChanges(t *testing.T) {
	r := study(t, asked(t, func(q *Question) { q.Cluster = sixHosts }, "vsan-esa iops=602702.73 block=32k read=70 random=100"))
	got := map[string]string{}
	for _, l := range r.Lines("changes") {
		next := r.With(l["set"])
		got[next.Text(l["if"])] = next.Text(l["change"])
	}
	for name, want := range map[string]string{
		"blocks of 64 KiB, same IOPS": "+82 %", "blocks of 16 KiB, same IOPS": "+0 %", "100 % reads": "-32 %", "100 % writes": "+95 %",
		"vSAN over RDMA": "-20 %", "by the rules of thumb": "-2 %", "one host less (5)": "+20 %",
	} {
		if got[name] != want {
			t.Errorf("%s: found %q, want %s", name, got[name], want)
		}
	}
	for text, want := range map[string]string{
		"nvme iops=1000 block=32k":              `total(rate) == 1000 && blocks == "blocks of 64 KiB, same IOPS"`,
		"nvme throughput=32768000B/s block=32k": `total(rate) == 500 && blocks == "blocks of 64 KiB, same throughput"`,
	} {
		if r := study(t, asked(t, nil, text)).With("factor = 2"); r.Get(want) != true {
			t.Errorf("%s: %s does not hold: %v", text, want, r.Values)
		}
	}
	_, err := model(t).Study(asked(t, func(q *Question) { q.Cluster, q.Budget = sixHosts, 0.5 }, "vsan-esa block=32k", "network tx=10Tb/s"))
	if want := "nothing is left: the other workloads need 1.63 THz, the budget is 346 GHz"; err == nil || err.Error() != want {
		t.Errorf("found %v, want %s", err, want)
	}
}

// TestNeed checks that a cluster of as many hosts as are needed keeps the budget and one
// of one host less does not, whatever the load; and that the range is that of the CPU.
func TestNeed(t *testing.T) {
	for _, text := range []string{"vsan-esa iops=3M block=32k read=70 random=100", "vsan-esa iops=100k block=4k", "nvme iops=10M block=8k", "network tx=2Tb/s rx=1Tb/s"} {
		for _, budget := range []unit.Share{0, 0.2, 0.6} {
			r := study(t, asked(t, func(q *Question) { q.Cluster, q.Budget = sixHosts, budget }, text))
			for _, end := range []string{"low", "mid", "high"} {
				for need, each := range map[string]string{"need.hosts": "_host", "need.cores": "core"} {
					fits := fmt.Sprintf("%s * _budget * %s(%s) >= %s(cpu) * (1 - 1e-9)", each, end, need, end)
					less := fmt.Sprintf("%s(%s) > 1 && %s * _budget * (%s(%s) - 1) >= %s(cpu) * (1 - 1e-9)", end, need, each, end, need, end)
					if r.Get(fits) != true || r.Get(less) != false {
						t.Errorf("%s within %v: found %v", text, float64(budget), r.Get(need))
					}
				}
			}
		}
	}
}

// TestRules checks the rules of b-rules and the means that they round.
func TestRules(t *testing.T) {
	for i, want := range []struct {
		path        Path
		rule, exact float64
	}{{RAM, 0.01, 0.00763}, {Network, 0.25, 0.268}, {NVMe, 0.5, 0.405}, {VSANESA, 3.5, 3.51}} {
		r := Rules()[i]
		if r.Path != want.path || float64(r.Cost.Value) != want.rule || math.Abs(float64(r.Exact)/want.exact-1) > 0.002 {
			t.Errorf("found %s %v, exact %v; want %v", r.Path, float64(r.Cost.Value), float64(r.Exact), want)
		}
		if r.Cost.Low > r.Exact || r.Cost.High < r.Exact || r.Cost.Source == "" || r.Cost.Hardware == "" {
			t.Errorf("%s: found %+v, want a range around the mean and a source", r.Path, r.Cost)
		}
	}
	if got := Limit(144, 5000, 32*numa.KiB+1); got != 360e3 {
		t.Errorf("found %v", got)
	}
}
