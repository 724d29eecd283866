package testdeps

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Wine returns what runs a program for Windows in its folder, and skips the test where there is no Wine. Exit codes above 1 fail the test.
func Wine(t *testing.T, program string) func(args ...string) (out []byte, code int) {
	t.Helper()
	wine, err := exec.LookPath("wine64")
	if err != nil {
		if wine, err = exec.LookPath("/usr/lib/wine/wine64"); err != nil { // where Debian has it without the package wine
			t.Skip("needs wine64, which scripts/test-deps installs with the word all")
		}
	}
	prefix := t.TempDir()
	run := func(name string, args ...string) ([]byte, int) {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = filepath.Dir(program)
		cmd.Env = append(os.Environ(), "WINEPREFIX="+prefix, "WINEDEBUG=-all", "DISPLAY=", "HOME="+prefix)
		var said bytes.Buffer
		cmd.Stderr = &said
		out, err := cmd.Output()
		if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		if cmd.ProcessState.ExitCode() > 1 {
			t.Fatalf("%s %q: exit code %d\n%s%s", name, args, cmd.ProcessState.ExitCode(), said.Bytes(), out)
		}
		return out, cmd.ProcessState.ExitCode()
	}
	if server := filepath.Join(filepath.Dir(wine), "wineserver"); exec.Command(server, "--version").Run() == nil {
		t.Cleanup(func() { // it stays behind the programs for some seconds, and writes to the folder
			run(server, "-k")
			run(server, "-w")
		})
	}
	run(wine, "wineboot", "--init")
	// Wine 8 has no such library, without which no program of a current Go begins.
	library := filepath.Join(prefix, "drive_c", "windows", "system32", "bcryptprimitives.dll")
	if _, err := os.Stat(library); err != nil {
		if err := os.WriteFile(library, randomLibrary(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return func(args ...string) ([]byte, int) {
		t.Helper()
		return run(wine, append([]string{program}, args...)...)
	}
}

// randomLibrary is a DLL whose ProcessPrng fills memory by RDRAND.
func randomLibrary() []byte {
	const header, base, names = 0x200, 0x1000, 0x80 // of the file; where its section is in memory; what it exports, in the section
	section := make([]byte, 0x200)
	copy(section, "\x48\x85\xd2\x74\x0e\x48\x0f\xc7\xf0\x88\x01\x48\xff\xc1\x48\xff\xca\xeb\xed\xb8\x01\x00\x00\x00\xc3") // loop: RDRAND AX; MOVB AX, (CX)
	le := binary.LittleEndian
	words := func(at int, values ...uint32) {
		for i, v := range values {
			le.PutUint32(section[names+at+4*i:], v)
		}
	}
	// Export directory, then the address of the function, of its name, its ordinal, and both names.
	words(0, 0, 0, 0, base+names+60, 1, 1, 1, base+names+40, base+names+44, base+names+48, base, base+names+80)
	copy(section[names+60:], "bcryptprimitives.dl")
	copy(section[names+80:], "ProcessPrng")
	head := make([]byte, header)
	copy(head, "MZ")
	le.PutUint32(head[0x3c:], 0x40)
	fields := []any{[4]byte{'P', 'E'}, uint16(0x8664), uint16(1), [3]uint32{}, uint16(240), uint16(0x2022),
		uint16(0x20b), uint16(14), [5]uint32{0x200, 0, 0, 0, base}, uint64(0x180000000), [2]uint32{0x1000, 0x200}, [6]uint16{6, 0, 0, 0, 6},
		[4]uint32{0, 0x2000, header, 0}, [2]uint16{2, 0x100}, [4]uint64{1 << 20, 1 << 12, 1 << 20, 1 << 12}, [2]uint32{0, 16},
		[2]uint32{base + names, 92}, [15]uint64{},
		[8]byte{'.', 't', 'e', 'x', 't'}, [4]uint32{0x200, base, 0x200, header}, [3]uint32{}, uint32(0x60000020)}
	at := 0x40
	for _, f := range fields {
		n, err := binary.Encode(head[at:], le, f)
		if err != nil {
			panic(err)
		}
		at += n
	}
	return append(head, section...)
}
