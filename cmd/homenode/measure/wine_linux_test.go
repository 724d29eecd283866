package measure_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"homenode/internal/testdeps"
	"homenode/source/machine"
	"homenode/source/measured"
)

// TestWine runs the program for Windows under Wine: its calls, not what they would say of NUMA, of which Wine knows nothing.
func TestWine(t *testing.T) {
	testdeps.Proving(t) // it takes a minute of a calm machine
	wine, err := exec.LookPath("wine64")
	if err != nil {
		if wine, err = exec.LookPath("/usr/lib/wine/wine64"); err != nil { // where Debian has it without the package wine
			t.Skip("needs wine64, which scripts/test-deps installs with the word all")
		}
	}
	prefix := t.TempDir()
	program := filepath.Join(t.TempDir(), "homenode.exe")
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", program, "homenode/cmd/homenode")
	build.Env = append(os.Environ(), "GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := func(name string, args ...string) ([]byte, int) {
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

	result := func(parts ...string) *measured.Document {
		t.Helper()
		out, _ := run(wine, append([]string{program, "measure", "--force", "--format", "json"}, parts...)...)
		all, err := measured.Read("stdout", bytes.NewReader(out))
		if err != nil || len(all) != 1 {
			t.Fatalf("%v\n%s", err, out)
		}
		return all[0]
	}
	r, steps := result("topology", "memory", "cores", "hidden"), result("ladder", "--fsync", ".")
	top := &r.Machine.Topology
	if !strings.Contains(r.Machine.Identity.OS, "Windows") || len(top.Processors) == 0 || len(top.Nodes) != 1 || len(top.Nodes[0].CPUs) != len(top.Processors) || len(top.Caches) == 0 {
		t.Errorf("%+v, %+v", r.Machine.Identity, top)
	}
	small := slices.ContainsFunc(r.Levels, func(l measured.Level) bool { return l.Name == "L1" && l.Pages == measured.Small })
	got := map[string]bool{"latency by working set, small pages": small, "hidden nodes": r.Hidden != nil,
		"bandwidth by threads": len(r.Threads) > 0, "latency from node to node": r.Latency != nil && some(r.Latency) && r.Latency.Placed,
		"bandwidth from node to node": r.Bandwidth != nil && some(r.Bandwidth) && r.Bandwidth.Placed}
	if len(top.Processors) > 1 {
		got["pairs of logical processors"] = r.Cores != nil && len(r.Cores.Pairs) > 0
	}
	for _, name := range []string{"syscall", "pread", "channel", "pipe", "tcp", "connect", "rpc", "http", "rpc-like", "fsync"} {
		got[name] = slices.ContainsFunc(steps.Steps, func(s measured.Step) bool { return s.Name == name && s.Latency.Median > 0 })
	}
	for part, ok := range got {
		// A busy machine may leave parts out: then they are said to be missing, for that reason.
		isIt := func(m machine.Missing) bool {
			return (m.Part == part || strings.HasPrefix(m.Part, part+", ")) && late(m.Reason)
		}
		if !ok && !slices.ContainsFunc(slices.Concat(r.Missing, steps.Missing), isIt) {
			t.Errorf("no %s", part)
		}
	}
	for _, m := range slices.Concat(r.Missing, steps.Missing) {
		if late(m.Reason) {
			continue
		}
		switch name, _, _ := strings.Cut(m.Part, ","); name {
		case "size of nodes", "distances", "latency under load", "lost time", "unix", "write+fdatasync": // as on Windows
		case "latency by working set":
			if m.Part != "latency by working set, huge pages" || !strings.HasPrefix(m.Reason, "large pages: ") || !strings.Contains(m.Remedy, "Lock pages in memory") {
				t.Errorf("missing %+v", m)
			}
		default:
			t.Errorf("missing %+v", m)
		}
	}
	if out, code := run(wine, program, "measure", "--dry-run"); code != 0 || !bytes.Contains(out, []byte("nothing was measured")) {
		t.Errorf("dry run: %d, %s", code, out)
	}
	t.Logf("%d levels, %d steps, in %.0f s", len(r.Levels), len(steps.Steps), r.Seconds+steps.Seconds)
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
