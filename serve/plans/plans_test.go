package plans

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"homenode/change/fix"
	"homenode/internal/atomicfile"
	"homenode/numa"
	"homenode/output/answer"
)

// TestStartOnce asks for a plan many times at once: it is begun once, in a folder whose name is a pattern.
func TestStartOnce(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "plans [a")
	begun, gate := atomic.Int32{}, make(chan struct{})
	d, err := New(folder, func(context.Context, string, ...string) ([]*answer.Answer, error) {
		begun.Add(1)
		<-gate
		return nil, errors.New("it broke")
	})
	if err != nil {
		t.Fatal(err)
	}
	p, err := fix.Make(&numa.Fleet{}, fix.Options{Now: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Write(filepath.Join(folder, p.ID+".plan.json"), p.Write); err != nil {
		t.Fatal(err)
	}
	all, err := d.List()
	if err != nil || len(all) != 1 {
		t.Fatalf("%d plans, %v", len(all), err)
	}
	request, leaves := context.WithCancel(t.Context())
	var started atomic.Int32
	var w sync.WaitGroup
	for range 20 {
		w.Go(func() {
			switch err := d.Start(request, "vc", p.ID, Apply, Order{}); {
			case err == nil:
				started.Add(1)
			case !errors.Is(err, ErrRunning):
				t.Error(err)
			}
		})
	}
	w.Wait()
	leaves() // the run goes on
	if s, err := d.Show(p.ID); err != nil || !s.Running {
		t.Errorf("running %v, %v", s.Running, err)
	}
	close(gate)
	d.Close()
	if started.Load() != 1 || begun.Load() != 1 {
		t.Errorf("started %d times, begun %d times", started.Load(), begun.Load())
	}
	if err := d.Failed(p.ID); err == nil || err.Error() != "it broke" {
		t.Errorf("how it ended: %v", err)
	}
	// What is refused can be asked again.
	if err := d.Start(t.Context(), "vc", p.ID, "burn", Order{}); err == nil || errors.Is(err, ErrRunning) {
		t.Errorf("nonsense: %v", err)
	}
	if err := os.WriteFile(filepath.Join(folder, p.ID+"-20260101T000000Z.journal"), []byte("broken\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := d.Start(t.Context(), "vc", p.ID, Apply, Order{}); err == nil || errors.Is(err, ErrRunning) {
			t.Errorf("a journal that cannot be read: %v", err)
		}
	}
}
