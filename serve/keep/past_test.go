package keep_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"example.org/homenode/capture/store"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/serve/board"
	"example.org/homenode/serve/keep"
	"example.org/homenode/source/scenario"
	"example.org/homenode/source/scenario/given"
)

// kept runs a Keeper with a store until the test ends, and returns it when the store is open.
func kept(t *testing.T, b *board.Board) *keep.Keeper {
	t.Helper()
	return keptIn(t, b, t.TempDir())
}

// keptIn does so with the store of a folder.
func keptIn(t *testing.T, b *board.Board, dir string) *keep.Keeper {
	t.Helper()
	k := keep.New(nil)
	b.Keep = k.Take
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- k.Run(ctx, dir, store.Options{Reserve: 1}) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if s, err := k.Store(); s != nil {
			return k
		} else if err != nil || time.Now().After(end) {
			t.Fatal("the store does not open", err)
		}
	}
}

// TestPast reads back what was kept of a VM that moves between hosts, is switched off and on, and loses locality; and of its host.
func TestPast(t *testing.T) {
	f, err := scenario.Read("test", []byte("release 8.0U2\ncluster c\nhost esx[1-2] cluster=c packages=2 nodes=2 cores=16 memory=512GB\nvm db host=esx1 vcpus=4 memory=16GB\nvm other host=esx1 vcpus=4 memory=16GB\n"))
	if err != nil {
		t.Fatal(err)
	}
	b := board.New(rules.Options{}, time.Hour)
	k := kept(t, b)
	b.Fleet("vc", f)
	begin := time.Now().Add(-2 * time.Hour).Truncate(time.Minute).UTC()
	at := func(minute int) time.Time { return begin.Add(time.Duration(minute) * time.Minute) }
	on := func(minute int) (host int) { // of db; -1 for off
		switch {
		case minute < 30:
			return 0
		case minute < 60:
			return 1
		case minute >= 70 && minute < 100:
			return 1
		}
		return -1
	}
	for minute := range 120 {
		for h := range 2 {
			x := numa.Tick{Host: f.Hosts[h].Name, Time: at(minute), Since: time.Minute, Nodes: []numa.NodeTick{
				{ID: 0, Has: numa.HasTotal | numa.HasFree | numa.HasUtil, Total: 256 * numa.GiB, Free: 100 * numa.GiB, Util: 0.5}, {ID: 1, Has: numa.HasTotal | numa.HasFree | numa.HasUtil, Total: 256 * numa.GiB, Free: 50 * numa.GiB, Util: 0.25}}}
			if h == 0 {
				x.VMs = append(x.VMs, numa.VMTick{GID: 7, Name: "other", VCPUs: 4, Has: numa.HasMoves | numa.HasHomes, Homes: 1, Moves: numa.Moves{All: int64(minute % 2)}})
			}
			if on(minute) == h {
				v := numa.VMTick{GID: int64(1000 + 100*h + minute/70), Name: "db", VCPUs: 4, Homes: numa.SetOf(minute / 20 % 2), Local: 12 * numa.GiB, Remote: 4 * numa.GiB, Ready: 0.4,
					Has: numa.HasHomes | numa.HasMemory | numa.HasMoves | numa.HasReady, Moves: numa.Moves{All: 1}}
				x.VMs = append(x.VMs, v)
			}
			b.Past("vc", f.Hosts[h].ID, &x)
		}
	}
	id := f.VMs[0].ID
	var p *keep.Past
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if p, err = k.PastVM(t.Context(), "vc", id, begin.Add(-time.Hour), at(130), b.Limits()); err != nil {
			t.Fatal(err)
		}
		if p != nil && p.VM.Ticks == 90 && len(p.Events) == 4 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("found %+v", p)
		}
	}
	var events []string
	for _, e := range p.Events {
		events = append(events, fmt.Sprintf("%v %s", e.Time.Sub(begin), e.Text))
	}
	if got, want := strings.Join(events, ", "), "30m0s vMotion to esx2, 1h0m0s off, 1h10m0s on, 1h40m0s off"; got != want {
		t.Errorf("events %s, want %s", got, want)
	}
	v := p.VM
	if got := p.Recording.Host + " " + strings.Join(p.Hosts, " "); got != "esx1, esx2 esx1 esx2" {
		t.Errorf("hosts %s", got)
	}
	// The first migration of each stretch on a host is not known: 90 ticks in three of them.
	if v.Moves.All != 87 || v.Least.Local != 12*numa.GiB || v.Least.Remote != 4*numa.GiB || v.LastHomes != numa.SetOf(0) || v.VCPUs != 4 {
		t.Errorf("found %+v", v)
	}
	if ready, ok := v.Ready.Mean(); !ok || ready < 0.0999 || ready > 0.1001 {
		t.Errorf("ready %v of each vCPU, want 0.1", ready)
	}
	if p, err := k.PastVM(t.Context(), "vc", "none", begin, at(130), b.Limits()); p != nil || err != nil {
		t.Errorf("of no VM: %v, %v", p, err)
	}
	if p, err := k.PastVM(t.Context(), "other", id, begin, at(130), b.Limits()); p != nil || err != nil {
		t.Errorf("of another vCenter: %v, %v", p, err)
	}
	var h *keep.Past
	for end := time.Now().Add(10 * time.Second); h == nil || h.Recording.Ticks < 120; time.Sleep(20 * time.Millisecond) { // it outlives the VM
		if h, err = k.PastHost(t.Context(), "vc", "esx1", begin, at(130), b.Limits()); err != nil || time.Now().After(end) {
			t.Fatalf("host: %v, %v", h, err)
		}
	}
	if rec := h.Recording; rec.Ticks != 120 || len(rec.Nodes) != 2 || rec.Nodes[1].Least != 50*numa.GiB || len(rec.VMs) != 2 {
		t.Errorf("host: %d ticks, nodes %+v, %d VMs", rec.Ticks, rec.Nodes, len(rec.VMs))
	} else if busy, ok := rec.Nodes[0].Busy.Mean(); !ok || busy < 0.4999 || busy > 0.5001 {
		t.Errorf("host: node 0 is %v busy, want 0.5", busy)
	}
	long, err := k.PastHost(t.Context(), "vc", "esx1", begin.Add(-7*24*time.Hour), at(130), b.Limits())
	if err != nil || long == nil {
		t.Fatalf("host over a week: %v, %v", long, err)
	}
	if len(long.Recording.VMs) > 0 {
		t.Errorf("%d VMs are read for a week", len(long.Recording.VMs))
	}
	moves := int64(0)
	for _, m := range long.Moved {
		moves += m.N
	}
	if moves != 60+29 { // of other every second minute, of db each minute but the first
		t.Errorf("%d migrations on the host, want 89", moves)
	}
}

