//go:build linux

// Pid1 is process 1 of the guests of package qemu: it mounts the usual file systems, runs one program, and
// powers off.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"golang.org/x/sys/unix"

	"example.org/homenode/internal/bounded"
)

func main() {
	fmt.Println("pid1:", run()) // on the console, with the kernel's messages
	unix.Sync()
	fmt.Println("pid1: power off:", unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF))
}

func run() error {
	for _, m := range []struct{ at, kind string }{
		{"/proc", "proc"}, {"/sys", "sysfs"}, {"/dev", "devtmpfs"}, {"/tmp", "tmpfs"}, {"/sys/fs/cgroup", "cgroup2"},
	} {
		if err := os.MkdirAll(m.at, 0o755); err != nil {
			return err
		}
		if err := unix.Mount(m.kind, m.at, m.kind, 0, ""); err != nil {
			return fmt.Errorf("mount %s: %w", m.at, err)
		}
	}
	stdout, err1 := line("/dev/ttyS1")
	stderr, err2 := line("/dev/ttyS2")
	exit, err3 := line("/dev/ttyS3")
	args, err4 := list("/args")
	env, err5 := list("/env")
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		return err
	}
	cmd := exec.Command("/program", args...)
	cmd.Dir = "/tmp"
	cmd.Env = append([]string{"PATH=/", "HOME=/tmp", "TMPDIR=/tmp"}, env...)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	if err := cmd.Run(); cmd.ProcessState == nil {
		return err
	}
	_, err := fmt.Fprint(exit, cmd.ProcessState.ExitCode())
	return errors.Join(err, stdout.Close(), stderr.Close(), exit.Close()) // each waits until it is sent
}

// line opens a serial line in raw mode.
func line(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_WRONLY|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	state, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	if err == nil {
		state.Oflag &^= unix.OPOST
		err = unix.IoctlSetTermios(int(f.Fd()), unix.TCSETS, state)
	}
	return f, err
}

// list returns the strings in a file, separated by zeros.
func list(name string) ([]string, error) {
	b, err := bounded.File(name, bounded.Secret)
	if len(b) == 0 {
		return nil, err
	}
	return strings.Split(string(b), "\x00"), err
}
