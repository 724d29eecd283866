// Package filelock lets one process alone use a folder or a file.
package filelock

import "errors"

// ErrTaken says that another process has the lock.
var ErrTaken = errors.New("another process uses it")
