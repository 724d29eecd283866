package dist

import (
	"archive/zip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.org/homenode/internal/testdeps"
)

// TestWindows unpacks the archive for Windows and runs its programs under Wine, which has no time zones: demo, an export of RVTools, a VM, a named zone, and
// the measurement of a guest.
func TestWindows(t *testing.T) {
	z, err := zip.OpenReader(release(t, "windows_amd64.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	dir := t.TempDir()
	top := ""
	for _, f := range z.File {
		path := filepath.Join(dir, filepath.FromSlash(filepath.Clean("/"+f.Name)))
		from, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(io.LimitReader(from, 1<<30))
		if err := errors.Join(err, from.Close(), os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, b, f.Mode())); err != nil {
			t.Fatal(err)
		}
		if filepath.Base(path) == "homenode.exe" {
			top = filepath.Dir(path)
		}
	}
	named(t, top)
	exported(t, filepath.Join(top, "export.xlsx"))
	run := testdeps.Wine(t, filepath.Join(top, "homenode.exe"))
	ran := 0
	for _, one := range []struct{ args, want string }{
		{"assess demo", "judged    299 VMs"},
		{"assess export.xlsx", "judged  1 VM"},
		{"explain export.xlsx sql01", "CPU hot add is on"},
		{"fix demo --window 22:00-04:00|Europe/Berlin", "changes"},
		{"version", "windows/amd64"},
	} {
		args := strings.Fields(one.args)
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "|", " ")
		}
		if out, _ := run(args...); !strings.Contains(string(out), one.want) {
			t.Errorf("%s: %s", one.args, out)
		}
		ran++
	}
	measure := testdeps.Wine(t, filepath.Join(top, "homenode-measure.exe"))
	if out, _ := measure("topology", "--force", "--quick"); !strings.Contains(string(out), `"format": "homenode-measure"`) {
		t.Errorf("homenode-measure: %s", out)
	}
	t.Logf("%d commands", ran+1)
}
