package journal_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.org/homenode/change/fix"
	"example.org/homenode/change/fix/apply"
	"example.org/homenode/change/fix/journal"
	"example.org/homenode/internal/filelock"
	"example.org/homenode/internal/golden"
	"example.org/homenode/numa"
)

var (
	at   = time.Date(2026, 11, 22, 22, 0, 0, 0, time.UTC)
	now  = func() time.Time { return at }
	plan = planOf(vm(hotAdd))

	hotAdd = numa.Edit{Kind: numa.EditCPUHotAdd, From: numa.Is("true"), To: numa.Is("false")}
)

// planOf returns a plan whose ID fits, as a forger makes it.
func planOf(changes ...fix.Change) *fix.Plan {
	p := &fix.Plan{Format: fix.Format, Version: fix.Version, Source: "https://vc/", Changes: changes, Left: []fix.Left{}, Asked: fix.Asked{AtOnce: 1}}
	for i := range p.Changes {
		if c := &p.Changes[i]; c.VM != nil && c.Basis == nil {
			c.Basis = []fix.Known{{Name: "vcpus", Value: "32"}}
		}
		p.Changes[i].Batch = max(p.Changes[i].Batch, 1)
	}
	if err := p.Identify(); err != nil {
		panic(err)
	}
	return p
}

func create(t *testing.T) *journal.Journal {
	t.Helper()
	j, err := journal.Create(t.TempDir(), plan, now)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []journal.Line{
		{Step: journal.StepPlan, Plan: plan.ID, Whole: plan},
		{Step: journal.StepIntent, Plan: plan.ID, Target: "vm-1", Do: "reconfigure", Edits: []numa.Edit{hotAdd}},
		{Step: journal.StepDone, Plan: plan.ID, Target: "vm-1", Do: "reconfigure"},
	} {
		if err := j.Append(l); err != nil {
			t.Fatal(err)
		}
	}
	return j
}

// TestOthersMayWrite opens no journal that others may write.
func TestOthersMayWrite(t *testing.T) {
	if os.PathSeparator != '/' {
		t.Skip("no owners of the Unix kind")
	}
	j := create(t)
	if err := errors.Join(j.Close(), os.Chmod(j.Path, 0o620)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := journal.Open(j.Path, now); err == nil || !strings.Contains(err.Error(), "others may write it") {
		t.Errorf("%v", err)
	}
}

// TestLinks refuses a journal that a process has open under each of its names: two that write it would break it.
func TestLinks(t *testing.T) {
	j := create(t)
	for _, link := range []func(from, to string) error{os.Symlink, os.Link} {
		name := filepath.Join(t.TempDir(), "other.journal")
		if err := link(j.Path, name); err != nil {
			t.Skip(err)
		}
		if _, _, err := journal.Open(name, now); !errors.Is(err, filelock.ErrTaken) {
			t.Errorf("opened under another name: %v", err)
		}
		if _, err := journal.Hold(name); !errors.Is(err, filelock.ErrTaken) {
			t.Errorf("held under another name: %v", err)
		}
		if target, err := os.Readlink(name); err == nil && apply.Name(name) != apply.Name(target) {
			t.Errorf("the run is called %q under one name and %q under another", apply.Name(target), apply.Name(name))
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	release, err := journal.Hold(j.Path)
	if err != nil {
		t.Fatal(err)
	}
	release()
}

func TestJournal(t *testing.T) {
	j := create(t)
	if filepath.Base(j.Path) != plan.ID+"-20261122T220000Z.journal" {
		t.Errorf("path %s", j.Path)
	}
	if _, _, err := journal.Open(j.Path, now); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("a journal that is in use: %v", err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Stat(j.Path); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	if _, err := os.Stat(j.Path + ".reserve"); err == nil {
		t.Error("the reserve stays")
	}
	data, _ := os.ReadFile(j.Path)
	for cut := range len(data) {
		if cut == 0 {
			continue
		}
		torn := filepath.Join(t.TempDir(), "torn.journal")
		golden.Write(t, torn, data[:len(data)-cut])
		want := bytes.Count(data[:len(data)-cut], []byte("\n"))
		k, lines, err := journal.Open(torn, now)
		if want == 0 {
			if err == nil {
				t.Fatalf("cut by %d: opened", cut)
			}
			continue
		}
		if err != nil || len(lines) != want {
			t.Fatalf("cut by %d: %d lines, %v; want %d", cut, len(lines), err, want)
		}
		if err := k.Append(journal.Line{Step: journal.StepEnd, Plan: plan.ID, Target: "vm-1", State: "done"}); err != nil {
			t.Fatal(err)
		}
		if err := k.Close(); err != nil {
			t.Fatal(err)
		}
		if again, err := journal.Read(torn); err != nil || len(again) != want+1 {
			t.Fatalf("cut by %d: then %d lines, %v", cut, len(again), err)
		}
	}
}

// TestChanged changes every byte of a journal, and takes every line out: it is found, or it changed nothing.
func TestChanged(t *testing.T) {
	j := create(t)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	data, _ := os.ReadFile(j.Path)
	path := filepath.Join(t.TempDir(), "x.journal")
	lines := bytes.SplitAfter(data, []byte("\n"))
	for i := range len(data) - 1 { // a last line without its end counts as not written
		changed := bytes.Clone(data)
		changed[i] ^= 1
		golden.Write(t, path, changed)
		if _, err := journal.Read(path); err == nil {
			t.Fatalf("byte %d was changed and not found", i)
		}
	}
	golden.Write(t, path, append(bytes.Clone(lines[0]), lines[2]...))
	if _, err := journal.Read(path); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("without its second line: %v", err)
	}
}

func BenchmarkAppend(b *testing.B) {
	j, err := journal.Create(b.TempDir(), plan, now)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := j.Append(journal.Line{Step: journal.StepIntent, Target: "vm-1", Do: "reconfigure"}); err != nil {
			b.Fatal(err)
		}
	}
}

// TestTooLong: a line that is longer than the longest plan is refused before it is decoded, which takes ten times its memory.
func TestTooLong(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.journal")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, fix.MaxPlan+2<<20); err != nil {
		t.Fatal(err)
	}
	if _, err := journal.Read(path); err == nil || !strings.Contains(err.Error(), "line 1") || !strings.Contains(err.Error(), "longer than 65 MB") {
		t.Errorf("found %v", err)
	}
}
