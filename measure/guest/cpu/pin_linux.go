package cpu

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// pin pins this thread to one processor. The mask is as long as the number requires: that of x/sys ends at 1,024.
func pin(cpu int) error {
	if cpu < 0 || cpu >= 1<<20 {
		return errors.New("no such number")
	}
	const bits = 8 * unsafe.Sizeof(uintptr(0)) // the kernel's mask consists of words
	mask := make([]uintptr, uintptr(cpu)/bits+1)
	mask[uintptr(cpu)/bits] = 1 << (uintptr(cpu) % bits)
	_, _, errno := unix.RawSyscall(unix.SYS_SCHED_SETAFFINITY, 0, uintptr(len(mask))*(bits/8), uintptr(unsafe.Pointer(&mask[0])))
	if errno == unix.EINVAL {
		return errors.New("it is offline, there is none, or this process may not use it")
	}
	if errno != 0 {
		return errno
	}
	if now, err := Current(); err == nil && now != cpu {
		return fmt.Errorf("the thread runs on processor %d", now)
	}
	return nil
}

// Current returns the logical processor that runs this thread, numbered as in On.
func Current() (int, error) {
	var cpu uint32
	if _, _, errno := unix.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&cpu)), 0, 0); errno != 0 {
		return 0, fmt.Errorf("getcpu: %w", errno)
	}
	return int(cpu), nil
}
