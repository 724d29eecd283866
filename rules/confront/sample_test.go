package confront_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/rules/confront"
	"example.org/homenode/source/guest"
	"example.org/homenode/source/hostcmd"
	"example.org/homenode/source/scenario"
	"example.org/homenode/source/scenario/given"
	"example.org/homenode/source/vmxlog"
)

// sampleHosts are the hosts of published logs, which the logs themselves do not
// state: rule book B-7 and the posts named in B-8 to B-17.
var sampleHosts = map[string]string{
	"esxi60_12vcpu_2vpd.txt":                       "release=6.0 nodes=2 cores=10 memory=128GB",
	"esxi60_12vcpu_hotadd_1vpd_2ppd.txt":           "release=6.0 nodes=2 cores=10 memory=128GB",
	"esxi60_16vcpu_2vpd.txt":                       "release=6.0 nodes=2 cores=10 memory=128GB",
	"esxi65_16vcpu_cps2_2vpd.txt":                  "release=6.5 nodes=2 cores=10 memory=128GB",
	"esxi65_8vcpu_consolidate_false_1vpd_2ppd.txt": "release=6.5 nodes=2 cores=12 memory=128GB",
	"esxi65_8vcpu_hotadd.txt":                      "release=6.5 nodes=2 cores=10 memory=128GB",
	"esxi7_20vcpu_1vpd_1ppd.txt":                   "release=7.0U3 nodes=2 cores=20 memory=128GB",
	"esxi7_20vcpu_2vpd_2ppd.txt":                   "release=7.0U3 nodes=2 cores=20 memory=128GB",
	"esxi8_12vcpu_manual_2vpd.txt":                 "release=8.0 nodes=2 cores=20 memory=512GB",
}

// notCompared are the samples without a topology, and why.
var notCompared = map[string]string{
	"esxi65_forcing_uma_line.txt":                "one line, no VM",
	"player155_pipe_dialect.log":                 "hosted products log no VPD",
	"player162_linux_numa_topology.log":          "hosted products log no VPD",
	"player175_first_poweron_invalid_cookie.log": "hosted products log no VPD",
	"workstation162_hotadd_forcing_uma.log":      "hosted products log no VPD",
	"workstation17_hotadd_forcing_uma.log":       "hosted products log no VPD",
}

// TestPublishedLogs demands that prediction and observation agree on every
// published log beside the checkout.
func TestPublishedLogs(t *testing.T) {
	const folder = "../../../shared/samples/vmware-log"
	if _, err := os.Stat(folder); err != nil {
		t.Skipf("no published logs beside the checkout: %v", err)
	}
	files, err := filepath.Glob(folder + "/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no samples in %s: %v", folder, err)
	}
	for _, path := range files {
		name := filepath.Base(path)
		t.Run(name, func(t *testing.T) {
			results := confrontLog(t, path, sampleHosts[name])
			if notCompared[name] != "" {
				for _, r := range results {
					if r.Comparable() {
						t.Errorf("could be compared although %s: %+v", notCompared[name], r.Fields)
					}
				}
				return
			}
			if len(results) != 1 {
				t.Fatalf("%d observations, want 1", len(results))
			}
			if !results[0].Agrees() {
				t.Errorf("fields %+v\nopen %q\nreasons %q", results[0].Fields, results[0].Open, results[0].Reasons)
			}
		})
	}
}

// confrontLog confronts the observations of a log with a host.
func confrontLog(t *testing.T, path, host string) []confront.Result {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	l, err := vmxlog.Read(path, f)
	if err != nil {
		t.Fatal(err)
	}
	var places []confront.Place
	if host != "" {
		fleet, err := scenario.Read("hosts", []byte("host esx "+host))
		if err != nil {
			t.Fatal(err)
		}
		m, err := vnuma.NewMachine(&fleet.Hosts[0])
		if err != nil {
			t.Fatal(err)
		}
		places = append(places, confront.Place{Names: []string{"esx"}, Machine: m})
	}
	var out []confront.Result
	for _, v := range l.VMs() {
		for i := range v.Observed {
			out = append(out, confront.Check(&v, &v.Observed[i], places, vnuma.Choices{}))
		}
	}
	return out
}

