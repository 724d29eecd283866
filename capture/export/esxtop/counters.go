package esxtop

import (
	"strconv"

	"example.org/homenode/numa"
)

// Counters with their names in esxtop (percentages of groups are sums over the vCPUs).
var (
	nodeLoads = []struct {
		name  string
		has   numa.Counters
		value func(*numa.NodeTick) float64
	}{
		{`% Processor Time`, numa.HasUsed, func(n *numa.NodeTick) float64 { return n.Used * 100 }},
		{`% Util Time`, numa.HasUtil, func(n *numa.NodeTick) float64 { return n.Util * 100 }},
		{`% Core Util Time`, numa.HasCore, func(n *numa.NodeTick) float64 { return n.Core * 100 }},
	}
	nodeMemory = []struct {
		name  string
		has   numa.Counters
		value func(*numa.NodeTick) float64
	}{
		{`Total MBytes`, numa.HasTotal, func(n *numa.NodeTick) float64 { return mebibytes(n.Total) }},
		{`Free MBytes`, numa.HasFree, func(n *numa.NodeTick) float64 { return mebibytes(n.Free) }},
	}
	hostCounters = []struct {
		name  string
		has   numa.Counters
		value func(*numa.Tick) float64
	}{
		{`Machine MBytes`, numa.HasTotal, func(t *numa.Tick) float64 { return mebibytes(t.Memory) }},
		{`Free MBytes`, numa.HasFree, func(t *numa.Tick) float64 { return mebibytes(t.Free) }},
		{`Kernel MinFree MBytes`, numa.HasMinFree, func(t *numa.Tick) float64 { return mebibytes(t.MinFree) }},
		{`Kernel State`, numa.HasState, func(t *numa.Tick) float64 { return float64(t.State) }},
		{`PShare Shared MBytes`, numa.HasShared, func(t *numa.Tick) float64 { return mebibytes(t.Shared) }},
		{`PShare Common MBytes`, numa.HasCommon, func(t *numa.Tick) float64 { return mebibytes(t.Common) }},
		{`PShare Savings MBytes`, numa.HasShared | numa.HasCommon, func(t *numa.Tick) float64 { return mebibytes(t.Shared - t.Common) }},
	}
	cpuCounters = []struct {
		name  string
		has   numa.Counters
		value func(*numa.VMTick) float64
	}{
		{`% Used`, numa.HasUsed, func(v *numa.VMTick) float64 { return v.Used * 100 }},
		{`% Run`, numa.HasRun, func(v *numa.VMTick) float64 { return v.Run * 100 }},
		{`% Ready`, numa.HasReady, func(v *numa.VMTick) float64 { return v.Ready * 100 }},
		{`% CoStop`, numa.HasCoStop, func(v *numa.VMTick) float64 { return v.CoStop * 100 }},
	}
	memoryCounters = []struct {
		name  string
		has   numa.Counters
		value func(*numa.VMTick) string
		empty string
	}{
		{`Numa Home Nodes`, numa.HasHomes, homes, "0"},
		{`Numa Rebalance Count Delta`, numa.HasMoves, func(v *numa.VMTick) string { return strconv.FormatInt(v.Moves.All, 10) }, "0"},
		{`Numa Remote Memory MBytes`, numa.HasMemory, bytesOf(func(v *numa.VMTick) numa.Bytes { return v.Remote }), "0.00"},
		{`Numa Local Memory MBytes`, numa.HasMemory, bytesOf(func(v *numa.VMTick) numa.Bytes { return v.Local }), "0.00"},
		{`Numa % Local`, numa.HasPercent, func(v *numa.VMTick) string { return strconv.Itoa(v.Percent) }, "0"},
		{`Memory Size MBytes`, numa.HasSize, bytesOf(func(v *numa.VMTick) numa.Bytes { return v.Size }), "0.00"},
		{`Memory Granted Size MBytes`, numa.HasGranted, bytesOf(func(v *numa.VMTick) numa.Bytes { return v.Granted }), "0.00"},
		{`Memory Consumed Size MBytes`, numa.HasConsumed, bytesOf(func(v *numa.VMTick) numa.Bytes { return v.Consumed }), "0.00"},
		{`Touched MBytes`, numa.HasActive, bytesOf(func(v *numa.VMTick) numa.Bytes { return v.Active }), "0.00"},
		{`Memctl MBytes`, numa.HasBalloon, bytesOf(func(v *numa.VMTick) numa.Bytes { return v.Balloon }), "0.00"},
		{`Swapped MBytes`, numa.HasSwapped, bytesOf(func(v *numa.VMTick) numa.Bytes { return v.Swapped }), "0.00"},
		{`Zero MBytes`, numa.HasZero, bytesOf(func(v *numa.VMTick) numa.Bytes { return v.Zero }), "0.00"},
		{`Shared MBytes`, numa.HasShared, bytesOf(func(v *numa.VMTick) numa.Bytes { return v.Shared }), "0.00"},
		{`Shared Saved MBytes`, numa.HasSaved, bytesOf(func(v *numa.VMTick) numa.Bytes { return v.Saved }), "0.00"},
		{`Copy On Write Hint MBytes`, numa.HasHint, bytesOf(func(v *numa.VMTick) numa.Bytes { return v.Hint }), "0.00"},
		{`Used Compressed Memory MBytes`, numa.HasCompressed, bytesOf(func(v *numa.VMTick) numa.Bytes { return v.Compressed }), "0.00"},
	}
)

func bytesOf(value func(*numa.VMTick) numa.Bytes) func(*numa.VMTick) string {
	return func(v *numa.VMTick) string { return number(mebibytes(value(v))) }
}

// homes returns the home nodes as esxtop's screen lists them. A VM that NUMA does not manage
// has a dash.
func homes(v *numa.VMTick) string { return v.Homes.String() }
