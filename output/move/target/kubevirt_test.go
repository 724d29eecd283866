package target

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"example.org/homenode/change/move"
	"example.org/homenode/internal/testdeps"
)

// TestKubeVirt lets KubeVirt's own types decode each manifest strictly, and applies the rules of its webhook that NUMA is in.
// The program that does is a module of its own, which downloads and builds for minutes: make prove has it.
func TestKubeVirt(t *testing.T) {
	testdeps.Proving(t)
	dir := t.TempDir()
	program := filepath.Join(dir, "kubevirt")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".")
	build.Dir = "testdata/kubevirt"
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v: %s", err, out)
	}
	args, want := []string{}, ""
	file := func(name, text, fault string) {
		path := filepath.Join(dir, name)
		writeFile(t, path, []byte(text))
		args, want = append(args, path), want+fmt.Sprintf("%s\t%q\n", path, fault)
	}
	good := ""
	for _, s := range shapes {
		m := moved(t, s.name, "kubevirt", move.Options{})
		for _, f := range Files([]*move.Move{m}) {
			file(m.Name+".yaml", string(f.Data), "")
			if len(m.Shape.Cells) > 1 {
				good = string(f.Data)
			}
		}
	}
	machines := len(args)
	// What is known to be refused shows that it is judged.
	file("a.yaml", strings.Replace(good, "threads: 1", "thread: 1", 1), `error unmarshaling JSON: while decoding JSON: json: unknown field "thread"`)
	file("b.yaml", strings.Replace(good, "          dedicatedCpuPlacement: true\n", "", 1), "guestMappingPassthrough without dedicatedCpuPlacement")
	file("c.yaml", strings.Replace(good, "pageSize: 2Mi", "pageSize: 5Mi", 1), "1536Mi of memory in pages of 5Mi")
	out, err := exec.CommandContext(t.Context(), program, args...).Output()
	if err != nil || string(out) != want {
		t.Errorf("%v: got %s, want %s", err, out, want)
	}
	t.Logf("%d machines are decoded strictly", machines)
}
