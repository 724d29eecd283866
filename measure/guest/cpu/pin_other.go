//go:build !linux && !windows

package cpu

import "errors"

var errNoPin = errors.New("this system pins no threads for programs")

func pin(int) error { return errNoPin }

// Current returns the logical processor that runs this thread, numbered as in On.
func Current() (int, error) { return 0, errNoPin }
