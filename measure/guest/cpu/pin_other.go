//go:build !linux && !windows

package cpu

import "errors"

var errNoPin = errors.New("this system pins no threads for programs")

func pin(int) error { return errNoPin }

// Current is the logical processor that this thread runs on, by the numbers of On.
func Current() (int, error) { return 0, errNoPin }
