// Package testdeps finds the programs that tests check the exports with. scripts/test-deps
// installs them; a test without its program is skipped.
package testdeps

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// folder is where scripts/test-deps installs; empty when the user has no folders.
func folder() string {
	if dir := os.Getenv("HOMENODE_TEST_DEPS"); dir != "" {
		return dir
	}
	if dir := os.Getenv("XDG_CACHE_HOME"); dir != "" {
		return filepath.Join(dir, "homenode-test-deps")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".cache", "homenode-test-deps")
}

// Program returns the path of a program, or skips the test.
func Program(t testing.TB, name string) string {
	t.Helper()
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	path := filepath.Join(folder(), "bin", name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no %s: scripts/test-deps installs it", name)
	}
	return path
}

// Python returns the Python that has the packages of scripts/test-requirements.txt, or
// skips the test.
func Python(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(folder(), "python")
	if _, err := os.Stat(filepath.Join(dir, "installed.txt")); err != nil {
		t.Skip("no Python with the packages of scripts/test-requirements.txt: scripts/test-deps installs it")
	}
	return filepath.Join(dir, "bin", "python")
}
