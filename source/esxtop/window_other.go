//go:build !linux

package esxtop

import (
	"errors"
	"io"
)

// newWindows returns nil: files are read, not mapped.
func newWindows(io.Reader) *windows { return nil }

func (*windows) mapped(int64, int) ([]byte, error) { return nil, errors.ErrUnsupported }

func unmap([]byte) {}
