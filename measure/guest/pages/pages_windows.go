package pages

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

var virtualAllocExNuma = windows.NewLazySystemDLL("kernel32.dll").NewProc("VirtualAllocExNuma")

// mapping is the address range to free.
type mapping struct {
	start uintptr
	view  bool // of a file
}

// reserve commits memory, preferably on the node: Windows guarantees nothing, Take verifies it.
func reserve(a Ask) (*Memory, error) {
	how, unit := uint32(windows.MEM_RESERVE|windows.MEM_COMMIT), os.Getpagesize()
	if a.Huge {
		if unit = int(windows.GetLargePageMinimum()); unit == 0 {
			return nil, errors.New("large pages: this processor has none")
		}
		if err := takePrivilege("SeLockMemoryPrivilege"); err != nil {
			return nil, fmt.Errorf("large pages: the account has no right to lock pages in memory: %w", err)
		}
		how |= windows.MEM_LARGE_PAGES
	}
	size := (a.Bytes + unit - 1) / unit * unit
	var start uintptr
	var err error
	if a.Node == Anywhere {
		start, err = windows.VirtualAlloc(0, uintptr(size), how, windows.PAGE_READWRITE)
	} else if err = virtualAllocExNuma.Find(); err == nil {
		start, _, err = virtualAllocExNuma.Call(uintptr(windows.CurrentProcess()), 0, uintptr(size), uintptr(how), windows.PAGE_READWRITE, uintptr(a.Node))
	}
	if start == 0 && a.Huge {
		return nil, fmt.Errorf("large pages: %d MiB: %w", size>>20, err)
	}
	if start == 0 {
		return nil, fmt.Errorf("memory of %d bytes on node %d (-1 is any): %w", size, a.Node, err)
	}
	return &Memory{Bytes: at(start, size), mapping: mapping{start: start}}, nil
}

// at returns the memory at an address from Windows.
func at(start uintptr, size int) []byte {
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&start)), size)
}

// takePrivilege enables, for this process, a privilege of its account.
func takePrivilege(name string) error {
	wide, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return err
	}
	var token windows.Token
	if err := windows.OpenProcessToken(windows.CurrentProcess(), windows.TOKEN_ADJUST_PRIVILEGES|windows.TOKEN_QUERY, &token); err != nil {
		return err
	}
	defer token.Close()
	on := windows.Tokenprivileges{PrivilegeCount: 1}
	on.Privileges[0].Attributes = windows.SE_PRIVILEGE_ENABLED
	if err := windows.LookupPrivilegeValue(nil, wide, &on.Privileges[0].Luid); err != nil {
		return err
	}
	return windows.AdjustTokenPrivileges(token, false, &on, 0, nil, nil)
}

// state returns the attributes of each page.
func (m *Memory) state() ([]windows.PSAPI_WORKING_SET_EX_INFORMATION, error) {
	state := make([]windows.PSAPI_WORKING_SET_EX_INFORMATION, m.Pages())
	const most = 1 << 14
	for done := 0; done < len(state); done += most {
		part := state[done:min(done+most, len(state))]
		for i := range part {
			part[i].VirtualAddress = windows.Pointer(unsafe.Pointer(&m.Bytes[(done+i)*os.Getpagesize()]))
		}
		if err := windows.QueryWorkingSetEx(windows.CurrentProcess(), uintptr(unsafe.Pointer(&part[0])), uint32(uintptr(len(part))*unsafe.Sizeof(part[0]))); err != nil {
			return nil, fmt.Errorf("QueryWorkingSetEx: %w", err)
		}
	}
	return state, nil
}

// Nodes returns the node of each page, or −1 for a page that is not in memory.
func (m *Memory) Nodes() ([]int, error) {
	state, err := m.state()
	nodes := make([]int, len(state))
	for i := range state {
		nodes[i] = -1
		if block := state[i].VirtualAttributes; block.Valid() {
			nodes[i] = int(block.Node())
		}
	}
	return nodes, err
}

// hugeBytes returns the amount of memory in large pages.
func (m *Memory) hugeBytes() (int, error) {
	state, err := m.state()
	huge := 0
	for i := range state {
		if state[i].VirtualAttributes.LargePage() {
			huge += os.Getpagesize()
		}
	}
	return huge, err
}

// Map maps a file read-only, and reads it: Windows only reports whether pages are in use by this process. An empty path
// means this program's own file.
func Map(path string) (*Memory, error) {
	if path == "" {
		own, err := os.Executable()
		if err != nil {
			return nil, err
		}
		path = own
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
	section, err := windows.CreateFileMapping(windows.Handle(f.Fd()), nil, windows.PAGE_READONLY, 0, 0, nil)
	if err != nil {
		return nil, fmt.Errorf("map %s: %w", path, err)
	}
	defer windows.CloseHandle(section) // the view keeps it
	start, err := windows.MapViewOfFile(section, windows.FILE_MAP_READ, 0, 0, 0)
	if err != nil {
		return nil, fmt.Errorf("map %s: %w", path, err)
	}
	m := &Memory{Bytes: at(start, int(info.Size())), ReadOnly: true, mapping: mapping{start: start, view: true}}
	for page := 0; page < len(m.Bytes); page += os.Getpagesize() {
		sink += m.Bytes[page]
	}
	return m, nil
}

var sink byte // prevents the removal of the reads

// Resident returns the numbers of the pages that are in memory, for a file in the working set of this process.
func (m *Memory) Resident() ([]int, error) {
	nodes, err := m.Nodes()
	var pages []int
	for i, n := range nodes {
		if n >= 0 {
			pages = append(pages, i)
		}
	}
	return pages, err
}

// Lock prevents the memory from being swapped out.
func (m *Memory) Lock() error {
	return windows.VirtualLock(m.start, uintptr(len(m.Bytes)))
}

// Close frees the memory. Bytes is nil afterwards.
func (m *Memory) Close() error {
	if m.Bytes == nil {
		return nil
	}
	start := m.start
	m.Bytes, m.start = nil, 0
	if m.view {
		return windows.UnmapViewOfFile(start)
	}
	return windows.VirtualFree(start, 0, windows.MEM_RELEASE)
}
