package ticks

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/homenode/internal/golden"
	"example.org/homenode/numa"
)

// files writes a folder; times go up by a minute in the order of the names given.
func files(t testing.TB, list ...string) string {
	t.Helper()
	dir := t.TempDir()
	at := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	for i := 0; i < len(list); i += 2 {
		p := filepath.Join(dir, filepath.FromSlash(list[i]))
		if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o755), os.WriteFile(p, []byte(list[i+1]), 0o644), os.Chtimes(p, at, at)); err != nil {
			t.Fatal(err)
		}
		at = at.Add(time.Minute)
	}
	return dir
}

// tarOf packs the same into a .tgz.
func tarOf(t testing.TB, list ...string) string {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for i := 0; i < len(list); i += 2 {
		h := &tar.Header{Name: list[i], Mode: 0o644, Size: int64(len(list[i+1])), Typeflag: tar.TypeReg}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(list[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	p := filepath.Join(t.TempDir(), "in.tgz")
	golden.Write(t, p, []byte(packed(t, b.String())))
	return p
}

// walk returns what is visited, without the name of the folder around it.
func walk(dir string, opt Options) (events []string, passed int, err error) {
	cut := strings.NewReplacer(filepath.ToSlash(dir)+"/", "", dir+string(filepath.Separator), "", dir, "IN")
	add := func(format string, args ...any) { events = append(events, cut.Replace(fmt.Sprintf(format, args...))) }
	passed, err = Walk(context.Background(), dir, opt, Visit{
		Open: func(name, format string) error { add("open %s: %s", name, format); return nil },
		Tick: func(t *numa.Tick) error { add("%s %s +%v", t.Host, t.Time.Format("15:04:05"), t.Since); return nil },
		Done: func(f *File, err error) error {
			add("done %s: %d of %q, %v", f.Name, f.Ticks, f.Hosts, err)
			for _, w := range f.Warnings {
				add("  %s", w)
			}
			return nil
		},
	})
	if err != nil {
		err = errors.New(cut.Replace(err.Error()))
	}
	return events, passed, err
}

func check(t *testing.T, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf(" got %s\nwant %s", strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
}

func TestWalk(t *testing.T) {
	list := []string{
		"b/esx01.csv", batch,
		"b/esx02.csv.gz", packed(t, batch),
		"b/readme.md", "# what this is\n",
		"f/esx05-fetchstats-003.dsv", answer(10),
		"f/esx05-fetchstats-001.dsv", answer(5),
		"f/esx05-fetchstats-002.dsv.gz", packed(t, answer(0)),
		"f/counterinfo.dsv", info,
		"f/esx06_fetchstats.dsv", info + answer(3),
		"s/clients-20261121T2031.txt", clientsHead,
		"s/pnode-20261121T2030.txt", pnodeHead + "0 1 1 1 0 20 4 4096 65536\n",
		"s/clients-20261121T2030.txt", clientsHead,
		"s/loop.txt", "Sat Nov 21 20:30:00 UTC 2026\n" + clientsHead,
	}
	for _, in := range []struct{ name, path string }{{"folder", files(t, list...)}, {"tgz", tarOf(t, list...)}} {
		t.Run(in.name, func(t *testing.T) {
			got, passed, err := walk(in.path, Options{})
			if err != nil || passed != 1 {
				t.Errorf("%d passed, %v", passed, err)
			}
			check(t, got, []string{
				"open b/esx01.csv: esxtop batch CSV", "esx01 20:30:00 +0s", "esx01 20:30:05 +5s", `done b/esx01.csv: 2 of ["esx01"], <nil>`,
				"open b/esx02.csv.gz: esxtop batch CSV", "esx01 20:30:00 +0s", "esx01 20:30:05 +5s", `done b/esx02.csv.gz: 2 of ["esx01"], <nil>`,
				"open f/esx05-fetchstats-001.dsv and 2 more: esxtop FetchStats", "esx05 20:30:00 +0s", "esx05 20:30:05 +5s", "esx05 20:30:10 +5s",
				`done f/esx05-fetchstats-001.dsv and 2 more: 3 of ["esx05"], <nil>`,
				"  f/esx05-fetchstats-001.dsv and 2 more: FetchStats does not name its host: it is called esx05 after the file",
				"open f/esx06_fetchstats.dsv: esxtop FetchStats", "esx06 20:30:03 +0s", `done f/esx06_fetchstats.dsv: 1 of ["esx06"], <nil>`,
				"  f/esx06_fetchstats.dsv: FetchStats does not name its host: it is called esx06 after the file",
				"open s/clients-20261121T2030.txt and 2 more: output of host commands", "s 20:30:00 +0s", "s 20:31:00 +1m0s",
				`done s/clients-20261121T2030.txt and 2 more: 2 of ["s"], <nil>`,
				"  s/clients-20261121T2030.txt:1: the output does not name its host: it is called s after the file",
				"  s/pnode-20261121T2030.txt:1: the time is that in the name of the file, read as UTC",
				"open s/loop.txt: output of host commands", "loop 20:30:00 +0s", `done s/loop.txt: 1 of ["loop"], <nil>`,
				"  s/loop.txt:2: the output does not name its host: it is called loop after the file",
			})
		})
	}
}

// TestWritten times files by when they were written, and says so.
func TestWritten(t *testing.T) {
	dir := files(t, "b.txt", clientsHead, "a.txt", clientsHead)
	got, _, err := walk(dir, Options{Host: "h"})
	if err != nil {
		t.Error(err)
	}
	check(t, got, []string{"open b.txt and 1 more: output of host commands", "h 10:00:00 +0s", "h 10:01:00 +1m0s", `done b.txt and 1 more: 2 of ["h"], <nil>`,
		"  b.txt:1: the time is when the file was last written; a copy may have changed it"})
}

// TestMemstatsFiles orders files by the date that memstats prints.
func TestMemstatsFiles(t *testing.T) {
	const form = "VIRTUAL MACHINE STATS: Fri Apr 14 05:4%d:52 2017\n name memSize\n vm.1 2048\n"
	got, _, err := walk(files(t, "m/b.txt", fmt.Sprintf(form, 7), "m/a.txt", fmt.Sprintf(form, 8), "m/c.txt", fmt.Sprintf(form, 6)), Options{Host: "h"})
	if err != nil {
		t.Error(err)
	}
	check(t, got, []string{"open m/c.txt and 2 more: output of host commands", "h 05:46:52 +0s", "h 05:47:52 +1m0s", "h 05:48:52 +1m0s", `done m/c.txt and 2 more: 3 of ["h"], <nil>`})
}

func TestWalkErrors(t *testing.T) {
	bundle := "esx-host1-2026-11-21--20.30-2101/"
	for _, tt := range []struct {
		name string
		path string
		want []string
		err  string
	}{
		{"nothing that is read", files(t, "a", "x", "b", "y"), nil, "IN: unknown format: found nothing in it that is read, want " + Want},
		{"a file of no format", filepath.Join(files(t, "a", "x\n"), "a"), nil, `IN: unknown format: found "x", want ` + Want},
		{"a bundle", files(t, bundle+"reconstruct.sh", "#!/bin/sh\n", bundle+"vsi/1", "\x00\x01"), nil,
			"IN: found a vm-support bundle, and no capture that can be read in it: the snapshots of vm-support -p are in a form that only ESXi reads; unpack the bundle on an ESXi host, " +
				"run its reconstruct.sh, then esxtop -b -a -R FOLDER > capture.csv, and read capture.csv"},
		{"a packed bundle", tarOf(t, bundle+"commands/vsi_traverse_-s.txt", "/a\n"), nil,
			"IN: found a vm-support bundle, and no capture that can be read in it: the snapshots of vm-support -p are in a form that only ESXi reads; unpack the bundle on an ESXi host, " +
				"run its reconstruct.sh, then esxtop -b -a -R FOLDER > capture.csv, and read capture.csv"},
		{"one bad of two", files(t, "a.csv", "(PDH-CSV 4.0)\n", "b.csv", batch),
			[]string{"open a.csv: esxtop batch CSV", `done a.csv: 0 of [], a.csv:1:1: SAID`, "open b.csv: esxtop batch CSV", "esx01 20:30:00 +0s", "esx01 20:30:05 +5s", `done b.csv: 2 of ["esx01"], <nil>`}, ""},
		{"a file that does not unpack", files(t, "a.csv.gz", "\x1f\x8bx", "b.csv", batch),
			[]string{"done a.csv.gz: 0 of [], a.csv.gz: not a gzip file: unexpected EOF", "open b.csv: esxtop batch CSV", "esx01 20:30:00 +0s", "esx01 20:30:05 +5s", `done b.csv: 2 of ["esx01"], <nil>`}, ""},
		{"answers without CounterInfo", files(t, "d/fetchstats-1.dsv", answer(0), "d/fetchstats-2.dsv", answer(5)),
			[]string{"open d/fetchstats-1.dsv and 1 more: esxtop FetchStats", "done d/fetchstats-1.dsv and 1 more: 0 of [], d/fetchstats-1.dsv:1: " + noInfo,
				"  d/fetchstats-1.dsv and 1 more: FetchStats does not name its host: it is called d after the file",
				"  left out, or in part: d/fetchstats-2.dsv:1: " + noInfo}, ""},
		{"one damaged answer", files(t, "d/fetchstats-1.dsv", info+answer(0), "d/fetchstats-2.dsv.gz", packed(t, answer(5))[:60], "d/fetchstats-3.dsv", answer(9)),
			[]string{"open d/fetchstats-1.dsv and 2 more: esxtop FetchStats", "d 20:30:00 +0s", "d 20:30:09 +9s", `done d/fetchstats-1.dsv and 2 more: 2 of ["d"], read d/fetchstats-2.dsv.gz: line 4: unexpected EOF`,
				"  d/fetchstats-1.dsv and 2 more: FetchStats does not name its host: it is called d after the file"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, _, err := walk(tt.path, Options{})
			if said(err) != tt.err {
				t.Errorf("got  %v\nwant %s", err, tt.err)
			}
			for i := range got {
				if j := strings.Index(got[i], "a.csv:1:1: "); j > 0 {
					got[i] = got[i][:j] + "a.csv:1:1: SAID" // the words are those of the reader
				}
			}
			check(t, got, tt.want)
		})
	}
	stop := errors.New("stop")
	dir := files(t, "a.csv", batch, "b.csv", batch)
	for name, v := range map[string]Visit{
		"open": {Open: func(string, string) error { return stop }, Tick: func(*numa.Tick) error { return nil }},
		"tick": {Tick: func(*numa.Tick) error { return stop }, Done: func(*File, error) error { return nil }},
		"done": {Tick: func(*numa.Tick) error { return nil }, Done: func(*File, error) error { return stop }},
	} {
		if _, err := Walk(context.Background(), dir, Options{}, v); err != stop {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Screens of two hosts that do not name them are not called one host.
func TestScreensOfSeveralHosts(t *testing.T) {
	screen := func(clock, nodes string) string {
		return clock + " up 3 days 5:58, 806 worlds, 1 VMs, 10 vCPUs; MEM overcommit avg: 0.00, 0.00, 0.00\n" +
			"PMEM  /MB: 131072   total: 2048     vmk,4096 other, 100000 free\nNUMA  /MB: " + nodes + "\n" +
			"     GID NAME               MEMSZ    GRANT NHN  NMIG   NRMEM   NLMEM N%L\n    1001 db01            65536.00 65536.00   0     0    0.00 4096.00 100\n"
	}
	dir := files(t, "screens/a-20261121.txt", screen("1:00:00pm", "65536 (100), 65536 (100)"), "screens/b-20261121.txt", screen("1:00:30pm", "32768 (100), 32768 (100)"),
		"screens/c-20261121.txt", screen("1:01:00pm", "65536 (90), 65536 (90)"))
	var hosts, told []string
	if _, err := Walk(t.Context(), dir, Options{}, Visit{
		Tick: func(tick *numa.Tick) error { hosts = append(hosts, tick.Host); return nil },
		Done: func(f *File, err error) error { told = f.Warnings; return err },
	}); err != nil {
		t.Fatal(err)
	}
	check(t, hosts, []string{"screens", "b-20261121", "screens"})
	want := ": the nodes are not those of the outputs before, which do not name their host either: this one is called b-20261121"
	if !slices.ContainsFunc(told, func(text string) bool { return strings.HasSuffix(text, want) }) {
		t.Errorf("warnings %q, want one that ends with %q", told, want)
	}
}
