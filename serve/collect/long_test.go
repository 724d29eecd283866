package collect_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"example.org/homenode/numa"
	"example.org/homenode/serve/collect"
	"example.org/homenode/source/esxtop/fetchstats"
	"example.org/homenode/source/vsphere"
)

// TestRestart lets the vCenter go away and come back at its address, twice: the new one does not know the session.
func TestRestart(t *testing.T) {
	s := newSite(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var mu sync.Mutex
	var open []net.Conn
	to := s.vc.URL.Host // empty while it is down
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			out, err := net.Dial("tcp", to)
			if err != nil {
				_ = in.Close()
			} else {
				open = append(open, in, out)
				go func() { _, _ = io.Copy(out, in); _ = out.Close() }()
				go func() { _, _ = io.Copy(in, out); _ = in.Close() }()
			}
			mu.Unlock()
		}
	}()
	out := &sink{}
	base := *s.vc.URL
	c := collect.New("vc", func(ctx context.Context) (*vsphere.Live, error) {
		u := base
		u.Host = l.Addr().String()
		return vsphere.Open(ctx, &u, vsphere.Options{Insecure: true, CallTimeout: 5 * time.Second})
	}, out, fast)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { c.Run(ctx); close(done) }()
	defer func() { cancel(); <-done }()
	for range 2 {
		more(t, out, "esx1", "esx2", "esx3", "esx4")
		next := newSite(t)
		mu.Lock()
		to = ""
		for _, x := range open {
			_ = x.Close()
		}
		mu.Unlock()
		until(t, "failure", func() bool { return c.Status().Hosts[0].Failed > 0 && c.Status().Hosts[1].Failed > 0 })
		time.Sleep(300 * time.Millisecond)
		s.mu.Lock()
		next.mu.Lock()
		for host, n := range s.n {
			next.n[host] = n
		}
		next.mu.Unlock()
		s.mu.Unlock()
		mu.Lock()
		to = next.vc.URL.Host
		mu.Unlock()
		s = next
		more(t, out, "esx1", "esx2", "esx3", "esx4")
	}
	until(t, "inventory", func() bool { return c.Status().Error == "" })
	if st := c.Status(); !st.Up || st.Logins != 3 || st.Error != "" || len(out.bad) > 0 {
		t.Errorf("status %+v; %v", st, out.bad)
	}
}

