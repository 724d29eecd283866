package testdeps

import (
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Prometheus runs a real Prometheus in a folder with a configuration and further flags until the test ends, and
// returns its URL. Paths in the configuration follow its rules.
func Prometheus(t testing.TB, dir, config string, flags ...string) string {
	t.Helper()
	program := Program(t, "prometheus")
	file := filepath.Join(t.TempDir(), "prometheus.yml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	addr := FreeAddress(t)
	Start(t, "http://"+addr+"/-/ready", exec.Command(program, append([]string{"--config.file=" + file,
		"--storage.tsdb.path=" + dir, "--storage.tsdb.retention.time=100y", "--web.listen-address=" + addr}, flags...)...))
	return "http://" + addr
}

// FreeAddress returns a loopback address that is free at the moment.
func FreeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// Start starts a server, waits until it answers 200 at the URL, and ends it when the test ends or stop is called.
func Start(t testing.TB, ready string, cmd *exec.Cmd) (stop func()) {
	t.Helper()
	var out strings.Builder
	cmd.Stderr = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := false
	stop = func() {
		if !ended {
			ended = true
			done := make(chan struct{})
			go func() { _ = cmd.Wait(); close(done) }() // it was stopped
			_ = cmd.Process.Signal(os.Interrupt)
			select {
			case <-done:
			case <-time.After(10 * time.Second):
				_ = cmd.Process.Kill()
				<-done
			}
		}
	}
	t.Cleanup(stop)
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		res, err := http.Get(ready)
		if err == nil {
			_ = res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return stop
			}
		}
		if time.Now().After(end) {
			stop()
			t.Fatalf("%s does not start: %s", cmd.Path, out.String())
		}
	}
}
