package open

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.org/homenode/internal/golden"
	"example.org/homenode/numa"
	"example.org/homenode/source/snapshot"
)

// whole are files of one VM each, by name.
var whole = map[string]string{
	"good.csv":  "Name,NumCpu\ngood,4\n",
	"good.json": `[{"Name":"good","NumCpu":4}]`,
	"good.vmx":  "displayName = \"good\"\nnumvcpus = \"4\"\nmemSize = \"4096\"\n",
	"good.xml":  "<domain type='kvm'><name>good</name><memory>4194304</memory><vcpu>4</vcpu></domain>",
}

// broken are damaged files of every kind of source, by name, and whether only definitions of KVM lie beside such.
var broken = map[string]struct {
	text string
	kvm  bool
}{
	"bad.csv":              {"Name,NumCpu\nfi\"ve,4\n", false},
	"late.csv":             {"Name,NumCpu,Note\nearly,4,\nbad,4,\"open\n", false},
	"bad.json":             {`[{"Name":"five","NumCpu":2},`, false},
	"snapshot.json":        {`{"format":"homenode-snapshot","version":1,`, false},
	"bad.xlsx":             {"PK damaged", false},
	"vmware-3.log":         {"\x00\x01", false},
	"bad.tgz":              {"\x1f\x8bdamaged", false},
	"bad.zip":              {"PK\x03\x04damaged", false},
	"bad.vmx.zst":          {"(\xb5\x2f\xfddamaged", false},
	"bad.xml":              {"<domain type='kvm'><name>a</name><vcpu>4</vc", true},
	"bad.conf":             {"cores: 4\nmemory: x\nsockets: 1\nname: pm\n", true},
	"bad.yaml":             {"apiVersion: kubevirt.io/v1\nkind: VirtualMachine\n  bad: [\n", true},
	"bad.args":             {"-machine q35 -smp 4,sockets=x -m 4G\n", true},
	"scenario.txt":         {"release 7.0U3\nhost h nodes=x\n", false},
	"story.txtar":          {"-- fleet --\nrelease 7.0U3\nhost h nodes=x\n", false},
	"RVTools_tabvInfo.csv": {"VM,CPUs\n\"a,4\n", false},
}

// alone are those that no folder or archive is read for.
var alone = []string{"scenario.txt", "story.txtar"}

// TestDamagedAlone: the error of a damaged file has its path once, however it lies.
func TestDamagedAlone(t *testing.T) {
	for name, bad := range broken {
		for form, write := range map[string]func(t *testing.T, dir string, files map[string][]byte) string{"file": folderOf, "folder": folderOf, "zip": zipOf, "tgz": tgzOf} {
			path := write(t, t.TempDir(), map[string][]byte{name: []byte(bad.text)})
			if form == "file" {
				path = filepath.Join(path, name)
			}
			if form != "file" && slices.Contains(alone, name) || bad.kvm && (form == "zip" || form == "tgz") {
				continue // of no use there
			}
			_, err := File(path)
			if err == nil {
				if name != "late.csv" && name != "bad.vmx.zst" {
					t.Errorf("%s %s: read", form, name)
				}
				continue
			}
			if text := err.Error(); strings.Count(text, filepath.Dir(path)) != 1 || strings.Count(text, name) != 1 {
				t.Errorf("%s %s: %v", form, name, err)
			}
		}
	}
}

