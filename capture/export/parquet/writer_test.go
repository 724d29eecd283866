package parquet

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"example.org/homenode/internal/golden"
	"example.org/homenode/numa"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// files returns what lies below dir, folders left out, sorted.
func files(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out = append(out, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// read returns the rows of a file as text.
func read(t *testing.T, path string) []string {
	t.Helper()
	rows, err := parquet.ReadFile[row](path)
	if err != nil {
		t.Fatal(err)
	}
	number := func(n *int64) string {
		if n == nil {
			return "-"
		}
		return fmt.Sprint(*n)
	}
	var out []string
	for _, r := range rows {
		out = append(out, fmt.Sprintf("%s %s %s %q %s %s %s=%v %s:%s", time.UnixMilli(r.Time).UTC().Format("01-02T15:04:05.000"), r.Host, r.Kind, r.Entity,
			number(r.GID), number(r.Node), r.Counter, r.Value, r.File, number(r.Line)))
	}
	return out
}

func equal(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// write writes the ticks as the input id and returns the lake's files.
func write(t *testing.T, dir, id string, ticks ...numa.Tick) []string {
	t.Helper()
	w, err := New(dir, id)
	if err != nil {
		t.Fatal(err)
	}
	for i := range ticks {
		if err := w.Add("a.csv", &ticks[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return files(t, dir)
}

func TestRows(t *testing.T) {
	dir := t.TempDir()
	got := write(t, dir, "x",
		numa.Tick{Host: "esx\xff1", Time: noon.Add(11*time.Hour + 59*time.Minute + 59*time.Second + 123456789), Line: 2,
			Has: numa.HasState, State: numa.Soft, Free: 5, // not stated
			Nodes: []numa.NodeTick{{ID: 1, Has: numa.HasFree | numa.HasUtil, Free: 3 * numa.GiB, Util: 0.25}},
			VMs: []numa.VMTick{
				{GID: 0, Name: "a\xc3b", VCPUs: 4, Has: numa.HasHomes | numa.HasMemory | numa.HasMoves, Homes: numa.SetOf(0, 2), Local: 7, Remote: 0, Moves: numa.Moves{All: 2}},
				{GID: -1, Has: numa.HasHomes | numa.HasPercent, Percent: 57, OnNode: []numa.MemoryOnNode{{Node: 0, Guest: 8, Overhead: -1}, {Node: 3, Guest: 0, Overhead: 9}}},
			}},
		numa.Tick{Host: "esx\xff1", Time: noon.Add(12 * time.Hour), Since: 5 * time.Second},
	)
	equal(t, "files", got, []string{"host=esx\uFFFD1/day=2026-11-20/part-x.parquet", "host=esx\uFFFD1/day=2026-11-21/part-x.parquet"})
	equal(t, "first day", read(t, filepath.Join(dir, got[0])), []string{
		`11-20T23:59:59.123 esx` + "\uFFFD" + `1 host "esx` + "\uFFFD" + `1" - - host_memory_state=2 a.csv:2`,
		`11-20T23:59:59.123 esx` + "\uFFFD" + `1 node "1" - 1 node_memory_free_bytes=3.221225472e+09 a.csv:2`,
		`11-20T23:59:59.123 esx` + "\uFFFD" + `1 node "1" - 1 node_cpu_util_ratio=0.25 a.csv:2`,
		`11-20T23:59:59.123 esx` + "\uFFFD" + `1 vm "a` + "\uFFFD" + `b" 0 - vm_vcpus=4 a.csv:2`,
		`11-20T23:59:59.123 esx` + "\uFFFD" + `1 vm "a` + "\uFFFD" + `b" 0 - vm_numa_home_nodes=5 a.csv:2`,
		`11-20T23:59:59.123 esx` + "\uFFFD" + `1 vm "a` + "\uFFFD" + `b" 0 - vm_numa_local_bytes=7 a.csv:2`,
		`11-20T23:59:59.123 esx` + "\uFFFD" + `1 vm "a` + "\uFFFD" + `b" 0 - vm_numa_remote_bytes=0 a.csv:2`,
		`11-20T23:59:59.123 esx` + "\uFFFD" + `1 vm "a` + "\uFFFD" + `b" 0 - vm_numa_migrations=2 a.csv:2`,
		`11-20T23:59:59.123 esx` + "\uFFFD" + `1 vm "" - - vm_numa_home_nodes=0 a.csv:2`,
		`11-20T23:59:59.123 esx` + "\uFFFD" + `1 vm "" - - vm_numa_printed_locality_ratio=0.57 a.csv:2`,
		`11-20T23:59:59.123 esx` + "\uFFFD" + `1 vm "" - 0 vm_node_guest_bytes=8 a.csv:2`,
		`11-20T23:59:59.123 esx` + "\uFFFD" + `1 vm "" - 3 vm_node_guest_bytes=0 a.csv:2`,
		`11-20T23:59:59.123 esx` + "\uFFFD" + `1 vm "" - 3 vm_node_overhead_bytes=9 a.csv:2`,
	})
	equal(t, "second day", read(t, filepath.Join(dir, got[1])), []string{
		`11-21T00:00:00.000 esx` + "\uFFFD" + `1 host "esx` + "\uFFFD" + `1" - - host_interval_seconds=5 a.csv:-`,
	})
}

// one is a tick of a host that states one value.
func one(host string, after time.Duration, free numa.Bytes) numa.Tick {
	return numa.Tick{Host: host, Time: noon.Add(after), Line: 2, Has: numa.HasFree, Free: free}
}

func TestWritingAgain(t *testing.T) {
	dir := t.TempDir()
	// More hosts than files may be open: the first one comes back and goes on in a second file.
	ticks := []numa.Tick{one("a", 0, 1), one("b", 0, 2), one("c", 0, 3), one("d", 0, 4), one("e", 0, 5), one("a", time.Second, 6)}
	first := []string{"host=a/day=2026-11-20/part-x.1.parquet", "host=a/day=2026-11-20/part-x.parquet", "host=b/day=2026-11-20/part-x.parquet",
		"host=c/day=2026-11-20/part-x.parquet", "host=d/day=2026-11-20/part-x.parquet", "host=e/day=2026-11-20/part-x.parquet"}
	equal(t, "files", write(t, dir, "x", ticks...), first)
	equal(t, "the same again", write(t, dir, "x", ticks...), first)
	equal(t, "second file", read(t, filepath.Join(dir, first[0])), []string{`11-20T12:00:01.000 a host "a" - - host_memory_free_bytes=6 a.csv:2`})

	// A killed writer's file goes, another input's files stay.
	folder := filepath.Join(dir, "host=a", "day=2026-11-20")
	for _, name := range []string{".part-x.parquet.1a2b.tmp", ".part-x.1.parquet.3.tmp", ".part-xy.parquet.3.tmp", "part-xy.1.parquet"} {
		golden.Write(t, filepath.Join(folder, name), []byte("?"))
	}
	equal(t, "fewer files than before", write(t, dir, "x", one("a", 0, 7)),
		append([]string{"host=a/day=2026-11-20/.part-xy.parquet.3.tmp", "host=a/day=2026-11-20/part-x.parquet", "host=a/day=2026-11-20/part-xy.1.parquet"}, first[2:]...))
	equal(t, "replaced", read(t, filepath.Join(dir, first[1])), []string{`11-20T12:00:00.000 a host "a" - - host_memory_free_bytes=7 a.csv:2`})
}

// TestLongDay checks that a day of many rows goes on in further files.
func TestLongDay(t *testing.T) {
	dir := t.TempDir()
	w, err := New(dir, "x")
	if err != nil {
		t.Fatal(err)
	}
	w.most = 2 * batch
	for i := range 5 * batch {
		tick := one("a", time.Duration(i)*time.Second, numa.Bytes(i))
		if err := w.Add("a.csv", &tick); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got := files(t, dir)
	equal(t, "files", got, []string{"host=a/day=2026-11-20/part-x.1.parquet", "host=a/day=2026-11-20/part-x.2.parquet", "host=a/day=2026-11-20/part-x.parquet"})
	i := 0
	for _, file := range []string{got[2], got[0], got[1]} {
		rows, err := parquet.ReadFile[row](filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			if r.Value != float64(i) {
				t.Fatalf("%s: value %v, want %d", file, r.Value, i)
			}
			i++
		}
	}
	if i != 5*batch {
		t.Errorf("%d rows, want %d", i, 5*batch)
	}
}

func TestAllOrNothing(t *testing.T) {
	dir := t.TempDir()
	before := write(t, dir, "x", one("a", 0, 1))
	begin := func() *Writer {
		w, err := New(dir, "x")
		if err != nil {
			t.Fatal(err)
		}
		for _, host := range []string{"a", "b", "c", "d", "e"} {
			tick := one(host, 0, 2)
			if err := w.Add("a.csv", &tick); err != nil {
				t.Fatal(err)
			}
		}
		return w
	}
	unchanged := func(what string) {
		t.Helper()
		equal(t, what, files(t, dir), before)
		equal(t, what, read(t, filepath.Join(dir, before[0])), []string{`11-20T12:00:00.000 a host "a" - - host_memory_free_bytes=1 a.csv:2`})
	}

	w := begin()
	if got := files(t, dir); len(got) != 6 {
		t.Fatalf("while writing: %q, want the old file and 5 hidden ones", got)
	}
	w.Abort()
	unchanged("after Abort")
	if err := w.Close(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Close after Abort: %v, want %v", err, os.ErrClosed)
	}
	unchanged("after Abort and Close")

	w = begin()
	early := one("a", 0, 3)
	early.Time = time.Unix(-1, 0)
	want := "tick of host a at 1969-12-31T23:59:59Z: found a time before 1970"
	for range 2 {
		if err := w.Add("a.csv", &early); err == nil || err.Error() != want {
			t.Errorf("Add: %v, want %s", err, want)
		}
	}
	if err := w.Close(); err == nil || err.Error() != want {
		t.Errorf("Close: %v, want %s", err, want)
	}
	unchanged("after an error")

	w = begin()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	w.Abort()
	if got := files(t, dir); len(got) != 5 {
		t.Errorf("after Close and Abort: %q, want 5 files", got)
	}
}

func TestHostFolder(t *testing.T) {
	for _, tt := range []struct{ host, want string }{
		{"esx-01.example_a.com", "host=esx-01.example_a.com"},
		{"", "host=__HIVE_DEFAULT_PARTITION__"},
		{"__HIVE_DEFAULT_PARTITION__", "host=%5F_HIVE_DEFAULT_PARTITION__"},
		{"..", "host=.%2E"},
		{"../../etc", "host=..%2F..%2Fetc"},
		{`c:\a b=c%41*?"<>|`, "host=c%3A%5Ca%20b%3Dc%2541%2A%3F%22%3C%3E%7C"},
		{"a\x00\n\x7f", "host=a%00%0A%7F"},
		{"münchen", "host=münchen"},
	} {
		if got, err := hostFolder(tt.host); got != tt.want || err != nil {
			t.Errorf("hostFolder(%q) = %q, %v; want %q", tt.host, got, err, tt.want)
		}
	}
	got, err := hostFolder(strings.Repeat("/", 84))
	if want := `host "////////////////////////////////////////"…: found a name of 257 bytes as a folder, want at most 255`; err == nil || err.Error() != want {
		t.Errorf("hostFolder of 84 slashes = %q, %v; want %s", got, err, want)
	}
}

func FuzzHostFolder(f *testing.F) {
	for _, host := range oddHosts {
		f.Add(host)
	}
	f.Fuzz(func(t *testing.T, host string) {
		host = text(host)
		got, err := hostFolder(host)
		if err != nil {
			return
		}
		if strings.ContainsAny(got, `/\:*?"<>|`+"\x00") || filepath.Base(got) != got {
			t.Fatalf("hostFolder(%q) = %q: want one folder", host, got)
		}
		back := strings.TrimPrefix(got, "host=")
		if back == "__HIVE_DEFAULT_PARTITION__" {
			back = ""
		}
		for i := 0; i < len(back); i++ {
			if back[i] == '%' {
				var c byte
				if _, err := fmt.Sscanf(back[i+1:i+3], "%02X", &c); err != nil {
					t.Fatal(err)
				}
				back = back[:i] + string(rune(c)) + back[i+3:]
			}
		}
		if back != host {
			t.Fatalf("hostFolder(%q) = %q, which reads back as %q", host, got, back)
		}
	})
}

func TestID(t *testing.T) {
	// SHA-256 of "1:a2:bc", the first 16 bytes: printf 1:a2:bc | sha256sum
	if got, want := ID("a", "bc"), "5310a58788781ab25d5ad7c3f8503582"; got != want {
		t.Errorf("ID = %s, want %s", got, want)
	}
	for _, id := range []string{"", "a.b", "a/b", "..", "é", strings.Repeat("a", 65)} {
		_, err := New(t.TempDir(), id)
		if want := fmt.Sprintf("id %q: want 1 to 64 letters, digits, - and _", id); err == nil || err.Error() != want {
			t.Errorf("New: %v, want %s", err, want)
		}
	}
}
