package open

import (
	"archive/zip"
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.org/homenode/source/evidence"
)

// TestUnreadable: what cannot be read at all is not said to be of a wrong kind.
func TestUnreadable(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"zero.zip", "zero.json", "zero.txt", "zero.xlsx", "RVTools_tabvInfo.csv"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := File(path); err == nil || err.Error() != path+": the file is empty; a SOURCE is "+want {
			t.Errorf("%s: %v", name, err)
		}
	}
	empty := filepath.Join(dir, "empty")
	if err := os.Mkdir(empty, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := File(empty); err == nil || err.Error() != empty+": the folder is empty; a SOURCE is "+want {
		t.Errorf("empty folder: %v", err)
	}
}

// TestNotFleet checks that an error names what was found and what is read.
func TestNotFleet(t *testing.T) {
	for _, tt := range []struct{ text, err string }{
		{"NUMA node(s): 1\nCPU(s): 2\nOn-line CPU(s) list: 0-1\n", ": found lscpu, numactl -H and Coreinfo, which is evidence about a fleet and no fleet: want " + want},
		{"==NUM-OF-OBJ==\n|Server|PCPU,1|\n", ": found esxtop FetchStats, which shows what happened over time: homenode capture FILE reads it"},
		{"a poem\n", ": found text that begins with \"a poem\"; a SOURCE is " + want},
		{"<poem>\n", ": found XML that begins with \"<poem>\"; a SOURCE is " + want},
		{"Name:           sql01\n  Path:         /DC1/vm/sql01\n  Memory:       262144MB\n", ": found the text of govc vm.info or host.info: use govc vm.info -json and govc host.info -json instead; a SOURCE is " + want},
		{"<Objs Version=\"1.1.0.1\" xmlns=\"http://schemas.microsoft.com/powershell/2004/04\"><Obj/></Objs>\n", ": found the XML of PowerShell's Export-Clixml: use Export-Csv or ConvertTo-Json instead; a SOURCE is " + want},
		{"<!DOCTYPE html PUBLIC \"-//W3C//DTD XHTML 1.0 Strict//EN\">\n<html></html>\n", ": found a web page, as ConvertTo-Html of PowerCLI writes: use Export-Csv or ConvertTo-Json instead; a SOURCE is " + want},
		{"a poem\nhost esx01 nodes=2\n", ":1:1: found \"a\", want release, cluster, host, vm or seen"},
		{"\xff\xfea\x00 \x00p\x00o\x00e\x00m\x00\n\x00", ": found text that begins with \"a poem\"; a SOURCE is " + want},
		{"\x7fELF\x00", ": found a binary file, want " + want},
	} {
		path := filepath.Join(t.TempDir(), "fleet.txt")
		if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := File(path); err == nil || err.Error() != path+strings.ReplaceAll(tt.err, "FILE", path) {
			t.Errorf("%q: %v\nwant %s", tt.text, err, path+tt.err)
		}
	}
}

// TestOtherBooks: files that are taken for workbooks and are none are called by what they are.
func TestOtherBooks(t *testing.T) {
	dir := t.TempDir()
	packed := func(name string, flags uint16, member string) string {
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		f, err := w.CreateRaw(&zip.FileHeader{Name: member, Flags: flags, CompressedSize64: 3, UncompressedSize64: 3, CRC32: 0x352441c2})
		if err == nil {
			_, err = f.Write([]byte("abc"))
		}
		if err := cmp.Or(err, w.Close(), os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o600)); err != nil {
			t.Fatal(err)
		}
		return filepath.Join(dir, name)
	}
	for name, text := range map[string]string{"html.xls": "<html><table><tr><th>VM</th></tr></table></html>", "~$a.xlsx": "\x05Admin", "words.xls": "hello"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		packed("a.ods", 0, "content.xml"):      "found a document of OpenOffice or LibreOffice: save it as .xlsx",
		packed("a.xlsb", 0, "xl/workbook.bin"): "found a binary workbook (.xlsb): save it as .xlsx",
		packed("locked.zip", 1, "vms.csv"):     "vms.csv: encrypted with a password: extract it first",
		filepath.Join(dir, "html.xls"):         "found HTML or XML under the name of a workbook",
		filepath.Join(dir, "~$a.xlsx"):         "found the lock file that Office keeps beside an open workbook",
		filepath.Join(dir, "words.xls"):        "not a zip file",
	} {
		if _, err := File(path); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "damaged or cut off") {
			t.Errorf("%s: %v, want %q", filepath.Base(path), err, want)
		}
	}
	table := filepath.Join(dir, "table.xls") // as other programs name tables
	if err := os.WriteFile(table, []byte("Name\tNumCpu\tMemoryMB\na\t4\t4096\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if fleet, err := File(table); err != nil || len(fleet.VMs) != 1 || fleet.VMs[0].VCPUs.Value != 4 {
		t.Errorf("a table named .xls: %+v, %v", fleet, err)
	}
}

// TestMissing checks that the name of a missing file is not called that of a vCenter.
func TestMissing(t *testing.T) {
	for name, host := range map[string]bool{"fleet.json": false, "FLEET.XLSX": false, "vc01.example.com": true, "10.0.0.1": true, "fleet": false, "./vc01.example.com": false} {
		_, _, err := Fleet(t.Context(), []string{name}, Options{})
		if !errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), "https://") != host {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestRejected: whatever is wrong with a file, the error that rejects it names the kinds that are read.
func TestRejected(t *testing.T) {
	dir := t.TempDir()
	for name, data := range map[string]string{
		"empty.csv": "", "a.png": "\x89PNG\r\n\x1a\n\x00\x00", "a.pdf": "%PDF-1.7\n%\xe2\xe3", "a.txt": "hello", "a.json": `{"a":1}`, "b.json": "[1,2]",
		"a.xml": "<svg/>", "a.yaml": "services:\n  a: b\n", "a.csv": "a,b\n1,2\n", "folder/": "",
		"a.7z": "7z\xbc\xaf\x27\x1c\x00\x04", "a.rar": "Rar!\x1a\x07\x01\x00", "a.csv.xz": "\xfd7zXZ\x00\x00", "a.csv.bz2": "BZh91AY&SY\x01",
		"a.xls": "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "b.xlsx": "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "a.xlsx": "PK\x03\x04", "a.zip": "PK\x03\x04\x14",
		"a.csv.gz": "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02", "b.csv.gz": "\x1f\x8b\x99\x99\x99\x99\x99\x99\x99\x99\x99", "a.zst": "\x28\xb5\x2f\xfd\x01\x01\x01",
	} {
		path := filepath.Join(dir, name)
		if strings.HasSuffix(name, "/") {
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
		} else if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := File(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := evidence.Read(path); err == nil || !strings.Contains(err.Error(), evidence.Names()) {
			t.Errorf("%s as evidence: %v", name, err)
		}
	}
}
