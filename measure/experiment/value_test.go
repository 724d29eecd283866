package experiment

import (
	"testing"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
)

// between is a value that was so much over a stretch of time, about an estimate.
func between(low, high float64) value {
	return value{kind: kindPercent, low: low, high: high, middle: (low + high) / 2}
}

func about(low, middle, high float64) value {
	return value{kind: kindPercent, low: low, middle: middle, high: high, estimate: true}
}

func nodes(sets ...numa.NodeSet) value { return value{kind: kindNodes, nodes: sets} }

func TestHolds(t *testing.T) {
	one, two := exactly(kindPercent, 1), exactly(kindPercent, 2)
	for _, tt := range []struct {
		name      string
		model     value
		relation  string
		published value
		tolerance float64
		want      bool
	}{
		{"equal", one, "=", one, 0, true},
		{"not equal", one, "=", two, 0, false},
		{"at the edge of the tolerance", one, "=", two, 1, true},
		{"outside the tolerance", one, "=", two, 0.99, false},
		{"always within", between(1.5, 2.5), "=", two, 0.5, true},
		{"not always within", between(1.5, 2.6), "=", two, 0.5, false},
		{"not always within, below", between(1.4, 2.5), "=", two, 0.5, false},
		{"in the interval of an estimate", about(1, 1.5, 2), "=", two, 0, true},
		{"outside the interval", about(1, 1.5, 1.9), "=", two, 0, false},
		{"outside the interval, with tolerance", about(1, 1.5, 1.9), "=", two, 0.1, true},
		{"different", one, "!=", two, 0, true},
		{"not different all the time", between(1, 2), "!=", two, 0, false},
		{"less", one, "<", two, 0, true},
		{"not less", two, "<", two, 0, false},
		{"not less all the time", between(1, 2), "<", two, 0, false},
		{"estimate less by its middle", about(1, 1.5, 9), "<", two, 0, true},
		{"at most", between(1, 2), "<=", two, 0, true},
		{"not at most", between(1, 2.1), "<=", two, 0, false},
		{"more", two, ">", one, 0, true},
		{"not more all the time", between(1, 3), ">", one, 0, false},
		{"at least", between(1, 3), ">=", one, 0, true},
		{"not at least", between(0.9, 3), ">=", one, 0, false},
		{"unknown", value{unknown: "gone"}, "!=", one, 0, false},
		{"unknown on the right", one, "<", value{unknown: "gone"}, 0, false},
		{"nodes", nodes(numa.SetOf(0, 1)), "=", nodes(numa.SetOf(0, 1)), 0, true},
		{"nodes not all the time", nodes(numa.SetOf(0), numa.SetOf(0, 1)), "=", nodes(numa.SetOf(0)), 0, false},
		{"other nodes", nodes(numa.SetOf(0)), "!=", nodes(numa.SetOf(1)), 0, true},
		{"not other nodes", nodes(numa.SetOf(0)), "!=", nodes(numa.SetOf(0)), 0, false},
	} {
		if got := holds(tt.model, tt.relation, tt.published, tt.tolerance); got != tt.want {
			t.Errorf("%s: %v %s %v ±%g: %v, want %v", tt.name, tt.model, tt.relation, tt.published, tt.tolerance, got, tt.want)
		}
	}
}

func TestCombine(t *testing.T) {
	for _, tt := range []struct {
		a    value
		op   string
		b    value
		want string
	}{
		{between(3, 4), "-", between(1, 2), "1 % to 3 %"},
		{about(3, 4, 5), "-", exactly(kindPercent, 1), "3 % (2 % to 4 %)"},
		{exactly(kindBytes, float64(numa.GiB)), "/", exactly(kindBytes, float64(4*numa.GiB)), "25 %"},
		{exactly(kindBytes, 1), "/", exactly(kindBytes, 0), "unknown: a share of nothing"},
		{exactly(kindBytes, 1), "-", value{unknown: "gone"}, "unknown: gone"},
		{value{unknown: "gone"}, "-", exactly(kindBytes, 1), "unknown: gone"},
	} {
		if got := combine(tt.a, tt.op, tt.b).String(); got != tt.want {
			t.Errorf("%v %s %v = %s, want %s", tt.a, tt.op, tt.b, got, tt.want)
		}
	}
}

