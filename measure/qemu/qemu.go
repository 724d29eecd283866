// Package qemu boots real Linux guests for tests: with a layout of processors, nodes and memory in QEMU's firmware, and a program whose
// output is returned. Nothing is left behind.
package qemu

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"example.org/homenode/internal/bounded"
	"example.org/homenode/internal/testdeps"
)

// A Guest describes a guest to boot, and a program to run in it.
type Guest struct {
	Layout
	Kernel []string // additional words of the kernel's command line
	// Run is a static program of this machine for linux/amd64, which Program builds, and its arguments. It runs as root with /proc,
	// /sys, /dev, /tmp and control groups (version 2) mounted.
	Run   []string
	Env   []string          // such as "GOGC=off"
	Files map[string]string // additional files: paths in the guest, with the source files on this machine
	Most  time.Duration     // timeout, after which the guest is killed and the test fails; 0 for a minute
	// By starts the guest in another way and returns when it has ended; nil for QEMU's arguments.
	By func(ctx context.Context, m Machine) error
}

// A Machine has the boot parameters of a guest, whoever starts it.
type Machine struct {
	Kernel, Initrd, Append string
	Serials                []string // output files of its serial lines, in order
	CPU                    string   // value of QEMU's -cpu, if the processor is emulated
}

// An Output is the output of the program in a guest, and its exit code.
type Output struct {
	Stdout, Stderr []byte
	Exit           int
	Emulated       bool // by software: its times mean nothing
	Took           time.Duration
}

// Boot boots the guest, waits until it has powered off, and returns the output of its program. It skips the test without QEMU or the
// kernel, and fails it if the program did not end.
func (g Guest) Boot(t testing.TB) Output {
	t.Helper()
	out, err := g.boot(t)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// boot is Boot with an error for a guest that did not end.
func (g Guest) boot(t testing.TB) (Output, error) {
	t.Helper()
	program := testdeps.Program(t, "qemu-system-x86_64")
	kernel := testdeps.Kernel(t)
	dir := t.TempDir()
	initrd := filepath.Join(dir, "initrd")
	if err := g.writeInitrd(initrd, Program(t, "example.org/homenode/measure/qemu/pid1")); err != nil {
		return Output{}, err
	}
	most := g.Most
	most = cmp.Or(most, time.Minute)
	ctx, cancel := context.WithTimeout(t.Context(), most)
	defer cancel()
	m := Machine{Kernel: kernel, Initrd: initrd, CPU: emulatedCPU,
		Append: strings.Join(append([]string{"console=ttyS0", "loglevel=4", "panic=-1", "rdinit=/pid1"}, g.Kernel...), " ")}
	for _, serial := range serials {
		m.Serials = append(m.Serials, filepath.Join(dir, serial))
	}
	accelerator, emulated := accelerator()
	by := g.By
	if by == nil {
		by = func(ctx context.Context, m Machine) error {
			args := append([]string{"-no-user-config", "-nodefaults", "-display", "none", "-no-reboot"}, accelerator...)
			return m.run(ctx, program, append(args, g.Layout.args()...))
		}
	}
	began := time.Now()
	err := by(ctx, m)
	out := Output{Emulated: emulated, Took: time.Since(began)}
	out.Stdout, out.Stderr = tail(dir, stdout, bounded.Written), tail(dir, stderr, bounded.Written)
	code, convErr := strconv.Atoi(string(tail(dir, exit, bounded.Secret)))
	if err != nil || convErr != nil {
		return out, fmt.Errorf("the guest did not end in %v: %v\n%s\n%s", most, err, out.Stderr, last(tail(dir, console, bounded.Written)))
	}
	out.Exit = code
	return out, nil
}

// run runs QEMU with these arguments until the guest has ended.
func (m *Machine) run(ctx context.Context, program string, args []string) error {
	args = append(args, "-kernel", m.Kernel, "-initrd", m.Initrd, "-append", m.Append)
	for _, serial := range m.Serials {
		args = append(args, "-serial", "file:"+serial)
	}
	cmd := exec.CommandContext(ctx, program, args...)
	var said bytes.Buffer
	cmd.Stderr = &said
	cmd.WaitDelay = 5 * time.Second
	runtime.LockOSThread() // the end of the thread would end the guest
	defer runtime.UnlockOSThread()
	endWithParent(cmd)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%w: %s\n%s", err, said.Bytes(), strings.Join(cmd.Args, " "))
	}
	return nil
}

// Need skips the test if there is no QEMU or no kernel to boot.
func Need(t testing.TB) {
	t.Helper()
	testdeps.Program(t, "qemu-system-x86_64")
	testdeps.Kernel(t)
}

// The serial lines of the guest: the kernel's console, and the outputs of pid1's program.
const (
	console = "console"
	stdout  = "stdout" // ttyS1
	stderr  = "stderr" // ttyS2
	exit    = "exit"   // ttyS3
)

var serials = []string{console, stdout, stderr, exit}

