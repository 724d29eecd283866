package guest

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/windows"
)

var getSystemTimes = windows.NewLazySystemDLL("kernel32.dll").NewProc("GetSystemTimes")

// systemUsage calls GetSystemTimes, whose kernel time includes the idle time, and
// GetProcessTimes.
func systemUsage() (usage, error) {
	var idle, kernel, user, created, exited, ownKernel, ownUser windows.Filetime
	if ok, _, err := getSystemTimes.Call(uintptr(unsafe.Pointer(&idle)), uintptr(unsafe.Pointer(&kernel)), uintptr(unsafe.Pointer(&user))); ok == 0 {
		return usage{}, fmt.Errorf("GetSystemTimes: %w", err)
	}
	if err := windows.GetProcessTimes(windows.CurrentProcess(), &created, &exited, &ownKernel, &ownUser); err != nil {
		return usage{}, err
	}
	seconds := func(t windows.Filetime) float64 {
		return float64(uint64(t.HighDateTime)<<32|uint64(t.LowDateTime)) / 1e7
	}
	return usage{busy: seconds(kernel) + seconds(user) - seconds(idle), own: seconds(ownKernel) + seconds(ownUser)}, nil
}

// runnable is unsupported: Windows counts runnable threads only in performance counters.
func runnable() (float64, error) { return 0, errors.ErrUnsupported }
