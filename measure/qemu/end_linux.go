package qemu

import (
	"os/exec"
	"syscall"
)

// endWithParent makes the kernel kill cmd when the thread that starts it ends, for example when a test is
// killed.
func endWithParent(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
