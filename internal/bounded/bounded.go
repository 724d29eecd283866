// Package bounded reads input up to a size limit: files that people name on the command line, and
// the contents of archives.
package bounded

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
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

// Open opens a file for reading. It must be regular: a pipe or a device is refused without waiting for it.
func Open(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|nonblocking, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: it is no regular file", path)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Head returns the beginning of a regular file, of at most so many bytes, as far as it can be read.
func Head(path string, most int64) []byte {
	f, err := Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	head, _ := io.ReadAll(io.LimitReader(f, most)) // the bytes before an error are sufficient
	return head
}

// patience is how long a pipe may take to bring its content.
var patience = time.Minute

// File returns the contents of the file at path. If it is larger than limit, the error names both;
// no more than limit is read. Nothing waits for a pipe without a writer.
func File(path string, limit int64) ([]byte, error) {
	return FileIf(path, limit, func(os.FileInfo) error { return nil })
}

// FileIf is File for a file whose mode or owner matters: it returns the error of allow about the open file, which is the one that is read whatever
// takes its place meanwhile.
func FileIf(path string, limit int64, allow func(os.FileInfo) error) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|nonblocking, 0)
	if err != nil {
		return nil, err
	}
	_ = f.SetReadDeadline(time.Now().Add(patience)) // a regular file has none
	b, err := contents(f, path, limit, allow)
	return b, errors.Join(err, f.Close())
}

func contents(f *os.File, path string, limit int64, allow func(os.FileInfo) error) ([]byte, error) {
	info, err := f.Stat()
	if err == nil {
		err = allow(info)
	}
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.Grow(int(min(info.Size(), limit)) + bytes.MinRead)
	_, err = b.ReadFrom(Reader(f, limit))
	switch larger := (*LimitError)(nil); {
	case errors.As(err, &larger):
		return nil, fmt.Errorf("%s: %w, want at most that", path, err)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, fmt.Errorf("%s: its end did not come within %v", path, patience)
	case err != nil:
		return nil, err
	case info.Mode()&os.ModeNamedPipe != 0 && b.Len() == 0:
		return nil, fmt.Errorf("%s: it is a pipe, and nothing came through it", path)
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
