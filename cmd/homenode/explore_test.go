package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// night is a batch file of two VMs, in esxtop's own form.
const night = `"(PDH-CSV 4.0) (UTC)(0)","\\esx01\Memory\Free MBytes","\\esx01\Group Cpu(7:sql01)\% Ready","\\esx01\Group Cpu(9:web01)\% Ready","\\esx01\Group Memory(7:sql01)\Numa Home Nodes","\\esx01\Group Memory(7:sql01)\Numa % Local",
"11/21/2026 10:00:00","1000","1.50","0.00","0,1","81",
"11/21/2026 10:00:05","1001","2.50","0.10","1","79",
"11/21/2026 10:00:11","1002","3.50","0.20","1","x",
`

// explored runs capture.
func explored(t *testing.T, stdin []byte, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var o, e bytes.Buffer
	code = run(t.Context(), append([]string{"capture"}, args...), bytes.NewReader(stdin), &o, &e)
	return o.String(), e.String(), code
}

// nightFiles writes the night plain and packed and returns the folder.
func nightFiles(t *testing.T) string {
	t.Helper()
	var gz bytes.Buffer
	z := gzip.NewWriter(&gz)
	if _, err := z.Write([]byte(night)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, content := range map[string][]byte{
		"night.csv": []byte(night), "night.csv.gz": gz.Bytes(), "night.csv.zst": enc.EncodeAll([]byte(night), nil),
		"cut.csv.gz": gz.Bytes()[:gz.Len()-10], "inventory.csv": []byte("name,cpu\n"),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestExplore(t *testing.T) {
	dir := nightFiles(t)
	facts := `
file     FILE
form     every field in quotes, as esxtop writes it
host     esx01
columns  5 and the time
rows     3
time     2026-11-21 10:00:00 to 2026-11-21 10:00:11 UTC, every 5 to 6 s, 5.5 s in the mean
`
	for _, tt := range []struct {
		name    string
		pattern string
		want    string
	}{
		{"objects", "*", "5 columns of 3 objects in 3 rows.\n" + facts + `
OBJECT        INSTANCES  COUNTERS  COLUMNS
Memory                -         1        1
Group Cpu             2         1        2
Group Memory          1         2        2

next
  homenode capture --explore 'Group Memory' FILE
`},
		{"counters and instances", `group *\*%*`, "3 columns of 2 objects in 3 rows.\n" + facts + `
Group Cpu
COUNTER  COLUMNS
% Ready        2

INSTANCE  COLUMNS
7:sql01         1
9:web01         1

Group Memory
COUNTER       COLUMNS
Numa % Local        1

INSTANCE  COLUMNS
7:sql01         1
`},
	} {
		for _, file := range []string{"night.csv", "night.csv.gz", "night.csv.zst"} {
			t.Run(tt.name+" of "+file, func(t *testing.T) {
				path := filepath.Join(dir, file)
				got, stderr, code := explored(t, nil, "--explore", tt.pattern, path)
				if code != exitClean || stderr != "" {
					t.Fatalf("exit code %d, stderr %q", code, stderr)
				}
				if want := strings.ReplaceAll(tt.want, "FILE", path); got != want {
					t.Errorf("got\n%s\nwant\n%s", got, want)
				}
			})
		}
	}
}

func TestExploreStdin(t *testing.T) {
	got, stderr, code := explored(t, []byte(night), "--explore", "Memory", "-", "--format", "json")
	if code != exitClean {
		t.Fatal(stderr)
	}
	for _, want := range []string{`"file": "-"`, `"rows": 3`, `"mean": 5.5`, `"name": "Free MBytes"`} {
		if !strings.Contains(got, want) {
			t.Errorf("found no %s in\n%s", want, got)
		}
	}
}

func TestExtractFlag(t *testing.T) {
	dir := nightFiles(t)
	const want = `time,\\esx01\Memory\Free MBytes,\\esx01\Group Memory(7:sql01)\Numa Home Nodes,\\esx01\Group Memory(7:sql01)\Numa % Local
2026-11-21T10:00:00Z,1000,"0,1",81
2026-11-21T10:00:05Z,1001,1,79
2026-11-21T10:00:11Z,1002,1,x
`
	crlf := strings.ReplaceAll(want, "\n", "\r\n")
	extract := []string{"--format", "csv", "--explore", `Group Memory(*:sql01)\Numa *`, "--explore", `Memory\Free*`}
	for _, file := range []string{"night.csv", "night.csv.gz", "night.csv.zst", "-"} {
		if file != "-" {
			file = filepath.Join(dir, file)
		}
		got, stderr, code := explored(t, []byte(night), append(extract, file)...)
		if code != exitClean || got != crlf {
			t.Errorf("%s: exit code %d\n%s\nwant\n%s", file, code, got, want)
		}
		if !strings.HasPrefix(stderr, "homenode: "+file+":4:") || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: stderr %q, want a warning about the x in line 4", file, stderr)
		}
	}
	path := filepath.Join(dir, "out.csv")
	if _, stderr, code := explored(t, nil, append(extract, filepath.Join(dir, "night.csv"), "-o", path)...); code != exitClean {
		t.Fatal(stderr)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != crlf {
		t.Errorf("-o wrote %q, %v", got, err)
	}
}

// TestExploreDamaged checks that a packed file that is cut off gives what can be read and
// the error.
func TestExploreDamaged(t *testing.T) {
	path := filepath.Join(nightFiles(t), "cut.csv.gz")
	for _, args := range [][]string{{"--explore", "*", path}, {"--explore", "*", "--format", "csv", path}} {
		got, stderr, code := explored(t, nil, args...)
		if code != exitError || !strings.Contains(stderr, "unexpected EOF") {
			t.Errorf("%v: got %q and\n%s\nwant an unexpected EOF", args, stderr, got)
		}
	}
}

func TestExploreErrors(t *testing.T) {
	dir := nightFiles(t)
	night := filepath.Join(dir, "night.csv")
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"--explore", night}, "--explore: found 0 files, want one, as in: homenode capture --explore '*' esx01.csv"},
		{[]string{"--explore", "*", night, night}, "--explore: found 2 files, want one, as in: homenode capture --explore '*' esx01.csv"},
		{[]string{"--explore", "a", "--explore", "b", night}, "--explore: found 2 patterns, want one: several are for --format csv"},
		{[]string{"--explore", "*", "--format", "html", night}, "--explore: found --format html, want table or json for what there is, csv for the values"},
		{[]string{"--explore", "*", dir}, dir + ": unknown format: found a folder, want one file; " + dir + " shows what happened over time: homenode capture " + dir + " reads it"},
		{[]string{"--explore", "*", filepath.Join(dir, "none.csv")}, "open " + filepath.Join(dir, "none.csv") + ": no such file or directory"},
		{[]string{"--explore", "Group Memry", night}, `--explore: ` + night + `: no object matches "Group Memry"; alike: Group Memory`},
		{[]string{"--explore", "*", filepath.Join(dir, "inventory.csv")}, filepath.Join(dir, "inventory.csv") + `:1:1: found "name,cpu", want the header of an esxtop batch file, "(PDH-CSV 4.0)"`},
	} {
		got, stderr, code := explored(t, nil, tt.args...)
		if code != exitError || stderr != "homenode: "+tt.want+"\n" {
			t.Errorf("%v: got %q, want %s", tt.args, stderr, tt.want)
		}
		if got != "" {
			t.Errorf("%v: wrote %q, want nothing", tt.args, got)
		}
	}
}
