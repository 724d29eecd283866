package move

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
)

// A folder writes only new files, and only inside of itself. The first error is kept.
type folder struct {
	root *os.Root
	err  error
}

// open creates the folder, or uses an empty one.
func open(name string) (*folder, error) {
	if err := os.MkdirAll(name, 0o777); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	dir, err := root.Open(".")
	if err == nil {
		_, err = dir.Readdirnames(1)
		err = errors.Join(notEmpty(name, err), dir.Close())
	}
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return &folder{root: root}, nil
}

func notEmpty(name string, read error) error {
	switch {
	case read == nil:
		return fmt.Errorf("-o %s: the folder is not empty, and nothing in it is overwritten: name a new one", name)
	case errors.Is(read, io.EOF):
		return nil
	}
	return read
}

// write writes a new file.
func (f *folder) write(name string, write func(io.Writer) error) {
	if f.err != nil {
		return
	}
	file, err := f.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		f.err = err
		return
	}
	b := bufio.NewWriter(file)
	f.err = errors.Join(write(b), b.Flush(), file.Close())
}

func (f *folder) close() error { return errors.Join(f.err, f.root.Close()) }
