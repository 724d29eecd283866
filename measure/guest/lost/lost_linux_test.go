package lost

import (
	"context"
	"errors"
	"os"
	"slices"
	"testing"
	"time"

	"example.org/homenode/measure/guest/cpu"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		text string
		want time.Duration
		ok   bool
	}{{"123456 789 12\n", 789, true}, {"0 0 0\n", 0, false}, {"1 x 2", 0, false}, {"1 -2 2", -2, false}, {"1 2", 0, false}, {"", 0, false}} {
		if got, ok := parseRunDelay(tt.text); ok != tt.ok || ok && got != tt.want {
			t.Errorf("%q: %v, %v", tt.text, got, ok)
		}
	}
	for _, tt := range []struct {
		line string
		want time.Duration
		ok   bool
	}{
		{"cpu3 10 20 30 40 50 60 70 8 0 0", 80 * time.Millisecond, true}, {"cpu3 10 20 30 40 50 60 70 0 0 0", 0, true},
		{"cpu 10 20 30 40 50 60 70 8 0 0", 0, false}, {"cpu31 10 20 30 40 50 60 70 8 0 0", 0, false}, {"cpu3 1 2 3", 0, false}, {"", 0, false},
	} {
		if got, ok := parseSteal(tt.line, 3); ok != tt.ok || ok && got != tt.want {
			t.Errorf("%q: %v, %v", tt.line, got, ok)
		}
	}
}

func TestSums(t *testing.T) {
	l := &Lost{Gaps: make([]Gap, 0, most)}
	l.add(Gap{For: 5 * time.Millisecond, Switched: true})
	l.add(Gap{For: 20 * time.Microsecond})
	l.add(Gap{For: 3 * time.Millisecond})
	l.Time = 100 * time.Millisecond
	if l.Guest != 5*time.Millisecond || l.Brief != 20*time.Microsecond || l.Hypervisor != 3*time.Millisecond || l.Count != 3 || len(l.Gaps) != 3 {
		t.Errorf("%+v", l)
	}
	if _, ok := l.Share(); ok {
		t.Error("a share without the run delay")
	}
	l.account(accounts{runDelay: time.Millisecond, runDelayKnown: true, steal: 10 * time.Millisecond, stealKnown: true},
		accounts{runDelay: 5*time.Millisecond + 20*time.Microsecond, runDelayKnown: true, steal: 30 * time.Millisecond})
	if share, ok := l.Share(); !ok || share < 0.0399 || share > 0.0401 || l.StealKnown {
		t.Errorf("%v, %v; %+v", share, ok, l)
	}
	l.RunDelay = time.Second
	if share, ok := l.Share(); !ok || share != 0 {
		t.Errorf("more delay than gaps: %v, %v", share, ok)
	}
	for range 2 * most {
		l.add(Gap{For: time.Second})
	}
	if len(l.Gaps) != most || cap(l.Gaps) != most || l.Count != 3+2*most {
		t.Errorf("%d gaps kept of %d", len(l.Gaps), l.Count)
	}
}

// usable returns a processor that this process may use.
func usable(t *testing.T) int {
	t.Helper()
	for n := range 64 {
		if cpu.On(n, func() error { return nil }) == nil {
			return n
		}
	}
	t.Skip("no processor takes a thread here")
	return 0
}

func TestWatch(t *testing.T) {
	l, err := Watch(context.Background(), usable(t), 20*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if l.Time < 20*time.Millisecond-time.Microsecond || l.Count < len(l.Gaps) || !l.SwitchesKnown {
		t.Errorf("%+v", l)
	}
	sum := time.Duration(0)
	for i, g := range l.Gaps {
		if sum += g.For; g.For < Shortest-time.Nanosecond || g.At < 0 || i > 0 && g.At < l.Gaps[i-1].At+l.Gaps[i-1].For {
			t.Errorf("gap %d: %+v after %+v", i, g, l.Gaps[max(0, i-1)])
		}
	}
	if all := l.Guest + l.Brief + l.Hypervisor; sum > l.Time || len(l.Gaps) == l.Count && sum != all {
		t.Errorf("gaps of %v in %v, sums of %v", sum, l.Time, all)
	}
}

// A second thread of the same processor takes half of it: Watch says that the guest did.
func TestWatchSeesTheGuest(t *testing.T) {
	if os.Getenv("HOMENODE_TEST_EMULATED") != "" {
		t.Skip("an emulation does not count switches of a thread")
	}
	on := usable(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	cpu.Room(2)
	ready, other := make(chan struct{}), make(chan error, 1)
	go func() {
		other <- cpu.On(on, func() error {
			close(ready)
			for ctx.Err() == nil {
				cpu.Delay(1000)
			}
			return nil
		})
	}()
	<-ready
	for range 50 { // a scheduler may let one run for long
		l, err := Watch(ctx, on, Longest)
		if err != nil {
			t.Fatal(err)
		}
		if l.Guest > 0 && slices.ContainsFunc(l.Gaps, func(g Gap) bool { return g.Switched }) {
			cancel()
			if err := <-other; err != nil {
				t.Error(err)
			}
			return
		}
	}
	t.Error("two threads shared the processor, and no gap is the guest's")
}

func TestWatchEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	l, err := Watch(ctx, usable(t), time.Hour)
	if !errors.Is(err, context.Canceled) || l.Time >= Longest {
		t.Errorf("%v, %v", l.Time, err)
	}
	if _, err := Watch(context.Background(), 4095, time.Millisecond); err == nil {
		t.Error("an unknown processor")
	}
}
