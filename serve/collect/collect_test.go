package collect_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"example.org/homenode/numa"
	"example.org/homenode/serve/collect"
	"example.org/homenode/source/esxtop/fetchstats"
	"example.org/homenode/source/scenario"
	"example.org/homenode/source/vsphere"
	"example.org/homenode/source/vsphere/lab"
)

const fleetText = `release 7.0U3
cluster c
host esx[1-4] cluster=c packages=2 nodes=2 cores=4 memory=128GB
vm one host=esx1 vcpus=4 memory=16GB
`

// A site is a simulated vCenter whose hosts answer with ticks 20 s apart, faster than the clock.
type site struct {
	t       *testing.T
	vc      *lab.VCenter
	fleet   *numa.Fleet
	mu      sync.Mutex
	n       map[string]int
	writers map[string]*fetchstats.Writer
	fault   func(host, command string) (string, error, bool)
	dials   int
}

func newSite(t *testing.T) *site {
	t.Helper()
	f, err := scenario.Read("test", []byte(fleetText))
	if err != nil {
		t.Fatal(err)
	}
	vc, err := lab.Start(f)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(vc.Close)
	s := &site{t: t, vc: vc, fleet: f, n: map[string]int{}, writers: map[string]*fetchstats.Writer{}}
	for i := range f.Hosts {
		s.writers[f.Hosts[i].ID] = &fetchstats.Writer{Machine: &f.Hosts[i], Boot: time.Unix(1_790_000_000, 0)}
	}
	if err := vc.ServeEsxtop(s.answer); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *site) answer(host, command string) (string, error) {
	s.mu.Lock()
	fault := s.fault
	s.mu.Unlock()
	if fault != nil {
		if text, err, ok := fault(host, command); ok {
			return text, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.writers[host]
	if command != "FetchStats" {
		return w.Info(), nil
	}
	s.n[host]++
	return w.Answer(&numa.Tick{Time: time.Unix(1_790_000_000+int64(20*s.n[host]), 0), Since: 20 * time.Second, Has: numa.HasFree, Free: numa.GiB,
		Nodes: []numa.NodeTick{{ID: 0, Has: numa.HasTotal, Total: 64 * numa.GiB}, {ID: 1, Has: numa.HasTotal, Total: 64 * numa.GiB}},
		VMs:   []numa.VMTick{{GID: 5, Name: "one|two", VCPUs: 4, Homes: 1, Local: numa.GiB, Has: numa.HasHomes | numa.HasMemory}}}), nil
}

func (s *site) set(fault func(host, command string) (string, error, bool)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = fault
}

func (s *site) dial(ctx context.Context) (*vsphere.Live, error) {
	s.mu.Lock()
	s.dials++
	at := s.vc.URL
	s.mu.Unlock()
	return vsphere.Open(ctx, at, vsphere.Options{Insecure: true, CallTimeout: 5 * time.Second})
}

// A sink counts ticks by host.
type sink struct {
	mu     sync.Mutex
	ticks  map[string]int
	fleets int
	last   map[string]time.Time
	bad    []string
}

func (s *sink) Fleet(string, *numa.Fleet) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fleets++
}

func (s *sink) Update(string, []numa.Update) {}

func (s *sink) Tick(_, host string, t *numa.Tick) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ticks == nil {
		s.ticks, s.last = map[string]int{}, map[string]time.Time{}
	}
	s.ticks[host]++
	if !t.Time.After(s.last[host]) {
		s.bad = append(s.bad, fmt.Sprintf("%s: %v after %v", host, t.Time, s.last[host]))
	}
	if len(t.VMs) != 1 || t.VMs[0].Name != "one|two" || strings.Contains(t.Host, "(2)") {
		s.bad = append(s.bad, fmt.Sprintf("%s: %+v", t.Host, t.VMs))
	}
	s.last[host] = t.Time
}

func (s *sink) of(host string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ticks[host]
}

