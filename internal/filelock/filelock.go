// Package filelock locks an open file for one process, under each of its names.
package filelock

import "errors"

// ErrTaken reports that another process has the lock.
var ErrTaken = errors.New("another process uses it")
