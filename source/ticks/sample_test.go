package ticks

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.org/homenode/numa"
)

const samples = "../../../shared/samples/"

// TestSamples reads published outputs, which have no date of their own, with a time from
// the caller.
func TestSamples(t *testing.T) {
	if _, err := os.Stat(samples); err != nil {
		t.Skipf("no published files beside the checkout: %v", err)
	}
	opt := Options{Start: time.Date(2020, 1, 2, 0, 0, 0, 0, time.UTC), Interval: time.Minute}
	for _, tt := range []struct {
		file string
		want []string
	}{
		{"sched-stats/numa-clients_esxi65.txt", []string{"esxi03 2020-01-02T00:00:00 +0s | 72144 vm.81204 home 1 14848284+0 100% vcpus 8"}},
		{"sched-stats/numa-clients_esxi7_a.txt", []string{"w4-hs4-i1509 2020-01-02T00:00:00 +0s | 50539 vm.2106132 home 0 131072+0 100% vcpus 1" +
			" | 12322082 vm.3578019 home 0 19919352+3592 99% vcpus 4 | 14474659 vm.3834893 home 0 8912148+13036 99% vcpus 4" +
			" | 14605619 vm.3850537 home 0,1 26624+0 vcpus 30"}},
		{"sched-stats/numa-clients_esxi8_cropped_1client.txt", []string{"w4-hs4-i1509 2020-01-02T00:00:00 +0s | 155758 vm.2117528 home 0 131072+0 vcpus 1" +
			" | 59619001 vm.8823431 home 0 237082912+163191036 vcpus 12"}},
		{"sched-stats/numa-cnode_esxi65_1client.txt", []string{"esxi03 2020-01-02T00:00:00 +0s | 203207 vm.120846 on0 65072984/- on1 32200872/-"}},
		{"sched-stats/numa-pnode_esxi70u3.txt", []string{"esxi70u3k-nn10 2020-01-02T00:00:00 +0s node0 27.5 GB/32.0 GB 0.00 node1 27.9 GB/32 GB 0.00"}},
		{"memstats/vm-stats_esxi65.txt", []string{"esxi03 2017-04-14T05:45:52 +0s | -1 vm.78864 size 32 GB consumed 12.9 GB granted 12.9 GB active 12.5 GB"}},
		{"esxtop-screen/memory_esxi60_12vcpu_wide.txt", []string{"memory_esxi60_12vcpu_wide 2020-01-02T11:14:26 +0s free 117.6 GB node0 58.1 GB/63.9 GB node1 59.1 GB/64 GB | 2404272 VM11 home 0,1 7416412+0 100% moves 0"}},
		{"esxtop-fetchstats/counterinfo.dsv", nil},
	} {
		f, err := os.Open(samples + tt.file)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		_, err = Read(context.Background(), tt.file, f, opt, func(tick *numa.Tick) error {
			got = append(got, show(tick))
			return nil
		})
		if e := f.Close(); e != nil {
			t.Error(e)
		}
		if err != nil {
			t.Errorf("%s: %v", tt.file, err)
		}
		check(t, got, tt.want)
	}
}

// TestSampleFolders reads folders of published files as they lie there.
func TestSampleFolders(t *testing.T) {
	if _, err := os.Stat(samples); err != nil {
		t.Skipf("no published files beside the checkout: %v", err)
	}
	got, passed, err := walk(filepath.Clean(samples+"esxtop-fetchstats"), Options{})
	if err != nil || passed != 0 {
		t.Errorf("%d passed, %v", passed, err)
	}
	check(t, got, []string{"open counterinfo.dsv and 1 more: esxtop FetchStats", "esxtop-fetchstats 10:13:55 +0s", `done counterinfo.dsv and 1 more: 1 of ["esxtop-fetchstats"], <nil>`,
		"  counterinfo.dsv and 1 more: FetchStats does not name its host: it is called esxtop-fetchstats after the file"})
	got, passed, err = walk(filepath.Clean(samples+"esxtop"), Options{})
	if err != nil || passed != 0 || len(got) < 6 || !strings.HasPrefix(got[0], "open aumezawa_log-analysis_2numa_nodes_trimmed.csv: esxtop batch CSV") {
		t.Errorf("%d passed, %v, %q", passed, err, got)
	}
	if _, _, err := walk(filepath.Clean(samples+"mlc"), Options{}); err == nil {
		t.Error("a folder without captures is read")
	}
}
