package open

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.org/homenode/internal/golden"
	"github.com/xuri/excelize/v2"
)

// book returns a workbook of one VM.
func book(t *testing.T, vm string) []byte {
	t.Helper()
	return bookOf(t, vm)
}

// bookOf returns a workbook of VMs.
func bookOf(t *testing.T, vms ...string) []byte {
	t.Helper()
	rows := [][]string{{"VM", "CPUs", "Host"}}
	for _, vm := range vms {
		rows = append(rows, []string{vm, "4", "esx01"})
	}
	return bookWith(t, "Sheet1", rows...)
}

// bookWith returns a workbook of one sheet.
func bookWith(t *testing.T, sheet string, rows ...[]string) []byte {
	t.Helper()
	x := excelize.NewFile()
	defer x.Close()
	err := x.SetSheetName("Sheet1", sheet)
	for i, row := range rows {
		if err == nil {
			err = x.SetSheetRow(sheet, fmt.Sprintf("A%d", i+1), &row)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	b, err := x.WriteToBuffer()
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestCollection: whatever lies in a folder or archive is read together, and the rest is named.
func TestCollection(t *testing.T) {
	one, two := book(t, "one"), book(t, "two")
	vmx := []byte("displayName = \"three\"\nnumvcpus = \"4\"\nmemSize = \"4096\"\n")
	csv := []byte("Name,NumCpu\nfour,4\n")
	for _, tt := range []struct {
		name    string
		files   map[string][]byte
		vms     string
		skipped string
	}{
		{"workbooks", map[string][]byte{"a.xlsx": one, "b.xlsx": two}, "one two", ""},
		{"mixed", map[string][]byte{"a.xlsx": one, "c.vmx": vmx, "d.csv": csv, "e.docx": []byte("PK"), "f.png": []byte("\x89PNG")}, "four one three", "e.docx, f.png"},
		{"tables", map[string][]byte{"d.csv": csv, "g.json": []byte(`[{"Name":"five","NumCpu":2}]`)}, "five four", ""},
	} {
		for form, write := range map[string]func(t *testing.T, dir string, files map[string][]byte) string{"folder": folderOf, "zip": zipOf, "tgz": tgzOf} {
			t.Run(tt.name+" "+form, func(t *testing.T) {
				fleet, err := File(write(t, t.TempDir(), tt.files))
				if err != nil {
					t.Fatal(err)
				}
				var names, notes []string
				for _, v := range fleet.VMs {
					names = append(names, v.Name)
				}
				for _, n := range fleet.Notes {
					notes = append(notes, n.String())
				}
				slices.Sort(names)
				all := strings.ReplaceAll(strings.Join(notes, "\n"), "export/", "")
				if strings.Join(names, " ") != tt.vms || !strings.Contains(all, tt.skipped) || (tt.skipped == "") == strings.Contains(all, "no inventory") {
					t.Errorf("VMs %v, want %s; notes:\n%s", names, tt.vms, all)
				}
			})
		}
	}
}

// TestPacked: one table packed alone is read, and an archive of something else is described.
func TestPacked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.csv.gz")
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte("Name,NumCpu\nfour,4\n")); err != nil || z.Close() != nil || os.WriteFile(path, b.Bytes(), 0o600) != nil {
		t.Fatal(err)
	}
	if fleet, err := File(path); err != nil || len(fleet.VMs) != 1 {
		t.Errorf("%+v, %v", fleet, err)
	}
	_, err := File(tgzOf(t, t.TempDir(), map[string][]byte{"x/a.doc": []byte("text")}))
	if err == nil || !strings.Contains(err.Error(), "a.doc") || !strings.Contains(err.Error(), "CSV or JSON") {
		t.Errorf("%v", err)
	}
}

// TestDeepTables: tables in folders of a folder are read as those beside them.
func TestDeepTables(t *testing.T) {
	fleet, err := File(folderOf(t, t.TempDir(), map[string][]byte{"a/vms.csv": []byte("Name,NumCpu\na,4\n"), "old/x/y/vms.csv": []byte("Name,NumCpu\nb,4\n")}))
	if err != nil || len(fleet.VMs) != 2 || fleet.Unread != nil {
		t.Errorf("%+v, %v", fleet, err)
	}
}

func folderOf(t *testing.T, dir string, files map[string][]byte) string {
	for name, b := range files {
		path := filepath.Join(dir, name)
		if err := cmp.Or(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, b, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func zipOf(t *testing.T, dir string, files map[string][]byte) string {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for name, b := range files {
		w, err := z.Create("export/" + name)
		if err == nil {
			_, err = w.Write(b)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(folderOf(t, dir, map[string][]byte{"all.zip": out.Bytes()}), "all.zip")
}

// TestPackedAlone: of a table that is packed alone no reader of evidence complains.
func TestPackedAlone(t *testing.T) {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write([]byte("Name,NumCpu,MemoryGB\na,4,8\n")); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	parts := Anything(filepath.Join(folderOf(t, t.TempDir(), map[string][]byte{"a.csv.gz": out.Bytes()}), "a.csv.gz"), nil)
	if len(parts) != 1 || parts[0].Err != nil || parts[0].Fleet == nil {
		t.Errorf("found %+v", parts)
	}
}

func tgzOf(t *testing.T, dir string, files map[string][]byte) string {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	w := tar.NewWriter(z)
	for name, b := range files {
		err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(b))})
		if err == nil {
			_, err = w.Write(b)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if w.Close() != nil || z.Close() != nil {
		t.Fatal("close")
	}
	return filepath.Join(folderOf(t, dir, map[string][]byte{"all.tgz": out.Bytes()}), "all.tgz")
}

// TestNoInventory: an error says what a file is that holds no fleet.
func TestNoInventory(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"a.png":     {"\x89PNG\r\n\x1a\n\xff\xfe\x90", "binary"},
		"a.tfstate": {`{"version": 4, "terraform_version": "1.5.0", "resources": []}`, "Terraform"},
		"a.csv":     {"Name,Memory GB,Model\nLaptop-1,16,ThinkPad\n", "no column"},
	} {
		_, err := File(filepath.Join(folderOf(t, t.TempDir(), map[string][]byte{name: []byte(tt.text)}), name))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestNames: the content of a file tells what it is, not its name, alone and in a folder.
func TestNames(t *testing.T) {
	zipped := golden.Read(t, zipOf(t, t.TempDir(), map[string][]byte{"vms.csv": []byte(whole["good.csv"])}))
	long := "[" + strings.Repeat(" ", 1<<17) + whole["good.json"][1:]
	for name, b := range map[string][]byte{
		"a.xlsx": []byte(whole["good.csv"]), "b.xlsx": []byte(whole["good.json"]), "a.txt": []byte(whole["good.json"]), "b.txt": []byte(long), "c.txt": []byte(whole["good.csv"]),
		"a.json": []byte(whole["good.csv"]), "a.csv": []byte(whole["good.json"]), "b.csv": book(t, "good"), "b.json": book(t, "good"), "c.csv": zipped, "a.tsv": []byte(whole["good.csv"]),
	} {
		dir := folderOf(t, t.TempDir(), map[string][]byte{name: b})
		for _, path := range []string{filepath.Join(dir, name), dir} {
			if fleet, err := File(path); name == "c.csv" && path == dir {
				if err == nil || !strings.Contains(err.Error(), "c.csv") {
					t.Errorf("%s: %v", path, err)
				}
			} else if err != nil || len(fleet.VMs) != 1 || fleet.VMs[0].Name != "good" || fleet.VMs[0].VCPUs.Value != 4 {
				t.Errorf("%s: %+v, %v", path, fleet, err)
			}
		}
	}
}
