// Package testdeps finds the programs with which tests check the exports. scripts/test-deps installs them; a test without its
// program is skipped. It also starts and kills processes for tests.
package testdeps

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"example.org/homenode/internal/bounded"
)

// folder returns the folder of scripts/test-deps; empty when the user has no folders.
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
	return installed(t, "bin/"+name, "no "+name+": scripts/test-deps installs it")
}

// installed returns the path of a file that scripts/test-deps installed, or skips the test.
func installed(t testing.TB, name, missing string) string {
	t.Helper()
	path := filepath.Join(folder(), filepath.FromSlash(name))
	if _, err := os.Stat(path); err != nil {
		t.Skip(missing)
	}
	return path
}

// python returns the Python of a folder of scripts/test-deps, or skips the test.
func python(t testing.TB, folder, missing string) string {
	t.Helper()
	return filepath.Join(filepath.Dir(installed(t, folder+"/installed.txt", missing)), "bin", "python")
}

// Kernel returns the path of a Linux kernel for guests on amd64, or skips the test.
func Kernel(t testing.TB) string {
	t.Helper()
	return installed(t, "kernel/vmlinuz", "no kernel for guests: scripts/test-deps installs it")
}

// Axe returns the script that checks the accessibility of a page, or skips the test.
func Axe(t testing.TB) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(folder(), "axe", "*", "axe.min.js"))
	if err != nil || len(found) == 0 {
		t.Skip("no axe-core: scripts/test-deps installs it")
	}
	b, err := bounded.File(found[len(found)-1], 8<<20)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Python returns the Python that has the packages of scripts/test-requirements.txt, or skips the test.
func Python(t testing.TB) string {
	t.Helper()
	return python(t, "python", "no Python with the packages of scripts/test-requirements.txt: scripts/test-deps installs it")
}

// ProvePython returns the Python that has the packages of scripts/prove-requirements.txt, which scripts/test-deps installs only for
// make prove, or skips the test.
func ProvePython(t testing.TB) string {
	t.Helper()
	Proving(t)
	return python(t, "prove", "no Python with the packages of scripts/prove-requirements.txt: scripts/test-deps all installs it")
}

// Input reads a handwritten file of a test.
func Input[T any](t testing.TB, path string, read func(name string, data []byte) (T, error)) T {
	t.Helper()
	b, err := bounded.File(path, bounded.Written)
	if err != nil {
		t.Fatal(err)
	}
	in, err := read(path, b)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// Proving skips a test that is too slow for every change, or whose dependencies take too long to install, unless make prove runs it.
func Proving(t testing.TB) {
	t.Helper()
	if !Proof() {
		t.Skip("make prove runs it")
	}
}

// Proof reports whether make prove runs the tests: those that check a sample otherwise then check everything.
func Proof() bool { return os.Getenv("HOMENODE_PROVE") != "" }

// KillRounds returns how often a test kills a writer: few times, and thirty times in make prove.
func KillRounds(few int) int {
	if n, err := strconv.Atoi(os.Getenv("HOMENODE_KILL_ROUNDS")); err == nil {
		return n
	}
	return few
}

// Kill runs the calling test in another process, where Killed returns dir and from, and kills it once it has printed so many lines,
// each a number. All printed numbers are passed to took.
func Kill(t *testing.T, dir string, from int64, lines int, took func(int64)) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), "HOMENODE_TEST_KILLED="+dir, "HOMENODE_TEST_FROM="+strconv.FormatInt(from, 10))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := bufio.NewScanner(out)
	for n := 0; said.Scan(); n++ { // also lines printed before it was killed
		at, err := strconv.ParseInt(said.Text(), 10, 64)
		if err != nil {
			t.Fatalf("the process says %q", said.Text())
		}
		took(at)
		if n+1 == lines {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = cmd.Wait() // killed
}

// Killed returns the arguments of Kill in the process that it started; an empty dir in every other.
func Killed() (dir string, from int64) {
	from, _ = strconv.ParseInt(os.Getenv("HOMENODE_TEST_FROM"), 10, 64) // Kill wrote it
	return os.Getenv("HOMENODE_TEST_KILLED"), from
}

// Ansible returns the path of ansible-playbook with the packages of scripts/ansible-requirements.txt, which scripts/test-deps
// installs only for make prove, or skips the test.
func Ansible(t testing.TB) string {
	t.Helper()
	Proving(t)
	return installed(t, "ansible/bin/ansible-playbook", "no Ansible: scripts/test-deps all installs it, for make prove")
}

// Nova returns the path of a Python with the packages of scripts/nova-requirements.txt, which scripts/test-deps installs only for
// make prove, or skips the test.
func Nova(t testing.TB) string {
	t.Helper()
	Proving(t)
	return python(t, "nova", "no Nova: scripts/test-deps all installs it, for make prove")
}

// Homenode returns the path of the program of these sources. It is linked once for all packages: go run keeps it in the build cache, and
// names a file that is removed when it has linked it.
var Homenode = sync.OnceValues(func() (string, error) {
	echo := "echo"
	if runtime.GOOS == "windows" {
		echo = "cmd /c echo"
	}
	var path string
	var err error
	for range 2 {
		var out []byte
		link := exec.Command("go", "run", "-ldflags=-w", "-exec", echo, "example.org/homenode/cmd/homenode")
		link.Stderr = os.Stderr
		if out, err = link.Output(); err != nil {
			return "", err
		}
		path = strings.TrimSpace(string(out))
		if _, err = os.Stat(path); err == nil {
			break
		}
	}
	return path, err
})
