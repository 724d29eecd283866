//go:build linux

// Command watchbench measures the cost of watching a fleet live: collecting from a simulated vCenter in
// another process, homenode's client compared with govmomi's, /metrics compared with the Prometheus client
// library, and the store.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

func main() {
	parts := map[string]func(args []string) error{"vcenter": vcenter, "collect": collecting, "call": call, "fetch": fetch, "metrics": exposition, "store": keeping, "burst": burst, "reopen": reopen, "pages": pages}
	if len(os.Args) > 1 && parts[os.Args[1]] != nil {
		if err := parts[os.Args[1]](os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, "watchbench:", err)
			os.Exit(2)
		}
		return
	}
	fmt.Fprintln(os.Stderr, "usage: watchbench collect HOSTS VMS EVERY MINUTES | call ROUNDS | metrics VMS ROUNDS | store VMS DAYS DIR | burst SERIES TICKS DIR | pages HOSTS VMS VIEWERS SECONDS HOMENODE")
	os.Exit(2)
}

// numbers parses the first n arguments as numbers.
func numbers(args []string, n int) ([]int, error) {
	if len(args) < n {
		return nil, fmt.Errorf("found %d arguments, want %d", len(args), n)
	}
	out := make([]int, n)
	for i := range out {
		var err error
		if out[i], err = strconv.Atoi(args[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// used returns the CPU time of this process, and its peak resident memory.
func used() (cpu time.Duration, rss int64) {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0, 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano()), r.Maxrss << 10
}

func machine() string {
	return fmt.Sprintf("%s/%s, %d CPUs, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
}
