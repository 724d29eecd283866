package collect_test

import (
	"bytes"
	"context"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/serve/board"
	"example.org/homenode/serve/collect"
	"example.org/homenode/source/vsphere"
)

// behind lets the site be reached through a server that may answer a request by itself, by reporting true.
func (s *site) behind(intercept func(w http.ResponseWriter, body string) bool) {
	to := *s.vc.URL
	forward := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: to.Scheme, Host: to.Host}) }}
	forward.ErrorLog = log.New(io.Discard, "", 0)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || intercept(w, string(body)) {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		forward.ServeHTTP(w, r)
	}))
	s.t.Cleanup(server.Close)
	at, err := url.Parse(server.URL)
	if err != nil {
		s.t.Fatal(err)
	}
	at.User, at.Path = to.User, to.Path
	s.vc.URL = at
}

// fault answers with a fault of the API.
func fault(w http.ResponseWriter, kind, inner string) {
	w.Header().Set("Content-Type", "text/xml")
	w.WriteHeader(http.StatusInternalServerError)
	_, _ = io.WriteString(w, `<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><soapenv:Body>`+
		`<soapenv:Fault><faultcode>ServerFaultCode</faultcode><faultstring>`+kind+`</faultstring><detail><`+kind+`Fault xmlns="urn:vim25" xsi:type="`+kind+`">`+inner+`</`+kind+`Fault></detail></soapenv:Fault>`+
		`</soapenv:Body></soapenv:Envelope>`)
}

// seldom lets the inventory be read once, unless something asks for it.
func seldom() collect.Options {
	o := fast
	o.Inventory = time.Hour
	return o
}

// one returns the VM of the inventory as a board shows it.
func one(b *board.Board) numa.VM {
	if f, _ := b.Inventory("vc"); f != nil {
		return f.VMs[0]
	}
	return numa.VM{}
}

// TestUpdates moves a VM, switches it off, and lets a host go and come back: a board shows it before the next inventory.
func TestUpdates(t *testing.T) {
	s := newSite(t)
	b := board.New(rules.Options{}, time.Hour)
	o := seldom()
	o.Every = time.Hour // after the first one there is no turn but for a reason
	c, stop := s.start(b, o)
	place := func(host string, power numa.PowerState) {
		t.Helper()
		if err := s.vc.Place("one", host, power); err != nil {
			t.Fatal(err)
		}
		until(t, "VM on "+host, func() bool { v := one(b); return v.Host == host && v.Power.Value == power })
	}
	until(t, "inventory", func() bool { return one(b).Host == "esx1" })
	place("esx3", numa.PoweredOn)
	place("esx3", numa.PoweredOff)
	place("esx1", numa.PoweredOn)

	status := func() collect.HostStatus { return c.Status().Hosts[1] }
	until(t, "tick", func() bool { return status().Ticks == 1 })
	s.vc.Connect("esx2", "notResponding", false)
	until(t, "words", func() bool { return strings.Contains(status().Failing, "does not respond to vCenter") })
	if h := status(); h.Reason != "away" || h.Since.IsZero() {
		t.Errorf("status %+v", h)
	}
	if f, _ := b.Inventory("vc"); f.Hosts[1].Connection.Value != "notResponding" {
		t.Errorf("connection %v", f.Hosts[1].Connection)
	}
	s.vc.Connect("esx2", "connected", false)
	until(t, "tick after it came back", func() bool { h := status(); return h.Ticks == 2 && h.Reason == "" })
	s.vc.Connect("esx2", "connected", true)
	until(t, "maintenance", func() bool { f, _ := b.Inventory("vc"); return f.Hosts[1].Maintenance.Value && status().Maintenance })
	s.vc.Connect("esx2", "connected", false)
	until(t, "tick after maintenance", func() bool { return status().Ticks == 3 && !status().Maintenance })
	if st := c.Status(); st.Updates != "" || st.Logins != 1 {
		t.Errorf("status %+v", st)
	}
	stop()
}

// TestUpdatesLost ends the updates in each way there is: the session ends, or the vCenter forgets what it was asked. What
// changed meanwhile is known all the same, and it is not asked without rest.
func TestUpdatesLost(t *testing.T) {
	for _, kind := range []string{"session", "InvalidCollectorVersion", "ManagedObjectNotFound"} {
		t.Run(kind, func(t *testing.T) {
			s := newSite(t)
			var lost, waits, filters atomic.Int32
			s.behind(func(w http.ResponseWriter, body string) bool {
				switch {
				case strings.Contains(body, "<CreateFilter "):
					filters.Add(1)
				case strings.Contains(body, "<WaitForUpdatesEx "):
					if waits.Add(1); lost.Load() == 1 {
						lost.Store(2)
						fault(w, kind, `<obj type="PropertyCollector">x</obj>`)
						return true
					}
				}
				return false
			})
			b := board.New(rules.Options{}, time.Hour)
			out := &inventories{Board: b}
			var live atomic.Pointer[vsphere.Live]
			c := collect.New("vc", func(ctx context.Context) (*vsphere.Live, error) {
				l, err := s.dial(ctx)
				live.Store(l)
				return l, err
			}, out, seldom())
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan struct{})
			go func() { c.Run(ctx); close(done) }()
			defer func() { cancel(); <-done }()
			until(t, "wait", func() bool { return waits.Load() >= 2 })
			if kind == "session" {
				l := live.Load()
				until(t, "new session", func() bool { _ = l.Close(ctx); return c.Status().Logins > 1 })
			} else {
				lost.Store(1)
				until(t, "fault", func() bool { return lost.Load() == 2 })
			}
			until(t, "new filter", func() bool { return filters.Load() >= 2 })
			if kind != "session" { // of which the first updates tell all that changed
				until(t, "inventory", func() bool { return out.n.Load() >= 2 })
			}
			if err := s.vc.Place("one", "esx4", numa.PoweredOn); err != nil {
				t.Fatal(err)
			}
			until(t, "VM on esx4", func() bool { return one(b).Host == "esx4" })
			if st := c.Status(); st.Updates != "" || !st.Up {
				t.Errorf("status %+v", st)
			}
			if filters.Load() > 5 {
				t.Errorf("%d filters", filters.Load())
			}
		})
	}
}