// TestEndsAtLast draws weeks of a VM in steps that hold both its home nodes: the last step ends on the node that it has now.
func TestEndsAtLast(t *testing.T) {
	f := given.Fleet(t, "test", []byte("release 8.0U2\ncluster c\nhost esx1 cluster=c packages=2 nodes=2 cores=16 memory=512GB\nvm db host=esx1 vcpus=4 memory=16GB\n"))
	b := board.New(rules.Options{}, time.Hour)
	k := kept(t, b)
	b.Fleet("vc", f)
	now := time.Now().Truncate(time.Hour).UTC()
	for i, before := range []time.Duration{14 * 24 * time.Hour, 30 * time.Second, 20 * time.Second} {
		b.Past("vc", f.Hosts[0].ID, &numa.Tick{Host: f.Hosts[0].Name, Time: now.Add(-before), Since: time.Minute,
			VMs: []numa.VMTick{{GID: 7, Name: "db", VCPUs: 4, Has: numa.HasHomes, Homes: numa.SetOf(i % 2)}, {GID: 8, Name: "other", Has: numa.HasHomes, Homes: 1}}})
	}
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		p, err := k.PastVM(t.Context(), "vc", f.VMs[0].ID, now.Add(-30*24*time.Hour), now, b.Limits())
		if err != nil || time.Now().After(end) {
			t.Fatal(p, err)
		}
		if p == nil || p.VM.Ticks < 3 {
			continue
		}
		if last := p.VM.Timeline.Last(); last.Homes != numa.SetOf(0) || p.VM.LastHomes != numa.SetOf(0) {
			t.Errorf("the timeline ends on nodes %v, and its last tick on %v", last.Homes, p.VM.LastHomes)
		}
		return
	}
}
