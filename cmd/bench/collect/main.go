//go:build linux

// Command collectbench measures the cost of collecting a fleet. It compares homenode's reader
// with govmomi's and govc, each in its own process, against a simulated vCenter in another
// process. The contenders run in turns; the result is the median of several rounds.
package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"example.org/homenode/internal/texttab"
	"example.org/homenode/source/vsphere"
	"example.org/homenode/source/vsphere/lab"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "collectbench:", err)
		os.Exit(2)
	}
}

func run(args []string) error {
	if len(args) > 0 {
		switch args[0] {
		case "serve":
			return serve(args[1:])
		case "read":
			return read(args[1:])
		case "library":
			return readByLibrary(args[1:])
		}
	}
	fl := flag.NewFlagSet("collectbench", flag.ContinueOnError)
	vms := fl.Int("vms", 10_000, "VMs of the simulated vCenter, 100 to a host")
	settings := fl.Int("settings", 60, "entries of each VM's extraConfig")
	rounds := fl.Int("rounds", 5, "rounds; each one runs every contender once")
	govc := fl.String("govc", "", "binary of govc; empty leaves it out")
	pages := fl.String("pages", "100,500,1000,5000", "page sizes of homenode's reader")
	profile := fl.String("cpuprofile", "", "write a CPU profile of one more read to this file")
	if err := fl.Parse(args); err != nil {
		return err
	}
	return measure(*vms, *settings, *rounds, *govc, strings.Split(*pages, ","), *profile)
}

// A contender is one way to collect. Its command reads every property of every VM.
type contender struct {
	name string
	cmd  func() *exec.Cmd
	used []usage
}

// A usage is the resource usage of one process.
type usage struct {
	cpu, wall time.Duration
	rss       int64 // largest resident memory in bytes
}

// measure starts the server, runs the contenders in turns and prints the results.
func measure(vms, settings, rounds int, govc string, pages []string, profile string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	server, address, err := startServer(self, vms, settings)
	if err != nil {
		return err
	}
	defer server.stop()
	var contenders []*contender
	for _, page := range pages {
		contenders = append(contenders, &contender{name: "homenode, pages of " + page,
			cmd: func() *exec.Cmd { return exec.Command(self, "read", address, page, strconv.Itoa(vms)) }})
	}
	contenders = append(contenders, &contender{name: "govmomi, pages of 500, dropped",
		cmd: func() *exec.Cmd { return exec.Command(self, "library", address, "500", strconv.Itoa(vms)) }})
	if govc != "" {
		contenders = append(contenders, &contender{name: "govc collect", cmd: func() *exec.Cmd { return govcCommand(govc, address) }})
		if err := checkGovc(contenders[len(contenders)-1].cmd(), vms); err != nil {
			return err
		}
	}
	for range rounds {
		for _, c := range contenders {
			u, err := runOnce(c.cmd())
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			c.used = append(c.used, u)
		}
	}
	if profile != "" {
		cmd := exec.Command(self, "read", address, "500", strconv.Itoa(vms), profile)
		if _, err := runOnce(cmd); err != nil {
			return err
		}
	}
	return print(os.Stdout, contenders, vms)
}

// print writes one row per contender. Ratios are medians relative to the last contender.
func print(w io.Writer, contenders []*contender, vms int) error {
	t := texttab.Table{}
	t.Row("", "VMs/s per core", "slowest to fastest", "CPU", "wall", "memory", "times the last")
	rate := func(c *contender, pick func([]usage) usage) float64 {
		return float64(vms) / pick(c.used).cpu.Seconds()
	}
	for _, c := range contenders {
		slices.SortFunc(c.used, func(a, b usage) int { return cmp.Compare(b.cpu, a.cpu) })
	}
	middle := func(u []usage) usage { return u[len(u)/2] }
	first := func(u []usage) usage { return u[0] }
	last := func(u []usage) usage { return u[len(u)-1] }
	for _, c := range contenders {
		m := middle(c.used)
		t.Row(c.name, fmt.Sprintf("%.0f", rate(c, middle)), fmt.Sprintf("%.0f to %.0f", rate(c, first), rate(c, last)),
			m.cpu.Round(10*time.Millisecond).String(), m.wall.Round(10*time.Millisecond).String(), fmt.Sprintf("%d MB", m.rss>>20),
			fmt.Sprintf("%.1f", rate(c, middle)/rate(contenders[len(contenders)-1], middle)))
	}
	_, err := t.WriteTo(w)
	return err
}

