package tables

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"hash/crc32"
	"maps"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/xuri/excelize/v2"

	"example.org/homenode/numa"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// export4 is the export of an invented vCenter in the layout of 4.7.
const export4 = "testdata/RVTools_export_all_2025-06-01_10.20.30"

// testSheets are the rows of an export by sheet.
type testSheets map[string][][]string

// readExport4 returns the sheets of export4.
func readExport4(t testing.TB) testSheets {
	t.Helper()
	files, err := folderFiles(export4)
	if err != nil || len(files) == 0 {
		t.Fatalf("folderFiles(%s) = %d files, %v", export4, len(files), err)
	}
	s := testSheets{}
	for _, f := range files {
		sheet, _ := rvtoolsSheet(f.name)
		b, err := f.read()
		if err != nil {
			t.Fatal(err)
		}
		rows, err := newCSVRows(f.name, b)
		if err != nil {
			t.Fatal(err)
		}
		for {
			cells, _, err := rows.next()
			if err != nil {
				break
			}
			s[sheet] = append(s[sheet], slices.Clone(cells))
		}
	}
	return s
}

// csvs returns the sheets as files of a CSV export.
func (s testSheets) csvs(sep string) map[string][]byte {
	files := map[string][]byte{}
	for sheet, rows := range s {
		var b strings.Builder
		for _, row := range rows {
			for i, c := range row {
				if i > 0 {
					b.WriteString(sep)
				}
				if strings.ContainsAny(c, "\";,\r\n") {
					c = `"` + strings.ReplaceAll(c, `"`, `""`) + `"`
				}
				b.WriteString(c)
			}
			b.WriteString("\r\n")
		}
		files["RVTools_tab"+sheet+".csv"] = []byte(b.String())
	}
	return files
}

