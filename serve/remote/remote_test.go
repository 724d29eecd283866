package remote_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/klauspost/compress/s2"

	"example.org/homenode/capture/store"
	"example.org/homenode/internal/golden"
	"example.org/homenode/internal/testdeps"
	"example.org/homenode/serve/post"
	"example.org/homenode/serve/remote"
)

// A filled is a store that ticks come into.
type filled struct {
	*store.Store
	vms   [2][]*store.Series // of two hosts
	own   *store.Series
	count int
}

const perTick = 50

func fill(t *testing.T) *filled {
	t.Helper()
	s, err := store.Open(t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	f := &filled{Store: s}
	for h := range f.vms {
		for i := range perTick {
			f.vms[h] = append(f.vms[h], s.Series("homenode_vm_numa_local_ratio", "vcenter", "vc", "host", fmt.Sprint("esx", h), "vm", fmt.Sprint("vm", i)))
		}
	}
	f.own = s.Series("homenode_vcenter_up", "vcenter", "vc")
	return f
}

// add appends a tick of a host.
func (f *filled) add(t *testing.T, host int, at time.Time) {
	t.Helper()
	var samples []store.Sample
	for i, x := range f.vms[host] {
		samples = append(samples, store.Sample{Series: x, Number: float64(i) + float64(at.Unix()%100)/100})
	}
	if ok, err := f.Append(t.Context(), at, samples); err != nil || !ok {
		t.Fatal(ok, err)
	}
	f.count += len(samples)
}

func (f *filled) addOwn(t *testing.T, at time.Time) {
	t.Helper()
	if _, err := f.Append(t.Context(), at, []store.Sample{{Series: f.own, Number: 1}}); err != nil {
		t.Fatal(err)
	}
	f.count++
}

func sender(t *testing.T, url, dir string, begin time.Time) *remote.Sender {
	t.Helper()
	target := remote.Target{Address: post.Address{URL: url}, Name: "test", Labels: map[string]string{"collector": "a"}}
	if err := target.Check(); err != nil {
		t.Fatal(err)
	}
	s, err := remote.New(target, dir, 3*time.Minute, begin, func(x store.Loss) { t.Error(x) })
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// counted returns how many samples a database has.
func counted(t *testing.T, base string) string {
	t.Helper()
	res, err := http.Get(base + "/api/v1/query?query=" + url.QueryEscape(`sum(count_over_time({collector="a"}[3h]))`))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	var v struct {
		Data struct{ Result []struct{ Value [2]any } }
	}
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatalf("%s: %v", b, err)
	}
	if len(v.Data.Result) == 0 {
		return "nothing"
	}
	return fmt.Sprint(v.Data.Result[0].Value[1])
}

// outage writes for an hour to a database that is down for most of it, while the process that sends starts again, and
// one host is always late.
func outage(t *testing.T, start func() (base string, stop func()), path string) {
	f := fill(t)
	begin := time.Now().Add(-90 * time.Minute).Truncate(time.Second)
	marks := t.TempDir()
	base, stop := start()
	pass := func(now time.Time) error {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		return sender(t, base+path, marks, begin.Add(-5*time.Minute)).Pass(ctx, f.Store, now)
	}
	failed := 0
	for m := range 80 {
		at := begin.Add(time.Duration(m) * time.Minute)
		f.add(t, 0, at)
		f.add(t, 1, at.Add(-90*time.Second)) // its clock is late
		f.addOwn(t, at.Add(20*time.Second))
		if m == 10 {
			stop()
		}
		if m == 70 {
			base, stop = start()
		}
		if m < 10 && m%3 == 0 || m == 11 || m >= 70 && m%3 == 0 || m == 79 {
			if err := pass(at.Add(30 * time.Second)); err != nil {
				failed++
				if m != 11 {
					t.Fatalf("minute %d: %v", m, err)
				}
			}
		}
	}
	if failed != 1 {
		t.Errorf("%d passes failed, want the one while it is down", failed)
	}
	want := fmt.Sprint(f.count)
	got := ""
	for range 50 { // VictoriaMetrics shows what it has after a second
		if got = counted(t, base); got == want {
			break
		}
		time.Sleep(200 * time.Millisecond)
	}
	if got != want {
		t.Errorf("the target has %s samples, want %s", got, want)
	}
	stop()
}

// TestPrometheus loses nothing while a real Prometheus is down for an hour.
func TestPrometheus(t *testing.T) {
	program := testdeps.Program(t, "prometheus")
	dir := t.TempDir()
	config := filepath.Join(t.TempDir(), "prometheus.yml")
	golden.Write(t, config, []byte("{}\n"))
	addr := testdeps.FreeAddress(t)
	outage(t, func() (string, func()) {
		return "http://" + addr, testdeps.Start(t, "http://"+addr+"/-/ready", exec.Command(program, "--config.file="+config, "--storage.tsdb.path="+dir,
			"--web.listen-address="+addr, "--web.enable-remote-write-receiver"))
	}, "/api/v1/write")
}

// TestVictoriaMetrics does the same with another database.
func TestVictoriaMetrics(t *testing.T) {
	testdeps.Proving(t)
	program := testdeps.Program(t, "victoria-metrics")
	dir := t.TempDir()
	addr := testdeps.FreeAddress(t)
	outage(t, func() (string, func()) {
		cmd := exec.Command(program, "-storageDataPath="+dir, "-httpListenAddr="+addr, "-search.latencyOffset=0s")
		return "http://" + addr, testdeps.Start(t, "http://"+addr+"/health", cmd)
	}, "/api/v1/write")
}

// TestRefused leaves out the one sample that a target refuses, and comes back after 503 and 429.
func TestRefused(t *testing.T) {
	f := fill(t)
	begin := time.Now().Add(-10 * time.Minute).Truncate(time.Second)
	for m := range 5 {
		f.add(t, 0, begin.Add(time.Duration(m)*time.Minute))
	}
	var calls, taken atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch n := calls.Add(1); {
		case n == 1:
			http.Error(w, "down", http.StatusServiceUnavailable)
		case n == 2:
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusTooManyRequests)
		default:
			b, _ := io.ReadAll(r.Body)
			// What names vm7 is refused, with all that is beside it.
			if strings.Contains(string(unsnappy(t, b)), "vm7") {
				http.Error(w, "out of order", http.StatusBadRequest)
				return
			}
			taken.Add(1)
		}
	}))
	defer server.Close()
	s := sender(t, server.URL, t.TempDir(), begin.Add(-time.Second))
	if err := s.Pass(t.Context(), f.Store, begin.Add(5*time.Minute)); err != nil {
		t.Fatal(err)
	}
	if x := s.State(); x.Failed != 5 || x.Sent != int64(f.count-5) || x.Until.IsZero() {
		t.Errorf("state %+v", x)
	}
	if err := s.Pass(t.Context(), f.Store, begin.Add(6*time.Minute)); err != nil {
		t.Fatal(err)
	}
	if x := s.State(); x.Sent != int64(f.count-5) {
		t.Errorf("sent again: %+v", x)
	}
}

