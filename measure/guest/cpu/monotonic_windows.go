package cpu

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

var (
	kernel32                     = windows.NewLazySystemDLL("kernel32.dll")
	queryPerformanceCounter      = kernel32.NewProc("QueryPerformanceCounter")
	queryPerformanceFrequency    = kernel32.NewProc("QueryPerformanceFrequency")
	getCurrentProcessorNumberEx  = kernel32.NewProc("GetCurrentProcessorNumberEx")
	setThreadGroupAffinity       = kernel32.NewProc("SetThreadGroupAffinity")
	performanceTicksOfOneSecond  = performanceFrequency()
	performanceCounterAtTheStart = performanceCounter()
)

// monotonic returns the performance counter in seconds. Go's clock on Windows is the interrupt time, in steps of up to
// 15.6 ms.
func monotonic() float64 {
	return float64(performanceCounter()-performanceCounterAtTheStart) / performanceTicksOfOneSecond
}

func performanceCounter() int64 {
	var n int64
	queryPerformanceCounter.Call(uintptr(unsafe.Pointer(&n))) // never fails on Windows XP or later
	return n
}

func performanceFrequency() float64 {
	var n int64
	queryPerformanceFrequency.Call(uintptr(unsafe.Pointer(&n)))
	return float64(max(n, 1))
}
