package esxtop

import (
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"example.org/homenode/numa"
)

// sample opens a published capture; the test is skipped where there are none.
func sample(t *testing.T, name string) *os.File {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "..", "shared", "samples", "esxtop", name))
	if err != nil {
		t.Skip("no published samples beside the checkout: ", err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// TestSampleNodes reads the published capture of a host with two nodes (aumezawa,
// log-analysis), saved by another program without quotes.
func TestSampleNodes(t *testing.T) {
	ticks, err := NewTicks("two.csv", sample(t, "aumezawa_log-analysis_2numa_nodes_trimmed.csv"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	type moment struct {
		seconds, since int
		used0, core1   float64 // percent
		free0, free1   numa.Bytes
		free           numa.Bytes
		vms            int
	}
	// As in the file: % Processor Time of node 0, % Core Util Time of node 1, Free MBytes of
	// both nodes and of the host.
	want := []moment{
		{25, 0, 1.78, 4.13, 154, 4170, 4646, 0},
		{30, 5, 1.85, 2.7, 177, 4180, 4678, 0},
		{35, 5, 1.16, 3.49, 188, 4185, 4695, 0},
	}
	var got []moment
	n := 0
	for ticks.Scan() {
		tick := ticks.Tick()
		if n++; n > 3 {
			continue
		}
		if tick.Host != "test0001" || tick.Line != n+1 || len(tick.Nodes) != 2 || tick.Nodes[1].Total != 32767*numa.MiB {
			t.Fatalf("tick %d = %+v", n, tick)
		}
		start := time.Date(2022, 2, 3, 3, 46, 0, 0, time.UTC)
		got = append(got, moment{int(tick.Time.Sub(start).Seconds()), int(tick.Since.Seconds()), tick.Nodes[0].Used, tick.Nodes[1].Core,
			tick.Nodes[0].Free / numa.MiB, tick.Nodes[1].Free / numa.MiB, tick.Free / numa.MiB, len(tick.VMs)})
	}
	warned := ticks.Warnings()
	if n != 5 || ticks.Err() != nil || len(warned) != 1 || !strings.Contains(warned[0].Error(), "02/03/2022: they are read as month/day") {
		t.Errorf("%d ticks, %v, %v; want 5 and a warning of dates that can be read two ways", n, ticks.Err(), warned)
	}
	for i := range want {
		want[i].used0, want[i].core1 = want[i].used0/100, want[i].core1/100
		if got[i] != want[i] {
			t.Errorf("tick %d = %+v, want %+v", i, got[i], want[i])
		}
	}
}

// TestSampleVMs reads the published capture of a home lab (rach-sharp, esxtopd), as
// esxtop wrote it: 7,632 fields, all in quotes.
func TestSampleVMs(t *testing.T) {
	const name = "rach-sharp_esxtopd_small.csv"
	ticks, err := NewTicks(name, sample(t, name), Options{})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for ticks.Scan() {
		tick := ticks.Tick()
		if n++; n > 1 {
			continue
		}
		names := []string{"styx", "portunus", "hermes", "ananke", "ouranos", "poseidon"}
		if len(tick.VMs) != len(names) || len(tick.Nodes) != 0 || tick.State != numa.Clear {
			t.Fatalf("tick = %+v", tick)
		}
		for i, vm := range tick.VMs {
			if vm.Name != names[i] {
				t.Errorf("VM %d is %s, want %s", i, vm.Name, names[i])
			}
		}
		// Group Cpu(1302698:styx) and Group Memory of the first row, by eye.
		percent := func(v float64) float64 { return v / 100 }
		mib := func(v float64) numa.Bytes { return numa.Bytes(math.Round(v * 1048576)) }
		want := numa.VMTick{
			GID: 1302698, Name: "styx", VCPUs: 1,
			Has:  numa.HasUsed | numa.HasRun | numa.HasReady | numa.HasCoStop | numa.HasSize | numa.HasGranted | numa.HasConsumed | numa.HasActive | numa.HasSwapped,
			Used: percent(1.63), Run: percent(2.80), Ready: percent(0.83),
			Size: mib(1069.34), Granted: mib(957.92), Consumed: mib(314.03), Active: mib(179.95), Swapped: mib(11.25),
		}
		if !reflect.DeepEqual(tick.VMs[0], want) {
			t.Errorf("VM = %+v, want %+v", tick.VMs[0], want)
		}
	}
	if n != 3 || ticks.Err() != nil {
		t.Errorf("%d ticks, %v; want 3", n, ticks.Err())
	}
}
