//go:build unix && !aix && !solaris

package filelock

import (
	"errors"
	"os"
	"syscall"
)

// Take locks an open file for this process until it closes the file, or ends for any reason; unlock has nothing to do.
func Take(f *os.File) (unlock func(), err error) {
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = ErrTaken
	}
	return func() {}, err
}
