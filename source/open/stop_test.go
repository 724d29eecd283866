package open_test

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.org/homenode/source/open"
)

// TestManyNames reads an archive of many small tables whose names say nothing, and none of it when the reader is gone. A bomb is refused before it is in memory.
func TestManyNames(t *testing.T) {
	folder := t.TempDir()
	make := func(name string, members, size int) string {
		path := filepath.Join(folder, name)
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		z := zip.NewWriter(f)
		for i := range members {
			w, err := z.Create(fmt.Sprintf("d/%d.csv", i))
			if err == nil {
				for left := size; left > 0 && err == nil; left -= 1 << 20 {
					_, err = w.Write([]byte(strings.Repeat("a,b\n", min(left, 1<<20)/4)))
				}
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(z.Close(), f.Close()); err != nil {
			t.Fatal(err)
		}
		return path
	}
	many := make("many.zip", 5000, 4)
	if _, err := open.File(many); err == nil || !strings.Contains(err.Error(), "5,000 files") {
		t.Errorf("%v", err)
	}
	ctx, gone := context.WithCancel(t.Context())
	o := open.Options{Progress: func(open.Step) {}}
	gone()
	if _, _, err := open.Fleet(ctx, []string{many}, o); !errors.Is(err, context.Canceled) {
		t.Errorf("gone: %v", err)
	}
	if _, err := open.File(make("bomb.zip", 1, 400<<20)); err == nil || !strings.Contains(err.Error(), "unpacks to more than 250 times its size") {
		t.Errorf("a bomb: %v", err)
	}
}
