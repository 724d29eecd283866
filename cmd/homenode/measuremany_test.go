package main

import (
	"example.org/homenode/internal/golden"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// TestMeasureMany checks the loops of docs/reference/measure-many.md: a shell reads all of them, and the one over SSH runs here, with a program
// in the place of ssh that hands the command to a shell, as the server does, and one in the place of homenode-measure.
func TestMeasureMany(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no POSIX shell")
	}
	page, err := os.ReadFile("../../docs/reference/measure-many.md")
	if err != nil {
		t.Fatal(err)
	}
	loops := regexp.MustCompile("(?ms)^```sh\n(.*?)^```").FindAllStringSubmatch(string(page), -1)
	if len(loops) != 2 {
		t.Fatalf("found %d loops, want 2", len(loops))
	}
	for _, loop := range loops {
		if out, err := exec.Command("sh", "-n", "-c", loop[1]).CombinedOutput(); err != nil {
			t.Errorf("%v: %s\n%s", err, out, loop[1])
		}
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"bin/ssh": `#!/bin/sh
[ "$1 $2 $3" = "-o BatchMode=yes --" ] || exit 254
case $4 in dead*) exit 255;; esac
exec sh -c "$5"
`,
		"homenode-measure": `#!/bin/sh
echo "$@"
case $* in *=odd*) exit 1;; *=broken*) exit 2;; esac
`,
		"guests.txt": "a.example.com sql01\nb.example.com it's $(a) name\n\ndead.example.com gone\nc.example.com odd\nd.example.com broken\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	temporary := t.TempDir()
	cmd := exec.Command("sh", "-c", loops[0][1])
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"), "TMPDIR="+temporary)
	out, err := cmd.CombinedOutput()
	if err != nil || string(out) != "gone was not measured\nbroken was not measured\n" {
		t.Errorf("%v: %s", err, out)
	}
	got := map[string]string{}
	files, _ := filepath.Glob(filepath.Join(dir, "measured", "*"))
	for _, file := range files {
		b := golden.Read(t, file)
		got[filepath.Base(file)] = strings.TrimSpace(string(b))
	}
	want := map[string]string{"sql01.json": "sql01", "it_s___a__name.json": "it's $(a) name", "odd.json": "odd"}
	for file, name := range want {
		if text := "--quick --name=" + name; got[file] != text {
			t.Errorf("%s: got %q, want %q", file, got[file], text)
		}
	}
	if len(got) != len(want) {
		t.Errorf("got the files %v, want %v", got, want)
	}
	if left, _ := os.ReadDir(temporary); len(left) > 0 {
		t.Errorf("%d folders are left in the guest", len(left))
	}
}
