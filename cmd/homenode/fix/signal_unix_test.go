//go:build unix

package fix_test

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.org/homenode/change/fix"
	"example.org/homenode/internal/golden"
	"example.org/homenode/source/vsphere/lab"
)

// TestSignals ends a run that waits for a guest with two signals: the first one names the VM, the longest time and the effect of a second one;
// the second one ends it with the command that goes on, which brings all VMs back.
func TestSignals(t *testing.T) {
	s := serveFleet(t, small(t))
	before, p := s.settings(), s.plan(fix.Options{Now: now})
	folder := t.TempDir()
	s.vc.SetGuest("", lab.Guest{Shutdown: time.Hour})
	run := s.prepare(folder, "--plan", save(t, p), "--apply", "--yes", fmt.Sprint(len(p.Changes)), "--power", "guest")
	config := folder + "/homenode.yaml"
	golden.Write(t, config, fmt.Appendf(nil, "fix: {journal: %q, shutdown: 10 min}\n", folder))
	reads, writes, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	run.Stdout, run.Stderr = writes, writes
	run.start(t)
	writes.Close()
	var said strings.Builder
	until := func(text string) {
		t.Helper()
		for b := make([]byte, 4096); !strings.Contains(said.String(), text); {
			n, err := reads.Read(b)
			if said.Write(b[:n]); err != nil {
				t.Fatalf("%q was not said:\n%s", text, said.String())
			}
		}
	}
	for _, text := range []string{"shutting the guest down", "No further VM is begun. Those under way end first, within 22m0s", "(shutting the guest down)", "Ctrl-C again ends at once", "ended at once", "--resume "} {
		if strings.HasPrefix(text, "No further") || text == "ended at once" {
			if err := run.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
		}
		until(text)
	}
	if code := run.code(); code != 2 {
		t.Errorf("exit %d:\n%s", code, said.String())
	}
	s.vc.SetGuest("", lab.Guest{})
	s.prepare(folder) // the configuration with the short wait
	s.begin(folder, "--resume", journalIn(folder), "--yes", confirmed(t, journalIn(folder)), "--power", "hard").code()
	for key, v := range s.settings() {
		if strings.HasSuffix(key, " power") && v != before[key] {
			t.Errorf("%s is %s", key, v)
		}
	}
	if left := s.plan(fix.Options{Now: now}); len(left.Changes) > 0 || s.holder() != "" {
		t.Errorf("%d changes are left, the lock of %q", len(left.Changes), s.holder())
	}
}
