package pages

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"example.org/homenode/internal/bounded"
)

// mapping is the whole mapping, including guard pages.
type mapping struct{ all []byte }

// reserve maps memory aligned to a huge page, between inaccessible pages, so that it is a separate area in smaps, and sets
// its page size and node.
func reserve(a Ask) (*Memory, error) {
	huge := hugePage()
	unit := os.Getpagesize()
	if a.Huge {
		if huge == 0 {
			return nil, errors.New("huge pages: this kernel has none that are transparent")
		}
		if huge > a.Bytes {
			return nil, fmt.Errorf("huge pages: one has %d MiB, more than was asked for", huge>>20) // arm64 with pages of 64 KiB
		}
		unit = huge
	}
	size := (a.Bytes + unit - 1) / unit * unit
	margin := max(huge, unit)
	all, err := unix.Mmap(-1, 0, size+2*margin, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE)
	if err != nil {
		return nil, fmt.Errorf("memory of %d bytes: %w", size, err)
	}
	start := margin - int(uintptr(unsafe.Pointer(&all[0]))%uintptr(margin))
	m := &Memory{Bytes: all[start : start+size : start+size], mapping: mapping{all}}
	if err := unix.Mprotect(m.Bytes, unix.PROT_READ|unix.PROT_WRITE); err != nil {
		return nil, errors.Join(fmt.Errorf("memory of %d bytes: %w", size, err), m.Close())
	}
	if a.Huge {
		if err := unix.Madvise(m.Bytes, unix.MADV_HUGEPAGE); err != nil {
			return nil, errors.Join(fmt.Errorf("huge pages: %w", err), m.Close())
		}
	} else {
		_ = unix.Madvise(m.Bytes, unix.MADV_NOHUGEPAGE) // fails if there are none
	}
	if a.Node == Anywhere {
		return m, nil
	}
	err = bind(m.Bytes, a.Node)
	if err != nil && !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.ENOSYS) {
		return nil, errors.Join(fmt.Errorf("memory on node %d: %w", a.Node, err), m.Close())
	}
	m.unbound = err
	return m, nil
}

// bind restricts the memory to one node before it is touched.
func bind(b []byte, node int) error {
	if node < 0 || node >= 1<<16 {
		return errors.New("no such number")
	}
	const bits = 8 * int(unsafe.Sizeof(uintptr(0))) // the kernel's mask consists of words
	mask := make([]uintptr, node/bits+1)
	mask[node/bits] = 1 << (node % bits)
	_, _, errno := unix.Syscall6(unix.SYS_MBIND, uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), unix.MPOL_BIND,
		uintptr(unsafe.Pointer(&mask[0])), uintptr(len(mask)*bits+1), 0) // the kernel uses one bit less than the given number
	switch errno {
	case 0:
		return nil
	case unix.EINVAL:
		return errors.New("there is none, it has no memory, or this process may not use it (cpuset)")
	}
	return fmt.Errorf("mbind: %w", errno)
}

// Nodes returns the node of each page, or −1 for a page that is not in memory.
func (m *Memory) Nodes() ([]int, error) {
	nodes := make([]int, m.Pages())
	const most = 1 << 14
	pages := make([]uintptr, min(most, len(nodes)))
	status := make([]int32, len(pages))
	for done := 0; done < len(nodes); done += most {
		n := min(most, len(nodes)-done)
		for i := range n {
			pages[i] = uintptr(unsafe.Pointer(&m.Bytes[(done+i)*os.Getpagesize()]))
		}
		// Without target nodes the call is a query.
		if _, _, errno := unix.Syscall6(unix.SYS_MOVE_PAGES, 0, uintptr(n), uintptr(unsafe.Pointer(&pages[0])), 0, uintptr(unsafe.Pointer(&status[0])), 0); errno != 0 {
			return m.nodesByPolicy(fmt.Errorf("move_pages: %w", errno))
		}
		for i := range n {
			nodes[done+i] = max(int(status[i]), -1)
		}
	}
	return nodes, nil
}

// nodesByPolicy calls get_mempolicy, page by page.
func (m *Memory) nodesByPolicy(before error) ([]int, error) {
	nodes := make([]int, m.Pages())
	for i := range nodes {
		var node int32
		_, _, errno := unix.Syscall6(unix.SYS_GET_MEMPOLICY, uintptr(unsafe.Pointer(&node)), 0, 0,
			uintptr(unsafe.Pointer(&m.Bytes[i*os.Getpagesize()])), unix.MPOL_F_NODE|unix.MPOL_F_ADDR, 0)
		if errno != 0 {
			return nil, fmt.Errorf("%w; get_mempolicy: %w", before, errno)
		}
		nodes[i] = int(node)
	}
	return nodes, nil
}

// hugePage returns the size of a huge page, 0 if the kernel has none.
func hugePage() int {
	b, err := bounded.File("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", 64)
	if err != nil {
		return 0
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil || n < os.Getpagesize() || n > 1<<30 || n&(n-1) != 0 {
		return 0
	}
	return n
}

// hugeBytes returns the amount of memory in huge pages. If that is not all, it first asks the kernel to collapse small pages.
func (m *Memory) hugeBytes() (int, error) {
	huge, err := m.anonHuge()
	if err != nil || huge >= len(m.Bytes) {
		return huge, err
	}
	if unix.Madvise(m.Bytes, unix.MADV_COLLAPSE) != nil { // since 6.1
		return huge, nil
	}
	return m.anonHuge()
}

// anonHuge reads AnonHugePages of the memory's area in smaps.
func (m *Memory) anonHuge() (int, error) {
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		return 0, err
	}
	defer f.Close()
	start := strconv.FormatUint(uint64(uintptr(unsafe.Pointer(&m.Bytes[0]))), 16) + "-"
	for found, s := false, bufio.NewScanner(f); s.Scan(); {
		if found = found || strings.HasPrefix(s.Text(), start); !found {
			continue
		}
		if size, ok := strings.CutPrefix(s.Text(), "AnonHugePages:"); ok {
			n, err := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(size, "kB")))
			return n << 10, err
		}
	}
	return 0, errors.New("smaps does not say which pages are huge")
}

// Lock prevents the memory from being swapped out.
func (m *Memory) Lock() error { return unix.Mlock(m.Bytes) }

// Close frees the memory. Bytes is nil afterwards.
func (m *Memory) Close() error {
	if m.all == nil {
		return nil
	}
	err := unix.Munmap(m.all)
	m.all, m.Bytes = nil, nil
	return err
}
