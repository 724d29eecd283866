//go:build !linux

package guest

// memoryPressure is unsupported on this system.
func memoryPressure() (some, swapped float64) { return 0, 0 }