var fast = collect.Options{Every: 30 * time.Millisecond, Timeout: 500 * time.Millisecond, Inventory: 200 * time.Millisecond, Retry: 100 * time.Millisecond, Backoff: 50 * time.Millisecond}

// start lets a Collector run until the test ends, and returns what stops it before.
func (s *site) start(out collect.Sink, o collect.Options) (c *collect.Collector, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	c = collect.New("vc", s.dial, out, o)
	done := make(chan struct{})
	go func() { c.Run(ctx); close(done) }()
	stop = func() { cancel(); <-done }
	s.t.Cleanup(stop)
	return c, stop
}

// until waits for what is to come.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s does not come", what)
		}
	}
}

// more waits until every one of the hosts has brought five ticks more.
func more(t *testing.T, out *sink, hosts ...string) {
	t.Helper()
	before := map[string]int{}
	for _, h := range hosts {
		before[h] = out.of(h)
	}
	for _, h := range hosts {
		until(t, "tick of "+h, func() bool { return out.of(h) >= before[h]+5 })
	}
}

// TestCollect collects from four hosts: the session is one, and it is closed at the end.
func TestCollect(t *testing.T) {
	s := newSite(t)
	out := &sink{}
	before := runtime.NumGoroutine()
	c, stop := s.start(out, fast)
	more(t, out, "esx1", "esx2", "esx3", "esx4")
	st := c.Status()
	if !st.Up || st.Logins != 1 || len(st.Hosts) != 4 || st.Error != "" || st.Hosts[0].Size == 0 || st.Hosts[0].Failed > 0 {
		t.Errorf("status %+v", st)
	}
	stop()
	if len(out.bad) > 0 || s.dials != 1 {
		t.Errorf("%d logins; %v", s.dials, out.bad)
	}
	until(t, "end of goroutines", func() bool { return runtime.NumGoroutine() <= before+2 }) // connections of the server end later
}

// TestFaults lets things go wrong that cost one host alone, for a while.
func TestFaults(t *testing.T) {
	for _, f := range []struct {
		name   string
		answer func(text func() string, n int) (string, error)
		says   string // of the host
		reason string
	}{
		{"a host refuses", func(func() string, int) (string, error) { return "", errors.New("host is not connected") }, "host is not connected", "other"},
		{"an answer is cut off", func(text func() string, _ int) (string, error) { x := text(); return x[:len(x)/2], nil }, "cut off", "answer"},
		{"an answer of another build", func(text func() string, _ int) (string, error) {
			return strings.Replace(text(), "|Sched|3|", "|Sched|3|1|2|", 1), nil
		}, "fields", "answer"},
		{"an answer that is none", func(func() string, int) (string, error) { return "<html>", nil }, "not an answer", "answer"},
		{"a host hangs", func(func() string, int) (string, error) { time.Sleep(time.Second); return "", nil }, "", "timeout"},
	} {
		t.Run(f.name, func(t *testing.T) {
			s := newSite(t)
			out := &sink{}
			c, _ := s.start(out, fast)
			more(t, out, "esx1", "esx2")
			n := 0
			s.set(func(host, command string) (string, error, bool) {
				if host != "esx1" || command != "FetchStats" {
					return "", nil, false
				}
				s.mu.Lock()
				n++
				s.mu.Unlock()
				text, err := f.answer(func() string {
					s.mu.Lock()
					defer s.mu.Unlock()
					s.n[host]++
					return s.writers[host].Answer(&numa.Tick{Time: time.Unix(1_790_000_000+int64(20*s.n[host]), 0), Since: 20 * time.Second,
						VMs: []numa.VMTick{{GID: 5, Name: "one|two"}}})
				}, n)
				return text, err, true
			})
			var h collect.HostStatus
			until(t, fmt.Sprintf("failure with the reason %q and %q", f.reason, f.says), func() bool { // a slow machine may run into the timeout first
				h = c.Status().Hosts[0]
				return h.Failed >= 2 && h.Reason == f.reason && strings.Contains(h.Failing, f.says) && !h.Since.IsZero()
			})
			more(t, out, "esx2", "esx3", "esx4")
			s.set(nil)
			more(t, out, "esx1")
			if h = c.Status().Hosts[0]; h.Failing != "" || len(out.bad) > 0 {
				t.Errorf("status %+v; %v", h, out.bad)
			}
		})
	}
}

