package bundle

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"example.org/homenode/internal/golden"
	"example.org/homenode/numa"
)

// A file is one of a test bundle.
type file struct{ name, content string }

// powerOn is the log of one power-on of a VM with two vCPUs.
func powerOn(name, uuid, host, day, ppd string, extra ...string) string {
	e := day + "T08:00:00.000Z| vmx| I125: "
	lines := []string{
		"Log for VMware ESX pid=68123 version=7.0.3 build=build-21930508 option=Release",
		"Hostname=" + host,
		`DICT --- CONFIGURATION /vmfs/volumes/5a1f/` + name + `/` + name + `.vmx`,
		`DICT                  numvcpus = "2"`,
		`DICT                   memSize = "1024"`,
		`DICT               displayName = "` + name + `"`,
		`DICT                   vc.uuid = "` + uuid + `"`,
		"numaHost: 2 VCPUs 1 VPDs 1 PPDs",
		"numaHost: VCPU 0 VPD 0 PPD " + ppd,
		"numaHost: VCPU 1 VPD 0 PPD " + ppd,
	}
	return e + strings.Join(append(lines, extra...), "\n"+e) + "\n"
}

const (
	uuid1 = "50 2a 00 00 00 00 00 00-00 00 00 00 00 00 00 01"
	id1   = "502a0000-0000-0000-0000-000000000001"
	uuid2 = "50 2a 00 00 00 00 00 00-00 00 00 00 00 00 00 02"
	id2   = "502a0000-0000-0000-0000-000000000002"
)

func vmxText(name, uuid string, vcpus int) string {
	return fmt.Sprintf(".encoding = \"UTF-8\"\nvirtualHW.version = \"19\"\nnumvcpus = \"%d\"\nmemSize = \"2048\"\ndisplayName = \"%s\"\nvc.uuid = \"%s\"\n", vcpus, name, uuid)
}