// TestMarks says of a target without marks that it counts as new, and from when on it gets samples; of one with marks it does not.
func TestMarks(t *testing.T) {
	f := fill(t)
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	dir, begin := t.TempDir(), time.Now().Add(-time.Hour).Truncate(time.Second)
	f.add(t, 0, begin.Add(time.Minute))
	file := filepath.Join(dir, "remote-test.json")
	for i, step := range []struct {
		damage func() error
		fresh  bool
	}{
		{func() error { return nil }, true},
		{func() error { return nil }, false},
		{func() error { return os.Remove(file) }, true},
		{func() error { return errors.Join(os.Remove(file), os.Mkdir(file, 0o700)) }, true},
		{func() error { return os.WriteFile(file, []byte("{}"), 0o600) }, true},
	} {
		if err := step.damage(); err != nil {
			t.Fatal(err)
		}
		target, lost := remote.Target{Address: post.Address{URL: server.URL}, Name: "test"}, 0
		if err := target.Check(); err != nil {
			t.Fatal(err)
		}
		s, err := remote.New(target, dir, time.Minute, begin, func(store.Loss) { lost++ })
		if err != nil {
			t.Fatal(err)
		}
		if x := s.State(); x.Begin.Equal(begin) != step.fresh || lost > 0 != (i >= 3) {
			t.Errorf("step %d: %d lost, %+v", i, lost, x)
		}
		if err := s.Pass(t.Context(), f.Store, begin.Add(2*time.Minute)); err != nil {
			t.Fatal(err)
		}
	}
}

func unsnappy(t *testing.T, b []byte) []byte {
	t.Helper()
	plain, err := s2.Decode(nil, b)
	if err != nil {
		t.Error(err)
	}
	return plain
}
