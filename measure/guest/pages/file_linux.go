package pages

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Map maps a file read-only; an empty path means this program's own file. It reads nothing: Resident lists the pages in
// the page cache. Another process may truncate the file; pages beyond its end must not be read then.
func Map(path string) (*Memory, error) {
	if path == "" {
		path = "/proc/self/exe"
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() == 0 || info.Size() > 1<<40 || int64(int(info.Size())) != info.Size() {
		return nil, fmt.Errorf("%s: no file that can be mapped, or an empty one", path)
	}
	all, err := unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map %s: %w", path, err)
	}
	_ = unix.Madvise(all, unix.MADV_RANDOM) // no read-ahead; if it is refused, more is read
	return &Memory{Bytes: all, ReadOnly: true, mapping: mapping{all}}, nil
}

// Resident returns the numbers of the pages that are in memory, for a file in the page cache. For a file that this user
// may not write, the kernel reports all pages as resident (since 5.2, so that programs cannot watch each other).
func (m *Memory) Resident() ([]int, error) {
	in := make([]byte, m.Pages())
	if err := mincore(m.Bytes, in); err != nil {
		return nil, fmt.Errorf("mincore: %w", err)
	}
	var pages []int
	for i, state := range in {
		if state&1 != 0 {
			pages = append(pages, i)
		}
	}
	return pages, nil
}

func mincore(b, in []byte) error {
	if _, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), uintptr(unsafe.Pointer(&in[0]))); errno != 0 {
		return errno
	}
	return nil
}
