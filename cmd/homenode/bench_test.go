//go:build unix

package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.org/homenode/internal/atomicfile"
	"example.org/homenode/internal/golden"
	"example.org/homenode/internal/testdeps"
	"example.org/homenode/source/scenario/given"
	"example.org/homenode/source/snapshot"
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

// bigSnapshot writes a snapshot of bigFleet.
func bigSnapshot(t testing.TB, dir string, n int) (file string) {
	t.Helper()
	fleet := given.Fleet(t, "big.txtar", bigFleet(n))
	file = filepath.Join(dir, fmt.Sprintf("fleet-%d.json", n))
	if err := atomicfile.Write(file, func(w io.Writer) error { return snapshot.Write(w, fleet) }); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestAllocated demands that a further VM of a snapshot makes a command allocate no more bytes than it does in docs/evidence/performance.md, and a quarter.
func TestAllocated(t *testing.T) {
	const few, many = 1000, 4000
	dir := t.TempDir()
	files := map[int]string{few: bigSnapshot(t, dir, few), many: bigSnapshot(t, dir, many)}
	var text []string
	for _, tt := range []struct {
		command string
		exit    int
		most    uint64
	}{{"assess", exitFindings, 8_500}, {"fix", exitClean, 48_000}} {
		allocated := func(n int) uint64 {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if code := run(t.Context(), []string{tt.command, files[n]}, strings.NewReader(""), io.Discard, io.Discard); code != tt.exit {
				t.Fatalf("%s of %d VMs: exit code %d, want %d", tt.command, n, code, tt.exit)
			}
			runtime.ReadMemStats(&after)
			return after.TotalAlloc - before.TotalAlloc
		}
		allocated(few) // the part that is allocated once
		each := (allocated(many) - allocated(few)) / (many - few)
		text = append(text, fmt.Sprintf("%s %d bytes a VM", tt.command, each))
		if each > tt.most {
			t.Errorf("%s allocates %d bytes a VM, want at most %d", tt.command, each, tt.most)
		}
	}
	t.Log(strings.Join(text, ", "))
}

// BenchmarkAssess runs the program as a process: reads a snapshot, judges every VM
// on every host of its cluster, writes the table. It reports the largest memory.
func BenchmarkAssess(b *testing.B) {
	benchmark(b, exitFindings, "judged  %d,000 VMs", []int{10_000, 30_000, 100_000}, func(int) []string { return []string{"assess"} })
}

// BenchmarkFix plans the changes that the findings of a snapshot need.
func BenchmarkFix(b *testing.B) {
	benchmark(b, exitClean, "Nothing was written", []int{10_000, 20_000, 40_000}, func(int) []string { return []string{"fix"} })
}

// BenchmarkMove writes a domain and a page for each VM of a snapshot and plans their hosts, 500 for 10,000 VMs.
func BenchmarkMove(b *testing.B) {
	dir, n := b.TempDir(), 0
	benchmark(b, exitFindings, "VMs go to", []int{10_000, 20_000, 50_000}, func(vms int) []string {
		n++
		return []string{"move", "--hosts", fmt.Sprintf("2x36c/2TB*%d", vms/20), "-o", filepath.Join(dir, strconv.Itoa(n))}
	})
}

// benchmark runs a command on snapshots of so many VMs, with the arguments for that many before the file. Its output has said,
// where %d stands for the thousands of VMs.
func benchmark(b *testing.B, exit int, said string, sizes []int, arguments func(vms int) []string) {
	dir := b.TempDir()
	binary := compiled(b, dir)
	for _, n := range sizes {
		file := snapshotBy(b, binary, dir, n)
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
			largest, cpu := int64(0), time.Duration(0)
			for b.Loop() {
				out, rss, took := process(b, exit, binary, append(arguments(n), file)...)
				if !bytes.Contains(out, []byte(want)) {
					b.Fatalf("found %.200s, want %q", out, want)
				}
				largest, cpu = max(largest, rss), cpu+took
			}
			b.ReportMetric(float64(largest)/1e6, "MB-rss")
			b.ReportMetric(cpu.Seconds()/float64(b.N), "cpu-s/op")
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "VMs/s")
		})
	}
}

// compiled returns the path of the program, built into this folder.
func compiled(t testing.TB, dir string) string {
	t.Helper()
	binary := filepath.Join(dir, "homenode")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return binary
}

// snapshotBy has the program write a snapshot of bigFleet: to Linux the largest memory of a process is no less than that of the one that starts it, which
// has to stay small.
func snapshotBy(t testing.TB, binary, dir string, n int) (file string) {
	t.Helper()
	story := filepath.Join(dir, fmt.Sprintf("fleet-%d.txtar", n))
	golden.Write(t, story, bigFleet(n))
	file = strings.TrimSuffix(story, ".txtar") + ".json"
	process(t, exitClean, binary, "snapshot", story, "-o", file)
	return file
}

// process runs the program, which ends with this exit code. It returns the output, the largest resident memory in bytes (0 where the system does not tell)
// and the CPU time.
func process(t testing.TB, exit int, binary string, args ...string) (out []byte, rss int64, cpu time.Duration) {
	t.Helper()
	cmd := exec.Command(binary, args...)
	out, err := cmd.Output()
	if code := cmd.ProcessState.ExitCode(); code != exit {
		t.Fatalf("%q: exit %d: %v", args, code, err)
	}
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		rss = int64(usage.Maxrss) << 10
	}
	return out, rss, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

// TestPeak demands that commands take no more memory than docs/evidence/performance.md says, and a tenth.
func TestPeak(t *testing.T) {
	if !testdeps.Proof() || runtime.GOOS != "linux" {
		t.Skip("a part of make prove, on Linux")
	}
	dir := t.TempDir()
	binary := compiled(t, dir)
	var text []string
	for _, tt := range []struct {
		vms, exit int
		most      int64 // MB
		args      []string
	}{
		{10_000, exitFindings, 94, []string{"assess"}},
		{100_000, exitFindings, 440, []string{"assess"}},
		{10_000, exitClean, 180, []string{"fix"}},
		{10_000, exitFindings, 206, []string{"move", "--hosts", "2x36c/2TB*500", "-o", filepath.Join(dir, "moved")}},
	} {
		_, rss, _ := process(t, tt.exit, binary, append(tt.args, snapshotBy(t, binary, dir, tt.vms))...)
		text = append(text, fmt.Sprintf("%s of %d VMs %d MB", tt.args[0], tt.vms, rss/1e6))
		if rss == 0 || rss > tt.most*1e6*11/10 {
			t.Errorf("%s of %d VMs takes %d bytes, want at most %d MB and a tenth", tt.args[0], tt.vms, rss, tt.most)
		}
	}
	t.Log(strings.Join(text, ", "))
}
