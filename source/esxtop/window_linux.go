package esxtop

import (
	"io"
	"os"
	"syscall"
)

// newWindows returns nil unless r is a regular file.
func newWindows(r io.Reader) *windows {
	f, ok := r.(interface {
		file
		syscall.Conn
	})
	if !ok {
		return nil
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	return &windows{file: f, page: int64(os.Getpagesize())}
}

// mapped maps size bytes at off, to be read once, from the beginning to the end.
func (w *windows) mapped(off int64, size int) (data []byte, err error) {
	conn, err := w.file.(syscall.Conn).SyscallConn()
	if err != nil {
		return nil, err
	}
	if e := conn.Control(func(fd uintptr) {
		data, err = syscall.Mmap(int(fd), off, size, syscall.PROT_READ, syscall.MAP_PRIVATE)
	}); e != nil {
		return nil, e
	}
	return data, err
}

// unmap ends a mapping. It fails only for an invalid one.
func unmap(data []byte) {
	if err := syscall.Munmap(data); err != nil {
		panic(err)
	}
}
