package move

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
)

// A folder takes new files alone, inside of itself alone. The first error stays.
type folder struct {
	root *os.Root
	err  error
}

// open makes the folder, or takes an empty one.
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

// A newFile is one that is to be written.
type newFile struct {
	name  string
	write func(io.Writer) error
}

// write writes new files, several at once. Of errors that of the first file stays.
func (f *folder) write(files ...newFile) {
	errs := make([]error, len(files))
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(files)) {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(files); i = int(next.Add(1)) - 1 {
				errs[i] = f.writeOne(files[i])
			}
		})
	}
	all.Wait()
	for _, err := range errs {
		if f.err == nil {
			f.err = err
		}
	}
}

func (f *folder) writeOne(n newFile) error {
	file, err := f.root.OpenFile(n.name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	b := bufio.NewWriter(file)
	return errors.Join(n.write(b), b.Flush(), file.Close())
}

func (f *folder) close() error { return errors.Join(f.err, f.root.Close()) }
