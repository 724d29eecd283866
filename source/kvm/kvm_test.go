package kvm

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"example.org/homenode/internal/golden"
	"example.org/homenode/numa"
)

const capabilities = `<capabilities><host><cpu><model>EPYC-Milan</model><vendor>AMD</vendor></cpu><topology><cells num='2'>
<cell id='0'><memory unit='GiB'>64</memory><distances><sibling id='0' value='10'/><sibling id='2' value='21'/></distances>
<cpus num='4'><cpu id='0' socket_id='0' core_id='0' siblings='0,4'/><cpu id='1' socket_id='0' core_id='1' siblings='1,5'/>
<cpu id='4' socket_id='0' core_id='0' siblings='0,4'/><cpu id='5' socket_id='0' core_id='1' siblings='1,5'/></cpus></cell>
<cell id='2'><memory unit='GiB'>32</memory><distances><sibling id='0' value='21'/><sibling id='2' value='10'/></distances>
<cpus num='2'><cpu id='2' socket_id='1' core_id='2' siblings='2'/><cpu id='3' socket_id='1' core_id='3' siblings='3'/></cpus></cell>
</cells></topology></host></capabilities>`

const sql01 = `<domain type='kvm' id='3'>
  <name>sql01</name>
  <uuid>0e7d5e2c-52a5-4e0a-9a11-9a8f6a1c2b3d</uuid>
  <memory unit='GiB'>32</memory>
  <vcpu placement='static' cpuset='0-1' current='3'>4</vcpu>
  <cputune>
    <vcpupin vcpu='2' cpuset='2-3'/>
    <vcpupin vcpu='3' cpuset='2-3'/>
  </cputune>
  <numatune>
    <memory mode='preferred' nodeset='0'/>
    <memnode cellid='1' mode='strict' nodeset='2'/>
  </numatune>
  <cpu>
    <topology sockets='2' cores='2' threads='1'/>
    <numa>
      <cell id='1' cpus='2-3' memory='16' unit='GiB'/>
      <cell id='0' cpus='0-1' memory='16' unit='GiB'/>
    </numa>
  </cpu>
</domain>`