// tail returns the output of a serial line; nothing if QEMU did not start it.
func tail(dir, serial string, most int64) []byte {
	b, err := bounded.File(filepath.Join(dir, serial), most)
	if err != nil {
		return []byte(err.Error())
	}
	return b
}

// last returns the last lines of a log.
func last(b []byte) []byte { return b[max(0, len(b)-3000):] }

// emulatedCPU can show threads of a core, unlike QEMU's default vendor.
const emulatedCPU = "max,vendor=GenuineIntel,family=6,model=85,stepping=4"

// accelerator returns the arguments for KVM if it works, else for emulation.
func accelerator() (args []string, emulated bool) {
	if cpu, ok := kvmCPU(); ok {
		return []string{"-accel", "kvm", "-cpu", cpu}, false
	}
	// Measured on 2 busy processors: one thread for all virtual ones boots with 2.0 to 4.2 s of CPU time, one for each with 2.5 to 6.5.
	return []string{"-accel", "tcg,thread=single", "-cpu", emulatedCPU}, true
}

// kvmCPU returns the processor for a KVM guest. On a host without hardware virtualisation (PVM) the device opens, but Debian's kernel
// hangs.
func kvmCPU() (cpu string, ok bool) {
	info, err := bounded.File("/proc/cpuinfo", bounded.Written)
	amd := bytes.Contains(info, []byte(" svm "))
	if err != nil || !amd && !bytes.Contains(info, []byte(" vmx ")) {
		return "", false
	}
	f, err := os.OpenFile("/dev/kvm", os.O_RDWR, 0)
	if err != nil || f.Close() != nil {
		return "", false
	}
	if amd {
		return "host,+topoext", true // threads of a core
	}
	return "host", true
}

// Program builds a command of this module for a guest and returns its path.
func Program(t testing.TB, pkg string) string {
	t.Helper()
	return build(t, pkg, "build")
}

// Tests builds the tests of a package of this module for a guest and returns the path of the program.
func Tests(t testing.TB, pkg string) string {
	t.Helper()
	return build(t, pkg, "test", "-c")
}

func build(t testing.TB, pkg string, args ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	cmd := exec.CommandContext(t.Context(), "go", append(args, "-ldflags=-s -w", "-o", path, pkg)...)
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go %s %s: %v\n%s", args[0], pkg, err, out)
	}
	return path
}

// A Layout is the machine described by the firmware.
type Layout struct {
	SMP      string   // value of QEMU's -smp: "4", "8,sockets=2,cores=2,threads=2", "2,maxcpus=8"; empty for 1
	Nodes    []Node   // none for a machine without NUMA, with 512 MiB
	Distance [][]int  // between nodes; nil for QEMU's default: 10 and 20
	HMAT     []Figure // none for no HMAT
	Args     []string // additional arguments of QEMU
}

// A Node is one NUMA node.
type Node struct {
	CPUs string // "0-3"; empty for memory only
	MiB  int    // memory; 0 for none
	Near int    // the node with the nearest processors, if there is an HMAT: itself, except for memory only
}

// A Figure is one entry of the HMAT.
type Figure struct {
	From, To  int // nodes
	Latency   int // ns
	Bandwidth int // MiB/s
}

// processors returns the number of virtual processors at the start.
func (l *Layout) processors() int {
	first, _, _ := strings.Cut(l.SMP, ",")
	n, err := strconv.Atoi(first)
	if err != nil {
		return 1
	}
	return n
}

func (l *Layout) args() []string {
	memory := 0
	for _, n := range l.Nodes {
		memory += n.MiB
	}
	if len(l.Nodes) == 0 {
		memory = 512
	}
	machine := "q35"
	if l.HMAT != nil {
		machine += ",hmat=on"
	}
	args := []string{"-machine", machine, "-m", fmt.Sprintf("%dM", memory)}
	if l.SMP != "" {
		args = append(args, "-smp", l.SMP)
	}
	for i, n := range l.Nodes {
		node := fmt.Sprintf("node,nodeid=%d", i)
		if n.CPUs != "" {
			node += ",cpus=" + n.CPUs
		}
		if n.MiB > 0 {
			args = append(args, "-object", fmt.Sprintf("memory-backend-ram,id=m%d,size=%dM", i, n.MiB))
			node += fmt.Sprintf(",memdev=m%d", i)
		}
		if l.HMAT != nil {
			node += fmt.Sprintf(",initiator=%d", n.Near)
		}
		args = append(args, "-numa", node)
	}
	for i, row := range l.Distance {
		for j, d := range row {
			args = append(args, "-numa", fmt.Sprintf("dist,src=%d,dst=%d,val=%d", i, j, d))
		}
	}
	for _, f := range l.HMAT {
		lb := fmt.Sprintf("hmat-lb,initiator=%d,target=%d,hierarchy=memory,data-type=access-", f.From, f.To)
		args = append(args, "-numa", fmt.Sprintf("%slatency,latency=%d", lb, f.Latency), "-numa", fmt.Sprintf("%sbandwidth,bandwidth=%dM", lb, f.Bandwidth))
	}
	return append(args, l.Args...)
}
