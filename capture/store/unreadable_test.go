package store

import (
	"bytes"
	"syscall"
	"testing"
)

// A torn disk cannot be read before an offset.
type torn struct {
	*bytes.Reader
	before int64
}

func (d torn) ReadAt(p []byte, at int64) (int, error) {
	if at < d.before {
		return 0, syscall.EIO
	}
	return d.Reader.ReadAt(p, at)
}

// TestUnreadable salvages the whole pages behind one that the disk cannot read.
func TestUnreadable(t *testing.T) {
	const size = 3 << 20
	data := make([]byte, size)
	copy(data[size-100:], pageMark)
	file := torn{bytes.NewReader(data), 1 << 20}
	if mark, at := nextMark(file, 10, size, recordMark, pageMark); mark != pageMark || at != size-100 {
		t.Errorf("found %q at %d, want %q at %d", mark, at, pageMark, size-100)
	}
	if mark, at := nextMark(file, 10, size-200, pageMark); mark != "" || at != size-200 {
		t.Errorf("found %q at %d where none is", mark, at)
	}
}
