package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"homenode/capture/export/esxtop"
	"homenode/numa"
	"homenode/source/demo"
)

// TestArchive reads an archive as one machine does, then as a queue, two workers and a
// capture do of which one worker is killed. The reports are the same.
func TestArchive(t *testing.T) {
	if testing.Short() {
		t.Skip("starts and kills processes")
	}
	root := filepath.Join(t.TempDir(), "archive")
	writeNight(t, root)
	dir := t.TempDir()
	token := filepath.Join(dir, "token")
	if err := os.WriteFile(token, []byte("s3cret-t0ken\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	report := func(args ...string) string {
		var out, errs bytes.Buffer
		code := run(t.Context(), append([]string{"capture", "--archive", root, "--format", "json"}, args...), nil, &out, &errs)
		if code != exitFindings {
			t.Fatalf("exit %d, want %d: %s", code, exitFindings, errs.String())
		}
		return out.String()
	}
	want := report()

	line := process(t, "queue", "--listen", "127.0.0.1:0", "--store", filepath.Join(dir, "store"), "--token-file", token).first
	_, rest, _ := strings.Cut(line, "homenode: queue on ")
	url, _, found := strings.Cut(rest, ",")
	if !found {
		t.Fatalf("the queue said %q, want its address", line)
	}
	access := []string{"--queue", url, "--token-file", token}
	work := append([]string{"work", "--root", root, "--at-once", "1"}, access...)
	killed := process(t, work...)
	process(t, work...)
	done := make(chan string)
	go func() {
		defer close(done)
		done <- report(access...)
	}()
	killed.end()
	if got := <-done; got != want {
		t.Errorf("the report by a queue differs from that of one machine:\n%.500s\nwant\n%.500s", got, want)
	}
}

// writeNight writes the demo's night as an archive.
func writeNight(t *testing.T, root string) {
	t.Helper()
	night, err := demo.Capture()
	if err != nil {
		t.Fatal(err)
	}
	var name string
	var b bytes.Buffer
	w := esxtop.NewWriter(&b)
	save := func() {
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Join(root, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		b.Reset()
		w = esxtop.NewWriter(&b)
	}
	if err := night.Ticks(func(tick *numa.Tick) error {
		now := fmt.Sprintf("%s/%s.csv", tick.Host, tick.Time.Format("15"))
		if name != "" && now != name {
			save()
		}
		name = now
		return w.Add(tick)
	}); err != nil {
		t.Fatal(err)
	}
	save()
}

// A running is this program as a process of its own.
type running struct {
	cmd   *exec.Cmd
	first string // line of its output, for a queue
}

// process starts the program and ends it with the test. It waits for what a queue says
// first.
func process(t *testing.T, args ...string) *running {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &running{cmd: &exec.Cmd{Path: self, Args: append([]string{"homenode"}, args...), Env: os.Environ(), Stderr: os.Stderr}}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.end)
	if args[0] == "queue" {
		if p.first, err = bufio.NewReader(out).ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// end ends it as kill -9 does.
func (p *running) end() {
	if p.cmd.ProcessState == nil {
		_ = p.cmd.Process.Kill() // it may have ended by itself
		_ = p.cmd.Wait()         // killed is not a status that counts
	}
}
