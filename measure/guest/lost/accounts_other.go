//go:build !linux

package lost

import "time"

// involuntary is unsupported on other systems.
func involuntary() (n int64, ok bool) { return 0, false }

// readAccounts is unsupported on other systems.
func readAccounts(int) accounts { return accounts{} }

// RunDelay is unsupported on this system.
func RunDelay() (time.Duration, bool) { return 0, false }