// TestLog confronts the life of a VM as one log tells it: first power-on, a change
// of settings and a power cycle, a move from another host.
func TestLog(t *testing.T) {
	const want = `first power-on: agrees true: virtual nodes (VPDs) 2 × 6; NUMA clients (PPDs) 2 × 6; memory slices 2 × 16 GB
power-on: agrees true: virtual nodes (VPDs) 1 × 12; NUMA clients (PPDs) 2 × 6; memory slices 1 × 32 GB
checkpoint: agrees false: virtual nodes (VPDs) 3 × 4; NUMA clients (PPDs) 2 × 6; memory slices 10.7 GB + 10.7 GB + 10.7 GB
  reason: it came by a checkpoint (suspend or vMotion), and the guest keeps the nodes of its last power-on, on a host that is not known here (D-1); the clients agree
`
	var b strings.Builder
	for _, r := range confrontLog(t, "testdata/life.log", "release=7.0U3 nodes=2 cores=10 memory=128GB") {
		var parts []string
		for _, f := range r.Fields {
			parts = append(parts, f.Name+" "+f.Observed)
		}
		fmt.Fprintf(&b, "%s: agrees %v: %s\n", r.Observation.Start, r.Agrees(), strings.Join(parts, "; "))
		for _, reason := range r.Reasons {
			fmt.Fprintf(&b, "  reason: %s\n", reason)
		}
	}
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

// TestPublishedGuests confronts what Coreinfo printed inside two guests of the
// host of rule book B-7 (2 × 10 cores, 6.0) with the prediction.
func TestPublishedGuests(t *testing.T) {
	const folder = "../../../shared/samples/coreinfo"
	if _, err := os.Stat(folder); err != nil {
		t.Skipf("no published guest views beside the checkout: %v", err)
	}
	for _, tt := range []struct{ file, vm, want string }{
		{"coreinfo_vm_10vcpu_1node.txt", "vcpus=10", "virtual nodes (VPDs) 1 × 10 true; virtual sockets 10 × 1 true"},
		{"coreinfo_vm_12vcpu_2nodes.txt", "vcpus=12", "virtual nodes (VPDs) 2 × 6 true; virtual sockets 12 × 1 true"},
	} {
		f, err := os.Open(filepath.Join(folder, tt.file))
		if err != nil {
			t.Fatal(err)
		}
		views, err := guest.Read(tt.file, f)
		if err := errors.Join(err, f.Close()); err != nil || len(views) != 1 {
			t.Fatal(len(views), err)
		}
		fleet := given.Fleet(t, "in", []byte("host esx release=6.0 nodes=2 cores=10 memory=128GB\nvm db "+tt.vm))
		m, err := vnuma.NewMachine(&fleet.Hosts[0])
		if err != nil {
			t.Fatal(err)
		}
		o := views[0].Observation()
		r := confront.Check(&fleet.VMs[0], &o, []confront.Place{{Names: []string{"esx"}, Machine: m}}, vnuma.Choices{})
		var parts []string
		for _, field := range r.Fields {
			parts = append(parts, fmt.Sprintf("%s %s %v", field.Name, field.Observed, field.Agrees))
		}
		if got := strings.Join(parts, "; "); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.file, got, tt.want)
		}
	}
}

// TestPublishedClients confronts what sched-stats and esxtop printed on published
// hosts with the prediction.
func TestPublishedClients(t *testing.T) {
	const folder = "../../../shared/samples"
	if _, err := os.Stat(folder); err != nil {
		t.Skipf("no published host output beside the checkout: %v", err)
	}
	for _, tt := range []struct{ file, group, host, vm, want string }{
		// 30 vCPUs with 2 cores per socket on 2 × 20 cores are 16 + 14: rule book B-7, B-12.
		{"sched-stats/numa-clients_esxi7_a.txt", "vm.3850537", "release=7.0 nodes=2 cores=20 memory=512GB", "vcpus=30 coresPerSocket=2", "NUMA clients 16 + 14 true; home nodes 2 true"},
		{"esxtop-screen/memory_esxi60_12vcpu_wide.txt", "VM11", "release=6.0 nodes=2 cores=10 memory=128GB", "vcpus=12", "home nodes 2 true"},
		{"esxtop-screen/memory_esxi60_10vcpu.txt", "", "release=6.0 nodes=2 cores=10 memory=128GB", "vcpus=10", "home nodes 1 true"},
	} {
		f, err := os.Open(filepath.Join(folder, tt.file))
		if err != nil {
			t.Fatal(err)
		}
		outputs, err := hostcmd.Read(tt.file, f)
		if err := errors.Join(err, f.Close()); err != nil || len(outputs) != 1 {
			t.Fatal(len(outputs), err)
		}
		fleet := given.Fleet(t, "in", []byte("host esx "+tt.host+"\nvm db "+tt.vm))
		m, err := vnuma.NewMachine(&fleet.Hosts[0])
		if err != nil {
			t.Fatal(err)
		}
		seen := 0
		for _, g := range outputs[0].Groups() {
			if tt.group != "" && g.Name != tt.group && g.VM != tt.group {
				continue
			}
			seen++
			r := confront.Check(&fleet.VMs[0], &g.Observation, []confront.Place{{Names: []string{"esx"}, Machine: m}}, vnuma.Choices{})
			var parts []string
			for _, field := range r.Fields {
				parts = append(parts, fmt.Sprintf("%s %s %v", field.Name, field.Observed, field.Agrees))
			}
			if got := strings.Join(parts, "; "); got != tt.want {
				t.Errorf("%s: %s, want %s", tt.file, got, tt.want)
			}
		}
		if seen != 1 {
			t.Errorf("%s: %d groups, want 1", tt.file, seen)
		}
	}
}
