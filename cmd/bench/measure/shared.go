//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"example.org/homenode/internal/bounded"
)

// A shared is memory at the same address in this program and the one in C, so that both follow the same pointers through the
// same pages. The placement of pages affects a figure more than the contenders differ.
type shared struct {
	bytes []byte
	file  *os.File
}

// sharedAt is the address. Programs in Go or C on Linux map nothing near it, on amd64 and arm64.
const sharedAt = 0x2000_0000_0000

// share allocates memory in pages of one kind, and shares it with the program in C.
func share(c *peer, bytes int, huge bool) (*shared, error) {
	fd, err := unix.MemfdCreate("measurebench", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	m := &shared{file: os.NewFile(uintptr(fd), "measurebench")}
	if err := m.take(c, bytes, huge); err != nil {
		return nil, errors.Join(err, m.close())
	}
	return m, nil
}

func (m *shared) take(c *peer, bytes int, huge bool) error {
	if err := m.file.Truncate(int64(bytes)); err != nil {
		return err
	}
	p, err := unix.MmapPtr(int(m.file.Fd()), 0, unsafe.Add(nil, sharedAt), uintptr(bytes), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_FIXED_NOREPLACE)
	if err != nil {
		return err
	}
	m.bytes = unsafe.Slice((*byte)(p), bytes)
	advice, kind := unix.MADV_NOHUGEPAGE, 0
	if huge {
		advice, kind = unix.MADV_HUGEPAGE, 1
	}
	if err := unix.Madvise(m.bytes, advice); err != nil && huge {
		return err
	}
	for at := 0; at < bytes; at += unix.Getpagesize() {
		m.bytes[at] = 1
	}
	if huge {
		if err := unix.Madvise(m.bytes, unix.MADV_COLLAPSE); err != nil {
			return fmt.Errorf("huge pages: %w", err)
		}
	}
	if _, err := c.do("share /proc/%d/fd/%d %#x %d %d", os.Getpid(), m.file.Fd(), sharedAt, bytes, kind); err != nil {
		return err
	}
	for _, pid := range []int{os.Getpid(), c.cmd.Process.Pid} {
		got, err := hugeBytesOf(pid)
		if err != nil {
			return err
		}
		if huge && got < bytes/10*9 || !huge && got > bytes/10 {
			return fmt.Errorf("process %d has %d MiB of shared memory in huge pages, of %d", pid, got>>20, bytes>>20)
		}
	}
	return nil
}

// hugeBytesOf returns the amount of shared memory of a process in huge pages.
func hugeBytesOf(pid int) (int, error) {
	b, err := bounded.File(fmt.Sprintf("/proc/%d/smaps_rollup", pid), 1<<16)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "ShmemPmdMapped:"); ok {
			kb, err := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")))
			return kb << 10, err
		}
	}
	return 0, errors.New("smaps_rollup does not say which pages are huge")
}

// close frees the memory. The program in C frees it when it receives other memory, or ends.
func (m *shared) close() error {
	var err error
	if m.bytes != nil {
		err = unix.MunmapPtr(unsafe.Pointer(&m.bytes[0]), uintptr(len(m.bytes)))
	}
	return errors.Join(err, m.file.Close())
}
