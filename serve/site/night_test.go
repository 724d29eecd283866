package site

import (
	"context"
	"strings"
	"testing"
	"time"

	"example.org/homenode/capture/store"
	"example.org/homenode/numa"
	"example.org/homenode/output/answer"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
	"example.org/homenode/serve/board"
	"example.org/homenode/serve/collect"
	"example.org/homenode/serve/keep"
	"example.org/homenode/source/scenario"
	"example.org/homenode/source/scenario/given"
)

// night is a VM over three hours: it loses locality on esx1, goes to esx2, comes back to another home node, and has little of its memory there since.
func night(t *testing.T, now time.Time) (*Live, *numa.Fleet) {
	t.Helper()
	f := given.Fleet(t, "test", []byte("release 8.0U2\ncluster c\nhost esx[1-2] cluster=c packages=2 nodes=2 cores=16 memory=512GB\nvm db host=esx1 vcpus=4 memory=16GB\n"))
	b, k := board.New(rules.Options{}, time.Hour), keep.New(nil)
	b.Keep = k.Take
	ctx, cancel := context.WithCancel(context.Background())
	done, dir := make(chan error), t.TempDir()
	go func() { done <- k.Run(ctx, dir, store.Options{Reserve: 1}) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	b.Fleet("vc", f)
	for minute := range 180 {
		for h := range f.Hosts {
			x := numa.Tick{Host: f.Hosts[h].Name, Time: now.Add(time.Duration(minute-179) * time.Minute), Since: time.Minute}
			for n := range 2 {
				x.Nodes = append(x.Nodes, numa.NodeTick{ID: n, Has: numa.HasTotal | numa.HasFree | numa.HasUtil, Total: 256 * numa.GiB, Free: 100 * numa.GiB, Util: 0.2})
			}
			v := numa.VMTick{Name: "db", VCPUs: 4, GID: int64(10 + minute/60), Homes: numa.SetOf(0), Local: 16 * numa.GiB, Used: 2, Has: numa.HasHomes | numa.HasMemory | numa.HasMoves | numa.HasUsed}
			switch {
			case minute >= 160:
				v.Homes, v.Local, v.Remote = numa.SetOf(1), 4*numa.GiB, 12*numa.GiB
			case minute >= 20 && minute < 30:
				v.Local, v.Remote = 6*numa.GiB, 10*numa.GiB
			}
			if on := map[bool]int{true: 1}[minute >= 60 && minute < 160]; on == h {
				x.VMs = []numa.VMTick{v}
			}
			b.Tick("vc", f.Hosts[h].ID, &x)
		}
		if minute%5 == 4 {
			b.Judge(now.Add(time.Duration(minute-179) * time.Minute))
		}
	}
	return &Live{Board: b, Keeper: k, Status: func() []collect.Status { return nil }}, f
}

// TestOneVerdict: what is found over the day about what still holds is what is found now; what ended before stands beside it with numbers of its own, and
// a vMotion is no move of the home node.
func TestOneVerdict(t *testing.T) {
	now := time.Now().Truncate(time.Second).UTC()
	l, f := night(t, now)
	var live *board.Alarm
	for _, a := range l.alarms("vc") {
		if a.Finding.Rule == "M001" {
			live = &a
		}
	}
	if live == nil || live.Finding.Severity != finding.High {
		t.Fatalf("found now: %+v", live)
	}
	var found []board.Alarm
	for end := time.Now().Add(10 * time.Second); len(found) < 2; time.Sleep(20 * time.Millisecond) {
		all, err := l.over(t.Context(), "vc", []string{f.VMs[0].ID}, now.Add(-24*time.Hour), now)
		if err != nil || time.Now().After(end) {
			t.Fatal(err, all)
		}
		found = nil
		for _, a := range all {
			if a.Finding.Rule == "M001" {
				found = append(found, a)
			}
			if strings.Contains(a.Finding.Message, "its home moved") {
				t.Errorf("%s: %s", a.Finding.Rule, a.Finding.Message)
			}
		}
	}
	if a := found[0]; len(found) != 2 || a.Finding.Message != live.Finding.Message || a.Finding.Severity != live.Finding.Severity || !a.Begin.Equal(now.Add(-19*time.Minute)) || !a.End.IsZero() {
		t.Errorf("%d findings; now %s\nover the day since %v: %s", len(found), live.Finding.Message, a.Begin, a.Finding.Message)
	}
	if a := found[1]; a.Finding.Severity != finding.Medium || a.End.Sub(a.Begin) != 10*time.Minute || !strings.Contains(a.Finding.Message, "37 % at worst") {
		t.Errorf("before: %s %v to %v: %s", a.Finding.Severity, a.Begin, a.End, a.Finding.Message)
	}
	// The rules that saw the same share an event.
	day := lately{over: "last 24 hours", events: eventsOf(found, now), blind: 2}
	if got, want := textOf(&answer.State{Name: day.over, Cell: day.line()}), "Last 24 hours: 1 VM had trouble: db · all the time, N%L of 2 VMs hides interleaved memory (M006)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	table, ok := day.table()
	if !ok || len(table.Rows) != 2 || table.Rows[0][5].Text != "25 % local at worst (12 GB of 16 GB remote)" || table.Rows[1][2].Text != "10 min" {
		t.Errorf("%v", table.Rows)
	}
	if d := firstTable(&day, nil); len(d.Rows) != 1 || d.Rows[0][0].To.ID != "db" {
		t.Errorf("to do first: %v", d.Rows)
	}
	early := lately{over: "last 24 hours", early: true, events: eventsOf(found, now)}
	if _, ok := early.table(); ok || textOf(&answer.State{Name: "now", Cell: early.line()}) != "Now: the history is being read" {
		t.Error("what is not known yet is told")
	}
}

// TestWhen writes from when to when an event was.
func TestWhen(t *testing.T) {
	at := time.Date(2026, 11, 23, 23, 50, 1, 0, time.UTC)
	for _, tt := range []struct {
		e    event
		want string
	}{
		{event{begin: at, open: true}, "since 23 Nov 23:50 UTC"},
		{event{begin: at, open: true, before: true}, "since 23 Nov 23:50 UTC or before"},
		{event{begin: at, end: at.Add(9 * time.Minute)}, "23 Nov 23:50 to 23:59 UTC"},
		{event{begin: at, end: at.Add(time.Hour)}, "23 Nov 23:50 to 24 Nov 00:50 UTC"},
	} {
		if got := tt.e.when(); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

// TestEventEnds checks that a host that was short of memory within the last hour, and is not any more, has an event with an end.
func TestEventEnds(t *testing.T) {
	now := time.Now().Truncate(time.Second).UTC()
	f, err := scenario.Read("test", []byte("release 8.0U2\nhost esx1 nodes=2 cores=16 memory=512GB\n"))
	if err != nil {
		t.Fatal(err)
	}
	b := board.New(rules.Options{}, time.Hour)
	b.Fleet("vc", f)
	for minute := range 61 {
		x := numa.Tick{Host: "esx1", Time: now.Add(time.Duration(minute-60) * time.Minute), Since: time.Minute, Has: numa.HasState, State: numa.High}
		if minute >= 10 && minute < 30 {
			x.State = numa.Soft
		}
		b.Tick("vc", f.Hosts[0].ID, &x)
	}
	b.Judge(now)
	h, err := (&Live{Board: b}).happened(t.Context(), "vc", now, nil)
	if err != nil || len(h.events) != 1 || h.events[0].open || !h.events[0].end.Equal(now.Add(-30*time.Minute)) {
		t.Errorf("%v, %+v; want one event that ended half an hour ago", err, h.events)
	}
}
