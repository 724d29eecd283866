package fix

import (
	"bytes"
	"example.org/homenode/internal/golden"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const packed = `{
  "builders": [{
    "type": "vsphere-iso",
    "vm_name": "sql01",
    "CPUs": 24,
    "CPU_hot_plug": true,
    "RAM": 65536
  }]
}
`

// TestPatch: the command prints a diff of a file that describes planned VMs, and changes the file when that is asked for and confirmed.
func TestPatch(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sql.json")
	golden.Write(t, file, []byte(packed))
	run := func(args ...string) (out string, err error) {
		cmd := New()
		var b bytes.Buffer
		cmd.SetOut(&b)
		cmd.SetErr(&b)
		cmd.SetArgs(append([]string{file, "--config=none", "--hosts", "2x16c/512GB release=7.0U3"}, args...))
		err = cmd.Execute()
		return b.String(), err
	}
	out, err := run()
	if want := "-    \"CPU_hot_plug\": true,\n+    \"CPU_hot_plug\": false,\n"; err != nil || !strings.Contains(out, want) {
		t.Errorf("%v\n%s\nwant %s", err, out, want)
	}
	if _, err := run("--apply", "--yes", "2"); err == nil || err.Error() != "--yes 2 does not fit: it is 1. Nothing was changed" {
		t.Error(err)
	}
	if b, _ := os.ReadFile(file); string(b) != packed {
		t.Errorf("changed to %s", b)
	}
	if _, err := run("--apply", "--yes", "1"); err != nil {
		t.Error(err)
	}
	if b, _ := os.ReadFile(file); string(b) != strings.Replace(packed, "true", "false", 1) {
		t.Errorf("changed to %s", b)
	}
	if out, err := run(); err != nil || !strings.HasSuffix(out, "sql.json: nothing to change\n") {
		t.Errorf("%v %s", err, out)
	}
	if _, err := run("--rollback", "x"); err == nil || !strings.HasSuffix(err.Error(), "describes VMs that do not exist yet: --plan, --resume, --rollback, --verify and --unlock are for a vCenter") {
		t.Error(err)
	}
	if _, err := run("--set", "hotAdd=off"); err == nil || !strings.Contains(err.Error(), "it is for VMs that exist") {
		t.Error(err)
	}
}
