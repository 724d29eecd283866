package series

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/homenode/internal/golden"
	"example.org/homenode/numa"
)

// full states everything, each number once.
func full() *numa.Tick {
	all := ^numa.Counters(0)
	return &numa.Tick{Since: 1500 * time.Millisecond, Has: all, Free: 2, MinFree: 3, State: numa.Low,
		Nodes: []numa.NodeTick{{ID: 7, Has: all, Total: 5, Free: 6, Used: 7.5, Util: 8.5, Core: 9.5}},
		VMs: []numa.VMTick{{Has: all, VCPUs: 10, Homes: numa.SetOf(0, 4), Local: 12, Remote: 13, Percent: 14,
			Moves: numa.Moves{All: 15, Balance: 16, LoadSwap: 17, Locality: 18, LocalitySwap: 19, Fairness: 20},
			Used:  21.5, Run: 22.5, Ready: 23.5, CoStop: 24.5, Size: 25, Granted: 40, Consumed: 27, Active: 28, Shared: 29, Zero: 30, Large: 31, Balloon: 32, Swapped: 33, Compressed: 36,
			OnNode: []numa.MemoryOnNode{{Node: 3, Guest: 34, Overhead: 35}}}}}
}

func values(t *numa.Tick) []string {
	all := All()
	var out []string
	for v := range Values(t) {
		out = append(out, fmt.Sprintf("%s vm=%d node=%d %v", all[v.Counter].Name, v.VM, v.Node, v.Number))
	}
	return out
}

