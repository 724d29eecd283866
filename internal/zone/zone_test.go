package zone

import (
	"archive/zip"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // as the program has it

	"example.org/homenode/internal/golden"
)

// TestNames compares the names with the database of Go.
func TestNames(t *testing.T) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skip(err)
	}
	r, err := zip.OpenReader(filepath.Join(strings.TrimSpace(string(root)), "lib/time/zoneinfo.zip"))
	if err != nil {
		t.Skip(err)
	}
	defer r.Close()
	var all []string
	for _, f := range r.File {
		if !strings.HasSuffix(f.Name, "/") {
			all = append(all, f.Name)
		}
	}
	slices.Sort(all)
	golden.Equal(t, []byte(strings.Join(all, "\n")+"\n"), "names.txt")
}

// TestLoad takes every name, without a database of the system, and says which zone a wrong one means.
func TestLoad(t *testing.T) {
	t.Setenv("ZONEINFO", filepath.Join(t.TempDir(), "none"))
	for _, name := range strings.Fields(names) {
		if z, err := Load(name); err != nil || z.String() != name {
			t.Errorf("%s: %v, %v", name, z, err)
		}
	}
	if z, err := Load("europe/berlin"); err != nil || time.Date(2026, 7, 1, 12, 0, 0, 0, z).UTC().Hour() != 10 {
		t.Errorf("europe/berlin: %v, %v", z, err)
	}
	for name, want := range map[string]string{
		"Europe/Berln":      `found the zone "Europe/Berln"; did you mean Europe/Berlin?`,
		"Berlin":            `found the zone "Berlin"; did you mean Europe/Berlin?`,
		"America/New York":  `found the zone "America/New York"; did you mean America/New_York?`,
		"Asia/Los_Angeles":  `found the zone "Asia/Los_Angeles"; did you mean America/Los_Angeles?`,
		"../../etc/passwd":  `found the zone "../../etc/passwd", want a name of the IANA database such as Europe/Berlin, or UTC`,
		"Middle-earth/Bree": `found the zone "Middle-earth/Bree", want a name of the IANA database such as Europe/Berlin, or UTC`,
		"":                  `found the zone "", want a name of the IANA database such as Europe/Berlin, or UTC`,
	} {
		if _, err := Load(name); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", name, err, want)
		}
	}
}
