package placement_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.org/homenode/esxi/placement"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
	"example.org/homenode/source/scenario/given"
	"example.org/homenode/source/story"
)

// place reads a scenario of one host and places its VMs in order, as they run there.
func place(t *testing.T, text string) (nodes []placement.Node, requests []placement.Request, unplaced []int) {
	t.Helper()
	f := given.Fleet(t, "test", []byte(text))
	return placeFleet(t, f, nil)
}

// placeFleet places the VMs of a fleet of one host, some of them as they were seen.
func placeFleet(t *testing.T, f *numa.Fleet, seen []numa.SeenVM) (nodes []placement.Node, requests []placement.Request, unplaced []int) {
	t.Helper()
	m, err := vnuma.NewMachine(&f.Hosts[0])
	if err != nil {
		t.Fatal(err)
	}
	for i := range f.VMs {
		g, _, err := vnuma.NewGuest(&f.VMs[i])
		if err != nil {
			t.Fatal(err)
		}
		l := vnuma.Predict(&g, &m, &vnuma.Case{Ran: true})
		one := placement.RequestOf(&f.VMs[i], &l)
		if k := slices.IndexFunc(seen, func(s numa.SeenVM) bool { return s.VM == f.VMs[i].ID }); k >= 0 {
			one.Seen = &seen[k]
		}
		requests = append(requests, one)
	}
	at := placement.Of(&f.Hosts[0], vnuma.Choices{})
	nodes, unplaced = placement.Place(&at, requests)
	return nodes, requests, unplaced
}

// show prints each node as "vm.client vcpus local+remote-nowhere | … | of vm: foreign".
func show(nodes []placement.Node) string {
	var lines []string
	for i := range nodes {
		var parts []string
		for _, c := range nodes[i].Clients {
			part := fmt.Sprintf("%d.%d %dc %d+%d", c.Request, c.Index, c.VCPUs, c.Local/numa.GiB, c.Remote/numa.GiB)
			if c.Nowhere > 0 {
				part += fmt.Sprintf("-%d", c.Nowhere/numa.GiB)
			}
			parts = append(parts, part)
		}
		for _, s := range nodes[i].Foreign {
			parts = append(parts, fmt.Sprintf("of %d: %d", s.Request, s.Memory/numa.GiB))
		}
		free, _ := nodes[i].Free()
		lines = append(lines, fmt.Sprintf("%s free %d", strings.Join(parts, " | "), free/numa.GiB))
	}
	return strings.Join(lines, "\n")
}

func TestPlace(t *testing.T) {
	const host = "release 7.0\nhost esx01 nodes=2 cores=10 memory=128GB\n"
	for _, tt := range []struct{ name, vms, want string }{
		{"load stays balanced (C-4)",
			"vm a vcpus=4 memory=8GB\nvm b vcpus=4 memory=8GB\nvm c vcpus=2 memory=8GB\nvm d vcpus=4 memory=8GB\n",
			"0.0 4c 8+0 | 2.0 2c 8+0 free 48\n1.0 4c 8+0 | 3.0 4c 8+0 free 48"},
		{"equal load: the node with more free memory",
			"vm a vcpus=4 memory=32GB\nvm b vcpus=4 memory=8GB\nvm c vcpus=2 memory=8GB\n",
			"0.0 4c 32+0 free 32\n1.0 4c 8+0 | 2.0 2c 8+0 free 48"},
		{"a wide VM has a client on each node",
			"vm wide vcpus=16 memory=64GB\n",
			"0.0 8c 32+0 free 32\n0.1 8c 32+0 free 32"},
		{"memory beyond the reserve of the node is remote (B-17, C-15)",
			"vm big vcpus=8 memory=96GB\n",
			"0.0 8c 56+39 free 7\nof 0: 39 free 24"},
		{"more memory than the host: what does not fit is nowhere",
			"vm big vcpus=8 memory=200GB\n",
			"0.0 8c 64+64-72 free 0\nof 0: 64 free 0"},
		{"the overflow of one VM is on the node of another",
			"vm big vcpus=8 memory=100GB\nvm a vcpus=4 memory=20GB\nvm b vcpus=2 memory=40GB\n",
			"0.0 8c 56+43 | of 2: 7 free 0\n1.0 4c 20+0 | 2.0 2c 0+7-32 | of 0: 43 free 0"},
		{"more clients than nodes share them (C-5)",
			"vm follow vcpus=12 coresPerSocket=4 memory=24GB numa.vcpu.followcorespersocket=1\n",
			"0.0 4c 8+0 | 0.2 4c 8+0 free 48\n0.1 4c 8+0 free 56"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			nodes, _, unplaced := place(t, host+tt.vms)
			if got := show(nodes); got != tt.want || unplaced != nil {
				t.Errorf("placed:\n%s\nwant:\n%s\nunplaced %v", got, tt.want, unplaced)
			}
		})
	}
}

