package guest

import (
	"strconv"
	"strings"

	"example.org/homenode/internal/bounded"
)

// memoryPressure returns the share of the last 10 s in which some task waited for memory, 0 to 100, and the number of
// pages swapped out since the machine started; zero if the kernel does not report it.
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