// runOnce runs a command and returns its resource usage.
func runOnce(cmd *exec.Cmd) (usage, error) {
	var errs strings.Builder
	cmd.Stderr = &errs
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return usage{}, fmt.Errorf("%w: %s", err, errs.String())
	}
	u := usage{cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), wall: time.Since(start)}
	if r, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		u.rss = int64(r.Maxrss) * 1024
	}
	return u, nil
}

// govcCommand returns the command that collects the same properties of the same VMs.
func govcCommand(govc, address string) *exec.Cmd {
	cmd := exec.Command(govc, append([]string{"collect", "-json", "-type", "VirtualMachine", "-"}, vsphere.VMProperties()...)...)
	cmd.Env = append(os.Environ(), "GOVC_URL="+address, "GOVC_INSECURE=1", "GOVC_PERSIST_SESSION=false")
	return cmd
}

// checkGovc checks that govc returns every VM. It does not store the output, because the peak
// memory of this process also counts for its child processes.
func checkGovc(cmd *exec.Cmd, vms int) error {
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	const once = `"config.hardware.numCPU"`
	n, found := 0, 0 // found is the length of the prefix of once that the last bytes match
	in := bufio.NewReader(out)
	for {
		c, err := in.ReadByte()
		if err != nil {
			break
		}
		if c != once[found] {
			found = 0
		}
		if c == once[found] {
			found++
		}
		if found == len(once) {
			n, found = n+1, 0
		}
	}
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("govc: %w", err)
	}
	if n != vms {
		return fmt.Errorf("govc brought %d VMs, want %d", n, vms)
	}
	return nil
}

// A server is the process of the simulated vCenter.
type server struct {
	cmd *exec.Cmd
	in  io.Closer
}

// startServer starts the vCenter and returns when it answers.
func startServer(self string, vms, settings int) (*server, string, error) {
	cmd := exec.Command(self, "serve", strconv.Itoa(vms), strconv.Itoa(settings))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, "", err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, "", err
	}
	if err := cmd.Start(); err != nil {
		return nil, "", err
	}
	s := &server{cmd, in}
	var address string
	if _, err := fmt.Fscanln(out, &address); err != nil {
		s.stop()
		return nil, "", fmt.Errorf("start the simulator: %w", err)
	}
	return s, address, nil
}

func (s *server) stop() {
	if err := errors.Join(s.in.Close(), s.cmd.Wait()); err != nil {
		fmt.Fprintln(os.Stderr, "collectbench: the simulator:", err)
	}
}

// serve is the process of the simulated vCenter; it ends at the end of its input.
func serve(args []string) error {
	vms, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	settings, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	vc, err := lab.Start(bigFleet(vms, settings))
	if err != nil {
		return err
	}
	defer vc.Close()
	fmt.Println(vc.URL)
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// read is the process that collects as homenode does. Arguments: address, page size, expected
// number of VMs and, optionally, a file for a CPU profile.
func read(args []string) error {
	u, page, vms, err := arguments(args)
	if err != nil {
		return err
	}
	if len(args) > 3 {
		f, err := os.Create(filepath.Clean(args[3]))
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	fleet, err := vsphere.Read(context.Background(), u, vsphere.Options{PageSize: page, Insecure: true})
	if err == nil && (len(fleet.VMs) != vms || len(fleet.Notes) != 0) {
		err = fmt.Errorf("read %d VMs with the notes %v, want %d and none", len(fleet.VMs), fleet.Notes, vms)
	}
	return err
}

func arguments(args []string) (u *url.URL, page int32, vms int, err error) {
	if u, err = url.Parse(args[0]); err != nil {
		return nil, 0, 0, err
	}
	n, err := strconv.ParseInt(args[1], 10, 32)
	if err != nil {
		return nil, 0, 0, err
	}
	vms, err = strconv.Atoi(args[2])
	return u, int32(n), vms, err
}
