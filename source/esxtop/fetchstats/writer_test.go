package fetchstats

import (
	"math"
	"strings"
	"testing"
	"time"

	"example.org/homenode/numa"
)

// TestWriter checks that a Series makes of what a Writer writes the ticks that it was given.
func TestWriter(t *testing.T) {
	machine := &numa.Host{}
	machine.Packages = numa.ReadAt(2, "test")
	machine.Nodes = numa.ReadAt([]numa.Node{{ID: 0, Cores: 4, Threads: 8}, {ID: 1, Cores: 4, Threads: 8}}, "test")
	boot := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	w := &Writer{Machine: machine, Boot: boot}
	vm := numa.VMTick{GID: 7, Name: "a|b", VCPUs: 4, Homes: numa.SetOf(1), Local: 3 * numa.GiB, Remote: numa.GiB, Percent: 75,
		Used: 1.5, Run: 1.6, Ready: 0.4, CoStop: 0.2, Size: 8 * numa.GiB, Granted: 4 * numa.GiB, Active: numa.GiB, Swapped: numa.MiB, Compressed: 2 * numa.MiB,
		Has:    numa.HasHomes | numa.HasMemory | numa.HasPercent | numa.HasMoves | numa.HasKinds | numa.HasUsed | numa.HasRun | numa.HasReady | numa.HasCoStop | numa.HasSize | numa.HasSwapped | numa.HasCompressed,
		OnNode: []numa.MemoryOnNode{{Node: 0, Guest: numa.GiB, Overhead: numa.MiB}, {Node: 1, Guest: 3 * numa.GiB, Overhead: 0}}}
	var in []numa.Tick
	text := w.Info()
	for i := range 4 {
		now := vm
		now.Moves = numa.Moves{All: int64(i), Balance: int64(i)}
		tick := numa.Tick{Host: "esx01", Time: boot.Add(time.Hour + time.Duration(i)*20*time.Second), Since: 20 * time.Second, Has: numa.HasFree | numa.HasMinFree | numa.HasState,
			Free: 10 * numa.GiB, MinFree: numa.GiB, State: numa.Soft, VMs: []numa.VMTick{now, {GID: 9, Name: "unmanaged", VCPUs: 1}},
			Nodes: []numa.NodeTick{{ID: 0, Has: numa.HasTotal | numa.HasFree | numa.HasUtil, Total: 64 * numa.GiB, Free: 4 * numa.GiB, Util: 0.25},
				{ID: 1, Has: numa.HasTotal | numa.HasFree | numa.HasUtil, Total: 64 * numa.GiB, Free: 6 * numa.GiB, Util: 0.75}}}
		in = append(in, tick)
		text += w.Answer(&tick)
	}
	s := &Series{Host: "esx01", Machine: machine}
	var out []numa.Tick
	warnings, err := s.Read("test", strings.NewReader(text), func(tick *numa.Tick) error {
		c := *tick
		c.Nodes, c.VMs = append([]numa.NodeTick(nil), tick.Nodes...), append([]numa.VMTick(nil), tick.VMs...)
		out = append(out, c)
		return nil
	})
	if err != nil || len(warnings) > 0 || len(out) != len(in) {
		t.Fatalf("%d ticks, %v, %v", len(out), warnings, err)
	}
	for i := range out {
		got, want := out[i], in[i]
		if !got.Time.Equal(want.Time) || got.Free != want.Free || got.State != want.State || got.MinFree != want.MinFree {
			t.Errorf("tick %d: %+v, want %+v", i, got, want)
		}
		v := got.VMs[0]
		if v.Name != vm.Name || v.Homes != vm.Homes || v.Local != vm.Local || v.Remote != vm.Remote || v.Size != vm.Size || v.Swapped != vm.Swapped || v.Compressed != vm.Compressed ||
			v.VCPUs != vm.VCPUs || len(v.OnNode) != 2 || v.OnNode[1].Guest != vm.OnNode[1].Guest {
			t.Errorf("tick %d: VM %+v, want %+v", i, v, vm)
		}
		const sizes = numa.HasSize | numa.HasGranted | numa.HasActive | numa.HasShared | numa.HasZero | numa.HasBalloon | numa.HasSwapped | numa.HasCompressed
		if has := v.Has & sizes; has != vm.Has&sizes || got.VMs[1].Has&sizes != 0 {
			t.Errorf("tick %d: the sizes are known that were not given: %b", i, has)
		}
		if got.VMs[1].Homes != 0 || got.VMs[1].Has&numa.HasMemory != 0 {
			t.Errorf("tick %d: a VM that is not managed has %+v", i, got.VMs[1])
		}
		if i == 0 {
			continue
		}
		near := func(what string, got, want float64) {
			if math.Abs(got-want) > 1e-6 {
				t.Errorf("tick %d: %s %v, want %v", i, what, got, want)
			}
		}
		near("used", v.Used, vm.Used)
		near("run", v.Run, vm.Run)
		near("ready", v.Ready, vm.Ready)
		near("co-stop", v.CoStop, vm.CoStop)
		near("node 0", got.Nodes[0].Util, 0.25)
		near("node 1", got.Nodes[1].Util, 0.75)
		if v.Moves.Balance != int64(i) || got.Since != 20*time.Second {
			t.Errorf("tick %d: %+v over %v", i, v.Moves, got.Since)
		}
	}
}
