package bundle

import (
	"archive/tar"
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	stdgzip "compress/gzip"

	"example.org/homenode/internal/stat"

	"github.com/klauspost/compress/gzip"
)

// lines are the like of what fills a vmware.log between two power-ons: mostly
// messages of the guest tools, with numbers that differ.
var lines = []string{
	"vcpu-%d - GuestRpc: Got RPCI vsocket connection %d, assigned to channel 0.",
	"mks - SOCKET %d (%d) Creating VNC remote connection.",
	"vmx - Vix: [mainDispatch.c:4357]: VMAutomation_ReportPowerOpFinished: statevar=%d, newAppState=%d, success=1",
	"vcpu-%d - Tools: Tools heartbeat timeout after %d s.",
	"vmx - Checkpoint_Unstun: vm stopped for %d us (%d)",
	"svga - SVGA-ScreenMgr: Screen type changed to RegisterMode %d of %d",
	"vcpu-%d - scsi0:0: Command READ(10) took %d.372 seconds (ok)",
}

// fillLog writes about size bytes of a log.
func fillLog(w io.Writer, r *rand.Rand, size int) (err error) {
	for n := 0; n < size && err == nil; {
		var k int
		k, err = fmt.Fprintf(w, "2024-%02d-%02dT%02d:%02d:%02d.%03dZ In(05) "+lines[r.IntN(len(lines))]+"\n",
			1+r.IntN(12), 1+r.IntN(28), r.IntN(24), r.IntN(60), r.IntN(60), r.IntN(1000), r.IntN(64), r.Uint32())
		n += k
	}
	return err
}

// vmLogOf is a vmware.log of size bytes: a power-on with 64 vCPUs, then its life.
func vmLogOf(r *rand.Rand, vm, size int) string {
	var b strings.Builder
	e := "2024-01-02T08:00:00.000Z In(05) vmx - "
	b.WriteString(e + "Log for VMware ESX pid=2100001 version=8.0.1 build=build-21495797 option=Release\n" + e + "Hostname=esx01.example.com\n")
	for i := range 400 {
		fmt.Fprintf(&b, e+"DICT %25s = \"%d\"\n", "ethernet"+strconv.Itoa(i)+".pciSlotNumber", i)
	}
	for _, kv := range [][2]string{{"numvcpus", "64"}, {"memSize", "4096"}, {"displayName", fmt.Sprintf("vm%04d", vm)}, {"virtualHW.version", "20"}} {
		fmt.Fprintf(&b, e+"DICT %25s = \"%s\"\n", kv[0], kv[1])
	}
	b.WriteString(e + "numaHost: 64 VCPUs 2 VPDs 2 PPDs\n")
	for i := range 64 {
		fmt.Fprintf(&b, e+"numaHost: VCPU %d VPD %d PPD %d NodeMask ffffffffffffffff\n", i, i/32, i/32)
	}
	if err := fillLog(&b, r, size-b.Len()); err != nil {
		panic(err) // a strings.Builder does not fail
	}
	return b.String()
}

// writeBundle writes a vm-support bundle of about size unpacked bytes, of which
// share percent are logs of VMs of 4 MB each, and returns the unpacked size.
func writeBundle(tb testing.TB, path string, size int64, share int) (unpacked int64, vms int) {
	tb.Helper()
	const top, member = "esx-esx01-2024-01-31--08.15-2100123", 4 << 20
	f, err := os.Create(path)
	if err != nil {
		tb.Fatal(err)
	}
	out := bufio.NewWriterSize(f, 1<<20)
	z := gzip.NewWriter(out)
	w := tar.NewWriter(z)
	r := rand.New(rand.NewPCG(1, 2))
	add := func(name, content string) {
		err := w.WriteHeader(&tar.Header{Name: top + name, Mode: 0o644, Size: int64(len(content)), Typeflag: tar.TypeReg})
		if err == nil {
			_, err = io.WriteString(w, content)
		}
		if err != nil {
			tb.Fatal(err)
		}
		unpacked += int64(len(content)+511)/512*512 + 512
	}
	for i := 0; unpacked < size; i++ {
		if i*share/100 < (i+1)*share/100 {
			vms++
			add(fmt.Sprintf("/vmfs/volumes/5a1f/vm%04d/vmware.log", vms), vmLogOf(r, vms, member))
			continue
		}
		var b strings.Builder
		if err := fillLog(&b, r, member); err != nil {
			tb.Fatal(err)
		}
		add(fmt.Sprintf("/var/run/log/vmkernel.%d.log", i), b.String())
	}
	for _, close := range []func() error{w.Close, z.Close, out.Flush, f.Close} {
		if err := close(); err != nil {
			tb.Fatal(err)
		}
	}
	return unpacked + 1024, vms
}

// gunzip unpacks a file to nothing, as fast as it goes.
func gunzip(tb testing.TB, path string, open func(io.Reader) (io.Reader, error)) int64 {
	tb.Helper()
	f, err := os.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	z, err := open(bufio.NewReaderSize(f, 256<<10))
	if err != nil {
		tb.Fatal(err)
	}
	n, err := io.Copy(io.Discard, z)
	if err != nil {
		tb.Fatal(err)
	}
	return n
}

func fast(r io.Reader) (io.Reader, error)     { return gzip.NewReader(r) }
func standard(r io.Reader) (io.Reader, error) { return stdgzip.NewReader(r) }

// BenchmarkRead reads a vm-support bundle, and before each read unpacks the same
// file to nothing with the same gzip (%ofGzip) and with that of the standard
// library (%ofStdGzip). HOMENODE_BUNDLE_MB is its unpacked size, 64 by default.
func BenchmarkRead(b *testing.B) {
	size := int64(64)
	if s := os.Getenv("HOMENODE_BUNDLE_MB"); s != "" {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			b.Fatal(err)
		}
		size = n
	}
	for _, share := range []int{10, 100} {
		b.Run(fmt.Sprintf("logs=%d%%", share), func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "bundle.tgz")
			unpacked, vms := writeBundle(b, path, size<<20, share)
			b.SetBytes(unpacked)
			b.ReportAllocs()
			var read, same, std []float64
			since := func(list *[]float64, start time.Time) { *list = append(*list, time.Since(start).Seconds()) }
			for b.Loop() {
				b.StopTimer()
				start := time.Now()
				if n := gunzip(b, path, fast); n != unpacked {
					b.Fatalf("unpacked %d bytes, want %d", n, unpacked)
				}
				since(&same, start)
				start = time.Now()
				gunzip(b, path, standard)
				since(&std, start)
				runtime.GC()
				b.StartTimer()
				start = time.Now()
				f, err := Read(path)
				since(&read, start)
				if err != nil || len(f.VMs) != vms || len(f.VMs[0].Observed) != 1 || len(f.VMs[0].Observed[0].VPDs.Value) != 64 {
					b.Fatalf("%d VMs, want %d: %v", len(f.VMs), vms, err)
				}
			}
			b.ReportMetric(100*stat.MedianOf(same)/stat.MedianOf(read), "%ofGzip")
			b.ReportMetric(100*stat.MedianOf(std)/stat.MedianOf(read), "%ofStdGzip")
		})
	}
}
