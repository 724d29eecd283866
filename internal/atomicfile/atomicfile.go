// Package atomicfile writes files that appear completely or not at all.
package atomicfile

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
)

// Write calls write with a buffered writer and, when it returns no error, publishes the output at
// path by rename. A new file has the mode that the umask allows; a replaced one keeps its own; a
// symbolic link keeps its target. After an error path is unchanged.
func Write(path string, write func(io.Writer) error) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		return writeDirect(path, write) // a device or pipe, such as /dev/stdout
	}
	f, err := create(path)
	if err != nil {
		return err
	}
	done := false
	defer func() { // also when write panics
		if !done {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if err := fill(f, write); err != nil {
		return err
	}
	if info != nil {
		if err := f.Chmod(info.Mode().Perm()); err != nil {
			return err
		}
	}
	// Without it a power failure may leave the name without the contents.
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	done = true
	return nil
}

// create creates a new file beside path. os.CreateTemp would make it unreadable for others whatever the umask.
func create(path string) (*os.File, error) {
	base := filepath.Base(path)
	base = base[:min(len(base), 100)] // leave room: names have at most 255 bytes
	for try := 0; ; try++ {
		name := filepath.Join(filepath.Dir(path), "."+base+"."+strconv.FormatUint(rand.Uint64(), 36)+".tmp")
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, fs.ErrExist) && try < 100 {
			continue
		}
		var e *fs.PathError
		if errors.As(err, &e) {
			e.Path = path // the name that the user knows
		}
		return f, err
	}
}

func fill(w io.Writer, write func(io.Writer) error) error {
	b := bufio.NewWriter(w)
	if err := write(b); err != nil {
		return err
	}
	return b.Flush()
}

func writeDirect(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(fill(f, write), f.Close())
}
