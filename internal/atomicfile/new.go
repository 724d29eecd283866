package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// WriteNew is Write for a file that must not exist yet, readable only by its owner (mode 0600). An
// existing file at path stays, and the error is fs.ErrExist.
func WriteNew(path string, write func(io.Writer) error) error {
	exists := &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
	if _, err := os.Lstat(path); err == nil {
		return exists
	}
	f, err := create(path)
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	// Before it has any content.
	if err := f.Chmod(0o600); err != nil {
		return err
	}
	if err := fill(f, write); err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	// A link, unlike a rename, does not replace a file created in between.
	err = os.Link(f.Name(), path)
	if errors.Is(err, fs.ErrExist) {
		return exists
	}
	if err != nil { // a file system without links
		if _, there := os.Lstat(path); there == nil {
			return exists
		}
		return os.Rename(f.Name(), path)
	}
	return nil
}
