package fetchstats

import (
	"fmt"
	"os"
	"testing"
	"time"

	"example.org/homenode/numa"
)

const samples = "../../../../shared/samples/esxtop-fetchstats/"

// sample returns a published file.
func sample(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(samples + name)
	if err != nil {
		t.Skipf("no published files beside the checkout: %v", err)
	}
	return string(b)
}

// TestSample reads a published answer of a host with two nodes and one VM.
func TestSample(t *testing.T) {
	info, stats := sample(t, "counterinfo.dsv"), sample(t, "fetchstats.dsv")
	ticks, warnings, err := read(t, &Series{Host: "h"}, "f", info+stats)
	if err != nil || warnings != nil || len(ticks) != 1 {
		t.Fatalf("%d ticks, %q, %v", len(ticks), warnings, err)
	}
	got := ticks[0]
	if got.VMs == nil {
		t.Fatal("no VMs")
	}
	want(t, got, numa.Tick{
		Host: "h", Time: time.Date(2019, 10, 8, 10, 13, 55, 0, time.UTC), Line: got.Line, Has: numa.HasFree | numa.HasMinFree | numa.HasState | numa.HasTotal | numa.HasShared | numa.HasCommon,
		Memory: 268306696 * numa.KiB, Shared: 804244 * numa.KiB, Common: 70228 * numa.KiB,
		Free: 235802716 * numa.KiB, MinFree: 3308276 * numa.KiB, State: numa.High,
		Nodes: []numa.NodeTick{
			{ID: 0, Has: numa.HasTotal | numa.HasFree, Total: 33521857 * numa.PageSize, Free: 28816360 * numa.PageSize},
			{ID: 1, Has: numa.HasTotal | numa.HasFree, Total: 33554432 * numa.PageSize, Free: 30036015 * numa.PageSize},
		},
		VMs: []numa.VMTick{{
			GID: 90356474, Name: "frigo001", VCPUs: 42, Homes: numa.SetOf(0, 1), Local: 29102080 * numa.KiB, Percent: 100,
			Has: numa.HasHomes | numa.HasMemory | numa.HasPercent | numa.HasSize | numa.HasGranted | numa.HasActive | numa.HasShared |
				numa.HasZero | numa.HasBalloon | numa.HasSwapped | numa.HasSaved | numa.HasHint | numa.HasCompressed,
			Size: 204800000 * numa.KiB, Granted: 29102080 * numa.KiB, Active: 10240000 * numa.KiB, Shared: 737160 * numa.KiB, Zero: 726844 * numa.KiB, Saved: 736064 * numa.KiB, Hint: 4302180 * numa.KiB,
			OnNode: []numa.MemoryOnNode{
				{Node: 0, Guest: 16353204 * numa.KiB, Overhead: 176968 * numa.KiB},
				{Node: 1, Guest: 12748876 * numa.KiB, Overhead: 186576 * numa.KiB},
			},
		}},
	})
	vm := got.VMs[0]
	if sum := vm.OnNode[0].Guest + vm.OnNode[1].Guest; sum != vm.Local+vm.Remote {
		t.Errorf("on nodes %d, local and remote %d", sum, vm.Local+vm.Remote)
	}
	for in, format := range map[string]string{info: CounterInfo, stats: FetchStats} {
		if got, ok := Detect([]byte(in[:min(len(in), 64<<10)])); !ok || got != format {
			t.Errorf("%s: %q, %v", format, got, ok)
		}
	}
}

// BenchmarkRead reads the published answer again and again.
func BenchmarkRead(b *testing.B) {
	var in string
	for _, name := range []string{"counterinfo.dsv", "fetchstats.dsv"} {
		text, err := os.ReadFile(samples + name)
		if err != nil {
			b.Skipf("no published files beside the checkout: %v", err)
		}
		in += string(text)
	}
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	for b.Loop() {
		if ticks, _, err := read(b, &Series{}, "f", in); err != nil || len(ticks) != 1 {
			b.Fatal(fmt.Sprint(len(ticks), err))
		}
	}
}
