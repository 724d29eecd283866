//go:build !unix || aix || solaris

package filelock

import (
	"errors"
	"os"
)

// Take locks the resource of the lock file at path for this process: Windows removes no file that is open.
func Take(path string) (unlock func(), err error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, ErrTaken
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return func() { f.Close() }, nil
}
