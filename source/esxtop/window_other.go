//go:build !linux

package esxtop

import (
	"errors"
	"io"
)

// newWindows returns nil: everything is read.
func newWindows(io.Reader) *windows { return nil }

func (*windows) mapped(int64, int) ([]byte, error) { return nil, errors.ErrUnsupported }

func unmap([]byte) {}
