package text

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"example.org/homenode/internal/bounded"
	"example.org/homenode/internal/golden"
)

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.txt")
	if _, err := File(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
	golden.Write(t, path, []byte("text"))
	if got, err := File(path); string(got) != "text" || err != nil {
		t.Errorf("File = %q, %v", got, err)
	}
	if err := os.Truncate(path, bounded.Written+1); err != nil {
		t.Fatal(err)
	}
	if _, err := File(path); err == nil || err.Error() != path+": found more than 16 MB, want at most that" {
		t.Errorf("large: %v", err)
	}
}