func equal(t *testing.T, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestValues(t *testing.T) {
	equal(t, values(full()), []string{
		"host_interval_seconds vm=-1 node=-1 1.5",
		"host_memory_free_bytes vm=-1 node=-1 2",
		"host_memory_minfree_bytes vm=-1 node=-1 3",
		"host_memory_state vm=-1 node=-1 4",
		"node_memory_total_bytes vm=-1 node=7 5",
		"node_memory_free_bytes vm=-1 node=7 6",
		"node_cpu_used_ratio vm=-1 node=7 7.5",
		"node_cpu_util_ratio vm=-1 node=7 8.5",
		"node_cpu_core_util_ratio vm=-1 node=7 9.5",
		"vm_vcpus vm=0 node=-1 10",
		"vm_numa_home_nodes vm=0 node=-1 17",
		"vm_numa_local_bytes vm=0 node=-1 12",
		"vm_numa_remote_bytes vm=0 node=-1 13",
		"vm_numa_printed_locality_ratio vm=0 node=-1 0.14",
		"vm_numa_migrations vm=0 node=-1 15",
		"vm_numa_balance_migrations vm=0 node=-1 16",
		"vm_numa_load_swap_migrations vm=0 node=-1 17",
		"vm_numa_locality_migrations vm=0 node=-1 18",
		"vm_numa_locality_swap_migrations vm=0 node=-1 19",
		"vm_numa_fairness_migrations vm=0 node=-1 20",
		"vm_cpu_used_seconds_per_second vm=0 node=-1 21.5",
		"vm_cpu_run_seconds_per_second vm=0 node=-1 22.5",
		"vm_cpu_ready_seconds_per_second vm=0 node=-1 23.5",
		"vm_cpu_costop_seconds_per_second vm=0 node=-1 24.5",
		"vm_memory_size_bytes vm=0 node=-1 25",
		"vm_memory_granted_bytes vm=0 node=-1 40",
		"vm_memory_consumed_bytes vm=0 node=-1 27",
		"vm_memory_active_bytes vm=0 node=-1 28",
		"vm_memory_shared_bytes vm=0 node=-1 29",
		"vm_memory_zero_bytes vm=0 node=-1 30",
		"vm_memory_large_bytes vm=0 node=-1 31",
		"vm_memory_balloon_bytes vm=0 node=-1 32",
		"vm_memory_swapped_bytes vm=0 node=-1 33",
		"vm_memory_private_bytes vm=0 node=-1 11",
		"vm_memory_compressed_bytes vm=0 node=-1 36",
		"vm_node_guest_bytes vm=0 node=3 34",
		"vm_node_overhead_bytes vm=0 node=3 35",
	})
}

// TestStated checks that each bit of Has brings its own counters and no others.
func TestStated(t *testing.T) {
	want := map[numa.Counters][]string{
		numa.HasHomes: {"vm_numa_home_nodes"}, numa.HasMemory: {"vm_numa_local_bytes", "vm_numa_remote_bytes"}, numa.HasPercent: {"vm_numa_printed_locality_ratio"},
		numa.HasMoves: {"vm_numa_migrations"}, numa.HasKinds: {"vm_numa_balance_migrations", "vm_numa_load_swap_migrations", "vm_numa_locality_migrations", "vm_numa_locality_swap_migrations", "vm_numa_fairness_migrations"},
		numa.HasUsed: {"node_cpu_used_ratio", "vm_cpu_used_seconds_per_second"}, numa.HasRun: {"vm_cpu_run_seconds_per_second"},
		numa.HasReady: {"vm_cpu_ready_seconds_per_second"}, numa.HasCoStop: {"vm_cpu_costop_seconds_per_second"},
		numa.HasUtil: {"node_cpu_util_ratio"}, numa.HasCore: {"node_cpu_core_util_ratio"}, numa.HasTotal: {"node_memory_total_bytes"},
		numa.HasFree: {"host_memory_free_bytes", "node_memory_free_bytes"}, numa.HasMinFree: {"host_memory_minfree_bytes"}, numa.HasState: {"host_memory_state"},
		numa.HasSize: {"vm_memory_size_bytes"}, numa.HasGranted: {"vm_memory_granted_bytes"}, numa.HasConsumed: {"vm_memory_consumed_bytes"},
		numa.HasActive: {"vm_memory_active_bytes"}, numa.HasShared: {"vm_memory_shared_bytes"}, numa.HasZero: {"vm_memory_zero_bytes"},
		numa.HasLarge: {"vm_memory_large_bytes"}, numa.HasBalloon: {"vm_memory_balloon_bytes"}, numa.HasSwapped: {"vm_memory_swapped_bytes"}, numa.HasCompressed: {"vm_memory_compressed_bytes"},
	}
	all := All()
	for bit := range 32 {
		tick := full()
		tick.Since, tick.VMs[0].VCPUs, tick.VMs[0].OnNode = 0, 0, nil // stated without a bit
		has := numa.Counters(1) << bit
		tick.Has, tick.Nodes[0].Has, tick.VMs[0].Has = has, has, has
		var got []string
		for v := range Values(tick) {
			got = append(got, all[v.Counter].Name)
		}
		equal(t, got, want[has])
	}
}

func TestUnknown(t *testing.T) {
	equal(t, values(&numa.Tick{
		Nodes: []numa.NodeTick{{Has: numa.HasUtil | numa.HasUsed, Util: math.NaN(), Used: math.Inf(1)}},
		VMs: []numa.VMTick{
			// Nodes 0 and 53 at once are beyond the 53 bits of a float64, 12 and 63 are not.
			{Has: numa.HasHomes, Homes: numa.SetOf(0, 53)},
			{Has: numa.HasHomes, Homes: ^numa.NodeSet(0)},
			{Has: numa.HasHomes, Homes: numa.SetOf(12, 63)},
			{Has: numa.HasHomes},
			{OnNode: []numa.MemoryOnNode{{Node: 0, Guest: 0, Overhead: -1}}},
		}}), []string{
		"vm_numa_home_nodes vm=2 node=-1 9.22337203685478e+18",
		"vm_numa_home_nodes vm=3 node=-1 0",
		"vm_node_guest_bytes vm=4 node=0 0",
	})
}

func TestValuesStops(t *testing.T) {
	for stop := range 37 {
		n := 0
		for range Values(full()) {
			if n == stop {
				break
			}
			n++
		}
		if n != stop {
			t.Errorf("%d values before the break, want %d", n, stop)
		}
	}
}

// TestNames checks what Prometheus asks of names, and that docs/reference/parquet.md lists them all.
func TestNames(t *testing.T) {
	docs := golden.Read(t, "../../../docs/reference/parquet.md")
	valid := regexp.MustCompile(`^(host|node|vm)_[a-z]+(_[a-z]+)*$`)
	seen := map[string]bool{}
	var want strings.Builder
	for _, c := range All() {
		m := valid.FindStringSubmatch(c.Name)
		if m == nil || seen[c.Name] {
			t.Errorf("name %s: want a new one of small letters that begins with host, node or vm", c.Name)
		}
		seen[c.Name] = true
		if c.Unit != "" && !strings.HasSuffix(c.Name, "_"+c.Unit) || c.Unit == "" && regexp.MustCompile(`_(bytes|seconds|ratio|percent|second)$`).MatchString(c.Name) {
			t.Errorf("name %s, unit %q: want the unit at the end", c.Name, c.Unit)
		}
		if c.Events && !strings.HasSuffix(c.Name, "_migrations") || strings.HasSuffix(c.Name, "_total") || strings.HasSuffix(c.Help, ".") || c.Help == "" {
			t.Errorf("%+v: want events in the plural, without _total, and a help without a full stop", c)
		}
		fmt.Fprintf(&want, "| `%s` | %s | %s |\n", c.Name, c.Help, c.Esxtop)
	}
	if !strings.Contains(string(docs), want.String()) {
		t.Errorf("docs/reference/parquet.md: want this table:\n%s", want.String())
	}
}