// TestPlaceUnmanaged checks that VMs outside NUMA management get no home node (C-12).
func TestPlaceUnmanaged(t *testing.T) {
	nodes, _, unplaced := place(t, "release 7.0\nhost esx01 nodes=2 cores=10 memory=128GB\nvm pinned vcpus=4 memory=8GB cpuAffinity=0-3\nvm free vcpus=4 memory=8GB\n")
	if fmt.Sprint(unplaced) != "[0]" || len(nodes[0].Clients) != 1 || nodes[0].Clients[0].Request != 1 {
		t.Errorf("unplaced %v, nodes %+v", unplaced, nodes)
	}
}

// TestPlaceUnknownMemory checks that nodes of unknown size take all memory as local.
func TestPlaceUnknownMemory(t *testing.T) {
	nodes, _, _ := place(t, "release 7.0\nhost esx01 nodes=2 cores=10\nvm a vcpus=4 memory=8GB\n")
	if c := nodes[0].Clients[0]; c.Local != 8*numa.GiB || c.Remote != 0 {
		t.Errorf("client %+v, want 8 GB local", c)
	}
	if _, ok := nodes[0].Free(); ok {
		t.Error("the free memory of an unknown node is known")
	}
}

// TestSeen demands that a VM is where it was seen, with the memory that it was seen with, and that those that were not
// seen come after it.
func TestSeen(t *testing.T) {
	const fleet = "release 8.0U3\nhost esx01 nodes=4 cores=16 memory=512GB\n"
	for _, tt := range []struct{ name, vms, placed, want string }{
		{"by node", "vm a host=esx01 vcpus=8 memory=64GB\n", "placed a homes=2 onNode=8GB,0,40GB,0\n",
			"of a: 8 GB |  | a.0 8 56 GB+8 GB | "},
		{"remote on the node with the most room", "vm a host=esx01 vcpus=8 memory=64GB\nvm b host=esx01 vcpus=8 memory=100GB\n", "placed b homes=1 local=80GB remote=20GB\n",
			"of b: 20 GB | b.0 8 80 GB+20 GB | a.0 8 64 GB+0 B | "},
		{"wide", "vm a host=esx01 vcpus=32 memory=64GB\n", "placed a homes=1,3 local=48GB remote=16GB\n",
			"of a: 8 GB | a.0 16 24 GB+8 GB | of a: 8 GB | a.1 16 24 GB+8 GB"},
		{"two clients on one node", "vm a host=esx01 vcpus=32 memory=64GB\n", "placed a homes=1 local=64GB remote=0\n",
			" | a.0 16 32 GB+0 B a.1 16 32 GB+0 B |  | "},
		{"more home nodes than clients", "vm a host=esx01 vcpus=8 memory=64GB\n", "placed a homes=0,1 onNode=40GB,24GB,0,0\n",
			"a.0 8 40 GB+24 GB | of a: 24 GB |  | "},
		{"a node that is not there", "vm a host=esx01 vcpus=8 memory=64GB\n", "placed a homes=- local=0 remote=64GB\n",
			"a.0 8 64 GB+0 B |  |  | "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := story.Read("test", []byte(fleet+tt.vms+tt.placed+"run 2m\n"))
			if err != nil {
				t.Fatal(err)
			}
			nodes, _, _ := placeFleet(t, s.Fleet, s.Seen)
			var all []string
			for i := range nodes {
				var parts []string
				for _, c := range nodes[i].Clients {
					parts = append(parts, fmt.Sprintf("%s.%d %d %s+%s", s.Fleet.VMs[c.Request].Name, c.Index, c.VCPUs, c.Local, c.Remote))
				}
				for _, f := range nodes[i].Foreign {
					parts = append(parts, fmt.Sprintf("of %s: %s", s.Fleet.VMs[f.Request].Name, f.Memory))
				}
				all = append(all, strings.Join(parts, " "))
			}
			if got := strings.Join(all, " | "); got != tt.want {
				t.Errorf("found %s\nwant  %s", got, tt.want)
			}
		})
	}
}

// TestInterleaved: of a virtual node that clients of different sizes carry, each home has as much (C-13); the rest of a VM above its memory limit is nowhere.
func TestInterleaved(t *testing.T) {
	for vm, want := range map[string]string{
		"vcpus=5 memory=40GB hotAdd=on": "0.0 3c 20+0",
		"vcpus=5 memory=40GB":           "0.0 3c 20+0", "vcpus=5 memory=40GB numa.vcpu.min=4": "0.0 3c 24+0",
		"vcpus=5 memory=40GB memoryLimit=20GB hotAdd=on":          "0.0 3c 10+0",
		"vcpus=7 memory=70GB numa.nodeAffinity=0 hotAdd=on":       "0.0 4c 35+0",
		"vcpus=4 memory=40GB memoryLimit=20GB coresPerSocket=4":   "0.0 4c 20+0",
		"vcpus=4 memory=40GB numa.nodeAffinity=1 memoryLimit=1TB": "0.0 4c 40+0",
	} {
		nodes, _, _ := place(t, "release 7.0U3\nhost h nodes=2 cores=4 memory=256GB\nvm v host=h "+vm+"\n")
		if got := show(nodes); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", vm, got, want)
		}
	}
}
