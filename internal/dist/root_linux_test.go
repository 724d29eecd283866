package dist

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.org/homenode/internal/golden"
	"example.org/homenode/internal/testdeps"
)

// release returns the file of the release whose name has this end, after the sums of all are compared. The test is skipped where there is no release.
func release(t *testing.T, end string) string {
	t.Helper()
	testdeps.Proving(t)
	dir, err := filepath.Abs("../../dist")
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join(dir, "SHA256SUMS"))
	if err != nil {
		t.Skip("no release: make release writes it")
	}
	found := ""
	for line := range strings.Lines(string(sums)) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		path := filepath.Join(dir, name)
		if strings.HasSuffix(name, end) {
			found = path
		} else {
			continue
		}
		b := golden.Read(t, path)
		if got := sha256.Sum256(b); hex.EncodeToString(got[:]) != sum {
			t.Fatalf("%s has another sum than SHA256SUMS says", name)
		}
	}
	if found == "" {
		t.Skipf("the release has no file *%s", end)
	}
	return found
}

// unpack writes the files of a tar archive, packed or not, below a folder.
func unpack(t *testing.T, from io.Reader, dir string) {
	t.Helper()
	for r := tar.NewReader(from); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, filepath.FromSlash(filepath.Clean("/"+h.Name)))
		if h.Typeflag == tar.TypeDir {
			err = errors.Join(os.MkdirAll(path, 0o755), os.Chmod(path, h.FileInfo().Mode()|0o700))
		} else {
			b, failed := io.ReadAll(io.LimitReader(r, 1<<30))
			err = errors.Join(failed, os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, b, h.FileInfo().Mode()))
		}
		if err == nil && os.Geteuid() == 0 {
			err = os.Chown(path, h.Uid, h.Gid)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// unzipped returns the content of a gzip file.
func unzipped(t *testing.T, path string) io.Reader {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A root is a folder that a program takes for the root of all files.
type root struct {
	*testing.T
	dir, in string // the folder, and the working directory below it
	user    int    // who runs, where the test is root
	env     []string
}

// command returns a program of the root. Other users than root need a namespace of users for it.
func (r *root) command(ctx context.Context, args ...string) *exec.Cmd {
	program := args[0]
	if !filepath.IsAbs(program) {
		program = filepath.Join(r.in, program)
	}
	cmd := &exec.Cmd{Path: program, Args: args, Dir: r.in, Env: append([]string{"PATH=/usr/bin:/"}, r.env...), SysProcAttr: &syscall.SysProcAttr{Chroot: r.dir}}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: r.user, HostID: os.Geteuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: r.user, HostID: os.Getegid(), Size: 1}}
	} else if r.user != 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(r.user), Gid: uint32(r.user)}
	}
	context.AfterFunc(ctx, func() {
		if cmd.Process != nil {
			_ = cmd.Process.Signal(syscall.SIGTERM)
		}
	})
	return cmd
}

// run runs a program to its end and returns its output; exit code 1 says that there are findings.
func (r *root) run(args ...string) string {
	r.Helper()
	cmd := r.command(r.Context(), args...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	err := cmd.Run()
	if errors.Is(err, syscall.EPERM) {
		r.Skipf("this user may not change the root: %v", err)
	}
	if exit := (*exec.ExitError)(nil); err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) {
		r.Fatalf("%q: %v\n%s%s", args, err, said.Bytes(), out.Bytes())
	}
	return out.String() + said.String()
}

// serve runs a server until the test is done with it: at another port, whose address the test gets.
func (r *root) serve(args []string, client *http.Client, look func(address string)) {
	r.Helper()
	ctx, stop := context.WithCancel(r.Context())
	defer stop()
	cmd := r.command(ctx, args...)
	lines, w := io.Pipe()
	cmd.Stdout, cmd.Stderr = w, w
	if err := cmd.Start(); err != nil {
		if errors.Is(err, syscall.EPERM) {
			r.Skipf("this user may not change the root: %v", err)
		}
		r.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait(); w.Close() }()
	said, at := new(bytes.Buffer), make(chan string, 1)
	go func() {
		buffer := make([]byte, 4096)
		for {
			n, err := lines.Read(buffer)
			said.Write(buffer[:n])
			if m := regexp.MustCompile(`https?://[^\s,]+:\d+`).Find(said.Bytes()); m != nil && len(at) == 0 {
				at <- string(m)
				_, _ = io.Copy(io.Discard, lines)
				return
			}
			if err != nil {
				at <- ""
				return
			}
		}
	}()
	address := <-at
	if address == "" {
		r.Fatalf("%q ended: %v\n%s", args, <-ended, said.Bytes())
	}
	if text, status := get(r, client, address+"/healthz"); status != http.StatusOK || text != "ok\n" {
		r.Errorf("%s/healthz: %d %s", address, status, text)
	}
	look(address)
	stop()
	select {
	case err := <-ended:
		if exit := (*exec.ExitError)(nil); err != nil && !(errors.As(err, &exit) && exit.Exited()) { // a slow machine may need longer than its grace
			r.Errorf("%q: %v after SIGTERM", args, err)
		}
	case <-time.After(time.Minute):
		r.Errorf("%q does not end after SIGTERM", args)
		_ = cmd.Process.Kill()
	}
}

// get asks a server; it may still be reading the fleet.
func get(t testing.TB, client *http.Client, url string, headers ...string) (string, int) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(io.LimitReader(answer.Body, 8<<20))
	if err != nil {
		t.Fatal(err)
	}
	return string(b), answer.StatusCode
}

// zones runs what needs the time zones that are in the program.
func (r *root) zones(program string) {
	r.Helper()
	r.run(program, "fix", "demo", "--window", "Sat 22:00-04:00 Europe/Berlin")
	cmd := r.command(r.Context(), program, "fix", "demo", "--window", "Sat 22:00-04:00 Europe/Berln")
	if out, _ := cmd.CombinedOutput(); !strings.Contains(string(out), "did you mean Europe/Berlin?") {
		r.Errorf("an unknown zone: %s", out)
	}
}

// linux is the part of names of files for this machine.
func linux() string { return fmt.Sprintf("linux_%s", runtime.GOARCH) }
