// Package bounded reads input up to a size limit: files that people name on the command line, and
// the contents of archives.
package bounded

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// Limits of files that are read whole, in bytes.
const (
	Secret  = 64 << 10 // a password, a token, the accounts of some hundred vCenters
	List    = 1 << 20  // certificates, known hosts, lines of changes, a table of CPU use
	Written = 16 << 20 // files that people write by hand: a scenario of 10,000 VMs has 2 MB
)

// A LimitError reports input larger than the caller's limit.
type LimitError struct{ Limit int64 }

func (e *LimitError) Error() string { return "found more than " + size(e.Limit) }

// size formats a limit.
func size(n int64) string {
	if n >= 1<<20 {
		return fmt.Sprintf("%d MB", n>>20)
	}
	return fmt.Sprintf("%d KB", n>>10)
}

// File returns the contents of the file at path. If it is larger than limit, the error names both;
// no more than limit is read.
func File(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if info, failed := f.Stat(); failed == nil { // reading tells the error
		b.Grow(int(min(info.Size(), limit)) + bytes.MinRead)
	}
	_, err = b.ReadFrom(Reader(f, limit))
	if larger := (*LimitError)(nil); errors.As(err, &larger) {
		err = fmt.Errorf("%s: %w, want at most that", path, err)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// Reader returns a reader of r that ends with a *LimitError after limit bytes.
func Reader(r io.Reader, limit int64) io.Reader { return &reader{r, limit, limit} }

type reader struct {
	r           io.Reader
	left, limit int64
}

func (r *reader) Read(p []byte) (int, error) {
	// One byte beyond the limit distinguishes a larger file from one of exactly this size.
	n, err := r.r.Read(p[:min(int64(len(p)), r.left+1)])
	if int64(n) > r.left {
		n, r.left = int(r.left), 0
		return n, &LimitError{r.limit}
	}
	r.left -= int64(n)
	return n, err
}
