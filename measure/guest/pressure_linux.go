package guest

import (
	"strconv"
	"strings"

	"homenode/internal/bounded"
)

// memoryPressure returns how much of the last 10 s some task waited for memory, 0 to 100, and how many pages were swapped
// out since the machine started; zero where the kernel does not tell.
func memoryPressure() (some, swapped float64) {
	if b, err := bounded.File("/proc/pressure/memory", 1<<12); err == nil {
		_, rest, _ := strings.Cut(string(b), "some avg10=")
		n, _, _ := strings.Cut(rest, " ")
		some, _ = strconv.ParseFloat(n, 64)
	}
	if b, err := bounded.File("/proc/vmstat", bounded.Written); err == nil {
		_, rest, _ := strings.Cut(string(b), "\npswpout ")
		n, _, _ := strings.Cut(rest, "\n")
		swapped, _ = strconv.ParseFloat(n, 64)
	}
	return some, swapped
}
