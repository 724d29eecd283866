package notices

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.org/homenode/internal/golden"
)

// A listed is a package as go list prints it.
type listed struct {
	Dir      string
	Standard bool
	Module   *struct {
		Path, Version, Dir string
		Main               bool
	}
}

// linked lists the packages of other modules in what is released, by the folder of each.
func linked(t *testing.T) map[string]listed {
	all := map[string]listed{}
	for _, target := range []string{"linux/amd64", "windows/amd64", "darwin/arm64", "js/wasm"} {
		system, arch, _ := strings.Cut(target, "/")
		program := "../../cmd/..."
		if system == "js" {
			program = "../../page/wasm"
		}
		cmd := exec.Command("go", "list", "-deps", "-json=Dir,Standard,Module", program)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+arch)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %v", cmd, err)
		}
		for d := json.NewDecoder(bytes.NewReader(out)); ; {
			var p listed
			if err := d.Decode(&p); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			if !p.Standard && !p.Module.Main {
				all[p.Dir] = p
			}
		}
	}
	return all
}

// legal matches names of files with licences and notices; files of Go code are not meant.
var legal = regexp.MustCompile(`(?i)^(licen[cs]e|notice|copying|patents|copyright)([-_.].*)?$`)

// texts returns the text of the licences and notices in a folder, by path.
func texts(t *testing.T, dir string) map[string]string {
	out := map[string]string{}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if f.IsDir() || !legal.MatchString(f.Name()) || strings.HasSuffix(f.Name(), ".go") {
			continue
		}
		b := golden.Read(t, filepath.Join(dir, f.Name()))
		out[filepath.Join(dir, f.Name())] = strings.Trim(strings.ReplaceAll(string(b), "\r\n", "\n"), "\n")
	}
	return out
}

// TestNotices compares the text with the modules that are linked: none lacks its licence, nor the notices of folders in it.
func TestNotices(t *testing.T) {
	of := map[string][]string{} // by text
	note := func(owner, text string) {
		if !slices.Contains(of[text], owner) {
			of[text] = append(of[text], owner)
		}
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range texts(t, strings.TrimSpace(string(root))) {
		note("Go: its library and runtime", text)
	}
	modules := map[string]bool{}
	for dir, p := range linked(t) {
		owner := p.Module.Path + " " + p.Module.Version
		for ; strings.HasPrefix(dir, p.Module.Dir); dir = filepath.Dir(dir) {
			for path, text := range texts(t, dir) {
				modules[owner] = modules[owner] || filepath.Dir(path) == p.Module.Dir
				in, _ := filepath.Rel(p.Module.Dir, path)
				if filepath.Dir(in) == "." {
					note(owner, text)
				} else {
					note(owner+", "+filepath.ToSlash(filepath.Dir(in)), text)
				}
			}
		}
		if !modules[owner] {
			t.Errorf("%s has no licence: it may not be linked", owner)
		}
	}
	if len(modules) < 20 || len(of) < 20 {
		t.Fatalf("found %d modules and %d texts: the test looks at nothing", len(modules), len(of))
	}
	for _, owners := range of {
		slices.Sort(owners)
	}
	var all strings.Builder
	fmt.Fprintln(&all, "homenode is under the Apache License 2.0. It links the work of others, under these licences and with these notices.")
	for _, text := range slices.SortedFunc(maps.Keys(of), func(a, b string) int { return strings.Compare(of[a][0]+"\n"+a, of[b][0]+"\n"+b) }) {
		line := strings.Repeat("=", 80)
		fmt.Fprintf(&all, "\n%s\n%s\n%s\n\n%s\n", line, strings.Join(of[text], "\n"), line, text)
	}
	same(t, all.String())
}

// same compares the text with the packed one; with -update it packs it.
func same(t *testing.T, want string) {
	if golden.Updating() {
		var b bytes.Buffer
		w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.WriteString(w, want)
		if err := errors.Join(err, w.Close()); err != nil {
			t.Fatal(err)
		}
		golden.Equal(t, b.Bytes(), "notices.txt.gz")
		return
	}
	var got bytes.Buffer
	if err := Write(&got); err != nil {
		t.Fatal(err)
	}
	if got.String() != want {
		t.Errorf("the notices are not those of the modules that are linked: go test ./internal/notices -update writes them")
	}
}
