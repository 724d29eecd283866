//go:build unix

package store

import (
	"errors"

	"golang.org/x/sys/unix"
)

// freeBytes returns the disk space of a folder that a user may still fill.
func freeBytes(dir string) (int64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, err
	}
	return int64(st.Bavail) * int64(st.Bsize), nil
}

// locked reports whether the error means that another process has the lock.
func locked(err error) bool { return errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EWOULDBLOCK) }
