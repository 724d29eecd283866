//go:build !unix || aix || solaris

package queue

import (
	"errors"
	"os"
)

// lock makes sure that one server alone uses a store: Windows removes no file that is
// open.
func lock(path string) (unlock func(), err error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, errors.New("another server uses it")
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return func() { f.Close() }, nil
}
