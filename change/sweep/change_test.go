package sweep

import (
	"reflect"
	"testing"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
)

// changedBy returns small, with more lines, as the steps change it.
func changedBy(t *testing.T, more string, steps ...Step) (*numa.Story, error) {
	t.Helper()
	s := read(t, small+more)
	out, err := change(t.Context(), s, steps, vnuma.Choices{})
	if !reflect.DeepEqual(s, read(t, small+more)) {
		t.Error("the story itself has changed")
	}
	return out, err
}

func TestUsed(t *testing.T) {
	const gb = numa.GiB
	for _, tt := range []struct {
		change string
		want   []numa.NodeUse
	}{
		{"vm=web01 vcpus=2", []numa.NodeUse{{Host: "esx01", Node: 0, Memory: 3 * gb}, {Host: "esx01", Node: 1, Memory: 3 * gb}, {Host: "esx02", Node: 0, Memory: 3 * gb}, {Host: "esx02", Node: 1, Memory: 3 * gb}}},
		{"host=esx01 nodesPerSocket=2", []numa.NodeUse{{Host: "esx01", Node: 0, Memory: 3 * gb / 2}, {Host: "esx01", Node: 1, Memory: 3 * gb / 2}, {Host: "esx01", Node: 2, Memory: 3 * gb / 2}, {Host: "esx01", Node: 3, Memory: 3 * gb / 2},
			{Host: "esx02", Node: 0, Memory: 3 * gb}, {Host: "esx02", Node: 1, Memory: 3 * gb}}},
		{"host=esx01 nodes=1", []numa.NodeUse{{Host: "esx01", Node: 0, Memory: 6 * gb}, {Host: "esx02", Node: 0, Memory: 3 * gb}, {Host: "esx02", Node: 1, Memory: 3 * gb}}},
		{"host=esx01 nodes=3", []numa.NodeUse{{Host: "esx01", Node: 0, Memory: 2 * gb}, {Host: "esx01", Node: 1, Memory: 2 * gb}, {Host: "esx01", Node: 2, Memory: 2 * gb},
			{Host: "esx02", Node: 0, Memory: 3 * gb}, {Host: "esx02", Node: 1, Memory: 3 * gb}}},
	} {
		got, err := changedBy(t, "", Step{Do: WhatIf, Text: tt.change})
		if err != nil {
			t.Errorf("%s: %v", tt.change, err)
			continue
		}
		if !reflect.DeepEqual(got.Used, tt.want) {
			t.Errorf("%s: %v\nwant %v", tt.change, got.Used, tt.want)
		}
	}
	got, err := changedBy(t, "at 5m fail esx01\nat 6m repair esx01\nat 12m power-off build01\nat 13m power-on build01 host=esx01\n", Step{Do: WhatIf, Text: "lose-host=esx01"})
	if err != nil {
		t.Fatal(err)
	}
	if want := []numa.NodeUse{{Host: "esx02", Node: 0, Memory: 3 * gb}, {Host: "esx02", Node: 1, Memory: 3 * gb}}; !reflect.DeepEqual(got.Used, want) {
		t.Errorf("used %v, want %v", got.Used, want)
	}
	for _, e := range got.Events {
		if e.Kind == numa.Fail || e.Kind == numa.Repair || e.Host == "esx01" {
			t.Errorf("%s of %s%s is left", e.Kind, e.VM, e.Host)
		}
	}
}

func TestSplit(t *testing.T) {
	var got []numa.Bytes
	split(10, 3, func(_ int, m numa.Bytes) { got = append(got, m) })
	if want := []numa.Bytes{4, 3, 3}; !reflect.DeepEqual(got, want) {
		t.Errorf("10 into 3 is %v, want %v", got, want)
	}
}

// TestSeen checks that what was observed of a VM is left out where the VM or its host is
// another one.
func TestSeen(t *testing.T) {
	const placed = "placed web01 homes=0 local=16GB remote=0\nplaced app01 homes=0,1 local=48GB remote=0\n"
	for _, tt := range []struct {
		change string
		want   []string
	}{
		{"vm=web02 vcpus=2", []string{"web01", "app01"}},
		{"vm=web01 vcpus=2", []string{"app01"}},
		{"host=esx02 release=7.0U3", []string{"web01", "app01"}}, // it is so already
		{"host=esx02 Numa.PreferHT=1", []string{"web01"}},
		{"vm=app01 host=esx01", []string{"web01"}},
	} {
		got, err := changedBy(t, placed, Step{Do: WhatIf, Text: tt.change})
		if err != nil {
			t.Errorf("%s: %v", tt.change, err)
			continue
		}
		var seen []string
		for _, v := range got.Seen {
			seen = append(seen, v.VM)
		}
		if !reflect.DeepEqual(seen, tt.want) {
			t.Errorf("%s: %v are taken as seen, want %v", tt.change, seen, tt.want)
		}
	}
}