// inventories counts them.
type inventories struct {
	*board.Board
	n atomic.Int32
}

func (i *inventories) Fleet(vcenter string, f *numa.Fleet) {
	i.n.Add(1)
	i.Board.Fleet(vcenter, f)
}

// TestNoUpdates collects from a vCenter that tells no updates: it is said in words, and the inventory is read as without.
func TestNoUpdates(t *testing.T) {
	s := newSite(t)
	var filters atomic.Int32
	s.behind(func(w http.ResponseWriter, body string) bool {
		refused := strings.Contains(body, "<CreateFilter ")
		if refused {
			filters.Add(1)
			fault(w, "NoPermission", `<object type="Folder">group-d1</object><privilegeId>System.View</privilegeId>`)
		}
		return refused
	})
	b := board.New(rules.Options{}, time.Hour)
	out := &inventories{Board: b}
	c, stop := s.start(out, fast)
	until(t, "words", func() bool {
		return c.Status().Updates == "updates: the account lacks the privilege System.View"
	})
	if err := s.vc.Place("one", "esx4", numa.PoweredOn); err != nil {
		t.Fatal(err)
	}
	until(t, "VM on esx4", func() bool { return one(b).Host == "esx4" })
	until(t, "ticks", func() bool { h := c.Status().Hosts; return h[0].Ticks > 2 && h[3].Ticks > 2 })
	stop()
	if f, n := filters.Load(), out.n.Load(); f > n {
		t.Errorf("%d attempts with %d inventories", f, n)
	}
}

// TestHugeAnswer collects from a host that would send 1 GB: it costs itself, and no more than the limit of an answer.
func TestHugeAnswer(t *testing.T) {
	const huge = 1 << 30
	s := newSite(t)
	var sent atomic.Int64 // bytes of one answer, at most
	s.behind(func(w http.ResponseWriter, body string) bool {
		if !strings.Contains(body, "esxtop-esx1<") || !strings.Contains(body, "FetchStats") {
			return false
		}
		_, _ = io.WriteString(w, `<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/"><soapenv:Body><ExecuteSimpleCommandResponse xmlns="urn:vim25"><returnval>`)
		part := bytes.Repeat([]byte("|0123456789abcde"), 1<<12)
		n := int64(0)
		for n < huge {
			k, err := w.Write(part)
			if n += int64(k); err != nil {
				break
			}
		}
		sent.Store(max(n, sent.Load()))
		return true
	})
	out := &sink{}
	o := fast
	o.Timeout = time.Minute
	defer debug.SetGCPercent(debug.SetGCPercent(40)) // as serve does
	var before, m runtime.MemStats
	runtime.ReadMemStats(&before)
	c := collect.New("vc", func(ctx context.Context) (*vsphere.Live, error) {
		return vsphere.Open(ctx, s.vc.URL, vsphere.Options{Insecure: true})
	}, out, o)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { c.Run(ctx); close(done) }()
	defer func() { cancel(); <-done }()
	peak := uint64(0)
	for failed := false; !failed; time.Sleep(5 * time.Millisecond) { // as long as that takes
		runtime.ReadMemStats(&m)
		peak = max(peak, m.HeapInuse)
		h := c.Status().Hosts
		failed = len(h) > 0 && h[0].Failed > 0
	}
	if h := c.Status().Hosts[0]; !strings.Contains(h.Failing, "found more than 64 MB in one answer") || h.Ticks > 0 {
		t.Errorf("status %+v", h)
	}
	more(t, out, "esx2", "esx3", "esx4")
	until(t, "end of an answer", func() bool { return sent.Load() > 0 })
	if n := sent.Load(); n > 96<<20 { // 64 MB, and what connections hold
		t.Errorf("%d MB of an answer were taken", n>>20)
	}
	if more := peak - min(peak, before.HeapInuse); more > huge/2 { // a buffer that is filled and its larger successor, and what was not collected yet of one before

		t.Errorf("an answer took %d MB of memory", more>>20)
	}
	t.Logf("%d MB of an answer of 1 GB were sent; %d MB of memory at most, %d MB before", sent.Load()>>20, peak>>20, before.HeapInuse>>20)
}
