//go:build unix && !aix && !solaris

package queue

import (
	"errors"
	"os"
	"syscall"
)

// lock makes sure that one server alone uses a store. The system takes it back when the
// process ends in whatever way.
func lock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, errors.New("another server uses it")
		}
		return nil, err
	}
	return func() { f.Close() }, nil
}