func TestParseValue(t *testing.T) {
	for _, tt := range []struct {
		text string
		kind kind
		want string // "" for what is none
	}{
		{"2", kindNumber, "2"}, {"2.25", kindNumber, "2.2"}, {"0x2", kindNumber, ""}, {"NaN", kindNumber, ""}, {"1e300", kindNumber, ""},
		{"98%", kindPercent, "98 %"}, {"-0.04%", kindPercent, "0 %"}, {"98", kindPercent, ""},
		{"7278MB", kindBytes, "7,278 MB"}, {"1048576MB", kindBytes, "1,048,576 MB"}, {"-500MB", kindBytes, "-500 MB"},
		{"0.5GB", kindBytes, "0.5 GB"}, {"0", kindBytes, "0 MB"}, {"7278", kindBytes, ""}, {"7TB", kindBytes, ""},
		{"0,1", kindNodes, "0,1"}, {"-", kindNodes, "-"}, {"0,64", kindNodes, ""}, {"", kindNodes, ""},
	} {
		v, ok := parseValue(tt.text, tt.kind)
		if ok != (tt.want != "") || ok && v.String() != tt.want {
			t.Errorf("parseValue(%q, %v) = %v, %v; want %q", tt.text, tt.kind, v, ok, tt.want)
		}
	}
}

// quantityCase has values that anybody can compute: 4 vCPUs that ask for 2 cores of 2, a
// VM of 4 GB on node 1 of which 1 GB is remote and idle, and nothing else.
const quantityCase = `-- case --
id Q
title all quantities
source nobody
-- in --
release 7.0U3
host esx01 nodes=2 cores=2 threads=2 memory=64GB Numa.PageMigEnable=0 Numa.MigImbalanceThreshold=200 Numa.SwapLoadEnable=0 Numa.SwapLocalityEnable=0 Numa.SwapMigrateOnly=0 Numa.LTermFairnessInterval=0
vm a host=esx01 vcpus=2 memory=8GB
vm b host=esx01 vcpus=2 memory=8GB
vm off host=esx01 vcpus=1 memory=1GB power=off
run 10m every=1m
placed a homes=1 onNode=1GB,3GB
placed b homes=1 onNode=0,2GB
load a cpu=100% memory=4GB active=0% workload=latency
load b cpu=100% memory=2GB active=0%
at 8m power-off b
-- observed --
figure a-limits quantities
`

// TestQuantities computes every quantity by hand.
func TestQuantities(t *testing.T) {
	for _, tt := range []struct{ left, want string }{
		{"homes a at 1m", "1"},
		{"clients a,b at 1m", "2"},
		{"nodes a,b at 1m", "1"},
		{"crowd a,b at 1m", "100 %"},
		{"local a at 1m", "3,072 MB"},
		{"local * at 1m", "unknown"}, // off does not run
		{"remote a over 0s..8m", "1,024 MB"},
		{"onNode:0 a at 1m", "1,024 MB"},
		{"locality a at 1m", "75 %"},
		{"locality a,b at 1m", "83.3 %"}, // 5 of 6 GB
		{"consumed a,b at 1m", "6,144 MB"},
		{"consumed a at 1m - consumed b at 1m", "2,048 MB"},
		{"consumed b at 1m / consumed a at 1m", "50 %"},
		{"large a at 1m", "4,096 MB"},
		{"shared a at 1m", "0 MB"},
		{"swapped a at 1m", "0 MB"},
		{"free:0 esx01 at 1m", "31,744 MB"},
		{"free:1 esx01 at 10m", "29,696 MB"},
		{"free:1 esx01 over 1m..10m", "27,648 MB to 29,696 MB"},
		{"moves a over 0s..10m", "0"},
		{"ready a over 0s..8m", "50 %"}, // 4 vCPUs on 2 cores
		{"run a over 0s..8m", "50 %"},
		{"run a over 0s..10m", "60 %"}, // alone for 2 of 10 minutes
		{"coStop a over 0s..8m", "0 %"},
		{"far a over 0s..8m", "25 %"},
	} {
		c, err := Read("q", []byte(quantityCase+"want "+tt.left+" = "+example(tt.left)+"\n"))
		if err != nil {
			t.Errorf("%s: %v", tt.left, err)
			continue
		}
		r, err := Judge(t.Context(), c, vnuma.Choices{})
		if err != nil {
			if tt.want != "unknown" || err.Error() != "q:19: off does not run at that time" {
				t.Errorf("%s: %v", tt.left, err)
			}
			continue
		}
		if got := r.Rows[0].Model; got != tt.want {
			t.Errorf("%s is %s, want %s", tt.left, got, tt.want)
		}
	}
}

// example returns a value that the left side can be compared with.
func example(left string) string {
	for _, v := range []string{"0", "0MB", "0%"} {
		if _, err := Read("q", []byte(quantityCase+"want "+left+" = "+v+"\n")); err == nil {
			return v
		}
	}
	return "1"
}