// TestSessionLost ends the session behind the collector's back: it logs in again, and the
// sessions do not add up.
func TestSessionLost(t *testing.T) {
	s := newSite(t)
	patient := fast
	patient.Timeout = 10 * time.Second // no login is given up
	out := &sink{}
	var live *vsphere.Live
	c := collect.New("vc", func(ctx context.Context) (l *vsphere.Live, err error) {
		l, err = s.dial(ctx)
		s.mu.Lock()
		live = l
		s.mu.Unlock()
		return l, err
	}, out, patient)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { c.Run(ctx); close(done) }()
	defer func() { cancel(); <-done }()
	for range 3 {
		more(t, out, "esx1", "esx2", "esx3", "esx4")
		s.mu.Lock()
		l := live
		s.mu.Unlock()
		before := c.Status().Logins
		// The simulator revives a session that a request is just mapped to: end it again.
		until(t, "new login", func() bool {
			_ = l.Close(ctx) // it may have ended
			return c.Status().Logins > before
		})
	}
	more(t, out, "esx1", "esx2", "esx3", "esx4")
	until(t, "up", func() bool { return c.Status().Up }) // the last end of a session may have met a reading of the inventory
	if st := c.Status(); st.Logins != 4 || st.LoginsLost != 0 || !st.Up {
		t.Errorf("status %+v", st)
	}
	if len(out.bad) > 0 {
		t.Error(out.bad)
	}
}

// TestWrongPassword tries an account three times and no more.
func TestWrongPassword(t *testing.T) {
	s := newSite(t)
	c := collect.New("vc", func(ctx context.Context) (*vsphere.Live, error) {
		s.mu.Lock()
		s.dials++
		s.mu.Unlock()
		return vsphere.Open(ctx, s.vc.URL, vsphere.Options{Insecure: true, Username: "x", Password: "secret-word"})
	}, &sink{}, collect.Options{Retry: 10 * time.Millisecond, Inventory: 10 * time.Millisecond})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	c.Run(ctx)
	st := c.Status()
	if s.dials != 3 || st.Up || !strings.Contains(st.Error, "not tried again") || !strings.Contains(st.Advice, "3 times") || strings.Contains(st.Error, "secret-word") {
		t.Errorf("%d logins, status %+v", s.dials, st)
	}
}

// TestTooManyBytes asks less often when the answers are larger than allowed.
func TestTooManyBytes(t *testing.T) {
	s := newSite(t)
	out := &sink{}
	o := fast
	o.Every, o.Bytes = time.Second, 2000
	c, _ := s.start(out, o)
	until(t, "ticks", func() bool {
		return out.of("esx1") > 0 && out.of("esx2") > 0 && out.of("esx3") > 0 && out.of("esx4") > 0
	})
	sum := 0
	for _, h := range c.Status().Hosts {
		sum += h.Size
	}
	if got, least := c.Status().Every.Duration, time.Duration(sum)*time.Second/2000; got < least || got > least+time.Second {
		t.Errorf("every %v for %d bytes, want %v or little more", got, sum, least)
	}
}

// TestWanted leaves hosts alone that nobody asked for.
func TestWanted(t *testing.T) {
	s := newSite(t)
	out := &sink{}
	o := fast
	o.Wanted = func(h *numa.Host, cluster string) bool { return h.Name == "esx2" && cluster == "c" }
	c, _ := s.start(out, o)
	more(t, out, "esx2")
	if n := len(c.Status().Hosts); n != 1 || out.of("esx1") > 0 {
		t.Errorf("%d hosts, %d ticks of another", n, out.of("esx1"))
	}
}
