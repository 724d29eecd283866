package archive

import (
	"context"
	"io"
	"os"
	"syscall"
)

// Heed returns a reader of r whose reads fail with the error of ctx after it has ended, with the
// other methods of r. A file on disk never blocks; for a terminal, a pipe or a reader that is no
// file, a blocked read ends too.
func Heed(ctx context.Context, r io.Reader) io.Reader {
	if f, ok := r.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			return heededAt{heeded{ctx, f}, f}
		}
	}
	return &waiting{ctx: ctx, r: r, got: make(chan chunk, 1)}
}

// HeedBetween is Heed for a reader that never blocks: it uses no goroutine.
func HeedBetween(ctx context.Context, r io.Reader) io.Reader { return heeded{ctx, r} }

type heeded struct {
	ctx context.Context
	r   io.Reader
}

func (h heeded) Read(p []byte) (int, error) {
	if err := h.ctx.Err(); err != nil {
		return 0, err
	}
	return h.r.Read(p)
}

type heededAt struct {
	heeded
	f *os.File
}

func (h heededAt) ReadAt(p []byte, off int64) (int, error) {
	if err := h.ctx.Err(); err != nil {
		return 0, err
	}
	return h.f.ReadAt(p, off)
}

// Stat and SyscallConn are those of the file: package esxtop maps it into memory instead of reading it.
func (h heededAt) Stat() (os.FileInfo, error)            { return h.f.Stat() }
func (h heededAt) SyscallConn() (syscall.RawConn, error) { return h.f.SyscallConn() }

// Close does nothing: the opener of the file closes it.
func (h heededAt) Close() error { return nil }

func (h heededAt) Seek(offset int64, whence int) (int64, error) { return h.f.Seek(offset, whence) }

// A waiting reads in a separate goroutine that exists only during a read: when ctx ends it remains
// blocked, as nothing can interrupt it.
type waiting struct {
	ctx  context.Context
	r    io.Reader
	got  chan chunk
	buf  []byte // of the goroutine while it reads: it may write after Read has returned
	left []byte // of buf
	err  error  // behind left
}

// A chunk is the result of one read.
type chunk struct {
	n   int
	err error
}

func (w *waiting) Read(p []byte) (n int, err error) {
	if len(w.left) == 0 && w.err == nil {
		if w.err = w.ctx.Err(); w.err != nil {
			return 0, w.err
		}
		if w.buf == nil {
			w.buf = make([]byte, buffer)
		}
		go func(b []byte) {
			n, err := w.r.Read(b)
			w.got <- chunk{n, err}
		}(w.buf)
		select {
		case <-w.ctx.Done():
			w.err = w.ctx.Err()
		case c := <-w.got:
			w.left, w.err = w.buf[:c.n], c.err
		}
	}
	if len(w.left) == 0 {
		return 0, w.err
	}
	n = copy(p, w.left)
	w.left = w.left[n:]
	return n, nil
}
