// Package filelock locks a folder or a file for one process.
package filelock

import "errors"

// ErrTaken reports that another process has the lock.
var ErrTaken = errors.New("another process uses it")