// TestHostChanges restarts a host, gives it more memory, and sets its clock back: its ticks go on, and no number is
// below 0.
func TestHostChanges(t *testing.T) {
	s := newSite(t)
	out := &sink{}
	c, _ := s.start(out, fast)
	more(t, out, "esx1", "esx2")
	boot := time.Unix(1_790_000_000, 0)
	back, memory := time.Duration(0), 64*numa.GiB
	tick := func() string { // s.mu is held
		s.n["esx1"]++
		at := time.Unix(1_790_000_000+int64(20*s.n["esx1"]), 0)
		text := s.writers["esx1"].Answer(&numa.Tick{Time: at, Since: 20 * time.Second, Has: numa.HasFree, Free: numa.GiB,
			Nodes: []numa.NodeTick{{ID: 0, Has: numa.HasTotal, Total: memory}, {ID: 1, Has: numa.HasTotal, Total: memory}},
			VMs:   []numa.VMTick{{GID: 5, Name: "one|two", VCPUs: 4, Homes: 1, Local: numa.GiB, Has: numa.HasHomes | numa.HasMemory}}})
		return strings.Replace(text, fmt.Sprintf("|%d|", at.Unix()), fmt.Sprintf("|%d|", at.Add(-back).Unix()), 1)
	}
	change := func(f func()) {
		s.mu.Lock()
		f()
		s.mu.Unlock()
		time.Sleep(200 * time.Millisecond)
		if h := c.Status().Hosts[0]; h.Failing != "" {
			t.Fatalf("status %+v", h)
		}
		more(t, out, "esx1", "esx2")
	}
	s.set(func(host, command string) (string, error, bool) {
		if host != "esx1" || command != "FetchStats" {
			return "", nil, false
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		return tick(), nil, true
	})
	change(func() { // it starts again
		s.writers["esx1"] = &fetchstats.Writer{Machine: &s.fleet.Hosts[0], Boot: boot.Add(time.Duration(20*s.n["esx1"]) * time.Second)}
	})
	change(func() { memory *= 2 })
	if len(out.bad) > 0 {
		t.Error(out.bad)
	}
	out.mu.Lock()
	out.bad, out.last = nil, map[string]time.Time{}
	out.mu.Unlock()
	before := c.Status().Hosts[0].Skew
	change(func() { back = time.Hour }) // the time since its start goes on
	if h := c.Status().Hosts[0]; h.Skew.Duration < before.Duration+50*time.Minute || len(out.bad) > 0 {
		t.Errorf("status %+v, skew before %v; %v", h, before, out.bad)
	}
}

// TestFastClock lets the clock of a host be 3 h ahead, and then corrects it: its ticks have our time, and its skew is that
// of the host's clock.
func TestFastClock(t *testing.T) {
	s := newSite(t)
	out := &sink{}
	ahead, begin, n := 3*time.Hour, time.Now().Add(-time.Second), 0
	s.set(func(host, command string) (string, error, bool) {
		if host != "esx1" || command != "FetchStats" {
			return "", nil, false
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		n++
		at := begin.Add(3*time.Hour + time.Duration(n)*20*time.Millisecond)
		text := s.writers["esx1"].Answer(&numa.Tick{Time: at, Since: 20 * time.Millisecond, VMs: []numa.VMTick{{GID: 5, Name: "one|two", VCPUs: 4}}})
		return strings.Replace(text, fmt.Sprintf("|%d|", at.Unix()), fmt.Sprintf("|%d|", at.Add(ahead-3*time.Hour).Unix()), 1), nil, true
	})
	c, _ := s.start(out, fast)
	for _, d := range []time.Duration{3 * time.Hour, 0} {
		s.mu.Lock()
		ahead = d
		s.mu.Unlock()
		more(t, out, "esx1")
		if h := c.Status().Hosts[0]; time.Since(h.Last).Abs() > 2*time.Minute || (h.Skew.Duration+d).Abs() > 2*time.Minute {
			t.Errorf("%v ahead: last %v, skew %v", d, h.Last, h.Skew)
		}
	}
	if len(out.bad) > 0 {
		t.Error(out.bad)
	}
}

// TestDay asks as often as in a day at one answer a minute: sessions, goroutines and memory stay as they were.
func TestDay(t *testing.T) {
	const turns = 24 * 60
	s := newSite(t)
	out := &sink{}
	c := collect.New("vc", func(ctx context.Context) (*vsphere.Live, error) { return s.dial(ctx) }, out,
		collect.Options{Every: 2 * time.Millisecond, Inventory: 250 * time.Millisecond})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { c.Run(ctx); close(done) }()
	defer func() { cancel(); <-done }()
	measure := func(n int) (heap uint64, goroutines int) {
		for end := time.Now().Add(5 * time.Minute); out.of("esx1") < n || out.of("esx4") < n; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%d turns of %d", out.of("esx1"), n)
			}
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc, runtime.NumGoroutine()
	}
	heap, goroutines := measure(turns / 10)
	heapAfter, goroutinesAfter := measure(turns)
	if heapAfter > heap+heap/2+4<<20 || goroutinesAfter > goroutines+10 {
		t.Errorf("heap %d kB, then %d kB; goroutines %d, then %d", heap>>10, heapAfter>>10, goroutines, goroutinesAfter)
	}
	if st := c.Status(); st.Logins != 1 || s.dials != 1 {
		t.Errorf("%d logins", st.Logins)
	}
	t.Logf("%d turns: heap %d kB, then %d kB; goroutines %d, then %d; 1 session", turns, heap>>10, heapAfter>>10, goroutines, goroutinesAfter)
}