// tempFolder writes files to a new folder called fleet.
func tempFolder(t testing.TB, files map[string][]byte) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "fleet")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for name, b := range files {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// zipOf returns a zip of files.
func zipOf(t testing.TB, files map[string][]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f, err := w.CreateHeader(&zip.FileHeader{Name: name}) // stored: fuzzing is faster without packing
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(files[name]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// xlsx returns the sheets as a workbook: whole numbers as numeric cells, the
// rest as text, as RVTools does.
func (s testSheets) xlsx(t testing.TB) []byte {
	t.Helper()
	book := excelize.NewFile()
	defer book.Close()
	for _, sheet := range slices.Sorted(maps.Keys(s)) {
		if _, err := book.NewSheet(sheet); err != nil {
			t.Fatal(err)
		}
		w, err := book.NewStreamWriter(sheet)
		if err != nil {
			t.Fatal(err)
		}
		for i, row := range s[sheet] {
			cells := make([]any, len(row))
			for j, c := range row {
				cells[j] = c
				if n, err := strconv.Atoi(c); err == nil {
					cells[j] = n
				}
			}
			if err := w.SetRow("A"+strconv.Itoa(i+1), cells); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
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

// tempFile writes b to a new file of this name.
func tempFile(t testing.TB, name string, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func mustRead(t testing.TB, path string) *numa.Fleet {
	t.Helper()
	f, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestReadFolder compares the whole fleet with a file that a person has read.
func TestReadFolder(t *testing.T) {
	got, err := json.MarshalIndent(mustRead(t, export4), "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	const golden = "testdata/fleet.json"
	if *update {
		if err := os.WriteFile(golden, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("Read(%s) differs from %s:\n%s", export4, golden, got)
	}
}

// withoutName replaces what depends on the name of an export.
func withoutName(f *numa.Fleet) *numa.Fleet {
	f.Source = ""
	base := f.Clusters[0].At
	for i := range f.Clusters {
		f.Clusters[i].At = ""
	}
	for i := range f.Hosts {
		f.Hosts[i].At = ""
	}
	for i := range f.VMs {
		f.VMs[i].At = ""
	}
	for i := range f.Notes {
		f.Notes[i].At = strings.TrimPrefix(f.Notes[i].At, base)
	}
	return f
}

// named returns files or sheets under other names.
func named[T any](all map[string]T, name func(string) string) map[string]T {
	m := map[string]T{}
	for old, one := range all {
		m[name(old)] = one
	}
	return m
}

// other returns a name that tells nothing, in an order of its own.
func other(name string) string {
	return fmt.Sprintf("Tabelle%x%s", crc32.ChecksumIEEE([]byte(name)), path.Ext(name))
}

// TestSheetOf: a sheet of RVTools that is not read is no table of VMs or hosts, whatever it is called.
func TestSheetOf(t *testing.T) {
	for _, header := range []string{
		"Name,Config status,OverallStatus,NumHosts,numEffectiveHosts,TotalCpu,NumCpuCores,NumCpuThreads,Effective Cpu,TotalMemory,Object ID,VI SDK Server,VI SDK UUID", // vCluster
		"VM,Powerstate,Template,SRM Placeholder,Disk,Disk Key,Capacity MiB,Raw,Datacenter,Cluster,Host,Folder,OS according to the configuration file,VM ID,VM UUID,VI SDK Server",
		"VM,Powerstate,Template,SRM Placeholder,Name,Description,Date / time,Filename,Size MiB (vmsn),Size MiB (total),Quiesced,Host,VM ID,VM UUID,VI SDK Server", // vSnapshot
		"Host,Datacenter,Cluster,Device,Type,Status,Bus,Pci,Driver,Model,WWN,VI SDK Server",                                                                       // vHBA
	} {
		if k := kindOf(strings.Split(header, ",")); k != nil {
			t.Errorf("%s: found %s, want none", header, k.name)
		}
	}
}

// TestForms reads one export in all its forms: they say the same.
func TestForms(t *testing.T) {
	want := withoutName(mustRead(t, export4))
	s := readExport4(t)
	csvs := s.csvs(",")
	each := func(m map[string][]byte, change func([]byte) []byte) map[string][]byte {
		changed := map[string][]byte{}
		for name, b := range m {
			changed[name] = change(b)
		}
		return changed
	}
	for _, tt := range []struct {
		name string
		path string
	}{
		{"xlsx", tempFile(t, "fleet.xlsx", s.xlsx(t))},
		{"one CSV of the folder", filepath.Join(export4, "RVTools_tabvInfo.csv")},
		{"semicolons", tempFolder(t, s.csvs(";"))},
		{"tabs", tempFolder(t, s.csvs("\t"))},
		{"UTF-16LE", tempFolder(t, each(csvs, utf16LE))},
		{"LF", tempFolder(t, each(csvs, func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n")) }))},
		{"CR", tempFolder(t, each(csvs, func(b []byte) []byte {
			b = bytes.ReplaceAll(b, []byte("\r\n"), []byte("\r"))
			return bytes.ReplaceAll(b, []byte("\n"), []byte("\r"))
		}))},
		{"xlsx called zip", tempFile(t, "fleet.zip", s.xlsx(t))},
		{"upper-case names", tempFolder(t, named(csvs, strings.ToUpper))},
		{"words behind the names", tempFolder(t, named(csvs, func(name string) string { return strings.TrimSuffix(name, ".csv") + "_vc01.csv" }))},
		{"words before and behind the names", tempFolder(t, named(csvs, func(name string) string {
			return "RVTools_export_" + strings.TrimSuffix(strings.TrimPrefix(name, "RVTools_tab"), ".csv") + "_2026-11-02.csv"
		}))},
		{"other names", tempFolder(t, named(csvs, other))},
		{"sheets with other names", tempFile(t, "fleet.xlsx", testSheets(named(s, other)).xlsx(t))},
		{"all sheets but vInfo with other names", tempFile(t, "fleet.xlsx", testSheets(named(s, func(name string) string {
			if name == "vInfo" {
				return name
			}
			return other(name)
		})).xlsx(t))},
		{"sheets with blanks around the names", tempFile(t, "fleet.xlsx", testSheets(named(s, func(name string) string { return " " + name + " " })).xlsx(t))},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if !Detect(tt.path) {
				t.Error("Detect() = false, want true")
			}
			if got := withoutName(mustRead(t, tt.path)); !reflect.DeepEqual(got, want) {
				t.Errorf("Read() = %s\nwant %s", toJSON(t, got), toJSON(t, want))
			}
		})
	}
}

func toJSON(t testing.TB, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func utf16LE(b []byte) []byte {
	out := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(string(b))) {
		out = append(out, byte(u), byte(u>>8))
	}
	return out
}

func TestDetect(t *testing.T) {
	for _, tt := range []struct {
		name string
		path string
		want bool
	}{
		{"a workbook that is not there", "none.xlsx", true},
		{"nothing", "none", false},
		{"a folder without CSVs", t.TempDir(), false},
		{"another CSV", tempFile(t, "batch.csv", []byte("a,b\n")), true},
		{"old Excel", tempFile(t, "old.xls", []byte(oleMagic)), true},
		{"a zip of something else", tempFile(t, "logs.zip", zipOf(t, map[string][]byte{"vmware.log": nil})), false},
		{"text", tempFile(t, "hosts.txt", []byte("esx01\n")), false},
	} {
		if got := Detect(tt.path); got != tt.want {
			t.Errorf("%s: Detect() = %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestVMsOrHosts: columns that only one of the two has decide whether rows are VMs or hosts; where none decides, the error says so.
func TestVMsOrHosts(t *testing.T) {
	const undecided = "do not tell whether its rows are VMs or hosts"
	for header, want := range map[string]string{
		"Name,State,NumCpu,CpuTotalMhz,MemoryTotalGB,Version":                             "hosts",
		"Name,ConnectionState,PowerState,NumCpu,CpuUsageMhz,MemoryTotalGB,Version":        "hosts",
		"VMHost,Cluster,CPUSocket,Corepersocket,MemoryGB":                                 "hosts",
		"Name,Model,CPUSocket,Corepersocket,MemoryGB":                                     "hosts",
		"name,CPUSocket,Corepersocket":                                                    undecided,
		"Name,Cluster,CPUSocket,Corepersocket,MemoryGB,Version":                           undecided,
		"Server name,Cores,Memory (MB),Operating system,Sockets":                          undecided,
		"Name,PowerState,Sockets,Corepersocket,MemoryGB":                                  "VMs",
		"Name,NumCpu,CoresPerSocket,MemoryGB":                                             "VMs",
		"*Server name,*Cores,*Memory (In MB),*OS name,Number of disks,Hypervisor":         "VMs",
		"Machine,Operating system,Boot type,Cores,Memory (MB),Host name,Power status":     "VMs",
		"Server Name,Cores,Memory(MB),Operating System,Host":                              "VMs",
		"Server,Power Status,Cores,Memory (in MB),OS,Host":                                "VMs",
		"Server,Model,CPU Sockets,Cores,RAM (GB),OS":                                      "hosts",
		"Server Name,CPU Cores,Memory (MB),Operating System,Is Virtual?,Hypervisor Name":  "VMs",
		"ClusterName,HostName,VMName,VMSockets,VMCores,CPUSockets,CPUCores":               "VMs",
		"VM Name,Hypervisor,Memory,CPU Cores":                                             "VMs",
		"Name,CPU|Number of vCPUs (Virtual Cores),CPU|Cores per socket,Parent":            "no column states vCPUs",
		"ClusterName,HostName,VMName,VMSockets,NumCpu,CPUSockets":                         "VMs",
		"Name,Manufacturer,Model,PowerState,ProcessorType,NumCpu,CpuTotalMhz,CpuUsageMhz": "hosts",
	} {
		got := (&sheet{header: strings.Split(header, ",")}).describe()
		if k := kindOf(strings.Split(header, ",")); k != nil {
			got = k.name
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: found %s, want %s", header, got, want)
		}
	}
	f := mustRead(t, tempFile(t, "a.csv", []byte("*Server name,*Cores,*Memory (In MB),*OS name,Boot type,Hypervisor\na,8,16384,Windows,UEFI,VMware\n")))
	if vm := f.VMs[0]; vm.VCPUs.Value != 8 || vm.Memory.Value != 16*numa.GiB || vm.Firmware.Value != "efi" || strings.Contains(fmt.Sprint(notesOf(f)), "hosts of") {
		t.Errorf("found %+v, notes %v", vm, notesOf(f))
	}
	f = mustRead(t, tempFile(t, "a.csv", []byte("VM,Sockets,Cores,Memory MB\na,2,4,4096\n")))
	if vm := f.VMs[0]; vm.VCPUs.Known() || !strings.Contains(fmt.Sprint(notesOf(f)), `column "Cores" beside sockets`) {
		t.Errorf("found %+v, notes %v", vm, notesOf(f))
	}
}

// TestTwoUnits: columns of one amount in two units agree up to their rounding, or the amount is unknown and a note says why.
func TestTwoUnits(t *testing.T) {
	for row, want := range map[string]string{"16384,16": "16 GB", "15872,15.5": "15.5 GB", "15872,16": "15.5 GB", "512,1": "512 MB", "16384,32": "-", "16384,": "16 GB", ",16": "16 GB"} {
		f, notes := readText(t, "a.csv", "Name,NumCpu,MemoryMB,MemoryGB\na,8,"+row+"\n")
		if got := show(f.VMs[0].Memory); got != want || strings.Contains(notes, "contradict") != (row == "16384,32") {
			t.Errorf("%s: found %s, want %s; %s", row, got, want, notes)
		}
	}
}

// TestDerivedIsKnown: no note calls a fact unknown that other columns state together.
func TestDerivedIsKnown(t *testing.T) {
	for text, unsaid := range map[string]string{
		"VM,Sockets,Cores per socket\na,2,4\n":                               "vCPU count",
		"VM,Num CPU,Sockets\na,8,2\n":                                        "cores per socket",
		"Host,CPU Sockets,Cores per Socket,ESXi Version\nesx01,2,18,8.0.3\n": "cores,",
	} {
		if _, notes := readText(t, "a.csv", text); strings.Contains(notes, unsaid) {
			t.Errorf("%s: %s", text, notes)
		}
	}
}

// TestManyKeys: an object with more keys than a table has columns is no row, and VMs by name may have more together.
func TestManyKeys(t *testing.T) {
	var flat, named strings.Builder
	for i := range mostKeys + 10 {
		fmt.Fprintf(&flat, `"k%d":1,`, i)
	}
	for i := range mostKeys / 2 {
		fmt.Fprintf(&named, `"vm%d":{"numCPU":4,"memoryMB":4096,"powerState":"poweredOn"},`, i)
	}
	f, _ := readText(t, "a.json", "{"+strings.TrimSuffix(named.String(), ",")+"}")
	if len(f.VMs) != mostKeys/2 {
		t.Errorf("found %d VMs, want %d", len(f.VMs), mostKeys/2)
	}
	if _, err := Read(tempFile(t, "a.json", []byte("[{"+flat.String()+`"Name":"a","NumCpu":4}]`))); err == nil {
		t.Error("found a table of too many columns")
	}
}

// TestScripts: in tables of scripts and import templates, vCPUs that are called sockets give no cores per socket, and physical machines are no VMs.
func TestScripts(t *testing.T) {
	for text, want := range map[string]string{
		"VMName,VMSockets,VMCores,VMNumCPUs\na,8,4,8\n":                        "a 8 0",
		"VMName,VMSockets,VMCores,VMNumCPUs\na,2,4,8\n":                        "a 8 4",
		"VM,CPUs,Sockets,Cores\na,16,2,16\n":                                   "a 16 8",
		"HostName,VMName,VMSockets,VMCores\nesx01,a,8,4\n":                     "a 0 0",
		"VMName,VMState,TotalCPU\na,poweredOn,16\n":                            "a 16 0",
		"Server,Power Status,Cores,Host\na,On,16,esx01\n":                      "a 16 0",
		"MachineName,AllocatedProcessorCoreCount,IsPhysical\na,16,0\np,32,1\n": "a 16 0",
		"Server Name,vCPU,Is Virtual?\na,16,TRUE\np,32,FALSE\n":                "a 16 0",
		"Nom;Nb vCPU;Mémoire (Go);Hôte\na;16;64;esx01\n":                       "a 16 0",
	} {
		f, notes := readText(t, "a.csv", text)
		var got []string
		for _, v := range f.VMs {
			got = append(got, fmt.Sprint(v.Name, " ", v.VCPUs.Value, " ", v.CoresPerSocket.Value))
		}
		if got := strings.Join(got, ", "); got != want {
			t.Errorf("%s: found %s, want %s; %s", text, got, want, notes)
		}
	}
	if _, err := Read(tempFile(t, "a.json", []byte(`{"vm":[{"name":"a","memory":"1","cpu":{"topology":{"sockets":"2","cores":"8","threads":"1"}}}]}`))); err == nil || !strings.Contains(err.Error(), "oVirt") {
		t.Errorf("oVirt: found %v", err)
	}
}
