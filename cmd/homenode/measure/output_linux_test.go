package measure_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.org/homenode/internal/golden"
	"example.org/homenode/source/measured"
)

// TestOutput gives what was measured here to each command that takes it.
func TestOutput(t *testing.T) {
	folder := t.TempDir()
	run := func(want int, args ...string) string {
		t.Helper()
		c := beginAt(t, "", folder, args...)
		if code := c.code(); code != want && (want != 0 || code > 1) {
			t.Fatalf("homenode %q: exit code %d, %s%s", args, code, c.said.Bytes(), c.out.Bytes())
		}
		return c.out.String() + c.said.String()
	}
	run(0, "measure", "hidden", "memory", "ladder", "--quick", "--force", "--time", "2s", "--memory", "64MiB", "--name", "sql01", "-o", "sql01.json")
	f, err := os.Open(filepath.Join(folder, "sql01.json"))
	if err != nil {
		t.Fatal(err)
	}
	docs, err := measured.Read("sql01.json", f)
	if err != nil || len(docs) != 1 || f.Close() != nil {
		t.Fatalf("%d documents, %v", len(docs), err)
	}
	r := docs[0].Result
	if strings.Contains(strings.Join(r.Trust.Reasons, " "), "the load of other processes rose") {
		t.Skip(r.Trust.Reasons)
	}
	has := func(from, want string) {
		t.Helper()
		if !strings.Contains(from, want) {
			t.Errorf("want %q in:\n%s", want, from)
		}
	}
	// Each metric of the file is in the comparison.
	comparison := run(0, "compare", "--format", "csv", "sql01.json", "--", "sql01.json")
	if len(r.Metrics()) == 0 {
		t.Errorf("no metrics: %+v", r.Missing)
	}
	for _, m := range r.Metrics() {
		has(comparison, m.Name)
	}
	if r.Trust.OK {
		has(run(0, "size", "latency", "sql01.json", "--details"), "sql01.json:1")
	} else { // as on a busy machine
		has(run(2, "size", "latency", "sql01.json"), "sql01.json:1: the run does not trust its own figures")
	}

	fleet := "release 7.0U3\ncluster prod\nhost esx01 nodes=2 cores=4 memory=256GB\nvm sql01 vcpus=2 memory=32GB\n"
	golden.Write(t, filepath.Join(folder, "fleet.txtar"), []byte(fleet))
	if h := r.Machine.Identity.Hypervisor; h.Known() && h.Value != "VMware" {
		has(run(2, "assess", "fleet.txtar", "--evidence", "sql01.json"), "homenode measure names "+h.Value+" as the hypervisor: this is no guest of vSphere")
		return
	}
	has(run(0, "assess", "fleet.txtar", "--evidence", "sql01.json", "--format", "json"), `"by": "homenode measure"`)
}
