package text

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"homenode/internal/bounded"
)

func TestReadFile(t *testing.T) {
	read := func(name string, data []byte) (string, error) { return filepath.Base(name) + ": " + string(data), nil }
	path := filepath.Join(t.TempDir(), "a.txt")
	if _, err := ReadFile(path, read); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
	if err := os.WriteFile(path, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadFile(path, read); got != "a.txt: text" || err != nil {
		t.Errorf("ReadFile = %q, %v", got, err)
	}
	if err := os.Truncate(path, bounded.Written+1); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadFile(path, read); err == nil || err.Error() != path+": found more than 16 MB, want at most that" {
		t.Errorf("large: %v", err)
	}
}
