// Show prints the machine that it runs on, as package machine reads it. Arguments are control group files and values to
// write, such as memory.max=64M, or memory:memory.limit_in_bytes=64M for version 1: it first enters groups with these
// limits.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"example.org/homenode/source/machine"
)

func main() {
	err := enter(os.Args[1:])
	if err == nil {
		err = show()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func show() error {
	m, err := machine.Read(context.Background())
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(m)
}

func enter(limits []string) error {
	for i, limit := range limits {
		file, value, _ := strings.Cut(limit, "=")
		controller, old, version1 := strings.Cut(file, ":")
		group := filepath.Join(root, "limited")
		if version1 {
			file, group = old, filepath.Join("/tmp", controller, "limited")
		}
		if err := mount(controller, version1, i == 0); err != nil {
			return err
		}
		if err := os.MkdirAll(group, 0o755); err != nil {
			return err
		}
		for name, text := range map[string]string{file: value, "cgroup.procs": strconv.Itoa(os.Getpid())} {
			if err := os.WriteFile(filepath.Join(group, name), []byte(text), 0); err != nil {
				return err
			}
		}
	}
	return nil
}

const root = "/sys/fs/cgroup"

// mount enables the controllers: all of version 2 once, or one of version 1.
func mount(controller string, version1, first bool) error {
	if !version1 {
		if !first {
			return nil
		}
		return os.WriteFile(filepath.Join(root, "cgroup.subtree_control"), []byte("+cpu +cpuset +memory"), 0)
	}
	at := filepath.Join("/tmp", controller)
	if err := os.MkdirAll(at, 0o755); err != nil {
		return err
	}
	return unix.Mount("cgroup", at, "cgroup", 0, controller)
}
