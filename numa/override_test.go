package numa

import (
	"reflect"
	"testing"
)

// TestComplete fills what is unknown of a host, unless it is another machine.
func TestComplete(t *testing.T) {
	node := Node{Cores: 10, Threads: 10, Memory: ReadAt(128*GiB, "f:2")}
	second := node
	second.ID, second.Package = 1, 1
	from := Host{At: "f:1", Release: ReadAt(ESXi70, "f:9"), Nodes: ReadAt([]Node{node, second}, "f:1"), Packages: ReadAt(2, "f:3"), Cores: ReadAt(20, "f:4"), Threads: ReadAt(20, "f:5")}
	for _, tt := range []struct {
		name    string
		h       Host
		changed bool
		err     string
		node    Node // the second; zero when nothing is taken
	}{
		{"knows nothing", Host{}, true, "", second},
		{"knows its threads and packages", Host{Packages: ReadAt(1, "p"), Cores: ReadAt(20, "c"), Threads: ReadAt(40, "t")}, true, "",
			Node{ID: 1, Package: 0, Cores: 10, Threads: 20, Memory: second.Memory}},
		{"assumed its nodes", Host{Nodes: AssumedFor([]Node{node}, "one"), Cores: ReadAt(20, "c")}, true, "", second},
		{"has other cores", Host{Cores: ReadAt(24, "c")}, false, "it has 24 cores, not 20", Node{}},
		{"has other memory", Host{Memory: ReadAt(512*GiB, "m")}, false, "it has 512 GB of memory, not 256 GB", Node{}},
		{"has what the kernel leaves", Host{Memory: ReadAt(255*GiB, "m")}, true, "", second},
		{"knows all that is asked", Host{Nodes: ReadAt([]Node{node}, "n"), Release: ReadAt(ESXi80, "r")}, false, "", Node{}},
	} {
		release := tt.h.Release
		changed, err := tt.h.Complete(&from)
		if changed != tt.changed || (err == nil) != (tt.err == "") || err != nil && err.Error() != tt.err {
			t.Errorf("%s: %v, %v; want %v, %s", tt.name, changed, err, tt.changed, tt.err)
		}
		var got Node
		if len(tt.h.Nodes.Value) == 2 {
			got = tt.h.Nodes.Value[1]
		}
		if !reflect.DeepEqual(got, tt.node) {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.node)
		}
		if err != nil && tt.h.Release != release {
			t.Errorf("%s: took the release", tt.name)
		}
	}
}

// TestAssumeHost notes the hosts that are other machines.
func TestAssumeHost(t *testing.T) {
	f := &Fleet{Hosts: []Host{{ID: "1", Name: "esx01"}, {ID: "2", Name: "esx02", At: "r:2", Cores: ReadAt(24, "c")}}, VMs: []VM{{ID: "v"}}}
	hosts, vms := f.AssumeHost(Host{ID: "assumed", Name: "assumed", At: "--assume-host", Nodes: ReadAt([]Node{{Cores: 10, Threads: 10}}, "nodes")})
	if hosts != 1 || vms != 1 || len(f.Notes) != 1 || f.Notes[0].String() != "r:2: host esx02: nothing is taken from --assume-host: it has 24 cores, not 10" {
		t.Errorf("%d hosts, %d VMs, %v", hosts, vms, f.Notes)
	}
	if w := f.Hosts[0].Nodes.Origin.Where; w != "--assume-host, nodes" {
		t.Errorf("origin %q", w)
	}
}

func TestSameHost(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"esx01", "ESX01", true},
		{"esx01", "esx01.example.com", true},
		{"esx01.example.com", "esx01", true},
		{"esx01.a.com", "esx01.b.com", false},
		{"esx01", "esx010", false},
		{"10.0.0.1", "10.0.0.2", false},
		{"10.0.0.1", "10", false},
		{"", ".example.com", false},
	} {
		if got := SameHost(tt.a, tt.b); got != tt.want {
			t.Errorf("SameHost(%q, %q) = %v", tt.a, tt.b, got)
		}
	}
}
