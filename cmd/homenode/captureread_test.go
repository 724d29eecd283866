package main

import (
	"bytes"
	"context"
	"example.org/homenode/internal/golden"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// captureOf returns a batch file of a host with these rows, 5 s apart.
func captureOf(host, first string, rows int) string {
	start, err := time.Parse("01/02/2006 15:04:05", first)
	if err != nil {
		panic(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, `"(PDH-CSV 4.0) (UTC)(0)","\\%[1]s\Group Cpu(7:db01)\%% VmWait","\\%[1]s\Group Memory(7:db01)\Numa Local Memory MBytes","\\%[1]s\Group Memory(7:db01)\Numa Remote Memory MBytes",`+"\n", host)
	for i := range rows {
		fmt.Fprintf(&b, `"%s","90.00","4096.00","0.00",`+"\n", start.Add(time.Duration(i)*5*time.Second).Format("01/02/2006 15:04:05"))
	}
	return b.String()
}

// filesBelow returns the paths of all files below dir.
func filesBelow(t *testing.T, dir string) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			paths = append(paths, filepath.ToSlash(strings.TrimPrefix(p, dir)))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// cancelled gives a text, ends a context, and then more of it.
type cancelled struct {
	first, rest io.Reader
	cancel      func()
}

func (c *cancelled) Read(p []byte) (int, error) {
	n, err := c.first.Read(p)
	if err != io.EOF {
		return n, err
	}
	c.cancel()
	return c.rest.Read(p)
}

// What Ctrl-C ends leaves no unfinished files, and ends although nothing more can be read.
func TestCaptureStopped(t *testing.T) {
	text := captureOf("esx01", "11/21/2026 10:00:00", 300_000)
	half := len(text) / 2
	waits, never := io.Pipe() // is never written to
	defer never.Close()
	for name, rest := range map[string]io.Reader{"with more to read": strings.NewReader(text[half:]), "while it waits": waits} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			ctx, cancel := context.WithCancel(t.Context())
			in := &cancelled{strings.NewReader(text[:half]), rest, cancel}
			var out, errs bytes.Buffer
			code := run(ctx, []string{"capture", "-", "--parquet", filepath.Join(dir, "lake"), "--openmetrics", filepath.Join(dir, "x.om")}, in, &out, &errs)
			if code != exitError || errs.String() != "homenode: stopped\n" || out.Len() > 0 {
				t.Errorf("exit %d, %q, %q; want %d, stopped", code, out.String(), errs.String(), exitError)
			}
			if left := filesBelow(t, dir); left != nil {
				t.Errorf("left are %q", left)
			}
		})
	}
}

// An export that fails leaves no unfinished files of the others.
func TestCaptureExportFails(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.csv")
	host := strings.Repeat("long", 100) // longer than the name of a folder can be
	golden.Write(t, file, []byte(captureOf("esx01", "11/21/2026 10:00:00", 3)+captureOf(host, "11/21/2026 11:00:00", 3)))
	var out, errs bytes.Buffer
	code := run(t.Context(), []string{"capture", file, "--parquet", filepath.Join(dir, "lake"), "--openmetrics", filepath.Join(dir, "x.om")}, nil, &out, &errs)
	if code != exitError || !strings.Contains(errs.String(), "--parquet: host") {
		t.Errorf("exit %d, %q", code, errs.String())
	}
	if left := filesBelow(t, dir); fmt.Sprint(left) != "[/a.csv]" {
		t.Errorf("left are %q", left)
	}
}

// A file of a name that another one had before does not replace what that one wrote; the same
// file does.
func TestParquetOfOneName(t *testing.T) {
	dir := t.TempDir()
	lake := filepath.Join(dir, "lake")
	count := func(args []string, text, stdin string) int {
		t.Helper()
		golden.Write(t, filepath.Join(dir, "esxtop.csv"), []byte(text))
		var out, errs bytes.Buffer
		if code := run(t.Context(), append([]string{"capture", "--parquet", lake}, args...), strings.NewReader(stdin), &out, &errs); code != exitClean {
			t.Fatalf("exit %d: %s", code, errs.String())
		}
		return len(filesBelow(t, lake))
	}
	file := []string{filepath.Join(dir, "esxtop.csv")}
	night1, night2 := captureOf("esx01", "11/21/2026 10:00:00", 3), captureOf("esx01", "11/21/2026 11:00:00", 3)
	got := []int{
		count(file, night1, ""), count(file, night2, ""), count(file, night2, ""), count(append(file, "--from", "2026-11-21 11:00:05"), night2, ""),
		count([]string{"-"}, "", night1), count([]string{"-"}, "", night2), count([]string{"-"}, "", night1),
	}
	if want := []int{1, 2, 2, 2, 3, 4, 4}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the lake has %v files, want %v", got, want)
	}
}

// A file beside others that holds no rows is told, and what was wrong with it.
func TestCaptureOfNothing(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a.csv": captureOf("esx01", "11/21/2026 10:00:00", 3), "b.csv": captureOf("esx02", "11/21/2026 10:00:00", 0) + "\"soup\",\"1\",\"2\",\"3\",\n"} {
		golden.Write(t, filepath.Join(dir, name), []byte(text))
	}
	report := func(args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		if code := run(t.Context(), append([]string{"capture"}, args...), nil, &out, &errs); code != exitClean {
			t.Fatalf("exit %d: %s", code, errs.String())
		}
		return strings.ReplaceAll(out.String(), dir+string(filepath.Separator), "")
	}
	got := report(dir)
	for _, want := range []string{`b.csv:2:1: found "\"soup\"", want a time such as 11/21/2026 10:00:00: the row is left out`, "b.csv: holds no ticks"} {
		if !strings.Contains(strings.Join(strings.Fields(got), " "), want) {
			t.Errorf("the report lacks %q:\n%s", want, got)
		}
	}
}

// Rates of a VM whose vCPUs are not counted are sums: beside those of each vCPU they are named.
func TestCaptureWithoutVCPUs(t *testing.T) {
	const ready = `"(PDH-CSV 4.0) (UTC)(0)","\\esx01\Group Cpu(7:db01)\% VmWait","\\esx01\Group Cpu(7:db01)\% Ready"`
	const vcpu = `,"\\esx01\Vcpu(7:db01:44:vmx-vcpu-0:db01)\% Ready"`
	const note = "how many vCPUs 1 VM had is not in the capture: ready, co-stop and used of these are sums over all vCPUs, not of each"
	for _, tt := range []struct {
		name, text string
		want       int
	}{
		{"without", ready + "\n" + `"11/21/2026 10:00:00","1.00","240.00"` + "\n", 1},
		{"with", ready + vcpu + "\n" + `"11/21/2026 10:00:00","1.00","240.00","240.00"` + "\n", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out, errs bytes.Buffer
			if code := run(t.Context(), []string{"capture", "-"}, strings.NewReader(tt.text), &out, &errs); code != exitClean {
				t.Fatalf("exit %d: %s", code, errs.String())
			}
			if got := strings.Count(strings.Join(strings.Fields(out.String()), " "), note); got != tt.want {
				t.Errorf("the note is there %d times, want %d:\n%s", got, tt.want, out.String())
			}
		})
	}
}
