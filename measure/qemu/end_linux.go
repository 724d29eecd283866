package qemu

import (
	"os/exec"
	"syscall"
)

// endWithParent lets the kernel end cmd when the thread that starts it ends, as in a test that is killed.
func endWithParent(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
