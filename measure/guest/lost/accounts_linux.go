package lost

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"example.org/homenode/internal/bounded"
)

// involuntary returns how often the system gave this thread's processor to another thread.
func involuntary() (n int64, ok bool) {
	var use unix.Rusage
	if unix.Getrusage(unix.RUSAGE_THREAD, &use) != nil {
		return 0, false
	}
	return int64(use.Nivcsw), true
}

// readAccounts reads schedstat of this thread and the steal time of its processor.
func readAccounts(on int) (a accounts) {
	a.runDelay, a.runDelayKnown = RunDelay()
	if f, err := os.Open("/proc/stat"); err == nil {
		defer f.Close()
		for s := bufio.NewScanner(f); s.Scan(); {
			if steal, ok := parseSteal(s.Text(), on); ok {
				a.steal, a.stealKnown = steal, true
				break
			}
		}
	}
	return a
}

// RunDelay returns the time that this thread has waited for a processor while the guest ran others, since its start; false if the system does
// not count it.
func RunDelay() (time.Duration, bool) {
	b, err := bounded.File("/proc/thread-self/schedstat", 1<<10)
	if err != nil {
		return 0, false
	}
	return parseRunDelay(string(b))
}

// parseRunDelay parses the second of three figures: nanoseconds run, waited, and slices.
func parseRunDelay(text string) (time.Duration, bool) {
	fields := strings.Fields(text)
	if len(fields) != 3 || fields[0] == "0" { // a kernel that does not count writes zeros
		return 0, false
	}
	ns, err := strconv.ParseInt(fields[1], 10, 64)
	return time.Duration(ns), err == nil && ns >= 0
}

// parseSteal parses the eighth figure of a processor's line: the unit is 10 ms (USER_HZ is 100 on all architectures of Go).
func parseSteal(line string, on int) (time.Duration, bool) {
	fields := strings.Fields(line)
	if len(fields) < 9 || fields[0] != "cpu"+strconv.Itoa(on) {
		return 0, false
	}
	n, err := strconv.ParseInt(fields[8], 10, 64)
	return time.Duration(n) * 10 * time.Millisecond, err == nil && n >= 0
}
