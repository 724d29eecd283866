package steps

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// TestAll runs every step and looks at its samples; how long they take is not judged.
func TestAll(t *testing.T) {
	dir := t.TempDir()
	for _, s := range All() {
		t.Run(s.Name, func(t *testing.T) {
			samples, err := s.Run(t.Context(), Options{Samples: 60, For: 20 * time.Second, Dir: dir})
			if errors.Is(err, ErrNotHere) {
				t.Skip(err)
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(samples) != 57 || slices.Min(samples) <= 0 {
				t.Errorf("found %d samples from %v ns, want 57 above 0: 60 less a twentieth", len(samples), slices.Min(samples))
			}
			if s.About == "" {
				t.Error("does not say what it does")
			}
		})
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// TestPinned runs the steps with two ends on one processor and on two.
func TestPinned(t *testing.T) {
	for _, s := range All() {
		if !s.Ends {
			continue
		}
		for _, b := range []int{0, 1} {
			_, err := s.Run(t.Context(), Options{A: 0, B: b, Pinned: true, Samples: 40, For: 20 * time.Second})
			if err != nil && b == 0 {
				t.Errorf("%s: %v", s.Name, err)
			}
			if err != nil {
				t.Logf("%s on 0 and %d: %v", s.Name, b, err) // a machine of one processor
			}
		}
	}
}

// TestEnds checks that each step ends soon when its context does, and that no file or thread stays.
func TestEnds(t *testing.T) {
	dir := t.TempDir()
	for _, s := range All() {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
		_, err := s.Run(ctx, Options{Samples: 1 << 30, For: time.Hour, Dir: dir})
		cancel()
		if err != nil && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, ErrNotHere) && ctx.Err() == nil {
			t.Errorf("%s: %v", s.Name, err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
	for _, s := range All() {
		if !s.Disk {
			continue
		}
		if _, err := s.Run(t.Context(), Options{Dir: filepath.Join(dir, "none")}); !errors.Is(err, os.ErrNotExist) && !errors.Is(err, ErrNotHere) {
			t.Errorf("%s in a folder that is not there: %v", s.Name, err)
		}
	}
}
