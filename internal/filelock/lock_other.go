//go:build !unix || aix || solaris

package filelock

import (
	"errors"
	"os"
)

// Take locks an open file for this process, by a lock file beside it: Windows removes no file that is open.
func Take(file *os.File) (unlock func(), err error) {
	path := file.Name() + ".lock"
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, ErrTaken
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return func() { f.Close() }, nil
}