// TestDamagedBeside: a damaged file leaves the files beside it, and the fleet names it with its place.
func TestDamagedBeside(t *testing.T) {
	for bad, b := range broken {
		if slices.Contains(alone, bad) {
			continue
		}
		for good, text := range whole {
			kvm := b.kvm || strings.HasSuffix(good, ".xml")
			if kvm != b.kvm || b.kvm && good == "good.vmx" {
				continue // files of vSphere beside definitions of KVM, and the other way round, are named as not read
			}
			for form, write := range map[string]func(t *testing.T, dir string, files map[string][]byte) string{"folder": folderOf, "zip": zipOf, "tgz": tgzOf} {
				if kvm && form != "folder" {
					continue
				}
				path := write(t, t.TempDir(), map[string][]byte{bad: []byte(b.text), good: []byte(text)})
				fleet, err := File(path)
				if err != nil {
					t.Errorf("%s with %s, %s: %v", bad, good, form, err)
					continue
				}
				found := 0
				for _, v := range fleet.VMs {
					if v.Name == "good" {
						found++
					}
				}
				if found != 1 || len(fleet.Unread) != 1 || !strings.HasPrefix(fleet.Unread[0], path+"/") || !strings.HasSuffix(fleet.Unread[0], bad) {
					t.Errorf("%s with %s, %s: %d VMs, unread %v", bad, good, form, found, fleet.Unread)
				}
				places := 0
				for _, n := range fleet.Notes {
					if strings.Contains(n.At, bad) {
						places++
					}
					if strings.Contains(n.Text, filepath.Dir(path)) || strings.Contains(n.Text, bad) {
						t.Errorf("%s with %s, %s: twice: %s", bad, good, form, n)
					}
				}
				if places == 0 {
					t.Errorf("%s with %s, %s: no note in %v", bad, good, form, fleet.Notes)
				}
			}
		}
	}
}

// TestEmpty: an inventory that lists no VM is an empty fleet, whatever its form.
func TestEmpty(t *testing.T) {
	var snap strings.Builder
	if err := snapshot.Write(&snap, &numa.Fleet{Source: "a"}); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"a.csv":                "Name,NumCpu,MemoryMB,Host\n",
		"list.json":            "[]",
		"govc.json":            `{"virtualMachines":[]}`,
		"older.json":           `{"VirtualMachines":null}`,
		"a.txt":                "release 7.0U3\n",
		"RVTools_tabvInfo.csv": "VM,Powerstate,Template,CPUs,Memory\n",
		"a.xlsx":               string(bookOf(t)),
		"snapshot.json":        snap.String(),
	} {
		for _, form := range []string{"file", "folder"} {
			path := folderOf(t, t.TempDir(), map[string][]byte{name: []byte(text)})
			if form == "folder" && (name == "a.txt" || name == "snapshot.json") {
				continue // not read of a folder
			} else if form == "file" {
				path = filepath.Join(path, name)
			}
			if fleet, err := File(path); err != nil || len(fleet.VMs) != 0 || fleet.Unread != nil {
				t.Errorf("%s %s: %+v, %v", form, name, fleet, err)
			}
		}
	}
}

// TestNoVM: where no file has VMs they may be in one that is not understood, which is unread then.
func TestNoVM(t *testing.T) {
	odd, hosts := []byte("VM Name,Host,Load\na,esx1,4\n"), []byte("Host,CPU Sockets,CPU Cores\nesx1,2,48\n")
	for name, tt := range map[string]struct {
		files map[string][]byte
		want  int
	}{
		"hosts alone": {map[string][]byte{"hosts.csv": hosts}, 0},
		"no VM":       {map[string][]byte{"hosts.csv": hosts, "vms.csv": odd}, 1},
		"other VMs":   {map[string][]byte{"hosts.csv": hosts, "vms.csv": odd, "more.csv": []byte(whole["good.csv"])}, 0},
	} {
		for _, path := range []string{folderOf(t, t.TempDir(), tt.files), zipOf(t, t.TempDir(), tt.files)} {
			if fleet, err := File(path); err != nil || len(fleet.Unread) != tt.want || tt.want > 0 && !strings.HasSuffix(fleet.Unread[0], "/vms.csv") {
				t.Errorf("%s: unread %q, %v; want %d", name, fleet.Unread, err, tt.want)
			}
		}
	}
}

