//go:build unix

package bounded

import "syscall"

// nonblocking opens a pipe without waiting for who writes it.
const nonblocking = syscall.O_NONBLOCK
