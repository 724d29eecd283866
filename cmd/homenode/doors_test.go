package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.org/homenode/internal/golden"
	"github.com/xuri/excelize/v2"
)

// Small files of the kinds that users have.
const (
	doorLog = `2026-03-01T08:00:00.100Z| vmx| I125: Log for VMware ESX pid=68123 version=8.0.3 build=build-24022510 option=Release
2026-03-01T08:00:00.101Z| vmx| I125: Hostname=esx01.example.com
2026-03-01T08:00:00.110Z| vmx| I125: DICT --- CONFIGURATION /vmfs/volumes/5a1f/db01/db01.vmx
2026-03-01T08:00:00.110Z| vmx| I125: DICT         virtualHW.version = "19"
2026-03-01T08:00:00.110Z| vmx| I125: DICT                  numvcpus = "12"
2026-03-01T08:00:00.110Z| vmx| I125: DICT                   memSize = "24576"
2026-03-01T08:00:00.110Z| vmx| I125: DICT               displayName = "db01"
2026-03-01T08:00:00.300Z| vmx| I125: PowerOn
`
	doorCPUs  = "CPU(s): 2\nOn-line CPU(s) list: 0-1\nNUMA node(s): 1\nNUMA node0 CPU(s): 0,1\n"
	doorVMs   = "VM,Powerstate,CPUs,Memory,Cluster,Host,VM ID\ndb01,poweredOn,8,16384,prod,esx01,vm-1\n"
	doorHosts = "Host,Cluster,CPU Model,# CPU,Cores per CPU,# Cores,# Memory,ESX Version\nesx01,prod,Intel(R) Xeon(R) Gold 6354 CPU @ 3.00GHz,2,18,36,1047552,VMware ESXi 8.0.3 build-24022510\n"
)

// doors creates the files in the current folder and returns their names.
func doors(t *testing.T, inputs string) []string {
	t.Helper()
	write := func(name string, b []byte) {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		golden.Write(t, name, b)
	}
	read := func(name string) []byte {
		b := golden.Read(t, filepath.Join(inputs, name))
		return b
	}
	for _, name := range []string{"small.txtar", "esx02.csv", "db01.vmx"} {
		write(name, read(name))
	}
	if err := os.CopyFS("kvm", os.DirFS(filepath.Join(inputs, "kvm"))); err != nil {
		t.Fatal(err)
	}
	output([]string{"snapshot", "small.txtar", "-o", "fleet.json"})
	write("vmware.log", []byte(doorLog))
	write("vms.csv", []byte("Name,NumCpu,MemoryMB,VMHost\ndb01,8,4096,esx01\n"))
	write("rvtools.xlsx", workbookOf(t, map[string]string{"vInfo": doorVMs, "vHost": doorHosts}))
	tables := map[string]string{"RVTools_tabvInfo.csv": doorVMs, "RVTools_tabvHost.csv": doorHosts}
	for name, text := range tables {
		write(filepath.Join("rvtools", name), []byte(text))
	}
	write("rvtools.zip", zipOf(t, tables))
	write("my bundle.tgz", packed(t, map[string]string{"esx01/vmfs/volumes/5a1f/db01/vmware.log": doorLog, "esx01/vmfs/volumes/5a1f/db01/db01.vmx": string(read("db01.vmx"))}))
	write("captures.tgz", packed(t, map[string]string{"night/esx02.csv": string(read("esx02.csv"))}))
	write("kvm.tgz", packed(t, map[string]string{"kvm01/capabilities.xml": string(read("kvm/kvm01/capabilities.xml")), "kvm01/domains/sql01.xml": string(read("kvm/kvm01/domains/sql01.xml"))}))
	write("lscpu.txt", []byte(doorCPUs))
	return []string{"small.txtar", "fleet.json", "rvtools.xlsx", "rvtools", "rvtools.zip", "vms.csv", "db01.vmx", "vmware.log", "my bundle.tgz", "esx02.csv", "captures.tgz", "kvm", "kvm.tgz", "lscpu.txt"}
}

func workbookOf(t *testing.T, sheets map[string]string) []byte {
	t.Helper()
	book := excelize.NewFile()
	for _, name := range slices.Sorted(maps.Keys(sheets)) {
		if _, err := book.NewSheet(name); err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(strings.TrimSpace(sheets[name]), "\n") {
			for j, text := range strings.Split(line, ",") {
				cell, err := excelize.CoordinatesToCellName(j+1, i+1)
				if err == nil {
					err = book.SetCellValue(name, cell, text)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if err := book.DeleteSheet("Sheet1"); err != nil {
		t.Fatal(err)
	}
	b, err := book.WriteToBuffer()
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zipOf(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		one, err := w.Create(name)
		if err == nil {
			_, err = one.Write([]byte(files[name]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func packed(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(files[name]))})
		if err == nil {
			_, err = w.Write([]byte(files[name]))
		}
		if err != nil {
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

// takers are the commands that take FILE, with the other arguments that they need.
var takers = []string{
	"assess FILE", "explain FILE", "capture FILE", "fix FILE", "move FILE --hosts 2x32c/1TB*2", "optimise FILE", "compare FILE FILE", "simulate FILE --hours 1", "snapshot FILE -o out.json", "validate FILE",
	"size fit FILE", "size rightsize FILE", "size upgrade FILE --release 9.0", "size dump FILE", "size pages FILE", "size latency FILE", "size calibrate FILE --path nvme",
	"serve --fleet FILE --check", "record FILE -o records",
}

var (
	// foreign matches errors and rows about a kind of file that the command does not take.
	foreign = regexp.MustCompile(`unknown format|none of the formats|found no result|no inventory|found hosts of KVM|definitions of KVM|want one file|found a file|no line "id"|other side has none`)
	// leading matches a command that an error names.
	leading = regexp.MustCompile(`homenode [a-z]+ [^,:;]*(?:'[^']*'|\S+)`)
)

// TestDoors gives every command every kind of file. The command answers, reports what the file lacks, or names a command that takes the file; that command
// must then take it.
func TestDoors(t *testing.T) {
	inputs, err := filepath.Abs("testdata/corpus/inputs")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	files := doors(t, inputs)
	works := map[string]bool{}
	for _, taker := range takers {
		for _, file := range files {
			words := strings.Fields(taker)
			for i, w := range words {
				if w == "FILE" {
					words[i] = file
				}
			}
			text := output(words)
			if !foreign.MatchString(text) {
				continue
			}
			named := ""
			for _, command := range leading.FindAllString(text, -1) {
				if strings.Contains(command, file) {
					named = command
					break
				}
			}
			if named == "" {
				t.Errorf("homenode %s: names no command that takes it:\n%.600s", strings.Join(words, " "), text)
				continue
			}
			if _, tried := works[named]; !tried {
				works[named] = !foreign.MatchString(output(shellWords(named)[1:]))
			}
			if !works[named] {
				t.Errorf("homenode %s names %s, which does not take it:\n%.600s", strings.Join(words, " "), named, output(shellWords(named)[1:]))
			}
		}
	}
	if len(works) < 5 {
		t.Errorf("%d commands were named: the test looks at nothing", len(works))
	}
}
