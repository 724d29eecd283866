package tables

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestKeysOfAnObject refuses an object of more keys than a fleet has VMs and hosts, before the rest of it is read.
func TestKeysOfAnObject(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"a":1`)
	for i := range maxKeys {
		fmt.Fprintf(&b, `,"k%d":1`, i)
	}
	path := filepath.Join(t.TempDir(), "x.json")
	if err := os.WriteFile(path, []byte(b.String()+"}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadFiles([]string{path}); err == nil || !strings.Contains(err.Error(), "more than 200000 keys in one object") {
		t.Errorf("%v", err)
	}
}
