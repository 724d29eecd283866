//go:build unix

package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"homenode/internal/atomicfile"
	"homenode/source/scenario"
	"homenode/source/snapshot"
)

// bigFleet writes a scenario of n VMs, 20 to a host and 25 hosts to a cluster,
// every tenth VM wide, some with hot add or a stored size, two host shapes in every
// fourth cluster.
func bigFleet(n int) []byte {
	var b bytes.Buffer
	fmt.Fprintln(&b, "release 7.0U3")
	for c, vms := 0, 0; vms < n; c++ {
		fmt.Fprintf(&b, "cluster c%04d\n", c)
		other := ""
		if c%4 == 0 {
			other = "nodes=4 cores=14 memory=1024GB"
		} else {
			other = "nodes=2 cores=18 memory=1024GB"
		}
		fmt.Fprintf(&b, "host h%04d-[01-20] nodes=2 cores=18 memory=1024GB\nhost h%04d-[21-25] %s\n", c, c, other)
		k := min(500, n-vms)
		for i := 0; i < k; i++ {
			name := fmt.Sprintf("v%04d-%03d", c, i)
			switch {
			case i%10 == 0:
				fmt.Fprintf(&b, "vm %s vcpus=32 coresPerSocket=2 memory=384GB stored=16 hotAdd=%s\n", name, [2]string{"off", "on"}[i/10%2])
			case i%10 == 1:
				fmt.Fprintf(&b, "vm %s vcpus=8 memory=32GB memoryHotAdd=on sched.cpu.latencySensitivity=normal\n", name)
			default:
				fmt.Fprintf(&b, "vm %s vcpus=4 memory=16GB numa.autosize.vcpu.maxPerVirtualNode=4 numa.autosize.cookie=40012\n", name)
			}
		}
		vms += k
	}
	return b.Bytes()
}

// BenchmarkAssess runs the program as a process: reads a snapshot, judges every VM
// on every host of its cluster, writes the table. It reports the largest memory.
func BenchmarkAssess(b *testing.B) {
	benchmark(b, exitFindings, "judged  %d,000 VMs", []int{10_000, 100_000}, func(int) []string { return []string{"assess"} })
}

// BenchmarkFix plans the changes that the findings of a snapshot need.
func BenchmarkFix(b *testing.B) {
	benchmark(b, exitClean, "Nothing was written", []int{10_000}, func(int) []string { return []string{"fix"} })
}

// BenchmarkMove writes a domain and a page for each VM of a snapshot and plans their hosts, 500 for 10,000 VMs.
func BenchmarkMove(b *testing.B) {
	dir, n := b.TempDir(), 0
	benchmark(b, exitClean, "%d,000 VMs go to", []int{10_000, 50_000}, func(vms int) []string {
		n++
		return []string{"move", "--hosts", fmt.Sprintf("2x36c/2TB*%d", vms/20), "-o", filepath.Join(dir, strconv.Itoa(n))}
	})
}

// benchmark runs a command on snapshots of so many VMs, with the arguments for that many before the file. Its output has said,
// where %d stands for the thousands of VMs.
func benchmark(b *testing.B, exit int, said string, sizes []int, arguments func(vms int) []string) {
	dir := b.TempDir()
	binary := filepath.Join(dir, "homenode")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	for _, n := range sizes {
		fleet, err := scenario.Read("big.txtar", bigFleet(n))
		if err != nil {
			b.Fatal(err)
		}
		file := filepath.Join(dir, fmt.Sprintf("fleet-%d.json", n))
		if err := atomicfile.Write(file, func(w io.Writer) error { return snapshot.Write(w, fleet) }); err != nil {
			b.Fatal(err)
		}
		info, err := os.Stat(file)
		if err != nil {
			b.Fatal(err)
		}
		want := said
		if strings.Contains(said, "%d") {
			want = fmt.Sprintf(said, n/1000)
		}
		b.Run(fmt.Sprintf("vms=%d", n), func(b *testing.B) {
			b.SetBytes(info.Size())
			largest := int64(0)
			for b.Loop() {
				cmd := exec.Command(binary, append(arguments(n), file)...)
				out, err := cmd.Output()
				if cmd.ProcessState.ExitCode() != exit {
					b.Fatalf("exit %d: %v", cmd.ProcessState.ExitCode(), err)
				}
				if !bytes.Contains(out, []byte(want)) {
					b.Fatalf("found %.200s, want %q", out, want)
				}
				if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
					largest = max(largest, int64(usage.Maxrss))
				}
			}
			b.ReportMetric(float64(largest)/1024, "MB-rss")
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "VMs/s")
		})
	}
}