func fleetOf(t testing.TB, files ...string) *numa.Fleet {
	t.Helper()
	fsys := fstest.MapFS{}
	for i := 0; i < len(files); i += 2 {
		fsys[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
	}
	f, err := ReadFS("fleet", fsys)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// uuid is the line of sql01 that identifies it.
const uuid = "  <uuid>0e7d5e2c-52a5-4e0a-9a11-9a8f6a1c2b3d</uuid>\n"

// manifest returns the manifest of a VM named web.
func manifest(kind, namespace string, sockets int) string {
	spec := fmt.Sprintf("    domain:\n      cpu: {sockets: %d}\n      memory: {guest: 4Gi}\n", sockets)
	head := "apiVersion: kubevirt.io/v1\nkind: " + kind + "\nmetadata: {name: web, namespace: " + namespace + "}\nspec:\n"
	if kind == "VirtualMachine" {
		return head + "  template:\n   spec:\n" + spec
	}
	return head + spec
}

func notes(f *numa.Fleet) (out []string) {
	for _, n := range f.Notes {
		out = append(out, n.String())
	}
	return out
}

// TestBundle reads one host and one VM with everything.
func TestBundle(t *testing.T) {
	f := fleetOf(t, "kvm01/capabilities.xml", capabilities, "kvm01/domains/sql01.xml", sql01,
		"kvm01/numastat.txt", "Per-node process memory usage (in MBs)\nPID              Node 0 Node 2 Total\n---------------  ------ ------ -----\n71 (qemu-kvm)     16384  15360 31744\n---------------  ------ ------ -----\nTotal             16384  15360 31744\n",
		"kvm01/pids.txt", "71 sql01\n")
	if f.Notes != nil || f.Hypervisor != numa.KVM || len(f.Hosts) != 1 || len(f.VMs) != 1 {
		t.Fatalf("%v, %q, %d hosts, %d VMs", f.Notes, f.Hypervisor, len(f.Hosts), len(f.VMs))
	}
	h := &f.Hosts[0]
	wantNodes := []numa.Node{{ID: 0, Package: 0, Cores: 2, Threads: 4, Memory: numa.ReadAt(64*numa.GiB, "line 2:14")}, {ID: 2, Package: 1, Cores: 2, Threads: 2, Memory: numa.ReadAt(32*numa.GiB, "line 5:14")}}
	if h.Name != "kvm01" || h.CPUModel.Value != "AMD EPYC-Milan" || !slices.Equal(h.Nodes.Value, wantNodes) || fmt.Sprint(h.CPUs.Value, h.Distance.Value) != "[[0 1 4 5] [2 3]] [[10 21] [21 10]]" {
		t.Errorf("host %+v", h)
	}
	if node, ok := h.NodeOfPCPU(3); node != 2 || !ok {
		t.Errorf("CPU 3 is of node %d, %v", node, ok)
	}
	if _, ok := h.NodeOfPCPU(6); ok {
		t.Error("a CPU that the host has not is of a node")
	}
	v := &f.VMs[0]
	s := v.Stated
	if v.ID != "kvm01/0e7d5e2c-52a5-4e0a-9a11-9a8f6a1c2b3d" || v.Host != "kvm01" || v.Power.Value != numa.PoweredOn || v.VCPUs.Value != 3 || v.Memory.Value != 32*numa.GiB {
		t.Errorf("VM %+v", v)
	}
	if got, want := fmt.Sprintln(s.Sizes(), s.Topology(), s.VCPUs, s.CPUs, s.RunsOn(0, h), s.RunsOn(1, h)), "[2 2] 2 sockets of 2 cores 3 [[0 1] [0 1] [2 3] [2 3]] [0] [2]\n"; got != want {
		t.Errorf("found %s\nwant  %s", got, want)
	}
	wantBound := []numa.Bound{{Mode: "preferred", Nodes: []int{0}, At: "fleet/kvm01/domains/sql01.xml:11:5"}, {Mode: "strict", Nodes: []int{2}, At: "fleet/kvm01/domains/sql01.xml:12:5"}}
	if fmt.Sprint(s.Bound) != fmt.Sprint(wantBound) || s.Cells[0].At != "fleet/kvm01/domains/sql01.xml:18:7" || s.TopologyAt != "fleet/kvm01/domains/sql01.xml:15:5" {
		t.Errorf("bound %+v, cell 0 at %s, topology at %s", s.Bound, s.Cells[0].At, s.TopologyAt)
	}
	remote, all, home, ok := s.RemoteOf(h, v.MemoryOn())
	if remote != 0 || all != 31*numa.GiB || !slices.Equal(home, []int{0, 2}) || !ok {
		t.Errorf("%s of %s remote, at home on %v, %v", remote, all, home, ok)
	}
}

// TestReport: in a sosreport the stored definition, the answer of virsh and the capabilities are of one host, and how a VM runs counts.
func TestReport(t *testing.T) {
	stored := strings.Replace(sql01, " id='3'", "", 1)
	for _, top := range []string{"", "sosreport-kvm01/"} {
		f := fleetOf(t, top+"sos_commands/virsh/virsh_-r_capabilities", capabilities, top+"etc/libvirt/qemu/sql01.xml", stored, top+"sos_commands/virsh/virsh_-r_dumpxml_sql01", sql01)
		if len(f.Hosts) != 1 || len(f.VMs) != 1 || f.VMs[0].Host != f.Hosts[0].ID || f.VMs[0].Power.Value != numa.PoweredOn {
			t.Errorf("%s: %d hosts, VMs %+v, notes %v", top, len(f.Hosts), f.VMs, f.Notes)
		}
	}
}

// TestNothingIsLost: what is broken or belongs to nothing has a note with its place, and the rest is read.
func TestNothingIsLost(t *testing.T) {
	inactive := strings.Replace(sql01, " id='3'", "", 1)
	for _, tt := range []struct {
		name  string
		files []string
		vms   int
		want  []string
	}{
		{"a file that ends early", []string{"a/capabilities.xml", capabilities, "a/domains/b.xml", sql01[:strings.Index(sql01, "<cell id='0'")]}, 0,
			[]string{"fleet/a/domains/b.xml:18:7: found the end of the file inside <numa> of line 16", "fleet/a/domains/b.xml:1:1: sql01: its definition breaks off: it is not judged"}},
		{"crossed elements", []string{"a/good.xml", sql01, "a/bad.xml", "<domain type='kvm'>\n <vcpu>2</vcpus>\n</domain>"}, 1,
			[]string{"fleet/a/bad.xml:2:9: found </vcpus>, want </vcpu> of line 2", "fleet/a/bad.xml:1:1: bad: its definition breaks off: it is not judged"}},
		{"no number", []string{"a.xml", "<domain type='kvm'><name>x</name><vcpu>many</vcpu></domain>"}, 0,
			[]string{`fleet/a.xml:1:34: vcpu: found "many", want a number below 4097`, "fleet/a.xml:1:1: x: found no number of vCPUs, and no cells that imply it"}},
		{"running before inactive", []string{"a/1.xml", inactive, "a/2.xml", sql01}, 1, []string{"fleet/a/1.xml:1: sql01 is there twice: how it runs counts (fleet/a/2.xml:1)"}},
		{"an empty file, a binary one, and XML of something else", []string{"a/1.xml", sql01, "a/2.xml", "\n", "a/3.xml", "\x7fELF\x00\x00<", "a/4.xml", "<pool type='dir'/>"}, 1,
			[]string{"fleet/a/2.xml: the file is empty", "fleet/a/3.xml: found no XML", "1 file is of no form that is read: a/4.xml"}},
		{"no numastat", []string{"a/capabilities.xml", capabilities, "a/1.xml", sql01, "a/numastat.txt", "\x7fELF\x00"}, 1, []string{"fleet/a/numastat.txt: found no table of numastat"}},
		{"numastat of a host without VMs", []string{"a/capabilities.xml", capabilities, "a/1.xml", sql01, "a/numastat.txt", "Found no processes containing pattern: \"qemu\"\n"}, 1, nil},
		{"twice", []string{"a/1.xml", sql01, "a/2.xml", sql01}, 1, []string{"fleet/a/2.xml:1: sql01 is there twice: fleet/a/1.xml:1 counts"}},
		{"a name of two VMs", []string{"a/1.xml", strings.Replace(sql01, uuid, "", 1), "a/2.xml", strings.NewReplacer(uuid, "", "current='3'", "").Replace(sql01)}, 2, []string{"fleet/a/2.xml:1: another VM has the name sql01 too (fleet/a/1.xml:1): both are judged"}},
		{"a name of two VMIDs", []string{"a/101.conf", "name: web\ncores: 2\nmemory: 2048\n", "a/102.conf", "name: web\ncores: 2\nmemory: 2048\n"}, 2, nil},
		{"a name in two namespaces", []string{"a.yaml", manifest("VirtualMachine", "a", 2) + "---\n" + manifest("VirtualMachine", "b", 2)}, 2, nil},
		{"kubectl get -o json", []string{"a.json", "{\n    \"apiVersion\": \"v1\",\n    \"items\": [\n        {\n            \"apiVersion\": \"kubevirt.io/v1\",\n            \"kind\": \"VirtualMachine\",\n            \"metadata\": {\"name\": \"web\"},\n" +
			"            \"spec\": {\"template\": {\"spec\": {\"domain\": {\"cpu\": {\"sockets\": 2}, \"memory\": {\"guest\": \"4Gi\"}}}}}\n        }\n    ],\n    \"kind\": \"List\"\n}\n"}, 1, nil},
		{"a VM and its instance that runs", []string{"a.yaml", manifest("VirtualMachine", "a", 2), "b.yaml", manifest("VirtualMachineInstance", "a", 4)}, 1, []string{"fleet/a.yaml:8: web is there twice: how it runs counts (fleet/b.yaml:6)"}},
		{"one UUID on two hosts", []string{"a/capabilities.xml", capabilities, "a/1.xml", sql01, "b/capabilities.xml", capabilities, "b/1.xml", sql01}, 2, []string{"fleet/b/1.xml:1: sql01 runs on another host too (fleet/a/1.xml:1): it counts twice"}},
		{"a definition that a migration left", []string{"a/capabilities.xml", capabilities, "a/1.xml", inactive, "b/capabilities.xml", capabilities, "b/1.xml", sql01}, 2, []string{"fleet/a/1.xml:1: sql01 is defined here, and runs on another host (fleet/b/1.xml:1): it counts twice"}},
		{"a host of another architecture", []string{"a/capabilities.xml", strings.Replace(capabilities, "<cpu>", "<cpu><arch>aarch64</arch>", 1),
			"a/1.xml", strings.Replace(sql01, "<memory ", "<os><type arch='x86_64'>hvm</type></os><memory ", 1)}, 1, nil}, // K013
		{"a host of the same family", []string{"a/capabilities.xml", strings.Replace(capabilities, "<cpu>", "<cpu><arch>x86_64</arch>", 1),
			"a/1.xml", strings.Replace(sql01, "<memory ", "<os><type arch='i686'>hvm</type></os><memory ", 1)}, 1, nil},
		{"two hosts in a folder", []string{"a/1.xml", capabilities, "a/2.xml", capabilities}, 0, []string{"fleet/a/2.xml:1: a second host in the folder: the first counts"}},
		{"two hosts of other nodes in a folder", []string{"a/1.xml", capabilities, "a/2.xml", strings.Replace(capabilities, "'GiB'>32<", "'GiB'>64<", 1), "a/3.xml", sql01}, 1,
			[]string{"fleet/a/2.xml:1: a second host in the folder, with other nodes: those that the VMs run on are unknown: put each host and its VMs into a folder of their own"}},
		{"a host that breaks off", []string{"a/1.xml", capabilities[:strings.Index(capabilities, "</cells>")], "a/2.xml", sql01}, 1,
			[]string{"fleet/a/1.xml:1: the capabilities break off: the nodes of the host count as unknown", "fleet/a/1.xml:7:1: found the end of the file inside <cells> of line 1"}},
		{"CPUs left out", []string{"a/1.xml", strings.Replace(capabilities, "num='4'", "num='6'", 1)}, 0,
			[]string{"fleet/a/1.xml:3:1: node 0: found 4 CPUs, the file says 6", "fleet/a/1.xml:1: the capabilities list a part of the CPUs of node 0: the nodes of the host count as unknown"}},
		{"cells with a gap", []string{"a.xml", "<vcpu>2</vcpu><numa><cell id='3' cpus='0-1' memory='4' unit='GiB'/></numa>"}, 1, nil},
		{"numastat without pids", []string{"a/capabilities.xml", capabilities, "a/1.xml", sql01, "a/numastat.txt", "PID  Node 0 Node 2 Total\n71 (qemu-kvm) 1 2 3\n"}, 1,
			[]string{`fleet/a/numastat.txt: which VM is that of 1 of 1 processes is unknown: pids.txt with lines "PID NAME" says it`}},
		{"numastat of no VM", []string{"a/1.xml", sql01, "a/numastat.txt", "PID  Node 0 Node 2 Total\n71 (qemu-kvm) 1 2 3\n"}, 1,
			[]string{"fleet/a/numastat.txt: no capabilities beside it say which host it is of: where memory is is not judged"}},
		{"a row too short, a VM that is gone", []string{"a/capabilities.xml", capabilities, "a/1.xml", sql01, "a/numastat.txt", "PID  Node 0 Node 2 Total\n71 (qemu-kvm) 1\n72 (qemu-kvm) 1 2 3\n", "a/pids.txt", "71 sql01\n72 gone\ngone\n"}, 1,
			[]string{"fleet/a/numastat.txt:2:15: found 1 numbers, want one for each of 2 nodes, and their sum", `fleet/a/pids.txt:3:1: found "gone", want the PID of a process of QEMU and the name of its VM`, `fleet/a/numastat.txt:3:1: process 72 is of the VM "gone", whose definition is not there`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := fleetOf(t, tt.files...)
			if got := notes(f); !slices.Equal(got, tt.want) || len(f.VMs) != tt.vms {
				t.Errorf("%d VMs, want %d; notes\n%s\nwant\n%s", len(f.VMs), tt.vms, strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
		})
	}
}

// closed has names that are not to be opened.
type closed struct {
	fstest.MapFS
	names []string
}

func (c closed) Open(name string) (fs.File, error) {
	if slices.Contains(c.names, name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return c.MapFS.Open(name)
}

func (c closed) ReadDir(name string) ([]fs.DirEntry, error) {
	if _, err := c.Open(name); err != nil {
		return nil, err
	}
	return c.MapFS.ReadDir(name)
}

// TestUnread: a file and a folder that cannot be read are alike: both have a note and count, and the rest is read.
func TestUnread(t *testing.T) {
	files := fstest.MapFS{}
	for _, name := range []string{"a/1.xml", "a/2.xml", "b/1.xml", "c/1.xml"} {
		files[name] = &fstest.MapFile{Data: []byte(sql01)}
	}
	files["c/numastat.txt"] = &fstest.MapFile{}
	f, err := ReadFS("fleet", closed{files, []string{"a/2.xml", "b", "c/numastat.txt"}})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"fleet/a/2.xml: permission denied", "fleet/b: permission denied", "fleet/c/numastat.txt: permission denied"}
	if got := notes(f); !slices.Equal(got, want) || len(f.Unread) != 3 || len(f.VMs) != 2 {
		t.Errorf("%d VMs, %q; notes\n%s\nwant\n%s", len(f.VMs), f.Unread, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	broken, err := ReadFS("fleet", fstest.MapFS{"a/1.xml": {Data: []byte(sql01)}, "a/2.xml": {Data: []byte("<domain type='kvm'>\n <vcpu>2</vcpus>\n</domain>")}})
	if err != nil || !slices.Equal(broken.Unread, []string{"fleet/a/2.xml"}) { // with two notes
		t.Errorf("%q, %v", broken.Unread, err)
	}
}

// TestNoFile: links, pipes and folders where files are due have a note and count, and others are passed over.
func TestNoFile(t *testing.T) {
	f, err := ReadFS("fleet", fstest.MapFS{
		"a/domains/1.xml":                        {Data: []byte(sql01)},
		"a/domains/link.xml":                     {Mode: fs.ModeSymlink, Data: []byte("../nowhere")},
		"a/domains/more":                         {Mode: fs.ModeSymlink, Data: []byte("..")},
		"a/domains/pipe.xml":                     {Mode: fs.ModeNamedPipe},
		"a/domains/socket":                       {Mode: fs.ModeSocket},
		"a/numastat.txt/x":                       {},
		"a/pids.TXT/x":                           {},
		"a/etc/pve/nodes/n/qemu-server/100.conf": {Data: []byte("name: p\ncores: 2\nmemory: 2048\n")},
		"a/etc/pve/nodes/n/lxc/101.conf":         {Data: []byte("arch: amd64\ncores: 4\nmemory: 2048\nostype: debian\nrootfs: local:1\n")}, // a container
		"a/1/2/3/4/5/6/7/8/2.xml":                {Data: []byte(sql01)},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"fleet/a/1/2/3/4/5/6/7/8: it lies more than 8 folders deep", "fleet/a/domains/link.xml: it is a symbolic link, which is not followed", "fleet/a/domains/more: it is a symbolic link, which is not followed",
		"fleet/a/domains/pipe.xml: it is no regular file", "fleet/a/numastat.txt: it is a folder, where a file is due", "fleet/a/pids.TXT: it is a folder, where a file is due",
		"3 files are of no form that is read: a/etc/pve/nodes/n/lxc/101.conf, a/numastat.txt/x, a/pids.TXT/x"}
	if got := notes(f); !slices.Equal(got, want) || len(f.Unread) != len(want)-1 || len(f.VMs) != 2 {
		t.Errorf("%d VMs, %d unread; notes\n%s\nwant\n%s", len(f.VMs), len(f.Unread), strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestPages: a shape has the size of its huge pages where all cells have it.
func TestPages(t *testing.T) {
	for pages, want := range map[string]numa.Bytes{
		"<page size='1' unit='G'/>":                                                  numa.GiB,
		"<page size='1' unit='G' nodeset='0-1'/>":                                    numa.GiB,
		"<page size='1' unit='G' nodeset='0'/>":                                      0,
		"<page size='1' unit='G' nodeset='0'/><page size='1048576' nodeset='1'/>":    numa.GiB,
		"<page size='1' unit='G' nodeset='0'/><page size='1' unit='G'/>":             numa.GiB,
		"<page size='1' unit='G' nodeset='0'/><page size='2' unit='M'/>":             0,
		"<page size='1' unit='G' nodeset='0'/><page size='2' unit='M' nodeset='1'/>": 0,
		"": 0,
	} {
		f := fleetOf(t, "a.xml", strings.Replace(sql01, "<cputune>", "<memoryBacking><hugepages>"+pages+"</hugepages></memoryBacking><cputune>", 1))
		if got := f.VMs[0].Stated.Page; got != want {
			t.Errorf("%s: found pages of %s, want %s", pages, got, want)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, tt := range []struct{ file, text, want string }{
		{"a.txt", "hello", "fleet: found no virsh capabilities and no definition of a VM"},
		{"a.xml", "<pool type='dir'/>", "fleet: found no virsh capabilities and no definition of a VM"},
		{"a.xml", "<domain type='kvm' ><cpu></domain>", "fleet/a.xml:1:26: found </domain>, want </cpu> of line 1"},
	} {
		if _, err := ReadFS("fleet", fstest.MapFS{tt.file: {Data: []byte(tt.text)}}); err == nil || err.Error() != tt.want {
			t.Errorf("%q: found %v, want %s", tt.text, err, tt.want)
		}
	}
}

// TestNumastat reads the forms of the table.
func TestNumastat(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"columns run together", "PID                         Node 0          Node 1           Total\n25726 (qemu-kvm)              1.63        32816.6332818.26\n", "25726: 0=1 1=32816"},
		{"a name without its bracket, and a later table", "PID              Node 0 Node 1 Total\n333578 (qemu-kvm   4904   3382  8286\nTotal 1 1 2\n\nPID              Node 0 Node 1 Total\n333578 (qemu-kvm      0   3522  3522\n", "333578: 0=0 1=3522"},
		{"many nodes, in two blocks", "PID  Node 0 Node 1\n7 (qemu) 1 2\n\nPID  Node 2 Total\n7 (qemu) 3 6\n", "7: 0=1 1=2 2=3"},
		{"of one process", "Per-node process memory usage (in MBs) for PID 4242 (qemu-system-x86)\n                           Node 0          Node 1           Total\nHuge                         0.00            0.00            0.00\nPrivate                   8000.50          192.25         8192.75\n----------------  --------------- --------------- ---------------\nTotal                     8000.50          192.25         8192.75\n", "4242: 0=8000 1=192"},
	} {
		used, err := numastat([]byte(tt.in), func(line, col int, format string, args ...any) {
			t.Errorf("%s: %d:%d: %s", tt.name, line, col, fmt.Sprintf(format, args...))
		})
		got := ""
		for pid, u := range used {
			got = fmt.Sprintf("%d:", pid)
			for n := range 3 {
				if b, ok := u.on[n]; ok {
					got += fmt.Sprintf(" %d=%d", n, b/numa.MiB)
				}
			}
		}
		if err != nil || got != tt.want || len(used) != 1 {
			t.Errorf("%s: found %s, %v, want %s", tt.name, got, err, tt.want)
		}
	}
}

func TestPIDs(t *testing.T) {
	got, err := pids([]byte("    PID COMMAND\n  71 sql01\n72 /usr/libexec/qemu-kvm -name guest=web 01,debug-threads=on -S\n73 /usr/bin/qemu-system-x86_64 -name guest=db01,debug-threads=on -machine q35\n"), func(line, col int, format string, args ...any) { t.Errorf(format, args...) })
	if err != nil || fmt.Sprint(got) != "map[71:sql01 72:web 73:db01]" {
		t.Errorf("%v, %v", got, err)
	}
}

// TestFiles reads a single file and folders, and leaves others alone.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		golden.Write(t, path, []byte(text))
		return path
	}
	one := write("one/sql01.dump", sql01)
	write("kvm01/capabilities.xml", capabilities)
	write("kvm01/domains/sql01.xml", sql01)
	write("manual/readme.txt", "Start it with qemu-system-x86_64 -smp 4 -m 8G, or -enable-kvm.\n") // no list of processes
	listed := write("listed/ps.txt", "    PID COMMAND\n   4242 /usr/bin/qemu-system-x86_64 -name guest=a -S -m size=4194304k -smp 4,sockets=1,cores=4,threads=1\n")
	const start = "qemu-system-x86_64 \\\n  -name web -m 8G -smp 4\n"
	script := write("script/start.sh", "#!/bin/bash\nexec numactl --cpunodebind=0 "+start)
	plain, logged := write("plain/start", start), write("logs/web.log", "2026-11-01 shutting down, reason=destroyed\nLC_ALL=C \\\nHOME=/var \\\n/usr/bin/"+start)
	write("backup/web.xml.bak", sql01)
	write("backup/readme.md", start)
	backup := write("backup/web.xml", strings.ReplaceAll(sql01, "sql01", "web"))
	other := write("other/pool.xml", "<pool type='dir'/>")
	for path, want := range map[string]string{one: "0 1", dir: "1 7", filepath.Join(dir, "kvm01"): "1 1", listed: "0 1", filepath.Dir(listed): "0 1",
		script: "0 1", filepath.Dir(script): "0 1", plain: "0 1", filepath.Dir(plain): "0 1", filepath.Dir(logged): "0 1", filepath.Dir(backup): "0 1"} {
		f, err := Read(path)
		if err != nil || !Detect(path) {
			t.Errorf("%s: %v, detected %v", path, err, Detect(path))
			continue
		}
		if got := fmt.Sprint(len(f.Hosts), len(f.VMs)); got != want {
			t.Errorf("%s: %s hosts and VMs, want %s", path, got, want)
		}
	}
	if Detect(other) || Detect(filepath.Dir(other)) || Detect(filepath.Join(dir, "none")) {
		t.Error("detects what is no file of libvirt")
	}
	f, err := Read(filepath.Join(dir, "kvm01"))
	if err != nil || f.Hosts[0].Name != "kvm01" || f.VMs[0].Host != "kvm01" {
		t.Errorf("%+v, %v", f, err)
	}
}

// FuzzRead checks that every bundle gives a fleet that passes its checks, or an error, and that what is judged of it stays in bounds.
func FuzzRead(f *testing.F) {
	f.Add([]byte(capabilities), []byte(sql01), []byte("PID  Node 0 Node 2 Total\n71 (qemu-kvm) 1 2 3\n"))
	f.Add([]byte("<capabilities><host><topology><cells><cell id='0'><cpus><cpu id='0' core_id='0'/></cpus></cell></cells></topology></host></capabilities>"),
		[]byte("<vcpu>2</vcpu><cputune><vcpupin vcpu='9' cpuset='0-9'/></cputune><numatune><memnode cellid='7' nodeset='1'/></numatune><topology sockets='0' cores='9' threads='9'/><numa><cell id='4' cpus='0,0,7'/></numa>"), []byte("PID Node 9\n71 (q 9.009.00\n"))
	f.Fuzz(func(t *testing.T, host, domain, usage []byte) {
		fleet, err := ReadFS("fleet", fstest.MapFS{"a/capabilities.xml": {Data: host}, "a/d.xml": {Data: domain}, "a/numastat.txt": {Data: usage}, "a/pids.txt": {Data: []byte("71 d\n")}})
		if err != nil {
			return
		}
		for i := range fleet.VMs {
			v := &fleet.VMs[i]
			s := v.Stated
			if len(s.Cells) == 0 || len(s.Bound) != len(s.Cells) {
				t.Fatalf("%d cells, %d bindings", len(s.Cells), len(s.Bound))
			}
			var h *numa.Host
			if len(fleet.Hosts) > 0 {
				h = &fleet.Hosts[0]
			}
			for c := range s.Cells {
				s.HomeOf(c, h)
				s.PinAt(c)
			}
			if remote, all, _, ok := s.RemoteOf(h, v.MemoryOn()); ok && (remote < 0 || remote > all) {
				t.Fatalf("%d of %d remote", remote, all)
			}
		}
	})
}

// TestOtherHypervisors: a domain that QEMU does not run is a note, and not judged.
func TestOtherHypervisors(t *testing.T) {
	for kind, judged := range map[string]bool{"kvm": true, "qemu": true, "hvf": true, "xen": false, "lxc": false, "openvz": false, "vz": false, "bhyve": false, "vmware": false} {
		f, err := ReadFS("x", fstest.MapFS{"kvm01/a.xml": {Data: []byte("<domain type='" + kind + "'><name>a</name><memory unit='GiB'>2</memory><vcpu>2</vcpu></domain>")}})
		if err != nil {
			t.Fatal(err)
		}
		if (len(f.VMs) == 1) != judged || (len(f.Notes) == 1 && f.Notes[0].Text == "a: its hypervisor is "+kind+": domains of QEMU alone are judged (kvm, qemu, hvf)") == judged {
			t.Errorf("%s: %d VMs, %v", kind, len(f.VMs), f.Notes)
		}
	}
}

// TestMemoryOfCells: the VM has the memory of its cells, as libvirt gives it, and the finding that they differ stays.
func TestMemoryOfCells(t *testing.T) {
	f, err := ReadBytes("a.xml", []byte("<domain type='kvm'><name>a</name><memory unit='GiB'>64</memory><vcpu>2</vcpu><cpu><numa><cell id='0' cpus='0' memory='24' unit='GiB'/><cell id='1' cpus='1' memory='24' unit='GiB'/></numa></cpu></domain>"))
	if err != nil || f.VMs[0].Memory.Value != 48*numa.GiB || f.VMs[0].Stated.Shape.Memory != 64*numa.GiB {
		t.Errorf("%+v, %v", f.VMs[0].Memory, err)
	}
}
