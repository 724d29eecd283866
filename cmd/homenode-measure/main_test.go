package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"example.org/homenode/internal/golden"
	"example.org/homenode/source/machine"
	"example.org/homenode/source/measured"
)

// barred are packages that a program for guests has no use for: clients of networks, cryptography, other programs, and what judges fleets.
var barred = []string{"net/http", "net/rpc", "crypto/tls", "os/exec", "github.com/vmware", "github.com/prometheus", "./ask", "./output", "./rules", "./serve", "./source/open", "./source/vsphere"}

// TestImports compares the packages beyond Go's library that are linked, on every system, with the list.
func TestImports(t *testing.T) {
	var all []string
	for _, target := range []string{"linux/amd64", "linux/arm64", "windows/amd64"} {
		system, arch, _ := strings.Cut(target, "/")
		cmd := exec.Command("go", "list", "-deps", "-f", "{{.ImportPath}}", ".")
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+arch)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		packages := strings.Fields(string(out))
		module := strings.TrimSuffix(packages[len(packages)-1], "cmd/homenode-measure") // the program itself comes last
		for _, p := range packages {
			if own, ok := strings.CutPrefix(p, module); ok {
				p = "./" + own
			}
			if slices.ContainsFunc(barred, func(b string) bool { return p == b || strings.HasPrefix(p, b+"/") }) {
				t.Errorf("%s: links %s", target, p)
			}
			if first, _, _ := strings.Cut(p, "/"); strings.Contains(first, ".") && !slices.Contains(all, p) {
				all = append(all, p)
			}
		}
	}
	slices.Sort(all)
	golden.Equal(t, []byte(strings.Join(all, "\n")+"\n"), "testdata/imports.txt")
}

// TestSize builds the program as it is released.
func TestSize(t *testing.T) {
	const most = 7_000_000
	path := filepath.Join(t.TempDir(), "homenode-measure")
	if out, err := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", path, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if s, err := os.Stat(path); err != nil || s.Size() > most {
		t.Errorf("the program has %d bytes, %v; want %d at most", s.Size(), err, most)
	}
}

// TestMeasure measures this machine and reads the result back.
func TestMeasure(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("where files and pages of the kernel are")
	}
	file := filepath.Join(t.TempDir(), "result.json")
	var out, said bytes.Buffer
	code, err := run(context.Background(), []string{"topology", "ladder", "--quick", "--force", "--name", "guest 7", "-o", file}, &out, &said)
	if code == exitError || out.Len() > 0 {
		t.Fatalf("%d %v\n%s%s", code, err, out.Bytes(), said.Bytes())
	}
	b := golden.Read(t, file)
	docs, err := measured.Read(file, bytes.NewReader(b))
	if err != nil || len(docs) != 1 {
		t.Fatalf("%d results, %v", len(docs), err)
	}
	r := docs[0]
	if r.Name != "guest 7" || len(r.Steps) < 5 {
		t.Errorf("found %d steps in %s", len(r.Steps), b)
	}
	if !slices.ContainsFunc(r.Missing, func(m machine.Missing) bool {
		return m.Part == "rpc, http, rpc-like" && m.Remedy == "homenode measure ladder"
	}) {
		t.Errorf("does not say what it cannot measure: %+v", r.Missing)
	}
}

// TestWords checks what it says when it is asked for something else.
func TestWords(t *testing.T) {
	for _, tt := range []struct {
		args, out, err string
		code           int
	}{
		{"--help", "homenode-measure [topology|hidden|memory|cores|ladder ...]", "", 0},
		{"--version", "homenode-measure ", "", 0},
		{"--licenses", "github.com/spf13/pflag", "", 0},
		{"everything", "", `found "everything", want one of [topology hidden memory cores ladder], or watch`, 2},
		{"--memory 0", "", `--memory: found "0", want a size such as 256MiB, 1 MiB or more`, 2},
		{"--nonsense", "", "unknown flag: --nonsense", 2},
		{"watch --every 1ms", "", "--every: found 1ms, want ", 2},
	} {
		var out, said bytes.Buffer
		code, err := run(context.Background(), strings.Fields(tt.args), &out, &said)
		if code != tt.code || (err != nil) != (tt.err != "") || err != nil && !strings.HasPrefix(err.Error(), tt.err) || !strings.Contains(out.String(), tt.out) {
			t.Errorf("%s: exit code %d, %v, %s", tt.args, code, err, out.String())
		}
	}
}