// TestBesideRVTools: inventories beside an export of RVTools are named, since they would state its VMs again; with a VM that it lacks, or
// damaged, they are unread.
func TestBesideRVTools(t *testing.T) {
	packed := func(name, text string) []byte {
		b := golden.Read(t, zipOf(t, t.TempDir(), map[string][]byte{name: []byte(text)}))
		return b
	}
	const export = "VM,CPUs\na,4\n"
	for name, tt := range map[string]struct {
		bytes  []byte
		unread int
		want   string
	}{
		"same.csv":  {[]byte("Name,NumCpu\na,4\n"), 0, "not read beside the export of RVTools: same.csv"},
		"good.csv":  {[]byte(whole["good.csv"]), 1, "not read beside the export of RVTools: good.csv; VMs that the export lacks are missing here, such as \"good\""},
		"bad.csv":   {[]byte("Name,NumCpu\nb,4\nc,\"4\nd,5\n"), 1, "is not closed"},
		"same.zip":  {packed("RVTools_tabvInfo.csv", export), 0, "not read beside the export of RVTools: same.zip"},
		"more.zip":  {packed("RVTools_tabvInfo.csv", "VM,CPUs\nb,4\n"), 1, "not read beside the export of RVTools: more.zip; VMs that the export lacks"},
		"plain.zip": {packed("vms.csv", "Name,NumCpu\nb,4\n"), 1, "not read beside the export of RVTools: plain.zip; VMs that the export lacks"},
		"bad.zip":   {packed("vms.csv", "Name,NumCpu\nb,4\nc,\"4\nd,5\n"), 1, "is not closed"},
		"other.zip": {packed("a.txt", "hello"), 0, "no inventory: other.zip"},
	} {
		fleet, err := File(folderOf(t, t.TempDir(), map[string][]byte{"RVTools_tabvInfo.csv": []byte(export), name: tt.bytes}))
		if err != nil || len(fleet.VMs) != 1 || len(fleet.Unread) != tt.unread || !slices.ContainsFunc(fleet.Notes, func(n numa.Note) bool { return strings.Contains(n.Text, tt.want) }) {
			t.Errorf("%s: %+v, %v", name, fleet, err)
		}
	}
	fleet, err := File(folderOf(t, t.TempDir(), map[string][]byte{"a.zip": packed("vms.csv", "Name,NumCpu\nb,4\n"), "c.csv": []byte("Name,NumCpu\nc,4\n")}))
	if err != nil || len(fleet.VMs) != 2 || fleet.Unread != nil {
		t.Errorf("a zip beside a table: %+v, %v", fleet, err)
	}
}

// TestTwoExports: two exports of RVTools in the folders, or the archives, of an archive or a folder are two; in one folder they are refused.
func TestTwoExports(t *testing.T) {
	csv := []byte("VM,CPUs,VM UUID\na,4,1\n")
	other := []byte("VM,CPUs,VM UUID\na,8,2\n")
	folders := map[string][]byte{"a/RVTools_tabvInfo.csv": csv, "b/RVTools_tabvInfo.csv": other}
	zips := map[string][]byte{}
	for name, b := range folders {
		zipped := golden.Read(t, zipOf(t, t.TempDir(), map[string][]byte{"RVTools_tabvInfo.csv": b}))
		zips[name[:1]+".zip"] = zipped
	}
	for _, path := range []string{zipOf(t, t.TempDir(), folders), folderOf(t, t.TempDir(), folders), zipOf(t, t.TempDir(), zips), folderOf(t, t.TempDir(), zips)} {
		fleet, err := File(path)
		if err != nil || len(fleet.VMs) != 2 || fleet.VMs[0].VCPUs.Value+fleet.VMs[1].VCPUs.Value != 12 || fleet.Unread != nil {
			t.Errorf("%s: %+v, %v", path, fleet, err)
		}
	}
	_, err := File(zipOf(t, t.TempDir(), map[string][]byte{"a/RVTools_tabvInfo.csv": csv, "a/RVTools_tabvInfo (1).csv": csv}))
	if err == nil || !strings.Contains(err.Error(), "found the sheet vInfo twice") || strings.Contains(err.Error(), "damaged") {
		t.Error(err)
	}
}

