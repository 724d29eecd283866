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

	"example.org/homenode/internal/golden"
	"example.org/homenode/source/evidence"
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
	if _, err := open.File(make("bomb.zip", 1, 400<<20)); err == nil || !strings.Contains(err.Error(), "unpacks to more than 150 times its size") {
		t.Errorf("a bomb: %v", err)
	}
}

// TestTooMany refuses archives and folders of more files, or of more tables, than are read in a reasonable time, whether an inventory or anything is meant.
func TestTooMany(t *testing.T) {
	folder := t.TempDir()
	packed := func(name, ending, text string, members int) string {
		path := filepath.Join(folder, name)
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		z := zip.NewWriter(f)
		for i := range members {
			w, err := z.Create(fmt.Sprintf("d/%d%s", i, ending))
			if err == nil {
				_, err = fmt.Fprintf(w, text, i)
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
	loose := filepath.Join(folder, "loose")
	if err := os.Mkdir(loose, 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range 20_001 {
		golden.Write(t, filepath.Join(loose, fmt.Sprintf("%d.txt", i)), nil)
	}
	deep := packed("logs.zip", "/b/vmware.log", "2026-11-20T10:00:00.000Z| vmx| I125: Log for VMware ESX pid=%d version=7.0.3\n", 20_001)
	if _, err := evidence.Read(deep); err == nil || !strings.Contains(err.Error(), "more than 20,000 files") {
		t.Errorf("evidence: %v", err)
	}
	for path, want := range map[string]string{
		deep: "logs.zip: found more than 20,000 files to read: name the files that are meant",
		packed("files.zip", ".txt", "hello %d\n", 20_001): "more than 20,000 files to read: name the files that are meant",
		loose: "more than 20,000 files to read: name the files that are meant",
		packed("tables.zip", ".csv", "VM,CPUs\nvm%d,4\n", 5001): "more than 5,000 tables of VMs or hosts: name the files that are meant",
	} {
		if _, err := open.File(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
		if parts := open.Anything(path, nil); len(parts) != 1 || parts[0].Err == nil || !strings.Contains(parts[0].Err.Error(), want) {
			t.Errorf("anything: %s: %v", path, parts)
		}
	}
}
