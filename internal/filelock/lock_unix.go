//go:build unix && !aix && !solaris

package filelock

import (
	"errors"
	"os"
	"syscall"
)

// Take makes sure that one process alone uses what the lock file at path stands for. The system takes it back when the
// process ends in whatever way.
func Take(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, ErrTaken
		}
		return nil, err
	}
	return func() { f.Close() }, nil
}
