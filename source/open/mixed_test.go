package open

import (
	"example.org/homenode/internal/golden"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// inFolders writes files below folders of their own.
func inFolders(t *testing.T, files map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, b := range files {
		full := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			t.Fatal(err)
		}
		golden.Write(t, full, b)
	}
	return dir
}

// TestMixed: a folder with definitions of KVM and an inventory of vSphere is refused like two such sources, whatever the files are and wherever
// they lie, and explain refuses it too.
func TestMixed(t *testing.T) {
	ofKVM := map[string][]byte{
		"k1.xml":         []byte(whole["good.xml"]),
		"more/k1.xml":    []byte(whole["good.xml"]),
		"100.conf":       []byte("cores: 4\nmemory: 4096\nname: px\nsockets: 1\n"),
		"a.args":         []byte("qemu-system-x86_64 -name a -m 4G -smp 4\n"),
		"sub/vm/vm.yaml": []byte("apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata: {name: a}\nspec: {template: {spec: {domain: {cpu: {cores: 4}, memory: {guest: 4Gi}}}}}\n"),
	}
	ofVSphere := map[string][]byte{
		"rv.xlsx":                 book(t, "one"),
		"rv/rv.xlsx":              book(t, "one"),
		"vms.json":                []byte(whole["good.json"]),
		"vms.out":                 []byte(whole["good.json"]),
		"a.csv":                   []byte(whole["good.csv"]),
		"good.vmx":                []byte(whole["good.vmx"]),
		"good/good.vmx":           []byte(whole["good.vmx"]),
		"RVTools_tabvInfo.csv":    []byte("VM,CPUs\na,4\n"),
		"rv/RVTools_tabvInfo.csv": []byte("VM,CPUs\na,4\n"),
	}
	for k, definition := range ofKVM {
		for v, inventory := range ofVSphere {
			dir := inFolders(t, map[string][]byte{k: definition, v: inventory})
			_, err := File(dir)
			if err == nil || !strings.Contains(err.Error(), "found a fleet of another hypervisor") {
				t.Errorf("%s beside %s: %v", k, v, err)
			}
			parts := Anything(dir, nil)
			if len(parts) != 1 || parts[0].Err == nil || !strings.Contains(parts[0].Err.Error(), "found a fleet of another hypervisor") {
				t.Errorf("explain %s beside %s: %+v", k, v, parts)
			}
		}
	}
	_, err := File(zipOf(t, t.TempDir(), map[string][]byte{"k1.xml": ofKVM["k1.xml"], "rv.xlsx": ofVSphere["rv.xlsx"]}))
	if err == nil || !strings.Contains(err.Error(), "another hypervisor") {
		t.Errorf("in a zip: %v", err)
	}
	for name, definition := range ofKVM { // alone each is read, as a file and in its folder
		dir := inFolders(t, map[string][]byte{name: definition, "a.docx": []byte("PK")})
		for _, p := range []string{dir, filepath.Join(dir, filepath.FromSlash(name))} {
			if f, err := File(p); err != nil || len(f.VMs) != 1 {
				t.Errorf("%s: %+v, %v", p, f, err)
			}
		}
	}
	if f, err := File(inFolders(t, map[string][]byte{"pve.conf": []byte("numa: 1\ncores: 8\nsockets: 2\nmemory: 32768\nname: a\n")})); err != nil || len(f.VMs) != 1 {
		t.Errorf("%+v, %v", f, err)
	}
}

// TestNoPart: locks of Office, hidden files and copies of editors are none of a folder or archive; a workbook without VMs is no damage.
func TestNoPart(t *testing.T) {
	files := map[string][]byte{"a.xlsx": book(t, "one"), "~$a.xlsx": []byte("\x05admin"), ".~lock.a.xlsx#": []byte(",x"), "good.vmx": []byte(whole["good.vmx"]),
		"good.vmx~": []byte(strings.ReplaceAll(whole["good.vmx"], "good", "old")), "prices.csv": []byte("Name,Model,Cores,Memory\nLaptop A,X1,8,16\n")}
	for form, write := range map[string]func(t *testing.T, dir string, files map[string][]byte) string{"folder": folderOf, "zip": zipOf, "tgz": tgzOf} {
		path := write(t, t.TempDir(), files)
		f, err := File(path)
		if err != nil || len(f.VMs) != 2 || f.Unread != nil {
			t.Errorf("%s: %+v, %v", form, f, err)
			continue
		}
		var names []string
		all := ""
		for _, p := range Anything(path, nil) {
			names, all = append(names, filepath.Base(p.Name)), all+p.Note
			if p.Err != nil {
				t.Errorf("%s: %s: %v", form, p.Name, p.Err)
			}
		}
		if !slices.Contains(names, "a.xlsx") || !slices.Contains(names, "good.vmx") || slices.Contains(names, "good.vmx~") || !strings.Contains(all, "prices.csv") {
			t.Errorf("%s: explained %v, not read %q", form, names, all)
		}
	}
}

// TestBesideWorkbook: beside a workbook of RVTools no other table is read, as beside its CSV files.
func TestBesideWorkbook(t *testing.T) {
	export := bookWith(t, "vInfo", []string{"VM", "CPUs", "Memory", "Host", "VI SDK Server"}, []string{"one", "4", "4096", "esx01", "vc"})
	for name, b := range map[string][]byte{"vms.csv": []byte("Name,NumCpu\none,8\n"), "vms.json": []byte(`[{"Name":"one","NumCpu":8}]`), "aa.xlsx": book(t, "one"), "z.xlsx": book(t, "one")} {
		f, err := File(folderOf(t, t.TempDir(), map[string][]byte{"rv.xlsx": export, name: b}))
		if err != nil || len(f.VMs) != 1 || f.Unread != nil || f.VMs[0].VCPUs.Value != 4 {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}
}