func tgz(t testing.TB, files ...file) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, f := range files {
		if err := w.WriteHeader(&tar.Header{Name: f.name, Mode: 0o644, Size: int64(len(f.content)), Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(f.content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zipOf(t testing.TB, files ...file) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		m, err := w.Create(f.name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Write([]byte(f.content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// enter makes dir the working folder, so that places have short names.
func enter(t *testing.T, files ...file) {
	t.Helper()
	dir := t.TempDir()
	for _, f := range files {
		path := filepath.Join(dir, f.name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		golden.Write(t, path, []byte(f.content))
	}
	t.Chdir(dir)
}

// show prints a fleet, a line each VM, observation, host and note.
func show(f *numa.Fleet) []string {
	var out []string
	for i := range f.VMs {
		v := &f.VMs[i]
		out = append(out, fmt.Sprintf("vm %s %s host=%s at=%s vcpus=%d", v.ID, v.Name, v.Host, v.At, v.VCPUs.Value))
		for _, o := range v.Observed {
			out = append(out, fmt.Sprintf("  %s %s %s ppds=%v vcpus=%d", o.At, o.Time, o.Host, o.PPDs.Value, o.Config.VCPUs.Value))
		}
	}
	for i := range f.Hosts {
		h := &f.Hosts[i]
		out = append(out, fmt.Sprintf("host %s %v build %d (%s)", h.Name, h.Release.Value, h.Build.Value, h.Release.Origin))
	}
	for _, n := range f.Notes {
		out = append(out, "note "+n.String())
	}
	return out
}

func compare(t *testing.T, path string, want ...string) {
	t.Helper()
	if !Detect(path) {
		t.Errorf("%s is not detected", path)
	}
	f, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := show(f); !slices.Equal(got, want) {
		t.Errorf("%s:\ngot\n\t%s\nwant\n\t%s", path, strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// life is a VM that was moved, in a folder as it lies on a datastore.
var life = []file{
	{"sql01/sql01.vmx", vmxText("sql01", uuid1, 4)},
	{"sql01/vmware-10.log", powerOn("sql01", uuid1, "esx02.example.com", "2023-03-01", "1")},
	{"sql01/vmware-9.log", powerOn("sql01", uuid1, "esx01.example.com", "2023-02-01", "0")},
	{"sql01/vmware.log", powerOn("sql01", uuid1, "esx02.example.com", "2023-04-01", "1")},
	{"sql01/sql01.nvram", "not read"},
	{"web01/vmware.log", powerOn("web01", uuid2, "esx01.example.com", "2023-02-02", "0")},
}

func lifeSeen(prefix string) []string {
	return []string{
		"vm " + id1 + " sql01 host=esx02.example.com at=" + prefix + "sql01/sql01.vmx vcpus=4",
		"  " + prefix + "sql01/vmware-9.log:1 2023-02-01T08:00:00.000Z esx01.example.com ppds=[0 0] vcpus=2",
		"  " + prefix + "sql01/vmware-10.log:1 2023-03-01T08:00:00.000Z esx02.example.com ppds=[1 1] vcpus=2",
		"  " + prefix + "sql01/vmware.log:1 2023-04-01T08:00:00.000Z esx02.example.com ppds=[1 1] vcpus=2",
		"vm " + id2 + " web01 host=esx01.example.com at=" + prefix + "web01/vmware.log vcpus=2",
		"  " + prefix + "web01/vmware.log:1 2023-02-02T08:00:00.000Z esx01.example.com ppds=[0 0] vcpus=2",
		"host esx01.example.com 7.0 U3 build 21930508 (read: vmware.log " + prefix + "sql01/vmware-9.log line 1)",
		"host esx02.example.com 7.0 U3 build 21930508 (read: vmware.log " + prefix + "sql01/vmware-10.log line 1)",
		"note " + prefix + "sql01/vmware-9.log:1: host esx01.example.com: no file states its NUMA nodes; --assume-host can",
		"note " + prefix + "sql01/vmware-10.log:1: host esx02.example.com: no file states its NUMA nodes; --assume-host can",
	}
}

// TestForms reads the same VMs from a folder and from archives.
func TestForms(t *testing.T) {
	folder := make([]file, len(life))
	for i, f := range life {
		folder[i] = file{"ds/" + f.name, f.content}
	}
	enter(t, append(folder, file{"a.tgz", string(tgz(t, life...))}, file{"a.zip", string(zipOf(t, life...))},
		file{"b.zip", string(zipOf(t, file{"x/a.tgz", string(tgz(t, life...))}))})...)
	compare(t, "ds", lifeSeen("ds/")...)
	compare(t, "a.tgz", lifeSeen("a.tgz/")...)
	compare(t, "a.zip", lifeSeen("a.zip/")...)
	compare(t, "b.zip", lifeSeen("b.zip/x/a.tgz/")...)
}

func TestSingleFiles(t *testing.T) {
	enter(t, file{"a.vmx", vmxText("sql01", uuid1, 4)}, file{"vmware.log", powerOn("sql01", uuid1, "esx01", "2023-02-01", "0")},
		file{"pasted.txt", "DICT numvcpus = \"1\"\nDICT memSize = \"512\"\nDICT displayName = \"a\"\n\nDICT numvcpus = \"2\"\nDICT memSize = \"512\"\nDICT displayName = \"b\"\n"})
	compare(t, "a.vmx", "vm "+id1+" sql01 host= at=a.vmx vcpus=4", "note a.vmx: no file names a host; --assume-host can")
	compare(t, "vmware.log", "vm "+id1+" sql01 host=esx01 at=vmware.log vcpus=2",
		"  vmware.log:1 2023-02-01T08:00:00.000Z esx01 ppds=[0 0] vcpus=2",
		"host esx01 7.0 U3 build 21930508 (read: vmware.log vmware.log line 1)",
		"note vmware.log:1: host esx01: no file states its NUMA nodes; --assume-host can")
	compare(t, "pasted.txt", "vm a a host= at=pasted.txt vcpus=1", "  pasted.txt:1   ppds=[] vcpus=1",
		"vm b b host= at=pasted.txt vcpus=2", "  pasted.txt:5   ppds=[] vcpus=2", "note pasted.txt: no file names a host; --assume-host can")
}

// TestVMSupport reads two bundles of hosts that a VM moved between, one with a
// divided log, one of its parts before its turn.
func TestVMSupport(t *testing.T) {
	const one, two = "esx-esx01-2023-05-01--10.00-1", "esx-esx02.example.com-2023-05-01--10.05-2"
	log := powerOn("sql01", uuid1, "esx02.example.com", "2023-03-01", "1")
	enter(t,
		file{"in/" + one + ".tgz", string(tgz(t,
			file{one + "/vmfs/volumes/5a1f/sql01/vmware-1.log", powerOn("sql01", uuid1, "esx01.example.com", "2023-02-01", "0")},
			file{one + "/var/run/log/hostd.log", "numaHost: VCPU 0 VPD 0 PPD 0"},
			file{one + "/vmfs/volumes/5a1f/old/old.vmx", vmxText("old", "none", 1)},
		))},
		file{"in/" + two + ".tgz", string(tgz(t,
			file{two + "/vmfs/volumes/5a1f/sql01/vmware.log.FRAG-00001", log[300:]},
			file{two + "/vmfs/volumes/5a1f/sql01/sql01.vmx", vmxText("sql01", uuid1, 2)},
			file{two + "/vmfs/volumes/5a1f/sql01/vmware.log.FRAG-00000", log[:300]},
		))})
	ds := "in/" + one + ".tgz/" + one + "/vmfs/volumes/5a1f/"
	ds2 := "in/" + two + ".tgz/" + two + "/vmfs/volumes/5a1f/"
	compare(t, "in",
		"vm "+ds+"old/old.vmx old host=esx01.example.com at="+ds+"old/old.vmx vcpus=1",
		"vm "+id1+" sql01 host=esx02.example.com at="+ds2+"sql01/sql01.vmx vcpus=2",
		"  "+ds+"sql01/vmware-1.log:1 2023-02-01T08:00:00.000Z esx01.example.com ppds=[0 0] vcpus=2",
		"  "+ds2+"sql01/vmware.log:1 2023-03-01T08:00:00.000Z esx02.example.com ppds=[1 1] vcpus=2",
		"host esx01.example.com 7.0 U3 build 21930508 (read: vmware.log "+ds+"sql01/vmware-1.log line 1)",
		"host esx02.example.com 7.0 U3 build 21930508 (read: vmware.log "+ds2+"sql01/vmware.log line 1)",
		"note "+ds+"old/old.vmx:6:11: vc.uuid: found \"none\", want 32 hexadecimal digits",
		"note "+ds+"sql01/vmware-1.log:1: host esx01.example.com: no file states its NUMA nodes; --assume-host can",
		"note "+ds2+"sql01/vmware.log:1: host esx02.example.com: no file states its NUMA nodes; --assume-host can")
}

// TestHost reads what the commands of vm-support tell of the host.
func TestHost(t *testing.T) {
	const top = "esx-esx01-2023-05-01--10.00-1"
	log := powerOn("sql01", uuid1, "esx01.example.com", "2023-02-01", "0")
	enter(t, file{"b.tgz", string(tgz(t,
		file{top + "/vmfs/volumes/5a1f/sql01/vmware.log", log},
		file{top + "/commands/vmware_-vl.txt", "VMware ESXi 8.0.1 build-21495797\nVMware ESXi 8.0 Update 1\n"},
		file{top + "/commands/localcli_hardware-cpu-global-get.txt", "   CPU Packages: 2\n   CPU Cores: 20\n   CPU Threads: 40\n   Hyperthreading Active: true\n"},
		file{top + "/commands/localcli_hardware-memory-get.txt", "   Physical Memory: 240470433792 Bytes\n   Reliable Memory: 0 Bytes\n   NUMA Node Count: 2\n"},
		file{top + "/commands/localcli_system-settings-advanced-list--d.txt", "\n"},
		file{top + "/commands/vsi_traverse_-s.txt", "/vmkModules/x\nnumaHost: VCPU 0 VPD 0 PPD 0\n/memory/nodeList/0:\nNUMA node {\n   Total (pages):100\n}\n" +
			"/memory/nodeList/1:\nNUMA node {\n   Total (pages):200\n}\n/system/x\nsoup\n"},
		file{top + "/commands/df.txt", "not read"},
	))})
	f, err := Read("b.tgz")
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Hosts) != 1 || len(f.VMs) != 1 || f.VMs[0].Host != f.Hosts[0].ID || len(f.Notes) != 0 {
		t.Fatalf("%v", show(f))
	}
	h := f.Hosts[0]
	var nodes []string
	for _, n := range h.Nodes.Value {
		nodes = append(nodes, fmt.Sprintf("%d: package %d, %d cores, %d threads, %d pages", n.ID, n.Package, n.Cores, n.Threads, n.Memory.Value/numa.PageSize))
	}
	want := []string{"0: package 0, 10 cores, 20 threads, 100 pages", "1: package 1, 10 cores, 20 threads, 200 pages"}
	if !slices.Equal(nodes, want) || h.Nodes.Origin.Kind != numa.Derived {
		t.Errorf("nodes %q (%v), want %q", nodes, h.Nodes.Origin, want)
	}
	// What a command states stays; the log is of an older release.
	if h.Release.Value != numa.ESXi80+1 || h.Build.Value != 21495797 || h.Memory.Value != 240470433792 || !h.HyperThreading.Value {
		t.Errorf("host %+v", h)
	}
	const origin = "b.tgz/" + top + "/commands/vmware_-vl.txt line 1"
	if !strings.HasPrefix(h.Release.Origin.Where, origin) {
		t.Errorf("release from %q, want %q", h.Release.Origin.Where, origin)
	}
}

// TestPairs checks which log is of which VM.
func TestPairs(t *testing.T) {
	for _, tt := range []struct {
		name  string
		files []file
		want  []string // VM: number of observations
	}{
		{"a copy with the logs of its template", []file{
			{"d/a.vmx", vmxText("a", uuid1, 2)}, {"d/vmware.log", powerOn("a", uuid2, "h", "2023-01-01", "0")}}, []string{"a: 0", "a: 1"}},
		{"renamed since", []file{
			{"d/new.vmx", vmxText("new", uuid1, 2)}, {"d/vmware.log", powerOn("old", uuid1, "h", "2023-01-01", "0")}}, []string{"new: 1"}},
		{"two VMs in one folder", []file{
			{"d/a.vmx", vmxText("a", uuid1, 2)}, {"d/b.vmx", vmxText("b", uuid2, 2)},
			{"d/a.log", powerOn("a", uuid1, "h", "2023-01-01", "0")}, {"d/b.log", powerOn("b", uuid2, "h", "2023-01-01", "0")}}, []string{"a: 1", "b: 1"}},
		{"a log without settings", []file{
			{"d/a.vmx", vmxText("a", uuid1, 2)}, {"d/vmware.log", "numaHost: VCPU 0 VPD 0 PPD 0\n"}}, []string{"a: 1"}},
		{"no displayName", []file{{"d/vmware.log", "DICT numvcpus = \"2\"\nDICT memSize = \"64\"\n"}}, []string{"d: 1"}},
		{"a rotated log", []file{
			{"d/vmware-1.log", powerOn("a", uuid1, "h", "2023-01-01", "0")}, {"d/vmware.log", "2023-01-02T00:00:00.000Z| vmx| I125: Vix: nothing\n"}}, []string{"a: 1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			enter(t, tt.files...)
			f, err := Read("d")
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for i := range f.VMs {
				got = append(got, fmt.Sprintf("%s: %d", f.VMs[i].Name, len(f.VMs[i].Observed)))
			}
			slices.Sort(got)
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestDamage(t *testing.T) {
	whole := tgz(t, append([]file{{"first/vmware.log", powerOn("first", uuid2, "h", "2023-01-01", "0")}}, life...)...)
	var plain bytes.Buffer
	z, err := gzip.NewReader(bytes.NewReader(whole))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := plain.ReadFrom(z); err != nil {
		t.Fatal(err)
	}
	enter(t, file{"cut.tar", plain.String()[:512+700]}, file{"empty/readme.md", "x"}, file{"binary/vmware.log", "\x00\x01"}, file{"soup.tgz", "soup"},
		file{"other/notes.txt", "hello"})
	compare(t, "cut.tar", "vm "+id2+" first host=h at=cut.tar/first/vmware.log vcpus=2",
		"  cut.tar/first/vmware.log:1 2023-01-01T08:00:00.000Z h ppds=[] vcpus=2",
		"host h 7.0 U3 build 21930508 (read: vmware.log cut.tar/first/vmware.log line 1)",
		"note cut.tar/first/vmware.log: not read, or in part only: line 9: unexpected EOF",
		"note cut.tar: not read, or in part only: damaged or cut off at or behind first/vmware.log: unexpected EOF",
		"note cut.tar/first/vmware.log:1: host h: no file states its NUMA nodes; --assume-host can")
	for _, tt := range []struct{ path, want string }{
		{"empty", "empty: found no .vmx, no vmware.log and no vm-support bundle in it"},
		{"binary", "binary/vmware.log:1: found no line of a vmware.log"},
		{"soup.tgz", "soup.tgz: found no .vmx, no vmware.log and no vm-support bundle in it (1 other files)"},
		{"other", "other: found no .vmx, no vmware.log and no vm-support bundle in it (1 other files)"},
		{"nowhere", "nowhere: no such file or directory"},
	} {
		if f, err := Read(tt.path); f != nil || err == nil || err.Error() != tt.want {
			t.Errorf("%s: %v; want %s", tt.path, err, tt.want)
		}
	}
	for _, path := range []string{"empty", "other", "nowhere", "empty/readme.md"} {
		if Detect(path) {
			t.Errorf("%s is detected", path)
		}
	}
}

func TestUseOf(t *testing.T) {
	got := map[string]use{}
	want := map[string]use{
		"d/a.vmx": vmxFile, "d/a.VMTX": vmxFile, "d/vmware.log": vmLog, "d/VMWARE-12.LOG": vmLog, "d/vmware-2.log.gz": vmLog,
		"d/vmware-x.log": perhapsLog, "d/sql01.log": perhapsLog, "d/x.txt": perhapsLog,
		"esx-a/var/run/log/vmkernel.log": useless, "esx-a/commands/df.txt": useless, "d/a.vmdk": useless, "d/vmware.log.vswp": useless,
	}
	for name := range want {
		got[name] = useOf(name)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}

// TestNodeMemory: where a bundle states the memory of the host and not that of its nodes, each is assumed to have an equal share.
func TestNodeMemory(t *testing.T) {
	const top = "esx-esx01-2023-05-01--10.00-1"
	outputs := []file{
		{top + "/commands/vmware_-vl.txt", "VMware ESXi 8.0.1 build-21495797\nVMware ESXi 8.0 Update 1\n"},
		{top + "/commands/localcli_hardware-cpu-global-get.txt", "   CPU Packages: 2\n   CPU Cores: 20\n   CPU Threads: 40\n   Hyperthreading Active: true\n"},
		{top + "/commands/localcli_hardware-memory-get.txt", "   Physical Memory: 240470433792 Bytes\n   Reliable Memory: 0 Bytes\n   NUMA Node Count: 2\n"},
	}
	one := file{top + "/commands/vsi_traverse_-s.txt", "/memory/nodeList/0:\nNUMA node {\n   Total (pages):100\n}\n"}
	for want, files := range map[string][]file{"[112.0 GB 112.0 GB]": outputs, "[400 KB 0 B]": append(slices.Clone(outputs), one)} {
		enter(t, file{"b.tgz", string(tgz(t, files...))})
		f, err := Read("b.tgz")
		if err != nil || len(f.Hosts) != 1 {
			t.Fatal(f, err)
		}
		var got []numa.Bytes
		for _, n := range f.Hosts[0].Nodes.Value {
			got = append(got, n.Memory.Value)
			if n.Memory.Known() && (n.Memory.Origin.Kind == numa.Assumed) != (len(files) == len(outputs)) {
				t.Errorf("memory of node %d is %v", n.ID, n.Memory.Origin)
			}
		}
		if fmt.Sprint(got) != want {
			t.Errorf("found %v, want %s", got, want)
		}
	}
}
