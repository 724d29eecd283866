package bounded

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
)

// MostNames is the most names in an untrusted archive: each uses a kilobyte while it is open.
const MostNames = 100_000

// nameSize bounds the average size of a name's entry in the directory of a zip, in bytes.
const nameSize = 1 << 10

// A NamesError reports an archive with more names than the caller's limit.
type NamesError struct{ Most int }

func (e *NamesError) Error() string {
	return fmt.Sprintf("the archive has more than %d names: want fewer files in each", e.Most)
}

// Zip opens a zip, unless it has more names than most, or members that overlap: those would unpack the same bytes again and again. archive/zip reads all
// names before it returns, whatever number the zip states, so they are counted during reading.
func Zip(r io.ReaderAt, size int64, most int) (*zip.Reader, error) {
	c := &names{ReaderAt: r, most: most}
	z, err := zip.NewReader(c, size)
	if c.full {
		return nil, &NamesError{most}
	}
	if err != nil {
		return nil, err
	}
	for _, f := range z.File {
		if size -= int64(min(f.CompressedSize64, 1<<62)); size < 0 {
			return nil, fmt.Errorf("found more packed bytes than the archive has, in %.80q: its members overlap", f.Name)
		}
	}
	c.counted = true
	return z, nil
}

// names counts the names during reading.
type names struct {
	io.ReaderAt
	counted bool // the directory is read
	most, n int
	bytes   int64
	full    bool
}

// mostSearched is the number of bytes that archive/zip reads besides the directory.
const mostSearched = 1 << 20

const nameMark = "PK\x01\x02" // begins each name of the directory

// ReadAt reads, and fails at the limit.
func (c *names) ReadAt(p []byte, at int64) (int, error) {
	if c.counted {
		return c.ReaderAt.ReadAt(p, at)
	}
	n, err := c.ReaderAt.ReadAt(p, at)
	c.n += bytes.Count(p[:n], []byte(nameMark))
	if c.bytes += int64(n); c.n > c.most || c.bytes > int64(c.most)*nameSize+mostSearched {
		c.full = true
		return 0, &NamesError{c.most}
	}
	return n, err
}
