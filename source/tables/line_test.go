package tables

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLongLine refuses a line that no table has, before it is copied; many lines may be longer together.
func TestLongLine(t *testing.T) {
	long := append([]byte("VM,CPUs\n"), bytes.Repeat([]byte("a"), mostLine+1)...)
	_, err := newCSVRows("x.csv", long)
	if err == nil || err.Error() != "x.csv:2: found a line of more than 32 MB" {
		t.Error(err)
	}
	path := filepath.Join(t.TempDir(), "x.csv")
	if err := os.WriteFile(path, long, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := tableIn(path); err == nil || !strings.HasSuffix(err.Error(), "x.csv:2: found a line of more than 32 MB") {
		t.Error(err)
	}
	if err := os.WriteFile(path, append([]byte("[1,"), long...), 0o600); err != nil {
		t.Fatal(err)
	}
	if b, err := tableIn(path); err != nil || len(b) != len(long)+3 { // JSON may be one line
		t.Errorf("%d bytes, %v", len(b), err)
	}
	if err := shortLines("x.csv", bytes.NewReader(bytes.Repeat([]byte("a,b\r\n"), mostLine/2))); err != nil {
		t.Error(err)
	}
}

// TestManyColumns refuses a row of more columns than a spreadsheet has, wherever it stands: each header is compared with all that are known.
func TestManyColumns(t *testing.T) {
	wide := strings.Repeat("a,", maxColumns) + "a"
	for text, want := range map[string]string{
		"VM,CPUs,Memory," + wide + "\nvm1,8,1024\n":     "x.csv:1: found a row of more than 16384 columns",
		"a title\nVM,CPUs,Memory," + wide + "\nvm1,8\n": "x.csv:2: found a row of more than 16384 columns",
		"VM,CPUs,Memory\nvm1,8," + wide + "\n":          "x.csv:2: found a row of more than 16384 columns",
	} {
		path := filepath.Join(t.TempDir(), "x.csv")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(path); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("Read() = %v, want %s", err, want)
		}
	}
}

// TestKnownOnce returns the same names of a kind, which are asked for at each header, without making them again.
func TestKnownOnce(t *testing.T) {
	for i := range kinds {
		kinds[i].known()
		if n := testing.AllocsPerRun(10, func() { kinds[i].known() }); n > 2 {
			t.Errorf("%s: %.0f allocations", kinds[i].name, n)
		}
		for k := range kinds[:i] {
			if kinds[k].name == kinds[i].name {
				t.Errorf("two kinds are called %s", kinds[i].name)
			}
		}
	}
}
