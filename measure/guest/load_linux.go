package guest

import (
	"errors"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"example.org/homenode/internal/bounded"
)

// ticksPerSecond is USER_HZ, which is 100 on every architecture that Go supports.
const ticksPerSecond = 100

// systemUsage reads the first line of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal.
func systemUsage() (usage, error) {
	b, err := bounded.File("/proc/stat", bounded.Written)
	if err != nil {
		return usage{}, err
	}
	line, _, _ := strings.Cut(string(b), "\n")
	words := strings.Fields(line)
	if len(words) < 9 || words[0] != "cpu" {
		return usage{}, errors.New("/proc/stat: found no line of cpu")
	}
	var v [9]float64
	for i := 1; i < len(v); i++ {
		if v[i], err = strconv.ParseFloat(words[i], 64); err != nil {
			return usage{}, err
		}
		v[i] /= ticksPerSecond
	}
	var own unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &own); err != nil {
		return usage{}, err
	}
	seconds := func(t unix.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
	return usage{busy: v[1] + v[2] + v[3] + v[6] + v[7], own: seconds(own.Utime) + seconds(own.Stime)}, nil
}

// runnable returns the number of threads that run or wait for a processor.
func runnable() (float64, error) {
	b, err := bounded.File("/proc/stat", bounded.Written)
	if err != nil {
		return 0, err
	}
	_, rest, ok := strings.Cut(string(b), "\nprocs_running ")
	if !ok {
		return 0, errors.New("/proc/stat: found no procs_running")
	}
	n, _, _ := strings.Cut(rest, "\n")
	return strconv.ParseFloat(n, 64)
}