// TestReshape checks that an event changes of a changed VM what it names, and no more.
func TestReshape(t *testing.T) {
	for _, tt := range []struct {
		change string
		vcpus  int
		memory numa.Bytes
		err    string
	}{
		{"vm=sql01 memory=44GB", 10, 44 * numa.GiB, ""},
		{"vm=sql01 vcpus=6", 10, 40 * numa.GiB, ""},
		{"vm=sql01 vcpus=12", 0, 0, "hot add at 30m0s: VM sql01 has 12 vCPUs and 40 GB by then, no less than the 10 and 40 GB it is to get"},
		{"vm=sql01 hotAdd=off", 0, 0, "hot add at 30m0s: CPU hot add of VM sql01 is off"},
	} {
		got, err := changedBy(t, "", Step{Do: WhatIf, Text: tt.change})
		if tt.err != "" {
			if err == nil || err.Error() != tt.err {
				t.Errorf("%s: %v, want %s", tt.change, err, tt.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tt.change, err)
			continue
		}
		for _, e := range got.Events {
			if e.Kind == numa.HotAdd && (e.Config.VCPUs.Value != tt.vcpus || e.Config.Memory.Value != tt.memory) {
				t.Errorf("%s: hot add to %d vCPUs and %s, want %d and %s", tt.change, e.Config.VCPUs.Value, e.Config.Memory.Value, tt.vcpus, tt.memory)
			}
		}
	}
	_, err := changedBy(t, "at 35m hot-add sql01 memory=48GB\n", Step{Do: WhatIf, Text: "vm=sql01 memoryHotAdd=off vcpus=4"})
	if want := "hot add at 35m0s: memory hot add of VM sql01 is off"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestScaleThenLine checks that a factor stays when a line is added after it, on an event
// that one line made for several VMs.
func TestScaleThenLine(t *testing.T) {
	got, err := changedBy(t, "", Step{Do: ScaleLoad, Text: "web02", Factor: 0.5}, Step{Do: StoryLine, Text: "at 50m power-off web01"})
	if err != nil {
		t.Fatal(err)
	}
	loads := map[string]float64{}
	events := 0
	for _, e := range got.Events {
		if e.Kind == numa.LoadChange {
			loads[e.VM] = e.Load.CPU.High
			events++
		}
	}
	if want := map[string]float64{"web01": 0.8, "web02": 0.4, "web03": 0.8}; events != 3 || !reflect.DeepEqual(loads, want) {
		t.Errorf("%d changes of load to %v, want 3 to %v", events, loads, want)
	}
	if n := len(got.Loads); n != 6 {
		t.Errorf("%d loads, want those of 6 VMs", n)
	}
}

func TestChangeErrors(t *testing.T) {
	for _, tt := range []struct {
		step Step
		want string
	}{
		{Step{Do: "x"}, `found a step "x"`},
		{Step{Do: ScaleLoad, Text: "nobody", Factor: 2}, `found no VM "nobody"`},
		{Step{Do: StoryLine, Text: "load web* cpu=x"}, `found cpu="x", want a share from 0% to 100%`},
	} {
		if _, err := changedBy(t, "", tt.step); err == nil || err.Error() != tt.want {
			t.Errorf("%+v: %v\nwant %s", tt.step, err, tt.want)
		}
	}
}

// TestLostThenLine checks that what is left of lines about a lost host stays as it is when
// a line is added.
func TestLostThenLine(t *testing.T) {
	s := read(t, `
cluster prod
host esx[01-02] nodes=2 cores=8 memory=64GB
vm   a host=esx02 vcpus=4 memory=8GB power=off
at 5m set esx01,esx02 Numa.PreferHT=1
at 6m power-on a host=esx01
`)
	got, err := change(t.Context(), s, []Step{{Do: WhatIf, Text: "lose-host=esx01"}, {Do: StoryLine, Text: "at 50m reboot a"}}, vnuma.Choices{})
	if err != nil {
		t.Fatal(err)
	}
	var events []string
	for _, e := range got.Events {
		events = append(events, e.Kind.String()+" "+e.VM+e.Host)
	}
	if want := []string{"set esx02", "power-on a", "reboot a"}; !reflect.DeepEqual(events, want) {
		t.Errorf("what happens is %q, want %q", events, want)
	}
}