// TestDamagedSupport: the many files of a bundle of vm-support that state no VM are not named, whatever their state.
func TestDamagedSupport(t *testing.T) {
	dir := folderOf(t, t.TempDir(), map[string][]byte{"bad.json": []byte("{"), "good.csv": []byte(whole["good.csv"])})
	if err := os.Mkdir(filepath.Join(dir, "commands"), 0o700); err != nil {
		t.Fatal(err)
	}
	if fleet, err := File(dir); err != nil || len(fleet.VMs) != 1 || fleet.Unread != nil {
		t.Errorf("%+v, %v", fleet, err)
	}
}

// TestDamagedMember: a member of a zip that cannot be unpacked is named, whether it is needed and wherever it stands, and the others are read.
func TestDamagedMember(t *testing.T) {
	rvtools := []string{"RVTools_tabvInfo.csv", "RVTools_tabvCPU.csv", "RVTools_tabvDisk.csv", "RVTools_tabvHost.csv"}
	text := map[string]string{
		"RVTools_tabvInfo.csv": "VM,CPUs,Memory,Host\na,4,4096,esx01\n",
		"RVTools_tabvCPU.csv":  "VM,CPUs,Sockets,Cores p/s\na,4,2,2\n",
		"RVTools_tabvDisk.csv": "VM,Disk\na,Hard disk 1\n",
		"RVTools_tabvHost.csv": "Host,# CPU,Cores per CPU,# Cores,# Memory\nesx01,2,8,16,131072\n",
		"vms.csv":              "Name,NumCpu,MemoryGB,VMHost\na,4,4,esx01\n",
		"more.csv":             "Name,NumCpu,MemoryGB,VMHost\na,4,4,esx01\n",
		"hosts.csv":            "Name,NumCpuPackages,NumCpuCores,MemoryTotalGB\nesx01,2,16,128\n",
		"picture.json":         `{"a":1}`,
	}
	for _, names := range [][]string{rvtools, {"vms.csv", "hosts.csv", "more.csv", "picture.json"}} {
		for bad := range names {
			for _, method := range []uint16{zip.Store, zip.Deflate} {
				for _, first := range []bool{true, false} {
					order := slices.Clone(names)
					if first {
						order[0], order[bad] = order[bad], order[0]
					}
					path := filepath.Join(t.TempDir(), "all.zip")
					flipped(t, path, order, text, names[bad], method)
					fleet, err := File(path)
					if names[bad] == "RVTools_tabvInfo.csv" { // without VMs there is no fleet
						if err == nil || !strings.HasPrefix(err.Error(), path+"/"+names[bad]+": ") {
							t.Errorf("%v with %s damaged: %v", order, names[bad], err)
						}
						continue
					}
					if err != nil {
						t.Errorf("%v with %s damaged: %v", order, names[bad], err)
						continue
					}
					if !slices.Contains(fleet.Unread, path+"/"+names[bad]) || len(fleet.Unread) != 1 || len(fleet.VMs) == 0 ||
						!strings.Contains(names[bad], "ost") && len(fleet.Hosts) != 1 {
						t.Errorf("%v with %s damaged: unread %v, %d VMs, %d hosts", order, names[bad], fleet.Unread, len(fleet.VMs), len(fleet.Hosts))
					}
				}
			}
		}
	}
	for _, method := range []uint16{zip.Store, zip.Deflate} {
		path := filepath.Join(t.TempDir(), "one.zip")
		flipped(t, path, []string{"vms.csv"}, text, "vms.csv", method)
		if _, err := File(path); err == nil || !strings.Contains(err.Error(), "/vms.csv: ") {
			t.Error(err)
		}
	}
}

// flipped writes a zip of the named files with a flipped bit in the data of bad.
func flipped(t *testing.T, path string, names []string, text map[string]string, bad string, method uint16) {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	from := 0
	for _, name := range names {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: method})
		if err == nil {
			err = z.Flush()
		}
		start := out.Len()
		if err == nil {
			_, err = w.Write([]byte(text[name]))
		}
		if err != nil {
			t.Fatal(err)
		}
		if name == bad {
			from = start
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	b := out.Bytes()
	b[from+1] ^= 0xff
	golden.Write(t, path, b)
}
